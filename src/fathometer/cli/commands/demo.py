"""`fathometer demo`: a complete example on a model made by code."""

from __future__ import annotations

import argparse
import os.path
import shlex
import shutil
import sys
from pathlib import Path

from fathometer.base.names import visible_name
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
    for line in closing_words(call.options.output):
        call.say(line)


def closing_words(folder: Path) -> list[str]:
    """What to open in the demo's folder, and what to try next: commands that run as they stand."""
    from fathometer.record.envelope import PAGE
    from fathometer.runs.restart_hint import DEMO
    from fathometer.seismic.demo import IMAGE_FOLDER, SHOTS, SHOTS_FOLDER

    def path(*parts: str) -> str:
        return shlex.quote(visible_name(str(folder.joinpath(*parts))))

    survey, program = path(DEMO), shlex.quote(_program())
    return [
        "",
        f"open {path(IMAGE_FOLDER, PAGE)}: the image, with sliders, and where every second went",
        "",
        "what to try next:",
        f"  {program} migrate-time {survey}    the same gathers in time",
        f"  {program} info {path(SHOTS_FOLDER, 'shots.segy')} --picture {path('shot.png')}    a shot",
        f"  {program} calibrate --for migrate    how fast this machine is, once; then",
        f"  {program} plan {survey}    what a run costs, before it runs",
        f"  {program} model {path(SHOTS)} --set wavelet.peak_frequency=4    the shots again, of a lower frequency",
        f"  {program} new survey YOUR-MODEL YOUR-SHOTS    a survey file around files of your own",
    ]


def _program() -> str:
    """How the program is called here: by its name where that is on the path, else by its place."""
    script = Path(sys.executable).with_name("fathometer")
    return "fathometer" if shutil.which("fathometer") or not script.exists() else os.path.relpath(script)


COMMAND = Command(
    "demo",
    "the main job on a model built by code",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run_on_ranks=run_on_ranks,
    prepare=lambda options: registry.application(APPLICATION).load(None, command="demo"),
)
