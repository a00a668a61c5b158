"""Processes of a farm beside its ranks: started without MPI, spoken with through a pair of sockets, gone with whoever
started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from typing import Any

from fathometer.base.marked_processes import marked_processes
from fathometer.base.signals import blocked

MARK = "FATHOMETER_FARM"  # in the environment of workers, and so of all that their tasks start
INTERRUPTED = "interrupted"  # why a farm ends after a signal
_OF_LAUNCHERS = ("OMPI_", "PMIX_", "PMI_", "PRTE_", "ORTE_", "OPAL_", "MPI_LOCAL", "HYDI_", "I_MPI_", "FATHOMETER_TTY")


class Child:
    """A process that runs a module of this folder; its first message is `setup`, as its `main` reads it.

    Args:
        module: its name. title: what it is, for errors. setup: picklable. handles: descriptors that it inherits.
        cpus: that it may run on; (): as its parent. mark: value of the variable MARK.

    Attributes:
        control: to speak with it; EOFError and OSError once it has ended.
    """

    def __init__(
        self,
        module: str,
        title: str,
        setup: Mapping[str, Any],
        handles: Sequence[int] = (),
        cpus: Sequence[int] = (),
        mark: str = "",
    ) -> None:
        self.title = title
        self.control, theirs = Pipe()
        environ = task_environment(os.environ)
        with blocked():  # a signal waits until the process is known
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", f"fathometer.apps.farm.{module}", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), *handles),
                env=environ | ({MARK: mark} if mark else {}),
                start_new_session=True,  # the terminal's signals are for the ranks alone
            )
        theirs.close()
        with suppress(OSError):  # it has ended already, which its control tells
            self.control.send(dict(setup) | {"cpus": list(cpus)})

    @property
    def number(self) -> int:
        """Of the process."""
        return self._process.pid

    def ended(self, seconds: float = 5.0) -> str:
        """How it has ended, for a line: "signal 9"; it is killed where it has not within some seconds."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def kill(self) -> None:
        """End it at once."""
        self.control.close()
        with suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()


def child_control() -> tuple[Connection, dict[str, Any]]:
    """In a child: its connection with its parent, and its setup. It runs on the cpus that it is to."""
    control = Connection(int(sys.argv[1]))
    os.set_inheritable(control.fileno(), False)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    setup: dict[str, Any] = control.recv()
    if setup["cpus"]:
        with suppress(OSError):
            os.sched_setaffinity(0, setup["cpus"])
    return control, setup


def task_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """An environment without what launchers tell their ranks: a task that is an MPI program is none of these."""
    return {name: value for name, value in environ.items() if not name.startswith(_OF_LAUNCHERS)}


def kill_marked(mark: str) -> None:
    """Kill what a worker that has ended has left running: its tasks, and all that these have started."""
    for process in marked_processes(MARK, lambda value: value == mark):
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
