"""A signal to one process at moments that are chosen: it ends all ranks, with one line and without a traceback."""

import random
import signal
import sys
import time
from pathlib import Path

import pytest
from cli_support import MIGRATE, finish, inputs, mpirun, program, start, survey
from kill_support import gone, kill, ranks_of, wait_until

SIGNALLING = Path(__file__).parents[1] / "support" / "signalling"
RESUMABLE = "fathometer: interrupted; --resume goes on with the shots that are not done"
TERM, INT, USR1 = signal.SIGTERM, signal.SIGINT, signal.SIGUSR1

# Launched by the program itself (False) or by a user's mpirun (True); rank, signal, moment: what is about to be
# imported; exit code; whether rank 0 says so.
MOMENTS = [
    (True, 0, INT, "fathometer.cli.main", 130, "fathometer: interrupted"),  # before the command is known
    (True, 1, TERM, "fathometer.cli.main", 75, None),
    (True, 0, INT, "mpi4py.MPI", 75, RESUMABLE),  # then MPI_Init, in which the other one waits
    (True, 0, TERM, "fathometer.parallel.collectives", 75, RESUMABLE),  # the other one is in Dup
    (True, 1, INT, "fathometer.parallel.collectives", 75, None),
    (False, 1, TERM, "exit", 143, None),  # both wait for each other in MPI_Finalize
]
MORE = [
    (mine, rank, number, moment, code, None)
    for mine in (True, False)
    for rank in (0, 1)
    for number in (TERM, INT, signal.SIGHUP, USR1)
    for moment, code in (
        ("fathometer.cli.main", None),
        ("mpi4py", 75),
        ("mpi4py.MPI", 75),
        ("fathometer.parallel.collectives", 75),
        ("fathometer.record.trace", 75),
        ("fathometer.seismic.rtm.driver", 75),
        ("numpy", 75),
        ("exit", None),
    )
]


def ends(folder, own, rank, number, moment, code, line):
    inputs(folder)
    path = survey(folder, MIGRATE)
    words = (*mpirun(2), *program()) if own else program()
    environment = {"PYTHONPATH": str(SIGNALLING), "SIGNAL_AT": f"{rank} {number:d} {moment}"}
    after = () if own else ("--ranks", 2)
    done = finish(start(*words, "migrate", path, "--quiet", "--threads", 1, *after, environment=environment))
    assert "Traceback" not in done.err, done.err
    assert code is None or done.code == code, done.err
    assert done.code, done.err
    if line is not None:
        assert [told for told in done.err.splitlines() if told.startswith("fathometer:")] == [line], done.err
    assert gone(path)


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_signal_to_one_rank_ends_all(moment, tmp_path):
    ends(tmp_path, *moment)


@pytest.mark.parametrize("words", [program(), [sys.executable, "-m", "fathometer"]], ids=["command", "module"])
@pytest.mark.parametrize("moment", ["fathometer.cli.main", "argparse", "fathometer.base.ledger"])
def test_ctrl_c_while_python_imports_is_one_line(words, moment):
    environment = {"PYTHONPATH": str(SIGNALLING), "SIGNAL_AT": f"0 {INT:d} {moment}"}
    done = finish(start(*words, "model", "survey.toml", environment=environment))
    assert (done.code, done.out, done.err) == (130, "", "fathometer: interrupted\n")


@pytest.mark.trials
@pytest.mark.parametrize("moment", random.Random(5).sample(MORE, 10))
def test_any_signal_at_any_moment_ends_all(moment, tmp_path):
    ends(tmp_path, *moment)


@pytest.mark.trials
@pytest.mark.parametrize("seed", range(6))
def test_a_signal_to_one_rank_at_a_random_moment_of_its_start_ends_all(seed, tmp_path):
    chance = random.Random(seed)
    inputs(tmp_path)
    path = survey(tmp_path, MIGRATE)
    words = (*mpirun(2), *program()) if chance.random() < 0.5 else program()
    after = () if "mpirun" in words else ("--ranks", 2)
    process = start(*words, "migrate", path, "--quiet", "--threads", 1, *after)
    wait_until(lambda: len(ranks_of(path)) == 2, process)
    end = time.monotonic() + chance.uniform(0.0, 2.0)
    wait_until(lambda: time.monotonic() > end, process)
    number = chance.choice([TERM, INT, USR1])
    for rank in chance.sample(ranks_of(path), 1) if process.poll() is None else []:
        kill(rank, number)
    done = finish(process, 120.0)
    assert done.code in (0, 1, 75, 130, 128 + number), done.err
    assert number == INT or "Traceback" not in done.err  # Python itself before our first line
    assert gone(path)
