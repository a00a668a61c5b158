"""Placements, and the words of the commands that they lead to, one by one."""

import pytest

from fathometer.base.errors import InputError
from fathometer.lab.studies.launching import BatchLauncher, LocalLauncher, SrunLauncher
from fathometer.lab.studies.placement import Placement, cpus_of, placement_of
from fathometer.launch.mpirun import MpiRun

OPEN_MPI, MPICH = MpiRun("/bin/mpirun", "openmpi", 4), MpiRun("/bin/mpirun", "mpich", 4)
PROGRAM = ("flow", "case.DATA")


def local(placement, starts="mpi", mpirun=OPEN_MPI, as_root=False):
    launch = LocalLauncher((0, 1, 2, 3), mpirun, as_root).launch(PROGRAM, starts, placement)
    assert launch.words[-2:] == PROGRAM
    return " ".join(launch.words[:-2]), launch.environ


def srun(placement, starts="mpi"):
    launch = SrunLauncher().launch(PROGRAM, starts, placement)
    assert launch.words[-2:] == PROGRAM
    return " ".join(launch.words[:-2])


@pytest.mark.parametrize(
    ("placement", "starts", "words"),
    [
        (Placement(), "serial", ""),
        (Placement(ranks=2), "own", ""),
        (Placement(cpus=(0, 2)), "own", "taskset -c 0,2"),
        (Placement(memory="local"), "serial", "numactl --localalloc"),
        (Placement(memory="interleave", cpus=(1,)), "own", "taskset -c 1 numactl --interleave=all"),
        (Placement(ranks=2), "mpi", "/bin/mpirun -n 2 --map-by slot --bind-to none --use-hwthread-cpus"),
        (Placement(ranks=8), "mpi", "/bin/mpirun -n 8 --map-by slot --bind-to none --oversubscribe"),
        (Placement(ranks=2, threads_per_core=1), "mpi", "/bin/mpirun -n 2 --map-by slot --bind-to none"),
        (
            Placement(ranks=2, threads=2, bind="core", distribution="cyclic"),
            "mpi",
            "/bin/mpirun -n 2 --map-by node:PE=2 --bind-to core --use-hwthread-cpus",
        ),
        (
            Placement(ranks=2, cpus=(0, 1), mpi=("--mca", "btl", "self,vader")),
            "mpi",
            "taskset -c 0,1 /bin/mpirun -n 2 --map-by slot --bind-to none --use-hwthread-cpus --mca btl self,vader",
        ),
    ],
)
def test_on_this_host(placement, starts, words):
    assert local(placement, starts)[0] == words


def test_threads_of_a_rank_are_told_to_openmp():
    assert local(Placement(threads=2), "serial")[1] == {"OMP_NUM_THREADS": "2"}
    assert local(Placement(), "serial")[1] == {}


def test_as_root_and_by_hydra():
    assert local(Placement(), as_root=True)[0].endswith("--use-hwthread-cpus --allow-run-as-root")
    assert local(Placement(ranks=2, bind="core"), mpirun=MPICH)[0] == "/bin/mpirun -n 2 -bind-to core"


@pytest.mark.parametrize(
    ("placement", "starts", "words"),
    [
        (Placement(), "serial", "srun --nodes=1 --ntasks=1 --cpus-per-task=1 --distribution=block --cpu-bind=none"),
        (
            Placement(nodes=2, ranks=8, ranks_per_node=4, threads=2, distribution="cyclic", bind="core"),
            "mpi",
            "srun --nodes=2 --ntasks=8 --ntasks-per-node=4 --cpus-per-task=2 --distribution=cyclic --cpu-bind=cores "
            "--mpi=pmix",
        ),
        (
            Placement(ranks=2, cpus=(0, 3), threads_per_core=1, memory="local", mpi=("--exact",)),
            "own",
            "srun --nodes=1 --ntasks=2 --cpus-per-task=1 --distribution=block --threads-per-core=1 "
            "--cpu-bind=map_cpu:0,3 --mem-bind=local --mpi=pmix --exact",
        ),
    ],
)
def test_in_an_allocation(placement, starts, words):
    assert srun(placement, starts) == words


