"""Where a sea floor is found in a model's cells, and what is refused or noted beside it."""

from types import SimpleNamespace

import numpy as np
import pytest
from cli_support import call
from elastic_product import Run
from elastic_seabeds import cut_cells
from elastic_surveys import IN_2D, elastic_survey
from mpi4py import MPI
from tilted_floors import cells_above, model_of

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.contact import SeaFloor, find_floor
from fathometer.seismic.elastic.points import points_on
from fathometer.seismic.elastic.setup import prepare_elastic
from fathometer.seismic.elastic.sloping_floor import SlopingFloor, sea_floor
from fathometer.seismic.elastic.survey_checks import check_cuts

SHAPE = (12, 1, 60)
WATER, ROCK = (1500.0, 1000.0), (3000.0, 1700.0, 2200.0)


def model(depth, shape=SHAPE, water=WATER, rock=ROCK):
    """vp, vs, density over a floor at depths in cells, a number or (nx, ny)."""
    one = np.ones(shape)
    depth = np.broadcast_to(np.asarray(depth, float), shape[:2])
    return cut_cells(depth, [v * one for v in water], [v * one for v in rock])


def found(values):
    """What find_floor says of a model on a grid of its own."""
    vp, vs, density = (np.pad(some, [(1, 1), (0, 0), (1, 1)], mode="edge").astype(np.float32) for some in values)
    shape = values[0].shape
    return find_floor(vp, vs, density, Grid(shape, (10.0, 10.0, 10.0)), Decomposition(shape), MPI.COMM_SELF)


@pytest.mark.parametrize("depth", [30.5, 30.0, 30.1, 30.25, 30.75, 30.9, 31.499])
def test_a_floor_is_found_to_a_part_of_a_cell(depth):
    floor, why = found(model(depth))
    assert not why
    assert abs(floor.depth - depth) <= 1 / 1024
    assert floor.water + 0.5 <= depth <= floor.rock - 0.5


def test_a_cell_of_rock_without_shear_is_the_rocks():
    """A mean whose share of water is rounding."""
    vp, vs, density = model(30.5)
    vs[:, :, 31] = 0
    floor, _ = found((vp, vs, density))
    assert floor.depth == 30.5


def test_rock_that_changes_with_depth_moves_the_floor_little():
    rock = [v * (1 + 0.003 * np.arange(SHAPE[2])) * np.ones(SHAPE) for v in ROCK]
    floor, _ = found(cut_cells(np.full(SHAPE[:2], 30.3), [v * np.ones(SHAPE) for v in WATER], rock))
    assert abs(floor.depth - 30.3) <= 0.01


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (model(30.5 + 0.1 * np.arange(12)[:, None]), "no plane of the grid"),
        (model(np.where(np.arange(12) < 6, 30.5, 33.5)[:, None]), "no plane of the grid"),
        (model(10.5), "11 cells above it"),
        (model(57.5), "2 below"),
    ],
)
def test_other_floors_keep_the_grids_stencils_with_the_reason(values, words):
    floor, why = found(values)
    assert floor is None
    assert words in why


def test_fluid_in_the_rock_next_to_it():
    vp, vs, density = model(30.5)
    vs[5, 0, 40] = 0
    assert "fluid in the rock" in found((vp, vs, density))[1]
    assert "fluid in the rock" in found_any((vp, vs, density))[1]


LONG = (60, 1, 90)


def found_any(values, pad=0):
    """What sea_floor says; pad: columns at both ends that repeat the outermost."""
    around = (1 + pad, 1 + pad)
    flat = values[0].shape[1] == 1
    pads = [around, (0, 0) if flat else around, (1, 1)]
    vp, vs, density = (np.pad(some, pads, mode="edge").astype(np.float32) for some in values)
    grid = Grid(values[0].shape, (10.0,) * 3, pad=((pad, pad), (0, 0) if flat else (pad, pad), (0, 0)))
    return sea_floor(vp, vs, density, grid, Decomposition(grid.full_shape), MPI.COMM_SELF)


def over(depth, sharp, shape=LONG):
    """A model over a floor of a depth (a function of x and y in cells) in cells."""
    values = model_of(cells_above(depth, shape, sharp), (WATER[0], 0.0, WATER[1]), ROCK)
    return [values[name] for name in ("vp", "vs", "density")]


