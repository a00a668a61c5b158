"""The record and the page of a seismic run, whatever its physics: run.json, or run-unfinished.json of a run that did
not end well."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.host import peak_memory
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.record.envelope import PAGE, RECORD, Figure, record, write_record
from fathometer.record.machine import machine
from fathometer.record.ranks import account, disturbances, own_account, seconds
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
class KnownRun:
    """What is known of a run before its end.

    Attributes:
        paths: of its files; of their file systems the record tells. facts: what was decided before the first step.
        conditioning: what was done to recorded traces, from the dead ones that each rank found.
    """

    survey: Survey
    comm: MPI.Intracomm
    acquisition: Acquisition
    paths: Sequence[Path]
    facts: Callable[[], dict[str, Any]]
    conditioning: Callable[[Dead], dict[str, Any]]

    def partial_record(self, context: Context, reason: str) -> dict[str, Any]:
        """What this rank alone knows of a run that has not ended."""
        return record(
            application="seismic",
            command=context.command,
            input=self._input(),
            machine=self._machine([context.binding.as_dict()]),
            account=account([own_account(context.binding)]),
            figures=[],
            results={"files": {}} | self.facts() | self.conditioning([self._dead()]),
            reasons=[reason],
            finished=False,
        )

    def finish(
        self,
        context: Context,
        files: dict[str, Path],
        shown: Callable[[Mapping[str, Path]], list[Panel]],
        gather: Callable[[], Told],
        tell: Callable[[Told, dict[str, Any], list[int | None]], Figures],
        reasons: Sequence[str],
    ) -> tuple[Outcome, list[Panel]]:
        """Collective. Write run.json on rank 0; the outcome, and what its page will show.

        What the page shows of the files is read before the record is made, which so accounts for it.

        Args:
            files: of the results, by kind. shown: the page's panels. gather: collective; what all ranks know.
            tell: on rank 0 figures and further results, from that, the account of all ranks and their peak memories.
            reasons: why the results are not all, or not to be trusted.
        """
        comm, folder = self.comm, self.survey.output_directory
        found = {**files, "record": folder / RECORD}
        if context.publish is not None:
            found["report"] = folder / PAGE
        panels: list[Panel] = []
        with ledger.phase("report"), collective_errors(comm):
            if comm.rank == 0 and context.publish is not None:
                panels = shown(files)
        envelope: dict[str, Any] = {}
        with ledger.phase("finish"):
            peak = peak_memory()
            told = gather()
            dead = allgather(comm, self._dead())
            ranks = allgather(comm, own_account(context.binding, peak))
            with collective_errors(comm):
                if comm.rank == 0:
                    combined = account(ranks)
                    peaks = [rank["usage"]["peak_memory_bytes"] for rank in ranks]
                    figures, results = tell(told, combined, peaks)
                    envelope = record(
                        application="seismic",
                        command=context.command,
                        input=self._input(),
                        machine=self._machine([rank["binding"] for rank in ranks]),
                        account=combined,
                        figures=figures,
                        results={"files": found} | self.facts() | self.conditioning(dead) | results,
                        reasons=reasons,
                        disturbed=disturbances(ranks),
                    )
                    write_record(found["record"], envelope)
        return Outcome(found, envelope), panels

    def _input(self) -> dict[str, Any]:
        return self.survey.resolved() | {"survey": str(self.survey.path)}

    def _machine(self, bindings: list[dict[str, Any]]) -> dict[str, Any]:
        paths = [self.survey.output_directory, *self.paths, *self.acquisition.paths]
        return machine(paths) | {"ranks": self.comm.size, "binding": bindings}

    def _dead(self) -> set[tuple[int, int]]:
        """The dead traces that this rank found."""
        dead = self.acquisition.conditioning.dead
        return set() if dead is None else dead.detected


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
    peak = max(rank["usage"]["peak_memory_bytes"] or 0 for rank in combined["ranks"])
    figures = [
        Figure("total", total, "seconds", "lower"),
        Figure("kernel", working, "seconds", "lower", "context"),
        Figure("kernel share", working / total, "1", "higher"),
        *of_work(total, working),
        Figure("peak memory", peak, "bytes", "lower"),
    ]
    for file in combined["files"]:
        if file["bytes_per_second"] and file["kind"] in rated_files:
            name = f"{file['direction']} {file['kind']}"
            figures.append(Figure(name, file["bytes_per_second"], "bytes_per_second", "higher", "context"))
    return figures


def publish(comm: MPI.Intracomm, context: Context, outcome: Outcome, shown: list[Panel]) -> None:
    """Collective. Write the page of a finished run on rank 0."""
    with ledger.phase("report"), collective_errors(comm):
        if comm.rank == 0 and context.publish is not None:
            context.publish(outcome.files["report"], outcome.record, shown)
