"""Where a sea floor is found in a model's cells, and what is refused or noted beside it."""

from types import SimpleNamespace

import numpy as np
import pytest
from elastic_product import Run
from elastic_seabeds import cut_cells
from mpi4py import MPI

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.contact import SeaFloor, find_floor
from fathometer.seismic.elastic.setup import prepare_elastic
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


@pytest.mark.parametrize(("depth", "told"), [(40.05, True), (40.95, True), (40.2, False), (40.5, False)])
def test_a_note_names_floors_close_to_nodes(tmp_path, depth, told):
    notes = prepared(tmp_path, depth, receivers=(300.0,)).run.warnings
    assert any(note.startswith("sea floor: it lies 0.") for note in notes) == told


def test_ranks_do_not_cut_columns_over_a_floor():
    earth = SimpleNamespace(floor=SeaFloor(30, 0.5, 30, 31))
    check_cuts(SimpleNamespace(path="survey.toml"), earth, Decomposition(SHAPE, (3, 1, 1)))
    with pytest.raises(InputError, match=r"\[parallel\] decomposition: found 2 ranks along z"):
        check_cuts(SimpleNamespace(path="survey.toml"), earth, Decomposition(SHAPE, (1, 1, 2)))
