"""The machine file, MACHINE.json, of a cost prediction: measured by `fathometer calibrate` or written by hand.

Rates are those of a whole node with all its cores in use, unless their description says otherwise. Some keys
name the first application's work (trace, shot): they are part of the published format.
"""

from __future__ import annotations

import json
import socket
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import exp, log
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Le, MinLen
from pydantic import ValidationError, model_validator

from fathometer.base.errors import InputError
from fathometer.base.meant import file_meant
from fathometer.base.regular_file import read_regular
from fathometer.config.problems import first_problem
from fathometer.config.table import Table, key
from fathometer.config.types import Loose, NotNegative, Positive
from fathometer.plan.elastic_rates import ElasticRates
from fathometer.storage import atomic
from fathometer.storage.folder import cache_folder
from fathometer.storage.json_text import json_values

VERSION = 1


class Rate(Table):
    """Cell updates per second of the time steps on grids of one kind and size."""

    physics: Annotated[str, MinLen(1)] = key("equation, as an application calls it")
    dimensions: Literal[2, 3] = key("of the grid")
    order: Annotated[int, Ge(2)] = key("of the differences in space")
    points: Positive = key("of the grid, absorbing layers included", "cells")
    points_per_second: Positive = key("of a node: cell updates", "1/s")


class CutWork(Table):
    """What a cut between two ranks of a node adds to the time steps of a wave in three dimensions."""

    physics: Annotated[str, MinLen(1)] = key("equation, as an application calls it")
    along: Literal["y", "x"] = key("what is cut: y alone, or x or more than one")
    work: NotNegative = key("of a cell of a rank's face, each step: added steps of a cell")


class GraphicsCard(Table):
    """The graphics cards of a node, all of one kind; what one of them does, as a rank that has it to itself uses it."""

    name: Annotated[str, MinLen(1)] = key("of its kind, as the driver says")
    per_node: Annotated[int, Ge(1), Le(1000)] = key("cards of a node", "", 1)
    memory_bytes: Positive = key("of a card", "bytes")
    triad_bytes_per_second: Positive = key("memory bandwidth of a card", "bytes/s")
    to_card_bytes_per_second: Positive = key("copies from the memory of the host to a card", "bytes/s")
    from_card_bytes_per_second: Positive = key("copies from a card to the memory of the host", "bytes/s")
    rates: Annotated[tuple[Rate, ...], Loose, MinLen(1)] = key("of time steps of waves on a card, as those of a node")
    step_seconds: NotNegative = key("of each call for some time steps, beside its cells", "s", 0.0)
    start_seconds: NotNegative = key("until a rank can use its card", "s", 0.0)
    process_bytes: NotNegative = key("of the host, that a rank takes more than one without a card", "bytes", 0.0)

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        _check_rates(self.rates)
        return self

    def points_per_second(
        self, physics: str, dimensions: int, order: int, points: float, flops: Mapping[str, Callable[[int, bool], int]]
    ) -> float:
        """Cell updates per second of a card on a block of `points` cells; see Machine.points_per_second."""
        return _points_per_second(self.rates, f"graphics card {self.name}", physics, dimensions, order, points, flops)


class RunEnds(Table):
    """What a small run of a command takes, as users start it, its files in the page cache: what surrounds the work of a
    larger one."""

    command: Annotated[str, MinLen(1)] = key("of the command line")
    ranks: Annotated[int, Ge(1)] = key("of the run, all of them on a node")
    start_seconds: NotNegative = key("of start-up", "s")
    setup_seconds: NotNegative = key("of setting up, beside cells and bytes", "s")
    finish_seconds: NotNegative = key("of what comes after the work: files, pictures, record and page", "s")
    process_bytes: NotNegative = key("of a rank beside its arrays, before it draws anything", "bytes")
    finish_bytes: NotNegative = key("of the rank that has drawn the pictures, beside arrays", "bytes")


