"""The model's place by the CDP coordinates of a SEG-Y: what is taken from them, what is told, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import run
from hypothesis import given, settings
from hypothesis import strategies as st
from mpi4py import MPI
from segy_support import Bytes

from fathometer.base.errors import InputError
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.model.prepare.driver import prepare_volume
from fathometer.seismic.model.prepare.request import PreparationRequest
from fathometer.seismic.setup.survey_layout import SurveyLayout, survey_layout
from fathometer.seismic.shots.rotation import Rotation
from fathometer.seismic.survey import Survey, survey_of
from fathometer.storage.describe import describe
from fathometer.storage.traces.segy import GatherWriter
from fathometer.storage.volumes.place import Place, World
from fathometer.storage.volumes.survey_grid import survey_grid
from fathometer.storage.volumes.volume import VolumeInfo, write_volume

SHAPE, DZ = (30, 20, 12), 10.0


def survey(folder: Path, acquisition: dict[str, Any], model: dict[str, Any], **sections: Any) -> Survey:
    wavelet = {"kind": "ricker", "peak_frequency": 15.0}
    values = {"model": model, "acquisition": acquisition, "wavelet": wavelet}
    return survey_of(values | sections, folder / "survey.toml")


def velocities(
    path: Path,
    places: np.ndarray,
    scalar: int = -100,
    order: tuple[int, ...] = (0, 1),
    delay: int = 0,
    **options: Any,
) -> Path:
    """A SEG-Y of 2000 m/s at places (nx, ny, 2) or (nx, 2), m, its axes in another order if wanted."""
    if places.ndim == 3:
        places = places.transpose(*order, 2)
    numbers = np.rint(places * (abs(scalar) if scalar < 0 else 1 / scalar)).astype(int)
    lengths = places.shape[:-1]
    trace = [
        {181: int(numbers[cell][0]), 185: int(numbers[cell][1]), 71: scalar, 189: 1 + cell[0], 193: 1 + cell[-1]}
        if len(lengths) == 2
        else {181: int(numbers[cell][0]), 185: int(numbers[cell][1]), 71: scalar}
        for cell in np.ndindex(*lengths)
    ]
    values = np.full((math.prod(lengths), SHAPE[2]), 2000.0)
    return Bytes(values, trace=trace, every={117: 4000, 109: delay}, **options).write(path)


def places(rotation: Rotation, spacing: tuple[float, float], shape: tuple[int, int] = SHAPE[:2]) -> np.ndarray:
    """Places (nx, ny, 2) of the cells of a grid whose first cell is at its point (0, 0), m of the survey."""
    x, y = (step * np.arange(n) for step, n in zip(spacing, shape, strict=True))
    grid = np.stack(np.meshgrid(x, y, [0.0], indexing="ij"), axis=-1).reshape(-1, 3)
    return rotation.to_survey(grid)[:, :2].reshape(*shape, 2)


def layout_of(folder: Path, model: dict[str, Any], **keys: Any) -> SurveyLayout:
    return survey_layout(survey(folder, {"gathers": "shots.segy"} | keys, model), imaging=True)


def gathers(folder: Path, rotation: Rotation) -> None:
    """Two shots within the grid, in the survey's coordinates to a centimetre."""
    with GatherWriter(folder / "shots.segy", 50, 0.004, 8) as file:
        for ffid in (1, 2):
            receivers = np.array([[100.0 + 25.0 * k, 50.0 * ffid, 10.0] for k in range(4)])
            source = rotation.to_survey(np.array([[150.0, 60.0 * ffid, 10.0]]))[0]
            traces = np.ones((4, 50), np.float32)
            file.write(4 * (ffid - 1), ffid, np.round(source, 2), np.round(rotation.to_survey(receivers), 2), traces)


def same_place(one: SurveyLayout, other: SurveyLayout, tolerance: float) -> None:
    assert one.files.grid == other.files.grid
    for mine, theirs in zip(one.acquisition.shots, other.acquisition.shots, strict=True):
        np.testing.assert_allclose(mine.source, theirs.source, atol=tolerance)
        np.testing.assert_allclose(mine.receivers, theirs.receivers, atol=tolerance)


