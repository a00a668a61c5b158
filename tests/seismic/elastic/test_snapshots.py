"""Snapshots of elastic waves: the nodes and times that are kept, the same files by any way of writing."""

import subprocess
import sys

import numpy as np
import pytest
from cli_support import clean_environment, mpirun, partial
from mpi4py import MPI
from paths import SUPPORT
from patience import PATIENCE
from snapshots_program import CASES, DT, EVERY, STEPS, Field, value

from fathometer.base.errors import InputError
from fathometer.config.input_file import validated
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.snapshots import SnapshotWriter, buffer_bytes
from fathometer.seismic.survey.snapshots import SnapshotsTable
from fathometer.storage.describe import describe
from fathometer.storage.volumes.volume import open_volume

PROGRAM = SUPPORT / "snapshots_program.py"
TAKEN = STEPS // EVERY
OPEN_MPI = MPI.get_vendor()[0] == "Open MPI"


def ran(*words):
    return subprocess.run(
        [str(word) for word in words], env=clean_environment(), capture_output=True, text=True, timeout=PATIENCE
    )


@pytest.fixture(scope="module")
def by_one_rank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    done = ran(sys.executable, PROGRAM, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_kept_are_every_nth_node_and_every_mth_step(by_one_rank):
    steps = EVERY * np.arange(1, TAKEN + 1)
    whole = np.load(by_one_rank / "solid-sxz.npy")
    t, x, y, z = np.ix_(steps, range(0, 9, 2), range(0, 8, 3), range(0, 11, 4))
    np.testing.assert_array_equal(whole, value("sxz", t, x + 3, y + 1, z).astype(np.float32))
    surface = np.load(by_one_rank / "surface-vz.npy")
    t, x, y = np.ix_(steps, range(0, 9, 2), range(0, 8, 2))
    np.testing.assert_array_equal(surface, value("vz", t, x + 3, y + 1, 2).astype(np.float32))
    plane = np.load(by_one_rank / "plane-vx.npy")
    t, x, z = np.ix_(steps, range(0, 9, 2), range(0, 11, 3))
    np.testing.assert_array_equal(plane, value("vx", t, x + 3, 0, z + 2).astype(np.float32))


def test_files_say_where_and_when_their_values_are(by_one_rank):
    with open_volume("solid-vx.rsf", by_one_rank, steps=True) as volume:
        velocity = volume.info
    with open_volume("solid-sxz.rsf", by_one_rank, steps=True) as volume:
        stress = volume.info
    assert velocity.labels == stress.labels == ("t", "x", "y", "z")
    assert velocity.spacing == stress.spacing == (EVERY * DT, 20.0, 60.0, 20.0)
    assert velocity.axis_units == ("s", "m", "m", "m")
    assert velocity.origin == (-1.0 + (EVERY - 0.5) * DT, 105.0, 0.0, 0.0)
    assert stress.origin == (-1.0 + EVERY * DT, 105.0, 0.0, 2.5)
    assert (velocity.unit, stress.unit) == ("m/s", "Pa")
    assert velocity.shape == (TAKEN, 5, 3, 3)
    rows = dict(describe("solid-vx.rsf", by_one_rank).rows())
    assert rows["kind"] == "volume, 4D"
    assert rows["axes"] == "t, x, y, z"


def test_what_wants_a_volume_of_one_time_refuses_one_of_many(by_one_rank):
    with pytest.raises(InputError, match=r"solid-vx\.rsf: an array of 4 dimensions, .* 2 or 3 are allowed"):
        open_volume("solid-vx.rsf", by_one_rank)


@pytest.mark.parametrize(("ranks", "component"), [(2, "romio321"), (4, "ompio")])
def test_any_strategy_buffer_and_decomposition_gives_the_same_files(tmp_path, by_one_rank, ranks, component):
    words = [*mpirun(ranks), *(["--mca", "io", component] if OPEN_MPI else []), sys.executable, PROGRAM]
    done = ran(*words, tmp_path, by_one_rank)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split("\n")[0] == ""
    assert " files, 0 failures" in done.stdout


def test_a_run_that_fails_leaves_nothing(tmp_path):
    done = ran(*mpirun(2), sys.executable, PROGRAM, tmp_path, "fail")
    assert done.returncode != 0
    assert "the run ends here" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_killed_leaves_no_file_that_looks_finished(tmp_path):
    assert ran(*mpirun(2), sys.executable, PROGRAM, tmp_path, "die").returncode != 0
    assert [str(path) for path in tmp_path.iterdir()] == partial(tmp_path)


def one_rank(folder, table, steps=STEPS, grid=CASES["plane"][0]):
    block = Decomposition(grid.full_shape)
    return SnapshotWriter(grid, block, table, steps, DT, 0.0, folder, "s", None, MPI.COMM_SELF), Field(block)


def test_the_run_is_told_when_the_next_snapshot_is_due(tmp_path):
    writer, field = one_rank(tmp_path, SnapshotsTable(every_steps=5, buffered_steps=2), steps=11)
    with writer:
        assert (writer.due(0), writer.due(3), writer.due(5)) == (5, 2, 0)
        writer.take(field)
        assert (writer.due(5), writer.due(10)) == (5, 0)
        writer.take(field)
        assert writer.due(10) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s-vx.rsf", "s-vx.rsf@", "s-vz.rsf", "s-vz.rsf@"]


def test_a_run_that_stops_early_leaves_nothing(tmp_path):
    writer, field = one_rank(tmp_path, SnapshotsTable(every_steps=5))
    with pytest.raises(InputError, match="the ranks' blocks hold"), writer:
        writer.take(field)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"every_steps": STEPS + 1}, f"every_steps: found {STEPS + 1}; allowed: 1 to {STEPS}"),
        ({"fields": ("vx", "vy")}, "fields: found 'vy'; allowed in 2D: vx, vz, sxx, szz, sxz"),
        ({"every_nodes": (2, 2, 2)}, "every_nodes: found 3 numbers; needed: 2"),
    ],
)
def test_keys_that_do_not_fit_the_run_are_named(tmp_path, keys, words):
    with pytest.raises(InputError, match=words):
        one_rank(tmp_path, SnapshotsTable(**keys))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"fields": ["vx", "p"]}, "fields: .*allowed: .*a list of vx, vy, vz, sxx, .*, each once"),
        ({"format": "segy"}, 'format: .*allowed: "rsf", "npy", "nc", "h5" or "hdf5"'),
        ({"every_nodes": 0}, "every_nodes: .*from 1"),
        ({"region": "deep"}, 'region: .*"volume" or "surface"'),
    ],
)
def test_wrong_keys_are_named(tmp_path, keys, words):
    with pytest.raises(InputError, match=words):
        validated(SnapshotsTable, keys, tmp_path / "survey.toml")


def test_memory_is_that_of_the_nodes_in_the_block():
    grid = Grid((9, 8, 11), (10.0, 10.0, 10.0), pad=((3, 2), (1, 2), (0, 3)))
    table = SnapshotsTable(every_nodes=2, buffered_steps=10)
    sizes = [buffer_bytes(grid, Decomposition(grid.full_shape, (3, 1, 2), rank), table) for rank in range(6)]
    assert sum(sizes) == 10 * 3 * 5 * 4 * 6 * 4
