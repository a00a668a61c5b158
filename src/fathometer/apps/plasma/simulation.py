"""Plasma turbulence as a model in time (runs/simulation.py): its state, rows of the time series, figures."""

from __future__ import annotations

import cmath
import itertools
import math
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fathometer import _native
from fathometer.apps.plasma.case import PlasmaCase, ranks_of
from fathometer.apps.plasma.cost import KERNEL, messages
from fathometer.apps.plasma.fields import PlasmaFields
from fathometer.apps.plasma.shown import draw
from fathometer.apps.plasma.solver.model import PlasmaModel, Sums
from fathometer.apps.plasma.solver.stepping import MARGIN, METHODS, limits, measured_rate
from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.formatting import number_of
from fathometer.parallel.collectives import synchronised
from fathometer.record.envelope import Figure
from fathometer.record.ranks import largest_peak, seconds
from fathometer.runs.simulation import Simulation
from fathometer.runs.state_arrays import StateArray

if TYPE_CHECKING:
    from mpi4py import MPI

DIMENSIONS = ("ky", "velocity", "place")
GROWTH_STEPS = 10  # at most, between looks at the growth of linear modes: their phase turns by less than a half
FOLDED = 2.0  # of that phase, beyond which a frequency may be another one
WINDOW = 20  # looks over which growth rates are means, and have to stay
LARGE = 2.0**200  # of a linear mode's potential, beyond which it is scaled
SLACK = 1e-9  # of a step: what is left of an interval is not a step of its own


