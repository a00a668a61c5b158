"""`fathometer stencil`: the benchmark of the time steps."""

from __future__ import annotations

import argparse
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from fathometer.base.options import add_options, options_of
from fathometer.cli import argument_groups, registry
from fathometer.cli.benchmark import run_benchmark
from fathometer.cli.command import Command, Options, RankCall
from fathometer.lab.stencil_options import StencilOptions

DESCRIPTION = """\
Measure the time steps of the propagator in a homogeneous model, in turns with the triad that tells what the
memory gives, and with plain sweeps of one step each. Ratio to the streaming limit: the rate over what the
triad's bandwidth would allow to a sweep that touches each array once."""

EXAMPLES = """\
  fathometer stencil
  fathometer stencil --grid 256,256,256 --order 16 --json stencil.json --picture roofline.png
  fathometer stencil --physics isotropic --time-depth 1
  fathometer stencil --ranks 2 --threads 1 --scaling"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer stencil`."""
    equations = tuple(equation for app in registry.applications() for equation in app.identity.equations)
    own = {"default": equations[0], "choices": equations, "help": f"equation ({equations[0]})"}
    add_options(parser, StencilOptions, physics=own)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the record")
    parser.add_argument("--picture", type=Path, metavar="OUT", help="draw the roofline")
    argument_groups.add_ranks(parser)


def run_on_ranks(call: RankCall) -> None:
    """Collective. Measure the time steps."""
    from fathometer.lab.stencil import run_stencil, table_lines

    options = call.options
    measured = options_of(StencilOptions, options)
    probes = registry.probes_of(registry.of_equation(options.physics))
    measure = partial(run_stencil, measured, probes, call.comm, call.binding, call.words, call.say)
    run_benchmark(call, measure, table_lines, _draw)


def _draw(path: Path, record: dict[str, Any]) -> None:
    from fathometer.lab.roofline_picture import draw_roofline

    draw_roofline(path, record)


def prepare(options: Options) -> None:
    """The measurements, and those of the applications."""
    import_module("fathometer.lab.stencil")
    list(registry.probes())


COMMAND = Command(
    "stencil",
    "the propagator's benchmark: its rate against the memory's",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run_on_ranks=run_on_ranks,
    prepare=prepare,
)
