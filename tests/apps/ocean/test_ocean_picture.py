"""The picture: which panels there are, values where they belong, ranges of colours, grids of all kinds."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from hand_ocean import DAY, basin, state, written

from fathometer.apps.ocean.field_maps import FieldFile
from fathometer.apps.ocean.shown import PICTURE, PICTURE_VALUES, SECTION, draw, ocean_figure, shown_of
from fathometer.base.errors import InputError
from fathometer.report.scale import codes_of, range_of
from fathometer.shown.planes import Plane, planes_panel, thinned


def figure_of(folder, grid, **options):
    case, files = written(folder, grid, times=(20 * DAY,), **options)
    return case, files, figure_in(files, grid)


def figure_in(files, grid):
    """Of the last file."""
    path = files.path(files.written[-1])
    return ocean_figure(shown_of(path.parent, [path.name], grid.shape, PICTURE_VALUES, arrows=True), "sea")


def titles(figure):
    return [title for axes in figure.axes if (title := axes.get_title(loc="left"))]


def test_panels_and_their_values(tmp_path):
    grid = basin()
    _, _, figure = figure_of(tmp_path, grid)
    names = ["Surface height (m)", "Surface temperature (°C)", "Temperature (°C) at 50.5° W", "Barotropic"]
    assert [title.startswith(name) for title, name in zip(titles(figure), names, strict=True)] == 4 * [True]
    height, warm, section, psi = (axes for axes in figure.axes if axes.get_title(loc="left"))
    whole = state(grid, 20 * DAY)
    for axes, values in ((height, whole["eta"]), (warm, whole["temperature"][..., 0])):
        shown = axes.images[0].get_array()
        assert np.array_equal(shown.mask, (grid.levels == 0).T)
        assert np.array_equal(shown.data[~shown.mask], values.T[~shown.mask].astype(np.float32))
    assert height.images[0].norm.vmin == -height.images[0].norm.vmax
    assert psi.images[0].norm.vmin == -psi.images[0].norm.vmax
    assert [axes.get_xlim() for axes in (height, warm, psi)] == 3 * [(-80.0, -20.0)]
    assert height.get_xlabel() == "longitude (°)"
    assert section.get_ylim() == (pytest.approx(grid.bottoms[-1]), 0.0)
    column = round(-50.5 - grid.x[0])
    shown = section.collections[0].get_array().reshape(grid.shape[2], grid.shape[1])
    water = np.arange(grid.shape[2])[:, None] < grid.levels[column]
    assert np.array_equal(~np.ma.getmaskarray(shown), water)
    assert np.array_equal(shown[water], whole["temperature"][column].T[water].astype(np.float32))
    # The arrows follow the clockwise gyre: eastward in the north.
    (arrows,) = (one for one in height.collections if type(one).__name__ == "Quiver")
    u, y = np.where(arrows.Umask, np.nan, arrows.U), arrows.XY[:, 1]
    assert np.nanmin(u[y > 40.0]) > 0
    assert np.nanmax(u[y < 20.0]) < 0


@pytest.mark.parametrize(
    ("grid", "where"),
    [
        (basin(20, 30, 3, spherical=False), "x = 237.5 km"),
        (basin(80, 10, 3, spherical=False, periodic=True), "y = 137.5 km"),
        (basin(16, 1, 2, spherical=False), "y = 12.5 km"),
        (basin(2, 6, 2), "78.5° W"),
    ],
)
def test_grids_of_all_kinds(tmp_path, grid, where):
    case, files, figure = figure_of(tmp_path, grid)
    assert any(f"at {where}" in title for title in titles(figure)), titles(figure)
    assert draw(case, files.path(files.written[-1])) == tmp_path / PICTURE
    assert (tmp_path / PICTURE).read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (("salinity", "velocity"), ["Surface salinity", "Surface speed (m/s)"]),
        (("height",), ["Surface height (m)"]),
        (("streamfunction",), ["Barotropic streamfunction (Sv)"]),
        (("vertical_velocity",), []),
    ],
)
def test_few_fields(tmp_path, fields, expected):
    case, files = written(tmp_path, basin(), times=(), fields=fields)
    from sea import blocked, layouts

    whole = state(basin(), 0.0)
    whole["w"] = whole["temperature"]
    files.write_state(1, 60.0, blocked(layouts(basin(), 1, tile=8, blocks=(8, 8))[0], whole))
    assert titles(figure_in(files, basin())) == expected
    draw(case, files.path(files.written[-1]))


def test_a_file_of_another_grid_or_none(tmp_path):
    _, files = written(tmp_path, basin(), times=(0.0,))
    with pytest.raises(InputError, match=r"levels: has the shape \(40, 60\), not \(40, 61\)"):
        FieldFile(files.files(files.written)[0], (61, 40, 8))
    with pytest.raises(InputError, match="no such file"):
        FieldFile(tmp_path / "fields" / "none.nc", (60, 40, 8))


def test_means_are_of_the_water():
    values = np.array([[1.0, np.nan, 5.0, 5.0], [3.0, np.nan, np.nan, np.nan]])
    means, blocks = thinned(values, 2)
    assert blocks == (1, 2)
    assert np.array_equal(means, [[1.0, 5.0], [3.0, np.nan]], equal_nan=True)


def test_a_section_at_equal_distances_of_depth(tmp_path):
    grid = basin(nz=3)  # levels end at 20, 52 and 103.2 m
    _, files = written(tmp_path, grid, times=(0.0,))
    with FieldFile(files.files(files.written)[0], grid.shape) as file:
        section = file.section()
    panel = planes_panel("section", SECTION, [Plane("T", (section.values,), section.extent)], [0.0], "land")
    (codes,) = (np.frombuffer(base64.b64decode(one), np.uint8) for one in panel["fields"][0]["codes"])
    found, levels = codes.reshape(panel["shape"]), codes_of(section.values, range_of([section.values])).T
    assert np.array_equal(found, levels[[0, 0, 1, 1, 2, 2, 2, 2]])  # rows of 12.9 m
