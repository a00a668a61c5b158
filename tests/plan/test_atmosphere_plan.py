"""`fathometer plan` of an atmosphere: counts are those of the run, memory is what it takes."""

import json

import pytest
from atmosphere_support import wave_values
from cli_support import call, here
from input_values import text_of
from machine_support import MACHINE

from fathometer.apps.atmosphere.cases import probe_text
from fathometer.apps.atmosphere.probes import FORCINGS, rates_of
from fathometer.plan.machine_file import save_machine


def measured(folder, text, *words):
    """A run in a process of its own; its record."""
    folder.mkdir()
    (folder / "run.toml").write_text(text)
    done = call("atmosphere", folder / "run.toml", "--quiet", "--threads", 1, "--set", "output.directory=out", *words)
    assert done.code == 0, done.err
    return json.loads((folder / "out" / "run.json").read_text())


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """One whose rates are those of a small run here."""
    folder = tmp_path_factory.mktemp("machine")
    texts = [probe_text(forcing).replace("most_steps = 20", "most_steps = 4") for forcing in FORCINGS.values()]
    rates = rates_of([[measured(folder / f"{number}", text)] for number, text in enumerate(texts)])
    assert all(value > 0 for name, value in rates.model_dump().items() if name != "process_bytes")
    save_machine(folder / "here.json", MACHINE.model_copy(update={"atmosphere": rates}))
    return folder / "here.json"


def planned(machine, folder, *words):
    path = folder / "plan.json"
    done = here("plan", folder / "run.toml", "--on", machine, "--json", path, "--set", "output.directory=out", *words)
    assert done.code == 0, done.err
    return json.loads(path.read_text())


@pytest.mark.parametrize("most", [None, 9, 13])
def test_counts_are_those_of_the_run(machine, tmp_path, most):
    time = {"end": 1.0} | ({"most_steps": most} if most else {})
    record = measured(tmp_path / "run", text_of(wave_values(time=time)), "--ranks", 2)
    plan = planned(machine, tmp_path / "run", "--ranks", 2)
    assert plan["steps"] == record["results"]["steps"]
    phases = {phase["phase"]: phase for phase in plan["asked"]["phases"]}
    assert phases["write fields"]["calls"] == len(record["results"]["field_files"])
    assert phases["diagnostics"]["calls"] == len(record["results"]["course"])


@pytest.mark.parametrize(("ranks", "tracers"), [(1, 0), (2, 0), (1, 20)])
def test_memory_is_what_a_run_takes(machine, tmp_path, ranks, tracers):
    large = {"grid__truncation": 63, "levels": {"table": "cam26"}}
    large["tracers"] = [{"name": f"dye{number}", "shape": "uniform"} for number in range(tracers)]
    text = text_of(wave_values(**large, time={"end": 1.0, "most_steps": 1}, output={"every": 1.0}))
    record = measured(tmp_path / "run", text, "--ranks", ranks)
    [peak] = [figure["value"] for figure in record["figures"] if figure["name"] == "peak memory"]
    plan = planned(machine, tmp_path / "run", "--ranks", ranks)["asked"]
    assert plan["memory_bytes_per_rank"] == pytest.approx(peak, rel=0.1)


def test_a_machine_without_rates_is_refused(tmp_path):
    (tmp_path / "run.toml").write_text(text_of(wave_values()))
    save_machine(tmp_path / "here.json", MACHINE.model_copy(update={"atmosphere": None}))
    done = here("plan", tmp_path / "run.toml", "--on", tmp_path / "here.json")
    assert done.code == 2
    assert "atmosphere: missing; needed for an atmosphere; `fathometer calibrate`" in done.err
