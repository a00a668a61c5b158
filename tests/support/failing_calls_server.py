"""A process that has imported all that a run needs, and forks for each command, one of whose I/O calls is to fail.

Reads a JSON line for each command: words, folder, at (number of the call that fails, 0: none), with (errno), out and
log (files for the command's output and for a line each call); answers with one: code (None: hung and was killed),
calls, failed. Started by failing_calls.py with the library preloaded.
"""

import ctypes
import json
import os
import select
import signal
import sys

from fathometer.cli.main import main

library = ctypes.CDLL(None)
library.failing_calls_failed.restype = ctypes.c_char_p
library.failing_calls_count.restype = ctypes.c_long


def hasten():
    """Spare each command what costs most of its time and has no part in the trials: of pictures a few bytes are
    written, the machine's rates are measured once."""
    from matplotlib.figure import Figure

    from fathometer.seismic.setup import run_record
    from fathometer.storage.scratch import stack

    stack.SLAB_BYTES = 1 << 13  # so that the small history of a trial is written and read
    Figure.savefig = lambda self, file, **options: file.write(b"a picture")
    measure, rates = run_record.measure_roofline, []

    def measure_once(*arguments):
        if not rates:
            rates.append(measure(*arguments))
        return dict(rates[0])

    run_record.measure_roofline = measure_once


def code_of(words):
    """Of a command in this process."""
    try:
        return main(words)
    except SystemExit as stop:
        return stop.code


def child(request, answer):
    """Does one command, and ends this process."""
    for descriptor in (1, 2):
        os.dup2(os.open(request["out"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666), descriptor)
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666) if request.get("log") else -1
    library.failing_calls_arm(request["folder"].encode(), ctypes.c_long(request["at"]), request["with"], log)
    code = code_of(request["words"])
    library.failing_calls_disarm()
    told = {
        "code": code,
        "calls": library.failing_calls_count(),
        "failed": library.failing_calls_failed().decode(),
    }
    os.write(answer, json.dumps(told).encode())


def answered(request):
    """What a forked process made of it."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            child(request, theirs)
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(theirs)
    in_time = bool(select.select([ours], [], [], request["patience"])[0])
    text = os.read(ours, 1 << 20) if in_time else b""
    if not in_time:
        os.kill(pid, signal.SIGKILL)
    os.close(ours)
    os.waitpid(pid, 0)
    return json.loads(text) if text else {"code": None if not in_time else "died", "calls": 0, "failed": ""}


if __name__ == "__main__":
    hasten()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        request = json.loads(line)
        if request.get("warm"):  # in this very process: what it imports, all others have
            told = {"code": code_of(request["words"]), "calls": 0, "failed": ""}
        else:
            told = answered(request)
        print(json.dumps(told), file=answers, flush=True)
