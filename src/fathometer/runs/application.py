"""The interface between an application and the command line, plans, batch jobs, benchmarks and pages.

An application turns an input file (TOML) into results on disk and a record of the run, such as the simulation of ocean
waves or of a reactive flow. Nothing outside an application's package names its modules: `cli/` finds the object that
satisfies `Application` in its registry and calls the methods below. To add an application:

1. A package of `fathometer` with a module `application.py`. It holds a class with what `Application` lists, and one
   instance of it. The registry imports this module in every process, also for `--help`: it may import only the
   standard library, `fathometer.base` and `fathometer.runs`' cheap modules; everything else is imported when it is
   needed, inside the methods or by references, "module:name".
2. A line in `cli/registry.py`: the name of the application, and "module:object".
3. A module in `cli/commands/` for each command that it runs, which calls `run_application` (`cli/application_run.py`),
   and its name in `cli/commands/__init__.py`.

`plan`, `submit`, `report`, `stencil` and `calibrate` then work for it as well. A model in time states what
`TimeApplication` (time_application.py) has, which is an `Application`: `tests/support/tides.py` is a whole one.

The course of a run, on all ranks (methods marked collective are called by all of them):

    input = application.load(path, settings, command)       checked; InputError names file, key, place, what is allowed
    protect(application.files(input), [trace file, ...])    outputs named on the command line replace no input
    outcome = application.run(command, input, comm, context)
        ... writes its results and run.json; context.publish(page, record, panels) writes the page
    application.conclusion(outcome)                         lines for people; why not all work was done: exit code 1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from fathometer.base.errors import InputError

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.launch.slurm import Job
    from fathometer.plan.machine_file import Machine
    from fathometer.runs.context import Context, Outcome

Panel = dict[str, Any]  # a figure or table of a page: its `kind`, one of those of report/page.py, and that kind's data


@dataclass(frozen=True)
class Heading:
    """The heading of a page.

    Attributes:
        title: kind of run. subject: what it was run on, such as the name of the input file without its suffix.
        facts: pairs of label and text.
        kernel: whether the run has time steps whose roofline belongs on the page.
        finding: what was found, in a sentence without its full stop; "": the panels come first.
    """

    title: str = ""
    subject: str = ""
    facts: Sequence[tuple[str, str]] = ()
    kernel: bool = True
    finding: str = ""


@dataclass(frozen=True)
class CostEstimate:
    """Predicted cost of a run.

    Attributes:
        record: JSON-ready, SI units with the unit in the key. table: the same for people, line by line.
    """

    record: Mapping[str, Any]
    table: Sequence[str]


class RecordPanels(Protocol):
    """Interface that turns a record into the contents of a page; of applications and of benchmarks.

    Both methods raise one of ArithmeticError, AttributeError, LookupError, TypeError or ValueError for a record that no
    run has written; the command line turns these into one line that names the file.
    """

    def heading(self, record: Mapping[str, Any]) -> Heading:
        """The top of the page of a record."""
        ...

    def panels(self, record: Mapping[str, Any], path: Path) -> list[Panel]:
        """What to draw of a record that lies at `path`, from the files that it names where they still exist; a panel of
        the kind "missing" says what cannot be shown and why. No MPI."""
        ...


@dataclass(frozen=True)
class Identity:
    """What is known of an application before anything of it is imported.

    Attributes:
        name: the entry "application" of its records.
        commands: those that `run` takes, each with an input file as its argument; of each what its runs do one after
            another and go on with, such as "shots"; "": they go on from states.
        sections: top-level tables that all of its input files have, by which `plan` and `submit` find the application
            of a file.
        input: pydantic class of its input files, as "module:name"; its fields are their sections.
        plan_options: options of `fathometer plan` that its plans use, by their names: "ranks", "within", ...
        probes: class without arguments that satisfies Probes (probes.py), as "module:name": what benchmarks of the
            machine measure of it; "": nothing.
        equations: whose time steps `fathometer stencil --physics` can measure by the probes.
        draft: "module:name" of what makes of files, and the path of a new input file, its keys (config/draft.py), for
            `fathometer new`; "": all keys that are needed are gaps.
        given: what these files can be, by name, with what that is.
        reference: where the keys of its input files are described.
    """

    name: str
    commands: Mapping[str, str]
    sections: frozenset[str]
    input: str
    plan_options: frozenset[str]
    probes: str = ""
    equations: Sequence[str] = ()
    draft: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    reference: str = ""


@dataclass(frozen=True)
class Demo:
    """A complete example on an input made by code, in place of an input; `quick`: a smaller one."""

    folder: Path
    quick: bool = False


@dataclass(frozen=True)
class Conclusion:
    """What to tell people when a run has ended.

    Attributes:
        lines: its time and rates; on rank 0, where there is a record. missing: which work is missing in the results
            and how to do it again, in one line, the same on all ranks; "": nothing is.
    """

    lines: Sequence[str] = ()
    missing: str = ""


class Application(Protocol):
    """An application as the command line sees it. `input` is what `load` returned."""

    @property
    def identity(self) -> Identity:
        """What it is called, and which commands, files and options are its own."""
        ...

    @property
    def page(self) -> RecordPanels:
        """What shows its records."""
        ...

    def load(self, path: Path | None, settings: Sequence[str] = (), command: str = "") -> Any:
        """Read and validate an input file, and import what a command needs to run it, so that this counts as start-up.

        Args:
            path: None: the command runs a demo, and there is no input. settings: those of --set, KEY=VALUE each, which
                `with_settings` of config/settings.py puts among the values of the file before they are validated.
                command: "": nothing is run.

        Raises InputError of one line with the file and the first wrong key.
        """
        ...

    def files(self, input: Any) -> Mapping[str, Path]:
        """The files that a run of this input reads, by what names them: a study knows by them that they are still the
        same, and none is replaced by a result.

        Raises InputError where one of them is missing or not to be opened.
        """
        ...

    def run(self, command: str, input: Any, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. Run one of the commands, or a Demo given as input; the results and the record are on disk
        afterwards.

        Raises FathometerError or InputError, the same on all ranks.
        """
        ...

    def conclusion(self, outcome: Outcome) -> Conclusion:
        """What to tell people of a run."""
        ...

    def plan(self, input: Any, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
        """What a run will cost on a machine. `options`: those of `plan_options`, None or False where not given. No MPI.

        Raises InputError where the run cannot be laid out on the machine as asked for.
        """
        ...

    def batch_job(self, input: Any, program: Sequence[str], name: str | None, nodes: int, **options: Any) -> Job:
        """The Slurm job of a run that can be resumed; `program`: words that start this program; `options`: further
        attributes of the job. Raises InputError where there can be none."""
        ...


def protect(files: Mapping[str, Path], outputs: Iterable[Path]) -> None:
    """Raises InputError where one of the outputs would replace one of the files of an input, by what names them; the
    first is the input file itself."""
    from fathometer.storage import atomic

    first = next(iter(files.values()))
    for output in outputs:
        for name, path in files.items():
            if atomic.replaces(output, path):
                raise InputError(
                    f"{first}: [output]: {output} would replace {name}; allowed: another directory or name"
                )
