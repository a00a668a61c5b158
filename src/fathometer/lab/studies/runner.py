"""What makes the runs of a study: this process on its host, or something that it asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fathometer.lab.studies.clock import STATE as CLOCK
from fathometer.lab.studies.clock import restore
from fathometer.lab.studies.placement import Placement
from fathometer.lab.studies.processes import end_marked
from fathometer.lab.studies.single_run import Outcome, SingleRun, carry_out, write_outcome
from fathometer.lab.studies.watch import Watch

Tell = Callable[[str], None]  # how far a run is, for people: "job 17: pending (Resources)"


@dataclass(frozen=True)
class RunToBegin:
    """A run that is to be made, and the placement that it asks for.

    nodes: of a cluster, by name: those of all its programs; () for all.
    """

    run: SingleRun
    placement: Placement
    nodes: tuple[str, ...] = ()


class Runner(Protocol):
    """Interface: runs are begun, and then waited for; each is known by its folder."""

    @property
    def together(self) -> bool:
        """Whether all runs of a round are begun before the first is waited for."""
        ...

    def recover(self) -> None:
        """What an interrupted session has left is ended, or will be found again by `begun`."""
        ...

    def begun(self, folder: Path) -> bool:
        """Whether the run in this folder is begun, by this session or an earlier one."""
        ...

    def discarded(self, folder: Path) -> bool:
        """Whether a result in this folder is of a run that was ended by an interrupt, and does not count."""
        ...

    def begin(self, runs: Sequence[RunToBegin]) -> None:
        """Begin runs, one after another where they are several. Raises FathometerError where that is not possible."""
        ...

    def wait(self, folder: Path, tell: Tell) -> Outcome:
        """How the run in this folder ended. Raises FathometerError for what ends the whole study."""
        ...

    def stop(self) -> None:
        """End all that is under way."""
        ...

    def close(self) -> None:
        """The study's session ends, whether well or not: nothing that it has made for its runs stays."""
        ...


class HostRunner:
    """Makes the runs on this host. folder: of the study."""

    together = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self._runs: dict[Path, SingleRun] = {}
        self._watch = Watch(daemons=self._daemons)

    def recover(self) -> None:
        """What an interrupted session has left is ended, or will be found again by `begun`."""
        end_marked(self._folder)
        restore(self._folder / CLOCK)

    def begun(self, folder: Path) -> bool:
        """Whether the run in this folder is begun, by this session or an earlier one."""
        return folder in self._runs

    def discarded(self, folder: Path) -> bool:
        """Whether a result in this folder is of a run that was ended by an interrupt, and does not count."""
        return False

    def begin(self, runs: Sequence[RunToBegin]) -> None:
        """Begin runs, one after another where they are several. A run is made when it is waited for."""
        self._runs |= {one.run.folder: one.run for one in runs}

    def wait(self, folder: Path, tell: Tell) -> Outcome:
        """How the run in this folder ended."""
        outcome = carry_out(run := self._runs.pop(folder), self._watch if run.others else None)
        write_outcome(folder, outcome)
        return outcome

    def stop(self) -> None:
        """End all that is under way."""
        end_marked(self._folder)

    def close(self) -> None:
        """The study's session ends, whether well or not: nothing that it has made for its runs stays."""

    def _daemons(self) -> float:
        """Cpu seconds of what works for the runs besides their own processes."""
        return 0.0
