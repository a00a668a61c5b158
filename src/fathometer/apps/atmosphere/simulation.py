"""An atmosphere as a model in time (runs/simulation.py): its state, rows of the time series, figures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fathometer import _native
from fathometer.apps.atmosphere.atmosphere_file import DAY
from fathometer.apps.atmosphere.case import AtmosphereCase, check_ranks, check_step
from fathometer.apps.atmosphere.cost import KERNEL, messages
from fathometer.apps.atmosphere.fields import AtmosphereFields, Floats
from fathometer.apps.atmosphere.shown import draw
from fathometer.apps.atmosphere.solver.columns import PHASE, nodes_of
from fathometer.apps.atmosphere.solver.equations import Primitive
from fathometer.apps.atmosphere.solver.model import SpectralModel
from fathometer.apps.atmosphere.solver.physics import Physics
from fathometer.apps.atmosphere.solver.sums import Diagnostics, Means
from fathometer.apps.atmosphere.solver.tracers import WIDTH, Tracers
from fathometer.apps.atmosphere.solver.transform import Transform, rows_of
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.formatting import number_of
from fathometer.record.envelope import Figure
from fathometer.record.ranks import largest_peak, seconds
from fathometer.runs.simulation import Simulation, missing_share
from fathometer.runs.state_arrays import StateArray

if TYPE_CHECKING:
    from mpi4py import MPI

YEAR = 365 * DAY


class AtmosphereSimulation(Simulation):
    """An atmosphere on a rank."""

    fields: AtmosphereFields
    KEPT = ("rows", "counts", "field_times")

    def __init__(self, case: AtmosphereCase, comm: MPI.Intracomm) -> None:
        file = case.file
        super().__init__(comm, ("updates",), file.output.restart_steps)
        check_ranks(case, comm.size)
        self._case = case
        transform = Transform(case.grid, comm, file.parallel.protocol, _native.threads())
        keys = file.numerics
        self.model = SpectralModel(
            case.equations, transform, case.ground, file.damping, keys.filter, keys.damping_power
        )
        self._means = Diagnostics(self.model)
        self._nodes = nodes_of(comm)
        self.physics: Physics | None = None
        if file.forcing is not None:
            assert isinstance(case.equations, Primitive)
            self.physics = Physics(file.forcing, case.equations, transform, self._nodes)
        self.tracers: Tracers | None = None
        if file.tracers:
            self.tracers = Tracers(case.equations, transform, len(file.tracers))
        self.fields = AtmosphereFields(case, transform, comm)
        self.files = {"fields": self.fields.folder}
        self._end = file.last_step
        self._imbalance = 1.0
        self.field_times: list[float] = []
        self._weather: tuple[int, Floats] | None = None  # with the steps before it

    def begin(self) -> None:
        """Collective. The state at the beginning."""
        self.model.begin(self._case.weather)
        if self.tracers is not None:
            self.tracers.begin(self._case.tracers)
        means = self._look()
        check_step(self._case, means.speed)
        if self.physics is not None:
            self.physics.begin(self._weather_now())
            self.physics.force(0.0, self._case.file.step)
        self._add_row(means)

    def resume(self) -> None:
        """Collective. Go on: arrays and attributes are those of a state."""
        if self.steps > self._case.file.steps:
            raise InputError(
                f"{self._case.file.path}: [time] end: found {self._case.file.time.end:g} days, but the run to be "
                f"resumed is at {self.time / DAY:g} days; allowed: from that on"
            )

    def arrays(self) -> dict[str, StateArray]:
        """Coefficients of two times, real and imaginary parts next to each other, by m in its order."""
        truncation = self._case.grid.truncation
        first = np.concatenate([[0], np.cumsum([rows_of(truncation, [m]) for m in range(truncation + 1)])])
        begin = self.model.transform.sphere.begin
        found = {}
        for name, values in (("now", self.model.now), ("before", self.model.before)):
            flat = values.view(np.float64)
            boxes = [
                ((int(first[m]), 0), flat[begin[number] : begin[number + 1]])
                for number, m in enumerate(self.model.transform.waves)
            ]
            found[name] = StateArray(("row", "column"), (int(first[-1]), flat.shape[1]), boxes)
        on_grid: dict[str, Floats] = {}
        if self.physics is not None:
            # Of the step before: forcing comes from it.
            on_grid |= {"weather": self.physics.weather, "results": self.physics.results}
        if self.tracers is not None:
            on_grid |= {"tracers": self.tracers.values, "winds": self.tracers.before}
        for name, columns in on_grid.items():
            rings = columns.reshape(len(columns), -1)
            shape = (self._case.grid.pairs, rings.shape[1])
            boxes = [((self.model.transform.pairs.start, 0), rings)]
            found[name] = StateArray(("pair", f"{name}_of_pair"), shape, boxes)
        return found

    @property
    def share(self) -> float:
        """How much of the run is done; 1: all of it."""
        return min(1.0, self.steps / self._end)

    def step(self) -> None:
        """Collective. Take a step, and count it."""
        step, first = self._case.file.step, self.steps == 0
        winds = None if self.tracers is None else self.tracers.winds
        if self.physics is None:
            rates = self.model.rates(winds=winds)
        else:
            self.physics.force(max(0, self.steps - 1) * step, step if first else 2 * step)
            rates = self.model.rates(self.physics.of_pair, self.physics.weather_now, winds)
            self.physics.advance()
        if self.tracers is not None:
            self.tracers.step(step, first)
        self.model.leap(rates, step, first)
        self.steps += 1
        self.time = self.steps * self._case.file.step
        _, levels, latitudes, longitudes = self._case.sizes
        self.counts["updates"] += float(levels * latitudes * longitudes)

    @property
    def sound(self) -> bool:
        """It is not where a step fails: only air that has come apart, with winds no tracer can follow, makes one."""
        return False

    def look(self, row: bool, needed: bool) -> None:
        """Collective. Look at the state after a step where a row of the time series is due."""
        row_due = row or self.steps % self._case.file.course_steps == 0
        if not (row_due or needed):
            return
        means = self._look()
        if row_due:
            self._add_row(means)

    def _look(self) -> Means:
        """Collective. Means of a state that has not come apart; FathometerError where it has."""
        means = self._means(self._weather_now())
        if not all(math.isfinite(value) for value in (means.mass, means.energy, means.speed)):
            raise FathometerError(
                f"step {self.steps}: the wind is not finite: the air has come apart; a shorter [time] step or more "
                "[numerics] damping may help"
            )
        return means

    def _weather_now(self) -> Floats:
        if self._weather is None or self._weather[0] != self.steps:
            self._weather = (self.steps, self.model.weather())
        return self._weather[1]

    def _add_row(self, means: Means) -> None:
        """A row of the state as it is, where the last one is of another."""
        if self.rows and self.rows[-1]["step"] == self.steps:
            return
        mass, unit = ("depth", "m") if self._case.equations.SHALLOW else ("pressure", "Pa")
        self.rows.append(
            {
                "step": self.steps,
                self.TIME[1]: self.time,
                f"mean_{mass}_{unit}": means.mass,
                f"least_{mass}_{unit}": means.least,
                f"largest_{mass}_{unit}": means.most,
                "energy": means.energy,
                "kinetic_energy": means.kinetic,
                "largest_speed": means.speed,
            }
            | self._forced()
            | self._carried()
        )

    def _carried(self) -> dict[str, float]:
        """Collective. Means by mass and extremes of tracers."""
        if self.tracers is None:
            return {}
        found = self._means.of_tracers(self._weather_now(), self.tracers.values)
        return {
            f"{what}_of_{tracer.name}": value
            for tracer, values in zip(self._case.file.tracers, found, strict=True)
            for what, value in zip(("mean", "least", "largest"), values, strict=True)
        }

    def _forced(self) -> dict[str, float]:
        """Collective. Means of what physics has found last."""
        if self.physics is None or self._case.file.physics.forcing != "radiation":
            return {}
        names = ("longwave_to_space", "absorbed_shortwave", "taken_up_by_the_ground", "layers_joined")
        return dict(zip(names, self._means.of_columns(self.physics.results), strict=True))

    def fields_due(self) -> bool:
        """Whether fields are to be written now."""
        return self.steps % self._case.file.result_steps == 0 or self.steps == self._end

    def write_fields(self) -> None:
        """Collective. Write the fields as they are now."""
        tracers = None if self.tracers is None else self.tracers.values
        self.fields.write_fields(self.steps, self.time, self._weather_now(), tracers)
        self.field_times.append(self.time)

    def draw(self) -> Path:
        """On one rank. Draw the picture; its path."""
        record = {"results": {**self._case.facts(), **self._known(), "course": self.rows}}
        return draw(record, self._case.file.output_directory, self._case.file.path.stem)

    def _known(self) -> dict[str, Any]:
        files = self.fields.files(self.fields.written)
        return {
            "field_files": [str(path.relative_to(self.fields.output)) for path in files],
            "field_times_seconds": self.field_times,
        }

    def told(self) -> Iterator[str]:
        """What a user wants to know before the run, a line each."""
        truncation, levels, latitudes, longitudes = self._case.sizes
        what = "shallow water" if self._case.equations.SHALLOW else number_of(levels, "level")
        yield (
            f"T{truncation}, {latitudes} x {longitudes} points, {what}, {self._end} steps of "
            f"{self._case.file.step:g} s; {number_of(self.comm.size, 'rank')}"
        )

    def balance(self) -> list[dict[str, Any]]:
        """Mass and energy: the first is kept but for rounding and the filter, the second but for damping. Tracers,
        which are interpolated, are kept but for that."""
        first, now = self.rows[0], self.rows[-1]
        mass = next(name for name in now if name.startswith("mean_"))
        names = [("mass", mass), ("energy", "energy")]
        names += [(tracer.name, f"mean_of_{tracer.name}") for tracer in self._case.file.tracers]
        return [
            {
                "quantity": what,
                "first": first[name],
                "last": now[name],
                "error": missing_share(first[name], now[name], 0.0),
            }
            for what, name in names
        ]

    def steady(self) -> list[str]:
        """Tracers that are uniform, which no wind changes."""
        return [tracer.name for tracer in self._case.file.tracers if tracer.shape == "uniform"]

    def results(self) -> dict[str, Any]:
        """Collective. What the record says of the run beside what all such runs say."""
        if self.physics is not None:
            self._imbalance = self.physics.imbalance()
        return self._known() | {
            "messages_of_a_step": messages(
                self._case, self._nodes, WIDTH if self.tracers is None else self.tracers.width
            ),
            "spectrum": self._means.spectrum().T.tolist(),
        }

    def figures(self, account: dict[str, Any]) -> list[Figure]:
        """The run in numbers. Times are those of the slowest rank."""
        total, kernel = account["wall_seconds"]["max"], seconds(account, KERNEL)
        own = self.steps - self.earlier
        _, levels, latitudes, longitudes = self._case.sizes
        updates = own * levels * latitudes * longitudes
        years = own * self._case.file.step / YEAR
        moved = seconds(account, ("transpose", PHASE)) + seconds(account, ("tracers",), "communication")
        figures = [
            Figure("total", total, "seconds", "lower"),
            Figure("kernel", kernel, "seconds", "lower", "context"),
            Figure("kernel share", kernel / total, "1", "higher"),
            Figure("steps", own, "1", "none", "context"),
            Figure("rate", years / (kernel / DAY) if kernel else 0.0, "years_per_day", "higher"),
            Figure("communication share", moved / kernel if kernel else 0.0, "1", "lower"),
            Figure("waiting", seconds(account, KERNEL, "idle"), "seconds", "lower", "context"),
            Figure("physics imbalance", self._imbalance, "1", "lower", "context"),
            Figure("updates", updates / kernel if kernel else 0.0, "cells_per_second", "higher"),
            Figure("write fields", seconds(account, ("write fields",)), "seconds", "lower", "context"),
            Figure("peak memory", largest_peak(account["ranks"]), "bytes", "lower"),
        ]
        for phase in KERNEL:
            figures.append(Figure(phase, seconds(account, (phase,)), "seconds", "lower", "context"))
        return figures

    def close(self) -> None:
        """Collective. Free what the model holds beside memory."""
        self.model.close()
