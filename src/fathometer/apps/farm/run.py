"""The run of a farm: made ready, done by masters, workers and writers, told of.

set up             the folder is locked; tasks are counted, files identified; what is done is read from the results
do tasks           the ranks' masters hand tasks to their workers, whose results go to the writers
finish             record and page
"""

from __future__ import annotations

import os
import resource
import secrets
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.apps.farm import journal
from fathometer.apps.farm.blocks import ENTRY
from fathometer.apps.farm.children import INTERRUPTED, Child
from fathometer.apps.farm.farm_file import FarmFile, FastaTasks
from fathometer.apps.farm.framing import framing_of
from fathometer.apps.farm.hand_out import TaskGroup
from fathometer.apps.farm.inputs import database_files, files_of, fingerprint, states_of
from fathometer.apps.farm.links import connected, network
from fathometer.apps.farm.measures import figures_of, results_of
from fathometer.apps.farm.node_master import NodeMaster
from fathometer.apps.farm.page import missing, panels_of
from fathometer.apps.farm.samples import SCRATCH, described, measured_queries
from fathometer.apps.farm.sources import Group, Places, groups_of
from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.owned_folder import owned_folder
from fathometer.base.progress import Progress
from fathometer.base.signals import between_steps
from fathometer.parallel.collectives import allgather, allreduce, barrier, collective_errors
from fathometer.parallel.threads import ThreadCounts
from fathometer.record.envelope import Figure
from fathometer.runs.context import Context, Outcome
from fathometer.runs.finished_run import KnownRun
from fathometer.runs.lifecycle import remove_record
from fathometer.runs.restart_hint import END_SECONDS
from fathometer.runs.restartable_run import restartable_run
from fathometer.storage.fingerprint import FileState
from fathometer.storage.hashing import Hashing, require_unchanged

if TYPE_CHECKING:
    from mpi4py import MPI

HANDLES, MORE_HANDLES = 3, 128  # open files of a master or a writer: for each worker, and beside them


@dataclass
class Prepared:
    """A farm made ready on rank 0.

    Attributes:
        groups: its tasks. states: of the files that it reads. set_aside: numbers of tasks that are not tried again.
        farm: its number. finished: tasks that earlier runs had finished, on the device or not. measured: of the number
        of queries of a task, by the tasks' name: sequences of a sample, and seconds for each.
    """

    groups: list[Group]
    states: list[FileState]
    set_aside: dict[int, str]
    finished: int
    farm: int
    measured: dict[str, list[tuple[int, float]]]


