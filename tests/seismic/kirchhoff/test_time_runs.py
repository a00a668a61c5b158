"""Image and fold of a time migration are bitwise the same however its blocks are shared and whatever happens."""

import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_support import finish, mpirun, start, survey, under_mpirun
from kill_support import kill, ranks_of, shots_told, wait_until
from paths import SUPPORT
from support import FULL
from survey_support import load
from time_program import name
from time_survey_support import PATCH, images, record_noise, run, spoil_shot

from fathometer.base.errors import FathometerError, InputError
from fathometer.runs.journal import read_journal
from fathometer.runs.options import RunOptions
from fathometer.seismic.kirchhoff import worker

PROGRAM = SUPPORT / "time_program.py"
RESUME = RunOptions(resume=True)
WAYS = ("tiles", "blocks")


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    """A folder with traces of noise, and their images as one rank makes them."""
    folder = tmp_path_factory.mktemp("noise")
    record_noise(folder)
    run(survey(folder, PATCH))
    made = images(folder / "out")
    assert sorted(made) == [
        "image-fold.rsf@",
        "image-offset-0-100.rsf@",
        "image-offset-100-1000.rsf@",
        "image-velocity.rsf@",
        "image.rsf@",
    ]
    assert np.abs(load(folder / "out" / "time" / "image.rsf")).max() > 0
    assert load(folder / "out" / "time" / "image-fold.rsf").max() > 1
    assert len(read_journal(folder / "out" / "time" / "journal").done) == 4
    return folder


def ready(noise: Path, folder: Path, work: str, ranks: int, threads: int) -> Path:
    """A survey of these traces with results of its own; where they will be."""
    label = name(work, ranks, threads)
    keys = {"acquisition.gathers": str(noise / "recorded.segy"), "time_migration.work": work}
    survey(folder, PATCH | keys | {"output.directory": label}, f"{label}.toml")
    return folder / label


CASES = [(1, 2), (2, 1), (3, 2), *([(2, 2), (3, 1), (4, 1)] if FULL else [])]


@pytest.mark.verify
@pytest.mark.parametrize(("ranks", "threads"), CASES)
def test_any_ranks_threads_and_way_give_the_same_bytes(noise, tmp_path, ranks, threads):
    outputs = {work: ready(noise, tmp_path, work, ranks, threads) for work in WAYS}
    if ranks == 1:
        for output in outputs.values():
            run(tmp_path / f"{output.name}.toml", threads=threads)
    else:
        done = under_mpirun(ranks, PROGRAM, tmp_path, threads, *WAYS)
        assert done.returncode == 0, done.stderr
    for work, output in outputs.items():
        assert images(output) == images(noise / "out"), work


def test_batches_of_any_size_give_the_same_bytes(noise, tmp_path, monkeypatch):
    output = ready(noise, tmp_path, "tiles", 1, 1)
    monkeypatch.setattr(worker, "BATCH_TRACES", 7)
    run(tmp_path / f"{output.name}.toml")
    assert images(output) == images(noise / "out")


@pytest.mark.parametrize(("ranks", "work"), [(2, "blocks"), *([(1, "tiles"), (2, "tiles")] if FULL else [])])
def test_what_is_killed_and_resumed_has_the_same_bytes(noise, tmp_path, ranks, work):
    """Killed with -9 when some blocks are done."""
    output = ready(noise, tmp_path, work, ranks, 1)
    words = [*mpirun(ranks), sys.executable, PROGRAM, tmp_path, 1, work, "--resume"]
    process = start(*words, environment={"OMP_WAIT_POLICY": "passive"})
    wait_until(lambda: shots_told(output / "time") >= 1, process)
    assert process.poll() is None
    for one in ranks_of(tmp_path):
        kill(one, signal.SIGKILL)
    assert finish(process).code != 0
    before = shots_told(output / "time")
    assert 1 <= before < 4
    assert not (output / "time" / "image.rsf").exists()
    assert not (output / "time" / "run.json").exists()
    outcome, _ = run(tmp_path / f"{output.name}.toml", options=RESUME)
    assert outcome.record["results"]["earlier_blocks"] >= 1
    assert len(outcome.record["results"]["migrated_blocks"]) == 4 - outcome.record["results"]["earlier_blocks"]
    assert images(output) == images(noise / "out")


def test_one_bad_trace_sets_its_block_aside_until_it_is_mended(noise, tmp_path):
    """Its reason is told; what is retried comes last, and changes no byte."""
    record_noise(tmp_path, bad=(1,))
    path = survey(tmp_path, PATCH)
    outcome, _ = run(path)
    assert list(outcome.failed) == [0]
    results = outcome.record["results"]
    (failed,) = results["failed_blocks"]
    assert failed["block"] == 0
    assert "recorded.segy: trace 33 " in failed["reason"]
    assert results["migrated_blocks"] == [1, 2, 3]
    assert outcome.record["validity"]["reasons"][0] == "1 of 4 blocks of traces are not in the image"
    again, _ = run(path, options=RESUME)  # stays aside
    assert list(again.failed) == [0]
    assert again.record["results"]["migrated_blocks"] == []
    original = (noise / "recorded.segy").read_bytes()
    (tmp_path / "recorded.segy").write_bytes(original)
    retried, _ = run(path, options=RunOptions(resume=True, retry_failed=True))
    assert not retried.failed
    assert retried.record["results"]["migrated_blocks"] == [0]
    assert images(tmp_path / "out") == images(noise / "out")


def test_traces_that_changed_between_runs_are_noticed(tmp_path):
    record_noise(tmp_path, bad=(7,))
    path = survey(tmp_path, PATCH)
    assert list(run(path)[0].failed) == [3]
    spoil_shot(tmp_path / "recorded.segy", 2, 1.5)  # of block 1, which is in the image
    with pytest.raises(InputError, match=r"recorded\.segy: those of shot 3 \(FFID 3\)"):
        run(path, options=RESUME)


def test_other_keys_are_another_migration(tmp_path):
    record_noise(tmp_path, bad=(7,))
    run(survey(tmp_path, PATCH))
    with pytest.raises(InputError, match=r"time_migration\.aperture: 120\S* then, 130\S* now"):
        run(survey(tmp_path, PATCH | {"time_migration.aperture": 130.0}), options=RESUME)
    run(survey(tmp_path, PATCH | {"time_migration.work": "blocks"}), options=RESUME)  # no other one


def test_all_blocks_bad_is_the_first_ones_error(tmp_path):
    record_noise(tmp_path, bad=(0, 2, 4, 6))
    with pytest.raises(FathometerError, match=r"trace 3 "):
        run(survey(tmp_path, PATCH))
    assert not (tmp_path / "out" / "time" / "image.rsf").exists()
