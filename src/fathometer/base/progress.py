"""Progress of a run's tasks: a bar on a terminal, a plain line now and then in a log, nothing when quiet."""

import math
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TextIO

if TYPE_CHECKING:
    from rich.progress import TaskID

# A line in a log at most this often, and then only when a tenth of the work is full or after a long silence.
LINE_SECONDS, SILENCE_SECONDS = 10.0, 600.0

# The bar is drawn at most this often, by the thread that computes: one of its own would disturb the run.
BAR_SECONDS = 0.25


class Display(Protocol):
    """What shows the progress of a run."""

    def show(self, time: float, state: "State", last: bool) -> None:
        """Show `state` at `time` (s) if it is due, and certainly if it is the last."""

    def close(self) -> None:
        """Leave the terminal or log as it is meant to stay."""


class State:
    """Tasks and steps done. Work is counted in tasks; the one under way counts by its steps."""

    def __init__(self, label: str, task: str, tasks: int, start: float) -> None:
        self.label, self.task, self.tasks, self.start = label, task, tasks, start
        self.done_tasks = self.done_steps = 0
        self.task_steps = self.task_done = 0
        self.underway = False

    def fraction(self) -> float:
        """Part of all work that is done, 0 to 1."""
        part = self.task_done / self.task_steps if self.underway and self.task_steps else 0.0
        return (self.done_tasks + min(part, 1.0)) / self.tasks if self.tasks else 1.0

    def words(self, time: float) -> tuple[str, str, str]:
        """Which task, steps a second and time left, in words."""
        elapsed, fraction = time - self.start, self.fraction()
        task = f"{self.task} {min(self.done_tasks + self.underway, self.tasks)} of {self.tasks}"
        rate = f"{self.done_steps / elapsed:.4g} steps/s" if elapsed > 0 and self.done_steps else "- steps/s"
        left = f"{duration(elapsed * (1 - fraction) / fraction)} left" if fraction > 0 else "time left unknown"
        return task, rate, left


class Progress:
    """Progress over the tasks of a run, shown on `stream` by rank 0 only.

    with Progress(10, now=now, rank=comm.rank, quiet=quiet, label="migrate", task="shot") as progress:
        progress.start_task(0, steps)       # steps of this task
        progress.advance(k)                 # after every k of them
        progress.finish_task()

    now      the ledger's clock, s
    environ  FATHOMETER_TTY=1 says that a pipe ends on a terminal (mpirun's), COLUMNS how wide that is
    """

    def __init__(
        self,
        tasks: int,
        *,
        now: Callable[[], float],
        rank: int = 0,
        quiet: bool = False,
        label: str = "run",
        task: str = "task",
        stream: TextIO | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._now = now
        self._state = State(label, task, tasks, now())
        self._display: Display | None = None
        if rank == 0 and not quiet:
            stream = stream if stream is not None else sys.stderr
            self._display = _Bar(stream, environ) if on_terminal(stream, environ) else _Lines(stream, now())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._display is not None:
            try:
                if kind is None:
                    self._show(last=True)
            finally:
                self._close()

    def start_task(self, index: int, steps: int) -> None:
        """Task `index` (0, 1, …) begins and will take `steps` steps."""
        state = self._state
        state.done_tasks, state.task_steps, state.task_done, state.underway = index, steps, 0, True
        self._show()

    def advance(self, steps: int) -> None:
        """`steps` more steps of the task are done."""
        self._state.task_done += steps
        self._state.done_steps += steps
        self._show()

    def finish_task(self) -> None:
        """The task under way is done, whatever its count of steps says."""
        self._state.done_tasks += 1
        self._state.underway = False
        self._show()

    def complete(self) -> None:
        """All tasks are done, also those that others have taken."""
        self._state.done_tasks = self._state.tasks

    def _show(self, last: bool = False) -> None:
        if self._display is not None:
            try:
                self._display.show(self._now(), self._state, last)
            except OSError:  # the terminal is gone or the log's disk full: no reason to lose the run
                self._display = None

    def _close(self) -> None:
        if self._display is not None:
            with suppress(OSError):
                self._display.close()


def on_terminal(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether what is written to `stream` ends on a terminal that can move its cursor."""
    if environ.get("TERM") == "dumb":
        return False
    return stream.isatty() or environ.get("FATHOMETER_TTY") == "1"


def duration(seconds: float) -> str:
    """Seconds in words: "42 s", "3 min 05 s", "2 h 07 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min"


class _Lines:
    """Plain lines for a log."""

    def __init__(self, stream: TextIO, time: float) -> None:
        self._stream, self._time, self._tenth = stream, time, 0

    def show(self, time: float, state: State, last: bool) -> None:
        if last:
            took, rate = duration(time - state.start), state.words(time)[1]
            self._write(f"{state.label}: {state.done_tasks} of {state.tasks} {state.task}s done in {took}, {rate}")
            return
        silence, fraction = time - self._time, state.fraction()
        tenth = math.floor(10 * fraction + 1e-9)  # 3 * 0.1 may be just below 0.3
        if silence >= SILENCE_SECONDS or (silence >= LINE_SECONDS and tenth > self._tenth):
            task, rate, left = state.words(time)
            self._write(f"{state.label}: {task}, {100 * fraction:.0f} %, {rate}, {left}")
            self._time, self._tenth = time, tenth

    def close(self) -> None:
        self._stream.flush()

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()


class _Bar:
    """A bar on a terminal."""

    def __init__(self, stream: TextIO, environ: Mapping[str, str]) -> None:
        # Imported here, so that the ranks that show nothing do not load it.
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        columns = environ.get("COLUMNS", "")[:4]  # wider is no terminal
        console = Console(file=stream, force_terminal=True, width=int(columns) if columns.isdecimal() else None)
        self._rich = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.percentage:3.0f} %  {task.fields[words]}"),
            console=console,
            auto_refresh=False,
            expand=True,
        )
        self._task: TaskID | None = None
        self._time = 0.0

    def show(self, time: float, state: State, last: bool) -> None:
        if self._task is not None and not last and time - self._time < BAR_SECONDS:
            return
        task, rate, left = state.words(time)
        words = f"{task}  {rate}  {duration(time - state.start) if last else left}"
        if self._task is None:
            self._task = self._rich.add_task(state.label, total=1.0, words=words)
            self._rich.start()
        self._rich.update(self._task, completed=state.fraction(), words=words)
        self._rich.refresh()
        self._time = time

    def close(self) -> None:
        if self._task is not None:
            self._rich.stop()
