"""What the results of a survey depend on: what must be the same for shots of two runs to be put together.

Whole files, such as those of the model, are hashed while the model is read, unless nobody has touched them since an
earlier run. Traces are hashed task by task, as they are migrated, in the journal's lines; of a file that was touched
since, those of the tasks in the journal are read and hashed again when a run is resumed. Of an index all that is read
from it counts: the places, files and traces of the shots.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from mpi4py import MPI

from fathometer import __version__
from fathometer.base import ledger
from fathometer.base.errors import FathometerError
from fathometer.parallel.collectives import allgather, collective_errors
from fathometer.parallel.threads import thread_counts
from fathometer.runs.context import Context
from fathometer.runs.run_input import RunInput
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.shots.offsets import receivers_by_bin
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import Survey
from fathometer.storage.fingerprint import FileState, changed_meanwhile, hash_of_all, lasting
from fathometer.storage.hashing import KIND, PHASE, Hashing, require_unchanged

MOST_NAMED = 3  # shots in a message
Tasks = Mapping[int, Sequence[Shot]]  # the shots of each task, by its number
Uses = Mapping[str, Sequence[Path]]  # by use: the files, the one first that the survey names
Named = dict[str, list[tuple[str, str]]]  # by use: (name in the fingerprint, path) of each file


class SurveyInput:
    """The files of a survey's run and their hashes (runs.run_input.InputFiles); a context manager: it ends the hashing.

        with SurveyInput(survey, compared, comm, context, earlier) as inputs:
            ... inputs.begin(acquisition, tasks, uses) before the model is read, inputs.finish() afterwards

    Args:
        compared: what of the survey the results depend on, JSON-ready.
        earlier: on rank 0, RunInput.files of the run that is resumed; empty: none.
    """

    def __init__(
        self,
        survey: Survey,
        compared: Mapping[str, Any],
        comm: MPI.Intracomm,
        context: Context,
        earlier: Mapping[str, Any],
    ) -> None:
        self._survey, self._compared, self._comm, self._context = survey, compared, comm, context
        self._earlier = _known(earlier.get("whole", ()))
        self._tasks: Tasks = {}
        self._accepted: dict[int, str] = {}  # by task: traces in place of those that were migrated
        self._names: Named = {}
        self._states: dict[str, FileState] = {}  # by path; of whole files, on rank 0
        self._traces: list[FileState] = []  # on rank 0
        self._acquisition: Acquisition | None = None
        self._hashing: Hashing | None = None
        self._hashed: list[FileState] = []
        self._verified = 0

    def begin(self, acquisition: Acquisition, tasks: Tasks, uses: Callable[[], Uses]) -> None:
        """Collective. Look at all files, and begin to hash those that are not known to be untouched.

        tasks: the shots of each. uses: finds the files that count whole, on rank 0.
        """
        survey = self._survey
        self._acquisition, self._tasks = acquisition, tasks
        waiting: list[FileState] = []
        with ledger.phase(PHASE):
            with collective_errors(self._comm):
                threads = thread_counts(survey.threads.model_dump(), self._context.binding, "[threads]")
                if self._comm.rank == 0:
                    self._names = _names(uses())
                    paths = dict.fromkeys(path for files in self._names.values() for _, path in files)
                    for path in paths:
                        self._states[path] = self._state_of(path)
                    waiting = [state for state in self._states.values() if not state.hash]
                    self._traces = _looked_at(acquisition.paths)
            with ledger.communication():
                waiting = self._comm.bcast(waiting)
            self._hashing = Hashing(waiting, self._comm, threads)

    def _state_of(self, path: str) -> FileState:
        """A file as it is now, with the hash of an earlier look where nobody has touched it since."""
        state, earlier = FileState.of(Path(path), required=False), self._earlier.get(path)
        return earlier if earlier is not None and earlier.hash and state.untouched_since(earlier) else state

    def finish(self) -> None:
        """Collective. Wait for the hashes. Raises FathometerError on all ranks where a file has changed meanwhile."""
        assert self._hashing is not None
        self._hashed = self._hashing.results()
        self._states |= {state.path: state for state in self._hashed}
        self._require_whole()

    def _require_whole(self) -> None:
        with ledger.phase(PHASE), collective_errors(self._comm):
            if self._comm.rank == 0:
                require_unchanged(list(self._states.values()))

    def require_unchanged(self, inputs: Mapping[int, str]) -> None:
        """Collective. Raises FathometerError on all ranks where whole files are no longer what was hashed, or the
        traces of a task in the journal what was migrated; inputs: of these. Shots on windows of the model have read it
        until their end."""
        self._require_whole()
        changed = self._changed(self._traces, inputs, FileState.same_as)
        with collective_errors(self._comm):
            if changed:
                raise FathometerError(f"{changed[0]}; needed: inputs that stay as they are")

    def require_recordings(self) -> None:
        """Collective. Raises FathometerError on all ranks where a file of recorded gathers is no longer the one whose
        headers were read."""
        with ledger.phase(PHASE), collective_errors(self._comm):
            for before in self._traces:
                path = Path(before.path)
                if not FileState.of(path, required=False).same_as(before):
                    raise FathometerError(f"{changed_meanwhile(path)}; --resume goes on with the shots that are done")

    def now(self) -> RunInput:
        """Keys, files by their hashes and geometry; states of the files."""
        assert self._acquisition is not None
        fingerprint: dict[str, Any] = {"version": __version__, "survey": self._compared}
        for use, named in self._names.items():
            fingerprint[use] = {name: self._states[path].words for name, path in named}
        fingerprint["shots"] = geometry(self._acquisition)
        states = [state.as_dict() for state in self._states.values()]
        files: dict[str, Any] = {"whole": states, "traces": [state.as_dict() for state in self._traces]}
        if self._accepted:  # of value where the journal is opened with them, by --retry-failed
            files["accepted"] = {str(shot): hashed for shot, hashed in sorted(self._accepted.items())}
        return RunInput(fingerprint, files)

    def changed(self, files: Mapping[str, Any], inputs: Mapping[int, str]) -> list[str]:
        """What has changed of the tasks' traces: only those in files that were touched are read, by all ranks."""
        self._accepted = {int(task): hashed for task, hashed in files.get("accepted", {}).items()}
        earlier = list(_known(files.get("traces", ())).values())
        return self._changed(earlier, inputs, FileState.untouched_since)

    def _changed(
        self, looked: Sequence[FileState], inputs: Mapping[int, str], known: Callable[[FileState, FileState], bool]
    ) -> list[str]:
        """As `changed`; looked: on rank 0, the states of the files earlier. known: of a state and an earlier one,
        whether the file need not be read."""
        acquisition, comm = self._acquisition, self._comm
        assert acquisition is not None
        recording = acquisition.recording
        if recording is None:
            return []
        touched: list[int] = []
        with ledger.phase(PHASE):
            with collective_errors(comm):
                if comm.rank == 0:
                    earlier = {state.path: state for state in looked}
                    self._traces = _looked_at(recording.files)
                    touched = [
                        number
                        for number, state in enumerate(self._traces)
                        if state.path not in earlier or not known(state, earlier[state.path])
                    ]
            with ledger.communication():
                touched = comm.bcast(touched)
            if not touched:
                return []
            tasks = [
                task
                for task, shots in self._tasks.items()
                if task in inputs and any(np.isin(recording.gathers[s.index].file, touched).any() for s in shots)
            ]
            read = [shot for task in tasks for shot in self._tasks[task]]
            if read:
                first = recording.files[_file_of(acquisition, read, touched)]
                self._context.say(f"{len(read)} shots are read again, since {first} may have changed")
            own = {task: self._traces_hash(self._tasks[task]) for task in tasks[comm.rank :: comm.size]}
            found = {task: hashed for part in allgather(comm, own) for task, hashed in part.items()}
        self._verified += len(read)
        wrong = [task for task in tasks if found[task] not in (inputs[task], self._accepted.get(task))]
        self._accepted |= {task: found[task] for task in wrong}
        of_wrong = [shot for task in wrong for shot in self._tasks[task]]
        return _told(acquisition, of_wrong, touched) if comm.rank == 0 and wrong else []

    def _traces_hash(self, shots: Sequence[Shot]) -> str:
        assert self._acquisition is not None
        return task_hash([traces_hash(self._survey, self._acquisition, shot) for shot in shots])

    def record(self) -> dict[str, Any]:
        """What it cost, beside the ledger's phase, for the record: files and bytes of whole files, those of them
        that had to be hashed, shots whose traces were read again. Rank 0 only."""
        states = self._states.values()
        return {
            "files": len(states),
            "bytes": sum(max(0, state.bytes) for state in states),
            "hashed_files": len(self._hashed),
            "hashed_bytes": sum(max(0, state.bytes) for state in self._hashed),
            "verified_shots": self._verified,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._hashing is not None:
            self._hashing.__exit__(kind, error, trace)


def traces_hash(survey: Survey, acquisition: Acquisition, shot: Shot) -> str:
    """The hash of those traces of a shot that its migration reads, read for it; "" where they cannot be read."""
    assert acquisition.recording is not None
    with ledger.file(KIND, "read"):
        used = np.unique(np.concatenate(receivers_by_bin(survey.imaging, shot)))
        return acquisition.recording.hash(shot.index, acquisition.conditioning.reads(shot, used))


def geometry(acquisition: Acquisition) -> str:
    """Number and hash of the shots' sources, receivers and channels, and of where and how their traces lie in files: an
    index may place the same files anew, and a header may change what its samples mean."""
    return f"{len(acquisition.shots)} shots, {hash_of_all(_geometry(acquisition))}"


def _geometry(acquisition: Acquisition) -> Iterator[bytes]:
    """All that `geometry` is a hash of, part by part: of millions of traces it would be gigabytes."""
    recording = acquisition.recording
    for shot in acquisition.shots:
        yield from (array.tobytes() for array in (shot.source, shot.receivers, shot.channel))
        if recording is not None:
            gather = recording.gathers[shot.index]
            yield from (gather.file.tobytes(), gather.trace.tobytes())
            yield from (recording.alignment.words(number, traces) for number, _, traces in gather.by_file())
    if recording is not None:
        if acquisition.conditioning.loud is not None:
            yield acquisition.conditioning.loud.words()
        for index, silent in acquisition.silent.items():  # the other traces of a time migration stand for their areas
            yield repr((index, silent.tolist())).encode()
        yield repr((recording.samples, recording.interval, recording.delay)).encode()
        for layout in recording.layouts:
            yield repr((layout.order, layout.format, layout.start, layout.samples, layout.kind)).encode()


def task_hash(shots: Sequence[str]) -> str:
    """The hash of a task's traces from those of its shots, one or more; "" where one is ""."""
    if len(shots) == 1:
        return shots[0]
    return hash_of_all(shot.encode() for shot in shots) if all(shots) else ""


def _names(uses: Uses) -> Named:
    """The files of each use; those that a header names are told by their place beside it. Their paths hold in any
    working directory: a later run may start in another one."""
    return {
        use: [(os.path.relpath(path, paths[0].parent), str(lasting(path))) for path in paths]
        for use, paths in uses.items()
    }


def _looked_at(files: Iterable[Path]) -> list[FileState]:
    """Files as they are now, by paths that hold in any working directory."""
    return [FileState.of(lasting(path)) for path in files]


def _known(values: Iterable[Any]) -> dict[str, FileState]:
    """States of files, by path, from a list of RunInput.files."""
    states = [FileState.from_dict(one) for one in values]
    return {state.path: state for state in states}


def _file_of(acquisition: Acquisition, shots: list[Shot], touched: list[int]) -> int:
    """The first of the touched files that holds traces of the shots."""
    assert acquisition.recording is not None
    files = np.unique(np.concatenate([acquisition.recording.gathers[shot.index].file for shot in shots]))
    return next(int(number) for number in files if number in touched)


def _told(acquisition: Acquisition, shots: list[Shot], touched: list[int]) -> list[str]:
    """A line on shots whose traces have changed."""
    recording = acquisition.recording
    assert recording is not None
    first = recording.files[_file_of(acquisition, shots, touched)]
    names = ", ".join(shot.name for shot in shots[:MOST_NAMED])
    more = f" and {len(shots) - MOST_NAMED} more" if len(shots) > MOST_NAMED else ""
    return [f"traces: {first}: those of {names}{more} are no longer what was migrated"]