@pytest.mark.parametrize("azimuth", [60.0, 0.0, 180.0, 301.5])
def test_place_and_direction_are_those_of_the_headers(tmp_path: Path, azimuth: float) -> None:
    """As with the same numbers in the survey file, and a file of values alone."""
    rotation = Rotation((450000.0, 6200000.0), azimuth)
    gathers(tmp_path, rotation)
    velocities(tmp_path / "vp.segy", places(rotation, (20.0, 12.5)))
    np.save(tmp_path / "vp.npy", np.full(SHAPE, 2000.0, np.float32))
    got = layout_of(tmp_path, {"vp": "vp.segy", "spacing": [DZ]})
    keys = {"origin": list(rotation.origin), "azimuth": azimuth}
    expected = layout_of(tmp_path, {"vp": "vp.npy", "spacing": [20.0, 12.5, DZ]}, **keys)
    same_place(got, expected, 0.02)
    assert got.survey.acquisition.origin == pytest.approx(rotation.origin, abs=0.01)
    assert got.survey.acquisition.azimuth == pytest.approx(azimuth, abs=0.002)
    assert any("azimuth" in note and "are taken, by the CDP coordinates of" in note for note in got.acquisition.notes)
    # The record's input reads as the same place again.
    resolved = survey_of(got.survey.resolved(), tmp_path / "survey.toml")
    again = survey_layout(resolved, imaging=True)
    same_place(again, got, 0.0)


def test_a_grid_along_the_axes_keeps_the_surveys_coordinates(tmp_path: Path) -> None:
    rotation = Rotation((3000.0, 500.0))
    gathers(tmp_path, rotation)
    velocities(tmp_path / "vp.segy", places(rotation, (20.0, 12.5)))
    got = layout_of(tmp_path, {"vp": "vp.segy", "spacing": [20.0, 12.5, DZ]})
    assert got.files.grid.origin == (3000.0, 500.0, 0.0)
    assert got.survey.acquisition.origin is None
    assert got.acquisition.shots[0].source.tolist() == [3150.0, 560.0, 10.0]
    (note,) = [note for note in got.acquisition.notes if "first cell" in note]
    assert note.startswith("the model's first cell lies at (3000, 500) m, by the CDP coordinates of")


@pytest.mark.parametrize("azimuth", [90.0, 35.0])
def test_a_line(tmp_path: Path, azimuth: float) -> None:
    rotation = Rotation((3000.0, 500.0), azimuth)
    gathers(tmp_path, rotation)
    velocities(tmp_path / "vp.segy", places(rotation, (12.5, 1.0), (40, 1))[:, 0])
    got = layout_of(tmp_path, {"vp": "vp.segy", "spacing": [DZ]})
    x = 3000.0 if azimuth == 90 else 0.0
    assert (got.files.grid.origin, got.files.grid.spacing) == ((x, 0.0, 0.0), (12.5, 12.5, DZ))
    np.testing.assert_allclose(got.acquisition.shots[0].source, [x + 150.0, 0.0, 10.0], atol=0.01)


def test_a_spacing_that_contradicts_the_headers_is_told_with_both_numbers(tmp_path: Path) -> None:
    rotation = Rotation((0.0, 0.0))
    gathers(tmp_path, rotation)
    velocities(tmp_path / "vp.segy", places(rotation, (50.0, 12.5)))
    got = layout_of(tmp_path, {"vp": "vp.segy", "spacing": [25.0, 12.5, DZ]})
    assert got.files.grid.spacing == (25.0, 12.5, DZ)
    (note,) = [note for note in got.acquisition.notes if note.startswith("[model] spacing")]
    source = f"CDP coordinates of {tmp_path / 'vp.segy'} (bytes 181 and 185)"
    used = "the key's is used, and no place is taken from them"
    assert note == f"[model] spacing is 25 m along x, but 50 m by the {source}; {used}"
    assert got.files.grid.origin == (0.0, 0.0, 0.0)
    agreeing = layout_of(tmp_path, {"vp": "vp.segy", "spacing": [50.0, 12.5, DZ]})
    assert not [note for note in agreeing.acquisition.notes if note.startswith("[model] spacing")]


def test_bin_numbers_that_are_overruled_give_no_place(tmp_path: Path) -> None:
    gathers(tmp_path, Rotation((0.0, 0.0)))
    velocities(tmp_path / "vp.segy", 101.0 + np.stack([np.arange(40.0), np.zeros(40)], axis=-1), scalar=1)
    got = layout_of(tmp_path, {"vp": "vp.segy", "spacing": [12.5, DZ]})
    assert got.files.grid.origin == (0.0, 0.0, 0.0)