class Measurement(Table):
    """How some figures of a machine file were measured."""

    figures: Annotated[tuple[str, ...], Loose] = key("their keys; of rates also what they are of")
    repetitions: Annotated[int, Ge(1)] = key("of the measured call that was repeated least")
    spread: NotNegative = key("largest of its times over the least, less 1, of the call where it is largest")
    disturbed: Annotated[tuple[str, ...], Loose] = key("what disturbed them, in words; none: nothing was seen", "", ())


class Calibration(Table):
    """Where and when a machine file was measured, and how."""

    host: str = key("that was measured")
    cpu: str = key("its processor")
    time: str = key("of the measurement, ISO 8601 with its zone")
    measurements: Annotated[tuple[Measurement, ...], Loose] = key("of the figures, in the order of measuring")


class Exchange(Table):
    """Seconds of a halo exchange with one neighbour."""

    bytes: Positive = key("of the face, each way", "bytes")
    seconds: Positive = key("from the start of the exchange to its end", "s")


class SumRate(Table):
    """Rates of the sum over traces of time migration, of one kind."""

    dimensions: Literal[2, 3] = key("of the image")
    eta: bool = key("whether the operator has an eta")
    samples_per_second: Positive = key("of a node: samples of a trace added to a column", "1/s")
    nodes_per_second: Positive = key("of a node: nodes at which weights are evaluated", "1/s")


class ImplicitRates(Table):
    """Seconds of an implicit solve by PETSc on one core, all at work, for each cell; of a process beside its cells."""

    components: Positive = key("unknowns of a cell, of the flow that was measured")
    entries: Positive = key("blocks in a row of its Jacobian: a cell and those it is coupled to", "", 13.0)
    residual_seconds: NotNegative = key("of an evaluation of the residual", "s")
    jacobian_seconds: NotNegative = key("of assembling the Jacobian", "s")
    setup_seconds: NotNegative = key("of setting up the preconditioner", "s")
    iteration_seconds: NotNegative = key("of a linear iteration", "s")
    file_seconds: NotNegative = key("of writing a small volume", "s", 0.0)
    start_seconds: NotNegative = key("of loading PETSc", "s", 0.0)
    finish_seconds: NotNegative = key("record, picture and page at the end", "s", 0.0)
    process_bytes: NotNegative = key("of a rank with PETSc before it holds any array", "bytes", 0.0)


class SpectralRates(Table):
    """Seconds of a stage of an incompressible flow on one core, all at work, for each cell."""

    cells: Positive = key("along each axis of the flow that was measured")
    momentum_seconds: NotNegative = key("of the rates, for each velocity", "s")
    projection_seconds: NotNegative = key("of divergence, gradient and sides", "s")
    transform_seconds: NotNegative = key(
        "of transforms there and back, for each axis and doubling of cells along it", "s"
    )
    column_seconds: NotNegative = key("of elimination along the last axis", "s")
    look_seconds: NotNegative = key("of looking at the state, once a step", "s", 0.0)
    value_seconds: NotNegative = key("of making and writing a value of the results, without the disk", "s", 0.0)
    start_seconds: NotNegative = key("from a rank's start to the first step", "s", 0.0)
    finish_seconds: NotNegative = key("picture, record and page at the end", "s", 0.0)
    process_bytes: NotNegative = key("of a rank before it holds any array", "bytes", 0.0)


class PlasmaRates(Table):
    """Seconds of a stage of a plasma on one core, all at work, for each point of the distribution function."""

    line_seconds: NotNegative = key("of streaming, drift and drive", "s")
    velocity_seconds: NotNegative = key("of the mirror force, or of collisions, for each cosine", "s")
    field_seconds: NotNegative = key("of velocity sums", "s")
    bracket_seconds: NotNegative = key("of the bracket, for each point of its grid and doubling of its size", "s")
    shared_bracket_seconds: NotNegative = key(
        "the same by the threads of one rank, times their number; 0: as of ranks of one thread", "s", 0.0
    )
    update_seconds: NotNegative = key("of adding rates", "s")
    look_seconds: NotNegative = key("of quadratic sums, for each row of the time series", "s", 0.0)
    start_seconds: NotNegative = key("from a rank's start to the first step", "s", 0.0)
    finish_seconds: NotNegative = key("picture, record and page at the end", "s", 0.0)
    process_bytes: NotNegative = key("of a rank before it holds any array", "bytes", 0.0)


