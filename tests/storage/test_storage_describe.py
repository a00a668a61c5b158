"""What `fathometer info` says of a file."""

import json

import h5py
import numpy as np
import pytest
import segyio
from index_support import live
from mpi4py import MPI
from segy_support import Bytes

from fathometer.base.errors import InputError
from fathometer.pictures.file_picture import picture_of
from fathometer.storage import describe as module
from fathometer.storage.describe import ValueRange, describe, value_range
from fathometer.storage.traces.segy import GatherWriter
from fathometer.storage.volumes.volume import VolumeInfo, open_volume, write_volume


@pytest.fixture
def written(tmp_path):
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    values[0, 0, :2] = np.nan, -np.inf
    info = VolumeInfo((2, 3, 4), values.dtype, (25.0, 12.5, 5.0), (0.0, 1.0, -2.0), ("x", "y", "z"), "m/s")
    write_volume(tmp_path / "v.rsf", info, values, (0, 0, 0), MPI.COMM_SELF)
    return tmp_path


def test_volume(written):
    said = describe("v.rsf", written)
    assert (said.kind, said.format, said.shape, said.dtype) == (
        "volume",
        "RSF",
        (2, 3, 4),
        "little-endian float32",
    )
    assert (said.spacing, said.origin, said.labels, said.unit) == (
        (25, 12.5, 5),
        (0, 1, -2),
        ("x", "y", "z"),
        "m/s",
    )
    assert said.values == ValueRange(2.0, 23.0, sum(range(2, 24)) / 22, 1, 1)
    rows = dict(said.rows())
    assert rows["spacing"] == "25 × 12.5 × 5 m"
    assert rows["values"] == "2 to 23 m/s, mean 12.5 m/s"
    assert (rows["NaN"], rows["infinite"]) == ("1", "1")
    record = json.loads(json.dumps(said.as_dict(), allow_nan=False))
    assert record["spacing_metres"] == [25, 12.5, 5]
    assert record["values"] == {
        "minimum": 2,
        "maximum": 23,
        "mean": 12.5,
        "nan_count": 1,
        "infinite_count": 1,
    }


@pytest.mark.parametrize(
    ("values", "note", "row"),
    [
        ([0.0, -0.0, -0.0], "all values are 0 m/s", "0 to 0 m/s, mean 0 m/s"),
        ([-0.0, -0.0, -0.0], "all values are 0 m/s", "0 to 0 m/s, mean 0 m/s"),
        ([1500.0] * 3, "all values are 1500 m/s", "1500 to 1500 m/s, mean 1500 m/s"),
        ([1500.0, np.nan, 1500.0], "all finite values are 1500 m/s", "1500 to 1500 m/s, mean 1500 m/s"),
        ([1500.0, 1500.0, 1500.5], "", "1500 to 1500.5 m/s, mean 1500.17 m/s"),
        ([np.nan] * 3, "", "none finite"),
    ],
)
def test_values_that_are_all_the_same(tmp_path, values, note, row):
    block = np.array(values, np.float32).reshape(1, 3)
    info = VolumeInfo((1, 3), block.dtype, (25.0, 5.0), (0.0, 0.0), ("x", "z"), "m/s")
    write_volume(tmp_path / "v.rsf", info, block, (0, 0), MPI.COMM_SELF)
    said = describe("v.rsf", tmp_path)
    assert said.notes == (note,) * bool(note)
    assert dict(said.rows())["values"] == row


def test_gathers_of_zeros(tmp_path):
    path = Bytes(-np.zeros((3, 20)), every={9: 7, 73: 1000, 81: 1100}).write(tmp_path / "a.segy")
    said = describe(str(path), tmp_path)
    assert said.notes == ("all values are 0",)
    assert dict(said.rows())["values"] == "0 to 0, mean 0"


@pytest.mark.parametrize("slab", [1, 4, 5, 8, 12, 13, 100])
def test_slabs_cover_every_value_once(written, monkeypatch, slab):
    whole = describe("v.rsf", written)
    monkeypatch.setattr(module, "SLAB_VALUES", slab)
    assert describe("v.rsf", written) == whole


def test_no_finite_value():
    said = value_range([np.full((2, 2), np.nan)])
    assert said == ValueRange(None, None, None, 4, 0)
    assert said.rows()[0] == ("values", "none finite")