@pytest.mark.parametrize("degrees", [0.3, 1, 10, -20, 29])
def test_depths_of_an_inclined_plane(degrees):
    """By means to a part of a cell; by cells that are one or the other, too, if it falls cells within the model."""
    fall = np.tan(np.radians(degrees))
    exact = 45.2 + fall * (np.arange(60) - 30)
    for sharp, most in ((False, 0.04), (True, 0.1)):
        if sharp and abs(degrees) < 2:
            continue
        floor, why = found_any(over(lambda x, y: 45.2 + fall * (x - 30) + 0 * y, sharp), pad=7)
        assert isinstance(floor, SlopingFloor), why
        assert floor.from_means != sharp
        assert np.abs(floor.depths[7:-7, 0] - exact).max() <= most
        assert np.abs(np.diff(floor.depths[:, 0])[8:-8] - fall).max() <= most
        assert np.ptp(floor.depths[:8]) == np.ptp(floor.depths[-8:]) == 0  # level in the layers


def test_depths_of_a_bent_surface():
    """Between cells that are one or the other, in three dimensions."""

    def depth(x, y):
        return 45 + 4 * np.sin(x / 9) * np.cos(y / 11)

    floor, _ = found_any(over(depth, True, (60, 50, 90)))
    off = floor.depths - depth(np.arange(60)[:, None], np.arange(50)[None])
    assert np.sqrt((off**2).mean()) <= 0.06
    assert np.abs(off).max() <= 0.5


def test_rounding_of_means_moves_no_point_to_another_side():
    """Between the least and the largest depth that cells allow."""
    floor, _ = found_any(over(lambda x, y: 45 + 0.2 * (x - 30) + 2 * np.sin(x / 6) + 0 * y, True))
    nodes = floor.depths[:, 0]
    assert (nodes >= floor.water[:, 0]).all()
    assert (nodes <= floor.rock[:, 0]).all()


@pytest.mark.parametrize(
    ("depth", "words"),
    [
        (lambda x, y: 45 + np.where(x < 30, 0.0, 5.0) + 0 * y, "cells from a column to the next, at x 290 m"),
        (lambda x, y: 48 + 0.8 * (x - 30) + 0 * y, "it falls by 39 degrees"),
        (lambda x, y: 20 + 0.1 * (x - 30) + 0 * y, "cells above it"),
        (lambda x, y: 20 - 0.4 * x + 0 * y, "it has 0 cells above it"),
        (lambda x, y: 75 + 0.1 * (x - 30) + 0 * y, "12 below"),
        (lambda x, y: np.where(x < 30, 45.0, 200.0) + 0 * y, "does not go through the whole model"),
    ],
)
def test_floors_that_columns_cannot_follow(depth, words):
    floor, why = found_any(over(depth, False))
    assert floor is None
    assert words in why


@pytest.mark.parametrize("thick", [0.8, 1.3, 1.7])
def test_thin_sediment_in_means(thick):
    """Cells of three media tell no depth: those beside them do."""
    fall = np.tan(np.radians(10))
    shares = [cells_above(lambda x, y, d=d: 45.2 + d + fall * (x - 30) + 0 * y, LONG, False) for d in (0.0, thick)]
    parts = (shares[0], shares[1] - shares[0], 1 - shares[1])
    media = ((1500.0, 0.0, 1000.0), (1800.0, 500.0, 1700.0), (3000.0, 1700.0, 2200.0))
    density = sum(part * rho for part, (_, _, rho) in zip(parts, media, strict=True))
    vp = np.sqrt(1 / sum(part / (rho * v**2) for part, (v, _, rho) in zip(parts, media, strict=True)) / density)
    with np.errstate(divide="ignore"):
        compliance = sum(np.where(part > 1e-9, part / (rho * v**2), 0) if v else np.where(part > 1e-9, np.inf, 0)
                         for part, (_, v, rho) in zip(parts, media, strict=True))  # fmt: skip
        vs = np.sqrt(1 / compliance / density)
    floor, why = found_any((vp, vs, density))
    assert isinstance(floor, SlopingFloor), why
    assert np.abs(floor.depths[:, 0] - (45.2 + fall * (np.arange(60) - 30))).max() <= 0.12


def test_ranks_do_not_cut_columns_over_a_floor_that_slopes(tmp_path):
    share = cells_above(lambda x, y: 45 + 0.1 * x + 0 * y, (60, 1, 100), False)
    model_values = model_of(share, (WATER[0], 0.0, WATER[1]), ROCK)
    for name, values in model_values.items():
        np.save(tmp_path / f"sea-{name}.npy", values[:, 0].astype(np.float32))
    files = {f"model__{name}": f"sea-{name}.npy" for name in model_values}
    path = elastic_survey(tmp_path, **IN_2D | files)
    done = call("model", path, "--ranks", 2, "--set", "parallel.decomposition=[1,2]")
    assert done.code == 2
    assert "[parallel] decomposition: found 2 ranks along z in a model with a sea floor" in done.err
    assert done.err.count("error") == 1


