"""The case made from an ocean file: grid, depths, continents, basins, forcing, the water at the beginning, limits."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from ocean_inputs import SPHERE, ocean
from scipy import ndimage

from fathometer.apps.ocean.basins import basins, isolated, largest
from fathometer.apps.ocean.bathymetry import levels_of, thickness_of
from fathometer.apps.ocean.case import case_of, grid_of
from fathometer.apps.ocean.cases import earth_text, gyre_text
from fathometer.apps.ocean.continents import relative_depth
from fathometer.apps.ocean.ocean_file import load_ocean
from fathometer.apps.ocean.solver.baroclinic import density
from fathometer.apps.ocean.solver.physics import Drag, Physics, StateEquation
from fathometer.apps.ocean.stability import check_step, column_speed, mixing_limits
from fathometer.base.errors import InputError

PROFILE = {"surface": {"south": 20.0, "north": 4.0}, "deep": 2.0, "scale": 100.0}


def flooded(wet, periodic):
    """Basins by walking from cell to cell over corners with water on all four sides: sets of cells."""
    nx, ny = wet.shape

    def around(i, j):
        """The four cells of the corner north-east of i, j; none where one of them is outside."""
        cells = [((i + a) % nx if periodic else i + a, j + b) for a in (0, 1) for b in (0, 1)]
        return cells if all(0 <= x < nx and 0 <= y < ny for x, y in cells) else []

    corners = [cells for i in range(nx) for j in range(ny) if (cells := around(i, j)) and all(wet[c] for c in cells)]
    corners_of = {}
    for cells in corners:
        for cell in cells:
            corners_of.setdefault(cell, []).append(cells)
    found, seen = [], set()
    for start in corners_of:
        if start in seen:
            continue
        basin, queue = {start}, deque([start])
        while queue:
            for cells in corners_of[queue.popleft()]:
                for cell in set(cells) - basin:
                    basin.add(cell)
                    queue.append(cell)
        seen |= basin
        found.append(basin)
    return found


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_basins_are_those_of_a_walk_over_corners(periodic, seed):
    wet = np.random.default_rng(seed).random((17, 14)) < 0.75
    expected = flooded(wet, periodic)
    labels, sizes = basins(wet, periodic)
    assert sorted(sizes) == sorted(len(basin) for basin in expected)
    for basin in expected:
        assert len({int(labels[cell]) for cell in basin}) == 1
    inside = {cell for basin in expected for cell in basin}
    alone = isolated(wet, periodic)
    assert all(alone[i, j] == (wet[i, j] and (i, j) not in inside) for i in range(17) for j in range(14))
    assert (alone & (labels > 0)).sum() == 0
    kept = largest(wet.astype(np.int32), periodic)
    assert kept.sum() == max(len(basin) for basin in expected)


def test_a_plane(tmp_path):
    keys = {"f": 1e-4, "beta": 2e-11, "y0": 20e3}
    grid, notes = grid_of(ocean(tmp_path, rotation=keys, grid__origin=[1000.0, -20e3]))
    assert notes == []
    assert grid.shape == (12, 8, 3)
    assert grid.x[:2].tolist() == [6000.0, 16000.0]
    assert grid.y[:2].tolist() == [-10e3, 10e3]
    assert grid.f[:2] == pytest.approx([1e-4 - 2e-11 * 20e3, 1e-4])  # corners at y = 0 and 20 km
    assert (grid.dx == 1e4).all()
    assert (grid.tan_over_radius == 0).all()
    assert (grid.levels == 3).all()
    middle, _ = grid_of(ocean(tmp_path, rotation={"f": 1e-4, "beta": 2e-11}))
    assert middle.f[3] == pytest.approx(1e-4)  # the corners in the middle of 8 cells


def test_a_sphere(tmp_path):
    grid, _ = grid_of(ocean(tmp_path, grid=SPHERE))
    assert grid.area.sum() * 36 == pytest.approx(4 * np.pi * 6.371e6**2 * np.sin(np.radians(75)), rel=1e-3)
    assert grid.f[14] == pytest.approx(0, abs=1e-18)  # the corners at the equator
    assert grid.f[20] == pytest.approx(7.292115e-5)  # at 30° N
    assert grid.tan_over_radius[17] == pytest.approx(np.tan(np.radians(15)) / 6.371e6)
    assert grid.dx_u[20] == pytest.approx(6.371e6 * np.radians(10) * np.cos(np.radians(30)))
    half, _ = grid_of(ocean(tmp_path, grid=SPHERE | {"radius": 3.1855e6}))
    assert half.dy == pytest.approx(grid.dy / 2)


def test_levels_grow_smoothly_to_their_depth(tmp_path):
    thickness = thickness_of(ocean(tmp_path, grid__levels={"count": 40, "depth": 5500.0, "top": 10.0}))
    assert thickness[0] == 10
    assert thickness.sum() == pytest.approx(5500, rel=1e-14)
    assert (np.diff(thickness) > 0).all()
    assert thickness_of(ocean(tmp_path, grid__levels={"count": 4, "depth": 10.0})).tolist() == [2.5] * 4
    assert thickness_of(ocean(tmp_path, grid__levels=[1, 2.0])).tolist() == [1, 2]


@pytest.mark.parametrize(("least", "expected"), [(1, [0, 1, 1, 2, 2, 3, 3]), (2, [0, 2, 2, 2, 2, 3, 3])])
def test_a_depth_becomes_the_nearest_number_of_levels(tmp_path, least, expected):
    """Bottoms at 50, 150, 300 m; half-way between them at 100 and 225 m."""
    depth = np.full((12, 8), 300.0)
    depth[:7, 4] = [0.0, 1.0, 99.0, 101.0, 224.0, 226.0, 300.0]
    np.save(tmp_path / "depth.npy", depth)
    keys = {"kind": "file", "file": "depth.npy", "least_levels": least}
    levels, _ = levels_of(ocean(tmp_path, bathymetry=keys), np.array([50.0, 100.0, 150.0]))
    assert levels[:7, 4].tolist() == expected
    np.save(tmp_path / "depth.npy", -np.where(depth > 0, depth, -10.0).T)  # heights
    keys |= {"positive": "up", "axes": "yx"}
    again, _ = levels_of(ocean(tmp_path, bathymetry=keys), np.array([50.0, 100.0, 150.0]))
    assert np.array_equal(again, levels)


@pytest.mark.parametrize(("depth", "told"), [(1.0, "hold 50 times"), (280.0, None), (60.0, "hold 0.833 times")])
def test_depths_that_whole_levels_do_not_hold_are_told(tmp_path, depth, told):
    _, notes = grid_of(ocean(tmp_path, bathymetry={"kind": "flat", "depth": depth}, grid__levels=[50.0, 100.0, 150.0]))
    assert [told is not None and told in note for note in notes] == [True] * (told is not None)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"bathymetry": {"kind": "ridge", "height": 100.0, "width": 1e-6, "position": 0.51}},
            "width: found 1e-06, a ri",
        ),
        (
            {"initial__surface_height": {"kind": "gaussian", "amplitude": 1.0, "centre": [1e8, 1e8], "radius": 1e3}},
            "surface_height: found a hill of 1 m of which cells of water have 0 m at most",
        ),
    ],
)
def test_what_lies_between_the_cells_or_beyond_them_is_refused(tmp_path, changes, told):
    with pytest.raises(InputError, match=told):
        case_of(ocean(tmp_path, **changes))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, None),
        ({"initial__salinity": 0.0}, None),
        ({"initial__salinity": 0.035}, "found up to 0.035; salinity is in g/kg"),
        ({"water__equation_of_state": "wright"}, None),
        (
            {"water__equation_of_state": "wright", "initial__salinity": 400.0},
            "salinity: found 400 to 400; the equation of Wright (1997) was fitted from 28 to 38",
        ),
        (
            {
                "water__equation_of_state": "wright",
                "initial__temperature": {"surface": 40.0, "deep": 4.0, "scale": 99.0},
            },
            "temperature: found 4 to 40 °C; the equation of Wright",
        ),
    ],
)
def test_water_that_is_none_of_the_sea_is_told(tmp_path, changes, told):
    notes = [note for note in case_of(ocean(tmp_path, mixing__viscosity=1.0, **changes)).notes if "[initial]" in note]
    assert [told is not None and told in note for note in notes] == [True] * (told is not None)


def test_masks_deep_cells_isolated_cells_and_basins(tmp_path):
    depth = np.full((12, 8), 900.0)
    depth[5, :] = np.nan  # land, as many files have it
    depth[0, 1] = depth[1, 0] = depth[1, 1] = 0
    np.save(tmp_path / "depth.npy", depth)
    np.save(tmp_path / "mask.npy", (depth > 0).astype(np.int8))
    keys = {"kind": "file", "file": "depth.npy", "mask": "mask.npy", "depth": 200.0, "fill_isolated": True}
    grid, notes = grid_of(ocean(tmp_path, bathymetry=keys))
    assert grid.levels[0, 0] == 0
    assert set(grid.levels[depth > 0].tolist()) == {0, 2}
    assert notes == [
        "whole levels hold 0.75 times the water of the depths in [bathymetry]: in the cell 0, 0 (x, y) 200 m become "
        "150 m",
        "2 basins are not connected: of 48, 36 cells",
    ]
    assert (grid.levels == 0).sum() == 8 + 4


def test_slopes_bowls_and_ridges(tmp_path):
    def depths(**keys):
        grid, _ = grid_of(ocean(tmp_path, grid__levels=[1.0] * 100, bathymetry=keys))
        return grid.depth

    slope = depths(kind="slope", shallow=20.0, along="x")
    assert slope[:, 0].tolist() == [round(20 + 80 * (i + 0.5) / 12) for i in range(12)]
    bowl = depths(kind="bowl")
    assert bowl[0, 0] == 0
    assert bowl[5, 3] == round(100 * (1 - 1 / 144 - 1 / 64))
    ridge = depths(kind="ridge", height=50.0, position=0.5, width=0.1)
    assert ridge[5, 0] == round(100 - 50 * np.exp(-((1 / 24 / 0.1) ** 2)))
    assert ridge[0, 0] == 100


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_continents_are_the_same_on_any_grid(tmp_path, seed):
    """Where two grids have the same centres their depths are the same; all water is one basin, 30 % is land."""
    depths = {}
    for nx, ny in ((96, 90), (32, 30)):
        keys = SPHERE | {"cells": [nx, ny], "spacing": [360 / nx, 150 / ny], "levels": [50.0] * 100}
        grid, notes = grid_of(ocean(tmp_path, grid=keys, bathymetry={"kind": "continents", "seed": seed}))
        assert notes == []
        assert len(flooded(grid.levels > 0, True)) == 1
        assert not isolated(grid.levels > 0, True).any()
        area = np.broadcast_to(grid.area, grid.levels.shape)
        assert area[grid.levels == 0].sum() / area.sum() == pytest.approx(0.31, abs=0.03)
        depths[nx] = grid.depth
    same = depths[96][1::3, 1::3] == depths[32]
    assert same.mean() > 0.98  # lakes and nooks of the coarse grid became land


def test_the_southern_channel_is_open_and_the_isthmus_is_not():
    s, t = (np.arange(320) + 0.5) / 320, (np.arange(384) + 0.5) / 384
    depth = relative_depth(s, t)
    assert (depth > 0).all(0).any()  # a circle of latitude in the water
    basins_north, _ = ndimage.label(depth[:, t > 0.3] > 0)  # without the channel
    west, east, other_side = (basins_north[int(place * 320), 80] for place in (0.95, 0.05, 0.65))
    assert min(west, east, other_side) > 0
    assert other_side not in (west, east)


def test_seeds_bend_coasts():
    s = t = (np.arange(64) + 0.5) / 64
    one, other = relative_depth(s, t, 0) == 0, relative_depth(s, t, 1) == 0
    assert 0 < (one != other).mean() < 0.1


@pytest.mark.parametrize(
    ("kind", "stress"),
    [
        ("single-gyre", lambda t: -np.cos(np.pi * t)),
        ("double-gyre", lambda t: -np.cos(2 * np.pi * t)),
        ("channel", lambda t: np.sin(np.pi * t)),
    ],
)
def test_winds_are_at_corners(tmp_path, kind, stress):
    case = case_of(ocean(tmp_path, forcing__wind={"kind": kind, "amplitude": 0.2}))
    tau_x, tau_y = case.problem.wind
    t = np.arange(1, 9) / 8
    assert tau_x[3, :7] == pytest.approx(0.2 * stress(t)[:7])
    assert (tau_x[:, 7] == 0).all()  # corners on the border
    assert (tau_x[11] == 0).all()
    assert (tau_y == 0).all()


def test_zonal_constant_and_no_wind(tmp_path):
    tau_x, _ = case_of(ocean(tmp_path, grid=SPHERE, forcing__wind={"kind": "zonal", "amplitude": 1.0})).problem.wind
    latitude = np.arange(-70, 80, 5)
    assert (tau_x[0, (latitude > 5) & (latitude < 25)] < 0).all()
    assert (tau_x[0, (latitude > 35) & (latitude < 55)] > 0).all()
    assert tau_x[0, :-1] == pytest.approx(tau_x[0, -2::-1])
    pair = case_of(ocean(tmp_path, forcing__wind={"kind": "constant", "stress": [0.1, -0.2]})).problem.wind
    assert [values[0, 0] for values in pair] == [0.1, -0.2]
    assert case_of(ocean(tmp_path)).problem.wind is None


def test_restoring_and_fluxes(tmp_path):
    np.save(tmp_path / "heat.npy", np.arange(96.0).reshape(12, 8))
    forcing = {
        "temperature": {"timescale": 1e6, "target": {"south": 0.0, "north": 8.0}},
        "heat_flux": {"file": "heat.npy"},
        "specific_heat": 4000.0,
    }
    heat, salt = case_of(ocean(tmp_path, forcing=forcing, water__density=1000.0)).problem.surface
    assert heat.rate == 1e-6
    assert heat.target[5].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]
    assert np.array_equal(heat.flux, np.arange(96.0).reshape(12, 8) / 4e6)
    assert (salt.rate, salt.target, salt.flux) == (0.0, None, None)


def test_the_water_at_the_beginning_is_the_same_however_it_is_cut(tmp_path):
    keys = {"temperature": PROFILE, "noise": {"amplitude": 0.5, "seed": 3}}
    bathymetry = {"kind": "slope", "shallow": 40.0}
    temperature = case_of(ocean(tmp_path, initial=keys, bathymetry=bathymetry)).problem.tracers[0]
    whole = temperature((0, 0), (12, 8))
    assert whole.shape == (12, 8, 3)
    assert np.array_equal(temperature((3, 2), (7, 8)), whole[3:7, 2:8])
    still = case_of(ocean(tmp_path, initial={"temperature": PROFILE}, bathymetry=bathymetry)).problem.tracers[0]
    noise = (whole - still((0, 0), (12, 8)))[whole != 0]
    assert np.abs(noise).max() <= 0.5
    assert np.abs(noise).max() > 0.45
    assert abs(noise.mean()) < 0.1
    assert len(np.unique(noise)) > 0.9 * noise.size
    other = keys | {"noise": {"amplitude": 0.5, "seed": 4}}
    assert (case_of(ocean(tmp_path, initial=other)).problem.tracers[0]((0, 0), (12, 8)) != whole).any()
    # At y = 1/16 of the way, and z = 25, 100, 225 m; the southernmost column is one level deep.
    assert still((0, 0), (1, 1))[0, 0].tolist() == [2 + (20 - 16 / 16 - 2) * np.exp(-0.25), 0.0, 0.0]
    assert still((0, 7), (1, 8))[0, 0] == pytest.approx([2 + 3 * np.exp(-z) for z in (0.25, 1.0, 2.25)])


def test_files_of_any_order_of_axes_are_the_same_water(tmp_path):
    netcdf4 = pytest.importorskip("netCDF4")
    values = np.random.default_rng(0).random((12, 8, 3)) * 20
    np.save(tmp_path / "xyz.npy", values)
    np.save(tmp_path / "zyx.npy", values.transpose(2, 1, 0))
    with netcdf4.Dataset(tmp_path / "t.nc", "w", format="NETCDF3_64BIT_OFFSET") as file:
        for name, cells in (("depth", 3), ("lat", 8), ("lon", 12)):
            file.createDimension(name, cells)
        file.createVariable("temp", "f8", ("depth", "lat", "lon"))[:] = values.transpose(2, 1, 0)
    for keys in ({"file": "xyz.npy"}, {"file": "zyx.npy", "axes": "zyx"}, {"file": "t.nc:temp"}):
        tracer = case_of(ocean(tmp_path, initial={"temperature": keys})).problem.tracers[0]
        assert np.array_equal(tracer((2, 1), (9, 7)), values[2:9, 1:7])


@pytest.mark.parametrize(
    ("units", "factor", "added"), [("degC", 1.0, 0.0), ("K", 1.0, 273.15), ("Celsius", 1.0, 0.0), ("", 1.0, 0.0)]
)
@pytest.mark.parametrize("upward", [False, True])
def test_files_are_in_the_units_and_the_direction_that_they_state(tmp_path, units, factor, added, upward):
    netcdf4 = pytest.importorskip("netCDF4")
    values = np.random.default_rng(0).random((12, 8, 3)) * 20
    depth = np.array([25.0, 100.0, 225.0])  # not evenly spaced, as an ocean's levels are
    with netcdf4.Dataset(tmp_path / "t.nc", "w", format="NETCDF3_64BIT_OFFSET") as file:
        for name, cells in (("depth", 3), ("lat", 8), ("lon", 12)):
            file.createDimension(name, cells)
        levels = file.createVariable("depth", "f8", ("depth",))
        levels.units, levels.positive = "m", "up" if upward else "down"
        levels[:] = -depth[::-1] if upward else depth
        water = file.createVariable("temp", "f8", ("depth", "lat", "lon"))
        stored = (values * factor + added).transpose(2, 1, 0)
        water[:] = stored[::-1] if upward else stored
        if units:
            water.units = units
    tracer = case_of(ocean(tmp_path, initial={"temperature": {"file": "t.nc:temp"}})).problem.tracers[0]
    assert np.allclose(tracer((2, 1), (9, 7)), values[2:9, 1:7], rtol=0, atol=1e-12)


def test_units_that_no_temperature_has(tmp_path):
    (tmp_path / "t.rsf").write_text('in="t.bin" n1=3 n2=8 n3=12 unit="degF" data_format="native_double" esize=8\n')
    np.ones((12, 8, 3)).tofile(tmp_path / "t.bin")
    with pytest.raises(InputError, match=r"\[initial\] temperature: t.rsf: found values in degF; allowed: degC, K"):
        case_of(ocean(tmp_path, initial={"temperature": {"file": "t.rsf"}}))


def test_surface_heights(tmp_path):
    def height(value, **changes):
        return case_of(ocean(tmp_path, initial={"surface_height": value}, **changes)).problem.height

    assert height(0.0) is None
    assert (height(2) == 2).all()
    s, t = (np.arange(12) + 0.5) / 12, (np.arange(8) + 0.5) / 8
    wave = height({"kind": "cosine", "amplitude": 2.0, "modes": [2, 1]})
    assert wave == pytest.approx(2 * np.cos(2 * np.pi * s)[:, None] * np.cos(np.pi * t))
    hill = height({"kind": "gaussian", "amplitude": 1.0, "centre": [5e3, 10e3], "radius": 1e4})
    assert hill[:2, 0] == pytest.approx([1, np.exp(-1)])
    around = height({"kind": "gaussian", "amplitude": 1.0, "centre": [5e3, 1e4], "radius": 1e4}, grid__periodic=True)
    assert around[11, 0] == pytest.approx(np.exp(-1))
    ball = height({"kind": "gaussian", "amplitude": 1.0, "centre": [5.0, 2.5], "radius": 2e6}, grid=SPHERE)
    assert ball[18, 14] == pytest.approx(np.exp(-(((np.pi - np.radians(5)) * 6.371 / 2) ** 2)), rel=1e-2)


def test_the_numbers_of_the_equations(tmp_path):
    keys = {"viscosity": 3.0, "bottom_drag": "quadratic", "drag_coefficient": 1e-3}
    physics = case_of(ocean(tmp_path, mixing=keys, water__equation_of_state="wright")).problem.physics
    assert (physics.viscosity, physics.drag, physics.drag_coefficient) == (3.0, Drag.QUADRATIC, 1e-3)
    assert physics.state_equation is StateEquation.WRIGHT


def test_density_of_wright():
    """The check value of MOM6's tests, at 25 °C, 35 and 1e7 Pa."""
    physics = Physics(state_equation=StateEquation.WRIGHT)
    found = density(physics, *(np.array([value]) for value in (25.0, 35.0, 1e7)))
    assert found == pytest.approx(1027.54303596346, rel=1e-12)


