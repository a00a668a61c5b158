"""The calls of MPI-IO, and of the system, by which each way writes a Tecplot file: as many as the guide says."""

import itertools
import re
import shutil
import subprocess
import sys

import pytest
from paths import SUPPORT
from patience import PATIENCE
from profile_support import by_rank, counted, require, run_environment
from test_tecplot_files import NAMES, NODES, layout

from fathometer.parallel.decomposition import split

PROGRAM, ZONES = SUPPORT / "tecplot_program.py", 2
# Each way of data once with each way of calls; ways of the header and of the file in turns.
SOME = [
    (header, file, data, calls)
    for (data, calls), (header, file) in zip(
        itertools.product(("packed", "views", "memory", "offsets"), ("collective", "independent")),
        itertools.cycle([("elements", "call"), ("types", "step"), ("types", "kept")]),
        strict=False,
    )
]


def formula(way, rank=0, cut=(1, 1)):
    """Calls of a rank that write, and those that open the file; docs/guide/incompressible.md, "Calls"."""
    header, file, data, calls = way
    together = calls == "collective"  # then all make as many calls as the largest block needs
    p, j = (
        max(hi - lo for number in range(parts) if together or number == one for lo, hi in [split(n, parts, number)])
        for n, parts, one in zip(NODES[:0:-1], cut, divmod(rank, cut[1]), strict=True)
    )
    v = len(NAMES)
    each = {"offsets": p * j, "memory": p if cut[1] > 1 else 1}.get(data, 1)
    writes = ZONES * v * each
    if rank == 0:
        values = [layout().head_bytes // 4 - 1 - zone + 4 + 3 * v for zone in range(1, ZONES + 1)]
        writes += sum(values) if header == "elements" else 2 * ZONES
    return writes, {"kept": 1, "step": ZONES, "call": writes}[file]


@pytest.mark.parametrize(
    ("cut", "way"),
    [((2, 1), way) for way in SOME] + [((1, 2), way) for way in SOME if way[2] in ("memory", "offsets")],
    ids=str,
)
def test_calls_of_mpi(cut, way, tmp_path):
    require("openmpi")
    [job] = counted(tmp_path / "counts", [sys.executable, PROGRAM, tmp_path, *way, cut[1]])
    for rank, functions in enumerate(by_rank(job)):
        writes, opens = formula(way, rank, cut)
        found = [functions.get(f"MPI_File_write_at{end}", (0,))[0] for end in ("", "_all")]
        assert sum(found) == writes, rank
        assert (found[1] > 0) == (way[3] == "collective")
        assert functions["MPI_File_open"][0] == functions["MPI_File_close"][0] == opens, rank


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace on PATH: packages-test.txt")
@pytest.mark.parametrize("header", ["types", "elements"])
def test_calls_of_the_system(header, tmp_path):
    """With Open MPI's own MPI-IO, one rank and blocks that lie one after the other in the file a call is a write; it
    is opened for MPI once, beside the two that see whether that will go well."""
    way = (header, "kept", "packed", "independent")
    words = ["strace", "-f", "-o", tmp_path / "calls", "-P", tmp_path / "a.plt", "-e", "trace=/open|write"]
    done = subprocess.run(
        [*map(str, words), sys.executable, str(PROGRAM), str(tmp_path), *way, "1"],
        env=run_environment() | {"OMPI_MCA_io": "ompio"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if "ptrace" in done.stderr and "not permitted" in done.stderr:
        pytest.skip("this system lets nobody trace")
    assert done.returncode == 0, done.stderr
    calls = re.findall(r"^\d+ +(\w+)\(", (tmp_path / "calls").read_text(), re.MULTILINE)
    assert sum("write" in name for name in calls) == formula(way)[0]
    assert (tmp_path / "a.plt").stat().st_size == layout().bytes(ZONES)
    if header == "types":
        assert sum("write" in name for name in calls) - ZONES * len(NAMES) <= 6
