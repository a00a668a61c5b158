"""A reactive flow as a model in time (runs/simulation.py): its state, rows of the time series, figures and balance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer.apps.reactive.case import ROUNDING, FlowCase
from fathometer.apps.reactive.chemistry.description import describe
from fathometer.apps.reactive.fields import DESCRIPTION, CellState, FlowFields
from fathometer.apps.reactive.shown import draw
from fathometer.apps.reactive.solver.petsc import options_of
from fathometer.apps.reactive.solver.problem import ReactiveSolver
from fathometer.apps.reactive.solver.stepping import TimeSteps, advance
from fathometer.base.errors import InputError
from fathometer.base.formatting import number_of
from fathometer.parallel.collectives import allgather, allreduce, collective_errors
from fathometer.record.envelope import Figure
from fathometer.record.ranks import largest_peak, seconds
from fathometer.runs.simulation import Simulation, missing_share
from fathometer.runs.state_arrays import StateArray

if TYPE_CHECKING:
    from mpi4py import MPI

COUNTS = ("newton_iterations", "linear_iterations", "cut_steps")
AXES = ("x", "y", "z")
CHARGED = 0.01  # of the sum of all charges' magnitudes, from which a water is said not to be neutral
SOLVE = ("assemble residual", "assemble Jacobian", "solve")  # phases of Newton's method


class FlowSimulation(Simulation):
    """A reactive flow on a rank; rows of its time series are those of this run's steps.

    Attributes:
        stepping: state of the choice of steps. moles: of each component at the beginning.
        outflow: of each component, what has left through the sides.
    """

    fields: FlowFields
    KEPT = ("counts", "stepping", "moles", "outflow")

    def __init__(self, case: FlowCase, comm: MPI.Intracomm) -> None:
        file = case.file
        super().__init__(comm, COUNTS, file.output.restart_steps)
        self._case = case
        self.solver = ReactiveSolver(
            case.flow,
            comm,
            options_of(file.petsc.options),
            tolerance=file.newton.tolerance,
            most_iterations=file.newton.most_iterations,
        )
        self._due = frozenset(file.output_times)
        self._steps = TimeSteps.of(file.time.model_dump(), file.output_times)
        self._taken = advance(self.solver, self._steps)
        self.fields = FlowFields(file, case.system, self.solver.lo, comm)
        self.files = {"fields": file.output_directory / DESCRIPTION}
        self.moles: list[float] = []
        self.outflow: list[float] = []

    @property
    def stepping(self) -> dict[str, Any]:
        """The state of the choice of time steps."""
        return self._steps.state()

    @stepping.setter
    def stepping(self, state: Mapping[str, Any]) -> None:
        self._steps.restore(state)

    def begin(self) -> None:
        """Collective. The state at the beginning."""
        with collective_errors(self.comm):
            self.solver.set_state(*self._case.initial(self.solver.lo, self.solver.hi))
        self.moles = [float(value) for value in self.solver.moles()]
        self.outflow = [0.0] * len(self.moles)

    def resume(self) -> None:
        """Collective. Go on: arrays and attributes are those of a state."""
        if self.time > self._steps.end:
            raise InputError(
                f"{self._case.file.path}: [time] end: found {self._steps.end:g} s, but the run to be resumed is at "
                f"{self.time:g} s; allowed: from that on"
            )

    def arrays(self) -> dict[str, StateArray]:
        """ln of the molalities of the primary species (u_0, u_1, ...), minerals in mol per m³ of bulk (m_0, ...)."""
        solver, shape = self.solver, self._case.flow.shape
        return {
            f"{letter}_{number}": StateArray(AXES, shape, [(tuple(solver.lo), values[..., number])])
            for letter, values in (("u", solver.ln_c), ("m", solver.minerals))
            for number in range(values.shape[-1])
        }

    @property
    def share(self) -> float:
        """How much of the run is done; 1: all of it."""
        return min(1.0, self._steps.time / self._steps.end)

    @property
    def more(self) -> bool:
        """Whether there is a further step."""
        most = self._case.file.time.most_steps
        return not self._steps.done and (most is None or self.steps < most)

    def step(self) -> None:
        """Collective. Take a step, and count it."""
        step = next(self._taken)
        self.steps, self.time = self.steps + 1, self._steps.time
        row = {
            "time_seconds": self.time,
            "step_seconds": step.seconds,
            "newton_iterations": step.newton,
            "linear_iterations": step.linear,
            "cut_steps": step.cuts,
        }
        self.rows.append(row)
        for name in COUNTS:
            self.counts[name] += row[name]
        self.outflow = [before + now for before, now in zip(self.outflow, self.solver.outflow(), strict=True)]

    def fields_due(self) -> bool:
        """Whether fields are to be written now."""
        return self.time in self._due

    def write_fields(self) -> None:
        """Collective. Write the fields as they are now."""
        solver = self.solver
        ln_activity, strength = solver.species()
        self.fields.write_state(
            self.time, CellState(solver.ln_c, solver.totals(), solver.minerals, ln_activity, strength)
        )

    def draw(self) -> Path:
        """On one rank. Draw the picture; its path."""
        return draw(self._case.file, self.fields.fields, self.fields.written)

    def told(self) -> Iterator[str]:
        """What a user wants to know before the run, a line each."""
        grid, system, size = self._case.file.grid, self._case.system, self.comm.size
        yield (
            f"{' x '.join(map(str, grid.cells))} cells, {len(system.primary)} components, {len(system.secondary)} "
            f"further species, {number_of(len(system.minerals), 'mineral')}; "
            f"{number_of(size, 'rank')}"
        )

    def notes(self) -> list[str]:
        """Collective. What is no error, and yet not what most users want."""
        case, system, notes = self._case, self._case.system, []
        if unused := self.solver.unused_options():
            notes.append(f"PETSc has not used these options: {', '.join(unused)}")
        for name, ln_c in case.waters.items():
            found = describe(system, ln_c)
            charge, molalities = found["charge_eq_per_kg"], np.array([*found["molalities_mol_per_kg"].values()])
            if abs(charge) > CHARGED * float(np.abs(system.charge) @ molalities):
                notes.append(
                    f'the water "{name}" is not neutral: {charge:.3g} eq/kg; one ion with charge = true makes it so'
                )
        taken = self.solver.minerals @ system.molar_volume + case.flow.porosity(self.solver.lo, self.solver.hi)
        most = allreduce(self.comm, float(taken.max()), "MAX")
        if most > 1 + ROUNDING:
            notes.append(
                f"pores are overfull: minerals and pores together take up to {most:.4g} of the volume of a cell; the "
                "porosity stays as it was given"
            )
        return notes

    def balance(self) -> list[dict[str, Any]]:
        """Moles of each component at the beginning, now, and what has left through the sides; error: what is missing,
        relative to the largest of these."""
        rows = []
        moles = self.solver.moles()
        for name, before, now, out in zip(self._case.system.primary, self.moles, moles, self.outflow, strict=True):
            rows.append(
                {
                    "component": name,
                    "moles_before": before,
                    "moles_after": float(now),
                    "moles_out": out,
                    "error": missing_share(before, float(now), -out),
                }
            )
        return rows

    def results(self) -> dict[str, Any]:
        """Collective. What the record says of the run beside what all such runs say."""
        logs = allgather(self.comm, self.solver.log())
        return {
            "blocks": allgather(self.comm, [list(self.solver.lo), list(self.solver.hi)]),
            "field_times_seconds": self.fields.written,
            "fields": [asdict(field) for field in self.fields.fields],
            "petsc": {"version": logs[0]["version"], "ranks": [log["events"] for log in logs]},
            "unused_petsc_options": self.solver.unused_options(),
        }

    def figures(self, account: dict[str, Any]) -> list[Figure]:
        """The run in numbers. Times are those of the slowest rank, iterations those of this run."""
        total, solve = account["wall_seconds"]["max"], seconds(account, SOLVE)
        peak = largest_peak(account["ranks"])
        steps, cells = len(self.rows), float(np.prod(self._case.file.grid.cells))
        newton, linear = (sum(row[name] for row in self.rows) for name in ("newton_iterations", "linear_iterations"))
        figures = [
            Figure("total", total, "seconds", "lower"),
            Figure("kernel", solve, "seconds", "lower", "context"),
            Figure("kernel share", solve / total, "1", "higher"),
            Figure("steps", steps, "1", "none", "context"),
            Figure("newton iterations", newton, "1", "lower", "context"),
            Figure("linear iterations", linear, "1", "lower", "context"),
            Figure("cell iterations", cells * newton / solve if solve else 0.0, "cells_per_second", "higher"),
            Figure("peak memory", peak, "bytes", "lower"),
        ]
        if steps:
            figures.insert(2, Figure("seconds a step", solve / steps, "seconds", "lower"))
            for phase in SOLVE:
                figures.append(Figure(phase, seconds(account, (phase,)), "seconds", "lower", "context"))
        return figures
