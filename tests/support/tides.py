"""An application as small as one can be whose model steps in time: tides in a channel. docs/adding-an-application.md
shows it piece by piece; tests register it (TIDES in `APPLICATIONS`).

Long waves of small height h on water of the depth H, with the velocity u along the channel and a linear friction r:
dh/dt = -H du/dx and du/dt = -g dh/dx - r u. At the western end the height is a sine, the eastern one is a wall.
"""

# --- input

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge, Gt, Le
from mpi4py import MPI
from pydantic import model_validator

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.formatting import time_text, times_text
from fathometer.config.input_file import InputFile
from fathometer.config.quantities import SimulatedTime
from fathometer.config.table import Table, key, section
from fathometer.config.types import Count, FolderName
from fathometer.parallel.collectives import allreduce
from fathometer.parallel.decomposition import split
from fathometer.pictures import sheet
from fathometer.plan.layouts import layouts_of
from fathometer.plan.machine_file import Machine
from fathometer.plan.phase import Phase
from fathometer.plan.prediction import Prediction
from fathometer.record.envelope import Figure
from fathometer.record.ranks import seconds
from fathometer.report.missing import panels_of_results, panels_or_missing
from fathometer.report.scale import spread
from fathometer.runs.application import Application, CostEstimate, Heading, Identity, Panel
from fathometer.runs.field_series import NetcdfSeries
from fathometer.runs.restart_hint import DIRECTORY
from fathometer.runs.simulation import Simulation
from fathometer.runs.state_arrays import StateArray
from fathometer.runs.time_application import TimeApplication
from fathometer.shown.lines import Lines, lines_figure, lines_panel
from fathometer.storage.datasets.dataset import Dataset, Variable
from fathometer.storage.datasets.reader import DatasetFile
from fathometer.storage.reading import readable
from fathometer.storage.volumes.strategy import Strategy

TIDES = "tides:APPLICATION"
GRAVITY = 9.81  # m/s²


class ChannelTable(Table):
    """The channel."""

    length: Annotated[float, Gt(0), Le(1e8)] = key("of the channel", "m")
    depth: Annotated[float, Gt(0), Le(12_000)] = key("of the water", "m")
    cells: Annotated[int, Ge(2)] = key("along the channel")
    friction: Annotated[float, Ge(0), Le(1)] = key("linear, of the velocity", "1/s", 0.0)


class TideTable(Table):
    """The tide at the western end."""

    amplitude: Annotated[float, Gt(0), Le(100)] = key("of the height", "m")
    period: SimulatedTime = key("of the tide", "s")


class TimeTable(Table):
    """Time steps."""

    step: SimulatedTime = key("length of a time step", "s")
    steps: Count = key("how many")


class OutputTable(Table):
    """Where the results go."""

    directory: FolderName = key("folder of the results; relative to the tides file", "", DIRECTORY)
    every_steps: Count = key("steps between fields", "", 100)
    restart_steps: Count = key("steps between restart files", "", 1000)


class TidesFile(InputFile):
    """The input of a run."""

    channel: ChannelTable = key("the channel")
    tide: TideTable = key("the tide at its end")
    time: TimeTable = key("time steps")
    output: OutputTable = section("where the results go", OutputTable)

    @property
    def output_directory(self) -> Path:
        """Folder of the results."""
        return self.directory / self.output.directory

    @property
    def spacing(self) -> float:
        """Of cells, m."""
        return self.channel.length / self.channel.cells

    @model_validator(mode="after")
    def _is_stable(self) -> Self:
        longest = self.spacing / math.sqrt(GRAVITY * self.channel.depth)
        if self.time.step > longest * (1 + 1e-12):
            raise ValueError(f"[time] step: found {self.time.step:g} s; allowed: up to {longest:g} s, for these cells")
        return self


# --- model


