"""Progress display of a run's tasks: a bar on a terminal, now and then a line in a log, nothing with --quiet."""

import math
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, TextIO

from fathometer.base.formatting import duration

if TYPE_CHECKING:
    from rich.progress import TaskID

# Lines in a log are at least LINE_SECONDS apart, and come with each tenth of the work or after FIRST_SILENCE,
# so that a run of months by mistake tells so at once, of twice that, and so on up to SILENCE_SECONDS.
LINE_SECONDS, FIRST_SILENCE, SILENCE_SECONDS = 10.0, 60.0, 600.0

# Between updates of the bar, by the computing thread: one of its own would disturb the run.
BAR_SECONDS = 0.25


class Display(Protocol):
    """Interface of the progress displays."""

    def show(self, time: float, state: "State", last: bool) -> None:
        """Show `state` at `time` (s) if it is due, and certainly if it is the last."""

    def close(self) -> None:
        """End the display; what was written last stays."""


class State:
    """Counts of tasks and steps done; the task under way counts as the fraction of its steps that are done.

    Args:
        label: of the run, such as its command. task: what its tasks are called. tasks: number of them. start: time, s.
        unit: what is counted by the second.
    """

    def __init__(self, label: str, task: str, tasks: int, start: float, unit: str = "steps") -> None:
        self.label, self.task, self.tasks, self.start, self.unit = label, task, tasks, start, unit
        self.done_tasks = self.done_steps = 0
        self.task_steps, self.task_done = 0, 0.0
        self.underway = False
        self.reached, self.before = False, 0  # tasks of earlier runs, where the number of done tasks is told

    def fraction(self) -> float:
        """Fraction of all work that is done, 0 to 1."""
        part = self.task_done / self.task_steps if self.underway and self.task_steps else 0.0
        return (self.done_tasks + min(part, 1.0)) / self.tasks if self.tasks else 1.0

    def words(self, time: float) -> tuple[str, str, str]:
        """Number of the task, steps per second and remaining time, as text."""
        elapsed, fraction = time - self.start, self.fraction()
        task = f"{self.task} {min(self.done_tasks + self.underway, self.tasks)} of {self.tasks}"
        rate = f"{self.done_steps / elapsed:.4g}" if elapsed > 0 and self.done_steps else "-"
        left = f"{duration(elapsed * (1 - fraction) / fraction)} left" if fraction > 0 else "time left unknown"
        return task, f"{rate} {self.unit}/s", left


class Progress:
    """Progress over the tasks of a run, shown on `stream` by rank 0 only.

    with Progress(10, now=now, rank=comm.rank, quiet=quiet, label="sweep", task="case") as progress:
        progress.start_task(0, steps)       # steps of this task
        progress.advance(k)                 # after every k of them
        progress.finish_task()

    tasks    number of them. label, task: of the run and of one of its tasks, for the text. unit: what is counted by the
             second, in place of steps
    now      the ledger's clock, s
    quiet    show nothing
    environ  FATHOMETER_TTY=1: the pipe to mpirun ends on a terminal; COLUMNS: its width;
             FATHOMETER_LINE_SECONDS: between lines in a log, in place of LINE_SECONDS
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
        unit: str = "steps",
        stream: TextIO | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._now = now
        self._state = State(label, task, tasks, now(), unit)
        self._display: Display | None = None
        if rank == 0 and not quiet:
            stream = stream if stream is not None else sys.stderr
            terminal = on_terminal(stream, environ)
            self._display = _Bar(stream, environ) if terminal else _Lines(stream, now(), line_seconds(environ))

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
        state.done_tasks, state.task_steps, state.task_done, state.underway = index, steps, 0.0, True
        self._show()

    def advance(self, steps: int, part: float | None = None) -> None:
        """`steps` more steps of the task are done; part: how much of the task that is, where steps do not tell."""
        state = self._state
        state.task_done = state.task_done + steps if part is None else part * state.task_steps
        state.done_steps += steps
        self._show()

    def finish_task(self) -> None:
        """The task under way is done, whatever the number of its steps so far."""
        self._state.done_tasks += 1
        self._state.underway = False
        self._show()

    def reached(self, done: int) -> None:
        """So many tasks are done, by whomever."""
        state = self._state
        if not state.reached:
            state.before = done
        state.reached = True
        state.done_tasks, state.done_steps = done, done - state.before
        self._show()

    def complete(self) -> None:
        """All tasks are done, those of other groups of ranks too."""
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
    """Whether `stream` is, or is passed on to, a terminal with cursor control."""
    if environ.get("TERM") == "dumb":
        return False
    return stream.isatty() or environ.get("FATHOMETER_TTY") == "1"


def line_seconds(environ: Mapping[str, str]) -> float:
    """Seconds between lines in a log, at least."""
    text = environ.get("FATHOMETER_LINE_SECONDS", "")
    return float(text) if text.isdecimal() else LINE_SECONDS


class _Lines:
    """Display for a log: plain lines, at least so many seconds apart."""

    def __init__(self, stream: TextIO, time: float, seconds: float = LINE_SECONDS) -> None:
        self._stream, self._time, self._tenth, self._seconds = stream, time, 0, seconds
        self._patience = FIRST_SILENCE

    def show(self, time: float, state: State, last: bool) -> None:
        if last:
            took, rate = duration(time - state.start), state.words(time)[1]
            self._write(f"{state.label}: {state.done_tasks} of {state.tasks} {state.task}s done in {took}, {rate}")
            return
        silence, fraction = time - self._time, state.fraction()
        tenth = math.floor(10 * fraction + 1e-9)  # 3 * 0.1 may be just below 0.3
        too_silent = silence >= self._patience
        if too_silent:
            self._patience = min(2 * self._patience, SILENCE_SECONDS)
        if too_silent or (silence >= self._seconds and tenth > self._tenth):
            task, rate, left = state.words(time)
            self._write(f"{state.label}: {task}, {100 * fraction:.0f} %, {rate}, {left}")
            self._time, self._tenth = time, tenth

    def close(self) -> None:
        self._stream.flush()

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()


class _Bar:
    """Display for a terminal: a bar, redrawn in place."""

    def __init__(self, stream: TextIO, environ: Mapping[str, str]) -> None:
        # Imported here, so that the ranks that show nothing do not load it.
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as RichProgress

        columns = environ.get("COLUMNS", "")[:4]  # no terminal is wider than that
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
