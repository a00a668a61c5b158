"""What is wrong with the input of an incompressible flow is said in one line."""

import numpy as np
import pytest
from cli_support import run
from flow_inputs import box_values
from input_values import text_of

from fathometer.apps.flow.case import case_of, ranks_of
from fathometer.apps.flow.flow_file import IncompressibleFile
from fathometer.base.errors import InputError
from fathometer.config.input_file import load_input

INFLOW = {"side": "x-", "kind": "inflow", "velocity": [1.0, 0.0]}
OUTFLOW = {"side": "x+", "kind": "outflow"}
WALLS = [{"side": side, "kind": "wall"} for side in ("y-", "y+")]


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"grid__cells": [8, 3]}, "[grid] cells: found [8, 3]; allowed: two or three integers from 4 on"),
        ({"grid__cells": [8]}, "[grid] cells"),
        ({"grid__size": [1.0, 1.0, 1.0]}, "size: found 3 numbers; needed: 2, as cells has"),
        ({"time__courant": 2.0}, "[time] courant: found 2"),
        ({"side": [WALLS[0]]}, 'found one of "y-" alone; allowed: both sides across y, or none'),
        ({"side": [*WALLS, WALLS[0]]}, 'side: found "y-" twice; allowed: once'),
        ({"side": [{"side": "z-", "kind": "wall"}]}, 'side: found "z-"; allowed: sides across axes of [grid]'),
        (
            {"side": [{"side": f"x{e}", "kind": "inflow", "velocity": [1.0, 0.0]} for e in "-+"]},
            'found "inflow" at x- and "inflow" at x+, which leave no solution; allowed: an inflow opposite an outflow',
        ),
        (
            {"side": [{"side": "y-", "kind": "inflow", "velocity": [0.0, 1.0]}, {"side": "y+", "kind": "outflow"}]},
            "found an inflow along y; allowed: along x",
        ),
        (
            {"side": [{"side": "x-", "kind": "inflow", "velocity": [-1.0, 0.0]}, {"side": "x+", "kind": "outflow"}]},
            "found velocities that are not all into the box; allowed: from 0 to 1e+08 m/s",
        ),
        (
            {"side": [{"side": "y-", "kind": "wall", "velocity": [0.0, 1.0]}, WALLS[1]]},
            "velocity: found 1 m/s through the wall; allowed: 0 along y",
        ),
        ({"side": [WALLS[0] | {"temperature": 1.0}, WALLS[1]]}, "temperature: found; needed: [temperature]"),
        ({"output__variables": ["u", "w"]}, '[output] variables: found "w"; allowed: x, y, u, v, p, vorticity'),
        ({"output__tecplot__names": {"u": "Größe"}}, "name in a Tecplot file: found 'Größe'"),
        ({"output__tecplot__names": {"u": "v"}}, "[output.tecplot] names: found"),
        ({"output__tecplot__data": "rows"}, '[output] tecplot.data: found "rows"; allowed: "packed"'),
        ({"output__variables": ["x", "y"]}, "[output] variables: found x, y alone; needed: one of the flow, such as u"),
        ({"output__tecplot__hints": {"cb_nodes": "4é"}}, "[output.tecplot] hints: found 'cb_nodes' = '4é'"),
        ({"output__tecplot__hints": {"": "4"}}, "[output.tecplot] hints: found '' = '4'; allowed: printable ASCII"),
        (
            {"grid__origin": [5e5, 5e6]},
            'precision: found "float32", in which cells 0.125 m apart at x = 500001 m are not told apart',
        ),
        (
            {"side": [INFLOW | {"profile": "parabolic"}, OUTFLOW]},
            '[[side]] 1 profile: found "parabolic" without walls beside it; needed: one across y or z',
        ),
        (
            {"side": [INFLOW | {"profile_file": "p.npy"}, OUTFLOW]},
            "velocity: found 1 m/s along x beside profile_file, which has it; allowed: 0",
        ),
        (
            {"side": [WALLS[0], WALLS[1] | {"velocity": [1.0, 0.0]}], "initial": {"kind": "rest"}, "time__step": 0.4},
            "[time] step: found 0.4 s after 0 steps, with a Courant number of 3.2",
        ),
        ({"time__step": 0.5}, "[time] step: found 0.5 s after 0 steps, with a Courant number of"),
    ],
)
def test_one_line(keys, says, tmp_path, capsys):
    path = tmp_path / "box.toml"
    path.write_text(text_of(box_values(**keys)))
    done = run(capsys, "flow", path, "--quiet")
    assert done.code == 2
    [line] = done.err.splitlines()
    assert line.startswith("fathometer: error: ")
    assert says in line


@pytest.mark.parametrize(
    ("profile", "says"),
    [
        (np.linspace(0, 1, 5), "found an array of shape (5,)"),
        (np.linspace(-1, 1, 6), "not all into the box"),
        (np.full(6, 1e300), "not all into the box; allowed: from 0 to 1e+08 m/s"),
        (np.full(6, "1"), "found values of type <U1; allowed: real numbers"),
        (np.full(6, 1 + 2j), "found values of type complex128"),
        ({"a": np.ones(6)}, "is no NPY array"),
    ],
    ids=str,
)
def test_profiles_that_do_not_fit(profile, says, tmp_path, capsys):
    if isinstance(profile, dict):
        np.savez(tmp_path / "profile.npz", **profile)
        (tmp_path / "profile.npz").rename(tmp_path / "profile.npy")
    else:
        np.save(tmp_path / "profile.npy", profile)
    sides = [{"side": "x-", "kind": "inflow", "profile_file": "profile.npy"}, {"side": "x+", "kind": "outflow"}]
    (tmp_path / "box.toml").write_text(text_of(box_values(side=sides)))
    done = run(capsys, "flow", tmp_path / "box.toml", "--quiet")
    assert (done.code, says in done.err, len(done.err.splitlines())) == (2, True, 1)


def test_a_parabola_beside_free_slip_is_half_of_one(tmp_path):
    sides = [INFLOW | {"profile": "parabolic"}, OUTFLOW, WALLS[0], WALLS[1] | {"kind": "slip"}]
    (tmp_path / "box.toml").write_text(text_of(box_values(side=sides)))
    file = load_input(IncompressibleFile, tmp_path / "box.toml", "the flow file")
    found = case_of(file).problem.sides["x-"].velocity[0][0]
    y = (np.arange(6) + 0.5) / 6
    assert found == pytest.approx(y * (2 - y) / (y * (2 - y)).mean())


def test_more_ranks_than_cells(tmp_path, capsys):
    path = tmp_path / "box.toml"
    path.write_text(text_of(box_values(grid__cells=[8, 6, 4], grid__size=[1.0, 1.0, 1.0])))
    problem = case_of(load_input(IncompressibleFile, path, "the flow file")).problem
    assert [ranks_of(problem, n, path) for n in (1, 4, 8, 20)] == [(1, 1), (4, 1), (4, 2), (4, 5)]
    with pytest.raises(InputError, match=r"found 7 ranks; allowed: z \* y with z up to 4, y up to 5"):
        ranks_of(problem, 7, path)