class Channel:
    """The water of a rank's cells lo to hi: heights h (m) at centres, velocities u (m/s) at western faces."""

    def __init__(self, file: TidesFile, comm: MPI.Intracomm) -> None:
        cells = file.channel.cells
        if comm.size > cells:
            raise InputError(f"{file.path}: found {comm.size} ranks; allowed: up to {cells}, one a cell")
        self.file, self.comm = file, comm
        self.lo, self.hi = split(cells, comm.size, comm.rank)
        self.h, self.u = np.zeros(self.hi - self.lo), np.zeros(self.hi - self.lo)

    def step(self, time: float) -> float:
        """Collective. A step to a time, s; the volume a metre of width, m², that has come in at the western end."""
        keys, tide, dt, dx = self.file.channel, self.file.tide, self.file.time.step, self.file.spacing
        with ledger.phase("step"):
            outside = tide.amplitude * math.sin(2 * math.pi * (time - dt) / tide.period)  # half a cell to the west
            west = self._exchange(self.h[-1:], 1, outside)
            slope = np.diff(self.h, prepend=west) / dx
            self.u[...] = (self.u - dt * GRAVITY * slope) / (1 + dt * keys.friction)
            east = self._exchange(self.u[:1], -1, 0.0)
            self.h -= dt * keys.depth * np.diff(self.u, append=east) / dx
        return dt * keys.depth * float(self.u[0]) if self.comm.rank == 0 else 0.0

    def _exchange(self, values: np.ndarray, to: int, at_end: float) -> float:
        """Collective. Send a value to the neighbour in the east (1) or west (-1); that of the other, or `at_end`."""
        ranks = [n if 0 <= n < self.comm.size else MPI.PROC_NULL for n in (self.comm.rank + to, self.comm.rank - to)]
        received = np.array([at_end])
        with ledger.communication("exchange", bytes=values.nbytes):
            self.comm.Sendrecv(np.ascontiguousarray(values), ranks[0], 0, received, ranks[1], 0)
        return float(received[0])


@dataclass(frozen=True)
class Case:
    """The input made ready."""

    file: TidesFile

    def facts(self) -> dict[str, Any]:
        """Results that are known before the first step."""
        return {"grid": {"cells": self.file.channel.cells, "spacing_metres": self.file.spacing}}

    def state_input(self) -> dict[str, Any]:
        """What of the input a state depends on, JSON-ready: a run of another one does not go on from it."""
        values = self.file.resolved()
        return {name: values[name] for name in ("channel", "tide")} | {"step": self.file.time.step}