def test_points_below_a_free_surface_keep_its_rules():
    """However close the floor may be: those of the surface reach three cells."""
    cells, floor = np.array([[10.3, 0.0, 1.2], [11.0, 0.0, 3.4]]), found_any(model(24.05, LONG))[0]
    assert isinstance(floor, SlopingFloor)
    for name in ("vz", "szz"):
        keys = {"free_surface": True, "injecting": True}
        one, other = (
            points_on(name, cells, np.arange(2), np.ones(2), floor=some, **keys)[0].points for some in (None, floor)
        )
        np.testing.assert_array_equal(one.first, other.first)
        np.testing.assert_array_equal(one.weight, other.weight)


def test_a_level_floor_close_to_a_node_is_that_of_the_plane():
    values = model(45.05, LONG)
    floor, _ = found_any(values)
    assert isinstance(floor, SlopingFloor)
    assert np.abs(floor.depths - 45.05).max() <= 1 / 1024


@pytest.mark.parametrize("values", [model(-5), model(100.5)])
def test_without_water_on_top_or_rock_below_there_is_none(values):
    assert found(values) == (None, "")


def run(depth, components=("vz",), receivers=(400.0,), source=None):
    """A survey over a floor `depth` cells down, receivers at depths in m."""
    vp, vs, density = (some[0, 0] for some in model(depth, (1, 1, 90)))
    return Run(
        (60, 1, 90), 10.0, {"vp": vp, "vs": vs, "density": density}, (200.0, 0.0, 300.0 if source is None else 390.0),
        [[300.0, 0.0, z] for z in receivers], source or {"kind": "explosion"},
        {"kind": "ricker", "peak_frequency": 6.0}, 0.2, 0.01, components=components,
    )  # fmt: skip


def prepared(tmp_path, *args, **keys):
    return prepare_elastic(run(*args, **keys).survey(tmp_path), MPI.COMM_SELF)


def test_pressure_in_rock_is_refused_and_on_the_floor_it_is_not(tmp_path):
    prepared(tmp_path, 40.25, ("vz", "pressure"), (402.5, 402.4, 300.0))
    with pytest.raises(InputError, match=r'components: found "pressure" with 2 receivers of shot 1 in rock, first at'):
        prepared(tmp_path, 40.25, ("vz", "pressure"), (402.5, 402.6, 500.0))


def test_pressure_in_rock_is_refused_below_floors_that_slope(tmp_path):
    some = run(40.5, ("pressure",), (700.0,))
    some.model["vs"] = np.broadcast_to(some.model["vs"], (60, 90)).copy()
    some.model["vs"][:30, 41] = 0
    with pytest.raises(InputError, match="1 receivers of shot 1 in rock"):
        prepare_elastic(some.survey(tmp_path), MPI.COMM_SELF)


def test_moment_tensors_belong_into_rock(tmp_path):
    """By the floor, not by the nearest cell: half a cell around it."""
    tensor = {"kind": "moment-tensor", "mxx": 1.0}
    prepared(tmp_path, 38.75, source=tensor)
    with pytest.raises(InputError, match="lies in a fluid"):
        prepared(tmp_path, 39.25, source=tensor)


def test_a_note_names_floors_that_keep_the_grids_stencils(tmp_path):
    shallow = run(10.5, receivers=(300.0,), source={"kind": "explosion"})
    shallow.free_surface = True
    notes = prepare_elastic(shallow.survey(tmp_path), MPI.COMM_SELF).run.warnings
    assert any(note.startswith("sea floor: it has 11 cells above it") and "first order" in note for note in notes)


@pytest.mark.parametrize(("depth", "moved"), [(40.05, True), (40.95, True), (40.25, False), (40.5, False)])
def test_columns_move_to_floors_close_to_nodes(tmp_path, depth, moved):
    setup = prepared(tmp_path, depth, receivers=(300.0,))
    assert isinstance(setup.floor, SlopingFloor) == moved
    assert not any("sea floor" in note for note in setup.run.warnings)


def test_a_note_names_floors_close_to_nodes_where_columns_cannot_move(tmp_path):
    shallow = run(20.05, receivers=(100.0,))
    shallow.source_at, shallow.free_surface = (200.0, 0.0, 100.0), True
    notes = prepare_elastic(shallow.survey(tmp_path), MPI.COMM_SELF).run.warnings
    assert any(note.startswith("sea floor: it lies 0.05 of a cell below a node") for note in notes)


def test_ranks_do_not_cut_columns_over_a_floor():
    earth = SimpleNamespace(floor=SeaFloor(30, 0.5, 30, 31))
    check_cuts(SimpleNamespace(path="survey.toml"), earth, Decomposition(SHAPE, (3, 1, 1)))
    with pytest.raises(InputError, match=r"\[parallel\] decomposition: found 2 ranks along z"):
        check_cuts(SimpleNamespace(path="survey.toml"), earth, Decomposition(SHAPE, (1, 1, 2)))
