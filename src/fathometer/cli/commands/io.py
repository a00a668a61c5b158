"""`fathometer io`: the storage benchmark."""

from __future__ import annotations

import argparse
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.base.errors import InputError
from fathometer.cli import argument_groups
from fathometer.cli.benchmark import run_benchmark
from fathometer.cli.command import Command, RankCall
from fathometer.cli.option_types import (
    OPERATIONS,
    count,
    counts,
    duration,
    grid,
    names,
    operations,
    strategies,
    whole_number,
)
from fathometer.cli.pages import page_panels

if TYPE_CHECKING:
    from fathometer.lab.io.steps import Steps

PATTERNS = ("volume", "decimated-steps")
WITH_STEPS = "--pattern decimated-steps"
DESCRIPTION = """\
Write and read a volume made from a seed in a new folder in DIRECTORY, which is removed at the end, by each
storage strategy, in turns with what the device gives to one process; verify every byte; rank them. Writes
are flushed within their time; files are dropped from the page cache before they are read."""

EXAMPLES = """\
  fathometer io /scratch --ranks 2
  fathometer io . --grid 512,512,512 --strategy all --format rsf,nc --budget 10m --json io.json -o io.html
  fathometer io . --strategy posix-shared,mpiio-collective:cb_nodes=1,cb_buffer_size=67108864
  fathometer io . --grid 202,125,106 --pattern decimated-steps --steps 100 --buffer 1,10,100 --strategy all
  fathometer io . --remember            [storage] read, write = "auto" are the winners from now on"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `fathometer io --help`."""
    parser.add_argument("folder", type=Path, metavar="DIRECTORY", help="where files are written and read")
    parser.add_argument(
        "--grid",
        type=grid,
        default=(256, 256, 256),
        metavar="NX,NY,NZ",
        help="cells; NX,NZ in 2D (256,256,256)",
    )
    parser.add_argument(
        "--strategy",
        type=strategies,
        default=(),
        metavar="S,S...|all",
        help="as in [storage]; all: with all data types too (each of the format once)",
    )
    parser.add_argument(
        "--format",
        type=names,
        default=("rsf",),
        metavar="F,F...|all",
        help="rsf, npy, nc, h5 ...; all (rsf)",
    )
    parser.add_argument("--operation", type=operations, metavar="write,read", help="(both)")
    parser.add_argument("--repeat", type=count, default=10, metavar="N", help="measurements of each (10)")
    parser.add_argument("--halo", type=whole_number, default=0, metavar="R", help="cells read around a block (0)")
    parser.add_argument("--decomposition", type=grid, metavar="PX,PY,PZ", help="how ranks cut the grid; PX,PZ in 2D")
    parser.add_argument("--budget", type=duration, default=90.0, metavar="TIME", help="of the whole command (90s)")
    parser.add_argument("--seed", type=whole_number, default=1, metavar="N", help="of the values and of the order (1)")
    parser.add_argument(
        "--data", default="noise", choices=("noise", "wavefield"), help="noise cannot be compressed (noise)"
    )
    parser.add_argument(
        "--pattern",
        choices=PATTERNS,
        default=PATTERNS[0],
        help="volume: one, whole; decimated-steps: written only, as waves are: step after step, every few nodes of a "
        "larger array (volume)",
    )
    parser.add_argument("--steps", type=count, metavar="N", help="of decimated-steps: steps of a file (100)")
    parser.add_argument("--buffer", type=counts, metavar="N,N...", help="the same: steps kept before a write (1)")
    parser.add_argument("--files", type=count, metavar="N", help="the same: files written beside each other (3)")
    parser.add_argument("--every", type=count, metavar="N", help="the same: distance of nodes in the array (2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the record")
    parser.add_argument("--picture", type=Path, metavar="OUT.png", help="draw the rates")
    parser.add_argument("-o", "--output", type=Path, metavar="PAGE", help="write the page, as of a run")
    parser.add_argument("--remember", action="store_true", help="make the winners what auto is on this file system")
    argument_groups.add_ranks(parser)


def run_on_ranks(call: RankCall) -> None:
    """Collective. Measure; write the page; remember the winners. Raises FathometerError where a strategy failed."""
    from fathometer.lab.io.benchmark import StorageOptions, run_io
    from fathometer.lab.io.ranking import require_all, table_lines
    from fathometer.parallel.collectives import collective_errors

    options = call.options
    with collective_errors(call.comm):
        steps = _steps(options)
    measured = StorageOptions(
        options.folder,
        options.grid,
        options.strategy,
        options.format,
        options.operation or (OPERATIONS if steps is None else OPERATIONS[:1]),
        options.repeat,
        options.halo,
        options.decomposition,
        options.budget,
        options.seed,
        options.data,
        steps,
    )
    measure = partial(run_io, measured, call.comm, call.binding, call.words, call.say)
    record = run_benchmark(call, measure, table_lines, _draw, options.output)
    with collective_errors(call.comm):
        if call.comm.rank == 0:
            if options.output is not None:
                _write_page(options.output, options.json or options.output, record)
            if options.remember:
                call.say(_remember(record))
            require_all(record)


def _steps(options: argparse.Namespace) -> Steps | None:
    """What the options say of files of steps; InputError where they say it of a volume, or ask for what these lack."""
    from fathometer.lab.io.steps import Steps

    given = {"steps": options.steps, "buffers": options.buffer, "files": options.files, "every": options.every}
    given = {name: value for name, value in given.items() if value is not None}
    if options.pattern == PATTERNS[0]:
        for name in given:
            raise InputError(f"--{name.removesuffix('s') if name == 'buffers' else name}: allowed: with {WITH_STEPS}")
        return None
    if options.operation not in (None, OPERATIONS[:1]):
        raise InputError(f"--operation {','.join(options.operation)}: allowed with {WITH_STEPS}: write")
    for name in ("halo", "remember"):
        if getattr(options, name):
            raise InputError(f"--{name}: allowed: without {WITH_STEPS}")
    return Steps(**given)


def _draw(path: Path, record: dict[str, Any]) -> None:
    from fathometer.lab.io.rates_picture import draw_rates

    draw_rates(path, record)


def _write_page(path: Path, record_path: Path, record: dict[str, Any]) -> None:
    from fathometer.report.page import write_page
    from fathometer.report.records import Run

    run = Run(record_path, record)
    write_page(path, [run], page_panels(run))


def _remember(record: dict[str, Any]) -> str:
    """Make the winners the default strategies on their file system; a line that says so."""
    from fathometer.lab.io.ranking import remembered_rows
    from fathometer.storage.volumes.strategy_cache import remember

    return remember(
        Path(record["input"]["folder"]), remembered_rows(record["results"]["rows"], record["input"]["seed"])
    )


COMMAND = Command(
    "io",
    "the storage benchmark: every way of writing and reading a volume, on this machine",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run_on_ranks=run_on_ranks,
    prepare=lambda options: import_module("fathometer.lab.io.benchmark"),
)