def layers_speed(physics, thickness, temperature, salinity):
    """Of the fastest mode without flow in the depth mean: pressure in a layer is the sum of g' times displacement over
    the interfaces above it, displacement that of what flows together below."""
    interfaces = np.cumsum(thickness)[:-1] * physics.gravity * physics.density
    upper = density(physics, temperature[:-1], salinity[:-1], interfaces)
    lower = density(physics, temperature[1:], salinity[1:], interfaces)
    reduced = np.maximum(physics.gravity / physics.density * (lower - upper), 0.0)
    below = np.tri(len(thickness), len(thickness) - 1, -1)  # which layers are below which interface
    matrix = below @ np.diag(reduced) @ below.T @ np.diag(thickness)
    matrix -= np.outer(np.ones(len(thickness)), thickness @ matrix) / thickness.sum()
    return np.sqrt(np.linalg.eigvals(matrix).real.max())


@pytest.mark.parametrize("equation", StateEquation)
@pytest.mark.parametrize("levels", [2, 3, 12, 60])
def test_the_fastest_internal_wave_is_that_of_the_vertical_modes(equation, levels):
    """Also where water is heavier above, which does not pass waves on."""
    physics, random = Physics(state_equation=equation), np.random.default_rng(levels)
    thickness = 20 + 100 * random.random(levels)
    salinity = np.full(levels, 35.0)
    for temperature in (4 + 16 * np.exp(-np.cumsum(thickness) / 500), 5 - np.sin(np.arange(levels))):
        expected = layers_speed(physics, thickness, temperature, salinity)
        assert column_speed(physics, thickness, temperature, salinity) == pytest.approx(expected, rel=1e-6)


