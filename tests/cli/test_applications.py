"""Command line and page reach an application through its interface alone: a second one, registered here."""

from __future__ import annotations

import ast
import json
import math
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from cli_support import MIGRATE, MODEL, inputs, run, survey
from machine_support import MACHINE
from tides import GRAVITY, TIDES

from fathometer.base.errors import FathometerError
from fathometer.base.references import referred
from fathometer.cli import commands, parser, registry
from fathometer.cli.command import Command
from fathometer.cli.restartable_command import RestartableCommand
from fathometer.plan.machine_file import save_machine
from fathometer.runs.application import Application
from fathometer.runs.time_application import TimeApplication
from fathometer.storage.datasets.reader import DatasetFile

SOURCE = Path(registry.__file__).parents[1]


RUN = RestartableCommand("tides", "tides", "time.steps=100")
CELLS, SPACING, DEPTH = 60, 500.0, 10.0
SPEED = math.sqrt(GRAVITY * DEPTH)
STEP = SPACING / SPEED  # with which a wave goes a cell in a step, exactly
PERIOD = 25 * STEP


def add_arguments(parser):
    RUN.add_input(parser)
    RUN.add_run(parser)


def prepare(options):
    RUN.check(options)
    return RUN.load(options)


@pytest.fixture
def tides(tmp_path, monkeypatch):
    """An input file of an application that has a line in the registry and a command."""
    monkeypatch.setattr(registry, "APPLICATIONS", MappingProxyType({**registry.APPLICATIONS, "tides": TIDES}))
    module = type(sys)("fathometer.cli.commands.tides")
    module.COMMAND = Command(
        "tides",
        "tides in a channel",
        "Tides.",
        "  fathometer tides a.toml",
        add_arguments,
        None,
        RUN.run_on_ranks,
        prepare,
    )
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(commands, "NAMES", (*commands.NAMES, "tides"))
    path = tmp_path / "harbour.toml"
    path.write_text(text(50))
    return path


def text(steps, directory="out"):
    return (
        f"[channel]\nlength = {CELLS * SPACING}\ndepth = {DEPTH}\ncells = {CELLS}\n"
        f"[tide]\namplitude = 0.5\nperiod = {PERIOD!r}\n[time]\nstep = {STEP!r}\nsteps = {steps}\n"
        f'[output]\ndirectory = "{directory}"\nevery_steps = 20\nrestart_steps = 15\n'
    )


def heights(path):
    with DatasetFile(path) as file:
        return file.read("height")


def test_a_second_application_runs_and_leaves_record_and_page(tides, capsys):
    done = run(capsys, "tides", tides, "--json")
    assert done.code == 0, done.err
    assert "s; water balances to " in done.err.splitlines()[-1]
    output = tides.parent / "out"
    record = json.loads((output / "run.json").read_text())
    assert json.loads(done.out) == record
    assert record["results"]["balance"][0]["error"] < 1e-12
    assert record["results"]["counts"] == {"cell_updates": 50.0 * CELLS}
    assert [path.name for path in sorted((output / "fields").iterdir())] == [
        f"tides-{step:08d}.nc" for step in (0, 20, 40, 50)
    ]
    page = (output / "report.html").read_text()
    for words in ("<title>Tides: harbour</title>", "Along the channel", "Water a metre of width"):
        assert words in page
    assert "The roofline is missing" not in page
    assert (output / "tides.png").read_bytes().startswith(b"\x89PNG")

    again = tides.with_name("again.html")
    assert run(capsys, "report", output, "-o", again).code == 0
    assert again.read_text() == page


def test_its_wave_is_the_exact_one(tides, capsys):
    """From the western end, before it has come to the wall: sin of the time since it was there."""
    assert run(capsys, "tides", tides, "--quiet").code == 0
    behind = 50 - 1 - np.arange(CELLS)  # steps since the end of the channel had what a cell has now
    exact = np.where(behind > 0, 0.5 * np.sin(2 * np.pi * behind * STEP / PERIOD), 0.0)
    found = heights(tides.parent / "out" / "fields" / "tides-00000050.nc")[0]
    assert found == pytest.approx(exact, abs=1e-6)
    assert np.abs(exact).max() > 0.49


