"""`fathometer plan` of an incompressible flow: counts are those of the run, memory is what it takes."""

import json

import pytest
from cli_support import call, here
from flow_inputs import CHANNEL, box_values
from input_values import text_of
from machine_support import MACHINE

from fathometer.apps.flow.demo import flow_text
from fathometer.apps.flow.probes import rates_of
from fathometer.plan.machine_file import save_machine

VORTICES = {"grid__cells": [8, 8, 8], "grid__size": [1.0, 1.0, 1.0]}


def measured(folder, text, *words):
    """A run in a process of its own; its record."""
    folder.mkdir()
    (folder / "flow.toml").write_text(text)
    done = call("flow", folder / "flow.toml", "--quiet", "--threads", 1, "--set", "output.directory=out", *words)
    assert done.code == 0, done.err
    return json.loads((folder / "out" / "run.json").read_text())


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """One whose rates are those of a small run here."""
    folder = tmp_path_factory.mktemp("machine")
    rates = rates_of([measured(folder / "small", flow_text(24, 10, 20.0))])
    save_machine(folder / "here.json", MACHINE.model_copy(update={"spectral": rates}))
    return folder / "here.json"


def planned(machine, folder, *words):
    path = folder / "plan.json"
    done = here("plan", folder / "flow.toml", "--on", machine, "--json", path, "--set", "output.directory=out", *words)
    assert done.code == 0, done.err
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    "changes",
    [
        VORTICES | {"time__step": 0.01, "time__end": 0.1, "output": {"every": 0.03}},
        VORTICES | {"time__step": 0.01, "time__end": 0.1, "time__most_steps": 7, "output": {"every": 0.03}},
        VORTICES | {"time__step": 0.01, "time__end": 0.1, "time__most_steps": 6, "output": {"every": 0.03}},
        CHANNEL | {"time__step": 0.02, "time__most_steps": 1},
    ],
    ids=["to the end", "between results", "at a result", "one step"],
)
def test_counts_are_those_of_the_run(machine, tmp_path, changes):
    record = measured(tmp_path / "run", text_of(box_values(**changes)))
    plan = planned(machine, tmp_path / "run", "--ranks", 1)
    assert plan["steps"] == record["results"]["steps"]
    [phase] = [phase for phase in plan["asked"]["phases"] if phase["phase"] == "write fields"]
    assert phase["calls"] == len(record["results"]["field_times_seconds"])


def test_memory_is_what_a_run_takes(machine, tmp_path):
    """On two ranks: of a single one that has drawn, the small run does not tell what it took before."""
    record = measured(tmp_path / "run", flow_text(80, 2, 20.0), "--ranks", 2)
    [peak] = [figure["value"] for figure in record["figures"] if figure["name"] == "peak memory"]
    plan = planned(machine, tmp_path / "run", "--ranks", 2)["asked"]
    assert plan["memory_bytes_per_rank"] == pytest.approx(peak, rel=0.1)