class PlasmaSimulation(Simulation):
    """A plasma on a rank.

    Attributes:
        growth: of linear runs, every few steps: gamma and omega of each ky since the time before, v_i/R.
        seen_at: time of the last one.
        scaled: of linear runs, powers of two by which each ky was divided, for good.
        rate: of the linear terms together, v_i/R; measured: without their limits.
        budget: free energy that has come and gone, by its source; last_sums: how much did, at the last row.
    """

    fields: PlasmaFields
    KEPT = (
        *("rows", "counts", "growth", "scaled", "rate", "measured", "budget", "last_sums", "field_times", "seen_at"),
    )
    TIME = ("R/v", "time_R_over_v")

    def __init__(self, case: PlasmaCase, comm: MPI.Intracomm) -> None:
        file = case.file
        super().__init__(comm, ("updates",), file.output.restart_steps)
        self._case, self._keys = case, file.time
        self._ranks = ranks_of(file, case.plasma, comm.size)
        workers = _native.threads()
        self.model = PlasmaModel(case.plasma, self._ranks, comm, file.parallel.protocol, file.parallel.overlap, workers)
        self._stepper = METHODS[file.time.method](self.model)
        self.fields = PlasmaFields(case, comm)
        self.files = {"fields": self.fields.folder}
        self._times = file.output_times
        self._due = frozenset(self._times)
        self.rate = self.measured = self.seen_at = 0.0
        self.growth: list[dict[str, Any]] = []
        self.scaled = [0] * len(case.plasma.tube.modes.ky)
        self.budget: dict[str, float] = {}
        self.last_sums: dict[str, float] = {}
        self.field_times: list[float] = []
        modes, _, points, waves = case.plasma.sizes
        self._before = np.zeros((modes, points, waves), np.complex128)  # phi at the last row
        self._flow_rate = 0.0
        self._growth_steps = min(GROWTH_STEPS, file.output.course_steps)
        self._converged = self._sound = False

    def begin(self) -> None:
        """Collective. The state at the beginning."""
        self._prepare()
        self._case.begin(self.model)
        self.budget = dict.fromkeys(("drive", "upwind", "damping", "collisions"), 0.0)
        self._sound = True
        sums = self._look()
        self._add_row(sums)
        if not self._case.plasma.nonlinear:
            self._grow(sums.fields)

    def resume(self) -> None:
        """Collective. Go on: arrays and attributes are those of a state."""
        if self.time > self._keys.end:
            raise InputError(
                f"{self._case.file.path}: [time] end: found {self._keys.end:g} R/v, but the run to be resumed is at "
                f"{self.time:g} R/v; allowed: from that on"
            )
        self._sound = True
        with synchronised(self.comm), ledger.communication():
            self.comm.Bcast(self._before.view(np.float64), 0)
        self._converged = self._has_converged()

    def _prepare(self) -> None:
        """Collective. The rate of the linear terms."""
        with ledger.phase("step limit"), ledger.Ledger():  # whose parts are none of a step
            self.measured = measured_rate(self.model)
        self.rate = max(MARGIN * self.measured, sum(limits(self._case.plasma).values()))
        step = self._keys.step
        if step is not None and step * self.rate > self._stepper.reach:
            raise InputError(
                f"{self._case.file.path}: [time] step: found {step:g} R/v; allowed: up to "
                f"{self._stepper.reach / self.rate:.4g}, for linear terms of {self.rate:.4g} v/R"
            )

    def arrays(self) -> dict[str, StateArray]:
        """The distribution function, real and imaginary parts next to each other along kx."""
        modes, velocities, points, waves = self._case.plasma.sizes
        share = self.model.share
        lo = (share.own_modes.start, share.own_velocities.start, 0)
        values = self.model.g.view(np.float64).reshape(*self.model.g.shape[:2], -1)
        found = {"g": StateArray(DIMENSIONS, (modes, velocities, 2 * points * waves), [(lo, values)])}
        if not self._case.plasma.nonlinear:
            boxes = [((0, 0, 0), self._before.view(np.float64))] if self.comm.rank == 0 else []
            found["phi"] = StateArray(("ky", "theta", "kx"), (modes, points, 2 * waves), boxes)
        return found

    @property
    def share(self) -> float:
        """How much of the run is done; 1: all of it."""
        return 1.0 if self._converged else min(1.0, self.time / self._keys.end)

    @property
    def more(self) -> bool:
        """Whether there is a further step."""
        most = self._keys.most_steps
        return not self._converged and self.time < self._keys.end and (most is None or self.steps < most)

    def step(self) -> None:
        """Collective. Take a step, and count it."""
        next_time = self._times[bisect_right(self._times, self.time)]
        dt = self._stepper.step(lambda flow: self._step_length(flow, next_time - self.time))
        self.steps += 1
        left = next_time - self.time - dt
        self.time = next_time if left <= SLACK * dt else self.time + dt
        self.counts["updates"] += float(math.prod(self._case.plasma.sizes))

    def _step_length(self, flow: float, left: float) -> float:
        """The next step: as the linear terms and the flow across the field allow, or such that those to the next result
        are alike. Raises FathometerError where the state has come apart, InputError for a step that is too long."""
        keys, reach = self._keys, self._stepper.reach
        self._flow_rate = flow
        if not math.isfinite(flow):
            self._sound = False
            raise FathometerError(f"step {self.steps}: the potential is not finite: the plasma has come apart")
        if keys.step is not None:
            if keys.step * (self.rate + flow) > reach:
                raise InputError(
                    f"{self._case.file.path}: [time] step: found {keys.step:g} R/v after {self.steps} steps, with a "
                    f"flow across the field of {flow:.3g} v/R; allowed: up to {reach / (self.rate + flow):.3g}"
                )
            return min(keys.step, left)
        longest = min(keys.courant * reach / (self.rate + flow), left)
        return left / math.ceil(left / longest * (1 - SLACK))

    @property
    def sound(self) -> bool:
        """Whether the state is one to go on from."""
        return self._sound

    def look(self, row: bool, needed: bool) -> None:
        """Collective. Look at the state after a step where a row of the time series is due."""
        row_due = row or self.steps % self._case.file.output.course_steps == 0
        growth_due = not self._case.plasma.nonlinear and (row or self.steps % self._growth_steps == 0)
        sums = self._look() if row_due or needed else None
        if sums is not None and row_due:
            self._add_row(sums)
        if growth_due:
            self._grow(self.model.all_fields() if sums is None else sums.fields)

    def _look(self) -> Sums:
        """Collective. Sums of a state that has not come apart; FathometerError where it has."""
        sums = self.model.sums()
        self._sound = math.isfinite(sums.free_energy)
        if not self._sound:
            raise FathometerError(f"step {self.steps}: the free energy is not finite: the plasma has come apart")
        return sums

    def _add_row(self, sums: Sums) -> None:
        """A row of the state as it is, where the last one is of another."""
        since = self.time - self.rows[-1][self.TIME[1]] if self.rows else 0.0
        if self.rows and not since:
            return
        now = {name: getattr(sums, name) for name in self.budget}
        for name, value in now.items() if self.rows else ():
            self.budget[name] += 0.5 * since * (self.last_sums[name] + value)
        self.last_sums = now
        plasma = self._case.plasma
        squares = sums.phi_squared
        zonal = plasma.tube.modes.ky == 0
        row: dict[str, Any] = {"step": self.steps, self.TIME[1]: self.time, "free_energy": sums.free_energy}
        row |= {"phi_zonal": float(squares[zonal].sum()), "phi_waves": float(squares[~zonal].sum())}
        for number, one in enumerate(plasma.grid.species):
            for moment, name in (("energy", "heat_flux"), ("particles", "particle_flux")):
                row[f"{name}_{one.name}"] = float(np.sum(sums.flux(number, moment)))
        row["flow_rate"] = self._flow_rate
        self.rows.append(row)
        if not plasma.nonlinear:
            waves = plasma.tube.modes.waves
            first = 0 if self._case.file.modes.kind == "joined" else waves // 2
            phi = sums.fields[0][0, :, first].real  # of the first ky, at the middle of its field line
            row["phi_mean"] = float(np.sum(phi * plasma.tube.weight))
            row["phi_middle"] = float(phi[plasma.tube.points // 2])

    def _grow(self, fields: npt.NDArray[np.complex128]) -> None:
        """The growth of each ky since the last time, of the fields as they are; what has grown large is scaled."""
        phi, before, since = fields[0], self._before, self.time - self.seen_at
        if since:
            found = [_growth(old, new, since) for old, new in zip(before, phi, strict=True)]
            rates = {"gamma": [one.real for one in found], "omega": [one.imag for one in found]}
            self.growth.append({self.TIME[1]: self.time} | rates)
        self.seen_at = self.time
        self._before[...] = phi
        own = self.model.share.own_modes
        for number, values in enumerate(phi):
            if (size := float(np.abs(values).max())) > LARGE:
                exponent = math.frexp(size)[1]
                self.scaled[number] += exponent
                self._before[number] *= math.ldexp(1.0, -exponent)
                if own.start <= number < own.stop:
                    self.model.g[number - own.start] *= math.ldexp(1.0, -exponent)
        self._converged = self._has_converged()

    def _has_converged(self) -> bool:
        tolerance = self._keys.tolerance
        if not tolerance or len(self.growth) < 2 * WINDOW:
            return False
        return all(entry["change"] <= tolerance for entry in self.modes())

    def modes(self) -> list[dict[str, Any]]:
        """Of each ky of a linear run: gamma and omega, v_i/R, means of the last looks, and how much they changed
        meanwhile; None: it was looked at too seldom."""
        if not self.growth:
            return []
        last = [np.array([row[name] for row in self.growth[-2 * WINDOW :]]) for name in ("gamma", "omega")]
        half = max(1, len(last[0]) // 2)
        found = []
        for number, ky in enumerate(self._case.plasma.tube.modes.ky):
            now = [float(each[-half:, number].mean()) for each in last]
            change = max(float(np.ptp(each[:, number])) for each in last) if len(last[0]) > 1 else None
            found.append({"ky": float(ky), "gamma": now[0], "omega": now[1], "change": change})
        return found

    def fields_due(self) -> bool:
        """Whether fields are to be written now."""
        return self.time in self._due

    def write_fields(self) -> None:
        """Collective. Write the fields as they are now."""
        self.fields.write_fields(self.steps, self.time, self.model.all_fields())
        self.field_times.append(self.time)

    def draw(self) -> Path:
        """On one rank. Draw the picture; its path."""
        return draw(self._record(), self._case.file.output_directory, self._case.file.path.stem)

    def _record(self) -> dict[str, Any]:
        return {"results": {**self._case.facts(), **self._known(), "course": self.rows}}

    def _known(self) -> dict[str, Any]:
        return {
            "field_files": [
                str(path.relative_to(self.fields.output)) for path in self.fields.files(self.fields.written)
            ],
            "field_times_R_over_v": self.field_times,
            "modes": self.modes(),
            "growth": self.growth,
        }

    def told(self) -> Iterator[str]:
        """What a user wants to know before the run, a line each."""
        modes, velocities, points, waves = self._case.plasma.sizes
        p1, p2 = self._ranks
        cut = f" ({p1} for velocities, {p2} for ky)" if self.comm.size > 1 else ""
        yield (
            f"{modes} ky x {waves} kx x {points} theta x {velocities} velocities up to {self._keys.end:g} R/v; "
            f"{number_of(self.comm.size, 'rank')}{cut}"
        )

    def balance(self) -> list[dict[str, Any]]:
        """What there is of the free energy, and what has come and gone; in a linear run modes of a chain lose some at
        its ends."""
        if not self._case.plasma.nonlinear:
            return []
        first, now = self.rows[0]["free_energy"], self.rows[-1]["free_energy"]
        gained = sum(self.budget.values())
        turned_over = sum(map(abs, self.budget.values())) or abs(now)
        return [
            {
                "quantity": "free energy",
                "first": first,
                "last": now,
                **self.budget,
                "error": abs(now - first - gained) / turned_over,
            }
        ]

    def notes(self) -> list[str]:
        """What is no error, and yet not what most users want."""
        found = []
        together = sum(limits(self._case.plasma).values())
        if self.measured > 2 * together:
            found.append(
                f"the potentials make the linear terms {self.measured / together:.1f} times as fast as their limits, "
                "and steps as much shorter: a smaller [[species]] upwind of electrons may help"
            )
        if any(self.scaled):
            found.append(
                "potentials that had grown large were divided by powers of two (`scaled`): squares and fluxes in the "
                "time series are of what was left"
            )
        turns = [
            abs(omega) * (row[self.TIME[1]] - last[self.TIME[1]])
            for last, row in itertools.pairwise(self.growth[-2 * WINDOW :])
            for omega in row["omega"]
        ]
        if max(turns, default=0.0) > FOLDED:
            found.append("phases turn so much between two looks that frequencies may be others: fewer course_steps")
        return found

    def results(self) -> dict[str, Any]:
        """Collective. What the record says of the run beside what all such runs say."""
        plasma = self._case.plasma
        return self._known() | {
            "ranks_over": {"velocities": self._ranks[0], "modes": self._ranks[1]},
            "rates": limits(plasma) | {"together": self.rate, "measured": self.measured},
            "scaled": self.scaled,
            "stages": self._stepper.stages,
            "messages_of_a_stage": messages(plasma, self._ranks, self._case.file.parallel.protocol),
            "spectrum": self.model.sums().phi_squared.tolist(),
        }

    def figures(self, account: dict[str, Any]) -> list[Figure]:
        """The run in numbers. Times are those of the slowest rank."""
        total, kernel = account["wall_seconds"]["max"], seconds(account, KERNEL)
        own = self.steps - self.earlier
        updates = own * math.prod(self._case.plasma.sizes) / kernel if kernel else 0.0
        moved = seconds(account, ("transpose", "gather"))
        simulated = self.time if not self.earlier else self.time * own / max(self.steps, 1)
        figures = [
            Figure("total", total, "seconds", "lower"),
            Figure("kernel", kernel, "seconds", "lower", "context"),
            Figure("kernel share", kernel / total, "1", "higher"),
            Figure("steps", own, "1", "none", "context"),
            Figure("rate", simulated / kernel if kernel else 0.0, "time_units_per_second", "higher"),
            Figure("communication share", moved / kernel if kernel else 0.0, "1", "lower"),
            Figure("updates", updates, "cells_per_second", "higher"),
            Figure("write fields", seconds(account, ("write fields",)), "seconds", "lower", "context"),
            Figure("peak memory", largest_peak(account["ranks"]), "bytes", "lower"),
        ]
        for phase in KERNEL:
            figures.append(Figure(phase, seconds(account, (phase,)), "seconds", "lower", "context"))
        return figures

    def close(self) -> None:
        """Collective. Free what the model holds beside memory."""
        self.model.close()


def _growth(before: npt.NDArray[np.complex128], now: npt.NDArray[np.complex128], since: float) -> complex:
    """gamma + i omega of a potential that grows as exp((gamma + i omega) t), by its projection onto that before."""
    along, size = np.sum(np.conj(before) * now), np.sum(np.abs(before) ** 2)
    return cmath.log(complex(along / size)) / since if along and size else 0j
