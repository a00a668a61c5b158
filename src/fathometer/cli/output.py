"""What commands print and write: text on standard output, checks of the files that options name."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.legible import legible_output
from fathometer.base.names import visible, visible_name

LABEL_WIDTH = 13  # letters: names of files are listed below each other


def print_text(text: str) -> None:
    """Print on standard output and flush; control characters other than line ends are shown as escapes.

    Raises FathometerError where it cannot be written; a closed pipe is no error.
    """
    legible_output()
    try:
        print(visible(text), flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still in the buffer
        if not isinstance(error, BrokenPipeError):  # whoever reads may have seen enough
            raise FathometerError(f"standard output: cannot be written: {error.strerror}") from None


def print_json(value: Any) -> None:
    """Print JSON's types as `print_text` prints, which keeps JSON on any terminal."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    print_text(json.dumps(value, indent=2, ensure_ascii=encoding != "utf8"))


def print_line(line: str) -> None:
    """Print a line for people on standard error."""
    print(visible(line), file=sys.stderr, flush=True)


def printer(quiet: bool) -> Callable[[str], None]:
    """`print_line`, or with `quiet` a function that prints nothing."""
    return (lambda line: None) if quiet else print_line


def labelled(label: str, text: object) -> str:
    """A line of a list: what a file is, and its path."""
    return f"{label:>{LABEL_WIDTH}}  {visible_name(str(text))}"


def require_writable(*paths: Path | None) -> None:
    """Raises InputError, before all the work, where a file cannot be written: a folder of that name, or none to hold
    it."""
    for path in paths:
        if path is not None and path.is_dir():
            raise InputError(f"{path}: cannot be written: it is a folder")
        if path is not None and not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
            raise InputError(f"{path}: cannot be written: {path.parent} is no folder that can be written to")


def require_picture(picture: Path | None) -> None:
    """Raises InputError where a picture is to be of another format."""
    from fathometer.pictures.sheet import SUFFIXES as PICTURES

    if picture is not None and picture.suffix.lower() not in PICTURES:
        raise InputError(
            f"--picture {picture}: allowed: the name of a {', '.join(PICTURES[:-1])} or {PICTURES[-1]} file"
        )


def protect_records(outputs: Sequence[Path], records: Sequence[Path]) -> None:
    """Raises InputError where a page or a table would replace a record that it is made from."""
    from fathometer.storage import atomic

    for path in outputs:
        if any(atomic.replaces(path, record) for record in records):
            raise InputError(f"{path}: is a record that is read; allowed: another name")