def test_a_spacing_between_whole_metres_is_taken_and_told(tmp_path: Path) -> None:
    """6.25 m in headers of whole metres; as 6.3 m the last of 40 cells would lie 2 m off."""
    gathers(tmp_path, Rotation((0.0, 0.0)))
    line = np.stack([np.round(6.25 * np.arange(40.0)), np.zeros(40)], axis=-1)
    velocities(tmp_path / "vp.segy", line, scalar=1)
    got = layout_of(tmp_path, {"vp": "vp.segy", "spacing": [DZ]})
    assert got.files.grid.spacing[0] == 6.25
    assert any("give 6.25 m along x, which are taken" in note for note in got.acquisition.notes)


def test_preparation_tells_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = velocities(tmp_path / "vp.segy", places(Rotation(), (50.0, 12.5)))
    said = run(capsys, "prepare", path, "--input-spacing", "25,12.5,10", "-o", tmp_path / "a.rsf").err
    both = "--input-spacing is 25 m along x, but 50 m by the CDP coordinates"
    assert f"note: {both} of {path} (bytes 181 and 185); the key's is used" in said
    turned = velocities(tmp_path / "turned.segy", places(Rotation((300.0, 50.0), 30.0), (50.0, 12.5)))
    said = run(capsys, "prepare", turned, "--input-spacing", "50,12.5,10", "-o", tmp_path / "b.rsf").err
    assert "note: the first cell lies at (300, 50) m by the CDP coordinates" in said
    assert "x points to azimuth 30" in said
    along = velocities(tmp_path / "along.segy", places(Rotation((300.0, 50.0)), (50.0, 12.5)))
    run(capsys, "prepare", along, "--input-spacing", "50,12.5,10", "-o", tmp_path / "c.rsf")
    assert [describe(name, tmp_path).origin for name in ("b.rsf", "c.rsf")] == [(0, 0, 0), (300, 50, 0)]
    said = run(capsys, "prepare", path, "-o", tmp_path / "a.rsf").err
    assert "--input-spacing: missing; the CDP coordinates" in said
    assert "give 50 m along x, 12.5 m along y; needed: that along z too" in said


def test_a_depth_step_is_needed(tmp_path: Path) -> None:
    gathers(tmp_path, Rotation())
    velocities(tmp_path / "vp.segy", places(Rotation(), (50.0, 12.5)))
    with pytest.raises(
        InputError, match=r"spacing: missing; .* give 50 m along x, 12\.5 m along y.*needed: \[dz\] alone"
    ):
        layout_of(tmp_path, {"vp": "vp.segy"})
    np.save(tmp_path / "vp.npy", np.full(SHAPE, 2000.0, np.float32))
    with pytest.raises(InputError, match="spacing: found 1 value; needed: 3, for x, y, z"):
        layout_of(tmp_path, {"vp": "vp.npy", "spacing": [DZ]})


@pytest.mark.parametrize(
    ("model", "keys", "told"),
    [
        (
            {},
            {"origin": [1000.0, 0.0]},
            "first cell at 0 m along x, where it is 2000 m, 0 m along y, where it is 500 m",
        ),
        ({}, {"origin": [3000.0, 500.0], "azimuth": 80.0}, "azimuth 80 degrees, where x points to 90"),
        ({"origin": [3000.0, 500.0, 0.0]}, {}, None),
        ({}, {"origin": [3000.0, 500.0], "azimuth": 90.0}, None),
    ],
)
def test_what_the_survey_says_counts_and_differences_are_told(
    tmp_path: Path, model: dict[str, Any], keys: dict[str, Any], told: str | None
) -> None:
    gathers(tmp_path, Rotation((3000.0, 500.0)))
    velocities(tmp_path / "vp.segy", places(Rotation((3000.0, 500.0)), (200.0, 200.0)))
    got = layout_of(tmp_path, {"vp": "vp.segy", "spacing": [200.0, 200.0, DZ]} | model, **keys)
    notes = [note for note in got.acquisition.notes if note.startswith("the survey says")]
    assert len(notes) == (told is not None)
    assert told is None or told in notes[0]


def test_axes_that_would_mirror_the_image_are_refused(tmp_path: Path) -> None:
    """Lines run north, traces within them east: with the slowest axis as x, y would point to its right."""
    rotation = Rotation((3000.0, 500.0), 90.0)
    gathers(tmp_path, rotation)
    velocities(tmp_path / "vp.segy", places(rotation, (20.0, 12.5)), order=(1, 0))
    with pytest.raises(InputError, match=r"y points to the right of x.*\(azimuths 90 and 0 degrees\).*\"yxz\""):
        layout_of(tmp_path, {"vp": "vp.segy", "spacing": [DZ]})
    got = layout_of(tmp_path, {"vp": "vp.segy", "spacing": [DZ], "axes": "yxz"})
    assert (got.files.grid.shape, got.files.grid.spacing) == (SHAPE, (20.0, 12.5, DZ))
    assert got.acquisition.shots[0].source.tolist() == [3150.0, 560.0, 10.0]


