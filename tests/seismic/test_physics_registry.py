"""Acoustic waves, elastic waves and sums over traces, behind one table: nothing else asks which of them it is."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

from fathometer.seismic.application import APPLICATION
from fathometer.seismic.physics import PHYSICS, of_command, of_record
from fathometer.seismic.survey.physics_keys import CHECKS

ROOM = Path(__file__).parents[2] / "src" / "fathometer" / "seismic"


def names_of(path):
    """The modules that a file imports, and its texts but for docstrings."""
    tree = ast.parse(path.read_text())
    docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            yield node.value


@pytest.mark.parametrize("room", ["elastic", "kirchhoff"])
def test_only_the_table_of_physics_asks_for_one(room):
    """And the keys of the survey, which differ."""
    asking = set()
    for path in ROOM.rglob("*.py"):
        where = path.relative_to(ROOM)
        wanted = (room, f"fathometer.seismic.{room}")
        if where.parts[0] not in (room, "survey") and any(
            name in wanted or name.startswith(f"{wanted[1]}.") for name in names_of(path)
        ):
            asking.add(str(where))
    assert asking == {"physics.py"}


@pytest.mark.parametrize("physics", PHYSICS.values(), ids=PHYSICS)
def test_what_a_physics_names_is_there(physics):
    for reference in (*physics.drivers.values(), physics.plan_of, physics.heading_of, physics.panels_of):
        module, name = reference.split(":")
        assert callable(getattr(import_module(module), name)), reference
    assert callable(physics.probes().step_rates)
    assert callable(physics.probes().machine_figures)
    assert physics.drivers.keys() <= APPLICATION.identity.commands.keys()


def test_which_physics_runs_a_command():
    assert CHECKS.keys() < PHYSICS.keys()
    commands = APPLICATION.identity.commands
    found = {(command, waves): of_command(command, waves).name for command in commands for waves in CHECKS}
    assert found.pop(("model", "elastic")) == "elastic"
    assert {(command, name) for (command, _), name in found.items()} == {
        ("model", "acoustic"),
        ("migrate", "acoustic"),
        ("migrate-time", "kirchhoff"),
    }


def test_which_physics_a_record_is_of():
    of_waves = {"results": {}, "input": {"propagation": {"physics": "elastic"}}}
    assert of_record(of_waves).name == "elastic"
    assert of_record(of_waves | {"results": {"time_migration": True}}).name == "kirchhoff"
    assert of_record({"results": {}, "input": {}}).name == "acoustic"  # of before there was another
