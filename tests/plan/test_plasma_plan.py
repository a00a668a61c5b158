"""`fathometer plan` of a plasma: counts are those of the run, memory is what it takes."""

import json

import pytest
from cli_support import call, here
from input_values import text_of
from machine_support import MACHINE
from plasma_inputs import box_values

from fathometer.apps.plasma.cases import probe_text
from fathometer.apps.plasma.probes import rates_of
from fathometer.plan.machine_file import save_machine


def measured(folder, text, *words):
    """A run in a process of its own; its record."""
    folder.mkdir()
    (folder / "box.toml").write_text(text)
    done = call("plasma", folder / "box.toml", "--quiet", "--threads", 1, "--set", "output.directory=out", *words)
    assert done.code == 0, done.err
    return json.loads((folder / "out" / "run.json").read_text())


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """One whose rates are those of a small run here."""
    folder = tmp_path_factory.mktemp("machine")
    rates = rates_of([measured(folder / "small", probe_text().replace("most_steps = 20", "most_steps = 4"))])
    assert all(
        value > 0
        for name, value in rates.model_dump().items()
        if name not in ("process_bytes", "shared_bracket_seconds")
    )
    save_machine(folder / "here.json", MACHINE.model_copy(update={"plasma": rates}))
    return folder / "here.json"


def planned(machine, folder, *words):
    path = folder / "plan.json"
    done = here("plan", folder / "box.toml", "--on", machine, "--json", path, "--set", "output.directory=out", *words)
    assert done.code == 0, done.err
    return json.loads(path.read_text())


@pytest.mark.parametrize("most", [None, 12, 13])
def test_counts_are_those_of_the_run(machine, tmp_path, most):
    time = {"end": 1.0, "step": 0.02} | ({"most_steps": most} if most else {})
    record = measured(tmp_path / "run", text_of(box_values(time=time, output={"every": 0.25})))
    plan = planned(machine, tmp_path / "run", "--ranks", 1)
    assert plan["steps"] == record["results"]["steps"]
    [phase] = [phase for phase in plan["asked"]["phases"] if phase["phase"] == "write fields"]
    assert phase["calls"] == len(record["results"]["field_files"])


def test_steps_of_turbulence_are_those_of_a_run_like_it(machine, tmp_path):
    strong = {"initial__amplitude": 300.0, "output": {"every": 1.0, "course_steps": 2}}
    shorter = measured(tmp_path / "short", text_of(box_values(**strong, time={"end": 2.0})))
    record = measured(tmp_path / "run", text_of(box_values(**strong, time={"end": 4.0})))
    linear = planned(machine, tmp_path / "run", "--ranks", 1)
    assert linear["steps"] < 0.7 * record["results"]["steps"]
    assert "--like" in linear["steps_origin"]
    own, like = (
        planned(machine, tmp_path / "run", "--ranks", 1, "--like", tmp_path / name / "out/run.json")
        for name in ("run", "short")
    )
    assert own["steps"] == pytest.approx(record["results"]["steps"], abs=2)
    assert like["steps"] == pytest.approx(2 * shorter["results"]["steps"], rel=0.2)
    assert like["steps_origin"].endswith("short/out/run.json")


def test_a_record_without_steps_is_refused(machine, tmp_path):
    (tmp_path / "box.toml").write_text(text_of(box_values(time={"end": 1.0})))
    (tmp_path / "run.json").write_text('{"results": {"course": [{"time_R_over_v": 0, "step": 0}]}}')
    done = here("plan", tmp_path / "box.toml", "--on", machine, "--like", tmp_path / "run.json")
    assert done.code == 2
    assert f"--like {tmp_path}/run.json: found no record of a plasma with steps; allowed: its run.json" in done.err


def test_memory_is_what_a_run_takes(machine, tmp_path):
    large = {"modes__kx_number": 65, "modes__ky_number": 16, "modes__theta": 16, "velocities__energies": 8}
    text = text_of(box_values(**large, time={"end": 1.0, "most_steps": 1}))
    record = measured(tmp_path / "run", text, "--ranks", 2)
    [peak] = [figure["value"] for figure in record["figures"] if figure["name"] == "peak memory"]
    plan = planned(machine, tmp_path / "run", "--ranks", 2)["asked"]
    assert plan["memory_bytes_per_rank"] == pytest.approx(peak, rel=0.1)


def test_a_machine_without_rates_is_refused(tmp_path):
    (tmp_path / "box.toml").write_text(text_of(box_values()))
    save_machine(tmp_path / "here.json", MACHINE.model_copy(update={"plasma": None}))
    done = here("plan", tmp_path / "box.toml", "--on", tmp_path / "here.json")
    assert done.code == 2
    assert "plasma: missing; needed for a plasma; `fathometer calibrate`" in done.err
