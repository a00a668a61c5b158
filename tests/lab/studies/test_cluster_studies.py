"""Studies on clusters of namespaces: which cluster a case asks for, the words of its runs, and the runs themselves."""

import json
import signal
import time
from pathlib import Path

import pytest
from cli_support import call, finish, program, start
from cluster_support import cluster_names, outside, require_clusters
from patience import PATIENCE

from fathometer.base.errors import InputError
from fathometer.lab.cluster.spec import spec_of
from fathometer.lab.cluster.state import folder_of
from fathometer.lab.studies.cluster_launcher import ClusterLauncher
from fathometer.lab.studies.free_cpus import FreeNodeCpus
from fathometer.lab.studies.placement import Placement
from fathometer.lab.studies.store import read_results
from fathometer.lab.studies.study import cases_and_designs, ready
from fathometer.lab.studies.study_cluster import StudyCluster, cluster_name
from fathometer.lab.studies.study_file import ClusterTable, load_study
from fathometer.launch.mpirun import MpiRun

STUDY = Path("/home/somebody/a.study")
OPEN_MPI = MpiRun("/bin/mpirun", "openmpi", 4)
TWO = spec_of(2, "1gbit")


def place(**keys):
    return StudyCluster(ClusterTable(**keys))


@pytest.mark.parametrize(
    ("keys", "settings", "nodes", "spec"),
    [
        ({}, {}, 1, spec_of(1)),
        ({"nodes": 4}, {"nodes": 2}, 2, spec_of(4)),
        ({"link": "10gbit"}, {}, 2, spec_of(2, "10gbit")),
        ({"link": "10gbit"}, {"link": "1gbit", "rails": 2}, 2, spec_of(2, "1gbit", 2)),
        ({"nodes": "{most}", "link": "{rate}bit"}, {"most": 3, "rate": "2g"}, 1, spec_of(3, "2gbit")),
    ],
)
def test_the_cluster_of_a_case(keys, settings, nodes, spec):
    assert place(**keys).spec(settings, nodes) == spec


@pytest.mark.parametrize(
    ("keys", "settings", "words"),
    [
        ({"link": "3 parsecs"}, {}, r"\[place\] cluster: link: found \"3 parsecs\""),
        ({"nodes": 1}, {}, "nodes: found 1 for a run on 2"),
        ({"nodes": 0}, {}, "nodes: found 0"),
        ({}, {"rails": 5}, "rails: found 5"),
    ],
)
def test_what_no_cluster_is(keys, settings, words):
    with pytest.raises(InputError, match=words):
        place(**keys).spec(settings, 2)


def launched(placement, starts="mpi"):
    launch = ClusterLauncher(STUDY, (0, 1), OPEN_MPI).launch(("flow", "case.DATA"), starts, placement)
    enter = folder_of(cluster_name(STUDY, placement.cluster)) / "enter"
    assert launch.words[:2] == ("sh", str(enter))
    assert launch.words[-2:] == ("flow", "case.DATA")
    assert not launch.elsewhere  # what daemons on other nodes start becomes a child of the study, see adopting
    return " ".join(launch.words[2:-2]), launch.environ


@pytest.mark.parametrize(
    ("placement", "starts", "words"),
    [
        (Placement(cluster=TWO), "serial", "node1"),
        (Placement(cluster=TWO, on=("node2",)), "serial", "node2"),
        (Placement(cluster=TWO, memory="interleave"), "serial", "node1 numactl --interleave=all"),
        (
            Placement(nodes=2, ranks=4, cluster=TWO),
            "mpi",
            "node1 /bin/mpirun -n 4 --host node1:2,node2:2 --map-by slot --bind-to none --quiet",
        ),
        (
            Placement(nodes=2, ranks=2, cluster=TWO, distribution="cyclic", memory="local", mpi=("--tag-output",)),
            "mpi",
            "node1 /bin/mpirun -n 2 --host node1:1,node2:1 --map-by node --bind-to none --quiet --tag-output "
            "numactl --localalloc",
        ),
        (Placement(nodes=2, ranks=4, cluster=TWO), "own", "node1"),
    ],
)
def test_words(placement, starts, words):
    assert launched(placement, starts)[0] == words


