"""An incompressible flow as a model in time (runs/simulation.py): its state, rows of the time series, figures."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer import _native
from fathometer.apps.flow.case import IncompressibleCase, ranks_of
from fathometer.apps.flow.fields import TecplotSeries
from fathometer.apps.flow.shown import draw
from fathometer.apps.flow.solver.model import LARGEST_COURANT, FlowModel
from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.formatting import number_of
from fathometer.record.envelope import Figure
from fathometer.record.ranks import largest_peak, seconds
from fathometer.runs.simulation import Simulation
from fathometer.runs.state_arrays import StateArray

if TYPE_CHECKING:
    from mpi4py import MPI

AXES = ("z", "y", "x")
STEP = ("momentum", "projection", "transforms", "solve columns", "transpose", "halos")  # phases of a step
MOST_GROWTH = 100.0  # of the largest speed, over what the input explains: beyond it the flow has come apart
SLACK = 1e-9  # of a step: what is left of an interval is not a step of its own


class IncompressibleSimulation(Simulation):
    """A flow on a rank.

    Attributes:
        rate: largest sum of speed over spacing of the state and of walls that move, 1/s; the next step is made of it.
        drive: how fast that may grow, 1/s²: accelerations over spacing. scale: what it may come to, 1/s, as far as the
            input explains it.
    """

    fields: TecplotSeries
    KEPT = ("rows", "counts", "rate", "first", "drive", "scale")

    def __init__(self, case: IncompressibleCase, comm: MPI.Intracomm) -> None:
        file = case.file
        super().__init__(comm, ("cell_updates",), file.output.restart_steps)
        self._case, self._keys = case, file.time
        self._ranks = ranks_of(case.problem, comm.size, file.path)
        self.model = FlowModel(case.problem, self._ranks, comm, _native.threads())
        self.fields = TecplotSeries(file, comm)
        self.files = {"fields": self.fields.folder}
        self._times = file.output_times
        self._due = frozenset(self._times)
        self.rate = self.drive = self.scale = 0.0
        self._sound = True
        self.first: dict[str, float] = {}
        self._seen: dict[str, float] = {}  # of the last step

    def begin(self) -> None:
        """Collective. The state at the beginning."""
        self._case.begin(self.model)
        self.drive = self.model.largest_drive()
        self._seen = self._limits()
        self.scale = self.rate + self.drive * self._keys.end
        self._seen["step_seconds"] = self._step_seconds(self._times[0])  # of the first step
        self._add_row()
        self.first = {name: value for name, value in self.rows[0].items() if name not in ("step", "time_seconds")}

    def resume(self) -> None:
        """Collective. Go on: arrays and attributes are those of a state."""
        if self.time > self._keys.end:
            raise InputError(
                f"{self._case.file.path}: [time] end: found {self._keys.end:g} s, but the run to be resumed is at "
                f"{self.time:g} s; allowed: from that on"
            )
        self.model.restore()

    def arrays(self) -> dict[str, StateArray]:
        """Velocities at lower faces and the temperature; velocities through upper sides that are open."""
        block, names = self.model.block, [*"uvw"[: self._case.problem.dims], "temperature"]
        found = {
            name: StateArray(AXES, block.shape, [(block.lo, values)])
            for name, values in zip(names, self.model.arrays, strict=False)
        }
        nz, ny, _ = block.shape
        for _, values in self.model.beyond:
            found["u_out"] = StateArray(AXES[:2], (nz, ny), [(block.lo[:2], values)])
        return found

    @property
    def share(self) -> float:
        """How much of the run is done; 1: all of it."""
        return min(1.0, self.time / self._keys.end)

    @property
    def more(self) -> bool:
        """Whether there is a further step."""
        most = self._keys.most_steps
        return self.time < self._keys.end and (most is None or self.steps < most)

    def step(self) -> None:
        """Collective. Take a step, and count it."""
        next_time = self._times[bisect_right(self._times, self.time)]
        dt = self._step_seconds(next_time - self.time)
        self.model.step(dt)
        self.steps += 1
        left = next_time - self.time - dt
        self.time = next_time if left <= SLACK * dt else self.time + dt
        self.counts["cell_updates"] += float(math.prod(self._case.problem.cells))
        self._seen = self._limits() | {"step_seconds": dt}

    def _step_seconds(self, left: float) -> float:
        """The next step, s: the longest that is allowed, or such that those to the next result are alike.

        Raises InputError for a fixed step that is too long.
        """
        keys, diffusive = self._keys, self._case.problem.diffusive_step()
        if keys.step is not None:
            courant = keys.step * (self.rate + keys.step * self.drive)
            if courant > LARGEST_COURANT or keys.step > diffusive:
                raise InputError(
                    f"{self._case.file.path}: [time] step: found {keys.step:g} s after {self.steps} steps, with a "
                    f"Courant number of {courant:.3g} and {keys.step / diffusive:.3g} of the longest step of "
                    f"diffusion; allowed: up to {LARGEST_COURANT:.3f} and 1"
                )
            return min(keys.step, left)
        # The rate may grow meanwhile: from rest it is all that there is.
        after = self.rate + math.sqrt(self.rate**2 + 4 * keys.courant * self.drive)
        longest = min(2 * keys.courant / after if after else math.inf, keys.diffusion * diffusive, left)
        return left / math.ceil(left / longest * (1 - SLACK))

    def _limits(self) -> dict[str, float]:
        """Collective. What the next step is made of, and the divergence. Raises FathometerError where the state has
        come apart."""
        with ledger.phase("diagnostics"):
            found = self.model.limits()
        self.rate = max(found.pop("courant_rate"), self.model.rate_of_sides)
        self._sound = math.isfinite(self.rate) and (not self.scale or self.rate <= MOST_GROWTH * self.scale)
        if not self._sound:
            grown = "is not finite" if not math.isfinite(self.rate) else f"has grown {self.rate / self.scale:.0f} times"
            raise FathometerError(
                f"step {self.steps}: the velocity {grown}: the flow has come apart, as it may where fluid comes in "
                "through an outflow, or with fewer cells than it has eddies"
            )
        return found

    @property
    def sound(self) -> bool:
        """Whether the state is one to go on from."""
        return self._sound

    def look(self, row: bool, needed: bool) -> None:
        """Collective. Look at the state after a step where a row of the time series is due."""
        if row or self.steps % self._case.file.output.course_steps == 0:
            self._add_row()

    def _add_row(self) -> None:
        with ledger.phase("diagnostics"):
            self.rows.append({"step": self.steps, "time_seconds": self.time} | self.model.means() | self._seen)

    def fields_due(self) -> bool:
        """Whether fields are to be written now."""
        return self.time in self._due

    def write_fields(self) -> None:
        """Collective. Write the fields as they are now."""
        self.fields.write(self.time, self.model)

    def draw(self) -> Path:
        """On one rank. Draw the picture; its path."""
        return draw(self._case.file, self._case.facts()["grid"], self._names())

    def _names(self) -> list[str]:
        output = self._case.file.output_directory
        return [str(path.relative_to(output)) for path in self.fields.files(self.fields.written)]

    def told(self) -> Iterator[str]:
        """What a user wants to know before the run, a line each."""
        cells = " x ".join(map(str, self._case.file.grid.cells))
        z, y = self._ranks
        cut = f" ({z} along z, {y} along y)" if self._case.problem.dims == 3 and self.comm.size > 1 else ""
        yield f"{cells} cells up to {self._keys.end:g} s; {number_of(self.comm.size, 'rank')}{cut}"

    def balance(self) -> list[dict[str, Any]]:
        """The divergence that is left, over the largest sum of speed over spacing."""
        divergence = self.rows[-1]["divergence"]
        return [
            {
                "quantity": "divergence",
                "largest_per_second": divergence,
                "error": divergence / self.rate if self.rate else 0.0,
            }
        ]

    def results(self) -> dict[str, Any]:
        """Collective. What the record says of the run beside what all such runs say."""
        return {
            "field_files": self._names(),
            "field_times_seconds": self.fields.written,
            "ranks_along": {"z": self._ranks[0], "y": self._ranks[1]},
            "began_with": self.first,
        }

    def figures(self, account: dict[str, Any]) -> list[Figure]:
        """The run in numbers. Times are those of the slowest rank."""
        total, kernel = account["wall_seconds"]["max"], seconds(account, STEP)
        own = self.steps - self.earlier
        updates = own * math.prod(self._case.problem.cells) / kernel if kernel else 0.0
        written = seconds(account, ("write fields",))
        figures = [
            Figure("total", total, "seconds", "lower"),
            Figure("kernel", kernel, "seconds", "lower", "context"),
            Figure("kernel share", kernel / total, "1", "higher"),
            Figure("steps", own, "1", "none", "context"),
            Figure("cell updates", updates, "cells_per_second", "higher"),
            Figure("write fields", written, "seconds", "lower"),
            Figure("I/O calls of fields", _calls(account, "write fields"), "1", "lower", "context"),
            Figure("peak memory", largest_peak(account["ranks"]), "bytes", "lower"),
        ]
        for phase in STEP:
            figures.append(Figure(phase, seconds(account, (phase,)), "seconds", "lower", "context"))
        return figures

    def close(self) -> None:
        """Collective. Free what the model holds beside memory."""
        self.model.close()


def _calls(account: dict[str, Any], phase: str) -> int:
    """I/O calls of all ranks in a phase."""
    means: list[float] = [e["calls"]["mean"] for e in account["phases"] if (e["phase"], e["category"]) == (phase, "io")]
    return round(sum(means) * len(account["ranks"]))
