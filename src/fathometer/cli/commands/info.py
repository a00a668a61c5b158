"""`fathometer info`: what files hold, and which formats are available."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fathometer.base import option_types
from fathometer.base.display import COLOURS, GAINS, Display
from fathometer.base.errors import InputError
from fathometer.base.names import visible_name
from fathometer.cli import argument_groups
from fathometer.cli.command import Command, Options
from fathometer.cli.output import print_json, print_line, print_text, require_picture

if TYPE_CHECKING:
    from fathometer.seismic.kirchhoff.velocities.description import PicksDescription
    from fathometer.storage.describe import Description

NEWLINE = "\n"

# Kinds of files, and the suffixes of each.
KINDS = (
    ("volumes (models, images)", ".rsf .npy .npz:key .nc:variable .h5:path .hdf5:path .zarr .blocks .segy .sgy"),
    ("gathers", ".segy .sgy .su"),
    ("the index of a survey", ".parquet"),
    ("velocity picks", ".txt .csv"),
)
# What says what other files hold, by suffix.
ELSEWHERE = {
    ".toml": "an input file; `fathometer plan` says what its run will cost",
    ".json": "a record or a measured machine; `fathometer report` makes the page of a run's record",
    ".html": "a page; a browser shows it",
    ".png": "a picture; any viewer shows it",
}

DESCRIPTION = f"""\
Say what files hold:

{NEWLINE.join(f"  {kind:<26}{suffixes}" for kind, suffixes in KINDS)}

SEG-Y, SU and HDF5 are known by their content where the suffix is no format's, HDF5 also under that of another volume
format."""

EXAMPLES = """\
  fathometer info vp.rsf models.npz:epsilon
  fathometer info shots.segy --picture shots.png
  fathometer info velocities.segy --as volume
  fathometer info image.h5 --level 2 --picture coarse.png
  fathometer info image.rsf --picture image.pdf --gain balance --colours red-white-blue
  fathometer info image.rsf --picture cube.png --cube
  fathometer info picks.txt
  fathometer info --formats"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer info`."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="a file, with the key of one array: models.npz:vp")
    parser.add_argument(
        "--formats", action="store_true", help="which formats are read and written here, how, and what is missing"
    )
    parser.add_argument(
        "--as",
        dest="wanted",
        choices=("gathers", "volume"),
        help="what SEG-Y and SU files hold, whatever their headers say",
    )
    argument_groups.add_sample_interval(parser)
    parser.add_argument(
        "--level",
        type=option_types.whole_number,
        default=0,
        metavar="K",
        help="of volumes: their K-th coarser level (0)",
    )
    parser.add_argument(
        "--share",
        type=option_types.count,
        metavar="N",
        help="of wavelet coefficients the largest 1:N alone (all there are)",
    )
    parser.add_argument("--picture", type=Path, metavar="OUT", help="draw it (one FILE), as .png, .pdf or .svg")
    picture = parser.add_argument_group("of a picture")
    picture.add_argument(
        "--colours", choices=COLOURS, help="of amplitudes, which have both signs (grey; blue and black: positive)"
    )
    picture.add_argument(
        "--gain", choices=GAINS, help="of amplitudes: balanced over depth or time, or of gathers AGC over 0.5 s (none)"
    )
    picture.add_argument(
        "--clip",
        type=option_types.percentile,
        metavar="PERCENTILE",
        help="of the magnitudes, at which amplitudes are clipped (volumes 99, gathers 98)",
    )
    picture.add_argument("--cube", action="store_true", help="a volume's slices as the faces of a cube")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: Options) -> None:
    """Describe files, or with --formats the formats."""
    if options.formats or not options.files:
        _print_formats(options)
    else:
        _describe_files(options)


def _describe_files(options: Options) -> None:
    if options.level or options.share is not None:
        from fathometer.storage.volumes.volume import reference_at

        options.files = [reference_at(name, Path(), options.level, options.share) for name in options.files]
    if options.picture is not None and len(options.files) != 1:
        raise InputError(f"--picture {options.picture}: draws one FILE, found {len(options.files)}")
    require_picture(options.picture)
    display = _display(options)
    descriptions = [_description(reference, options) for reference in options.files]
    if options.json:
        print_json([d.as_dict() for d in descriptions])
    else:
        for reference, description in zip(options.files, descriptions, strict=True):
            rows = [f"  {label:<18} {visible_name(text)}" for label, text in description.rows()]
            print_text("\n".join([reference, *rows]))
    if options.picture is not None:
        from fathometer.pictures.file_picture import picture_of

        picture_of(options.picture, options.files[0], Path(), None, options.wanted, options.sample_interval, display)


def _display(options: Options) -> Display:
    """How the picture shows values; InputError where there is none to be drawn."""
    if options.picture is None:
        for option in ("colours", "gain", "clip", "cube"):
            if getattr(options, option):
                raise InputError(f"--{option}: found without --picture; allowed: with it")
    return Display(options.colours or "grey", options.gain or "none", options.clip, options.cube)


def _description(reference: str, options: Options) -> Description | PicksDescription:
    from fathometer.seismic.kirchhoff.velocities.picks_file import is_picks_file

    if is_picks_file(reference):
        from fathometer.seismic.kirchhoff.velocities.description import describe_picks

        for option, given in (
            ("--as", options.wanted),
            ("--sample-interval", options.sample_interval),
            ("--picture", options.picture),
        ):
            if given is not None:
                raise InputError(f"{option}: found with {reference}, a text of picks; allowed: with other files")
        return describe_picks(Path(reference))
    from fathometer.storage.describe import VolumeDescription, describe
    from fathometer.storage.volumes.registry import UnknownKind

    try:
        description = describe(reference, Path(), options.wanted, options.sample_interval, print_line)
    except UnknownKind as error:
        other = ELSEWHERE.get(Path(reference).suffix.lower()) if Path(reference).is_file() else None
        hint = f"; it is {other}" if other else error.hint
        known = "; ".join(f"{kind} {suffixes}" for kind, suffixes in KINDS)
        raise InputError(f"{reference}: unknown kind of file; allowed: {known}{hint}") from None
    if isinstance(description, VolumeDescription) and not description.labels and len(description.shape) in (2, 3):
        return replace(description, notes=(*description.notes, *_order_notes(reference)))
    return description


def _order_notes(reference: str) -> tuple[str, ...]:
    """Which order a survey takes the axes of a volume for that does not name them, and what its values say of that."""
    from fathometer.seismic.model.axes import natural_axes
    from fathometer.seismic.model.axis_order import order_note
    from fathometer.storage.volumes.volume import open_volume

    with open_volume(reference, Path()) as volume:
        hint = order_note(volume, lambda values: values, "[model] axes =")
        order = ", ".join(natural_axes(len(volume.info.shape)))
    return (f"a survey takes the axes for {order}, slowest first, unless [model] axes says another order{hint}",)


def _print_formats(options: Options) -> None:
    from fathometer.storage.volumes.availability import availability

    if not options.formats:
        raise InputError("info: the following arguments are required: FILE, or --formats")
    if options.files or options.picture is not None:
        raise InputError("info: --formats: found with FILE or --picture; allowed: alone or with --json")
    formats = availability()
    if options.json:
        print_json([form.as_dict() for form in formats])
    else:
        for form in formats:
            print_text("\n".join([form.format, *(f"  {label:<10} {text}" for label, text in form.rows())]))


COMMAND = Command(
    "info",
    "what a file holds: kind, shape, spacing, units, range, geometry",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
