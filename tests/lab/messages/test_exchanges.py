"""The loops of C++ on ranks: what arrives is what was sent, by every pattern and protocol."""

import json
import sys

import pytest
from cli_support import clean_environment, finish, mpirun, start
from paths import ROOT

PROGRAM = ROOT / "tests" / "support" / "messages_program.py"
RULES = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}


def on_ranks(ranks, word, **environment):
    done = finish(start(*mpirun(ranks), sys.executable, PROGRAM, word, environment=environment))
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.fixture(scope="module")
def everything():
    assert clean_environment()
    return on_ranks(4, "everything", **RULES)


def test_every_protocol_moves_every_byte_both_ways_one_way_and_back(everything):
    assert len(everything["pairs"]) == 15 * 3 * 3 + 7 * 3
    for protocol, direction, length, first, second, sent in everything["pairs"]:
        assert (first, second) == (0, 0), (protocol, direction, length)
        assert sent == (length if direction == "one" else 2 * length)


def test_halos_transposes_and_collective_calls_move_every_byte(everything):
    for pattern, protocol, length, first, second, sent in everything["groups"]:
        assert (first, second) == (0, 0), (pattern, protocol, length)
        # Of 2 x 2 ranks each has two neighbours, also in three dimensions (2 x 2 x 1).
        expected = {"transpose": 12, "allreduce": 4, "barrier": 0, "bcast": 1}.get(pattern, 8) * length
        assert sent == expected, (pattern, protocol)


def test_other_contents_are_noticed(everything):
    """Rank 0 sends what belongs to another series: nearly all of these bytes count as wrong."""
    for name, first, second, _ in everything["altered"]:
        assert first > 700, name
        assert second == 0, name


def test_the_algorithms_of_a_call_are_those_of_the_library(everything):
    names = {protocol for pattern, protocol, *_ in everything["groups"] if pattern == "allreduce"}
    if len(names) == 1:
        pytest.skip("not Open MPI")
    assert {"ring", "recursive_doubling"} <= names


def test_the_clocks_of_one_host_are_the_same_within_what_is_told(everything):
    low, high = everything["offset"]
    assert low <= 0 <= high
    assert high - low < 1


def test_the_limit_of_eager_messages_is_found_to_the_byte():
    """Open MPI's limit counts its own header too: the difference of two limits is exact."""
    limits = [on_ranks(2, "eager", OMPI_MCA_btl_vader_eager_limit=str(size))["eager"] for size in (4096, 8192)]
    assert limits[1] - limits[0] == 4096
    assert 0 < 4096 - limits[0] < 256
