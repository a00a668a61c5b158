"""What kill -9 leaves of results that are being written: the next run removes what is this program's, and nothing else.

With real kills: tests/trials/test_kills_of_steps.py.
"""

from pathlib import Path

import pytest
from cli_support import MIGRATE, MODEL, here, inputs, survey
from elastic_surveys import IN_2D, elastic_survey
from input_values import text_of
from mpi4py import MPI
from ocean_inputs import ocean_values
from reactive_flows import values
from time_survey_support import PATCH, record_noise

from fathometer.runs.results_lock import LOCK, results_lock
from fathometer.storage.lock import FileLock

END = "abc_1234.part"
RECORDS = ("run.json", "run-unfinished.json", "report.html")
SMALL = {"tuning.search": "never"}


def toml(folder: Path, text: str) -> Path:
    (folder / "input.toml").write_text(text)
    return folder / "input.toml"


def seismic(folder: Path, keys: dict) -> Path:
    inputs(folder)
    return survey(folder, keys | SMALL)


def time_migration(folder: Path) -> Path:
    record_noise(folder)
    return survey(folder, PATCH)


# What makes the input of a command, where its results go, files of which parts may be left, and files that may not be
# its own.
COMMANDS = {
    "ocean": (
        lambda folder: toml(folder, text_of(ocean_values(time__steps=1, output__fields=["height"]))),
        "out",
        ("ocean.png", "fields/ocean-00000007.nc", "restart/restart.json", "restart/restart-before.json"),
        ("mine.png", "fields/ocean.nc", "fields/pH-0001.h5", "restart/mine.json"),
    ),
    "reactive": (
        lambda folder: toml(folder, text_of(values(time__end=1000.0, output__fields=["pH"]))),
        "out",
        ("flow.png", "flow.xdmf", "fields/pH-0007.h5", "restart/restart.json"),
        ("mine.png", "fields/mine-0001.h5", "fields/pH-mine.h5"),
    ),
    "elastic": (
        lambda folder: elastic_survey(folder, **IN_2D, propagation__duration=0.03, tuning__search="never"),
        "out",
        (
            *("snapshots-shot-1-vx.rsf", "snapshots-shot-2-vz.rsf@", "snapshots-shot-9-sxx.nc", "shots-vx.segy"),
            *("peak-velocity-shot-1-vertical.rsf@", "peak-velocity-shot-1.png", "journal/000002-traces.npy"),
        ),
        ("snapshots-mine.rsf", "mine.segy", "image.rsf"),
    ),
    "model": (lambda folder: seismic(folder, MODEL), "out", ("shots.segy",), ("mine.segy", "image.rsf@")),
    "migrate": (
        lambda folder: seismic(folder, MIGRATE),
        "out",
        ("image.rsf", "image.rsf@", "image-laplacian.rsf@", "image.png", "journal/000003-image.npy"),
        ("mine.rsf", "image-mine.rsf@"),
    ),
    "migrate-time": (
        time_migration,
        "out/time",
        ("image.rsf@", "image-fold.rsf", "image.png", "journal/000003-image.npy"),
        ("mine.rsf", "shots.segy"),
    ),
}


def parts(folder: Path, names: tuple[str, ...]) -> list[Path]:
    """Unfinished files of these targets."""
    found = [(folder / name).with_name(f".{Path(name).name}.{END}") for name in names]
    for path in found:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"half")
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_the_next_run_removes_its_own_unfinished_files(tmp_path, command):
    if command == "reactive":
        pytest.importorskip("petsc4py", reason="PETSc is not installed")
    make, name, own, others = COMMANDS[command]
    path, output = make(tmp_path), tmp_path / name
    ours = parts(output, (*RECORDS, *own))
    theirs = [*parts(output, others), output / "run.json.part"]
    theirs[-1].write_bytes(b"mine")
    done = here(command.replace("elastic", "model"), path, "--quiet", "--threads", 1)
    assert done.code == 0, done.err
    assert [one for one in ours if one.exists()] == []
    assert [one for one in theirs if not one.exists()] == []


def test_a_run_at_work_keeps_them(tmp_path):
    """Of two runs the second is refused before it removes anything."""
    path = seismic(tmp_path, MODEL)
    (tmp_path / "out").mkdir()
    [part] = parts(tmp_path / "out", ("shots.segy",))
    with FileLock(tmp_path / "out" / "journal" / "lock") as lock:
        assert lock.acquire()
        lock.write("process 1 on a host")
        done = here("model", path, "--quiet")
    assert done.code == 2
    assert "out: is in use by another run (process 1 on a host); allowed: to wait for its end" in done.err
    assert part.exists()


def test_the_lock_of_results_goes_with_the_run(tmp_path):
    with results_lock(tmp_path, MPI.COMM_SELF) as held:
        assert held
        assert (tmp_path / LOCK).read_text().startswith("process ")
    assert list(tmp_path.iterdir()) == []
