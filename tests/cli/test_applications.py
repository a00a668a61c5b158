"""Command line and page reach an application through its interface alone: a second one, registered here."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType

import pytest
from cli_support import MIGRATE, MODEL, inputs, run, survey
from machine_support import MACHINE
from tides import TIDES

from fathometer.base.errors import FathometerError
from fathometer.cli import commands, parser, registry
from fathometer.cli.application_run import application_command
from fathometer.cli.argument_groups import add_run, add_survey
from fathometer.plan.machine_file import save_machine

SOURCE = Path(registry.__file__).parents[1]


def add_arguments(given):
    add_survey(given)
    add_run(given)


@pytest.fixture
def tides(tmp_path, monkeypatch):
    """An input file of the second application, which has a line in the registry and a command."""
    registered = MappingProxyType({**registry.APPLICATIONS, "tides": TIDES})
    monkeypatch.setattr(registry, "APPLICATIONS", registered)
    module = type(sys)("fathometer.cli.commands.mean_tide")
    module.COMMAND = application_command("mean-tide", "the mean height", "Mean.", "  mean-tide a", add_arguments)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(commands, "NAMES", (*commands.NAMES, "mean_tide"))
    path = tmp_path / "harbour.toml"
    path.write_text("[tides]\nheights = [1.0, 2.0, 6.0]\n")
    return path


def test_a_second_application_runs_and_leaves_record_and_page(tides, capsys):
    done = run(capsys, "mean-tide", tides, "--json")
    assert done.code == 0, done.err
    assert done.err.splitlines()[-1] == "mean height 3 m"
    record = json.loads(tides.with_name("run.json").read_text())
    assert json.loads(done.out) == record
    page = tides.with_name("report.html").read_text()
    for text in ("<title>Tides: harbour</title>", "High and low water", "mean height"):
        assert text in page
    assert "The roofline is missing" not in page

    again = tides.with_name("again.html")
    assert run(capsys, "report", tides.parent, "-o", again).code == 0
    assert again.read_text() == page


def test_what_fails_and_what_would_replace_an_input(tides, capsys):
    done = run(capsys, "mean-tide", tides, "--trace", tides)
    assert (done.code, done.err) == (2, f"fathometer: error: {tides}: would be replaced\n")
    tides.write_text("[tides]\nheights = [1.0, -1.0]\n")
    done = run(capsys, "mean-tide", tides, "--quiet")
    assert (done.code, done.err) == (1, "fathometer: error: the sea is gone\n")


def test_a_damaged_record_of_a_second_application(tides, capsys):
    assert run(capsys, "mean-tide", tides, "--quiet").code == 0
    record = tides.with_name("run.json")
    record.write_text(record.read_text().replace('"tides": {', '"tidal": {'))
    done = run(capsys, "report", record)
    assert done.code == 2
    assert "damaged: machine, input or results hold what no run writes (KeyError: 'tides')" in done.err


def test_plan_and_submit_go_by_the_input_file(tides, tmp_path, capsys):
    machine = tmp_path / "machine.json"
    save_machine(machine, MACHINE)
    done = run(capsys, "plan", tides, "--on", machine, "--ranks", 2)
    assert done.code == 0
    assert done.out.startswith("1.5 s on a machine\n\nmachine file: does not say")
    done = run(capsys, "plan", tides, "--on", machine, "--json", "-")
    said = json.loads(done.out)
    assert not said.pop("machine_file")["measured_here"]
    assert said == {"schema_version": 1, "seconds": 3.0}
    done = run(capsys, "plan", tides, "--on", machine, "--velocities", "1500,2000")
    assert done.code == 2
    assert "--velocities: found; " in done.err
    done = run(capsys, "submit", tides, "--time", "8h", "--print")
    assert (done.code, done.err) == (2, f"fathometer: error: {tides}: tides wait for no batch job\n")
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
        expected = "tides" if name == "harbour.toml" else "seismic"
        assert registry.of_input(tmp_path / name).name == expected, name
    assert registry.of_input(tmp_path / "absent.toml").name == "seismic"


def test_whose_a_command_an_equation_and_a_record_is(tides):
    assert [registry.of_command(name).name for name in ("model", "migrate", "mean-tide")] == ["seismic"] * 2 + ["tides"]
    assert registry.of_equation("vti").name == "seismic"
    assert registry.resume_hint("mean-tide") == "wait for the next tide"
    assert registry.resume_hint("model") == ""
    for name in ("seismic", "tides"):
        assert registry.panels_of({"application": name}) is registry.application(name)
    assert registry.panels_of({"application": "io"}).heading.__module__ == "fathometer.lab.io.panels"
    assert registry.panels_of({"application": "stencil"}) is None
    for unknown in (registry.of_command, registry.of_equation):
        with pytest.raises(FathometerError, match="no registered application"):
            unknown("report")


def test_an_interrupted_modelling_can_be_resumed_where_it_is_elastic(tmp_path):
    """Whatever else the file holds, and whether it is one."""
    path = tmp_path / "survey.toml"
    hint = "--resume goes on with the shots that are not done"
    for text, settings, found in [
        ('[propagation]\nphysics = "elastic"', [], hint),
        ('[propagation]\nphysics = "acoustic"', [], ""),
        ('[propagation]\nphysics = "acoustic"', ["propagation.physics=elastic"], hint),
        ('[propagation]\nphysics = "elastic"', ["propagation.physics=acoustic"], ""),
        ("[propagation]", [], ""),
        ("propagation = 3", [], ""),
        ("[propagation", [], ""),
        ("", ["nonsense"], ""),
    ]:
        path.write_text(text)
        assert registry.resume_hint("model", path, settings) == found, text
        assert registry.resume_hint("migrate", path, settings) == hint
    assert registry.resume_hint("model", tmp_path / "no.toml") == ""


def test_what_is_registered_agrees_with_itself():
    for name, one in zip(registry.APPLICATIONS, registry.applications(), strict=True):
        assert one.name == name
        assert all(isinstance(one.resume_hint(command, None), str) for command in one.commands)
        fields = one.input_model().model_fields
        assert {key for key, field in fields.items() if field.is_required()} == one.sections


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
