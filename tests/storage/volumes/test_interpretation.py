"""SEG-Y volumes as interpretation programs open them: by segyio in strict mode, by ObsPy, by their corners, and byte by
byte against the standard."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
import pytest
import segyio
from cli_support import run
from mpi4py import MPI
from place_support import cdp, text

from fathometer.storage.describe import describe
from fathometer.storage.volumes.place import Place, World
from fathometer.storage.volumes.volume import VolumeInfo, open_volume, write_volume

UTM = World((451234.5, 6202345.25), 60.0)
# Shape, spacing, origin, place: grids as surveys have them.
GRIDS = {
    "turned": ((7, 5, 4), (12.5, 20.0, 5.0), (-25.0, 40.0, 10.0), Place(UTM, "EPSG:25832")),
    "along axes": ((7, 5, 4), (25.0, 25.0, 10.0), (0.0, 0.0, 0.0), Place(World((400000.0, 7000000.0), 0.0))),
    "local": ((7, 5, 4), (12.5, 6.25, 12.5), (0.0, -12.5, -300.0), Place()),
    "far": ((6, 3, 4), (100.0 / 3.0, 18.75, 4.0), (0.0, 0.0, 1200.0), Place(World((98765432.125, -87654321.5), 33.3))),
    "line": ((9, 4), (12.5, 5.0), (50.0, 2000.0), Place(UTM)),
    "one inline": ((1, 5, 4), (12.5, 20.0, 5.0), (-25.0, 40.0, 10.0), Place(UTM)),
    "thin cells": ((3, 2, 5), (1.0, 2.0, 0.125), (0.0, 0.0, 3.0), Place()),
}


def written(path: Path, name: str, made: tuple[str, ...] = (), last: str = "z", unit: str | None = "m/s") -> np.ndarray:
    shape, spacing, origin, place = GRIDS[name]
    values = np.random.default_rng(5).normal(size=shape).astype(np.float32)
    labels = ("x", "y", last) if len(shape) == 3 else ("x", last)
    info = VolumeInfo(shape, values.dtype, spacing, origin, labels, unit, place=place, made=made)
    write_volume(path, info, values, (0,) * len(shape), MPI.COMM_SELF)
    return values


def in_world(name: str) -> tuple[np.ndarray, np.ndarray]:
    """X and Y (inlines, crosslines), m, of a grid's traces, by the rotation of a complex number."""
    shape, spacing, origin, place = GRIDS[name]
    x = origin[0] + spacing[0] * np.arange(shape[0])
    y = origin[1] + spacing[1] * np.arange(shape[1]) if len(shape) == 3 else np.zeros(1)
    world = place.world or World()
    turned = (x[:, None] + 1j * y[None, :]) * np.exp(1j * math.radians(90.0 - world.azimuth))
    return world.origin[0] + turned.real, world.origin[1] + turned.imag


@pytest.mark.parametrize("name", GRIDS)
def test_segyio_opens_it_as_a_cube_in_strict_mode(tmp_path: Path, name: str) -> None:
    values = written(tmp_path / "a.segy", name)
    shape, spacing, origin, _ = GRIDS[name]
    with segyio.open(tmp_path / "a.segy", strict=True) as file:
        assert not file.unstructured
        assert file.ilines.tolist() == list(range(1, shape[0] + 1))
        assert file.xlines.tolist() == list(range(1, (shape[1] if len(shape) == 3 else 1) + 1))
        np.testing.assert_array_equal(segyio.tools.cube(file).reshape(shape), values)
        # Milliseconds of its axis are metres of depth.
        np.testing.assert_allclose(file.samples, origin[-1] + spacing[-1] * np.arange(shape[-1]), atol=1e-3)
        assert file.offsets.tolist() == [0]


@pytest.mark.parametrize("name", GRIDS)
def test_corners_are_those_of_the_grid_in_headers_and_text(tmp_path: Path, name: str) -> None:
    written(tmp_path / "a.segy", name)
    x, y, step = cdp(tmp_path / "a.segy")
    expected_x, expected_y = in_world(name)
    within = min(0.5 * step, 0.05) + 1e-6  # coordinates in whole metres are whole
    np.testing.assert_allclose(x, expected_x.ravel(), rtol=0, atol=within)
    np.testing.assert_allclose(y, expected_y.ravel(), rtol=0, atol=within)
    lines = [line for line in text(tmp_path / "a.segy").splitlines() if line.startswith("Corner")]
    last_i, last_j = (n - 1 for n in expected_x.shape)
    corners = [(0, 0), (0, last_j), (last_i, 0), (last_i, last_j)] if name != "line" else [(0, 0), (last_i, 0)]
    assert len(lines) == len(corners)
    for line, (i, j) in zip(lines, corners, strict=True):
        told = [float(word.rstrip(",")) for word in line.replace(" m", "").split() if "." in word]
        assert told == pytest.approx([expected_x[i, j], expected_y[i, j]], abs=1e-4)
        place = f"inline {i + 1}, crossline {j + 1}" if name != "line" else f"trace {i + 1}"
        assert line.startswith(f"Corner {place}: ")


