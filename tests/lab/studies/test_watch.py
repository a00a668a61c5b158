"""Marks of runs, from made-up counters and from a real disturbance."""

import os
import subprocess
import sys
import time

import pytest

from fathometer.lab.studies.watch import Watch, disturbed

STAT = "cpu  {user} 0 {system} 1000 0 0 0 {stolen} 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n"


def folder(path, user=0, system=0, stolen=0, swapped=0):
    path.mkdir(exist_ok=True)
    (path / "stat").write_text(STAT.format(user=user, system=system, stolen=stolen))
    (path / "vmstat").write_text(f"nr_free_pages 3\npswpin {swapped}\npswpout 4\n")
    return path


def marks(tmp_path, later, asked=0, beside=False, seconds=1.1):
    watch = Watch(folder(tmp_path), tmp_path / "none")
    time.sleep(seconds)
    folder(tmp_path, **later)
    return watch.marks(asked, beside)


def test_a_quiet_machine_has_no_marks(tmp_path):
    assert marks(tmp_path, {}) == []


def test_work_of_others(tmp_path):
    cpus = os.cpu_count() or 1
    busy = {"user": 110 * cpus}
    little = {"stolen": cpus}  # 1 % of these seconds
    assert marks(tmp_path, busy | little) == ["others used the cpus"]
    assert marks(tmp_path, busy, beside=True) == []


def test_what_is_too_short_to_tell_is_not_told(tmp_path):
    assert marks(tmp_path, {"user": 110}, seconds=0.0) == []


def test_stolen_time_and_swapping(tmp_path):
    stolen = {"stolen": 110 * (os.cpu_count() or 1), "swapped": 3}
    assert marks(tmp_path, stolen) == ["the host of the virtual machine took time", "the machine swapped"]


def test_shared_cores(tmp_path):
    here = len(os.sched_getaffinity(0))
    assert marks(tmp_path, {}, here + 1, seconds=0.0) == [f"cores shared: {here + 1} threads on {here} cpus"]
    assert marks(tmp_path, {}, here, seconds=0.0) == []


def test_clocks_apart(tmp_path):
    for cpu, clock in enumerate((2_000_000, 2_400_000)):
        (tmp_path / f"cpu{cpu}" / "cpufreq").mkdir(parents=True)
        (tmp_path / f"cpu{cpu}" / "cpufreq" / "scaling_cur_freq").write_text(f"{clock}\n")
    assert Watch(cpus=tmp_path).marks() == ["clocks of the cores apart"]


def test_of_a_short_run_the_time_before_is_looked_at_too(tmp_path):
    watch = Watch(folder(tmp_path), tmp_path / "none")
    time.sleep(1.1)
    folder(tmp_path, user=110 * (os.cpu_count() or 1))
    watch.begin()
    assert watch.marks() == ["others used the cpus"]
    time.sleep(1.1)
    watch.begin()
    time.sleep(1.1)
    assert watch.marks() == []  # long enough by itself


def test_daemons_of_the_runs_are_no_others(tmp_path):
    seconds = iter([0.0, 110.0])
    watch = Watch(folder(tmp_path), tmp_path / "none", daemons=lambda: next(seconds))
    time.sleep(1.1)
    folder(tmp_path, user=110 * (os.cpu_count() or 1))
    assert watch.marks() == []


@pytest.mark.parametrize(
    ("marks", "passes"),
    [
        (["others used the cpus"], True),
        (["cores shared: 4 threads on 2 cpus"], False),
        (["page cache not cold", "its threads waited for a cpu: others used it"], True),
        ([], False),
    ],
)
def test_what_passes(marks, passes):
    assert disturbed(marks) == passes


def test_a_real_neighbour_is_seen_and_a_child_is_none():
    work = "import time\nend = time.monotonic() + 1.5\nwhile time.monotonic() < end: pass"
    neighbour = subprocess.Popen(["setsid", "sh", "-c", f"'{sys.executable}' -c '{work}' & true"])
    neighbour.wait()  # its child is nobody's now
    watch = Watch()
    time.sleep(1.1)
    assert "others used the cpus" in watch.marks()