def test_gathers(tmp_path):
    data = np.arange(20, dtype=np.float32).reshape(4, 5)
    with GatherWriter(tmp_path / "s.segy", 5, 0.004, 7) as writer:
        for first, ffid, count in ((0, 11, 4), (4, 12, 3)):
            x = np.arange(count) * 10.0
            receivers = np.stack((x, x * 0 + 30, x * 0 + 5), axis=1)
            writer.write(first, ffid, (50.0, 70.0, 6.5), receivers, data[:count])
    said = describe("s.segy", tmp_path)
    assert (said.kind, said.shape, said.shots, said.traces, said.samples) == ("gathers", (7, 5), 2, 7, 5)
    assert (said.interval, said.delay, said.channels) == (0.004, 0.0, (3, 4))
    assert said.source == ((50, 50), (70, 70), (6.5, 6.5))
    assert said.receiver == ((0, 30), (30, 30), (5, 5))
    assert said.offset == (np.hypot(20, 40), np.hypot(50, 40))
    assert said.values == ValueRange(0.0, 19.0, (190 + 105) / 35, 0, 0)
    rows = dict(said.rows())
    assert rows["samples"] == "5 every 0.004 s, from 0 to 0.016 s"
    assert rows["channels per shot"] == "3 to 4"
    assert rows["source z"] == "6.5 m"
    assert rows["receiver x"] == "0 to 30 m"
    record = json.loads(json.dumps(said.as_dict(), allow_nan=False))
    assert record["receiver_metres"]["x"] == [0, 30]
    assert record["interval_seconds"] == 0.004


@pytest.mark.parametrize("name", ["line.seg", "line", "folder.d/line"])
@pytest.mark.parametrize("su", [False, True])
def test_traces_are_known_by_content(tmp_path, name, su):
    """As `survey build` knows them: by any suffix, or none."""
    (tmp_path / "folder.d").mkdir()
    live(su=su).write(tmp_path / name)
    said = describe(name, tmp_path)
    assert (said.kind, said.shots, said.traces) == ("gathers", 2, 6)
    assert said.format.startswith("SU" if su else "SEG-Y revision 1")
    if name == "line":
        picture_of(tmp_path / "a.png", name, tmp_path)
        assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["model.mat", "model", "model.nc", "model.segy", "model.npy"])
@pytest.mark.parametrize("block", [0, 512])
def test_hdf5_is_known_by_content(tmp_path, name, block):
    values = np.arange(12.0).reshape(3, 4)
    with h5py.File(tmp_path / name, "w", userblock_size=block) as file:
        file["deep/vp"], file["rho"] = values, 2 * values
    said = describe(f"{name}:deep/vp", tmp_path)
    assert (said.kind, said.format, said.shape, said.values.maximum) == ("volume", "HDF5", (3, 4), 11)
    assert describe(f"{name}:rho", tmp_path).values.maximum == 22
    with pytest.raises(InputError, match="it holds: deep/vp, rho"):
        describe(name, tmp_path)


def test_coordinates_of_axes_are_no_volume(tmp_path):
    """A NetCDF-4 file is one of HDF5; its coordinate variables are scales there."""
    with h5py.File(tmp_path / "a.nc", "w") as file:
        for name, length in (("vp", (3, 4)), ("x", 3)):
            file[name] = np.ones(length)
        file["x"].make_scale()
    assert describe("a.nc", tmp_path).shape == (3, 4)


def test_what_no_content_tells_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("no traces" * 1000)
    for name in ("notes.txt", "gone.data"):
        with pytest.raises(InputError, match=rf"{name}: unknown kind of file \(allowed: \.rsf"):
            describe(name, tmp_path)