@pytest.mark.parametrize(
    ("placement", "starts", "words"),
    [
        (Placement(), "serial", ""),
        (Placement(cpus=(1,), memory="local", nodes=1), "serial", "taskset -c 1 numactl --localalloc"),
        (
            Placement(ranks=2),
            "mpi",
            "srun --nodes=1 --ntasks=2 --cpus-per-task=1 --distribution=block --cpu-bind=none --mpi=pmix",
        ),
        (
            Placement(),
            "own",
            "srun --nodes=1 --ntasks=1 --cpus-per-task=1 --distribution=block --cpu-bind=none --mpi=pmix",
        ),
    ],
)
def test_in_a_batch_job(placement, starts, words):
    launch = BatchLauncher().launch(PROGRAM, starts, placement)
    assert " ".join(launch.words[:-2]) == words
    assert launch.elsewhere == words.startswith("srun"), "what srun starts are children of Slurm's daemon"


def test_ranks_of_a_program_of_one_process_are_refused_in_a_batch_job():
    with pytest.raises(InputError, match="ranks: found 2 for a program of one process"):
        BatchLauncher().launch(PROGRAM, "serial", Placement(ranks=2))


@pytest.mark.parametrize(
    ("placement", "starts", "mpirun", "words"),
    [
        (Placement(nodes=2, ranks=2), "mpi", OPEN_MPI, "nodes: found 2 on this host"),
        (Placement(cpus=(7,)), "serial", OPEN_MPI, "cpus: found 7; allowed: those of this process, 0,1,2,3"),
        (Placement(ranks=2), "serial", OPEN_MPI, "ranks: found 2 for a program of one process"),
        (Placement(ranks=2), "mpi", None, "no mpirun found"),
        (Placement(ranks=8, bind="core"), "mpi", OPEN_MPI, 'bind: found "core" for 8 ranks on 4 cpus'),
        (Placement(ranks=2, bind="core"), "own", OPEN_MPI, 'bind: found "core" for a program that no launcher starts'),
    ],
)
def test_placements_that_cannot_be_had(placement, starts, mpirun, words):
    with pytest.raises(InputError, match=words):
        local(placement, starts, mpirun)


def test_factors_set_the_placement():
    given = {"ranks": 1, "distribution": "block", "threads": None, "mpi": ("--x",)}
    settings = {"ranks": 4, "threads": 2, "colour": "red", "distribution": "cyclic", "cpus": "0-2,7"}
    assert placement_of(given, settings) == Placement(
        ranks=4, threads=2, distribution="cyclic", cpus=(0, 1, 2, 7), mpi=("--x",)
    )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ranks": 0}, "ranks: found 0; allowed: an integer from 1"),
        ({"ranks": True}, "ranks: found true"),
        ({"threads": "two"}, "threads: found two"),
        ({"nodes": 1.5}, "nodes: found 1.5"),
        ({"bind": "chair"}, 'bind: found chair; allowed: "none", "core"'),
        ({"nodes": 3, "ranks": 2}, "nodes: found 3 for 2 ranks"),
        ({"ranks": 8, "nodes": 2, "ranks_per_node": 2}, "ranks_per_node: found 2 on 2 nodes for 8 ranks"),
        ({"cpus": "3-1"}, 'cpus: found "3-1"'),
        ({"cpus": "a"}, 'cpus: found "a"'),
    ],
)
def test_wrong_placements(settings, words):
    with pytest.raises(InputError, match=words):
        placement_of({}, settings)


def test_cpus():
    assert cpus_of("0-3, 8,2") == (0, 1, 2, 3, 8)
    assert cpus_of([4, 5]) == (4, 5)
    assert cpus_of("") == ()