class AtmosphereRates(Table):
    """Seconds of a step of an atmosphere on one core, all at work."""

    legendre_seconds: NotNegative = key("of Legendre transforms, for each multiply-add", "s")
    grid_seconds: NotNegative = key(
        "of Fourier transforms and of columns of air, for each value on the grid and doubling of longitudes", "s"
    )
    spectral_seconds: NotNegative = key("of each coefficient of a level, over 1 + levels / 20", "s")
    relaxation_seconds: NotNegative = key("of the forcing held-suarez, for each level of a column", "s", 0.0)
    radiation_seconds: NotNegative = key("of radiation with convection, half by night, alike", "s", 0.0)
    night_seconds: NotNegative = key("of the same by night; 0: as much as by day", "s", 0.0)
    tracer_seconds: NotNegative = key("of a tracer, for each level of a column", "s", 0.0)
    look_seconds: NotNegative = key("of means and extremes, for each value on the grid", "s", 0.0)
    value_seconds: NotNegative = key("of a value that is written, beside its bytes", "s", 0.0)
    start_seconds: NotNegative = key("from a rank's start to the first step", "s", 0.0)
    finish_seconds: NotNegative = key("picture, record and page at the end", "s", 0.0)
    process_bytes: NotNegative = key("of a rank before it holds any array", "bytes", 0.0)

    def row_seconds(self, levels: int) -> float:
        """Of a row of coefficients in a step: of each level, and of the matrices that all of them share."""
        return self.spectral_seconds * levels * (1 + levels / 20)


class GradientRate(Table):
    """Seconds of an iteration of conjugate gradients in an ocean's barotropic solver, on one core, all at work."""

    solver: Literal["pcg", "chronopoulos-gear", "pipelined"] = key("key of [barotropic]")
    preconditioner: Literal["diagonal", "block"] = key("key of [barotropic], with tiles of 8 cells")
    sums: Literal["mpi", "exact"] = key("key of [barotropic]")
    columns: Positive = key("of water")
    seconds: Positive = key("of an iteration, without messages", "s")


class OceanRates(Table):
    """Seconds of an ocean on one core, all at work; what a process takes beside its arrays."""

    gradients: Annotated[tuple[GradientRate, ...], Loose, MinLen(1)] = key("of the barotropic solver, of several sizes")
    cell_seconds: NotNegative = key("of a step's baroclinic part, for each cell of water", "s")
    column_seconds: NotNegative = key("of the same, for each column", "s")
    solve_seconds: NotNegative = key("of a step's barotropic part beside iterations, for each column", "s")
    setup_seconds: NotNegative = key("of setting up, for each cell", "s", 0.0)
    page_seconds: NotNegative = key("of the first writing of memory, for each byte", "s", 0.0)
    halo_seconds: NotNegative = key("of a small halo exchange between ranks of a node; 0: as the machine's", "s", 0.0)
    sum_seconds: NotNegative = key("of a stage of a sum over ranks of a node; 0: as the machine's exchange", "s", 0.0)
    look_seconds: NotNegative = key("of a row of the time series, for each cell", "s", 0.0)
    field_seconds: NotNegative = key("of making and writing fields, for each cell, without the disk", "s", 0.0)
    restart_seconds: NotNegative = key("of a restart file, for each of its numbers, without the disk", "s", 0.0)
    file_seconds: NotNegative = key("of writing a small file", "s", 0.0)
    start_seconds: NotNegative = key("of start-up; 0: start_seconds of the machine", "s", 0.0)
    finish_seconds: NotNegative = key("picture, record and page at the end", "s", 0.0)
    process_bytes: NotNegative = key("of a rank before it holds any array", "bytes", 0.0)
    finish_bytes: NotNegative = key("of a process that has drawn the picture, beside its arrays", "bytes", 0.0)

    def gradient_seconds(self, solver: str, preconditioner: str, sums: str, columns: float) -> float | None:
        """Seconds of an iteration on so many columns of water; None where none of its kind was measured.

        Between two sizes along a line in the logarithms, beyond the largest in proportion, below the smallest as there.
        """
        kind = (solver, preconditioner, sums)
        table = sorted(
            (log(r.columns), log(r.seconds)) for r in self.gradients if (r.solver, r.preconditioner, r.sums) == kind
        )
        if not table:
            return None
        size = log(max(columns, 1.0))
        return exp(_between(table, size) + max(0.0, size - table[-1][0]))