def test_variables():
    environ = launched(Placement(nodes=2, ranks=4, threads=3, distribution="cyclic", cluster=TWO), "own")[1]
    folder = folder_of(cluster_name(STUDY, TWO))
    assert environ["OMPI_MCA_orte_default_dash_host"] == "node1:2,node2:2"
    assert environ["OMPI_MCA_rmaps_base_ranking_policy"] == "node"
    assert environ["OMPI_MCA_plm_rsh_agent"] == str(folder / "agent")
    assert environ["OMPI_MCA_btl_tcp_if_include"] == "10.77.1.0/24"
    assert environ["FATHOMETER_CLUSTER"] == str(folder)
    assert environ["OMP_NUM_THREADS"] == "3"
    assert "OMPI_MCA_mpi_yield_when_idle" not in environ
    many = launched(Placement(nodes=4, ranks=4, cluster=spec_of(4, "1gbit", 2)))[1]
    assert many["OMPI_MCA_mpi_yield_when_idle"] == "1"  # four nodes on two cores
    assert many["OMPI_MCA_btl_tcp_if_include"] == "10.77.1.0/24,10.77.2.0/24"


@pytest.mark.parametrize(
    ("placement", "starts", "words"),
    [
        (Placement(cluster=TWO, cpus=(0,)), "mpi", "found cpus, bind or threads_per_core on a cluster"),
        (Placement(cluster=TWO, ranks=2, bind="core"), "mpi", "found cpus, bind"),
        (Placement(cluster=TWO, ranks=2), "serial", "ranks: found 2 for a program of one process"),
    ],
)
def test_placements_that_cannot_be_had(placement, starts, words):
    with pytest.raises(InputError, match=words):
        launched(placement, starts)


def test_jobs_get_nodes():
    def nodes(where, count, ranks=1, spec=TWO, cpus=(0, 1, 2, 3)):
        free = FreeNodeCpus(spec, cpus)
        return [free.next_placement(Placement(ranks=ranks), where).on for _ in range(count)]

    assert nodes("compact", 3) == [("node1",), ("node1",), ("node2",)]
    assert nodes("distributed", 3) == [("node1",), ("node2",), ("node1",)]
    assert nodes("compact", 2, ranks=2) == [("node1",), ("node2",)]
    assert nodes("distributed", 2, ranks=2) == [("node1", "node2"), ("node1", "node2")]
    assert nodes("compact", 3, cpus=(0, 1), spec=spec_of(4)) == [("node1",), ("node2",), ("node3",)]
    assert nodes("compact", 3, cpus=(0, 1)) == [("node1",), ("node2",), ("node1",)]  # more jobs than cores
    with pytest.raises(InputError, match='found "shared" on a cluster'):
        nodes("shared", 1)


WHERE = """
title = "where ranks are"
[application]
command = ["sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK on $(hostname)"]
launch = "mpi"
figure = [{{name = "lines", unit = "1", direction = "none", role = "context", pattern = 'rank (0) on'}}]
[factors]
distribution = ["block", "cyclic"]
nodes = {nodes}
[placement]
ranks = 4
[place]
cluster = {{nodes = 2, link = "1gbit"}}
[runs]
repetitions = 1
warm_up = 0
{more}
"""


def where_study(folder, nodes="[1, 2]", more=""):
    path = folder / "where.toml"
    path.write_text(WHERE.format(nodes=nodes, more=more))
    return path


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('[launch]\nhow = "srun"', 'how: found "srun" with [place] cluster'),
        ("[launch]\nat_once = 2\ndisturb = true", "at_once: found 2 with [place] cluster"),
    ],
)
def test_settings_that_contradict_a_cluster(tmp_path, more, words):
    with pytest.raises(InputError) as raised:
        ready(load_study(where_study(tmp_path, more=more)))
    assert words in str(raised.value)


