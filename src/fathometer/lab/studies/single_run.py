"""One run as it is carried out where it is: by the study itself on its host, or by a job on a node of its own.

It is told as JSON, and so is its outcome: job and study have nothing else in common than files.

    RUN'S FOLDER/spec.json      what is to be done (with jobs only)
    RUN'S FOLDER/result.json    how it ended, before figures are looked for
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from fathometer.base.errors import FathometerError
from fathometer.base.host import cpu_model
from fathometer.config.types import Strictly
from fathometer.lab.studies import page_cache
from fathometer.lab.studies.clock import STATE as CLOCK
from fathometer.lab.studies.clock import clock_set
from fathometer.lab.studies.processes import Ended, Process, adopting, end_marked, run_together
from fathometer.lab.studies.watch import Watch
from fathometer.record.envelope import plain
from fathometer.storage import atomic
from fathometer.storage.json_text import as_written, json_values

SPEC, RESULT = "spec.json", "result.json"
Cache = Literal["as it is", "warm", "cold"]


@dataclass(frozen=True)
class SingleRun:
    """What is to be done.

    Attributes:
        folder: of the run. processes: at the same time; environ: variables besides those that are there already.
        time_limit: s; None: none. inputs, page_cache: files that are read, and their state in it before the run.
        cpus: that the run asks for on this host. others: whether other work on this host is to be told: not where it
            is meant to be there, and not where the run's own processes cannot be told from it.
        clock: of the cpus, Hz; None: as it is. clock_state: the file that holds what it was (clock.py).
    """

    folder: Path
    processes: Sequence[Process]
    time_limit: Annotated[float, Strictly] | None = None
    inputs: Sequence[Path] = ()
    page_cache: Cache = "as it is"
    cpus: Annotated[int, Strictly] = 0
    others: Annotated[bool, Strictly] = True
    clock: Annotated[float, Strictly] | None = None
    clock_state: Path = Path(CLOCK)

    def as_json(self) -> bytes:
        """As `read_spec` reads it."""
        return json.dumps(plain({name: getattr(self, name) for name in self.__dataclass_fields__})).encode()


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes:
        ended: each of its processes; (): not known, see problem. marks: what was amiss with the host meanwhile.
        host, cpu: where it was. problem: why it has no end. clock: of the fastest cpu at its end, Hz; 0: not known.
    """

    ended: Sequence[Ended]
    marks: Sequence[str] = ()
    host: str = ""
    cpu: str = ""
    problem: str = field(default="", kw_only=True)
    clock: Annotated[float, Strictly] = field(default=0.0, kw_only=True)


def carry_out(run: SingleRun, watch: Watch | None = None) -> Outcome:
    """Run the processes on this host; how they ended. Raises InputError where one cannot be started.

    watch: of this host, which has seen the runs before; None: of this run alone.
    """
    watch = Watch() if watch is None else watch
    end_marked(run.folder)  # what an earlier attempt has left
    cached = [] if run.page_cache == "as it is" else page_cache.prepare(run.inputs, run.page_cache)
    processes = [replace(process, environ={**os.environ, **process.environ}) for process in run.processes]
    with clock_set(run.clock, run.clock_state):
        watch.begin()
        with adopting() if run.others else nullcontext():
            ended = run_together(processes, run.time_limit)
        clock = watch.clock()  # before the cpus rest
        marks = [*cached, *watch.marks(run.cpus, not run.others)]
    return Outcome(ended, marks, socket.gethostname(), cpu_model() or "", clock=clock)


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """Keep an outcome in a run's folder. Raises FathometerError where it cannot be written."""
    atomic.write(folder / RESULT, json.dumps(plain(asdict(outcome))).encode())


def outcome_in(folder: Path, parts: int | None = None) -> Outcome | None:
    """The outcome of the run in a folder; None where it has none, or none of so many parts."""
    with suppress(OSError, ValueError):
        os.listdir(folder)  # a folder that another host writes to is looked up anew only when it is read
        outcome = as_written(Outcome, json_values((folder / RESULT).read_bytes()))
        outcome = replace(outcome, marks=tuple(outcome.marks))
        if parts is None or outcome.problem or len(outcome.ended) == parts:
            return outcome
    return None


def read_spec(path: Path) -> SingleRun:
    """What a run's spec.json says. Raises FathometerError where it cannot be read."""
    try:
        return as_written(SingleRun, json_values(path.read_bytes()))
    except (OSError, ValueError) as error:
        raise FathometerError(f"{path}: cannot be read: {error}") from None