def test_internal_waves_of_two_layers_and_of_constant_stratification():
    physics = Physics(expansion=2e-4, gravity=10.0)
    two = column_speed(physics, np.array([100.0, 300.0]), np.array([20.0, 10.0]), np.array([35.0, 35.0]))
    assert two == pytest.approx(np.sqrt(10 * 2e-4 * 10 * 100 * 300 / 400))
    z = 10 * np.arange(400) + 5.0
    many = column_speed(physics, np.full(400, 10.0), 20 - 1e-3 * z, np.full(400, 35.0))
    assert many == pytest.approx(np.sqrt(10 * 2e-4 * 1e-3) * 4000 / np.pi, rel=1e-4)
    assert column_speed(physics, np.full(3, 10.0), np.full(3, 9.0), np.full(3, 35.0)) == 0


def test_explicit_friction_is_stable_at_its_limit_and_not_beyond(tmp_path):
    """The five-point Laplacian on the shortest wave."""
    case = case_of(ocean(tmp_path, mixing__viscosity=1e4))
    limit = mixing_limits(case.problem.grid, case.problem.physics)[0].step
    for factor, grows in ((0.999, False), (1.01, True)):
        damping = 1 - factor * limit * 1e4 * (4 / 1e4**2 + 4 / 2e4**2)
        assert (abs(damping) > 1) == grows


