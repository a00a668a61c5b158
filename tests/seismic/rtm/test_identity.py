"""Inputs that change between a migration and its --resume, in place and with their times set back; journals too."""

import json
import os
import re
import shutil
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from cli_support import MIGRATE, NX, SAMPLES, SPACING, here, survey, velocity
from survey_support import load

from fathometer.runs import task_run
from fathometer.runs.journal import read_journal
from fathometer.seismic.setup.fingerprint import geometry, traces_hash
from fathometer.seismic.shots.acquisition import acquisition_of
from fathometer.seismic.shots.offsets import receivers_by_bin
from fathometer.seismic.shots.trace_hashes import TraceHashes
from fathometer.seismic.survey import load_survey
from fathometer.storage import fingerprint
from fathometer.storage.traces.segy import GatherWriter

SHOTS, BAD = 4, 2
KEYS = MIGRATE | {
    "model.vp": "vp.rsf",
    "model.spacing": None,
    "wavelet.kind": "file",
    "wavelet.path": "w.npy",
    "wavelet.sample_interval": 0.004,
    "wavelet.zero": 0.12,
    "wavelet.maximum_frequency": 40.0,
    "wavelet.peak_frequency": None,
}


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory):
    """A folder with a migration of four shots of which one is bad, so that its journal is still there; the values of
    its model lie where the header says."""
    folder = tmp_path_factory.mktemp("identity")
    (folder / "data").mkdir()
    (folder / "data" / "vp.bin").write_bytes(velocity().tobytes())
    axes = f"n1={velocity().shape[1]} n2={NX} d1={SPACING} d2={SPACING}"
    (folder / "vp.rsf").write_text(f'{axes} data_format="native_float" in="data/vp.bin"\n')
    np.save(folder / "w.npy", np.exp(-((60 * (0.004 * np.arange(60) - 0.12)) ** 2)).astype(np.float32))
    places = np.stack([SPACING * np.arange(NX), np.zeros(NX), np.full(NX, 20.0)], axis=1)
    with GatherWriter(folder / "recorded.segy", SAMPLES, 0.004, SHOTS * NX) as writer:
        for shot in range(SHOTS):
            traces = np.random.default_rng(shot).standard_normal((NX, SAMPLES)).astype(np.float32)
            writer.write(shot * NX, shot + 1, (100.0 + 50 * shot, 0.0, 20.0), places, traces)
    change(folder / "recorded.segy", sample(BAD), np.array(np.nan, ">f4").tobytes())
    done = here("migrate", survey(folder, KEYS), "--quiet")
    assert done.code == 1, done.err
    return folder


@pytest.fixture
def folder(unfinished, tmp_path):
    shutil.copytree(unfinished, tmp_path, dirs_exist_ok=True)
    return tmp_path


def sample(shot: int, trace: int = 5, number: int = 20) -> int:
    """Where a sample lies in the file of traces."""
    return 3600 + (shot * NX + trace) * (240 + 4 * SAMPLES) + 240 + 4 * number


