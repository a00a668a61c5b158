"""`fathometer survey wavelet`: the source wavelet, estimated from recorded traces."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from fathometer.base.options import add_options, options_of
from fathometer.cli import argument_groups
from fathometer.cli.command import Command, Options
from fathometer.cli.output import print_text, require_picture, require_writable
from fathometer.seismic.signature.request import WaveletRequest

DESCRIPTION = """\
Estimate the source wavelet from the sea-floor reflections of a survey's near offsets: aligned, stacked, and
of the minimum phase that belongs to their amplitude spectrum. Says the polarity of the traces, the depth of
the sea floor, and which top the wavelet fits: with the ghosts of the sea surface it is for an absorbing top,
without them, divided out by the depths of sources and receivers, for a free surface. Writes a text that
[wavelet] kind = "file" reads, and prints that section. The survey file needs no [wavelet]."""

EXAMPLES = """\
  fathometer survey wavelet line.toml -o wavelet.txt --picture wavelet.png
  fathometer survey wavelet line.toml --ghosts removed --velocity 1480
  fathometer survey wavelet line.toml --sea-floor 0.471 --length 0.15 --max-frequency 50"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer survey wavelet`."""
    parser.add_argument("survey", type=Path, metavar="SURVEY", help="survey file (TOML) with gathers")
    parser.add_argument("-o", "--output", type=Path, default=Path("wavelet.txt"), metavar="FILE", help="(wavelet.txt)")
    parser.add_argument(
        "--picture", type=Path, metavar="OUT", help="as .png, .pdf or .svg: draw reflections, wavelet and spectra"
    )
    add_options(parser, WaveletRequest)
    argument_groups.add_quiet(parser)


def run(options: Options) -> None:
    """Estimate the wavelet, in this process. Raises InputError where the traces do not show it."""
    from fathometer.launch.mpirun import require_one_rank

    require_one_rank("survey wavelet", os.environ)
    require_picture(options.picture)
    require_writable(options.output, options.picture)
    from fathometer.seismic.signature.driver import survey_to_estimate, survey_wavelet, write_wavelet

    survey = survey_to_estimate(options.survey)
    wavelet = survey_wavelet(survey, options_of(WaveletRequest, options))
    write_wavelet(wavelet, options.output)
    if options.picture is not None:
        from fathometer.seismic.signature.picture import wavelet_picture

        wavelet_picture(wavelet, options.picture)
    if not options.quiet:
        print_text("\n".join([*wavelet.lines(), "", *wavelet.section(options.output)]))


COMMAND = Command(
    "survey wavelet",
    "estimate the source wavelet from sea-floor reflections",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