def test_notes(tmp_path):
    def notes(**changes):
        return check_step(case_of(ocean(tmp_path, **changes)).problem, "step")

    assert notes(mixing__viscosity=1.0, mixing__advect_momentum=False) == []
    assert "viscosity is 0" in notes()[0]
    narrow = notes(mixing__viscosity=1.0, rotation={"beta": 2e-11})
    assert narrow == [
        "western boundary layers, 3.68e+03 m by [mixing] viscosity, are narrower than a cell of 1e+04 m: 20 m²/s would "
        "resolve them"
    ]
    assert notes(mixing__viscosity=20.1, rotation={"beta": 2e-11}) == []
    assert "1.2 / f" in notes(mixing__viscosity=1.0, rotation={"f": 2e-3})[0]


@pytest.mark.parametrize(
    "text", [gyre_text(), gyre_text((48, 32, 8)), earth_text(), earth_text((80, 96, 10))], ids=["g", "g/2", "e", "e/4"]
)
def test_cases_made_by_code_are_allowed(tmp_path, text):
    path = tmp_path / "ocean.toml"
    path.write_text(text)
    case = case_of(load_ocean(path))
    assert case.problem.grid.shape[2] == case.problem.grid.levels.max()
    assert not any("basins" in note for note in case.notes)


def test_a_step_beyond_the_timescale_of_restoring(tmp_path):
    forcing = {"temperature": {"timescale": 600.0, "target": 5.0}}
    assert case_of(ocean(tmp_path, forcing=forcing, time__step=600.0))
    allowed = r"\[time\] step: found 601 s; allowed: up to 600 s, the timescale of \[forcing\] temperature"
    with pytest.raises(InputError, match=allowed):
        case_of(ocean(tmp_path, forcing=forcing, time__step=601.0))