class Machine(Table):
    """The model of a machine file. Optional times default to 0 s: no cost."""

    schema_version: Literal[1] = key("of this description")
    name: Annotated[str, MinLen(1)] = key("of the machine, for people")
    nodes: Annotated[int, Ge(1), Le(1_000_000)] = key("of the machine", "", 1)
    cores_per_node: Annotated[int, Ge(1), Le(10_000)] = key("hardware threads that a node computes with")
    memory_bytes_per_node: Positive = key("memory of a node", "bytes")
    triad_bytes_per_second: Positive = key("memory bandwidth of a node", "bytes/s")
    rates: Annotated[tuple[Rate, ...], Loose] = key(
        "of time steps of waves; without any a plan of a survey is refused", "", ()
    )
    cut_works: Annotated[tuple[CutWork, ...], Loose] = key(
        "of cuts between ranks, at most one of each kind; others: exchanges between ranks of a node", "", ()
    )
    local_latency_seconds: NotNegative = key("of an exchange between ranks of a node", "s", 0.0)
    local_bytes_per_second: Positive = key("between two ranks of a node", "bytes/s", 1e10)
    local_exchanges: Annotated[tuple[Exchange, ...], Loose] = key(
        "of several sizes, between ranks of a node: in place of latency and rate where there are some", "", ()
    )
    network_latency_seconds: NotNegative = key("of an exchange between nodes", "s", 0.0)
    network_bytes_per_second: Positive = key("of a node's link", "bytes/s", 1e10)
    network_exchanges: Annotated[tuple[Exchange, ...], Loose] = key("the same between nodes", "", ())
    read_bytes_per_second: Positive = key("files, as seen by one node", "bytes/s")
    write_bytes_per_second: Positive = key("files, as seen by one node, flush included", "bytes/s")
    storage_bytes_per_second: Positive | None = key("of the storage, all nodes together", "bytes/s", None)
    wavelet_bytes_per_second: Positive | None = key(
        "of a node: values made coefficients of filter=wavelet; left out: plans do not speak of compression",
        "bytes/s",
        None,
    )
    process_bytes: NotNegative = key("of a rank before it holds any array", "bytes", 1e8)
    start_seconds: NotNegative = key("from a rank's start to its first phase", "s", 0.0)
    finish_seconds: NotNegative = key("record, pictures and page at the end", "s", 0.0)
    runs: Annotated[tuple[RunEnds, ...], Loose] = key(
        "of small runs of some commands; others: start_seconds, finish_seconds, process_bytes", "", ()
    )
    fresh_bytes_per_second: Positive | None = key(
        "of a node: memory that a process writes for the first time; left out: it costs nothing", "bytes/s", None
    )
    unused_bytes_per_second: Positive | None = key(
        "the same as it was at first: slower where no process had used the memory before", "bytes/s", None
    )
    trace_step_seconds: NotNegative = key(
        "of one core, all at work: resampling, for each trace and time step", "s", 0.0
    )
    shot_step_seconds: NotNegative = key("of one core, all at work: resampling, for each shot and time step", "s", 0.0)
    point_seconds: NotNegative = key("of one core: weights, for each receiver of a shot", "s", 0.0)
    model_cell_seconds: NotNegative = key("of one core: checks of the model, for each cell", "s", 0.0)
    step_seconds: NotNegative = key("of each call for some time steps, beside its cells", "s", 0.0)
    trace_sums: Annotated[tuple[SumRate, ...], Loose] = key(
        "of time migration, at most one of each kind; without any a plan of one is refused", "", ()
    )
    bank_seconds: NotNegative = key("of one core, all at work: for each sample of a trace's filter bank", "s", 0.0)
    filter_seconds: NotNegative = key(
        "of one core: a trace read and filtered for time migration, for each of its samples", "s", 0.0
    )
    velocity_seconds: NotNegative = key(
        "of one core: velocities of an image in time made from a depth model, for each sample", "s", 0.0
    )
    term_seconds: NotNegative = key("of one core: a value of a partial image added up exactly", "s", 0.0)
    time_finish_seconds: NotNegative | None = key(
        "record and pictures of a time migration; left out: finish_seconds", "s", None
    )
    spectral: SpectralRates | None = key("of incompressible flow; without it a plan of one is refused", "", None)
    plasma: PlasmaRates | None = key("of plasma turbulence; without it a plan of it is refused", "", None)
    atmosphere: AtmosphereRates | None = key("of an atmosphere's steps; without it a plan of one is refused", "", None)
    implicit: ImplicitRates | None = key(
        "of implicit solves by PETSc; without it a plan of a reactive flow is refused", "", None
    )
    ocean: OceanRates | None = key("of an ocean's steps; without it a plan of one is refused", "", None)
    elastic: ElasticRates | None = key(
        "of elastic waves, beside their rates of time steps (elastic, viscoelastic)", "", None
    )
    card: GraphicsCard | None = key(
        "graphics cards of a node, for acoustic waves; left out: their plans are of the processors", "", None
    )
    notes: Annotated[tuple[str, ...], Loose] = key("where the numbers come from", "", ())
    calibration: Calibration | None = key("how `fathometer calibrate` measured it; left out: not known", "", None)

    @model_validator(mode="after")
    def _rising_sizes(self) -> Self:
        for name, table in (("local", self.local_exchanges), ("network", self.network_exchanges)):
            for first, second in pairwise(table):
                if second.bytes <= first.bytes:
                    raise ValueError(
                        f"{name}_exchanges: found {second.bytes:g} bytes after {first.bytes:g}; allowed: rising sizes"
                    )
        return self

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        _check_rates(self.rates)
        cuts = [(cut.physics, cut.along) for cut in self.cut_works]
        for number, cut in enumerate(cuts):
            if cut in cuts[:number]:
                raise ValueError(f"cut_works: found two for {cut[0]} along {cut[1]}")
        sums = [(of.dimensions, of.eta) for of in self.trace_sums]
        for number, of in enumerate(sums):
            if of in sums[:number]:
                raise ValueError(f"trace_sums: found two for {of[0]}D {'with' if of[1] else 'without'} eta")
        return self

    def points_per_second(
        self, physics: str, dimensions: int, order: int, points: float, flops: Mapping[str, Callable[[int, bool], int]]
    ) -> float:
        """Cell updates per second of a node on a block of `points` cells.

        Of the rates for this physics and number of dimensions (else of any), those of the nearest order are
        interpolated in the logarithm of the points; other orders and physics are scaled by their flops per cell.
        flops: these, by the physics of the application, from order and whether the grid has two dimensions. Raises
        InputError where the file has a rate of none of them.
        """
        return _points_per_second(self.rates, f"machine {self.name}", physics, dimensions, order, points, flops)

    def cut_work(self, physics: str, along_y: bool) -> float | None:
        """Steps of a cell that a cell of a cut face adds to each step of a rank: of this physics, else of any; None
        where none is known."""
        known = [cut for cut in self.cut_works if (cut.along == "y") == along_y]
        return min(known, key=lambda cut: cut.physics != physics).work if known else None

    def sum_rate(self, dimensions: int, eta: bool) -> SumRate:
        """The rates of the sum over traces of a kind, else of that with the same eta, else of any; InputError where the
        file has none."""
        if not self.trace_sums:
            raise InputError(
                f"machine {self.name}: trace_sums: missing; needed for a time migration; `fathometer calibrate`"
            )
        return min(self.trace_sums, key=lambda of: (of.eta != eta, of.dimensions != dimensions))

    def exchange_seconds(self, where: Literal["local", "network"], bytes: float, share: float = 1.0) -> float:
        """Seconds of a halo exchange with one neighbour.

        From the table of exchanges: between its sizes along a line, below them as for the smallest, above them on at
        the rate of the last two; where there is none, latency + bytes / rate. bytes: of the face, each way. share: what
        the exchange gets of the rate; the latency stays.
        """
        if where == "local":
            table, latency, rate = self.local_exchanges, self.local_latency_seconds, self.local_bytes_per_second
        else:
            table, latency, rate = self.network_exchanges, self.network_latency_seconds, self.network_bytes_per_second
        if not table:
            return latency + bytes / (share * rate)
        bytes /= share
        if bytes <= table[0].bytes or len(table) == 1:
            return table[0].seconds * max(1.0, bytes / table[-1].bytes)
        place = min(bisect_left(table, bytes, key=lambda entry: entry.bytes), len(table) - 1)
        (x0, y0), (x1, y1) = ((entry.bytes, entry.seconds) for entry in table[place - 1 : place + 1])
        return max(y0 + (y1 - y0) * (bytes - x0) / (x1 - x0), min(y0, y1))

    def rearrange_seconds(self, bytes: float, ranks_per_node: float) -> float:
        """Seconds in which an array of a rank becomes messages, and messages an array: both are read and written, with
        the rank's share of the memory's rate."""
        return 4 * bytes * ranks_per_node / self.triad_bytes_per_second

    def ends(self, command: str, ranks_per_node: int = 1) -> RunEnds:
        """What surrounds the work of a run of a command: of one rank a node, or of several."""
        for ends in self.runs:
            if ends.command == command and (ends.ranks > 1) == (ranks_per_node > 1):
                return ends
        for ends in self.runs:
            if ends.command == command:
                return ends
        of_time = self.time_finish_seconds if command == "migrate-time" else None
        return RunEnds(
            command=command,
            ranks=1,
            start_seconds=self.start_seconds,
            setup_seconds=0.0,
            finish_seconds=self.finish_seconds if of_time is None else of_time,
            process_bytes=self.process_bytes,
            finish_bytes=self.process_bytes,
        )

    def more_to_start(self, ranks_per_node: int) -> float:
        """Seconds that starting several ranks on a node, and setting them up, takes more than one: of the command of
        which that is known."""
        for ends in self.runs:
            one, several = (self.ends(ends.command, ranks) for ranks in (1, ranks_per_node))
            if several.ranks > one.ranks:
                return max(0.0, several.start_seconds + several.setup_seconds - one.start_seconds - one.setup_seconds)
        return 0.0

    def running(self, command: str, cards: bool = False) -> Machine:
        """The same machine, whose processes take before they draw what those of this command do: a rank that draws
        nothing shows it, where there was one. cards: whether graphics cards take its time steps; else it has none."""
        known = [ends.process_bytes for ends in self.runs if ends.command == command]
        update: dict[str, Any] = {"process_bytes": min(known)} if known else {}
        if self.card is not None and not cards:
            update["card"] = None
        return self.model_copy(update=update) if update else self

    def fresh_seconds(self, bytes: float) -> float:
        """Seconds until the arrays of a node, so many bytes, are written for the first time."""
        return bytes / self.fresh_bytes_per_second if self.fresh_bytes_per_second else 0.0

    def to_json(self) -> bytes:
        """The content of its file: what was measured or given, no defaults."""
        return (json.dumps(self.model_dump(mode="json", exclude_unset=True), indent=2) + "\n").encode()