def change(path, place: int, data: bytes) -> None:
    """Write into a file; its size, inode and time of modification are as before."""
    status = path.stat()
    with path.open("r+b") as file:
        file.seek(place)
        file.write(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def resumed(folder, *words):
    return here("migrate", folder / "survey.toml", "--quiet", *(words or ("--resume",)))


def results(folder):
    return json.loads((folder / "out" / "run.json").read_text())["results"]


ONE = np.array(2100.0, np.float32).tobytes()


@pytest.mark.parametrize(
    ("name", "place", "data", "says"),
    [
        ("data/vp.bin", 40, ONE, "model.vp.data/vp.bin: 4800 bytes, XXH3-128 "),
        ("w.npy", 200, ONE[:2], "wavelet.w.npy: 368 bytes, XXH3-128 "),
        ("recorded.segy", sample(0), b"\x41", "traces: "),
        (
            "recorded.segy",
            sample(3, NX - 1, SAMPLES - 1),
            b"\x41",
            "recorded.segy: those of shot 4 (FFID 4) are no longer",
        ),
        ("recorded.segy", sample(BAD), b"\x41\0\0\0", "recorded.segy: those of shot 3 (FFID 3) are no longer"),
        ("recorded.segy", 3600 + 82, b"\x01", "shots: 4 shots, "),  # a receiver's place
    ],
)
def test_a_changed_input_is_refused(folder, name, place, data, says):
    change(folder / name, place, data)
    done = resumed(folder)
    assert done.code == 2
    assert says in done.err
    assert done.err.count("\n") == 1


def test_what_was_touched_is_read_again_and_what_was_not_is_not(folder, monkeypatch):
    image = load(folder / "out" / "image.rsf").tobytes()
    done = here("migrate", folder / "survey.toml", "--resume")
    assert "1 shots are not in the image" in done.err
    assert f"4 shots are read again, since {folder}/recorded.segy may have changed\n" in done.err
    assert results(folder)["identity"]["hashed_files"] == 3  # copies, with inodes of their own, and just written
    assert results(folder)["identity"]["verified_shots"] == SHOTS
    monkeypatch.setattr(fingerprint, "GRANULARITY_NS", -(10**18))  # else all would be too new to be trusted
    os.utime(folder / "data" / "vp.bin")
    monkeypatch.chdir(folder / "data")  # names that are relative to another directory are the same files
    assert "1 shots are not in the image" in resumed(Path("..")).err
    assert results(folder)["identity"] == {
        "files": 3,
        "bytes": sum((folder / name).stat().st_size for name in ("vp.rsf", "data/vp.bin", "w.npy")),
        "hashed_files": 1,
        "hashed_bytes": 4800,
        "verified_shots": 0,
    }
    assert load(folder / "out" / "image.rsf").tobytes() == image
    # What has just been written is read again: a change after it was hashed could have the same times.
    monkeypatch.undo()
    change(folder / "data" / "vp.bin", 40, ONE)
    assert resumed(folder).code == 2


def test_changed_lines_are_not_used(folder):
    """A changed peak once gave an image of zeros, and a missing part a KeyError at every resume."""
    image = load(folder / "out" / "image.rsf").tobytes()
    (path,) = (folder / "out" / "journal").glob("*.jsonl")
    changed = []
    for line in path.read_text().splitlines():
        entries = json.loads(line)
        match entries.get("shot"):
            case 0:
                entries["parts"]["image"]["peak"] *= 1e6
            case 1:
                del entries["parts"]["image"]
            case 3:
                entries["lo"][0] += 1
        changed.append(json.dumps(entries))
    path.write_text("\n".join(changed) + "\n")
    assert "1 shots are not in the image" in resumed(folder).err
    assert results(folder)["migrated_shots"] == [0, 1, 3]
    assert load(folder / "out" / "image.rsf").tobytes() == image


def test_a_damaged_fingerprint_is_refused_and_traces_that_change_during_a_run_are_told(folder, monkeypatch):
    path = folder / "out" / "journal" / "survey.json"
    path.write_text(path.read_text().replace('"every": "auto"', '"every": "else"'))
    done = resumed(folder)
    assert done.code == 1
    assert done.err.startswith(f"fathometer: error: {path}: is damaged: its checksum is wrong; --overwrite begins anew")
    true = task_run.run_tasks

    def meanwhile(*words):
        work = true(*words)
        change(folder / "recorded.segy", sample(1), b"\x41")
        return work

    monkeypatch.setattr(task_run, "run_tasks", meanwhile)
    done = resumed(folder, "--overwrite")
    assert done.code == 1
    assert "recorded.segy: those of shot 2 (FFID 2) are no longer what was migrated" in done.err
    assert done.err.count("\n") == 1
    assert sorted(read_journal(folder / "out" / "journal").done) == [0, 1, 3]  # begun anew


def test_mended_traces_of_a_failed_shot_are_taken(folder):
    change(folder / "recorded.segy", sample(BAD), np.array(0.5, ">f4").tobytes())
    assert resumed(folder).code == 2
    done = resumed(folder, "--retry-failed")
    assert done.code == 0, done.err
    assert results(folder)["migrated_shots"] == [BAD]
    assert len(results(folder)["replaced_traces"]) == 1
    assert sorted(read_journal(folder / "out" / "journal").inputs) == list(range(SHOTS))


def as_version_1(folder):
    """What an earlier version left: no checksums."""
    (path,) = folder.glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line.pop("journal"), line.pop("checksum")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    head = json.loads((folder / "survey.json").read_text())
    head.pop("checksum")
    (folder / "survey.json").write_text(json.dumps(head | {"journal": 1}, indent=2))


def with_damage(folder):
    """All lines changed, and the head with them."""
    (path,) = folder.glob("*.jsonl")
    path.write_text(path.read_text().replace('"checksum": "', '"checksum": "f'))
    (folder / "survey.json").write_text((folder / "survey.json").read_text().replace("4 shots, ", "5 shots, "))


def without_lines(folder):
    """Another version's, before its first shot was done."""
    as_version_1(folder)
    for path in (*folder.glob("*.jsonl"), *folder.glob("*.npy")):
        path.unlink()


@pytest.mark.parametrize(
    ("make", "code", "says"),
    [
        (as_version_1, 2, "survey.json: was written by another version of the program (journal 1, here 2)"),
        (with_damage, 1, "survey.json: is damaged: its checksum is wrong"),
        (without_lines, 2, "survey.json: was written by another version of the program (journal 1, here 2)"),
    ],
)
def test_a_journal_that_cannot_be_read_is_left_alone(folder, make, code, says):
    """It once was erased by the run that had refused it."""
    journal = folder / "out" / "journal"
    make(journal)

    def files():
        return {path.name: path.read_bytes() for path in journal.iterdir() if path.name != "lock"}

    before = files()
    for words in (("--resume",), *[("--quiet",)] * (make is not without_lines)):
        done = resumed(folder, *words)
        assert (done.code, done.err.count("\n")) == (code, 1)
        assert says in done.err
        assert files() == before
    if make is as_version_1:
        assert "1 shots are not in the image" in resumed(folder, "--overwrite").err  # begins anew
        assert sorted(read_journal(journal).done) == [0, 1, 3]


def test_lines_that_are_damaged_are_told_of(folder):
    (path,) = (folder / "out" / "journal").glob("*.jsonl")
    path.write_text(path.read_text().replace('"checksum": "', '"checksum": "f'))
    done = here("migrate", folder / "survey.toml", "--quiet")
    assert done.code == 2
    assert re.search(r"unfinished migration \(0 shots done, \d lines damaged\); --resume goes on with it", done.err)


@pytest.mark.parametrize("bins", [{}, {"imaging.gathers": "offset", "imaging.offset_bins": [0.0, 60.0, 120.0]}])
@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"dead_below": 0.0},
        {"dead_below": 0.1},
        {"offsets": [30.0, 250.0], "dead_below": 0.1},
        {
            "polarity": "reversed",
            "band_pass": [2.0, 5.0, 40.0, 60.0],
            "line_source": 2000.0,
            "balance": {"kind": "rms"},
        },
    ],
)
def test_the_hash_of_a_shot_is_of_all_that_its_migration_reads(unfinished, tmp_path, keys, bins):
    more = {f"acquisition.conditioning.{name}": value for name, value in keys.items()} | bins
    path = survey(tmp_path, KEYS | more | {"acquisition.gathers": str(unfinished / "recorded.segy")})
    read = load_survey(path)
    acquisition = acquisition_of(read, 2)
    for shot in (one for one in acquisition.shots if one.index != BAD):
        hashes = TraceHashes(len(shot.receivers))
        for receivers in receivers_by_bin(read.imaging, shot):
            acquisition.traces(shot, receivers, hashes)
        assert hashes.combined() == traces_hash(read, acquisition, shot)


def test_changed_traces_of_a_done_shot_stay_accepted(folder):
    """By --retry-failed, while another shot still fails; the next --resume once refused them."""
    change(folder / "recorded.segy", sample(0), b"\x41")
    assert resumed(folder).code == 2
    assert "1 shots are not in the image" in resumed(folder, "--retry-failed").err
    assert "1 shots are not in the image" in resumed(folder).err
    change(folder / "recorded.segy", sample(0), b"\x42")
    assert "recorded.segy: those of shot 1 (FFID 1) are no longer" in resumed(folder).err


def test_the_geometry_of_a_survey_is_hashed_shot_by_shot():
    places = np.zeros(100_000)
    shot = SimpleNamespace(source=places, receivers=places, channel=places)
    tracemalloc.start()
    try:
        assert geometry(SimpleNamespace(shots=[shot] * 40, recording=None)).startswith("40 shots, ")
        assert tracemalloc.get_traced_memory()[1] < 4 * places.nbytes
    finally:
        tracemalloc.stop()
