"""The beginning of MPI in this process.

Without a launcher Open MPI keeps a folder for the session of the process, $TMPDIR/ompi.HOST.UID, whose name anybody can
foresee: what another user has put there before, such as a link, would be emptied when MPI ends. So MPI begins in a new
folder of this process, which is removed as soon as it has begun. MPI knows it by the number of an open file, so that
its own clean-up leads nowhere, whatever lies in the old place by then, and two runs share nothing.

What the user has set stays as it is: see one_host.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from fathometer.base.owned_folder import owned_folder
from fathometer.launch import one_host
from fathometer.launch.mpirun import launched


def begin_mpi() -> None:
    """Import mpi4py.MPI and initialise MPI, unless that was done; also where mpi4py was told not to, by its `rc`.

    To be called before mpi4py.MPI is imported.
    """
    if "mpi4py.MPI" in sys.modules and sys.modules["mpi4py.MPI"].Is_initialized():
        return
    os.environ.update(one_host.without_display(os.environ))
    with ExitStack() as session:
        if launched(os.environ) is None:
            os.environ.update(one_host.alone(os.environ))
            with suppress(OSError):  # where no folder can be made, MPI has its own ways
                session.enter_context(_own_session(os.environ))
        from mpi4py import MPI

        if not MPI.Is_initialized():
            MPI.Init_thread()


@contextmanager
def _own_session(environ: MutableMapping[str, str]) -> Iterator[None]:
    """Context in which MPI makes its folders in one that ends with the context. Raises OSError where there is none."""
    from tempfile import gettempdir

    if environ.get(one_host.ISOLATED) not in ("1", "true"):  # a daemon, which outlives the context, would be there too
        yield
        return
    with owned_folder(Path(gettempdir()), one_host.PREFIX) as folder:
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)  # never closed: the number must not be another file's
        before = environ.get("TMPDIR")
        environ["TMPDIR"] = f"/proc/self/fd/{place}"
        try:
            yield
        finally:
            if before is None:
                del environ["TMPDIR"]
            else:
                environ["TMPDIR"] = before
