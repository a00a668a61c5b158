"""Errors as one line on standard error, printed by one of all processes that raise them."""

from __future__ import annotations

import os
import sys
from time import sleep

from fathometer.base.errors import FathometerError
from fathometer.base.names import visible_name

HEAD_START_SECONDS = 1.0  # that the other ranks leave the first one to print the error


def print_error(error: FathometerError) -> int:
    """Print the error in one line; its exit code."""
    line = visible_name(" ".join(str(error).splitlines()))
    print(f"fathometer: error: {line}", file=sys.stderr, flush=True)
    return error.exit_code


def print_error_once(error: FathometerError) -> int:
    """The same while MPI does not run: only rank 0, as far as its launcher told it, prints. The others give it time to,
    since the first rank that ends with an error ends all."""
    from fathometer.launch.mpirun import is_first

    if is_first(os.environ):
        return print_error(error)
    sleep(HEAD_START_SECONDS)
    return error.exit_code
