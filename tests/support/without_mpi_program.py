"""Commands, each in a process of its own in which nothing has begun MPI: a line of JSON on standard input has their
words, one on standard output each exit code and all that was said."""

import contextlib
import json
import os
import sys
import tempfile

import matplotlib.figure  # noqa: F401  # what takes long to import, and knows nothing of MPI
import numpy as np  # noqa: F401

from fathometer.cli.main import main


def run(words):
    """Exit code and words of a command, run by a child."""
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            code = 70
            with contextlib.suppress(BaseException):
                code = main(words)
            sys.stdout.flush()
            os._exit(code)
        _, status = os.waitpid(child, 0)
        said.seek(0)
        return os.waitstatus_to_exitcode(status), said.read().decode()


assert "mpi4py.MPI" not in sys.modules
assert "h5py" not in sys.modules
print(json.dumps([run(words) for words in json.load(sys.stdin)]))