def test_a_kind_in_place_of_what_the_headers_say(tmp_path):
    """A grid of velocities whose offsets differ looks like gathers; a stack may be gathers of one offset."""
    trace = [{9: 1, 13: k + 1, 29: 1, 37: k, 189: 1 + k // 3, 193: 1 + k % 3} for k in range(6)]
    live(trace=trace).write(tmp_path / "vp.segy")
    assert describe("vp.segy", tmp_path).kind == "gathers"
    said = describe("vp.segy", tmp_path, "volume")
    assert (said.kind, said.shape) == ("volume", (2, 3, 4))
    picture_of(tmp_path / "a.png", "vp.segy", tmp_path, wanted="volume")
    with pytest.raises(InputError, match=r"vp.segy: holds gathers .* and it is one: vp.segy:volume"):
        open_volume("vp.segy", tmp_path)
    with open_volume("vp.segy:volume", tmp_path) as volume:
        np.testing.assert_array_equal(volume.read((0, 0, 0), (2, 3, 4)).reshape(6, 4), 1 + np.arange(24).reshape(6, 4))
    live(trace=[{189: 1 + k // 3, 193: 1 + k % 3} for k in range(6)]).write(tmp_path / "stack.segy")
    assert describe("stack.segy", tmp_path).kind == "volume"
    assert describe("stack.segy", tmp_path, "gathers").kind == "gathers"
    live(su=True).write(tmp_path / "a.su")
    assert describe("a.su", tmp_path, "volume").kind == "volume"


def test_a_kind_that_cannot_be(written):
    with pytest.raises(InputError, match=r"v\.rsf: is RSF, a format of volumes; --as gathers is for SEG-Y and SU"):
        describe("v.rsf", written, "gathers")
    with pytest.raises(InputError, match=r"a\.parquet: is an index by its suffix"):
        describe("a.parquet", written, "volume")


def test_an_interval_in_place_of_the_headers(tmp_path):
    live(interval=-2000, every={117: -2000}).write(tmp_path / "a.segy")
    with pytest.raises(InputError, match="sample interval is not positive"):
        describe("a.segy", tmp_path)
    said = describe("a.segy", tmp_path, interval=0.002)
    assert (said.kind, said.interval) == ("gathers", 0.002)
    assert (
        "the sample interval is taken as 2000 µs, as was asked for; the headers say none that is positive" in said.notes
    )


@pytest.mark.parametrize(("moves", "told"), [({}, None), ({4: 201}, 1), ({1: 101, 4: 201, 5: 202}, 2)])
def test_a_source_that_moves_within_a_shot_is_told(tmp_path, moves, told):
    data = live()
    for trace, x in moves.items():
        data.trace[trace][73] = x
    data.write(tmp_path / "a.segy")
    notes = [note for note in describe("a.segy", tmp_path).notes if "source moves" in note]
    if told is None:
        assert notes == []
        return
    first = min(moves)
    (note,) = notes
    assert note.startswith(f"the source moves within {told} of 2 shots; first: shot {1 + first // 3} has it at (")
    assert f"({moves[first]}, 7, 0) m in trace {first} (from 0)" in note


@pytest.mark.parametrize(
    ("name", "kind", "shape"),
    [
        ("f3.sgy", "volume", (23, 18, 75)),
        ("f3-lsb.sgy", "volume", (23, 18, 75)),
        ("small.sgy", "volume", (5, 5, 50)),
        ("small-ps.sgy", "gathers", (24, 10)),
        ("shot-gather.sgy", "gathers", (61, 25)),
    ],
)
def test_segy_variants(shared_data, name, kind, shape):
    said = describe(name, shared_data / "segy_variants")
    assert (said.kind, said.shape) == (kind, shape)


def test_field_shots(shared_data):
    said = describe("viking_small.segy", shared_data / "viking_graben")
    assert (said.kind, said.shots, said.channels, said.samples) == ("gathers", 4, (120, 120), 600)
    assert (said.offset, said.source[0], said.receiver[2]) == ((262, 3237), (3237, 3312), (10, 10))
    assert [label for label, _ in said.rows()].count("note") == 3


def test_models(shared_data):
    said = describe("derived_vp_eps_delta_xz.npz:vp", shared_data / "marmousi_vti2d")
    assert (said.shape, said.values.minimum, said.values.maximum) == ((737, 240), 1500, 5500)
    assert said.values.mean == pytest.approx(2855.41, abs=0.005)
    said = describe("overthrust_model.h5:m", shared_data / "overthrust2d")
    assert said.shape == (121, 401)
    assert said.values.minimum == pytest.approx(5.5**-2)
    assert said.spacing is None
    with pytest.raises(InputError, match="it holds: m, m0"):
        describe("overthrust_model.h5", shared_data / "overthrust2d")


# The rule that tells gathers from volumes: headers of two traces, of record 1 unless said otherwise.
@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ({}, {}, "volume"),
        ({37: 0}, {37: 25}, "gathers"),
        ({73: 5, 81: 5}, {73: 6, 81: 6}, "volume"),
        ({73: 5, 81: 6}, {73: 5, 81: 6}, "gathers"),
        ({73: 5}, {73: 6}, "volume"),
        ({73: 5, 81: 5, 41: -10}, {73: 5, 81: 5, 41: -20}, "gathers"),
        ({73: 5, 81: 5, 41: -10}, {73: 6, 81: 6, 41: -20}, "volume"),
        ({9: 1}, {9: 2}, "volume"),
    ],
)
def test_gathers_or_volume(tmp_path, first, second, kind):
    spec = segyio.spec()
    spec.format, spec.samples, spec.tracecount = 5, np.arange(4) * 4.0, 2
    with segyio.create(str(tmp_path / "a.segy"), spec) as file:
        file.bin.update(hns=4, hdt=4000)
        for trace, fields in enumerate((first, second)):
            file.header[trace] = {9: 1, **fields}
            file.trace[trace] = np.zeros(4, np.float32)
    assert describe("a.segy", tmp_path).kind == kind
