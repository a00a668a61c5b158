"""Interfaces by which benchmarks of a machine measure an application: time steps, figures for the machine file.

`lab/` times, alternates and reports; the application provides the objects and all that is specific to its equations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from fathometer.base.errors import FathometerError
from fathometer.parallel.decomposition import Index3
from fathometer.parallel.threads import Binding, ThreadCounts

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.grid.tiling import Tiling, Tuned
    from fathometer.plan.machine_file import CutWork, Rate


class SecondsOf(Protocol):
    """Measures a call: the least seconds of at least `least` calls, after one that is not counted."""

    def __call__(self, task: Callable[[], object], least: int = 3) -> float: ...


@dataclass(frozen=True)
class StepCost:
    """Cost of a time step of one equation.

    Attributes:
        flops_per_point: floating-point operations for each cell.
        bytes_per_point: the fewest bytes that a step moves for each cell when each array is touched once.
        halo_cells: thinnest block of a rank, cells. slab: as of decomposition.choose_ranks.
        memory_bytes: of a rank, by the name of what takes them.
    """

    flops_per_point: int
    bytes_per_point: int
    halo_cells: int
    slab: int | None
    memory_bytes: Mapping[str, int]


class Stepper(Protocol):
    """Fields at rest on a grid that all ranks of a communicator share; all methods are collective."""

    def tune(self, time_depth: int, steps: int, say: Callable[[str], None]) -> Tuned:
        """The best tiling for `steps` time steps at a time, from an earlier search or a new one; `time_depth`: time
        steps of a sweep, 0: searched for too. Raises InputError where it does not fit."""
        ...

    def advance(self, steps: int, tiling: Tiling) -> None:
        """Take `steps` time steps."""
        ...

    def close(self) -> None:
        """Free the halo exchanges."""
        ...


class Probes(Protocol):
    """What benchmarks can measure of an application."""

    def step_cost(self, equation: str, order: int, shape: Index3, ranks: int) -> StepCost:
        """Cost of a time step on `shape` cells (x, y, z; ny = 1: two dimensions) shared by so many ranks."""
        ...

    def stepper(
        self, equation: str, order: int, shape: Index3, ranks: Index3, threads: ThreadCounts, comm: MPI.Intracomm
    ) -> Stepper:
        """Collective. Fields of an equation in `shape` cells, shared by `ranks` along x, y, z."""
        ...

    def step_rates(self, threads: ThreadCounts, seconds_of: SecondsOf, say: Callable[[str], None]) -> Iterator[Rate]:
        """On one rank with all cores of the host: rates of the time steps by equation, dimension, order and size, as a
        run without a search would take them."""
        ...

    def machine_figures(
        self, folder: Path, threads: ThreadCounts, binding: Binding, seconds_of: SecondsOf, say: Callable[[str], None]
    ) -> Iterator[dict[str, Any]]:
        """On one rank with all cores of the host: the application's other entries of a machine file, in seconds; those
        together that were measured since the last ones.

        `folder`: where small runs may write; nothing is left there. `binding`: of such a run.
        """
        ...

    def cut_works(
        self,
        pair: MPI.Intracomm,
        threads: ThreadCounts,
        least_of: Callable[[Sequence[float]], float],
        say: Callable[[str], None],
    ) -> Iterator[CutWork]:
        """Collective over two ranks of a host, `threads` each: what a cut between them adds to time steps.

        least_of: of some times of a call.
        """
        ...


class ProbesWithoutSteps:
    """Of Probes the part of an application without explicit time steps: `subject`, in messages, has none to measure."""

    subject: str

    def step_cost(self, equation: str, order: int, shape: Index3, ranks: int) -> NoReturn:
        """There is none."""
        raise FathometerError(f"{equation}: {self.subject} has no such equation")

    def stepper(
        self, equation: str, order: int, shape: Index3, ranks: Index3, threads: ThreadCounts, comm: MPI.Intracomm
    ) -> NoReturn:
        """There is none."""
        raise FathometerError(f"{equation}: {self.subject} has no such equation")

    def step_rates(self, threads: ThreadCounts, seconds_of: SecondsOf, say: Callable[[str], None]) -> Iterator[Rate]:
        """None."""
        return iter(())

    def cut_works(
        self,
        pair: MPI.Intracomm,
        threads: ThreadCounts,
        least_of: Callable[[Sequence[float]], float],
        say: Callable[[str], None],
    ) -> Iterator[CutWork]:
        """None."""
        return iter(())