def test_a_link_that_nothing_uses_is_refused_without_a_cluster(tmp_path):
    path = where_study(tmp_path)
    text = path.read_text().replace('[place]\ncluster = {nodes = 2, link = "1gbit"}\n', "")
    path.write_text(text.replace("[factors]\n", '[factors]\nlink = ["1gbit", "unlimited"]\n'))
    cases_and_designs(load_study(path))
    with pytest.raises(InputError, match="link: nothing uses it"):
        ready(load_study(path))


def test_placement_over_nodes(tmp_path):
    """Block and cyclic are where they were asked to be; the study's folder says what the links gave."""
    require_clusters()
    before = outside()
    done = call("study", "run", where_study(tmp_path, "[2]"), cwd=tmp_path)
    assert done.code == 0, done.err
    results = read_results(tmp_path / "where.study")
    orders = {"block": [1, 1, 2, 2], "cyclic": [1, 2, 1, 2]}
    for case in results.cases.values():
        [run] = case.runs
        assert not run.failed
        lines = (tmp_path / "where.study" / run.folder / "stdout").read_text().split("\n")[:-1]
        order = orders[case.case.settings["distribution"]]
        assert sorted(lines) == [f"rank {rank} on node{node}" for rank, node in enumerate(order)]
        cores = len({core for node in results.machine["clusters"][0]["nodes"] for core in node["cores"]})
        assert any("4 ranks or threads on" in mark for mark in run.marks) == (cores < 4)
    [cluster] = results.machine["clusters"]
    assert [link["sender"] for link in cluster["links"]] == ["node1", "node2"]
    assert cluster_names() == []
    assert outside() == before


SLEEPS = """
title = "jobs on nodes"
[[job]]
name = "a"
command = ["sh", "-c", "hostname; sleep {seconds}"]
count = "{{count}}"
cpus = "{{where}}"
[factors]
count = [2]
where = ["compact", "distributed"]
[place]
cluster = {{nodes = 2}}
[runs]
repetitions = 1
warm_up = 0
"""


def test_jobs_over_nodes(tmp_path):
    require_clusters()
    (tmp_path / "jobs.toml").write_text(SLEEPS.format(seconds=0))
    done = call("study", "run", tmp_path / "jobs.toml", cwd=tmp_path)
    assert done.code == 0, done.err
    results = read_results(tmp_path / "jobs.study")
    for case in results.cases.values():
        [run] = case.runs
        folder = tmp_path / "jobs.study" / run.folder
        hosts = [path.read_text().strip() for path in sorted(folder.glob("a-*/stdout"))]
        [nodes] = [len(node["cores"]) for node in results.machine["clusters"][0]["nodes"][:1]]
        both = {
            "compact": ["node1"] * min(2, nodes) + ["node2"] * (2 - min(2, nodes)),
            "distributed": ["node1", "node2"],
        }
        assert hosts == (["node1"] if "alone" in case.case.settings else both[case.case.settings["where"]])


@pytest.mark.parametrize("how", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.trials)])
def test_a_study_that_is_ended(tmp_path, how):
    """Ctrl-C takes its cluster down; what kill -9 leaves is cleared when the study goes on."""
    require_clusters()
    path = tmp_path / "jobs.toml"
    path.write_text(SLEEPS.format(seconds=600))
    process = start(*program(), "study", "run", path, cwd=tmp_path)
    until = time.monotonic() + PATIENCE
    while not any(path.read_text() for path in tmp_path.glob("jobs.study/runs/*/*/a-1/stdout")):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert len(cluster_names()) == 1
    process.send_signal(how)
    finish(process)
    if how == signal.SIGKILL:
        assert len(cluster_names()) == 1
        done = call("cluster", "up", "--name", "next", "--nodes", 1, "--quiet")
        assert done.code == 0, done.err
        assert cluster_names() == ["next"]
        call("cluster", "down", "--name", "next")
    assert cluster_names() == []
    assert json.loads((tmp_path / "jobs.study" / "study.json").read_text())["ended"] == ""
