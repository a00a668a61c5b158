"""What modelled traces depend on: what must be the same for --resume to go on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fathometer import __version__
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.threads import thread_counts
from fathometer.runs.context import Context
from fathometer.seismic.setup.fingerprint import geometry
from fathometer.seismic.setup.input_files import named_files
from fathometer.seismic.setup.setup import Setup
from fathometer.storage.fingerprint import FileState
from fathometer.storage.hashing import Hashing

# Sections of the survey that change how traces are computed and where they go, not what they are.
NOT_COMPARED = ("output", "parallel", "threads", "tuning", "storage", "history", "imaging", "time_migration")


def depends_on(setup: Setup, context: Context) -> dict[str, Any]:
    """Collective. Keys, files by their hashes, and the geometry, JSON-ready.

    Raises InputError or FathometerError on all ranks where a file cannot be read.
    """
    survey, comm = setup.survey, setup.comm
    states: list[FileState] = []
    with collective_errors(comm):
        threads = thread_counts(survey.threads.model_dump(), context.binding, "[threads]")
        if comm.rank == 0:
            states = [FileState.of(path) for path in _files(setup)]
    states = comm.bcast(states)
    with Hashing(states, comm, threads) as hashing:
        states = hashing.results()
    keys = {name: values for name, values in survey.resolved().items() if name not in NOT_COMPARED}
    return {
        "version": __version__,
        "survey": keys,
        "inputs": words_by_name(states),
        "shots": geometry(setup.acquisition),
    }


def words_by_name(states: Sequence[FileState]) -> dict[str, str]:
    """Size and hash of each file by its name, so that a survey can be moved; several of one name are numbered."""
    words, seen = dict[str, str](), Counter[str]()
    for state in states:
        name = Path(state.path).name
        seen[name] += 1
        words[name if seen[name] == 1 else f"{name} ({seen[name]})"] = state.words
    return words


def _files(setup: Setup) -> list[Path]:
    """All files that the run reads, but the survey, whose keys are compared."""
    survey = setup.survey
    named = [path for path in named_files(survey).values() if path != survey.path]
    return list(dict.fromkeys([*named, *(path for paths in setup.files.inputs().values() for path in paths)]))
