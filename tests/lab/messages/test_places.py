"""Which ranks exchange, and which words ask for it."""

import pytest

from fathometer.base.errors import InputError
from fathometer.lab.messages.algorithms import algorithms_of
from fathometer.lab.messages.cases import lengths_of, packet_of, patterns_of, protocols_of, require_used, usual_lengths
from fathometer.lab.messages.places import choose_places, classes_of, numbers_of, pairs_at

TWO_HOSTS = ["a"] * 4 + ["b"] * 4
CYCLIC = ["a", "b"] * 4


@pytest.mark.parametrize("ranks", range(2, 14))
def test_no_rank_is_in_two_pairs(ranks):
    for distance in range(1, ranks):
        pairs = pairs_at(distance, ranks)
        members = [rank for pair in pairs for rank in pair]
        assert len(set(members)) == len(members)
        assert all(j - i == distance and i >= 0 and j < ranks for i, j in pairs)
        assert pairs


def test_pairs_by_hand():
    assert pairs_at(1, 5) == [(0, 1), (2, 3)]
    assert pairs_at(2, 8) == [(0, 2), (1, 3), (4, 6), (5, 7)]
    assert pairs_at(3, 8) == [(0, 3), (1, 4), (2, 5)]


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [
        (
            TWO_HOSTS,
            {
                "in-node, distance 1, 1 pair": 1,
                "in-node, distance 1, 4 pairs": 4,
                "between, distance 4, 1 pair": 1,
                "between, distance 4, 4 pairs": 4,
                "mixed, distance 3, 3 pairs": 3,
            },
        ),
        (
            CYCLIC,
            {
                "in-node, distance 2, 1 pair": 1,
                "in-node, distance 2, 4 pairs": 4,
                "between, distance 1, 1 pair": 1,
                "between, distance 1, 4 pairs": 4,
            },
        ),
        (["a", "a"], {"in-node, distance 1, 1 pair": 1}),
    ],
)
def test_of_each_class_the_distance_with_the_most_pairs(hosts, expected):
    assert {place.name: len(place.pairs) for place in choose_places(hosts, (), (), ())} == expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((["a"], (), (), ()), "found 1 rank"),
        ((TWO_HOSTS[:4], ("between",), (), ()), "found no such pair among 4 ranks on 1 host; allowed: in-node"),
        ((TWO_HOSTS, (), (8,), ()), "--distance 8: allowed: 1 to 7"),
        ((TWO_HOSTS, ("in-node",), (4,), ()), "at --distance 4"),
        ((TWO_HOSTS, ("in-node",), (), (5,)), "--pairs 5: found 4"),
        ((["a", "a"], (), (), (3,)), "^--pairs 3: found no such pairs of 2 ranks; allowed: "),
        ((["a", "a"], (), (), (1, 3)), "--pairs 1,3: found no such pairs"),
    ],
)
def test_pairs_that_there_are_not(words, said):
    with pytest.raises(InputError, match=said):
        choose_places(*words)


def test_lengths():
    assert lengths_of("8,4K,1M") == (8, 4096, 1 << 20)
    assert lengths_of("8..100") == (8, 16, 32, 64)
    assert lengths_of("16M,8") == (8, 1 << 24)
    assert packet_of("0,1") == (0, 1)
    assert (usual_lengths()[0], usual_lengths()[-1], len(usual_lengths())) == (8, 16 << 20, 22)


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (lengths_of, "7", "bytes from 8"),
        (lengths_of, "2G", "bytes from 8"),
        (lengths_of, "", "allowed: bytes"),
        (lengths_of, "64..8", "the shorter length first"),
        (lengths_of, "8x", "found 8x"),
        (packet_of, "-1", "found -1"),
        (protocols_of, "sendrecv,telepathy", "found telepathy; allowed: send, ssend"),
        (patterns_of, "swop", "found swop; allowed: swap"),
        (classes_of, "far", "found far; allowed: in-node"),
        (numbers_of, "0", "found 0"),
        (algorithms_of, "allreduce", "CALL=NAME"),
        (algorithms_of, "gather=ring", "a CALL of allreduce"),
    ],
)
def test_wrong_words(read, text, said):
    with pytest.raises(InputError, match=said):
        read(text)


def test_a_protocol_of_another_pattern():
    require_used(("swap", "halo2d"), ("types", "send"))
    with pytest.raises(InputError, match="--protocol types: not one of --pattern swap; allowed: send"):
        require_used(("swap",), ("types",))
