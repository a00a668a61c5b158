"""`fathometer messages`: what messages between ranks cost."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from fathometer.cli import argument_groups
from fathometer.cli.benchmark import run_benchmark, two_ranks
from fathometer.cli.command import Command, Options, RankCall
from fathometer.cli.option_types import choices_of, count, duration, read_by, whole_number
from fathometer.cli.pages import page_panels

DESCRIPTION = """\
Exchange messages between ranks by every protocol of MPI, in loops of C++: swaps and round trips of pairs,
halos, transposes, sums, barriers, broadcasts. In rounds of random order over pairs, protocols and lengths;
every message is verified; latency, rates and cost models are fitted, with intervals."""

EXAMPLES = """\
  fathometer messages --ranks 2
  fathometer messages --ranks 4 --protocol sendrecv,put-fence --length 8..1M --json m.json -o m.html
  fathometer messages --ranks 4 --pattern allreduce,barrier --timing series,window --algorithm allreduce=all
  fathometer messages --ranks 2 --machine MACHINE.json     `plan --on` takes its messages from here"""

_CASES, _PLACES = "fathometer.lab.messages.cases", "fathometer.lab.messages.places"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `fathometer messages --help`."""
    parser.add_argument(
        "--pattern",
        type=read_by(_CASES, "patterns_of"),
        default=("swap", "pingpong"),
        metavar="P,P...|all",
        help="swap, pingpong, echo, halo2d, halo3d, transpose, allreduce, barrier, bcast (swap,pingpong)",
    )
    parser.add_argument(
        "--protocol",
        type=read_by(_CASES, "protocols_of"),
        default=(),
        metavar="P,P...|all",
        help="send, ssend, bsend, rsend, sendrecv, isend-irecv, irecv-isend, persistent, put- and get- with fence, "
        "pscw or lock, shared-window; of halos and transposes: types, packed ... (all)",
    )
    parser.add_argument(
        "--direction",
        type=choices_of("both", "one"),
        default=("both",),
        metavar="both,one",
        help="of a swap: both ways at the same time, or one way (both)",
    )
    parser.add_argument(
        "--length",
        type=read_by(_CASES, "lengths_of"),
        default=(),
        metavar="N,N..N",
        help="bytes, as in 8,4K,1M or 8..16M: powers of two (8..16M; allreduce: 8)",
    )
    parser.add_argument(
        "--packet",
        type=read_by(_CASES, "packet_of"),
        default=(0,),
        metavar="N,N...",
        help="bytes that a pair sends at most in one call; 0: all at once (0)",
    )
    parser.add_argument(
        "--buffers",
        type=choices_of("warm", "cold"),
        default=("warm",),
        metavar="warm,cold",
        help="messages in the caches, or put out of them before (warm)",
    )
    parser.add_argument(
        "--class",
        dest="classes",
        type=read_by(_PLACES, "classes_of"),
        default=(),
        metavar="C,C...",
        help="pairs in-node, between nodes, mixed (those that there are)",
    )
    parser.add_argument(
        "--distance",
        type=read_by(_PLACES, "numbers_of"),
        default=(),
        metavar="J,J...",
        help="ranks i and i + J exchange (of each class the one with the most pairs)",
    )
    parser.add_argument(
        "--pairs",
        type=read_by(_PLACES, "numbers_of"),
        default=(),
        metavar="N,N...|all",
        help="that exchange at the same time (1,all)",
    )
    parser.add_argument(
        "--timing",
        type=choices_of("series", "window"),
        default=("series",),
        metavar="series,window",
        help="of collective calls: one after the other, or from agreed times on (series)",
    )
    parser.add_argument(
        "--algorithm",
        type=read_by("fathometer.lab.messages.algorithms", "algorithms_of"),
        action="extend",
        default=[],
        metavar="CALL=A,A...|all",
        help="of Open MPI's allreduce, barrier, bcast or alltoall, beside its own choice; any number of times",
    )
    parser.add_argument(
        "--order",
        default="rank",
        choices=("rank", "distance"),
        help="number the ranks as launched, or each beside its nearest (rank)",
    )
    parser.add_argument(
        "--thread-level",
        default="single",
        choices=("single", "funneled", "serialized", "multiple"),
        help="thread support that MPI is started with: with multiple it takes locks in every call (single)",
    )
    parser.add_argument("--repeat", type=count, default=20, metavar="N", help="rounds (20)")
    parser.add_argument("--budget", type=duration, default=180.0, metavar="TIME", help="of the whole command (180s)")
    parser.add_argument("--seed", type=whole_number, default=1, metavar="N", help="of contents and order (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the record")
    parser.add_argument("--picture", type=Path, metavar="OUT.png", help="draw the curves")
    parser.add_argument("-o", "--output", type=Path, metavar="PAGE", help="write the page, as of a run")
    parser.add_argument(
        "--machine", type=Path, metavar="MACHINE.json", help="a machine file whose entries of messages are replaced"
    )
    argument_groups.add_ranks(parser)


def run_on_ranks(call: RankCall) -> None:
    """Collective. Measure; write the page; replace a machine file's messages. Raises FathometerError where a message
    arrived with wrong contents."""
    from fathometer.lab.messages.benchmark import MessageOptions, require_right, run_messages
    from fathometer.lab.messages.machine_entries import measured_machine, read_before
    from fathometer.lab.messages.tables import table_lines
    from fathometer.parallel.collectives import collective_errors
    from fathometer.plan.machine_file import save_machine

    options = call.options
    measured = MessageOptions(
        options.pattern,
        options.protocol,
        options.direction,
        options.length,
        options.packet,
        options.buffers,
        options.classes,
        options.distance,
        options.pairs,
        options.timing,
        tuple(options.algorithm),
        options.order,
        options.repeat,
        options.budget,
        options.seed,
    )
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

    return {"MPI4PY_RC_THREAD_LEVEL": options.thread_level} | (dict(ENVIRONMENT) if options.algorithm else {})


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
