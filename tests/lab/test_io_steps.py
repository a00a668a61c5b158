"""`fathometer io --pattern decimated-steps`: what it writes, verifies, ranks and refuses."""

import hashlib
import json

import jsonschema
import numpy as np
import pytest
from cli_support import call, run, under_mpirun
from mpi4py import MPI

from fathometer.lab.io import benchmark
from fathometer.lab.io.cases import StorageCase
from fathometer.lab.io.pattern import Pattern
from fathometer.lab.io.ranking import DeviceRates
from fathometer.lab.io.steps import MARKED, StepPattern, Steps, StepsBench
from fathometer.record.schema import SCHEMA
from fathometer.storage.volumes.strategy import Strategy

STEPS = ("--pattern", "decimated-steps", "--steps", 5, "--files", 2, "--every", 3)
SMALL = ("--grid", "6,5,20", *STEPS, "--repeat", 1)


def bench(folder):
    return StepsBench(folder, MPI.COMM_SELF, Pattern((6, 5, 20), 1), (1, 1, 1), 0, 1, steps=Steps(5, (2,), 2, 3))


def test_buffers_are_ranked_beside_strategies_on_two_ranks(tmp_path):
    place, out = tmp_path / "place", tmp_path / "io.json"
    place.mkdir()
    page = tmp_path / "io.html"
    wanted = ("posix-shared", "mpiio-independent:datatype=hindexed")
    done = call(
        *("io", place, *SMALL, "--buffer", "1,2", "--strategy", ",".join(wanted), "--ranks", 2),
        *("--decomposition", "1,2,1", "--json", out, "-o", page, "--budget", "5m"),
    )
    assert done.code == 0, done.err
    assert list(place.iterdir()) == []
    record = json.loads(out.read_text())
    jsonschema.validate(record, json.loads(SCHEMA.read_text()))
    rows = record["results"]["rows"]
    assert {(row["strategy"], row["buffer"]) for row in rows} == {(name, n) for name in wanted for n in (1, 2)}
    assert {row["operation"] for row in rows} == {"write"}
    for row in rows:
        assert row["verified"] is True
        assert row["logical_bytes"] == 2 * 5 * 6 * 5 * 20 * 4 <= row["stored_bytes"]
        assert all(0 < rank["copy_seconds"] < row["seconds"] for rank in row["phases"])
    assert record["input"]["steps"] == {"steps": 5, "buffers": [1, 2], "files": 2, "every": 3}
    names = [figure["name"] for figure in record["figures"]]
    assert len(set(names)) == len(names)
    assert "5 steps of 6 x 5 x 20 nodes in 2 files, nodes 3 apart" in done.out
    assert "mpiio-independent:datatype=hindexed, 2 steps a write" in done.out
    text = page.read_text()
    assert "posix-shared, 1 step a write" in text
    assert ">copy<" in text


def test_all_variants_write_the_same_files(tmp_path, capsys, monkeypatch):
    hashes = {}
    remove = StepsBench.remove

    def hashed(self, path):
        for file in (path, path.with_name(path.name + "@")):
            hashes.setdefault(file.name, []).append(hashlib.sha256(file.read_bytes()).hexdigest())
        remove(self, path)

    monkeypatch.setattr(StepsBench, "remove", hashed)
    done = run(capsys, "io", tmp_path, *SMALL, "--buffer", "1,2,5", "--strategy", "all", "--threads", 1)
    assert done.code == 0, done.err
    assert sorted(hashes) == ["0-written.rsf", "0-written.rsf@", "1-written.rsf", "1-written.rsf@"]
    assert all(len(found) > 30 and len(set(found)) == 1 for found in hashes.values())
    assert hashes["0-written.rsf@"][0] != hashes["1-written.rsf@"][0]


@pytest.mark.parametrize(("strategies", "trials"), [("posix-shared", 2), ("posix-shared,root-broadcast", 4 + 6)])
def test_a_sole_case_is_not_measured_again(tmp_path, capsys, monkeypatch, strategies, trials):
    """One trial that does not count and one that does; where there is a choice the winner has six more."""
    taken, write = [], StepsBench.write
    monkeypatch.setattr(StepsBench, "write", lambda self, case: taken.append(case) or write(self, case))
    monkeypatch.setattr(DeviceRates, "bound", lambda self, operation: 1e99)  # nothing is cached
    out = tmp_path / "io.json"
    done = run(capsys, "io", tmp_path, *SMALL, "--strategy", strategies, "--json", out, "--budget", "5m")
    assert done.code == 0, done.err
    assert len(taken) == trials
    again = json.loads(out.read_text())["results"]["winners_again"]["write"]
    assert again["repetitions"] == (1 if trials == 2 else 6)
    assert ("on fresh files once more" in done.out) == (trials > 2)


