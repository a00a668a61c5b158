"""From a program's words and its placement to the command that runs it there: on this host, or by Slurm.

    program              on this host                        in an allocation    in a batch job of the study
    starts its own ranks taskset, numactl, the words         srun, the words     srun, the words
    an MPI program       taskset, numactl, mpirun, the words srun, the words     srun, the words
    one process          taskset, numactl, the words         srun, the words     taskset, numactl, the words

A launcher is a pure function of its arguments: tests compare words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from fathometer.base.errors import InputError
from fathometer.lab.studies.placement import Placement, cpu_list
from fathometer.launch.mpirun import MpiRun

Starts = Literal["own", "mpi", "serial"]  # the program starts its ranks itself; needs a launcher; is one process


@dataclass(frozen=True)
class Launch:
    """A command to be run: its words, and the environment variables that it needs besides.

    elsewhere: its processes are not children of the command's, but of a daemon, also where they are on this host.
    """

    words: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)
    elsewhere: bool = False


class Launcher(Protocol):
    """Interface of what starts a program where a placement says."""

    @property
    def name(self) -> str:
        """For people and records."""
        ...

    def launch(self, program: Sequence[str], starts: Starts, placement: Placement) -> Launch:
        """The command. Raises InputError for a placement that cannot be had this way."""
        ...


@dataclass(frozen=True)
class LocalLauncher:
    """On this host.

    Attributes:
        cpus: logical cpus that this process may run on. mpirun: None where there is none. as_root: who runs it.
    """

    cpus: Sequence[int]
    mpirun: MpiRun | None
    as_root: bool
    name: str = "local"

    def launch(self, program: Sequence[str], starts: Starts, placement: Placement) -> Launch:
        """The command that starts a program there."""
        if placement.nodes > 1:
            raise InputError(
                f'nodes: found {placement.nodes} on this host; allowed: 1, [place] cluster, or [launch] how = "srun"'
            )
        missing = [cpu for cpu in placement.cpus if cpu not in self.cpus]
        if missing:
            raise InputError(f"cpus: found {cpu_list(missing)}; allowed: those of this process, {cpu_list(self.cpus)}")
        if starts == "serial" and placement.ranks > 1:
            raise InputError(f"ranks: found {placement.ranks} for a program of one process; allowed: 1")
        if starts != "mpi" and placement.bind != "none":
            raise InputError(f'bind: found "{placement.bind}" for a program that no launcher starts; allowed: "none"')
        words = [*_pinned(placement), *memory_words(placement)]
        if starts == "mpi":
            words += self._mpirun(placement)
        return Launch((*words, *program), threads_variables(placement))

    def _mpirun(self, placement: Placement) -> list[str]:
        if self.mpirun is None:
            raise InputError("no mpirun found; allowed: an installed one, such as Debian's openmpi-bin")
        words = [self.mpirun.path, "-n", str(placement.ranks)]
        slots = len(placement.cpus or self.cpus)
        threads = placement.threads or 1
        if self.mpirun.flavour == "openmpi":
            shared = placement.ranks > slots
            if shared and placement.bind != "none":
                raise InputError(
                    f'bind: found "{placement.bind}" for {placement.ranks} ranks on {slots} cpus; allowed: "none"'
                )
            words += ["--map-by", _map_by(placement, threads), "--bind-to", placement.bind]
            if shared:
                words.append("--oversubscribe")
            elif placement.threads_per_core != 1:
                words.append("--use-hwthread-cpus")
            if self.as_root:
                words.append("--allow-run-as-root")
        elif self.mpirun.flavour == "mpich":
            words += ["-bind-to", "none" if placement.bind == "none" else placement.bind]
        return [*words, *placement.mpi]


@dataclass(frozen=True)
class SrunLauncher:
    """As a job step of the allocation that this process is in, or of a batch job.

    Attributes:
        mpi: what srun's --mpi gets: how ranks find each other.
    """

    mpi: str = "pmix"
    name: str = "srun"

    def launch(self, program: Sequence[str], starts: Starts, placement: Placement) -> Launch:
        """The command that starts a program there."""
        if starts == "serial" and placement.ranks > 1:
            raise InputError(f"ranks: found {placement.ranks} for a program of one process; allowed: 1")
        words = ["srun", f"--nodes={placement.nodes}", f"--ntasks={placement.ranks}"]
        if placement.ranks_per_node is not None:
            words.append(f"--ntasks-per-node={placement.ranks_per_node}")
        words.append(f"--cpus-per-task={placement.threads or 1}")
        words.append(f"--distribution={placement.distribution}")
        if placement.threads_per_core is not None:
            words.append(f"--threads-per-core={placement.threads_per_core}")
        words.append(f"--cpu-bind={_cpu_bind(placement)}")
        if placement.memory != "as it is":
            words.append(f"--mem-bind={'local' if placement.memory == 'local' else 'none'}")
        if starts != "serial":
            words.append(f"--mpi={self.mpi}")
        return Launch((*words, *placement.mpi, *interleaved(placement), *program), threads_variables(placement), True)


@dataclass(frozen=True)
class BatchLauncher:
    """Inside a batch job of a study: what has ranks by srun, one process on the job's first node itself.

    srun would spend a part of a second on a program that needs none of it.
    """

    steps: SrunLauncher = SrunLauncher()
    name: str = "sbatch"

    def launch(self, program: Sequence[str], starts: Starts, placement: Placement) -> Launch:
        """The command that starts a program there."""
        if starts != "serial" or placement.ranks > 1:
            return self.steps.launch(program, starts, placement)
        return Launch((*_pinned(placement), *memory_words(placement), *program), threads_variables(placement))


def _pinned(placement: Placement) -> list[str]:
    return ["taskset", "-c", cpu_list(placement.cpus)] if placement.cpus else []


def memory_words(placement: Placement) -> list[str]:
    """The words before a program that say where its memory is."""
    if placement.memory == "local":
        return ["numactl", "--localalloc"]
    return interleaved(placement)


def interleaved(placement: Placement) -> list[str]:
    """The same for what a launcher starts, as far as it does not say it itself."""
    return ["numactl", "--interleave=all"] if placement.memory == "interleave" else []


def _map_by(placement: Placement, threads: int) -> str:
    """Open MPI's --map-by: consecutive ranks on consecutive slots, or on one host or socket after another."""
    where = "slot" if placement.distribution == "block" else "node"
    return f"{where}:PE={threads}" if placement.bind in ("core", "hwthread") and threads > 1 else where


def _cpu_bind(placement: Placement) -> str:
    if placement.cpus:
        return f"map_cpu:{cpu_list(placement.cpus)}"
    return {"none": "none", "core": "cores", "hwthread": "threads", "socket": "sockets", "numa": "ldoms"}[
        placement.bind
    ]


def threads_variables(placement: Placement) -> dict[str, str]:
    """The variables that tell a program its threads."""
    return {} if placement.threads is None else {"OMP_NUM_THREADS": str(placement.threads)}
