"""The physics of surveys by name, and what commands, plans, pages and benchmarks ask of it: none asks which one it is.

To add one is an entry of PHYSICS. Its functions are named as "module:function" and imported when they are asked for:
this module is read in every process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from fathometer.base import ledger
from fathometer.base.references import referred
from fathometer.runs.application import CostEstimate, Heading, Panel

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.parallel.threads import Binding, ThreadCounts
    from fathometer.plan.machine_file import Machine, Rate
    from fathometer.runs.context import Context, Outcome
    from fathometer.runs.probes import SecondsOf
    from fathometer.seismic.cut_work import MakeWave
    from fathometer.seismic.survey import Survey


class PhysicsProbes(Protocol):
    """What benchmarks of a machine measure of a physics: see Probes."""

    def step_rates(self, threads: ThreadCounts, seconds_of: SecondsOf, say: Callable[[str], None]) -> Iterable[Rate]:
        """Rates of its time steps."""
        ...

    def shared_waves(self) -> Mapping[str, MakeWave]:
        """By equation, what makes a wavefield at rest that ranks share: see cut_work.py."""
        ...

    def machine_figures(
        self, folder: Path, threads: ThreadCounts, binding: Binding, seconds_of: SecondsOf, say: Callable[[str], None]
    ) -> Iterable[dict[str, Any]]:
        """Its other entries of a machine file."""
        ...


class PicksFiles(Protocol):
    """What reads velocity picks, as texts."""

    def is_picks_file(self, reference: str) -> bool:
        """Whether a file is one, by its name."""
        ...

    def read_picks(self, path: Path) -> Any:
        """The picks; InputError for anything else."""
        ...


@dataclass(frozen=True)
class Physics:
    """A physics of surveys.

    Attributes:
        name: of waves as in [propagation] physics. drivers: by the commands that it runs.
        plan_of: what a run will cost, from survey, machine and options. heading_of, panels_of: of a page, from a
            record, and from a run's data. probes_in: module that satisfies PhysicsProbes.
        own: a survey as runs take it; "": as it is. picks_in: module of its velocity picks; "": it takes none.
        task, tasks: what a run does one after another. work: what its kernel does. rate: the figure of that, in `units`
            a second.
    """

    name: str
    drivers: Mapping[str, str]
    plan_of: str
    heading_of: str
    panels_of: str
    probes_in: str
    own: str = ""
    picks_in: str = ""
    task: str = "shot"
    tasks: str = "shots"
    work: str = "time steps"
    rate: str = "grid point updates"
    units: str = "cells"

    def driver(self, command: str) -> Callable[[Survey, MPI.Intracomm, Context], Outcome]:
        """The collective function that runs a command; its module is imported."""
        with ledger.phase("set up"):
            run: Callable[[Survey, MPI.Intracomm, Context], Outcome] = referred(self.drivers[command])
        return run

    def own_survey(self, survey: Survey) -> Survey:
        """The survey as its runs take it."""
        taken: Survey = referred(self.own)(survey) if self.own else survey
        return taken

    def picks(self) -> PicksFiles:
        """What reads its velocity picks."""
        module: Any = import_module(self.picks_in)
        picks: PicksFiles = module
        return picks

    def plan(self, survey: Survey, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
        """What a run will cost: see Application. Raises InputError."""
        estimate: CostEstimate = referred(self.plan_of)(survey, machine, options)
        return estimate

    def heading(self, record: Mapping[str, Any]) -> Heading:
        """The top of the page of a record."""
        heading: Heading = referred(self.heading_of)(record)
        return heading

    def panels(self, record: Mapping[str, Any], path: Path) -> list[Panel]:
        """The panels of the run with the record in the file `path`, from the files that it names, as far as they
        exist."""
        from fathometer.seismic.page.panels import panels_of_record

        return panels_of_record(record, path, referred(self.panels_of))

    def probes(self) -> PhysicsProbes:
        """What benchmarks of a machine measure of it."""
        probes: Any = import_module(self.probes_in)
        found: PhysicsProbes = probes
        return found


_ALL = (
    Physics(
        "acoustic",
        {
            "model": "fathometer.seismic.modelling.driver:run_model",
            "migrate": "fathometer.seismic.rtm.driver:run_migrate",
        },
        "fathometer.seismic.acoustic.plan:estimate_acoustic",
        "fathometer.seismic.page.heading:heading",
        "fathometer.seismic.page.panels:panels",
        "fathometer.seismic.acoustic.probes",
    ),
    Physics(
        "kirchhoff",
        {"migrate-time": "fathometer.seismic.kirchhoff.driver:run_migrate_time"},
        "fathometer.seismic.kirchhoff.cost.plan_table:estimate_time_migration",
        "fathometer.seismic.page.time_heading:time_heading",
        "fathometer.seismic.page.time_panels:time_panels",
        "fathometer.seismic.kirchhoff.probes",
        own="fathometer.seismic.kirchhoff.time_layout:in_own_folder",
        picks_in="fathometer.seismic.kirchhoff.velocities.picks_file",
        task="block",
        tasks="blocks of traces",
        work="sums over traces",
        rate="samples summed",
        units="samples",
    ),
    Physics(
        "elastic",
        {"model": "fathometer.seismic.elastic.driver:run_elastic"},
        "fathometer.seismic.elastic.plan:estimate_elastic",
        "fathometer.seismic.elastic.page:heading",
        "fathometer.seismic.elastic.page:panels",
        "fathometer.seismic.elastic.probes",
    ),
)
PHYSICS: Mapping[str, Physics] = MappingProxyType({physics.name: physics for physics in _ALL})


def of_command(command: str, waves: str = "") -> Physics:
    """The physics that runs a command on a survey of some waves ([propagation] physics): theirs, if it can; else the
    first one that can, whose driver says what is wrong."""
    able = {name: physics for name, physics in PHYSICS.items() if command in physics.drivers}
    return able.get(waves) or next(iter(able.values()))


def of_record(record: Mapping[str, Any]) -> Physics:
    """The physics of the run with this record."""
    if record["results"].get("time_migration"):
        return PHYSICS["kirchhoff"]
    waves = str(record["input"].get("propagation", {}).get("physics"))
    return PHYSICS.get(waves, PHYSICS["acoustic"])
