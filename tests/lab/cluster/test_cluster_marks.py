"""What is not to be concluded from runs on a cluster of one machine, and where records say it."""

import pytest

from fathometer.record.cluster import cluster_reasons, limits


def cluster(link="1gbit", rate=125e6, given=120e6, nodes=((0,), (1,))):
    names = [f"node{number}" for number in range(1, len(nodes) + 1)]
    return {
        "nodes": [{"name": name, "cores": list(cores)} for name, cores in zip(names, nodes, strict=True)],
        "link": link,
        "link_bytes_per_second": rate,
        "links": [{"bytes_per_second": given}],
    }


@pytest.mark.parametrize(
    ("of", "workers", "hosts", "marks"),
    [
        (cluster(), 2, ["node1", "node2"], []),
        (cluster(), 3, ["node1", "node2"], ["3 ranks or threads on 2 cores"]),
        (cluster(), 2, ["node2"], ["2 ranks or threads on 1 cores"]),
        (cluster(nodes=((0,), (1,), (0,))), 2, ["node1", "node3"], ["2 ranks or threads on 1 cores"]),
        (cluster("10gbit", 1.25e9, 1.2e9), 2, ["node1", "node2"], ["streams over 10gbit links"]),
        (cluster("unlimited", None, 5e9), 2, ["node1", "node2"], ["streams over unlimited links"]),
        (cluster("unlimited", None, 5e9), 1, ["node1"], []),  # no link is used
        (cluster(given=90e6), 2, ["node1", "node2"], ["a 1gbit link gave less"]),
    ],
)
def test_marks(of, workers, hosts, marks):
    found = limits(of, workers, hosts)
    assert len(found) == len(marks)
    assert all(words in mark for words, mark in zip(marks, found, strict=True))


def test_reasons_of_a_record():
    binding = [{"host": "node1", "threads": 2}, {"host": "node2", "threads": 1}]
    assert cluster_reasons({"cluster": None, "binding": binding}) == []
    assert cluster_reasons({"cluster": cluster()}) == []  # nothing is known of its ranks
    [reason] = cluster_reasons({"cluster": cluster(), "binding": binding})
    assert "3 ranks or threads on 2 cores" in reason
