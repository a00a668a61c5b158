"""`fathometer new`: an input file around one's own files."""

from __future__ import annotations

import argparse
import os.path
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from fathometer.base.errors import InputError
from fathometer.base.references import referred
from fathometer.cli import registry
from fathometer.cli.command import Command, Options
from fathometer.cli.output import printer, require_writable

if TYPE_CHECKING:
    from fathometer.config.draft import Drafted
    from fathometer.config.input_file import InputFile
    from fathometer.runs.application import Identity

SURVEY = "survey"  # the kind of input file of the first application
INDENT = "  "

DESCRIPTION = """\
Write a commented input file around one's own files: axes, units, geometry as `fathometer info` finds them; what could
not be found is a gap, "FILL IN", and a run of a file with gaps says what they need. What a FILE is, is told by its
contents and name, or by NAME=FILE. Without files all that is needed is a gap. Nothing is overwritten without being
asked."""

EXAMPLES = """\
  fathometer new survey vp.rsf epsilon.rsf shots.segy -o image.toml
  fathometer new survey vp=marmousi.bin.npy              a geometry to model, its numbers to be filled in
  fathometer new survey picks.txt line.parquet           a migration in time
  fathometer new ocean bathymetry=gebco.nc:elevation temperature=levitus.nc:t
  fathometer new farm proteins.fasta database=swissprot
  fathometer new plasma                                  all that is needed, with what it means"""


def kinds() -> dict[str, str]:
    """Kinds of input files, with the names of their applications."""
    return {SURVEY if name == next(iter(registry.APPLICATIONS)) else name: name for name in registry.APPLICATIONS}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer new`."""
    parser.add_argument("kind", choices=tuple(kinds()), metavar="KIND", help=f"one of {', '.join(kinds())}")
    parser.add_argument("files", nargs="*", metavar="FILE", help="a file, or NAME=FILE; NAME of each KIND: see below")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT.toml", help="the input file (KIND.toml)")
    parser.add_argument("--overwrite", action="store_true", help="replace a file of that name")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    lines = []
    for kind, name in kinds().items():
        given = registry.application(name).identity.given
        lines.append(f"{INDENT}{kind:<12}{', '.join(given) or 'no files'}")
    parser.description = f"{DESCRIPTION}\n\nNAME of each KIND:\n" + "\n".join(lines)


def run(options: Options) -> None:
    """Write the input file, and say what is left to be filled in."""
    say = printer(options.quiet)
    target: Path = options.output or Path(f"{options.kind}.toml")
    _check_target(target, options.overwrite)
    identity = registry.application(kinds()[options.kind]).identity
    drafted = _drafted(identity, options.kind, options.files, target)
    text, gaps = _text(identity, options.kind, drafted, target, options.files)
    from fathometer.storage import atomic

    atomic.write(target, text.encode())
    for note in drafted.notes:
        say(f"note: {note}")
    if gaps:
        say(f"{target}: written, with {len(gaps)} gap{'s' * (len(gaps) > 1)} to fill in ({', '.join(gaps)})")
        say(f"then: fathometer {drafted.command} {target}")
    else:
        say(f"{target}: written, without gaps; read it, then: fathometer {drafted.command} {target}")


def _check_target(target: Path, overwrite: bool) -> None:
    if target.suffix.lower() != ".toml":
        raise InputError(f"--output {target}: allowed: the name of a .toml file")
    if os.path.lexists(target) and not overwrite:
        raise InputError(f"{target}: exists; allowed: another name (-o), or --overwrite to replace it")
    require_writable(target)


def _drafted(identity: Identity, kind: str, texts: list[str], target: Path) -> Drafted:
    from fathometer.config.draft import Drafted
    from fathometer.runs.given_files import given_files
    from fathometer.storage import atomic

    files = given_files(texts, identity.given, kind)
    for file in files:
        if atomic.replaces(target, Path(file.reference)):
            raise InputError(f"--output {target}: is one of the files given; allowed: another name")
    if not identity.draft:
        return Drafted({}, next(iter(identity.commands)))
    found: Drafted = referred(identity.draft)(files, target)
    return found


def _text(identity: Identity, kind: str, drafted: Drafted, target: Path, files: list[str]) -> tuple[str, list[str]]:
    """The input file, and the names of its gaps. Raises InputError where it has none and its checks refuse it."""
    from fathometer.config.draft import draft_text
    from fathometer.config.gaps import GAP, gaps_in
    from fathometer.config.input_file import validated
    from fathometer.config.problems import named

    model: type[InputFile] = referred(identity.input)
    around = f", around {', '.join(files)}" if files else ""
    head = [f'Made by `fathometer new {kind}`{around}. What is "{GAP}" was not found: a run says what it needs.']
    text = draft_text(model, drafted.keys, head, identity.reference)
    values = tomllib.loads(text)
    gaps = [named(place, model) for place in gaps_in(values)]
    if not gaps:
        validated(model, values, target)
    return text, gaps


COMMAND = Command(
    "new",
    "an input file around one's own files",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
