"""The flow file: keys, regions, waters, sides; one clear error for each wrong one."""

from __future__ import annotations

import numpy as np
import pytest
from input_values import text_of
from reactive_flows import BASE, flow, values

from fathometer.apps.reactive.case import case_of
from fathometer.apps.reactive.flow_file import FlowFile, load_flow
from fathometer.apps.reactive.regions import Regions
from fathometer.apps.reactive.solver.flow import CLOSED, FIXED, OPEN
from fathometer.base.errors import InputError
from fathometer.config.input_file import validated

BOX = {"name": "box", "x": [0.03, 0.06]}


def test_a_file_and_what_it_resolves_to_are_the_same(tmp_path):
    path = tmp_path / "flow.toml"
    path.write_text(text_of(BASE))
    file = load_flow(path, ["time.end=5.0"])
    assert file.time.end == 5.0
    assert validated(FlowFile, file.resolved(), path) == file


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"grid__cells": [0, 1, 1]}, r"\[grid\] cells"),
        ({"medium__porosity": -0.1}, r"\[medium\] porosity: found -0.1; allowed: a number from 1e-06 to 1"),
        ({"medium__colour": 1}, "colour"),
        ({"time__end": 0.0}, r"\[time\] end"),
        ({"chemistry__specific_area": None}, 'specific_area: found none of "Calcite"'),
        ({"chemistry__specific_area": {"Calcite": 1.0, "Quartz": 1.0}}, 'specific_area: found "Quartz"'),
        ({"initial": [{"water": "rain"}]}, r'\[\[initial\]\] 1 water: found "rain"; allowed: resident, acid'),
        ({"initial": [{"water": "acid", "region": "box"}]}, r'region: found "box"; allowed: all'),
        ({"initial": [{"water": "acid", "region": "box"}], "region": [BOX]}, r'1 region: found "box"; needed: "all"'),
        (
            {"initial": [{"water": "acid", "minerals": {"Calcite": 0.9}}]},
            "found 0.9 of the volume; allowed: up to 0.75",
        ),
        ({"region": [BOX, BOX]}, r'\[\[region\]\] name: found "box" 2 times'),
        ({"region": [{"name": "all"}]}, "allowed: another name"),
        ({"region": [{"name": "box", "x": [2.0, 1.0]}]}, "the first one below the second"),
        ({"boundary": [{"side": "x-", "kind": "fixed"}]}, "water: missing"),
        ({"boundary": [{"side": "x-", "kind": "closed", "head": 1.0}]}, "closed"),
        ({"boundary": [{"side": "x-", "kind": "open", "head": 1.0}]}, "flux: found together with heads"),
        (
            {"boundary": [{"side": "x-", "kind": "open", "head": 1.0}], "flow": None},
            r"\[medium\] conductivity: missing",
        ),
        ({"output": {"times": [2.0, 1.0]}}, "each once, in order"),
        ({"output": {"times": [2.0], "every": 1.0}}, "together with times"),
        ({"output": {"times": [3e4]}}, "times: found 30000 s, after the end at 20000 s"),
        ({"output": {"every": 1e-9}}, r"\[output\] every: found 1e-09; allowed: from "),
    ],
)
def test_wrong_keys(tmp_path, changes, words):
    with pytest.raises(InputError, match=words) as caught:
        flow(tmp_path, **changes)
    assert "\n" not in str(caught.value)
    assert "flow.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"region": [{"name": "far", "x": [5.0, 6.0]}]}, "no centre of a cell from 5 to 6 m"),
        ({"chemistry__primary": ["Ca+2", "H+", "HCO3-", "Unobtainium"]}, "Unobtainium"),
        ({"chemistry__file": "missing.toml"}, "missing.toml"),
        ({"boundary": [{"side": "x-", "kind": "fixed", "water": "acid"}]}, "x\\+, where it is closed"),
        ({"flow__flux": [-1e-6, 0.0, 0.0]}, "enters through the side x\\+; needed: the water"),
        (
            {"boundary": [{"side": "x-", "kind": "open"}, {"side": "x+", "kind": "inflow", "water": "acid"}]},
            'x\\+, of the kind "inflow"|enters through the side x-',
        ),
        ({"flow__flux": [1e-6, 1e-7, 0.0]}, "along y, which passes the side y-, where it is closed"),
        (
            {"boundary": [{"side": "x-", "kind": "open", "region": "box"}], "region": [BOX]},
            'region "box", which has no cell at the side x-',
        ),
    ],
)
def test_what_only_the_grid_and_the_chemistry_tell(tmp_path, changes, words):
    with pytest.raises(InputError, match=words) as caught:
        case_of(flow(tmp_path, **changes))
    assert "\n" not in str(caught.value)