def test_it_goes_on_with_the_same_bits(tides, capsys):
    """And not where its tide is another."""
    whole = tides.with_name("whole.toml")
    whole.write_text(text(50, "whole"))
    assert run(capsys, "tides", whole, "--quiet").code == 0
    assert run(capsys, "tides", tides, "--quiet", "--set", "time.steps=33").code == 0
    assert "--resume goes on" in run(capsys, "tides", tides).err
    done = run(capsys, "tides", tides, "--resume", "--set", "tide.amplitude=1.0")
    assert (done.code, "is of another input: tide.amplitude: 0.5 then, 1.0 now" in done.err) == (2, True)
    done = run(capsys, "tides", tides, "--resume")
    assert done.code == 0, done.err
    assert "after 33 steps" in done.err
    for name in ("fields/tides-00000040.nc", "fields/tides-00000050.nc", "restart/00000050/state.nc"):
        one, other = (tides.parent / folder / name for folder in ("out", "whole"))
        assert one.read_bytes() == other.read_bytes(), name
    records = [json.loads((tides.parent / folder / "run.json").read_text())["results"] for folder in ("out", "whole")]
    steps = [[row["time_seconds"] / STEP for row in record["course"]] for record in records]
    assert steps[0] == pytest.approx([15, 20, 30, 33, 40, 45, 50])  # each run has a row of its end
    assert steps[1] == pytest.approx([15, 20, 30, 40, 45, 50])
    assert [record["earlier_steps"] for record in records] == [33, 0]


def test_its_demo(tides, tmp_path, capsys):
    done = run(capsys, "tides", "--demo", "--quick", "--output", tmp_path / "demo")
    assert done.code == 0, done.err
    assert (tmp_path / "demo" / "report.html").is_file()


def test_what_is_wrong_and_what_would_replace_an_input(tides, capsys):
    done = run(capsys, "tides", tides, "--trace", tides)
    assert (done.code, f"would replace {tides}" in done.err) == (2, True)
    done = run(capsys, "tides", tides, "--set", "time.step=100.0")
    assert (done.code, "[time] step: found 100 s; allowed: up to 50.4" in done.err) == (2, True)


def test_a_damaged_record_of_a_second_application(tides, capsys):
    assert run(capsys, "tides", tides, "--quiet").code == 0
    record = tides.parent / "out" / "run.json"
    record.write_text(record.read_text().replace('"grid": {', '"gird": {'))
    done = run(capsys, "report", record)
    assert done.code == 2
    assert "damaged: machine, input or results hold what no run writes (KeyError: 'grid')" in done.err


def test_plan_and_submit_go_by_the_input_file(tides, tmp_path, capsys):
    machine = tmp_path / "machine.json"
    save_machine(machine, MACHINE)
    done = run(capsys, "plan", tides, "--on", machine, "--ranks", 2)
    assert done.code == 0
    assert done.out.startswith("60 cells, 50 steps on a machine\n")
    assert "machine file: does not say" in done.out
    done = run(capsys, "plan", tides, "--on", machine, "--json", "-")
    said = json.loads(done.out)
    assert not said["machine_file"]["measured_here"]
    asked = said["asked"]
    assert asked["total_seconds"] == pytest.approx(sum(phase["seconds"] for phase in asked["phases"]))
    done = run(capsys, "plan", tides, "--on", machine, "--velocities", "1500,2000")
    assert done.code == 2
    assert "--velocities: found; " in done.err
    done = run(capsys, "submit", tides, "--time", "8h", "--print")
    assert done.code == 0, done.err
    assert f"tides {tides} --resume" in done.out
    inputs(tmp_path)
    done = run(capsys, "plan", survey(tmp_path, MODEL), "--on", machine)
    assert done.code == 0, done.err
    assert done.out.startswith("model ")


