"""Errors as one line on standard error, printed by one of all processes that raise them."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from time import sleep

from fathometer.base.errors import FathometerError

MOST_CHARACTERS = 200  # of the message of an unforeseen exception
HEAD_START_SECONDS = 1.0  # that the other ranks leave the first one to print the error


def print_error(error: FathometerError) -> int:
    """Print the error, whose message is one line; its exit code."""
    print(f"fathometer: error: {error}", file=sys.stderr, flush=True)
    return error.exit_code


def print_error_once(error: FathometerError) -> int:
    """The same while MPI does not run: only rank 0, as far as its launcher told it, prints. The others give it time to,
    since the first rank that ends with an error ends all."""
    from fathometer.launch.mpirun import is_first

    if is_first(os.environ):
        return print_error(error)
    sleep(HEAD_START_SECONDS)
    return error.exit_code


def defect(error: Exception, debug: bool, rank: int | None = None) -> FathometerError:
    """The error to print for an exception that nothing has foreseen: what, where in the input if that is known (the
    notes of `naming`), the version, and where the traceback is: with `debug` printed, else in a file of its own."""
    import traceback

    from fathometer import __version__

    text = "".join(traceback.format_exception(error))
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(frame.filename).name}, line {frame.lineno}" + f", rank {rank}" * (rank is not None)
    notes = "".join(f"{note}: " for note in reversed(getattr(error, "__notes__", [])))
    what = f"{type(error).__name__}: {_short(error)}".removesuffix(": ")
    kept = "--debug shows the traceback"
    if debug:
        kept = "traceback above"
        with suppress(OSError):
            print(text, file=sys.stderr, end="", flush=True)
    elif path := _written(text):
        kept = f"traceback in {path}"
    return FathometerError(
        f"{notes}{what} ({place}); this is a defect, please report it: fathometer {__version__}, {kept}"
    )


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def _written(text: str) -> str:
    """The name of a new file with the text, in the folder of temporary files; "" where there is none to write to."""
    import tempfile

    with suppress(OSError):
        number, path = tempfile.mkstemp(prefix="fathometer-traceback-", suffix=".txt")
        with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        return path
    return ""