class TidesSimulation(Simulation):
    """A run of the channel."""

    KEPT = ("rows", "gained")
    fields: NetcdfSeries

    def __init__(self, case: Case, comm: MPI.Intracomm) -> None:
        super().__init__(comm, ("cell_updates",), case.file.output.restart_steps)
        self.file, self.gained = case.file, 0.0
        self.channel = Channel(case.file, comm)
        self.fields = NetcdfSeries(case.file.output_directory, "tides", ("height", "velocity"), comm, Strategy())
        self.files = {"fields": self.fields.folder}

    def begin(self) -> None:
        """The water is at rest."""

    def resume(self) -> None:
        """Collective. Go on: arrays and attributes are those of a state."""
        if self.steps > self.file.time.steps:
            raise InputError(
                f"{self.file.path}: [time] steps: found {self.file.time.steps}, but the run to be resumed has taken "
                f"{self.steps}; allowed: from that on"
            )

    def arrays(self) -> dict[str, StateArray]:
        """The arrays of the state by name, from which it goes on with the same bits."""
        channel, shape = self.channel, (self.file.channel.cells,)
        arrays = {"height": channel.h, "velocity": channel.u}
        return {name: StateArray(("x",), shape, [((channel.lo,), values)]) for name, values in arrays.items()}

    @property
    def share(self) -> float:
        """How much of the run is done; 1: all of it."""
        return self.steps / self.file.time.steps

    def step(self) -> None:
        """Collective. Take a step, and count it."""
        self.steps, self.time = self.steps + 1, (self.steps + 1) * self.file.time.step
        self.gained += allreduce(self.comm, self.channel.step(self.time), "SUM")
        self.counts["cell_updates"] += self.file.channel.cells

    def look(self, row: bool, needed: bool) -> None:
        """Collective. Look at the state after a step where a row of the time series is due."""
        if not (row or needed):
            return
        highest = allreduce(self.comm, float(np.abs(self.channel.h).max()), "MAX")
        if not math.isfinite(highest):
            raise FathometerError(f"step {self.steps}: the height is not finite")
        if row:
            self.rows.append({"time_seconds": self.time, "highest_metres": highest})

    def fields_due(self) -> bool:
        """Whether fields are to be written now."""
        return self.steps % self.file.output.every_steps == 0

    def write_fields(self) -> None:
        """Collective. Write the fields as they are now."""
        keys, channel = self.file.channel, self.channel
        places = (np.arange(keys.cells) + 0.5) * self.file.spacing
        variables = [
            Variable("time", ("time",), "f8", {"units": "s"}, np.array([self.time])),
            Variable("x", ("x",), "f8", {"units": "m"}, places),
            Variable("height", ("time", "x"), "f4", {"units": "m"}),
            Variable("velocity", ("time", "x"), "f4", {"units": "m s-1"}),
        ]
        values = {"height": channel.h, "velocity": channel.u}
        for name, one in values.items():
            self.fields.ranges[name].add(one)
        boxes = [(name, [((0, channel.lo), one[None])]) for name, one in values.items()]
        self.fields.write(self.steps, Dataset({"time": 1, "x": keys.cells}, variables), boxes)

    def told(self):
        """What a user wants to know before the run, a line each."""
        yield f"{self.file.channel.cells} cells, {self.file.time.steps} steps of {self.file.time.step:g} s"

    def balance(self) -> list[dict[str, Any]]:
        """Water a metre of width, m²: what there is, and what has come in; error: what is missing, of all displaced."""
        now, displaced = (
            self.file.spacing * allreduce(self.comm, float(values.sum()), "SUM")
            for values in (self.channel.h, np.abs(self.channel.h))
        )
        return [
            {"of": "water", "now": now, "gained": self.gained, "error": abs(now - self.gained) / (displaced or 1.0)}
        ]

    def results(self) -> dict[str, Any]:
        """Collective. What the record says of the run beside what all such runs say."""
        files = self.fields.files(self.fields.written)
        return {"field_files": [str(path.relative_to(self.file.output_directory)) for path in files]}

    def figures(self, account: dict[str, Any]) -> list[Figure]:
        """The run in numbers; account: the ledgers of all ranks together."""
        taken = seconds(account, ("step", "exchange"))
        rate = self.counts["cell_updates"] / taken if taken else 0.0
        return [
            Figure("total", account["wall_seconds"]["max"], "seconds", "lower"),
            Figure("kernel", taken, "seconds", "lower", "context"),
            Figure("cell updates", rate, "cells_per_second", "higher"),
        ]

    def draw(self) -> Path:
        """On one rank. Draw the picture; its path."""
        folder = self.file.output_directory
        lines = lines_of(folder, self.results()["field_files"])
        path = folder / PICTURE
        sheet.save(lines_figure(f"{self.file.path.stem} up to {time_text(self.time)}", lines), path)
        return path


# --- what is shown

PICTURE = "tides.png"
MOST_TIMES = 6


def lines_of(folder: Path, names: list[str]) -> list[Lines]:
    """Heights and velocities at some times, from the field files of a run."""
    names = [names[n] for n in spread(len(names), MOST_TIMES)]
    times, values = [], {"height": [], "velocity": []}
    for name in names:
        with DatasetFile(folder / name) as file:
            times.append(float(file.read("time")[0]))
            places = file.read("x") / 1e3
            for kind, found in values.items():
                found.append(file.read(kind)[0])
    named = {"height": "Height (m)", "velocity": "Velocity (m/s)"}
    return [
        Lines(named[kind], "x (km)", [(text, places, one) for text, one in zip(times_text(times), found, strict=True)])
        for kind, found in values.items()
    ]


def balance_table(record: Mapping[str, Any]) -> dict[str, Any]:
    """What there is of water, and what has come in."""
    names = {"of": "of", "now": "at the end (m²)", "gained": "came in (m²)", "error": "missing"}
    columns = [[name, label, "" if name == "of" else "1"] for name, label in names.items()]
    rows = [[row[name] for name in names] for row in record["results"]["balance"]]
    return {"kind": "table", "title": "Water a metre of width", "columns": columns, "rows": rows}


