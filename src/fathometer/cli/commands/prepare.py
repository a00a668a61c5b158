"""`fathometer prepare`: a volume read, changed and written as a velocity model; a tool of the seismic application."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace

from fathometer.base.errors import InputError
from fathometer.base.options import add_options, options_of
from fathometer.cli import argument_groups
from fathometer.cli.command import Command, Options
from fathometer.cli.output import printer, require_writable
from fathometer.seismic.model.prepare.request import PreparationRequest

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
  fathometer prepare image.rsf --units none -o image.zarr --write auto:levels=3
  fathometer prepare vp.rsf --epsilon velocity:1500=0,2500=0.1,4000=0.05 --delta 0.02 \\
                     --below-water depth:330 -o vti.rsf        (and vti-epsilon.rsf, vti-delta.rsf)"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer prepare`."""
    add_options(parser, PreparationRequest)
    argument_groups.add_quiet(parser)


def run(options: Options) -> None:
    """Prepare the model, in this process."""
    from fathometer.launch.mpirun import require_one_rank

    require_one_rank("prepare", os.environ)
    from fathometer.seismic.kirchhoff.velocities.picks_file import is_picks_file
    from fathometer.seismic.model.prepare.driver import prepare_model, prepare_volume

    request = options_of(PreparationRequest, options)
    if not request.output.is_dir():  # some formats are folders; the others' writer says so
        require_writable(request.output)
    if any(length < 0 for length in request.smooth or ()):
        raise InputError("--smooth: found a negative length; allowed: metres from 0")
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