def test_a_water_that_cannot_be_names_file_water_and_species(tmp_path):
    waters = values()["water"]
    del waters[1]["species"]["Tracer"]
    with pytest.raises(InputError, match=r'flow.toml: \[\[water\]\] 2 "acid".*Tracer'):
        case_of(flow(tmp_path, water=waters))


def test_regions_hold_the_cells_whose_centres_are_in_them(tmp_path):
    file = flow(
        tmp_path,
        grid={"cells": [12, 5, 4], "spacing": [0.01, 0.02, 0.03], "origin": [1.0, 0.0, 0.0]},
        region=[{"name": "box", "x": [1.035, 1.065], "y": [0.03, 0.05]}],
        flow=None,
    )
    regions = Regions(file)
    assert regions.box("box") == ((3, 1, 0), (7, 3, 4))
    block = np.zeros((4, 3, 2))
    block[regions.inside("box", (5, 2, 1), (9, 5, 3))] = 1
    expected = np.zeros_like(block)
    expected[0:2, 0:1, :] = 1
    assert (block == expected).all()
    assert not np.zeros((2, 2, 2))[regions.inside("box", (8, 3, 0), (10, 5, 2))].size


def test_what_is_there_at_the_beginning(tmp_path):
    file = flow(
        tmp_path,
        region=[BOX | {"porosity": 0.5}],
        initial=[{"water": "resident", "minerals": {"Calcite": 0.01}}, {"region": "box", "water": "acid"}],
    )
    case = case_of(file)
    ln_c, minerals = case.initial((2, 0, 0), (8, 1, 1))
    inside = np.array([False, True, True, True, False, False])
    assert np.array_equal(ln_c[inside, 0, 0], [case.waters["acid"]] * 3)
    assert np.array_equal(ln_c[~inside, 0, 0], [case.waters["resident"]] * 3)
    assert (minerals[inside] == 0).all()
    assert minerals[0, 0, 0, 0] == pytest.approx(0.01 / 3.69e-5, rel=1e-2)  # mol/m³, molar volume of calcite
    assert case.flow.porosity((2, 0, 0), (8, 1, 1))[:, 0, 0].tolist() == [0.25, 0.5, 0.5, 0.5, 0.25, 0.25]


def test_sides(tmp_path):
    file = flow(
        tmp_path,
        grid={"cells": [3, 4, 5], "spacing": [0.01, 0.01, 0.01]},
        region=[{"name": "low", "z": [0.0, 0.02]}],
        boundary=[
            {"side": "x-", "kind": "fixed", "water": "acid"},
            {"side": "x-", "region": "low", "kind": "closed"},
            {"side": "z-", "kind": "open", "region": "low"},
        ],
        flow=None,
    )
    sides = case_of(file).flow.sides
    assert sides["x-"].kind.tolist() == [[CLOSED, CLOSED, FIXED, FIXED, FIXED]] * 4
    assert sides["x-"].water[0].tolist() == [-1, -1, 1, 1, 1]
    assert (sides["z-"].kind == OPEN).all()
    assert sides["z-"].kind.shape == (3, 4)
    assert (sides["y+"].kind == CLOSED).all()


def test_minerals_leave_room_for_the_pores_of_their_own_cells(tmp_path):
    minerals = [{"water": "acid", "minerals": {"Calcite": 0.7}}]
    tight = case_of(flow(tmp_path, initial=minerals, region=[BOX | {"porosity": 0.2}], medium__porosity=0.3))
    tight.initial((0, 0, 0), tight.flow.shape)
    wide = case_of(flow(tmp_path, initial=minerals, region=[BOX | {"porosity": 0.4}], medium__porosity=0.3))
    with pytest.raises(InputError, match=r"found 0.7 of the volume of the cell 3, 0, 0 .* allowed: up to 0.6"):
        wide.initial((0, 0, 0), wide.flow.shape)