def test_files_in_different_places_are_refused(tmp_path: Path) -> None:
    gathers(tmp_path, Rotation())
    velocities(tmp_path / "vp.segy", places(Rotation(), (20.0, 12.5)))
    velocities(tmp_path / "epsilon.segy", places(Rotation((100.0, 0.0)), (20.0, 12.5)))
    with pytest.raises(InputError, match=r"epsilon\.segy lies elsewhere by its CDP coordinates"):
        layout_of(tmp_path, {"vp": "vp.segy", "epsilon": "epsilon.segy", "spacing": [DZ]})


def test_a_geometry_to_model_stays_in_the_coordinates_of_the_grid(tmp_path: Path) -> None:
    velocities(tmp_path / "vp.segy", places(Rotation((3000.0, 500.0), 30.0), (20.0, 12.5)))
    keys = {"sources": {"x": 100, "y": 100, "z": 10}, "receivers": {"x": [50, 200, 50], "y": 50, "z": 10}}
    described = survey(tmp_path, keys, {"vp": "vp.segy", "spacing": [DZ]}, propagation={"duration": 0.2})
    got = survey_layout(described, imaging=False)
    assert (got.files.grid.origin, got.files.grid.spacing) == ((0.0, 0.0, 0.0), (20.0, 12.5, DZ))


def test_info_says_where_a_volume_lies(tmp_path: Path) -> None:
    velocities(tmp_path / "vp.segy", places(Rotation((3000.0, 500.0)), (20.0, 12.5)))
    said = describe("vp.segy", tmp_path)
    text = "every 20 m towards azimuth 90 degrees and 12.5 m towards azimuth 0 degrees (slowest axis first), from"
    assert dict(said.rows())["CDP coordinates"] == f"{text} (3000, 500) m"
    record = said.as_dict()["survey"]
    assert record == {"spacing_metres": [20.0, 12.5], "origin_metres": [3000.0, 500.0], "azimuths_degrees": [90.0, 0.0]}


def test_a_real_volume(shared_data: Path) -> None:
    """F3, whose bins are 25 m and whose inlines point a little to the west of north."""
    survey = describe("f3.sgy", shared_data / "segy_variants").survey
    assert (survey.spacing, survey.azimuths) == ((25.0, 25.0), (358.4, 88.4))
    assert survey.origin == pytest.approx((620197.2, 6074232.9))


def test_a_volume_of_ours_comes_back_where_it_was(tmp_path: Path) -> None:
    values = np.full((5, 4, 3), 2000.0, np.float32)
    info = VolumeInfo(values.shape, values.dtype, (25.0, 12.5, 5.0), (1000.0, -200.0, 0.0), ("x", "y", "z"), "m/s")
    write_volume(tmp_path / "vp.segy", info, values, (0, 0, 0), MPI.COMM_SELF)
    said = describe("vp.segy", tmp_path)
    assert (said.survey.spacing, said.survey.origin, said.survey.azimuths) == ((25, 12.5), (1000, -200), (90, 0))


@pytest.mark.parametrize(
    ("change", "options"),
    [
        (lambda p: p.__setitem__((3, 3), p[3, 3] + 5), {}),  # one place elsewhere
        (lambda p: p.__setitem__(slice(None), p * 0 + 7), {}),  # all in one place
        (lambda p: p.__setitem__((slice(None), slice(None), 0), p[..., 0] + 0.3 * p[..., 1]), {}),  # slanting
        (lambda p: None, {"every": {89: 3}}),  # angles
    ],
    ids=["not regular", "one place", "no right angle", "angles"],
)
def test_coordinates_that_are_no_grid_are_left_alone(tmp_path: Path, change: Any, options: dict[str, Any]) -> None:
    where = places(Rotation((30.0, 50.0)), (20.0, 12.5))
    change(where)
    path = velocities(tmp_path / "vp.segy", where, scalar=1 if options else -100)
    if options:
        data = bytearray(path.read_bytes())
        data[3600 + 88 : 3600 + 90] = b"\0\3"
        path.write_bytes(data)
    assert describe("vp.segy", tmp_path).survey is None


