"""`fathometer demo`: a complete example on a model made by code."""

from __future__ import annotations

import argparse
from pathlib import Path

from fathometer.cli import argument_groups, registry
from fathometer.cli.application_run import run_application
from fathometer.cli.command import Command, RankCall
from fathometer.runs.application import Demo

APPLICATION = "seismic"

DESCRIPTION = """\
Build a 3D VTI model (layers, a fault, a VTI shale, a high-velocity body, water on top), model ten shots,
smooth the model, migrate, and draw the image over the velocity."""

EXAMPLES = """\
  fathometer demo
  fathometer demo --quick --output /tmp/demo --ranks 2"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer demo`."""
    parser.add_argument("--output", type=Path, default=Path("demo"), metavar="DIR", help="folder of all files (demo)")
    parser.add_argument("--quick", action="store_true", help="smaller and sooner: under 40 s on two cores")
    argument_groups.add_record(parser)


def run_on_ranks(call: RankCall) -> None:
    """Collective. Run the example."""
    demo = Demo(call.options.output, call.options.quick)
    run_application(registry.application(APPLICATION), "demo", call, demo)


COMMAND = Command(
    "demo",
    "the main job on a model built by code",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run_on_ranks=run_on_ranks,
    prepare=lambda options: registry.application(APPLICATION).load(None, command="demo"),
)