def _check_rates(rates: Sequence[Rate]) -> None:
    """Raises ValueError where two are of the same."""
    kinds = [(r.physics, r.dimensions, r.order, r.points) for r in rates]
    for number, kind in enumerate(kinds):
        if kind in kinds[:number]:
            raise ValueError(f"rates: found two for {kind[0]}, {kind[1]}D, order {kind[2]}, {kind[3]:g} points")


def _points_per_second(
    rates: Sequence[Rate],
    whose: str,
    physics: str,
    dimensions: int,
    order: int,
    points: float,
    flops: Mapping[str, Callable[[int, bool], int]],
) -> float:
    """See Machine.points_per_second; whose: for messages."""

    def work(order: int, physics: str, dimensions: int) -> int:
        return flops[physics](order, dimensions == 2)

    known = [r for r in rates if r.physics in flops]
    if not known:
        raise InputError(f"{whose}: rates: found none of {', '.join(flops)}; `fathometer calibrate`")
    alike = [r for r in known if (r.physics, r.dimensions) == (physics, dimensions)]
    other = 1.0
    if not alike:
        nearest = min(known, key=lambda r: (r.physics != physics, r.dimensions != dimensions))
        alike = [r for r in known if (r.physics, r.dimensions) == (nearest.physics, nearest.dimensions)]
        other = work(nearest.order, nearest.physics, nearest.dimensions) / work(nearest.order, physics, dimensions)
    orders = sorted({r.order for r in alike}, key=lambda measured: (abs(measured - order), measured))
    table = sorted((log(r.points), log(r.points_per_second)) for r in alike if r.order == orders[0])
    scale = work(orders[0], physics, dimensions) / work(order, physics, dimensions)
    return exp(_between(table, log(points))) * scale * other


