"""Seismic modelling and migration as the command line sees them: see runs/application.py.

Cheap to import: what does the work is imported inside the methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fathometer.base import ledger
from fathometer.runs.application import Application, CostEstimate, Heading, Panel

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.launch.slurm import Job
    from fathometer.plan.machine_file import Machine
    from fathometer.runs.context import Context, Outcome
    from fathometer.seismic.probes import SeismicProbes
    from fathometer.seismic.survey import Survey


# Modules that run the commands, and `demo`, imported when they are asked for.
DRIVERS: Mapping[str, str] = MappingProxyType(
    {
        "model": "fathometer.seismic.modelling.driver",
        "migrate": "fathometer.seismic.rtm.driver",
        "migrate-time": "fathometer.seismic.kirchhoff.driver",
        "demo": "fathometer.seismic.demo",
    }
)


class SeismicApplication:
    """Forward modelling and reverse time migration of a survey."""

    name = "seismic"
    commands = ("model", "migrate", "migrate-time")
    sections = frozenset({"acquisition"})
    plan_options = frozenset(
        {"ranks", "nodes", "decomposition", "within", "velocities", "migrate", "model", "migrate_time", "history"}
    )
    equations = ("vti", "isotropic")

    def import_modules(self, command: str) -> None:
        """Import what the command needs, so that this counts as start-up time."""
        import_module(DRIVERS[command])

    def input_model(self) -> type[Survey]:
        """The survey file."""
        from fathometer.seismic.survey import Survey

        return Survey

    def load(self, path: Path, settings: Sequence[str] = ()) -> Survey:
        """Read and check a survey file; see Application."""
        from fathometer.seismic.survey import load_survey

        return load_survey(path, settings)

    def resume_hint(self, command: str, path: Path | None, settings: Sequence[str] = ()) -> str:
        """Of migrations, and of modelling in elastic media; acoustic modelling begins anew. See Application."""
        if command == "migrate-time":
            return "--resume goes on with the blocks of traces that are not done"
        if command == "migrate" or (path is not None and _is_elastic(path, settings)):
            return "--resume goes on with the shots that are not done"
        return ""

    def protect_inputs(self, input: Survey, outputs: Iterable[Path]) -> None:
        """Raises InputError where one of the outputs would replace a file that the input names."""
        from fathometer.seismic.setup.run_files import protect_inputs

        protect_inputs(input, outputs)

    def input_files(self, input: Survey) -> list[Path]:
        """The files that a run of this input reads, by which a study knows that they are still the same."""
        from fathometer.seismic.setup.input_files import input_files

        return input_files(input)

    def run(self, command: str, input: Survey, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. `model`, `migrate` or `migrate-time`."""
        if command == "model" and input.propagation.physics == "elastic":
            with ledger.phase("set up"):
                from fathometer.seismic.elastic.driver import run_elastic
            return run_elastic(input, comm, context)
        # The other command's driver is not imported: its time would be in no phase.
        run: Callable[[Survey, MPI.Intracomm, Context], Outcome] = getattr(
            import_module(DRIVERS[command]), f"run_{command.replace('-', '_')}"
        )
        return run(input, comm, context)

    def demo(self, folder: Path, quick: bool, comm: MPI.Intracomm, context: Context) -> Outcome:
        """Collective. A complete example on an input made by code, all of it in `folder`; `quick`: a smaller one."""
        from fathometer.seismic.demo import run_demo

        return run_demo(folder, quick, comm, context)

    def summary(self, outcome: Outcome) -> list[str]:
        """The time and rates of a run, for people; rank 0 only, where there is a record."""
        figures = {figure["name"]: figure["value"] for figure in outcome.record["figures"]}
        results = outcome.record["results"]
        weak = results.get("illumination", {}).get("note")
        notes = [f"note: {note}" for note in [*results.get("same_everywhere", []), *([weak] if weak else [])]]
        if "samples summed" in figures:
            rate = f" at {figures['samples summed'] / 1e6:.0f} million samples a second" if figures["kernel"] else ""
            return [
                f"{figures['total']:.1f} s, of these {figures['kernel']:.1f} s sums over traces{rate}; "
                f"at most {figures['peak memory'] / 1e9:.2g} GB a rank",
                *notes,
            ]
        return [
            f"{figures['total']:.1f} s, of these {figures['kernel']:.1f} s time steps at "
            f"{figures['grid point updates'] / 1e6:.0f} million cells a second; "
            f"at most {figures['peak memory'] / 1e9:.2g} GB a rank",
            *notes,
        ]

    def failure(self, outcome: Outcome) -> str:
        """Shots, or blocks of traces, that are not in the image; an image of zeros."""
        if not outcome.failed:
            return outcome.nothing
        tasks = "blocks of traces" if outcome.record["results"].get("time_migration") else "shots"
        return (
            f"{len(outcome.failed)} {tasks} are not in the image (--resume --retry-failed migrates them again): "
            f"{'; '.join(outcome.failed.values())}"
        )

    def plan(self, input: Survey, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
        """What a run will cost on a machine."""
        if options["migrate_time"]:
            return _plan_of_time_migration(input, machine, options)
        from fathometer.seismic.acoustic.plan import plan_acoustic
        from fathometer.seismic.elastic.plan import plan_elastic
        from fathometer.seismic.plan import PlanRequest
        from fathometer.seismic.plan_table import lines

        plan = plan_elastic if input.propagation.physics == "elastic" else plan_acoustic
        estimate = plan(input, machine, PlanRequest.of(options))
        return CostEstimate(estimate.as_dict(), lines(estimate))

    def batch_job(self, input: Survey, program: Sequence[str], name: str | None, nodes: int, **options: Any) -> Job:
        """The job of a migration; see Application."""
        from fathometer.seismic.job import job_of

        return job_of(input, program, name, nodes, **options)

    def heading(self, record: Mapping[str, Any]) -> Heading:
        """The top of the page of a record."""
        from fathometer.seismic.page.heading import heading

        return Heading(**heading(record))

    def panels(self, record: Mapping[str, Any], path: Path) -> list[Panel]:
        """The image, a map, a gather."""
        from fathometer.seismic.page.panels import panels_of_record

        return panels_of_record(record, path)

    def probes(self) -> SeismicProbes:
        """The propagator in homogeneous models, traces, a small run."""
        from fathometer.seismic.probes import SeismicProbes

        return SeismicProbes()


def _is_elastic(path: Path, settings: Sequence[str]) -> bool:
    """Whether a survey file, right or wrong in all else, is one of elastic waves."""
    import tomllib

    from fathometer.base.errors import FathometerError
    from fathometer.base.regular_file import read_regular
    from fathometer.config.settings import with_settings

    try:
        values = with_settings(tomllib.loads(read_regular(path).decode("utf-8")), settings)
        return bool(values["propagation"]["physics"] == "elastic")
    except (OSError, ValueError, RecursionError, LookupError, TypeError, FathometerError):
        return False


def _plan_of_time_migration(input: Survey, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
    """Raises InputError for options of other plans."""
    from fathometer.base.errors import InputError
    from fathometer.seismic.kirchhoff.cost.plan import plan_time_migration
    from fathometer.seismic.kirchhoff.cost.plan_table import lines
    from fathometer.seismic.plan import PlanRequest

    for name in ("decomposition", "history"):
        if options[name] is not None:
            raise InputError(f"--{name}: found; allowed only without --migrate-time, of wave propagation")
    estimate = plan_time_migration(input, machine, PlanRequest.of(options))
    return CostEstimate(estimate.as_dict(), lines(estimate))


APPLICATION: Application = SeismicApplication()
