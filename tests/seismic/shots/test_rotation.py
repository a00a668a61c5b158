"""From the coordinates of a survey to those of the grid, and back."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_support import index_of
from test_acquisition import refused, write
from test_acquisition import survey as survey_of

from fathometer.seismic.shots.acquisition import acquisition_of
from fathometer.seismic.shots.rotation import Rotation

PLACES = np.array([[450010.0, 6200020.0, 5.0], [450000.0, 6200000.0, 0.0], [449999.5, 6200003.0, -2.0]])
ORIGIN = (450000.0, 6200000.0)


@pytest.mark.parametrize(
    ("azimuth", "first", "last"),
    [
        (90, (10, 20), (-0.5, 3)),  # x to the east, y to the north: a shift alone
        (0, (20, -10), (3, 0.5)),  # x to the north, y to the west
        (180, (-20, 10), (-3, -0.5)),
        (270, (-10, -20), (0.5, -3)),
        (-90, (-10, -20), (0.5, -3)),
        (360, (20, -10), (3, 0.5)),
    ],
)
def test_right_angles_are_exact(azimuth: float, first: tuple[float, float], last: tuple[float, float]) -> None:
    got = Rotation(ORIGIN, azimuth).to_grid(PLACES)
    assert got.tolist() == [[*first, 5], [0, 0, 0], [*last, -2]]
    assert not np.signbit(got[1]).any()
    assert Rotation(ORIGIN, azimuth).to_survey(got).tolist() == PLACES.tolist()


@given(
    st.floats(-360, 360),
    st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)),
    st.floats(0, 1e5),
    st.floats(-360, 360),
)
def test_a_place_at_a_bearing_and_a_distance(
    azimuth: float, origin: tuple[float, float], distance: float, bearing: float
) -> None:
    # By complex numbers: what lies at the azimuth is on the x axis, what lies to the left of it at positive y.
    there = np.array([origin[0], origin[1], 7.0]) + distance * np.array(
        [math.sin(math.radians(bearing)), math.cos(math.radians(bearing)), 0.0]
    )
    got = Rotation(origin, azimuth).to_grid(there[None])
    expected = distance * np.exp(1j * math.radians(azimuth - bearing))
    np.testing.assert_allclose(got[0], [expected.real, expected.imag, 7.0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(Rotation(origin, azimuth).to_survey(got)[0], there, rtol=0, atol=1e-8)


@pytest.mark.parametrize("by_index", [False, True])
@pytest.mark.parametrize("azimuth", [0.0, 37.0, None])
def test_gathers_of_both_kinds_are_turned(tmp_path: Path, azimuth: float | None, by_index: bool) -> None:
    write(tmp_path / "a.segy", [(1, PLACES[0], PLACES[1:]), (2, PLACES[2], PLACES[:2])])
    if by_index:
        index_of(tmp_path / "a.segy")
    keys = {"gathers": "survey.parquet" if by_index else "a.segy", "origin": list(ORIGIN)}
    got = acquisition_of(survey_of(tmp_path, keys | ({} if azimuth is None else {"azimuth": azimuth})), 3)
    rotation = Rotation(ORIGIN, 90.0 if azimuth is None else azimuth)
    expected = rotation.to_grid(PLACES)
    np.testing.assert_array_equal([shot.source for shot in got.shots], expected[[0, 2]])
    np.testing.assert_array_equal(got.shots[0].receivers, expected[1:])
    assert any("rotated to the grid's axes: (0, 0) is at (450000, 6200000) m" in note for note in got.notes)


def test_a_line_is_told_how_far_places_lie_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "a.segy", [(1, [0, 0, 5], np.array([[30.0, 40.0, 0.0], [60.0, 81.0, 0.0]]))])
    azimuth = math.degrees(math.atan2(30, 40))
    got = acquisition_of(survey_of(tmp_path, {"gathers": "a.segy", "azimuth": azimuth}), 2)
    np.testing.assert_allclose(got.shots[0].receivers, [[50, 0, 0], [100.8, 0, 0]], atol=1e-9)
    assert any("lie up to 0.6 m beside the line" in note for note in got.notes)


def test_only_recorded_gathers_are_turned(tmp_path: Path) -> None:
    with refused("azimuth: found without gathers"):
        survey_of(tmp_path, {"sources": {"x": 0.0, "z": 0.0}, "receivers": {"x": 0.0, "z": 0.0}, "azimuth": 3.0})
    with refused("azimuth", "400"):
        survey_of(tmp_path, {"gathers": "a.segy", "azimuth": 400.0})
