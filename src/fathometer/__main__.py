"""`python -m fathometer` and the command `fathometer`: signals are taken before anything else is imported."""

import os
import sys
from contextlib import suppress
from time import sleep

from fathometer.base import early_signals

early_signals.begin()


def main() -> int:
    """The command line; after it a signal ends the process at once, also where it waits in MPI for other ranks."""
    from fathometer.cli.main import main as run

    try:
        code = run()
    finally:
        early_signals.end()
    hdf5 = sys.modules.get("fathometer.storage.volumes.formats.hdf5_common")
    if hdf5 is not None and hdf5.unclosed:
        _leave(code)
    return code


def _leave(code: int) -> None:
    """End the process without taking its objects down: HDF5 crashes on a file that it could not close, then or when MPI
    is finalised. Of several ranks, which without an error all have to come to that, another one may print the error."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized() and mpi.COMM_WORLD.size > 1:
        if code == 0:
            return
        from fathometer.cli.error_lines import HEAD_START_SECONDS

        sleep(HEAD_START_SECONDS)
        mpi.COMM_WORLD.Abort(code)
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
