"""The interface between an application and the command line, plans, batch jobs, benchmarks and pages.

An application turns an input file (TOML) into results on disk and a record of the run, such as the simulation of ocean
waves or of a reactive flow. Nothing outside an application's package names its modules: `cli/` finds the object that
satisfies `Application` in its registry and calls the methods below. To add an application:

1. A package of `fathometer` with a module `application.py`. It holds a class with what `Application` lists, and one
   instance of it. The registry imports this module in every process, also for `--help`: it may import only the
   standard library, `fathometer.base` and this module; everything else is imported inside the methods.
2. A line in `cli/registry.py`: the name of the application, and "module:object".
3. A module in `cli/commands/` for each command that it runs, which calls `run_application` (`cli/application_run.py`),
   and its name in `cli/commands/__init__.py`.

`plan`, `submit`, `report`, `stencil` and `calibrate` then work for it as well. Of a model in time, `TimeApplication`
(time_application.py) answers most of the questions: `tests/support/tides.py` is a whole application of that kind.

The course of a run, on all ranks (methods marked collective are called by all of them):

    input = application.load(path, settings)                checked; InputError names file, key, place, what is allowed
    application.import_modules(command)                     the rest of the start-up time
    application.protect_inputs(input, [trace file, ...])    outputs named on the command line replace no input
    outcome = application.run(command, input, comm, context)
        ... writes its results and run.json; context.publish(page, record, panels) writes the page
    application.summary(outcome)                            lines for people
    application.failure(outcome)                            why not all work was done -> exit code 1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from mpi4py import MPI
    from pydantic import BaseModel

    from fathometer.launch.slurm import Job
    from fathometer.plan.machine_file import Machine
    from fathometer.runs.context import Context, Outcome
    from fathometer.runs.probes import Probes

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


class Application(RecordPanels, Protocol):
    """An application as the command line sees it. `input` is what `load` returned."""

    @property
    def name(self) -> str:
        """Its name: the entry "application" of its records."""
        ...

    @property
    def commands(self) -> Sequence[str]:
        """Commands that `run` takes, each with an input file as its argument."""
        ...

    @property
    def sections(self) -> frozenset[str]:
        """Sections (top-level tables) that all of its input files have: `plan` and `submit` find the application of a
        file by them."""
        ...

    @property
    def plan_options(self) -> frozenset[str]:
        """Options of `fathometer plan` that its plans use, by their names in `options`: "ranks", "within", ..."""
        ...

    @property
    def equations(self) -> Sequence[str]:
        """Equations whose time steps `fathometer stencil --physics` can measure; () where `probes` gives None."""
        ...

    def import_modules(self, command: str) -> None:
        """Import what the command needs, so that this counts as start-up time."""
        ...

    def input_model(self) -> type[BaseModel]:
        """The pydantic class of its input files; its fields are their sections."""
        ...

    def load(self, path: Path, settings: Sequence[str] = ()) -> Any:
        """Read and validate an input file. settings: those of --set, KEY=VALUE each, which `with_settings` of
        config/settings.py puts among the values of the file before they are validated.

        Raises InputError of one line with the file and the first wrong key.
        """
        ...

    def resume_hint(self, command: str, path: Path | None, settings: Sequence[str] = ()) -> str:
        """The sentence to print where a run of one of its commands was interrupted and can be resumed (exit code 75
        instead of 130): "--resume goes on with ..."; "" where it cannot. Cheap; raises nothing, whatever the file is.

        path: of the input file; None: the command has none. settings: as of `load`."""
        ...

    def protect_inputs(self, input: Any, outputs: Iterable[Path]) -> None:
        """Raises InputError where one of the outputs would replace a file that the input names."""
        ...

    def input_files(self, input: Any) -> Sequence[Path]:
        """The files that a run of this input reads, by which a study knows that they are still the same.

        Raises InputError where one of them is missing or not to be opened.
        """
        ...

    def run(self, command: str, input: Any, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. Run one of `commands`; the results and the record are on disk afterwards.

        Raises FathometerError or InputError, the same on all ranks.
        """
        ...

    def demo(self, folder: Path, quick: bool, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. A complete example on an input made by code, all of it in `folder`; `quick`: a smaller one."""
        ...

    def summary(self, outcome: Outcome) -> Sequence[str]:
        """The time and rates of a run, for people; rank 0 only, where there is a record."""
        ...

    def failure(self, outcome: Outcome) -> str:
        """Which work is missing in the results and how to do it again, in one line; "" where nothing is missing."""
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

    def probes(self) -> Probes | None:
        """What benchmarks of the machine can measure of this application; None: nothing."""
        ...