def test_ranks_share_slabs_of_steps_when_they_read_back(tmp_path):
    """Slabs smaller than a step, more than ranks have turns: what is wrong is found once, wherever it is."""
    code = """
import sys
from pathlib import Path
import numpy as np
from mpi4py import MPI
from fathometer.lab.io import steps
from fathometer.lab.io.cases import StorageCase
from fathometer.lab.io.pattern import Pattern
from fathometer.storage.volumes.strategy import Strategy
steps.CHUNK_BYTES = 4 * 6 * 5 * 20 // 4
comm, folder = MPI.COMM_WORLD, Path(sys.argv[1])
bench = steps.StepsBench(folder, comm, Pattern((6, 5, 20), 1), (1, 1, 3), 0, 1, steps=steps.Steps(5, (2,), 2, 3))
read_back = bench._read_back
def damaged(case, paths, patterns):
    if comm.rank == 0 and wrong:
        for number, path in enumerate(paths):
            values = np.memmap(f"{path}@", np.uint32, "r+")
            values[[0, 1234 + number, values.size - 1]] ^= 1
    comm.barrier()
    return read_back(case, paths, patterns)
bench._read_back = damaged
for wrong in (False, True):
    found = bench.write(StorageCase("write", "rsf", Strategy.of("posix-shared"), 2)).wrong
    if comm.rank == 2:
        print(found)
"""
    done = under_mpirun(3, "-c", code, tmp_path)
    assert done.stdout.split() == ["0", "6"], done.stderr


def test_every_step_and_file_has_values_of_its_own():
    volume = Pattern((4, 3, 20), 7)
    patterns = [StepPattern(volume, 2, number) for number in range(2)]
    blocks = [pattern.block((0, 0, 0, 0), (6, 4, 3, 20)) for pattern in patterns]
    steps = np.concatenate(blocks).view(np.uint32)
    assert np.isfinite(np.concatenate(blocks)).all()
    for one in range(12):
        for other in range(one):
            differing = np.argwhere(steps[one] != steps[other])
            assert set(differing[:, 2]) == {0, MARKED}
    assert patterns[0].differing(blocks[0], (0, 0, 0, 0)) == 0
    part = patterns[1].block((2, 1, 0, 5), (4, 4, 2, 18))
    np.testing.assert_array_equal(part, blocks[1][2:4, 1:4, 0:2, 5:18])
    assert patterns[1].differing(part, (2, 1, 0, 5)) == 0
    changed = blocks[0].copy()
    changed.view(np.uint32)[3, 2, 1, 9] ^= 1
    assert patterns[0].differing(changed, (0, 0, 0, 0)) == 1
    assert patterns[0].differing(blocks[0][[1, 0, 2, 3, 4, 5]], (0, 0, 0, 0)) == 2 * 4 * 3 * 2


@pytest.mark.parametrize("buffer", [1, 2, 5])
def test_a_step_that_is_not_where_it_should_be_is_found(tmp_path, monkeypatch, buffer):
    one = bench(tmp_path)
    assert one.write(StorageCase("write", "rsf", Strategy.of("posix-shared"), buffer)).wrong == 0
    mark = StepPattern.mark
    monkeypatch.setattr(  # on writing only
        StepsBench, "_read_back", lambda self, *a: monkeypatch.undo() or StepsBench._read_back(self, *a)
    )
    monkeypatch.setattr(StepPattern, "mark", lambda self, values, step, first: mark(self, values, step ^ 1, first))
    assert one.write(StorageCase("write", "rsf", Strategy.of("posix-shared"), buffer)).wrong == 2 * 5 * 6 * 5 * 2
    assert list(tmp_path.iterdir()) == []


def test_lists_are_those_of_one_step(tmp_path, capsys, monkeypatch):
    assert bench(tmp_path).listed_bytes == 6 * 5 * 20 * 4
    for name in ("LIST_BYTES", "PROBE_LIST_BYTES"):
        monkeypatch.setattr(benchmark, name, 6 * 5 * 20 * 4)
    out = tmp_path / "io.json"
    strategy = "mpiio-independent:datatype=hindexed"
    done = run(capsys, "io", tmp_path, *SMALL, "--strategy", strategy, "--json", out, "--threads", 1)
    assert done.code == 0, done.err
    [row] = json.loads(out.read_text())["results"]["rows"]
    assert row["capped"] is None
    monkeypatch.setattr(benchmark, "LIST_BYTES", 6 * 5 * 20 * 2)
    done = run(capsys, "io", tmp_path, *SMALL, "--strategy", strategy, "--json", out, "--threads", 1)
    assert done.code == 0, done.err
    [row] = json.loads(out.read_text())["results"]["rows"]
    assert row["capped"]["grid"][0] == 2
    assert "capped: 2 x " in done.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--steps", 5), "--steps: allowed: with --pattern decimated-steps"),
        (("--buffer", "1,2"), "--buffer: allowed: with --pattern decimated-steps"),
        ((*STEPS, "--operation", "write,read"), "--operation write,read: allowed with"),
        ((*STEPS, "--halo", 2), "--halo: allowed: without --pattern decimated-steps"),
        ((*STEPS, "--remember"), "--remember: allowed: without --pattern decimated-steps"),
        ((*STEPS, "--buffer", "1,6"), "--buffer 6: allowed: up to --steps 5"),
        ((*STEPS, "--steps", 1), "--steps 1: allowed: at least 2"),
        ((*STEPS, "--format", "segy"), "--format segy: has no axis of steps; allowed: rsf, npy"),
        ((*STEPS, "--buffer", "1,x"), "found x; allowed: a whole number"),
        ((*STEPS, "--steps", 100000, "--buffer", 100000, "--grid", "900,900,900"), "not enough memory"),
    ],
)
def test_wrong_words_are_one_error(tmp_path, monkeypatch, capsys, words, told):
    monkeypatch.chdir(tmp_path)
    done = run(capsys, "io", ".", *words)
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert told in done.err
    assert list(tmp_path.iterdir()) == []