@pytest.mark.parametrize("name", GRIDS)
def test_it_comes_back(tmp_path: Path, name: str) -> None:
    values = written(tmp_path / "a.segy", name)
    shape, _, origin, place = GRIDS[name]
    if name == "one inline":  # which nothing tells from a line
        shape, values = shape[1:], values[0]
    with open_volume("a.segy", tmp_path) as volume:
        assert volume.info.shape == shape
        assert volume.info.firsts[-1] == origin[-1]
        assert volume.info.place.crs == place.crs
        assert volume.info.place.local == (place.world is None)
        np.testing.assert_array_equal(volume.read([0] * len(shape), shape), values)
        assert volume.notes == ()
    if place.world is not None and len(shape) == 3:
        found = describe("a.segy", tmp_path).survey
        assert found.azimuths[0] == pytest.approx(place.world.azimuth, abs=0.5)


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.verify
def test_obspy_reads_it(tmp_path: Path, name: str) -> None:
    segy = pytest.importorskip("obspy.io.segy.segy", reason="ObsPy is not installed (make verify installs it)")
    values = written(tmp_path / "a.segy", name)
    shape, spacing, _, _ = GRIDS[name]
    file = segy._read_segy(str(tmp_path / "a.segy"))
    assert file.binary_file_header.measurement_system == 1
    assert file.binary_file_header.seg_y_format_revision_number == 256
    found = np.array([trace.data for trace in file.traces]).reshape(shape)
    np.testing.assert_array_equal(found, values)
    head = file.traces[-1].header
    assert head.sample_interval_in_ms_for_this_trace == round(1000 * spacing[-1])  # which it calls ms, of µs
    scalar = head.scalar_to_be_applied_to_all_coordinates
    step = 1 / abs(scalar)
    x, y = (places[-1, -1] for places in in_world(name))
    assert head.x_coordinate_of_ensemble_position_of_this_trace * step == pytest.approx(x, rel=0, abs=step)
    assert head.y_coordinate_of_ensemble_position_of_this_trace * step == pytest.approx(y, rel=0, abs=step)
    assert "Written by Fathometer" in file.textual_file_header.decode("ascii", "replace")


def test_bytes_are_where_the_standard_has_them(tmp_path: Path) -> None:
    """SEG-Y revision 1, tables 2 and 3, without a library; bytes count from 1."""
    values = written(tmp_path / "a.segy", "turned")
    data = (tmp_path / "a.segy").read_bytes()
    size = 240 + 4 * 4
    assert len(data) == 3600 + 35 * size

    def short(byte: int, start: int = 0) -> int:
        return struct.unpack_from(">h", data, start + byte - 1)[0]

    def long(byte: int, start: int = 0) -> int:
        return struct.unpack_from(">i", data, start + byte - 1)[0]

    assert (short(3217), short(3221), short(3225), short(3255)) == (5000, 4, 5, 1)
    assert (short(3501), short(3503), short(3505)) == (0x0100, 1, 0)
    for number in range(35):
        head = 3600 + number * size
        i, j = divmod(number, 5)
        assert (long(1, head), long(5, head), long(21, head)) == (number + 1,) * 3
        assert (long(189, head), long(193, head), long(9, head), long(13, head)) == (i + 1, j + 1, i + 1, j + 1)
        assert (short(29, head), short(71, head), short(89, head)) == (1, -100, 1)
        assert (short(109, head), short(115, head), short(117, head)) == (10, 4, 5000)
        assert struct.unpack_from(">4f", data, head + 240) == tuple(values[i, j])


