"""Memory of the host and of this process, as Linux and its control groups tell it."""

import subprocess
import sys

import pytest

from fathometer.base import host

GIB = 1 << 30
MEMINFO = "MemTotal:       16777216 kB\nMemFree:  1 kB\nMemAvailable:    8388608 kB\n"


@pytest.mark.parametrize(
    ("cgroup", "files", "expected"),
    [
        ("", {}, 8 * GIB),
        ("0::/job\n", {"job/memory.max": "max\n", "job/memory.current": f"{GIB}\n"}, 8 * GIB),
        ("0::/job\n", {"job/memory.max": f"{4 * GIB}\n", "job/memory.current": f"{GIB}\n"}, 3 * GIB),
        # the group above is tighter, and its reclaimable cache counts as left
        (
            "0::/job/step\n",
            {
                "job/step/memory.max": f"{4 * GIB}\n",
                "job/step/memory.current": f"{GIB}\n",
                "job/memory.max": f"{2 * GIB}\n",
                "job/memory.current": f"{2 * GIB}\n",
                "job/memory.stat": f"anon 5\ninactive_file {GIB}\n",
            },
            GIB,
        ),
        # within a container only the root of the tree is seen
        ("0::/docker/x\n", {"memory.max": f"{2 * GIB}\n", "memory.current": f"{GIB}\n"}, GIB),
        # more used than allowed
        ("0::/\n", {"memory.max": f"{GIB}\n", "memory.current": f"{2 * GIB}\n"}, 0),
        # version 1
        (
            "5:cpu,cpuacct:/job\n4:memory:/job\n",
            {
                "memory/job/memory.limit_in_bytes": f"{3 * GIB}\n",
                "memory/job/memory.usage_in_bytes": f"{2 * GIB}\n",
                "memory/job/memory.stat": f"inactive_file 7\ntotal_inactive_file {GIB}\n",
            },
            2 * GIB,
        ),
    ],
)
def test_available_memory(tmp_path, cgroup, files, expected):
    proc, groups = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text(MEMINFO)
    (proc / "self" / "cgroup").write_text(cgroup)
    for name, text in files.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(text)
    assert host.available_memory(proc, groups) == expected


def test_memory_of_this_process():
    assert 0 < host.available_memory() <= host.total_memory()
    before = host.peak_memory()
    # A fresh process that is sure to be smaller than 100 MB, and then touches 100 MB more.
    code = "from fathometer.base.host import peak_memory as p; a = p(); b = b'x' * 10**8; print(a, p())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    small, large = map(int, done.stdout.split())
    assert large - small >= 10**8 * 0.99
    assert before > 0
