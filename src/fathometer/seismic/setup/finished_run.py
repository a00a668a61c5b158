"""The record and the page of a seismic run, whatever its physics: run.json, or run-unfinished.json of a run that did
not end well. What all applications tell of a run is in runs/finished_run.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.parallel.collectives import collective_errors
from fathometer.record.envelope import Figure
from fathometer.record.ranks import largest_peak, seconds
from fathometer.runs import finished_run
from fathometer.runs.application import Panel
from fathometer.runs.context import Context, Outcome
from fathometer.seismic.page.run_data import RunData
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.survey import Survey

Dead = Sequence[set[tuple[int, int]]]  # traces that ranks found dead, as (shot, receiver); ranks may share some
PanelsOf = Callable[[RunData], list[Panel]]
Figures = tuple[list[Figure], dict[str, Any]]  # of a record: its figures, and further results
Told = TypeVar("Told")


@dataclass(frozen=True, eq=False)
class SurveyRun(finished_run.KnownRun):
    """What is known of a run before its end.

    Attributes:
        decided: before the first step. conditioning: what was done to recorded traces, from the dead ones that each
            rank found.
    """

    acquisition: Acquisition
    decided: Callable[[], dict[str, Any]]
    conditioning: Callable[[Dead], dict[str, Any]]

    @classmethod
    def of(
        cls,
        survey: Survey,
        acquisition: Acquisition,
        paths: Sequence[Path],
        decided: Callable[[], dict[str, Any]],
        conditioning: Callable[[Dead], dict[str, Any]],
    ) -> SurveyRun:
        """paths: of its files beside the gathers."""
        keys = survey.resolved() | {"survey": str(survey.path)}
        files = [*paths, *acquisition.paths]
        return cls("seismic", keys, survey.output_directory, files, {}, acquisition, decided, conditioning)

    def found(self) -> set[tuple[int, int]]:
        """The dead traces that this rank found."""
        dead = self.acquisition.conditioning.dead
        return set() if dead is None else dead.detected

    def known(self, found: Dead) -> Mapping[str, Any]:
        """What was decided, and the conditioning."""
        return self.decided() | self.conditioning(found)

    def finish_with(
        self,
        shown: Callable[[Mapping[str, Path]], list[Panel]],
        files: Mapping[str, Path],
        context: Context,
        comm: MPI.Intracomm,
        gather: Callable[[], Told],
        tell: Callable[[Told, dict[str, Any]], Figures],
        reasons: Sequence[str],
    ) -> tuple[Outcome, list[Panel]]:
        """Collective. Write run.json on rank 0, see KnownRun.write; the outcome, and what its page will show.

        What the page shows of the files is read before the record is made, which so accounts for it.

        shown: the page's panels. reasons: why the results are not all, or not to be trusted.
        """
        panels: list[Panel] = []
        with ledger.phase("report"), collective_errors(comm):
            if comm.rank == 0 and context.publish is not None:
                panels = shown(files)
        return self.write(files, context, comm, gather, tell, lambda told: reasons), panels


def run_figures(
    combined: dict[str, Any],
    kernel: Sequence[str],
    of_work: Callable[[float, float], list[Figure]],
    rated_files: Sequence[str],
) -> list[Figure]:
    """The run in numbers; times are those of the slowest rank.

    kernel: phases of the work itself. of_work: figures from the seconds in all and of the kernel. rated_files: kinds
    whose rates are figures.
    """
    total, working = combined["wall_seconds"]["max"], seconds(combined, kernel)
    figures = [
        Figure("total", total, "seconds", "lower"),
        Figure("kernel", working, "seconds", "lower", "context"),
        Figure("kernel share", working / total, "1", "higher"),
        *of_work(total, working),
        Figure("peak memory", largest_peak(combined["ranks"]), "bytes", "lower"),
    ]
    for file in combined["files"]:
        if file["bytes_per_second"] and file["kind"] in rated_files:
            name = f"{file['direction']} {file['kind']}"
            figures.append(Figure(name, file["bytes_per_second"], "bytes_per_second", "higher", "context"))
    return figures
