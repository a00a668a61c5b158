"""`fathometer io`: the storage benchmark."""

from __future__ import annotations

import argparse
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError
from fathometer.base.option_types import OPERATIONS
from fathometer.base.options import add_options, options_of, values_of
from fathometer.cli import argument_groups
from fathometer.cli.benchmark import run_benchmark
from fathometer.cli.command import Command, RankCall
from fathometer.cli.pages import page_panels
from fathometer.lab.io.options import Steps, StorageOptions

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
  fathometer io . --ranks 2 --grid 512,512,512 --suite piovdc --budget 10m -o piovdc.html
  fathometer io . --remember            [storage] read, write = "auto" are the winners from now on"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer io`."""
    add_options(parser, StorageOptions)
    parser.add_argument(
        "--pattern",
        choices=PATTERNS,
        default=PATTERNS[0],
        help="volume: one, whole; decimated-steps: written only, as waves are: step after step, every few nodes of a "
        "larger array (volume)",
    )
    add_options(parser, Steps, given_only=True)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the record")
    parser.add_argument("--picture", type=Path, metavar="OUT", help="draw the rates")
    parser.add_argument("-o", "--output", type=Path, metavar="PAGE", help="write the page, as of a run")
    parser.add_argument("--remember", action="store_true", help="make the winners what auto is on this file system")
    argument_groups.add_ranks(parser)


def run_on_ranks(call: RankCall) -> None:
    """Collective. Measure; write the page; remember the winners. Raises FathometerError where a strategy failed."""
    from fathometer.lab.io.benchmark import run_io
    from fathometer.lab.io.ranking import require_all
    from fathometer.lab.io.suites import all_lines
    from fathometer.parallel.collectives import collective_errors

    options = call.options
    with collective_errors(call.comm):
        steps = _steps(options)
        if options.suite is not None:
            _check_written_only(options, f"--suite {options.suite}")
    written_only = steps is not None or options.suite is not None
    asked = options.operations or (OPERATIONS[:1] if written_only else OPERATIONS)
    measured = options_of(StorageOptions, options, operations=asked, steps=steps)
    measure = partial(run_io, measured, call.comm, call.binding, call.words, call.say)
    record = run_benchmark(call, measure, all_lines, _draw, options.output)
    with collective_errors(call.comm):
        if call.comm.rank == 0:
            if options.output is not None:
                _write_page(options.output, options.json or options.output, record)
            if options.remember:
                call.say(_remember(record))
            require_all(record)


def _check_written_only(options: argparse.Namespace, beside: str) -> None:
    """InputError where something else than writing is asked for; beside: the option that only writes."""
    if options.operations not in ((), OPERATIONS[:1]):
        raise InputError(f"--operation {','.join(options.operations)}: allowed with {beside}: write")
    for name in ("halo", "remember"):
        if getattr(options, name):
            raise InputError(f"--{name}: allowed: without {beside}")


def _steps(options: argparse.Namespace) -> Steps | None:
    """What the options say of files of steps; InputError where they say it of a volume, or ask for what these lack."""
    given = {name: value for name, value in values_of(Steps, options).items() if value is not None}
    if options.pattern == PATTERNS[0]:
        for name in given:
            raise InputError(f"--{name.removesuffix('s') if name == 'buffers' else name}: allowed: with {WITH_STEPS}")
        return None
    _check_written_only(options, WITH_STEPS)
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
