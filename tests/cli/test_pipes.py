"""A named pipe in the place of any input file is refused at once, with one line that names it: nobody waits for its
writer. Sockets and devices: tests/storage/volumes/test_missing_parts.py."""

import os
import signal

import pytest
from cli_support import MIGRATE, MODEL, inputs, run, survey

SECONDS = 30
TIME = {
    **{key: value for key, value in MIGRATE.items() if key.startswith("acquisition")},
    "time_migration.velocity": 2000.0,
    "time_migration.x": [0.0, 390.0, 10.0],
}
SAMPLED = {
    "wavelet.kind": "file",
    "wavelet.peak_frequency": None,
    "wavelet.sample_interval": 0.004,
    "wavelet.maximum_frequency": 30.0,
}

CASES = [
    # the pipe, words of the command, keys of the survey
    ("survey.toml", ["model"], {}),
    ("survey.toml", ["migrate"], {}),
    ("survey.toml", ["migrate-time"], {}),
    ("survey.toml", ["plan"], {}),
    ("survey.toml", ["submit", "--time", "1h"], {}),
    ("survey.toml", ["ocean"], {}),
    ("survey.toml", ["reactive"], {}),
    ("survey.toml", ["study", "run"], {}),
    ("survey.toml", ["study", "plan"], {}),
    ("vp.npy", ["model"], MODEL),
    ("v.rsf", ["migrate"], MIGRATE | {"model.vp": "v.rsf"}),
    ("recorded.segy", ["migrate"], MIGRATE),
    ("recorded.segy", ["migrate"], MIGRATE | {"acquisition.gathers": "rec*.segy"}),
    ("recorded.segy", ["migrate-time"], TIME),
    ("index.parquet", ["migrate"], MIGRATE | {"acquisition.gathers": "index.parquet"}),
    ("s.csv", ["model"], MODEL | {"acquisition.sources": "s.csv"}),
    ("r.parquet", ["model"], MODEL | {"acquisition.receivers": "r.parquet"}),
    *((name, ["model"], {**MODEL, **SAMPLED, "wavelet.path": name}) for name in ("w.rsf", "w.npy", "w.txt")),
    ("p.txt", ["migrate-time"], TIME | {"time_migration.velocity": "p.txt"}),
    ("v.rsf", ["migrate-time"], TIME | {"time_migration.velocity": "v.rsf"}),
    ("machine.json", ["plan", "--on", "machine.json"], MODEL),
]
FILES = [
    *(["info", name] for name in ("v.rsf", "v.npy", "v.nc", "v.h5", "v.segy", "v.su", "v.npz", "p.csv", "i.parquet")),
    ["prepare", "v.npy", "-o", "o.npy"],
    ["report", "run.json"],
    ["survey", "build", "v.segy", "-o", "i.parquet"],
]


@pytest.fixture(autouse=True)
def _in_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def ended(*_):
        raise SystemExit("waits for the writer of a pipe")

    before = signal.signal(signal.SIGALRM, ended)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def refused(done, name):
    assert done.code == 2, done
    lines = done.err.strip().splitlines()
    assert all(line.startswith(("fathometer: error: ", "left out: ")) for line in lines)
    assert f"{name}: " in done.err
    assert "is not a file" in done.err


@pytest.mark.parametrize(("pipe", "words", "keys"), CASES)
def test_a_pipe_that_an_input_names(tmp_path, capsys, pipe, words, keys):
    inputs(tmp_path)
    survey(tmp_path, keys)
    (tmp_path / pipe).unlink(missing_ok=True)
    os.mkfifo(tmp_path / pipe)
    refused(run(capsys, *words, "survey.toml"), pipe)


@pytest.mark.parametrize("words", FILES)
def test_a_pipe_that_a_command_names(tmp_path, capsys, words):
    name = words[2] if words[1] in ("build", "report") else words[1]
    os.mkfifo(tmp_path / name)
    refused(run(capsys, *words), name)
