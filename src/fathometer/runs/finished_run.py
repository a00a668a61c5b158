"""The record and the page of a run: what is known before its end, and what all ranks tell then."""

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
from fathometer.record.ranks import account, disturbances, own_account
from fathometer.runs.application import Panel
from fathometer.runs.context import Context, Outcome

Told = TypeVar("Told")


@dataclass(frozen=True, eq=False)
class KnownRun:
    """What is known of a run before its first step.

    Attributes:
        application: its name. input: its keys, JSON-ready. output: folder of the results.
        input_files: that it reads; of their file systems, and the output's, the record tells.
        facts: results that do not depend on its end.

    A subclass may know more during the run: `found` is what a rank tells of its own, and `known` makes results of it.
    """

    application: str
    input: Mapping[str, Any]
    output: Path
    input_files: Sequence[Path]
    facts: Mapping[str, Any]

    def found(self) -> Any:
        """What this rank alone has found by now."""

    def known(self, found: Sequence[Any]) -> Mapping[str, Any]:
        """Results that do not depend on how the run ends. found: by each of the ranks that are known."""
        return self.facts

    def partial_record(self, context: Context, reason: str) -> dict[str, Any]:
        """What this rank alone knows of a run that has not ended."""
        return record(
            application=self.application,
            command=context.command,
            input=self.input,
            machine=self._machine([context.binding.as_dict()], MPI.COMM_WORLD.size),
            account=account([own_account(context.binding)]),
            figures=[],
            results={"files": {}} | dict(self.known([self.found()])),
            reasons=[reason],
            finished=False,
        )

    def finish(
        self,
        files: Mapping[str, Path],
        context: Context,
        comm: MPI.Intracomm,
        gather: Callable[[], Told],
        tell: Callable[[Told, dict[str, Any]], tuple[list[Figure], dict[str, Any]]],
        panels_of: Callable[[Mapping[str, Any], Path], list[Panel]],
        doubts_of: Callable[[Told], Sequence[str]] = lambda told: (),
    ) -> Outcome:
        """Collective. Write run.json, and then the page, on rank 0.

        panels_of: the page's panels, from the record and its folder. All else: see `write`.
        """
        outcome = self.write(files, context, comm, gather, tell, doubts_of)
        publish(comm, context, outcome, lambda: panels_of(outcome.record, self.output))
        return outcome

    def write(
        self,
        files: Mapping[str, Path],
        context: Context,
        comm: MPI.Intracomm,
        gather: Callable[[], Told],
        tell: Callable[[Told, dict[str, Any]], tuple[list[Figure], dict[str, Any]]],
        doubts_of: Callable[[Told], Sequence[str]] = lambda told: (),
    ) -> Outcome:
        """Collective. Write run.json on rank 0.

        Args:
            files: of the results, by kind. gather: collective; what all ranks know of the results.
            tell: on rank 0, figures and results, from that and the account of all ranks.
            doubts_of: why the results are not all, or not to be trusted, from what all ranks know.
        """
        written = {**files, "record": self.output / RECORD}
        if context.publish is not None:
            written["report"] = self.output / PAGE
        envelope: dict[str, Any] = {}
        with ledger.phase("finish"):
            peak = peak_memory()
            told = gather()
            every = allgather(comm, (self.found(), own_account(context.binding, peak)))
            with collective_errors(comm):
                if comm.rank == 0:
                    ranks = [rank for _, rank in every]
                    combined = account(ranks)
                    figures, results = tell(told, combined)
                    known = self.known([found for found, _ in every])
                    peaks = [rank["usage"]["peak_memory_bytes"] for rank in ranks]
                    envelope = record(
                        application=self.application,
                        command=context.command,
                        input=self.input,
                        machine=self._machine([rank["binding"] for rank in ranks], comm.size),
                        account=combined,
                        figures=figures,
                        results={"files": written} | dict(known) | results | {"peak_memory_bytes": peaks},
                        reasons=doubts_of(told),
                        disturbed=disturbances(ranks),
                    )
                    write_record(written["record"], envelope)
        return Outcome(written, envelope)

    def _machine(self, bindings: list[dict[str, Any]], ranks: int) -> dict[str, Any]:
        """bindings: of the ranks that are known, of so many."""
        return machine([self.output, *self.input_files]) | {"ranks": ranks, "binding": bindings}


def publish(comm: MPI.Intracomm, context: Context, outcome: Outcome, panels: Callable[[], list[Panel]]) -> None:
    """Collective. Write the page of a finished run on rank 0, where there is to be one."""
    with ledger.phase("report"), collective_errors(comm):
        if comm.rank == 0 and context.publish is not None:
            context.publish(outcome.files["report"], outcome.record, panels())