@pytest.mark.parametrize(
    ("step", "first", "interval", "samples", "words"),
    [
        (5.0, 12.75, 5000, [13.0, 18.0, 23.0], "5 m; in headers, in millimetres: 5000"),
        (37.5, 100.0, 3750, [0.0, 3.75, 7.5], "37.5 m; in headers, in centimetres: 3750"),
        (40.0, 0.0, 4000, [0.0, 4.0, 8.0], "40 m; in headers, in centimetres: 4000"),
        (100 / 3, 0.0, 3333, [0.0, 3.333, 6.666], "33.33333333 m; in headers, rounded to centimetres: 3333"),
    ],
)
def test_depths_that_headers_do_not_hold_are_in_the_text(
    tmp_path: Path, step: float, first: float, interval: int, samples: list[float], words: str
) -> None:
    """Whole metres of the first depth; millimetres of the interval as far as they fit. Both come back from the text."""
    values = np.zeros((2, 2, 3), np.float32)
    info = VolumeInfo(values.shape, values.dtype, (10.0, 10.0, step), (0.0, 0.0, first), ("x", "y", "z"), None)
    write_volume(tmp_path / "a.segy", info, values, (0, 0, 0), MPI.COMM_SELF)
    with segyio.open(tmp_path / "a.segy", strict=True) as file:
        assert file.samples == pytest.approx(samples)
        assert file.bin[segyio.BinField.Interval] == interval
    assert f"Sample interval: {words}" in text(tmp_path / "a.segy")
    with open_volume("a.segy", tmp_path) as volume:
        assert volume.info.firsts == (None, None, first)
        assert volume.info.partial == (None, None, pytest.approx(step, rel=1e-9))
        assert volume.depth_notes == ()


@pytest.mark.parametrize("encoding", ["cp037", "ascii"])
def test_a_file_that_another_program_has_cut_and_written_again_is_what_its_headers_say(
    tmp_path: Path, encoding: str
) -> None:
    """Every second sample from the third on, in IBM floats, the text as it was, in EBCDIC or ASCII."""
    values = written(tmp_path / "a.segy", "turned")[..., 2:]
    with segyio.open(tmp_path / "a.segy", strict=True) as file:
        spec = segyio.tools.metadata(file)
        spec.samples, spec.format = np.array([20.0, 30.0]), 1
        said = bytes(file.text[0])
        with segyio.create(tmp_path / "b.segy", spec) as cut:
            cut.text[0] = said
            cut.bin = file.bin
            cut.bin.update(hns=2, hdt=10000, format=1)
            for number, head in enumerate(file.header):
                cut.header[number] = head
                cut.header[number].update({segyio.su.ns: 2, segyio.su.dt: 10000, segyio.su.delrt: 20})
                cut.trace[number] = file.trace[number][[0, 3]]
    if encoding == "ascii":
        data = bytearray((tmp_path / "b.segy").read_bytes())
        data[:3200] = bytes(data[:3200]).decode("cp037").encode("ascii")
        (tmp_path / "b.segy").write_bytes(bytes(data))
    with open_volume("b.segy", tmp_path) as volume:
        assert volume.info.firsts == (None, None, 20.0)
        assert volume.info.partial == (None, None, 10.0)
        assert volume.info.place.crs == "EPSG:25832"
        assert volume.read((0, 0, 0), (7, 5, 2)).shape == (*values.shape[:2], 2)
        assert [note.split(": ")[1] for note in volume.depth_notes] == [
            "first sample at 20 m by its trace headers, which count, and at 10 m by its text",
            "samples every 10 m by its headers, which count, and 5 m by its text",
        ]


def test_a_model_written_here_needs_no_spacing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its headers give the places, its text the depths: what is prepared from it has all three."""
    values = written(tmp_path / "a.segy", "turned", unit=None)
    done = run(capsys, "prepare", tmp_path / "a.segy", "--units", "none", "-o", tmp_path / "b.rsf")
    assert done.code == 0, done.err
    with open_volume("b.rsf", tmp_path) as volume:
        assert volume.info.spacing == (12.5, 20.0, 5.0)
        assert volume.info.origin[-1] == 10.0
        np.testing.assert_array_equal(volume.read((0, 0, 0), (7, 5, 4)), values)


def test_the_text_says_what_it_is_and_how_it_was_made(tmp_path: Path) -> None:
    made = ("Fathometer 0.1: fathometer migrate line.toml", "Traces: line.parquet, 4 shots")
    written(tmp_path / "a.segy", "turned", made)
    said = text(tmp_path / "a.segy").splitlines()
    assert said[0] == "Written by Fathometer"
    for line in (
        *made,
        "Depth in m, positive down from z = 0 of the model; lengths in m",
        "Vertical datum: not stated",
    ):
        assert line in said


def test_a_long_text_stays_within_the_header(tmp_path: Path) -> None:
    made = tuple(f"Sentence {number}: {'words ' * 40}" for number in range(9))
    written(tmp_path / "a.segy", "turned", made)
    with segyio.open(tmp_path / "a.segy", strict=True) as file:
        said = [bytes(file.text[0])[80 * n : 80 * n + 80].decode() for n in range(40)]
    assert [line[:3] for line in said] == [f"C{n:2d}" for n in range(1, 41)]
    assert said[38][4:].rstrip() == "SEG Y REV1"
    assert any("189-192     inline, from 1" in line for line in said)
    assert sum(line.rstrip().endswith(" ...") for line in said) == 1