# --- cost


def predict(file: TidesFile, machine: Machine, ranks: int, nodes: int) -> Prediction:
    """What a run costs: each step reads both arrays and writes both, twice, and sends two numbers."""
    if ranks > file.channel.cells:
        raise InputError(f"{file.path}: found {ranks} ranks; allowed: up to {file.channel.cells}, one a cell")
    own, steps = -(-file.channel.cells // ranks), file.time.steps
    bandwidth = machine.triad_bytes_per_second * nodes / ranks
    exchange = machine.exchange_seconds("network" if nodes > 1 else "local", 8.0) if ranks > 1 else 0.0
    times = 2 + steps // file.output.every_steps
    phases = (
        Phase("start-up", machine.start_seconds),
        Phase("step", steps * 8 * 8.0 * own / bandwidth, 0, steps),
        Phase("exchange", 2 * steps * exchange, 16.0 * steps * ranks, 2 * steps),
        Phase("write fields", times * 8.0 * file.channel.cells / machine.write_bytes_per_second, 0, times),
        Phase("finish", machine.finish_seconds),
    )
    memory = {"process": int(machine.process_bytes), "arrays": 8 * 8 * own}
    return Prediction(nodes, ranks, phases, memory, ("step", "exchange"))


# --- application


def input_files(file: TidesFile) -> list[Path]:
    """The files that a run reads."""
    return [readable(file.path)]


def case_bytes(file: TidesFile) -> int:
    """Memory that `case_of` takes."""
    return 16 * file.channel.cells


case_of = Case


def demo_text(quick: bool) -> str:
    """The input file of the built-in case, whose results lie beside it."""
    cells = 200 if quick else 2000
    return (
        "# A tide enters a shallow channel.\n"
        f"[channel]\nlength = 2e5\ndepth = 20.0\ncells = {cells}\nfriction = 1e-5\n"
        f"[tide]\namplitude = 1.0\nperiod = 44714.0\n[time]\nstep = {14000 / cells:g}\nsteps = {4 * cells}\n"
        f'[output]\ndirectory = "."\nevery_steps = {cells}\n'
    )


def lines(record: Mapping[str, Any]) -> list[str]:
    """The time of a run, for people."""
    figures = {figure["name"]: figure["value"] for figure in record["figures"]}
    (water,) = record["results"]["balance"]
    return [f"{figures['total']:.1f} s; water balances to {water['error']:.1g}"]


def plan(file: TidesFile, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
    """What a run will cost on a machine."""
    layouts = layouts_of(file.path, machine, options, lambda ranks, nodes: predict(file, machine, ranks, nodes))
    record = {"schema_version": 1, "application": "plan", "machine": machine.name} | layouts.as_dict()
    title = f"{file.channel.cells} cells, {file.time.steps} steps on {machine.name}"
    return CostEstimate(record, [title, "", *layouts.table(machine)])


def heading(record: Mapping[str, Any]) -> Heading:
    """The top of the page of a record."""
    grid = record["results"]["grid"]
    facts = [("Grid", f"{grid['cells']} cells of {grid['spacing_metres']:g} m")]
    return Heading("Tides", Path(record["input"]["tides_file"]).stem, facts, kernel=False)


def panels_of(record: Mapping[str, Any], folder: Path) -> list[Panel]:
    """The panels of a record that lies in a folder, with its fields beside it."""
    title = "Along the channel"
    names = record["results"].get("field_files", [])
    lines = panels_or_missing(title, lambda: [lines_panel("lines", title, lines_of(folder, names), "")])
    return lines + panels_of_results(record, (("Water", "balance", balance_table),))


APPLICATION: Application = TimeApplication(
    Identity(
        name="tides",
        commands={"tides": ""},
        sections=frozenset({"channel", "tide", "time"}),
        input="tides:TidesFile",
        plan_options=frozenset({"ranks", "nodes"}),
    ),
    kind="tides",
    noun="a run of tides",
    results=(PICTURE,),
    case="tides",
    model="tides:TidesSimulation",
    demo="tides:demo_text",
    cost="tides:plan",
    shown="tides",
)
