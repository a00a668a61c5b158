"""Where ranks were against where they were to be."""

import json

import pytest

from fathometer.lab.studies.execution import own_marks
from fathometer.lab.studies.placement import Placement
from fathometer.lab.studies.placement_check import misplaced


def binding(hosts, threads=1, cpus=(0, 1)):
    return [{"rank": n, "host": host, "threads": threads, "cpus": list(cpus)} for n, host in enumerate(hosts)]


@pytest.mark.parametrize(
    ("found", "asked"),
    [
        (binding("a"), Placement()),
        (binding("a", threads=3), Placement()),
        (binding("a", threads=3), Placement(threads=3)),
        (binding("aabb"), Placement(nodes=2, ranks=4, ranks_per_node=2)),
        (binding("abab"), Placement(nodes=2, ranks=4, distribution="cyclic")),
        (binding("ab"), Placement(nodes=2, ranks=2)),
        (binding("ab"), Placement(nodes=2, ranks=2, distribution="cyclic")),
        (binding("aab"), Placement(nodes=2, ranks=3, ranks_per_node=2)),
        (list(reversed(binding("aab"))), Placement(nodes=2, ranks=3)),
        (binding("a"), Placement(cpus=(0, 1, 2))),
    ],
)
def test_as_asked(found, asked):
    assert misplaced(found, asked) == []


@pytest.mark.parametrize(
    ("found", "asked", "words"),
    [
        (binding("a"), Placement(ranks=2), "1 ranks, not 2"),
        (binding("aa"), Placement(ranks=2, nodes=2), "1 nodes, not 2"),
        (binding("a", threads=2), Placement(threads=3), "2 threads of a rank, not 3"),
        (binding("aaab"), Placement(nodes=2, ranks=4, ranks_per_node=2), "3 ranks of a node, not 2"),
        (binding("a", cpus=(1, 5, 4)), Placement(cpus=(0, 1)), "on cpus 4,5 too"),
        (binding("abab"), Placement(nodes=2, ranks=4), "ranks in another order over nodes than block"),
        (binding("aabb"), Placement(nodes=2, ranks=4, distribution="cyclic"), "over nodes than cyclic"),
        (binding("abba"), Placement(nodes=2, ranks=4), "over nodes than block"),
    ],
)
def test_not_as_asked(found, asked, words):
    [mark] = misplaced(found, asked)
    assert mark.startswith("placement not as asked: ")
    assert mark.endswith(words)


def test_records_of_a_run_are_looked_at(tmp_path):
    """Also those that say nothing of it."""
    (tmp_path / "out").mkdir()
    record = {"validity": {"reasons": ["noise"]}, "machine": {"binding": binding("a", threads=2)}}
    (tmp_path / "out" / "run.json").write_text(json.dumps(record))
    assert own_marks(tmp_path, Placement(threads=2)) == ["noise"]
    assert own_marks(tmp_path, Placement(threads=1))[1:] == ["placement not as asked: 2 threads of a rank, not 1"]
    (tmp_path / "out" / "run.json").write_text('{"validity": {"reasons": ["noise"]}}')
    assert own_marks(tmp_path, Placement()) == ["noise"]
