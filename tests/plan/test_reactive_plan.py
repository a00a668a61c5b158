"""`fathometer plan` of a reactive flow: counts are those of the run, seconds what they take at a machine's rates."""

from __future__ import annotations

import json
import math

import pytest
from cli_support import call, here
from input_values import text_of
from machine_support import MACHINE
from reactive_flows import values

from fathometer.apps.reactive.case import case_of
from fathometer.apps.reactive.cost import Iterations, plan, predict
from fathometer.apps.reactive.flow_file import FlowFile
from fathometer.apps.reactive.probes import rates_of
from fathometer.base.errors import InputError
from fathometer.config.input_file import validated
from fathometer.plan.machine_file import ImplicitRates, save_machine

RATES = ImplicitRates(
    components=2.0,
    residual_seconds=1e-6,
    jacobian_seconds=2e-6,
    setup_seconds=3e-6,
    iteration_seconds=4e-6,
    file_seconds=0.01,
    start_seconds=0.5,
    finish_seconds=2.0,
    process_bytes=3e8,
)
PLAIN = MACHINE.model_copy(
    update={"implicit": RATES, "cores_per_node": 2, "start_seconds": 1.0, "write_bytes_per_second": 1e9}
)
NOTHING = {"ranks": None, "nodes": None, "iterations": None, "like": None}
FIXED = {
    "time": {"end": 8000.0, "step": 1000.0, "adaptive": False},
    "grid": {"cells": [12, 6, 4], "spacing": [0.01] * 3},
}


def made(folder, **changes):
    return validated(FlowFile, values(**{**FIXED, **changes}), folder / "flow.toml")


def test_seconds_by_hand(tmp_path):
    file = made(tmp_path)
    found = predict(file, case_of(file).system, PLAIN, RATES, Iterations(8, 3, 5, ""), 1, 1)
    seconds = {phase.name: phase.seconds for phase in found.phases}
    cells, newton = 12 * 6 * 4, 24
    assert seconds["assemble residual"] == pytest.approx((newton + 8) * cells * 1e-6 * 2)
    assert seconds["assemble Jacobian"] == pytest.approx(newton * cells * 2e-6 * 4)
    assert seconds["solve"] == pytest.approx(newton * cells * 3e-6 * 8 + 5 * newton * cells * 4e-6 * 4)
    assert seconds["start-up"] == 1.5
    assert found.seconds == pytest.approx(math.fsum(seconds.values()))
    assert found.kernel_seconds < found.seconds
    half = predict(file, case_of(file).system, PLAIN, RATES, Iterations(8, 3, 5, ""), 2, 1)
    both = {phase.name: phase.seconds for phase in half.phases}
    assert both["assemble Jacobian"] == pytest.approx(seconds["assemble Jacobian"] / 2)
    assert both["solve"] > seconds["solve"] / 2  # messages
    shared = predict(file, case_of(file).system, PLAIN, RATES, Iterations(8, 3, 5, ""), 4, 1)
    crowded = {phase.name: phase.seconds for phase in shared.phases}
    assert crowded["assemble Jacobian"] == pytest.approx(both["assemble Jacobian"])  # two ranks a core


@pytest.mark.parametrize(
    ("time", "steps"),
    [
        ({"end": 8000.0, "step": 1000.0, "adaptive": False}, 8),
        ({"end": 8000.0, "step": 3000.0, "adaptive": False}, 3),
        ({"end": 8000.0, "step": 1000.0, "adaptive": False, "most_steps": 5}, 5),
        ({"end": 7000.0, "step": 1000.0, "growth": 2.0}, 3),
        ({"end": 7000.0, "step": 1000.0, "growth": 2.0, "largest_step": 2000.0}, 4),
    ],
)
def test_steps(tmp_path, time, steps):
    assert plan(made(tmp_path, time=time), PLAIN, NOTHING).record["steps"] == steps


def test_iterations_are_those_of_a_short_run(tmp_path):
    course = [{"newton_iterations": n, "linear_iterations": 4 * n} for n in (2, 4)]
    (tmp_path / "run.json").write_text(json.dumps({"results": {"course": course}}))
    record = plan(made(tmp_path), PLAIN, NOTHING | {"like": tmp_path / "run.json"}).record
    assert (record["newton_iterations_per_step"], record["linear_iterations_per_newton_iteration"]) == (3.0, 4.0)
    for text in ("", "[]", '{"results": {"course": []}}'):
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(InputError, match=r"--like .*run\.json: found no record of a reactive flow"):
            plan(made(tmp_path), PLAIN, NOTHING | {"like": tmp_path / "run.json"})


def test_words_on_the_command_line(tmp_path):
    path, machine = tmp_path / "flow.toml", tmp_path / "machine.json"
    path.write_text(text_of(values(**FIXED)))
    save_machine(machine, PLAIN)
    done = here("plan", path, "--on", machine, "--ranks", 2, "--iterations", "3,5", "--json", "-")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["asked"]["ranks"] == 2
    assert found["steps"] == 8
    assert here("plan", path, "--on", machine).code == 0
    done = here("plan", path, "--on", machine, "--velocities", "1,2")
    assert done.code == 2
    assert "--velocities: found" in done.err
    save_machine(machine, MACHINE)
    done = here("plan", path, "--on", machine)
    assert done.code == 2
    assert "implicit: missing; needed for a reactive flow" in done.err


def test_rates_and_memory_are_those_of_a_run(tmp_path):
    """What a run took gives rates at which its plan takes as long, phase by phase."""
    pytest.importorskip("petsc4py", reason="PETSc is not installed")
    path = tmp_path / "flow.toml"
    cells = {"cells": [24, 24, 24], "spacing": [0.01] * 3}
    path.write_text(text_of(values(**{**FIXED, "grid": cells, "time": FIXED["time"] | {"most_steps": 2}})))
    # In a process of its own: PETSc never ends an event in which it raised an error, and counts it no more.
    assert call("reactive", path, "--threads", 1).code == 0
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    rates = rates_of([record])
    file = validated(FlowFile, values(**{**FIXED, "grid": cells}), path)
    course = record["results"]["course"]
    newton = sum(row["newton_iterations"] for row in course)
    linear = sum(row["linear_iterations"] for row in course)
    assert record["results"]["petsc"]["ranks"][0]["SNESJacobianEval"]["calls"] == newton
    own = predict(file, case_of(file).system, PLAIN, rates, Iterations(2, newton / 2, linear / newton, ""), 1, 1)
    for phase in own.phases:
        if phase.name in ("assemble Jacobian", "solve"):
            took = sum(e["seconds"]["max"] for e in record["ledger"]["phases"] if e["phase"] == phase.name)
            assert phase.seconds == pytest.approx(took, rel=0.05), phase.name
    assert rates.process_bytes > 5e7
