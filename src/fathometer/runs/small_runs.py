"""Small runs of a command as users start it, again and again: what starting and ending a larger one takes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fathometer.base.errors import FathometerError
from fathometer.base.own_program import own_program
from fathometer.launch.copies import run_copies
from fathometer.plan.machine_file import RunEnds
from fathometer.record.ranks import seconds
from fathometer.runs.probes import SecondsOf

RUNS = 3  # that are counted; one before them brings the program's files into the page cache
START = ("start-up",)  # phases of a run
SETTING_UP = ("set up", "read model", "identify inputs", "read traces")

Record = Mapping[str, Any]


class _Failed(FathometerError):
    """A run has not succeeded."""


def small_runs(
    folder: Path, cpus: Sequence[int], ranks: int, words: Sequence[str], record: str, seconds_of: SecondsOf
) -> list[Record]:
    """Records of a command run several times; none where a run fails.

    Args:
        folder: where it runs. words: after `fathometer`. record: its path from the folder.
    """
    own = ",".join(map(str, sorted(cpus)))
    return [one for (one,) in copied_runs([folder], [own], [*words, "--ranks", str(ranks)], record, seconds_of)]


def copied_runs(
    folders: Sequence[Path], cpus: Sequence[str], words: Sequence[str], record: str, seconds_of: SecondsOf
) -> list[list[Record]]:
    """The same of copies that run at the same time, each in a folder and on cpus of its own: for each time their
    records, the first of them not counted."""
    command = [*own_program(), *words, "--quiet", "--overwrite"]
    found: list[list[Record]] = []

    def run() -> None:
        if not run_copies(folders, cpus, command):
            raise _Failed(" ".join(command))
        found.append([json.loads((folder / record).read_text(encoding="utf-8")) for folder in folders])

    try:
        seconds_of(run, RUNS)
    except _Failed:
        return []
    return found[1:] or found


def runs_on_each_core(
    folder: Path, cpus: Iterable[int], command: str, text: str, seconds_of: SecondsOf, together: bool = False
) -> list[Record]:
    """Records of a command on an input file whose results lie beside it, on each core at the same time: those of the
    time in which all together took least; none where a run fails.

    folder: in which they have folders of their own meanwhile. text: of the input file. together: one run with a thread
    on each core in their place.
    """
    with tempfile.TemporaryDirectory(dir=folder, prefix=".calibrate-") as name:
        own = [str(cpu) for cpu in sorted(cpus)]
        names, threads = ([",".join(own)], len(own)) if together else (own, 1)
        folders = [Path(name) / cpu for cpu in names]
        for each in folders:
            each.mkdir()
            (each / "run.toml").write_text(text, encoding="utf-8")
        words = [command, "run.toml", "--ranks", "1", "--threads", str(threads)]
        found = copied_runs(folders, names, words, "run.json", seconds_of)
    return min(found, key=lambda each: sum(one["ledger"]["wall_seconds"]["max"] for one in each), default=[])


def least_seconds(records: Sequence[Record], phases: Iterable[str]) -> float:
    """Of some phases together, in the run in which they took least."""
    names = tuple(phases)
    return min(seconds(record["ledger"], names) for record in records)


def phases_but(records: Sequence[Record], others: Iterable[str]) -> set[str]:
    """Names of the phases of some runs without others."""
    return {entry["phase"] for record in records for entry in record["ledger"]["phases"]} - set(others)


def peak_bytes(records: Sequence[Record], rank: int) -> float:
    """Of a rank, in the run in which it took least."""
    return float(min(record["results"]["peak_memory_bytes"][rank] for record in records))


def ends_of(
    command: str, records: Sequence[Record], work: Iterable[str], arrays: float, drawing: float | None
) -> RunEnds:
    """What surrounds the work of a run.

    Args:
        work: phases that are not counted. arrays: bytes of a rank of such a run. drawing: bytes of those that are still
            there when rank 0 draws pictures, for which it takes more than other ranks: of a single rank it is then not
            known what it takes before; None: it draws none.
    """
    ranks = len(records[0]["ledger"]["ranks"])
    finishing = phases_but(records, (*START, *SETTING_UP, *work))
    before = 0 if drawing is None else ranks - 1
    return RunEnds(
        command=command,
        ranks=ranks,
        start_seconds=least_seconds(records, START),
        setup_seconds=least_seconds(records, SETTING_UP),
        finish_seconds=least_seconds(records, finishing),
        process_bytes=max(0.0, peak_bytes(records, before) - arrays),
        finish_bytes=max(0.0, peak_bytes(records, 0) - (arrays if drawing is None else drawing)),
    )
