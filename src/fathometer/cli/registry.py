"""Applications by name, imported when they are asked for; and which of them a command, input file or record belongs to.

To add one is a line in APPLICATIONS: the entry "application" of its records, and where its object lies; see
runs/application.py. The first one is taken for input files that none recognises, and says what is wrong with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.references import referred
from fathometer.base.regular_file import read_regular
from fathometer.runs import restart_hint
from fathometer.runs.application import Application, RecordPanels

if TYPE_CHECKING:
    from fathometer.runs.probes import Probes

APPLICATIONS: Mapping[str, str] = MappingProxyType(
    {
        "seismic": "fathometer.seismic.application:APPLICATION",
        "reactive": "fathometer.apps.reactive.application:APPLICATION",
        "ocean": "fathometer.apps.ocean.application:APPLICATION",
        "flow": "fathometer.apps.flow.application:APPLICATION",
        "plasma": "fathometer.apps.plasma.application:APPLICATION",
        "atmosphere": "fathometer.apps.atmosphere.application:APPLICATION",
        "farm": "fathometer.apps.farm.application:APPLICATION",
    }
)

# Benchmarks whose records have panels of their own, as modules that satisfy RecordPanels.
BENCHMARKS: Mapping[str, str] = MappingProxyType(
    {
        "io": "fathometer.lab.io.panels",
        "messages": "fathometer.lab.messages.panels",
        "profile": "fathometer.lab.profile.panels",
    }
)


def application(name: str) -> Application:
    """The application of a name in APPLICATIONS."""
    registered: Application = referred(APPLICATIONS[name])
    return registered


def applications() -> list[Application]:
    """All applications, in the order of the registry."""
    return [application(name) for name in APPLICATIONS]


def of_command(command: str) -> Application:
    """The application that runs a command. Raises FathometerError where none does."""
    for app in applications():
        if command in app.identity.commands:
            return app
    raise FathometerError(f"{command}: no registered application runs this command")


def of_equation(equation: str) -> Application:
    """The application whose probes can step an equation. Raises FathometerError where none can."""
    for app in applications():
        if equation in app.identity.equations:
            return app
    raise FathometerError(f"{equation}: no registered application has this equation")


def of_input(path: Path) -> Application:
    """The application whose sections an input file has, all of them and the most; else the first one."""
    registered = applications()
    if len(registered) == 1:
        return registered[0]
    sections = _sections(path)
    complete = [app for app in registered if app.identity.sections <= sections.keys()]
    return max(complete, key=lambda app: len(app.identity.sections), default=registered[0])


def kind_of(path: Path) -> str:
    """The name of the application whose sections an input file has; "modelling" for a survey without gathers; "" where
    none has them."""
    app, sections = of_input(path), _sections(path)
    if not app.identity.sections <= sections.keys():
        return ""
    if app.identity.name == "seismic" and "gathers" not in sections["acquisition"]:
        return "modelling"
    return app.identity.name


def require_kind(path: Path | None, own: Application) -> None:
    """Raises InputError where a file has the sections of another application's input files and not those of `own`."""
    sections = _sections(path).keys() if path is not None else frozenset()
    needed = own.identity.sections
    if path is None or needed <= sections:
        return
    other = of_input(path)
    if other.identity.sections <= sections:
        names = " or ".join(f"`fathometer {command}`" for command in other.identity.commands)
        raise InputError(
            f"{path}: is an input file of {names}, as it has {_listed(other.identity.sections)}; needed here: one with "
            f"{_listed(needed)}"
        )


def _listed(sections: frozenset[str]) -> str:
    return ", ".join(f"[{section}]" for section in sorted(sections))


def files_read_by(path: Path) -> list[Path]:
    """The files that a run of an input file reads; none of a file that no application can load."""
    if path.suffix.lower() != ".toml":
        return []
    app = of_input(path)
    try:
        return list(app.files(app.load(path)).values())
    except FathometerError:  # a setting of the command line may be missing; a run says what is wrong
        return []


def _sections(path: Path) -> dict[str, Any]:
    """Top-level tables, and lists of them, of a TOML file; none of a file that is none, of which the application says
    why."""
    import tomllib

    try:
        values = tomllib.loads(read_regular(path).decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return {
        name: value for name, value in values.items() if isinstance(value, dict) or (value and isinstance(value, list))
    }


def resume_hint(command: str, path: Path | None = None, settings: Sequence[str] = ()) -> str:
    """What to tell people when a command on an input file was interrupted that can be resumed; "" for all others."""
    unit = next((app.identity.commands[command] for app in applications() if command in app.identity.commands), None)
    if unit:
        return f"--resume goes on with the {unit} that are not done"
    return restart_hint.resume_hint(path, settings) if unit is not None and path is not None else ""


def probed_commands() -> list[str]:
    """Commands of the applications of which benchmarks of the machine measure anything."""
    return [command for app in applications() if app.identity.probes for command in app.identity.commands]


def probes(commands: Sequence[str] | None = None) -> Iterator[Probes]:
    """What benchmarks of the machine measure of the applications that run some of these commands, or of all."""
    for app in applications():
        if app.identity.probes and (commands is None or not app.identity.commands.keys().isdisjoint(commands)):
            yield probes_of(app)


def probes_of(app: Application) -> Probes:
    """What benchmarks of the machine measure of an application that has such."""
    found: Probes = referred(app.identity.probes)()
    return found


def panels_of(record: Mapping[str, Any]) -> RecordPanels | None:
    """What shows a record on a page: its application or benchmark; None where neither is known."""
    name = record["application"]
    if name in APPLICATIONS:
        return application(name).page
    if name in BENCHMARKS:
        module: Any = import_module(BENCHMARKS[name])
        benchmark: RecordPanels = module
        return benchmark
    return None
