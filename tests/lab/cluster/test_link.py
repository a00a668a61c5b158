"""Rates of links, what the kernel is told of them, and the words that make networks and start ranks."""

import pytest

from fathometer.base.errors import InputError
from fathometer.lab.cluster.launching import mpirun_words, own_mpirun, ranks_of_nodes
from fathometer.lab.cluster.link import Link, link_of
from fathometer.lab.cluster.network import head_lines, head_rates, node_lines, node_rates
from fathometer.lab.cluster.slurm import configuration
from fathometer.lab.cluster.spec import check_cluster_name, cores_of_nodes, spec_of
from fathometer.launch.mpirun import MpiRun

OPEN_MPI = MpiRun("/bin/mpirun", "openmpi", 4)


@pytest.mark.parametrize(
    ("text", "bits"), [("unlimited", None), ("1gbit", 1e9), ("2.5gbit", 2.5e9), ("100mbit", 1e8), ("1000 kbit", 1e6)]
)
def test_rates(text, bits):
    assert link_of(text).bits_per_second == bits
    assert link_of(link_of(text).text) == link_of(text)


@pytest.mark.parametrize("text", ["3 parsecs", "", "1", "gbit", "0gbit", "-1gbit", "1kbit", "101gbit", "1 Gbit", 1])
def test_what_is_no_rate(text):
    with pytest.raises(InputError, match=r"link: found .*; allowed: \"unlimited\", or a rate"):
        link_of(text)


def test_the_bucket():
    assert link_of("1gbit").qdisc("eth0") == (
        "qdisc replace dev eth0 root tbf rate 1000000000bit burst 32768 latency 20ms"
    )
    assert link_of("10gbit").burst == 125_000
    assert Link().qdisc("eth0") is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"nodes": 0}, "nodes: found 0; allowed: an integer from 1 to 64"),
        ({"nodes": 65}, "nodes: found 65"),
        ({"nodes": "two"}, 'nodes: found "two"'),
        ({"nodes": True}, "nodes: found True"),
        ({"nodes": 2, "rails": 3}, "rails: found 3; allowed: an integer from 1 to 2"),
    ],
)
def test_what_is_no_cluster(given, words):
    with pytest.raises(InputError, match=words):
        spec_of(**given)


@pytest.mark.parametrize("name", ["", "a/b", "..", "-a", "a" * 41, "a b"])
def test_what_is_no_name(name):
    with pytest.raises(InputError, match="cluster name: found"):
        check_cluster_name(name)


def test_networks_of_two_rails():
    spec = spec_of(2, "1gbit", 2)
    lines = head_lines(spec, [11, 12])
    assert lines[:4] == [
        "link set lo up",
        "link add rail1 type bridge",
        "link set rail1 mtu 9000 up",
        "addr add 10.77.1.254/24 dev rail1",
    ]
    assert "link add n2r2 type veth peer name eth1 netns 12" in lines
    assert "link set n2r2 mtu 9000 master rail2 up" in lines
    assert node_lines(spec, 2)[1:] == [
        "link set eth0 mtu 9000 up",
        "addr add 10.77.1.2/24 dev eth0",
        "link set eth1 mtu 9000 up",
        "addr add 10.77.2.2/24 dev eth1",
    ]
    assert [line.split()[3] for line in head_rates(spec)] == ["n1r1", "n2r1", "n1r2", "n2r2"]
    assert [line.split()[3] for line in node_rates(spec)] == ["eth0", "eth1"]
    assert head_rates(spec_of(2)) == node_rates(spec_of(2)) == []


def test_cores():
    assert cores_of_nodes(2, [0, 1, 2, 3, 4]) == [[0, 1], [2, 3]]
    assert cores_of_nodes(1, [0, 1]) == [[0, 1]]
    assert cores_of_nodes(4, [0, 3]) == [[0], [3], [0], [3]]


@pytest.mark.parametrize(
    ("given", "slots"),
    [((2, 3), [2, 1]), ((4, 6), [2, 2, 1, 1]), ((4, 2), [1, 1]), ((4, 4, 2), [2, 2]), ((4, 5, 2), [2, 2, 1])],
)
def test_slots(given, slots):
    assert ranks_of_nodes(*given) == slots


@pytest.mark.parametrize(("given", "words"), [((2, 5, 2), "found 2 on 2 nodes for 5"), ((1, 65), "found 65 on a node")])
def test_ranks_that_do_not_fit(given, words):
    with pytest.raises(InputError, match=words):
        ranks_of_nodes(*given)


def test_words_of_mpirun():
    words = mpirun_words(OPEN_MPI, 3, [2, 1])
    assert " ".join(words) == ("/bin/mpirun -n 3 --host node1:2,node2:1 --map-by slot --bind-to none --quiet")
    cyclic = mpirun_words(OPEN_MPI, 2, [1, 1], "cyclic", ["node2", "node4"], ["--mca", "x", "1"])
    assert " ".join(cyclic) == (
        "/bin/mpirun -n 2 --host node2:1,node4:1 --map-by node --bind-to none --quiet --mca x 1"
    )
    with pytest.raises(InputError, match="placement: found"):
        mpirun_words(OPEN_MPI, 2, [1, 1], "diagonal")
    for other in (MpiRun("/bin/mpirun", "mpich", 4), MpiRun("/bin/mpirun", "openmpi", 5)):
        with pytest.raises(InputError, match="allowed: Open MPI 4"):
            mpirun_words(other, 2, [1, 1])


def test_variables_for_a_program_that_starts_its_ranks():
    assert own_mpirun([2, 2]) == {"OMPI_MCA_orte_default_dash_host": "node1:2,node2:2"}
    assert own_mpirun([1], "cyclic", ["node3"]) == {
        "OMPI_MCA_orte_default_dash_host": "node3:1",
        "OMPI_MCA_rmaps_base_ranking_policy": "node",
    }


def test_configuration_of_slurm(tmp_path):
    lines = configuration(tmp_path, [("node1", "10.77.1.1", 1), ("node2", "10.77.1.2", 1)], "root").splitlines()
    assert "NodeName=node2 NodeAddr=10.77.1.2 CPUs=1 State=UNKNOWN" in lines
    assert "SlurmctldHost=head(10.77.1.254)" in lines
    assert all("=" in line for line in lines)
