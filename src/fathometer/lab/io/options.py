"""Options of `fathometer io`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.base import option_types
from fathometer.base.errors import InputError
from fathometer.base.options import option, recorded

if TYPE_CHECKING:
    from fathometer.parallel.decomposition import Index3

FEWEST_STEPS = 2  # of a file: some formats do not keep an axis of one


@dataclass(frozen=True)
class Steps:
    """What is written of steps. buffers: how many of them before a write, each to be measured. every: the distance of
    the nodes along each axis of the array that they are taken from."""

    steps: int = option("of decimated-steps: steps of a file (100)", type=option_types.count, default=100, metavar="N")
    buffers: tuple[int, ...] = option(
        "the same: steps kept before a write (1)", "--buffer", type=option_types.counts, default=(1,), metavar="N,N..."
    )
    files: int = option(
        "the same: files written beside each other (3)", type=option_types.count, default=3, metavar="N"
    )
    every: int = option("the same: distance of nodes in the array (2)", type=option_types.count, default=2, metavar="N")

    def check(self) -> None:
        """InputError where that cannot be measured."""
        if self.steps < FEWEST_STEPS:
            raise InputError(f"--steps {self.steps}: allowed: at least {FEWEST_STEPS}")
        if max(self.buffers) > self.steps:
            raise InputError(f"--buffer {max(self.buffers)}: allowed: up to --steps {self.steps}")

    def memory(self, nodes: int) -> dict[str, int]:
        """Bytes that a rank with so many nodes needs, by what for."""
        return {
            "fields": self.files * nodes * self.every**3 * 4,
            "buffers": self.files * nodes * max(self.buffers) * 4,
        }


@dataclass(frozen=True)
class StorageOptions:
    """What to measure. grid: cells (x, y, z), ny = 1 in two dimensions; decomposition: ranks along x, y, z, None: as a
    run would choose; budget: seconds; steps: in place of one volume."""

    folder: Path = option("where files are written and read", "folder", type=Path, metavar="DIRECTORY")
    grid: Index3 = option(
        "cells; NX,NZ in 2D (256,256,256)", type=option_types.grid, default=(256, 256, 256), metavar="NX,NY,NZ"
    )
    strategies: tuple[str, ...] = option(
        "as in [storage]; all: with all data types too (each of the format once)",
        "--strategy",
        type=option_types.read_by("fathometer.lab.io.cases", "strategy_names"),
        default=(),
        metavar="S,S...|all",
    )
    formats: tuple[str, ...] = option(
        "rsf, npy, nc, h5 ...; all (rsf)", "--format", type=option_types.names, default=("rsf",), metavar="F,F...|all"
    )
    operations: tuple[str, ...] = option(
        "(both)", "--operation", type=option_types.operations, default=(), metavar="write,read"
    )
    repeat: int = option("measurements of each (10)", type=option_types.count, default=10, metavar="N")
    halo: int = option("cells read around a block (0)", type=option_types.whole_number, default=0, metavar="R")
    decomposition: Index3 | None = option(
        "how ranks cut the grid; PX,PZ in 2D", type=option_types.grid, default=None, metavar="PX,PY,PZ"
    )
    budget: float = option(
        "of the whole command (90s)",
        type=option_types.duration,
        default=90.0,
        metavar="TIME",
        recorded="budget_seconds",
    )
    seed: int = option("of the values and of the order (1)", type=option_types.whole_number, default=1, metavar="N")
    data: str = option("noise cannot be compressed (noise)", default="noise", choices=("noise", "wavefield"))
    suite: str | None = option(
        "the ways of a published benchmark, with most, mean and least of each, beside its tables",
        default=None,
        choices=("piovdc",),
    )
    steps: Steps | None = None

    def as_dict(self) -> dict[str, Any]:
        """For a record."""
        steps = {} if self.steps is None else {"steps": asdict(self.steps)}
        return recorded(self) | {"folder": self.folder.resolve(), **steps}
