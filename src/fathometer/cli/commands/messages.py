"""`fathometer messages`: what messages between ranks cost."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from fathometer.base.options import add_options, options_of
from fathometer.cli import argument_groups
from fathometer.cli.benchmark import run_benchmark, two_ranks
from fathometer.cli.command import Command, Options, RankCall
from fathometer.cli.pages import page_panels
from fathometer.lab.messages.options import MessageOptions

DESCRIPTION = """\
Exchange messages between ranks by every protocol of MPI, in loops of C++: swaps and round trips of pairs,
halos, transposes, sums, barriers, broadcasts. In rounds of random order over pairs, protocols and lengths;
every message is verified; latency, rates and cost models are fitted, with intervals."""

EXAMPLES = """\
  fathometer messages --ranks 2
  fathometer messages --ranks 4 --protocol sendrecv,put-fence --length 8..1M --json m.json -o m.html
  fathometer messages --ranks 4 --pattern allreduce,barrier --timing series,window --algorithm allreduce=all
  fathometer messages --ranks 2 --machine MACHINE.json     `plan --on` takes its messages from here"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer messages`."""
    add_options(parser, MessageOptions)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the record")
    parser.add_argument("--picture", type=Path, metavar="OUT", help="draw the curves")
    parser.add_argument("-o", "--output", type=Path, metavar="PAGE", help="write the page, as of a run")
    parser.add_argument(
        "--machine", type=Path, metavar="MACHINE.json", help="a machine file whose entries of messages are replaced"
    )
    argument_groups.add_ranks(parser)


def run_on_ranks(call: RankCall) -> None:
    """Collective. Measure; write the page; replace a machine file's messages. Raises FathometerError where a message
    arrived with wrong contents."""
    from fathometer.lab.messages.benchmark import require_right, run_messages
    from fathometer.lab.messages.machine_entries import measured_machine, read_before
    from fathometer.lab.messages.tables import table_lines
    from fathometer.parallel.collectives import collective_errors
    from fathometer.plan.machine_file import save_machine

    options = call.options
    measured = options_of(MessageOptions, options)
    before = None
    with collective_errors(call.comm):
        if options.machine is not None:
            before = read_before(options.machine, call.comm.size)
    measure = partial(run_messages, measured, call.comm, call.binding, call.words, call.say)
    record = run_benchmark(call, measure, table_lines, _draw, options.output, options.machine)
    machine = measured_machine(before, call.comm, call.say) if before is not None else None
    with collective_errors(call.comm):
        if call.comm.rank == 0:
            if options.output is not None:
                _write_page(options.output, options.json or options.output, record)
            require_right(record)
            if machine is not None:
                save_machine(options.machine, machine)
                call.say(f"written: {options.machine}")


def _draw(path: Path, record: dict[str, Any]) -> None:
    from fathometer.lab.messages.picture import draw_curves

    draw_curves(path, record)


def _write_page(path: Path, record_path: Path, record: dict[str, Any]) -> None:
    from fathometer.report.page import write_page
    from fathometer.report.records import Run

    run = Run(record_path, record)
    write_page(path, [run], page_panels(run))


def environment(options: Options) -> Mapping[str, str]:
    """The thread support that mpi4py asks for, and what Open MPI needs in order to heed algorithms."""
    from fathometer.lab.messages.algorithms import ENVIRONMENT

    return {"MPI4PY_RC_THREAD_LEVEL": options.thread_level} | (dict(ENVIRONMENT) if options.algorithms else {})


COMMAND = Command(
    "messages",
    "what messages between ranks cost, by every protocol of MPI",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run_on_ranks=run_on_ranks,
    prepare=lambda options: import_module("fathometer.lab.messages.benchmark"),
    default_ranks=two_ranks,
    environment=environment,
)
