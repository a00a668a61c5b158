"""Signals while Python still imports the program, before `interruptible` (signals.py) takes them, and after it.

SIGINT ends the process at once, with one line: nothing has begun that would have to be cleared up. The other signals
that end a run come from batch systems and launchers, which act on the exit code. They are noted until the command, and
so its code, is known: `interruptible` raises KeyboardInterrupt for them as soon as it begins. The note is an alarm,
which also ends a process that does not get that far.

Imports next to nothing: it runs before all else.
"""

import os
import signal
from types import FrameType

# Ctrl-C; the end of a batch job, also what mpirun sends its ranks when it ends; the end of the terminal; and the one
# signal that Open MPI's mpirun forwards to its ranks.
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
INTERRUPTED = 130  # exit code: 128 + SIGINT, the shells' convention
ALARM_SECONDS = 6  # from a noted signal to the end of the process where nothing takes it

_RANK = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")  # launchers' variables


def begin() -> None:
    """Take the signals, but those that whoever started this process ignores, as nohup does."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end_now if number == signal.SIGINT else _note)


def begun() -> bool:
    """Whether the signals are taken here."""
    return any(signal.getsignal(number) in (_end_now, _note) for number in SIGNALS)


def noted() -> bool:
    """Whether a signal was noted; it is not any more. To be asked when the signals are no longer taken here."""
    return signal.alarm(0) > 0


def end() -> None:
    """After the command: a signal ends the process, without a traceback, while Python and MPI finish."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _end_now(*_: object) -> None:
    if all(os.environ.get(name, "0") == "0" for name in _RANK):
        os.write(2, b"fathometer: interrupted\n")
    os._exit(INTERRUPTED)


def _note(number: int, frame: FrameType | None) -> None:
    signal.alarm(ALARM_SECONDS)