def _between(table: list[tuple[float, float]], x: float) -> float:
    """Linear interpolation in a sorted table of (x, y), constant beyond its ends."""
    place = bisect_left(table, (x,))
    if place in (0, len(table)):
        return table[min(place, len(table) - 1)][1]
    (x0, y0), (x1, y1) = table[place - 1 : place + 1]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def default_path() -> Path:
    """The path of this host's machine file: in the user's cache folder, under the host's name.

    Raises InputError where there is no home.
    """
    folder = cache_folder()
    if folder is None:
        raise InputError("there is no home folder, and XDG_CACHE_HOME names none; name the MACHINE.json")
    return folder / f"machine-{socket.gethostname()}.json"


def load_machine(path: Path) -> Machine:
    """Read and validate a machine file; raises InputError of one line that names the file and the first wrong key."""
    try:
        values = json_values(read_regular(path).decode("utf-8"))
    except OSError as error:
        meant = file_meant(path) if isinstance(error, FileNotFoundError) else ""
        raise InputError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}{meant}") from None
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    if not isinstance(values, dict) or "schema_version" not in values or "rates" not in values:
        raise InputError(f"{path}: not a machine file (schema_version and rates are missing); `fathometer calibrate`")
    if values["schema_version"] != VERSION:
        raise InputError(f"{path}: found version {values['schema_version']}; allowed: {VERSION}")
    try:
        return Machine.model_validate(values)
    except ValidationError as error:
        raise InputError(f"{path}: {first_problem(error, values, Machine)}") from None


def save_machine(path: Path, machine: Machine) -> None:
    """Write a machine file atomically; raises FathometerError where that fails."""
    atomic.write(path, machine.to_json())
