"""An ocean as a model in time (runs/simulation.py): its state, rows of the time series, figures and balance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.apps.ocean.barotropic.block_layout import Layout
from fathometer.apps.ocean.case import OceanCase
from fathometer.apps.ocean.fields import OceanFields
from fathometer.apps.ocean.grid import Floats
from fathometer.apps.ocean.share import layout_for
from fathometer.apps.ocean.shown import draw
from fathometer.apps.ocean.solver.memory import model_bytes
from fathometer.apps.ocean.solver.model import OceanModel
from fathometer.apps.ocean.solver.problem import TRACERS
from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.base.formatting import number_of
from fathometer.parallel.collectives import allgather
from fathometer.parallel.memory_budget import require_memory, usable_memory
from fathometer.record.envelope import Figure
from fathometer.record.ranks import largest_peak, seconds
from fathometer.runs.simulation import Simulation, missing_share
from fathometer.runs.state_arrays import StateArray

if TYPE_CHECKING:
    from mpi4py import MPI

COUNTS = ("iterations", "reductions", "halos")  # of the barotropic solver
AXES = ("x", "y", "level")
BAROCLINIC = ("baroclinic", "baroclinic halo")  # phases of a step
BAROTROPIC = ("barotropic", "barotropic halo", "barotropic reduction")
YEAR = 365.25 * 86400.0  # s
DAY = 86400.0  # s


class OceanSimulation(Simulation):
    """An ocean on a rank.

    Attributes:
        contents: of each tracer at the beginning, its unit x m³. volume: at the beginning, m³.
        gained: what came through the surface of this rank's blocks since (rank 0: and of all blocks in earlier runs).
        courant: the largest Courant number since the last row, as far as anybody has looked.

    Raises InputError for more ranks than the grid allows, and where memory is short.
    """

    fields: OceanFields
    KEPT = ("rows", "contents", "gained", "volume", "courant")

    def __init__(self, case: OceanCase, comm: MPI.Intracomm) -> None:
        file, grid = case.file, case.problem.grid
        super().__init__(comm, COUNTS, file.output.restart_steps)
        layout = layout_for(file, grid, comm.size, comm.rank)
        require_memory(_bytes(case, layout), usable_memory(comm), comm)
        self._case = case
        self._iterations = 0  # of the last step
        self.model = OceanModel(case.problem, layout, comm, **file.barotropic.solver_keys())
        self.fields = OceanFields(file, grid, layout, comm)
        self.files = {"fields": self.fields.folder}
        self.contents: list[float] = []
        self.gained: list[float] = []
        self.volume = self.courant = 0.0

    def begin(self) -> None:
        """Collective. The state at the beginning."""
        self.model.begin()
        self.contents, self.volume = self.model.contents(), self.model.volume()
        self.gained = [0.0] * len(self.contents)

    def resume(self) -> None:
        """Collective. Go on: arrays and attributes are those of a state."""
        if self.steps > self._case.steps:
            raise InputError(
                f"{self._case.file.path}: [time] end: found {self._case.steps} steps, but the run to be resumed has "
                f"taken {self.steps}; allowed: from that on"
            )
        self.gained = [value if self.comm.rank == 0 else 0.0 for value in self.gained]
        self.model.restore(self.steps)

    def arrays(self) -> dict[str, StateArray]:
        """The arrays of the state by name, from which it goes on with the same bits."""
        return state_arrays(self.model.arrays(), self.model.layout)

    def values(self) -> dict[str, Any]:
        """Collective. The attributes of KEPT as they go into a state."""
        return super().values() | {"gained": self._gained_by_all()}

    def _gained_by_all(self) -> list[float]:
        """Collective. What came through the whole surface since the beginning."""
        return [math.fsum(parts) for parts in zip(*allgather(self.comm, self.gained), strict=True)]

    @property
    def share(self) -> float:
        """How much of the run is done; 1: all of it."""
        return self.steps / self._case.steps

    def step(self) -> None:
        """Collective. Take a step, and count it."""
        step = self.model.step()
        self.steps, self.time, self._iterations = self.steps + 1, step.time, step.iterations
        for name in COUNTS:
            self.counts[name] += getattr(step, name)
        self.gained = [before + now for before, now in zip(self.gained, step.gained, strict=True)]

    def look(self, row: bool, needed: bool) -> None:
        """Collective. Look at the state after a step where a row of the time series is due."""
        row = row or self.steps % self._case.file.output.course_steps == 0
        if not (row or needed):
            return
        with ledger.phase("diagnostics"):
            seen = {"step": self.steps, "time_seconds": self.time, "iterations": self._iterations}
            seen |= self.model.diagnostics()
            seen["largest_courant"] = self.courant = max(self.courant, seen["largest_courant"])
            if row:
                self.rows.append(seen)
                self.courant = 0.0

    @property
    def sound(self) -> bool:
        """Whether the state is one to go on from, as far as anybody has looked."""
        return self.model.sound

    def fields_due(self) -> bool:
        """Whether fields are to be written now."""
        return self.steps % self._case.field_steps == 0

    def write_fields(self) -> None:
        """Collective. Write the fields as they are now."""
        self.fields.write_state(self.steps, self.time, self.model.fields())

    def draw(self) -> Path:
        """On one rank. Draw the picture; its path."""
        return draw(self._case, self.fields.path(self.fields.written[-1]))

    def told(self) -> Iterator[str]:
        """What a user wants to know before the run, a line each."""
        case, layout, size = self._case, self.model.layout, self.comm.size
        nx, ny, nz = case.problem.grid.shape
        blocks = number_of(len(layout.blocks), "block")
        if layout.left_out:
            blocks += f", {len(layout.left_out)} of land left out with {layout.cells_left_out} columns"
        yield (
            f"{nx} x {ny} x {nz} cells, {int(case.problem.grid.levels.sum())} of water; {case.steps} steps of "
            f"{case.problem.step:g} s; {number_of(size, 'rank')}, {blocks}"
        )
        for note in case.notes:
            yield f"note: {note}"

    def notes(self) -> list[str]:
        """Collective. What is no error, and yet not what most users want."""
        return list(self._case.notes)

    def steady(self) -> list[str]:
        """Tracers that the input has the same everywhere and nothing changes."""
        initial, forcing = self._case.file.initial, self._case.file.forcing
        changed = {
            "temperature": (forcing.temperature, forcing.heat_flux, initial.noise),
            "salinity": (forcing.salinity,),
        }
        return [
            name
            for name, by in changed.items()
            if isinstance(getattr(initial, name), float) and all(one is None for one in by)
        ]

    def balance(self) -> list[dict[str, Any]]:
        """Contents of each tracer and of water at the beginning and now, and what came through the surface; error: what
        is missing, relative to the largest of these."""
        volume = self.model.volume()
        quantities = [
            *zip(TRACERS, self.contents, self.model.contents(), self._gained_by_all(), strict=False),
            ("volume", self.volume, volume, 0.0),
        ]
        rows = []
        for name, before, now, gained in quantities:
            rows.append(
                {
                    "tracer": name,
                    "content_before": before,
                    "content_after": now,
                    "gained_at_surface": gained,
                    "error": missing_share(before, now, gained),
                }
            )
        return rows

    def results(self) -> dict[str, Any]:
        """Collective. What the record says of the run beside what all such runs say."""
        layout, output = self.model.layout, self._case.file.output_directory
        files = self.fields.files(self.fields.written)
        return {
            "blocks": {
                "count": len(layout.blocks),
                "cells_left_out": layout.cells_left_out,
                "owners": [[list(block.lo), list(block.hi), block.rank] for block in layout.blocks],
            },
            "step_seconds": self._case.problem.step,
            "field_files": [str(path.relative_to(output)) for path in files],
            "fields": list(self._case.file.output.fields),
        }

    def performance(self, account: dict[str, Any]) -> dict[str, Any]:
        """Of this run, on the slowest rank."""
        baroclinic, barotropic = seconds(account, BAROCLINIC), seconds(account, BAROTROPIC)
        both, own = baroclinic + barotropic, self.steps - self.earlier
        return {
            "performance": {
                "baroclinic_seconds": baroclinic,
                "barotropic_seconds": barotropic,
                "simulated_years_per_day": own * self._case.problem.step / YEAR / (both / DAY) if both else 0.0,
                "iterations_per_step": self.counts["iterations"] / own if own else 0.0,
                "reductions_per_second": self.counts["reductions"] / barotropic if barotropic else 0.0,
            }
        }

    def figures(self, account: dict[str, Any]) -> list[Figure]:
        """The run in numbers; times are those of the slowest rank."""
        performance = self.performance(account)["performance"]
        total = account["wall_seconds"]["max"]
        kernel = performance["baroclinic_seconds"] + performance["barotropic_seconds"]
        peak = largest_peak(account["ranks"])
        return [
            Figure("total", total, "seconds", "lower"),
            Figure("kernel", kernel, "seconds", "lower", "context"),
            Figure("kernel share", kernel / total, "1", "higher"),
            Figure("baroclinic", performance["baroclinic_seconds"], "seconds", "lower"),
            Figure("barotropic", performance["barotropic_seconds"], "seconds", "lower"),
            Figure("simulated years a day", performance["simulated_years_per_day"], "1", "higher"),
            Figure("steps", self.steps - self.earlier, "1", "none", "context"),
            Figure("iterations a step", performance["iterations_per_step"], "1", "lower", "context"),
            Figure("reductions a second", performance["reductions_per_second"], "1", "higher", "context"),
            Figure("peak memory", peak, "bytes", "lower"),
        ]

    def close(self) -> None:
        """Collective. Free what the model holds beside memory."""
        self.model.close()


def state_arrays(arrays: Mapping[str, Floats], layout: Layout) -> dict[str, StateArray]:
    """Blocked arrays (nb, X, Y[, level]) by name as arrays of a state; blocks of land that nobody has are zeros."""
    found = {}
    for name, values in arrays.items():
        inner = values.shape[3:]
        rest, ends = (0,) * len(inner), tuple(inner)
        found[name] = StateArray(
            AXES[: 2 + len(inner)],
            (*layout.shape, *inner),
            [((*block.lo, *rest), layout.owned(values, number)) for number, block in enumerate(layout.own)],
            [((*lo, *rest), (*hi, *ends)) for lo, hi in layout.left_out],
        )
    return found


def _bytes(case: OceanCase, layout: Layout) -> dict[str, int]:
    """Bytes of this rank's arrays, by what takes them, but for the halos."""
    keys, (x, y) = case.file.barotropic, layout.padded
    nx, ny, nz = case.problem.grid.shape
    parts = model_bytes(len(layout.own) * x * y, nz, nx * ny, keys.tile, keys.preconditioner, {1: 0, 2: 0, 3: 0})
    return {name: taken for name, taken in parts.items() if name != "case"}
