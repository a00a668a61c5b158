"""Processes of runs: their seconds, their end, and that nothing of them stays."""

import os
import resource
import signal
import subprocess
import sys
import time

import pytest
from cli_support import finish, heed_signals, start
from patience import PATIENCE

from fathometer.base.errors import InputError
from fathometer.lab.studies import processes
from fathometer.lab.studies.processes import MARKER, Process, adopting, end_marked, run_together


def process(folder, *words):
    folder.mkdir(exist_ok=True)
    return Process(words, folder, dict(os.environ), folder, folder)


def running(mark):
    """Processes, zombies aside, whose environment holds the mark."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if f"{MARKER}={mark}".encode() in file.read():
                    found.append(int(name))
        except OSError:
            continue
    return found


def gone(mark):
    until = time.monotonic() + PATIENCE
    while running(mark) and time.monotonic() < until:
        time.sleep(0.02)
    return not running(mark)


def test_exit_codes_output_and_seconds(tmp_path):
    [ended] = run_together([process(tmp_path, "sh", "-c", "sleep 0.2; echo out; echo err >&2; exit 7")], None)
    assert (ended.code, ended.timed_out) == (7, False)
    assert ended.seconds >= 0.2
    assert abs(ended.begin - time.time()) < PATIENCE
    assert ((tmp_path / "stdout").read_text(), (tmp_path / "stderr").read_text()) == ("out\n", "err\n")


def test_a_signal_is_told(tmp_path):
    [ended] = run_together([process(tmp_path, "sh", "-c", "kill -SEGV $$")], None)
    assert ended.code == 128 + signal.SIGSEGV


def test_cpu_seconds_are_those_of_all_children(tmp_path):
    work = "import time\nwhile time.process_time() < 0.2: pass"
    [ended] = run_together([process(tmp_path, "sh", "-c", f"'{sys.executable}' -c '{work}'; true")], None)
    assert ended.cpu_seconds >= 0.2


def test_what_takes_too_long_is_ended_with_all_that_it_has_started(tmp_path):
    words = f"(trap '' TERM; setsid '{sys.executable}' -c 'import time; time.sleep(999)' & sleep 999) & wait"
    [ended] = run_together([process(tmp_path, "sh", "-c", words)], 0.3)
    assert ended.timed_out
    assert ended.seconds >= 0.3
    assert gone(tmp_path)


def test_a_child_that_outlives_its_run_is_ended(tmp_path):
    [ended] = run_together([process(tmp_path, "sh", "-c", "setsid sleep 999 & true")], None)
    assert not ended.timed_out
    assert gone(tmp_path)


def test_jobs_begin_together_after_all_are_ready(tmp_path):
    folders = [tmp_path / str(n) for n in range(4)]
    ended = run_together([process(folder, "date", "+%s.%N") for folder in folders], None)
    begins = [float((folder / "stdout").read_text()) for folder in folders]
    assert [one.code for one in ended] == [0] * 4
    assert all(begin >= ended[0].begin - 0.01 for begin in begins)  # none before the start that is told


def test_jobs_are_timed_one_by_one(tmp_path):
    ended = run_together([process(tmp_path / t, "sleep", t) for t in ("0.1", "0.5")], None)
    assert ended[0].seconds < ended[1].seconds
    assert ended[1].seconds >= 0.5


def test_a_command_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="nonesuch: cannot be started: No such file or directory"):
        run_together([process(tmp_path, "nonesuch")], None)


RUN = """
import os, pathlib, signal, sys, threading, time
from fathometer.lab.studies.processes import Process, run_together
folder = pathlib.Path(sys.argv[1])
def run():
    words = ["sh", "-c", f"sleep {sys.argv[2]}; touch ended"]
    run_together([Process(words, folder, dict(os.environ), folder, folder)], None)
"""


def test_an_interrupt_ends_all(tmp_path):
    words = [sys.executable, "-c", RUN + "run()", str(tmp_path), "999"]
    child = subprocess.Popen(words, stderr=subprocess.DEVNULL, preexec_fn=heed_signals)
    until = time.monotonic() + PATIENCE
    while not running(tmp_path) and time.monotonic() < until:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    child.wait(PATIENCE)
    assert gone(tmp_path)


def test_an_interrupt_that_does_not_end_the_wait_ends_all(tmp_path):
    """One that comes between Python's last look at signals and the wait; another thread, which takes it, stands for
    that."""
    program = (
        RUN
        + """
def interrupt():
    time.sleep(0.5)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    time.sleep(100)
threading.Thread(target=interrupt, daemon=True).start()
try:
    run()
except KeyboardInterrupt:
    print("interrupted")
"""
    )
    done = finish(start(sys.executable, "-c", program, tmp_path, "20"))
    assert done.out == "interrupted\n", done.err
    assert not (tmp_path / "ended").exists()
    assert gone(tmp_path)


def test_a_killed_study_leaves_nothing_that_is_not_found(tmp_path):
    run = tmp_path / "runs" / "a" / "round-1"
    run.mkdir(parents=True)
    left = subprocess.Popen(["sleep", "999"], env=dict(os.environ) | {MARKER: str(run)})
    other = subprocess.Popen(["sleep", "999"], env=dict(os.environ) | {MARKER: f"{tmp_path}-other"})
    try:
        assert end_marked(tmp_path) == 1
        assert left.wait(PATIENCE) == -signal.SIGKILL
        assert other.poll() is None
    finally:
        for one in (left, other):
            one.kill()
            one.wait()


def test_seconds_are_from_the_start_on(tmp_path, monkeypatch):
    """Also where this process is busy elsewhere until the command, a short one, has ended."""
    started = processes._started

    def slowly(*arguments):
        child = started(*arguments)
        time.sleep(0.3)
        return child

    monkeypatch.setattr(processes, "_started", slowly)
    [ended] = run_together([process(tmp_path, "true")], None)
    assert ended.seconds >= 0.3


def test_a_signal_while_a_command_is_started_is_not_lost(tmp_path):
    """It comes in a hook that Python calls at the fork, and in whose exceptions nobody is interested."""
    (tmp_path / "program.py").write_text(
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from fathometer.base.signals import interruptible\n"
        "from fathometer.lab.studies.processes import Process, run_together\n"
        "os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "folder = Path(sys.argv[1])\n"
        "with interruptible():\n"
        "    try:\n"
        "        run_together([Process(['sleep', '999'], folder, dict(os.environ), folder, folder)], None)\n"
        "    except KeyboardInterrupt:\n"
        "        sys.exit(42)\n"
    )
    words = [sys.executable, tmp_path / "program.py", tmp_path]
    done = subprocess.run(words, timeout=PATIENCE, check=False, preexec_fn=heed_signals)
    assert done.returncode == 42
    assert gone(tmp_path)


def test_what_a_daemon_of_a_run_has_used_counts_as_the_runs_own(tmp_path):
    """As the daemons by which mpirun starts ranks on other nodes: their parent has ended before them."""
    work = "import os, time\nos.setsid()\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass"
    ended = tmp_path / "ended"
    words = ["sh", "-c", f"('{sys.executable}' -c '{work}'; touch {ended}) & sleep 0.1"]

    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def run():
        before = used()
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while not ended.exists() and time.monotonic() < until:
            time.sleep(0.02)
        ended.unlink()
        return before

    before = run()
    assert used() - before < 0.3
    with adopting():
        before = run()
    assert used() - before >= 0.4