def run_farm(input: FarmFile, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Do the tasks of an input; their results and the record are on disk afterwards.

    Raises InputError and FathometerError, the same on all ranks.
    """
    output, folder = input.output_directory, input.output_directory / journal.FOLDER
    with ledger.phase("set up"), collective_errors(comm):
        files = list(files_of(input).values())
    keys = input.resolved() | {"farm_file": str(input.path)}
    run = KnownRun("farm", keys, output, files, {})
    with ExitStack() as stack:
        stack.enter_context(
            restartable_run(
                files,
                output,
                (),
                (journal.FOLDER,),
                partial(run.partial_record, context),
                comm,
                context,
                journal.has_farm,
            )
        )
        farm = _Farm(input, folder, comm, context, stack)
        farm.make_scratch()
        prepared = farm.prepare(files)
        with between_steps(END_SECONDS) as asked_to_end:
            master, nodes = farm.work(prepared, asked_to_end)
        with ledger.phase("finish"), collective_errors(comm):
            if prepared is not None:
                require_unchanged(prepared.states)
        return _finish(run, folder, context, comm, prepared, master, nodes)


class _Farm:
    """A farm on a rank; methods are collective. stack: of what is open until the end."""

    def __init__(self, input: FarmFile, folder: Path, comm: MPI.Intracomm, context: Context, stack: ExitStack) -> None:
        self._input, self._folder, self._comm, self._context, self._stack = input, folder, comm, context, stack
        binding = context.binding
        self._cpus = [] if binding.oversubscribed else list(binding.cpus)
        self._workers = input.farm.workers or max(1, len(binding.cpus))

    def prepare(self, files: Sequence[Path]) -> Prepared | None:
        """Identify the files, count the tasks, and look whether the results that are there are of the same tasks. On
        rank 0 what is ready, None on the others."""
        comm, options = self._comm, self._context.options
        workers = allreduce(comm, self._workers, "SUM")
        before: dict[str, Any] = {}
        with ledger.phase("set up"), collective_errors(comm):
            if comm.rank == 0:
                if options.resume and journal.has_farm(self._folder.parent):
                    before = journal.read_farm(self._folder)
                elif options.resume:
                    self._context.say("nothing to resume: begins anew")
        states = self._identified(files, before.get("files", {}))
        prepared: Prepared | None = None
        with collective_errors(comm):
            if comm.rank == 0:
                prepared = self._ready(states, before, workers)
        return prepared

    def _identified(self, files: Sequence[Path], earlier: Mapping[str, Any]) -> list[FileState]:
        """The files with their hashes, on all ranks."""
        comm = self._comm
        known: list[FileState] = []
        unknown: list[FileState] = []
        with ledger.phase("set up"):
            with collective_errors(comm):
                if comm.rank == 0:
                    known, unknown = states_of(files, earlier)
            unknown = comm.bcast(unknown)
        threads = ThreadCounts(1, 1, max(1, len(self._cpus)), tuple(self._cpus))
        with Hashing(unknown, comm, threads) as hashing:
            return known + hashing.results()

    def _ready(self, states: list[FileState], before: Mapping[str, Any], workers: int) -> Prepared:
        """On rank 0: the tasks, and the folder of the results."""
        input, folder, options = self._input, self._folder, self._context.options
        queries: dict[str, int] = dict(before.get("queries", {}))
        measured: dict[str, list[tuple[int, float]]] = {}

        def queries_of(table: FastaTasks, begins: Places, ends: Places) -> int:
            if table.name not in queries:
                with ledger.phase("measure tasks"):
                    found = measured_queries(input, table, begins, ends, workers)
                queries[table.name], measured[table.name] = found
                self._context.say(f"{table.name}: {queries[table.name]} sequences a task")
            return queries[table.name]

        with ledger.phase("set up"):
            groups = groups_of(input, queries_of)
            now = fingerprint(input, {state.path: state for state in states}, queries)
            set_aside: dict[int, str] = {}
            if before:
                journal.require_same(folder, before["fingerprint"], now)
                if options.retry_failed:
                    journal.forget_set_aside(folder)
                set_aside = journal.set_aside_in(folder)
            else:
                journal.require_own(folder)
                journal.erase(folder)
            _make(folder)
            farm = int(before.get("number", secrets.randbits(63)))
            journal.write_farm(
                folder,
                {
                    "fingerprint": now,
                    "files": {state.path: state.as_dict() for state in states},
                    "queries": queries,
                    "number": farm,
                    "tasks": [_told_of(group) for group in groups],
                    "compression": input.output.compression,
                },
            )
            journal.write_queries(folder, np.concatenate([group.names for group in groups]))
            return Prepared(groups, states, set_aside, journal.finished_in(folder), farm, measured)

    def work(self, prepared: Prepared | None, ends: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Do the tasks: what the application master told, on rank 0, and what all nodes told.

        Raises KeyboardInterrupt at the end of a run that a signal has ended.
        """
        comm, rank = self._comm, self._comm.rank
        master: Child | None = None
        node: NodeMaster | None = None
        token = comm.bcast(secrets.token_hex(8))
        try:
            one_host = len(set(allgather(comm, network()))) == 1
            key = secrets.token_bytes(32)
            with ledger.phase("open results"):
                if prepared is not None:
                    master = self._application_master(prepared, key, one_host)
                setup = comm.bcast(described(self._input, prepared.groups) if prepared is not None else None)
                farm = comm.bcast(prepared.farm if prepared is not None else 0)
                scratch = self._scratch
                with collective_errors(comm):
                    setup |= {"scratch": str(scratch)}
                    setup["groups"] = self._with_databases(setup["groups"], scratch)
                    node = self._node(setup, farm, token, ends)
            link = self._linked(master, key)
            remove_record(self._folder.parent, comm)
            barrier(comm)
            total = sum(group.count for group in prepared.groups) if prepared is not None else 1
            with (
                Progress(
                    total,
                    now=ledger.now,
                    rank=rank,
                    quiet=self._context.quiet,
                    label="farm",
                    task="task",
                    unit="tasks",
                ) as display,
                ledger.phase("do tasks"),
                ledger.idle(),
            ):
                told: list[dict[str, Any]] = []  # by the application master, at its end
                more = None if master is None else master.control
                try:
                    reason = node.run(link, partial(self._hear, master, display, told), more)
                    while master is not None and not told:
                        self._hear(master, display, told)
                except FathometerError as error:  # told to the other ranks below
                    reason = str(error)
            link.close()
            reasons = allgather(comm, reason)
            if INTERRUPTED in reasons:
                raise KeyboardInterrupt
            for reason in filter(None, reasons):
                raise FathometerError(reason)
            return told[0] if told else {}, allgather(comm, node.told.as_dict())
        finally:
            if node is not None:
                node.end()
            if master is not None:
                master.kill()

    def make_scratch(self) -> None:
        """Make this node's folder of temporary files. Raises InputError on all ranks."""
        with ledger.phase("set up"), collective_errors(self._comm):
            self._scratch = self._made_scratch()

    def _made_scratch(self) -> Path:
        place = self._input.scratch
        try:
            return self._stack.enter_context(owned_folder(place, SCRATCH))
        except OSError as error:
            raise InputError(
                f"{self._input.path}: [farm] scratch: {place}: no folder can be made there: {error.strerror}"
            ) from None

    def _with_databases(self, groups: Sequence[dict[str, Any]], scratch: Path) -> list[dict[str, Any]]:
        """The groups with the places of databases on this node, which are read or copied where that is asked for."""
        how = self._input.farm.database_at
        found = []
        for group, table in zip(groups, self._input.tasks, strict=True):
            if isinstance(table, FastaTasks) and table.database is not None and how != "place":
                group = group | {"database": self._brought(table, scratch, how)}
            found.append(group)
        return found

    def _brought(self, table: FastaTasks, scratch: Path, how: str) -> str:
        assert table.database is not None, "the caller has looked"
        place = self._input.place(table.database)
        target = scratch / f"database-{table.name}"
        try:
            for path in database_files(self._input, table):
                with ledger.file("database", "read"), ledger.io(bytes=path.stat().st_size):
                    if how == "copied":
                        target.mkdir(exist_ok=True)
                        shutil.copyfile(path, target / path.name)
                    else:
                        with path.open("rb") as file:
                            while file.read(1 << 24):
                                pass
        except OSError as error:
            raise FathometerError(f"{place}: cannot be {how}: {error.strerror or error}") from None
        return str(target / place.name) if how == "copied" else table.database

    def _node(self, setup: dict[str, Any], farm: int, token: str, ends: Any) -> NodeMaster:
        """This node's master, with its writer, and with what is done in files of nodes that are no more."""
        rank, comm, output = self._comm.rank, self._comm, self._input.output
        _require_handles(HANDLES * self._workers + MORE_HANDLES)
        path = journal.node_file(self._folder, rank, output.framing)
        keys = output.model_dump()
        writer = Child(
            "writer", f"writer of node {rank}", {"output": keys, "path": str(path), "farm": farm}, cpus=self._cpus
        )
        node = NodeMaster(
            rank, self._workers, self._cpus, self._input.farm.levels == "flat", setup, token, writer, ends, comm.size
        )
        names = [journal.node_file(self._folder, n, output.framing) for n in range(comm.size)]
        others = [one for one in journal.node_files(self._folder) if one not in names]
        framing = framing_of(keys, farm)
        for other in others[rank :: comm.size]:
            try:
                handle = os.open(other, os.O_RDONLY)
                try:
                    rows, _ = framing.found(handle)
                finally:
                    os.close(handle)
            except OSError as error:
                raise FathometerError(f"{other}: cannot be read: {error.strerror}") from None
            node.found += b"".join(entries[::ENTRY].tobytes() for _, entries in rows)
        return node

    def _linked(self, master: Child | None, key: bytes) -> Connection:
        """The connection with the application master, which runs beside rank 0."""
        comm = self._comm
        told: Any = None
        with ledger.phase("open results"):
            with collective_errors(comm):
                if master is not None:
                    try:
                        told = master.control.recv(), key
                    except (EOFError, OSError):
                        raise FathometerError(f"the application master has ended ({master.ended()})") from None
            places, key = comm.bcast(told)
            with collective_errors(comm):
                return connected(places, key)

    def _application_master(self, prepared: Prepared, key: bytes, one_host: bool) -> Child:
        names = [group.table.name for group in prepared.groups]
        groups = [
            TaskGroup(
                group.first,
                group.count,
                group.table.priority,
                group.priorities,
                [names.index(name) for name in group.table.after],
                group.before,
                group.table.tries,
            )
            for group in prepared.groups
        ]
        setup = {
            "groups": groups,
            "places": [(group.begins, group.ends) for group in prepared.groups],
            "nodes": self._comm.size,
            "key": key,
            "one_host": one_host,
            "flat": self._input.farm.levels == "flat",
            "set_aside": list(prepared.set_aside),
            "output": self._folder,
        }
        return Child("application_master", "application master", setup, cpus=self._cpus)

    def _hear(self, master: Child | None, display: Progress, told: list[dict[str, Any]]) -> None:
        """On rank 0: how far it is, or what it tells at its end."""
        assert master is not None, "only rank 0 hears it"
        message = None
        with suppress(EOFError, OSError):
            message = master.control.recv() if master.control.poll(END_SECONDS) else None
        if message is None:
            raise FathometerError(
                f"the application master has ended ({master.ended()}); --resume goes on with what is written"
            )
        if message[0] == "progress":
            display.reached(message[1])
        else:
            told.append(message[1])
            display.reached(message[1].get("done", 0))


def _require_handles(count: int) -> None:
    """Raises FathometerError where this process and those that it starts may not open so many files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < count:
        if hard != resource.RLIM_INFINITY and hard < count:
            raise FathometerError(f"[farm] workers: a process may open {hard} files here; needed for so many: {count}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


def _make(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FathometerError(f"{folder}: cannot be made: {error.strerror}") from None


def _told_of(group: Group) -> dict[str, Any]:
    keys = ("name", "kind")
    return {key: getattr(group.table, key) for key in keys} | {
        "first": group.first,
        "count": group.count,
        "queries": group.queries,
        "sequences": group.sequences,
    }


def _finish(
    run: KnownRun,
    folder: Path,
    context: Context,
    comm: MPI.Intracomm,
    prepared: Prepared | None,
    master: Mapping[str, Any],
    nodes: Sequence[Mapping[str, Any]],
) -> Outcome:
    """Collective. Write the record and the page."""

    def gather() -> dict[str, Any]:
        if prepared is None:
            return {}
        lost = max(0, prepared.finished - master["done_before"])
        aside = journal.set_aside_in(folder)
        return results_of(master, nodes) | {
            "computed_again": lost if context.options.resume else 0,
            "measured_queries": prepared.measured,
            "groups": [_told_of(group) for group in prepared.groups],
            "set_aside_reasons": [[n, aside.get(n, "")] for n in master["set_aside"]],
        }

    def tell(told: dict[str, Any], account: dict[str, Any]) -> tuple[list[Figure], dict[str, Any]]:
        return figures_of(told, account), told

    def doubts(told: Mapping[str, Any]) -> list[str]:
        counts = told["tasks"]
        missing = counts["set_aside_count"] + counts["not_begun"]
        return [f"{missing} of {counts['tasks']} tasks have no result"] if missing else []

    files = {"results": folder}
    outcome = run.finish(files, context, comm, gather, tell, lambda record, _: panels_of(record), doubts)
    return replace(outcome, nothing=comm.bcast(missing(outcome.record["results"]) if outcome.record else ""))