def test_whose_an_input_file_is(tides, tmp_path):
    named = {
        "harbour.toml": tides.read_text(),
        "migrate.toml": survey(tmp_path, MIGRATE).read_text(),
        "both.toml": tides.read_text() + survey(tmp_path, MIGRATE).read_text(),
        "neither.toml": "[other]\n",
        "broken.toml": "[tides",
    }
    for name, text in named.items():
        (tmp_path / name).write_text(text)
        expected = "tides" if name in ("harbour.toml", "both.toml") else "seismic"  # of both the one with more sections
        assert registry.of_input(tmp_path / name).identity.name == expected, name
    assert registry.of_input(tmp_path / "absent.toml").identity.name == "seismic"


def test_whose_a_command_an_equation_and_a_record_is(tides):
    names = [registry.of_command(name).identity.name for name in ("model", "migrate", "tides")]
    assert names == ["seismic"] * 2 + ["tides"]
    assert registry.of_equation("vti").identity.name == "seismic"
    assert registry.resume_hint("tides", Path("no.toml")).startswith("--resume begins anew")
    for command, unit in (("model", "shots"), ("migrate", "shots"), ("migrate-time", "blocks of traces")):
        assert registry.resume_hint(command) == f"--resume goes on with the {unit} that are not done"
    assert registry.resume_hint("report", Path("no.toml")) == ""
    for name in ("seismic", "tides"):
        assert registry.panels_of({"application": name}).heading.__qualname__.endswith("Panels.heading")
    assert registry.panels_of({"application": "io"}).heading.__module__ == "fathometer.lab.io.panels"
    assert registry.panels_of({"application": "stencil"}) is None
    for unknown in (registry.of_command, registry.of_equation):
        with pytest.raises(FathometerError, match="no registered application"):
            unknown("report")


MEMBERS = {  # of TimeApplication: modules, and what they have
    "case": ("input_files", "case_of", "case_bytes"),
    "shown": ("heading", "panels_of", "lines"),
}


def test_what_is_registered_agrees_with_itself(tides):
    """And all that it refers to is there."""
    for name, one in zip(registry.APPLICATIONS, registry.applications(), strict=True):
        identity = one.identity
        assert identity.name == name
        fields = referred(identity.input).model_fields
        assert {key for key, field in fields.items() if field.is_required()} == identity.sections
        assert not identity.equations or identity.probes
        if isinstance(one, TimeApplication):
            assert list(identity.commands) == [name]
            for member, functions in MEMBERS.items():
                assert all(callable(getattr(import_module(getattr(one, member)), each)) for each in functions)
            references = (one.model, one.demo, one.cost, *filter(None, (one.needed, identity.probes)))
            assert all(callable(referred(each)) for each in references)
    assert [type(each).__name__ for each in registry.probes(["model", "ocean"])] == ["SeismicProbes", "OceanProbes"]
    probes = [type(each).__name__ for each in registry.probes()]
    assert probes == [
        "SeismicProbes",
        "ReactiveProbes",
        "OceanProbes",
        "FlowProbes",
        "PlasmaProbes",
        "AtmosphereProbes",
    ]


def test_the_interface_of_applications_is_small():
    """The goal of the design: at most eight members."""
    members = [name for name in vars(Application) if not name.startswith("_")]
    assert len(members) == 8, members


def test_only_the_registry_and_the_tools_of_an_application_name_it():
    """Of the command line; what lies beside or below the applications cannot (test_imports.py)."""
    naming = set()
    for path in (SOURCE / "cli").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fathometer.seismic"):
                naming.add(path.name)
            if isinstance(node, ast.Constant) and str(node.value).startswith("fathometer.seismic"):
                naming.add(path.name)
    assert naming == {"registry.py", "prepare.py", "info.py", "survey_wavelet.py"}  # info: files of velocity picks


def test_the_parser_imports_nothing_heavy():
    code = (
        "import sys; from fathometer.cli.parser import parser; parser(); "
        "print([name for name in ('mpi4py', 'numpy', 'pydantic', 'jinja2', 'plotly', 'h5py') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_command_has_one_way_to_run():
    for name in commands.NAMES:
        command = __import__(f"fathometer.cli.commands.{name}", fromlist=["COMMAND"]).COMMAND
        assert (command.run is None) != (command.run_on_ranks is None)
        assert command.examples.startswith(f"  fathometer {command.name}")
    assert parser.parser().prog == "fathometer"
