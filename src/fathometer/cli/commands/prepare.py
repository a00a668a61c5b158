"""`fathometer prepare`: a volume read, changed and written as a velocity model; a tool of the seismic application."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.cli import argument_groups
from fathometer.cli.command import Command, Options
from fathometer.cli.option_types import lengths, read_by
from fathometer.cli.output import printer, require_writable

DESCRIPTION = """\
Read a volume or velocity picks, and write a model for `model` and `migrate`. In this order, as asked for:
units to m/s and axes to x, y, z; smoothing and new cells (of a velocity's squared slowness, or as --mean
says), which see what lies around a crop; crop; extension; epsilon and delta, by rules of the velocities that
come out, or of volumes, which are smoothed with the velocity, as OUT-epsilon and OUT-delta beside OUT. Picks
become their interval velocities (Dix) over depth, in cells of --spacing between the outermost
places, or where --crop says. Lists of lengths are along x,y,z (x,z in 2D); one length stands for all axes.
Prints the cells that come out."""

EXAMPLES = """\
  fathometer prepare vp.segy --input-spacing 25,25,10 --units km/s -o vp.rsf
  fathometer prepare vp.rsf --smooth 150,150,75 --below-water 1520 -o smooth.rsf
  fathometer prepare vp.rsf --epsilon eps.rsf --delta del.rsf --smooth 50 -o smooth.rsf
  fathometer prepare models.npz:vp --input-spacing 12.5,12.5 --spacing 20,20 --crop 1000:8000,: -o vp.nc
  fathometer prepare vp.rsf --extend 500,0:800 -o wide.rsf
  fathometer prepare picks.txt --spacing 25,10 -o vp.rsf
  fathometer prepare vp.rsf --epsilon velocity:1500=0,2500=0.1,4000=0.05 --delta 0.02 \\
                     --below-water depth:330 -o vti.rsf        (and vti-epsilon.rsf, vti-delta.rsf)"""

ROOM = "fathometer.seismic.model.prepare"
RULE = read_by(f"{ROOM}.thomsen", "rule_of")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """See `fathometer prepare --help`."""
    parser.add_argument("model", metavar="MODEL", help="a volume (of one array: models.npz:vp), or picks (.txt, .csv)")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="OUT", help="its suffix is the format")
    parser.add_argument(
        "--units",
        choices=("m/s", "km/s", "ft/s", "s/km", "s2/km2", "none"),
        help="of MODEL; none: no velocity, taken as it is (as MODEL says, else m/s)",
    )
    parser.add_argument("--axes", metavar="XYZ", help="of MODEL, slowest first: zyx, xz ... (as MODEL says, else xyz)")
    parser.add_argument("--input-spacing", type=lengths, metavar="DX,..", help="of MODEL's cells, m, if it has none")
    parser.add_argument("--input-origin", type=lengths, metavar="X,..", help="of its first cell, m, if it has none")
    parser.add_argument("--smooth", type=lengths, metavar="M,..", help="standard deviations of a Gaussian, m")
    parser.add_argument(
        "--mean",
        choices=("slowness-squared", "slowness", "velocity"),
        help="what smoothing and new cells average: slowness-squared keeps waves' times through layers thin beside the "
        "wavelength, slowness those of rays (of picks slowness, else slowness-squared)",
    )
    parser.add_argument("--spacing", type=lengths, metavar="DX,..", help="of new cells, m; low-passed where larger")
    parser.add_argument(
        "--crop",
        type=read_by(f"{ROOM}.extent", "crop_of"),
        metavar="X0:X1,..",
        help="cells that stay, m; an end may be left out (--crop=-50:900,: where the first is negative)",
    )
    parser.add_argument(
        "--extend",
        type=read_by(f"{ROOM}.extent", "extension_of"),
        metavar="B:A,..",
        help="m before and after, or cells: 20c; one number stands for both; edge values repeat",
    )
    parser.add_argument(
        "--epsilon", type=RULE, metavar="RULE", help="a number, velocity:V=VALUE,V=VALUE,.. or a volume"
    )
    parser.add_argument("--delta", type=RULE, metavar="RULE", help="the same")
    parser.add_argument(
        "--below-water",
        type=read_by(f"{ROOM}.thomsen", "sea_floor_of"),
        metavar="V|depth:Z",
        help="rules are 0 and nothing is smoothed above the first cell faster than V m/s, or above Z m",
    )
    argument_groups.add_quiet(parser)


def run(options: Options) -> None:
    """Prepare the model, in this process."""
    from fathometer.launch.mpirun import require_one_rank

    require_one_rank("prepare", os.environ)
    from fathometer.seismic.kirchhoff.velocities.picks_file import is_picks_file
    from fathometer.seismic.model.prepare.driver import prepare_model, prepare_volume
    from fathometer.seismic.model.prepare.request import PreparationRequest

    if not options.output.is_dir():  # some formats are folders; the others' writer says so
        require_writable(options.output)
    if any(length < 0 for length in options.smooth or ()):
        raise InputError("--smooth: found a negative length; allowed: metres from 0")
    request = PreparationRequest(
        options.model,
        options.output,
        options.units,
        options.axes,
        options.input_spacing,
        options.input_origin,
        options.crop,
        options.smooth,
        options.spacing,
        options.extend,
        options.epsilon,
        options.delta,
        options.below_water,
        options.mean,
    )
    if not is_picks_file(request.model):
        prepare_volume(request, printer(options.quiet))
        return
    from fathometer.seismic.kirchhoff.velocities.picks_model import PicksModel

    # The cells of picks are made as --spacing and --crop say; what follows is as of a volume.
    prepare_model(replace(request, spacing=None, crop=None), PicksModel(request), printer(options.quiet))


COMMAND = Command(
    "prepare",
    "a model made ready: units, smoothing, cells, extent, epsilon and delta, format",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
