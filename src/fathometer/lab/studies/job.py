"""Inside a job: its runs, one after another.

    python -m fathometer.lab.studies.job STUDY_FOLDER RUN_FOLDER...

Slurm tells a job that it is to end (cancelled, out of time, pre-empted) by SIGTERM to all its processes. The run under
way has no outcome then: how its command ended says nothing of the command.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType

from fathometer.base.errors import FathometerError
from fathometer.lab.studies.single_run import SPEC, Outcome, carry_out, outcome_in, read_spec, write_outcome
from fathometer.lab.studies.store import MACHINE
from fathometer.record.envelope import plain
from fathometer.record.machine_of_runs import machine_of_runs
from fathometer.storage import atomic
from fathometer.storage.json_text import json_values

TOLD_SECONDS = 1.0  # in which SIGTERM reaches this process when it has ended the command


def main(words: Sequence[str]) -> None:
    """Make the runs whose folders are given, but those that have ended; a run that fails does not end the job."""
    study, *folders = map(Path, words)
    signal.signal(signal.SIGTERM, _end)
    if not (study / MACHINE).exists():
        # A description that fails must not cost the runs: the study has that of its own host then.
        with suppress(FathometerError):
            atomic.write(study / MACHINE, json.dumps(plain(machine_of_runs())).encode())
    for folder in folders:
        if outcome_in(folder) is None:
            write_outcome(folder, _outcome(folder, study / MACHINE))


def _outcome(folder: Path, machine: Path) -> Outcome:
    """Of the run in a folder; marked where it was made on another kind of processor than the study's first one."""
    try:
        outcome = carry_out(read_spec(folder / SPEC))
    except FathometerError as error:  # and InputError
        return Outcome((), problem=str(error))
    if any(end.code for end in outcome.ended):
        time.sleep(TOLD_SECONDS)
    with suppress(OSError, ValueError, KeyError, TypeError):
        first = json_values(machine.read_bytes())["cpu"]
        if first != outcome.cpu:
            return replace(outcome, marks=[*outcome.marks, f"on another processor: {outcome.cpu}, not {first}"])
    return outcome


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    main(sys.argv[1:])
