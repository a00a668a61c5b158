"""What is wrong, in one line on standard error, said by one process of all that find it out."""

from __future__ import annotations

import os
import sys
from time import sleep

from fathometer.base.errors import FathometerError

HEAD_START_SECONDS = 1.0  # that the other ranks leave the first to say what is wrong


def complain(error: FathometerError) -> int:
    """Print the line; the exit code."""
    print(f"fathometer: error: {' '.join(str(error).splitlines())}", file=sys.stderr, flush=True)
    return error.exit_code


def speaks() -> bool:
    """Whether it is for this process to speak, while MPI does not run; the others give it time to, since the first rank
    that ends with an error ends all."""
    from fathometer.launch.mpirun import is_first

    if is_first(os.environ):
        return True
    sleep(HEAD_START_SECONDS)
    return False