@settings(max_examples=60, deadline=None)
@given(
    st.floats(0, 359.9),
    st.tuples(st.floats(5, 100), st.floats(5, 100)),
    st.sampled_from([0.01, 0.1, 1.0]),
    st.tuples(st.integers(2, 40), st.integers(2, 40)),
)
def test_the_grid_is_found_from_rounded_coordinates(
    azimuth: float, spacing: tuple[float, float], step: float, shape: tuple[int, int]
) -> None:
    rotation = Rotation((612345.25, 6054321.5), azimuth)
    exact = places(rotation, spacing, shape)
    found = survey_grid(np.rint(exact / step) * step, step)
    assert found is not None
    for metres, error, true in zip(found.spacing, found.accuracy, spacing, strict=True):
        assert abs(metres - true) <= 2 * error
    assert math.dist(found.origin, rotation.origin) <= step
    largest = max(2 * error / metres for metres, error in zip(found.spacing, found.accuracy, strict=True))
    for direction, true in zip(found.azimuths, (azimuth, azimuth - 90.0), strict=True):
        assert abs((direction - true + 180) % 360 - 180) <= math.degrees(largest)


@pytest.mark.parametrize("axes", ["xz", "zx", "zyx", "yzx", "zxy"])
def test_attributes_place_a_model_whatever_the_order_of_its_axes(tmp_path: Path, axes: str) -> None:
    world, lengths = World((5000.0, 7000.0), 30.0), dict(zip("xyz", SHAPE, strict=True))
    shape, spacing = tuple(lengths[axis] for axis in axes), (10.0,) * len(axes)
    info = VolumeInfo(shape, np.dtype("f4"), spacing, (0.0,) * len(axes), tuple(axes), "m/s", place=Place(world))
    write_volume(tmp_path / "vp.rsf", info, np.full(shape, 2000.0, np.float32), [0] * len(axes), MPI.COMM_SELF)
    files = EarthFiles(survey(tmp_path, {"gathers": "shots.segy"}, {"vp": "vp.rsf"}))
    assert (files.place.world, files.placed.acquisition.origin) == (world, world.origin)
    prepare_volume(PreparationRequest(str(tmp_path / "vp.rsf"), tmp_path / "o.rsf"), lambda line: None)
    assert describe("o.rsf", tmp_path).place.world == world


def test_the_first_depth_of_a_segy_is_taken_where_it_says_it_and_told_where_it_may(tmp_path: Path) -> None:
    info = VolumeInfo(SHAPE, np.dtype("f4"), (10.0, 20.0, DZ), (300.0, 50.0, 120.0), ("x", "y", "z"), "m/s")
    write_volume(tmp_path / "ours.segy", info, np.full(SHAPE, 2000.0, np.float32), [0] * 3, MPI.COMM_SELF)
    velocities(tmp_path / "theirs.segy", places(Rotation(), (50.0, 12.5)), delay=120)
    position = {"x": 400.0, "y": 100.0, "z": 150.0}
    for name, depth in (("ours.segy", 120.0), ("theirs.segy", 0.0)):
        keys = {"sources": position, "receivers": position, "sample_interval": 0.002}
        files = EarthFiles(survey(tmp_path, keys, {"vp": name, "spacing": [DZ]}, propagation={"duration": 0.1}))
        said: list[str] = []
        request = PreparationRequest(str(tmp_path / name), tmp_path / "o.rsf", input_spacing=(*files.grid.spacing,))
        prepare_volume(request, said.append)
        origin = describe("o.rsf", tmp_path).origin
        assert origin is not None
        assert (files.grid.origin[2], origin[2]) == (depth, depth)
        told = (
            "the delay of 120 in its trace headers (bytes 109 and 110) is not taken for the depth of the first sample"
        )
        for notes, key in ((files.notes, "[model] origin"), (said, "--input-origin")):
            assert any(f"{told}; {key} gives it" in note for note in notes) == (not depth)


def test_attributes_place_a_model_whose_spacing_a_key_gives(tmp_path: Path) -> None:
    world = World((5000.0, 7000.0), 30.0)
    info = VolumeInfo((12, 30), np.dtype("f4"), None, None, ("z", "x"), "m/s", place=Place(world))
    write_volume(tmp_path / "vp.rsf", info, np.full((12, 30), 2000.0, np.float32), [0, 0], MPI.COMM_SELF)
    model = {"vp": "vp.rsf", "spacing": [10.0, 10.0], "origin": [300.0, 0.0]}
    files = EarthFiles(survey(tmp_path, {"gathers": "shots.segy"}, model))
    assert (files.place.world, files.placed.acquisition.origin) == (world, world.origin)
    request = PreparationRequest(str(tmp_path / "vp.rsf"), tmp_path / "o.rsf", input_spacing=(10.0,))
    prepare_volume(request, lambda line: None)
    assert describe("o.rsf", tmp_path).place.world == world
