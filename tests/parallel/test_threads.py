"""How the cpus of a node are shared out among its ranks, as a table, and what binding leaves behind."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathometer import _native
from fathometer.base.errors import InputError
from fathometer.parallel import threads
from fathometer.parallel.threads import Binding, Choice, ThreadCounts, choose_cpus, thread_counts

# Two packages of two cores with two hardware threads each, numbered as Linux often does: first all first
# ones.
TWO_SOCKETS = {0: (0, 0), 1: (1, 0), 2: (0, 1), 3: (1, 1), 4: (0, 0), 5: (1, 0), 6: (0, 1), 7: (1, 1)}
ALL = set(range(8))


@pytest.mark.parametrize(
    ("masks", "wanted", "places", "expected"),
    [
        # disjoint masks are used as they are
        ([{0}], None, None, [([0], 1, False)]),
        ([{0, 1, 2}], None, None, [([0, 1, 2], 3, False)]),
        ([{4, 5}, {0, 1}], None, None, [([4, 5], 2, False), ([0, 1], 2, False)]),
        # a shared mask is divided, in order of rank
        ([{0, 1, 2, 3}] * 2, None, None, [([0, 1], 2, False), ([2, 3], 2, False)]),
        ([{2, 5, 7}] * 2, None, None, [([2, 5], 2, False), ([7], 1, False)]),
        ([{0, 1, 2}] * 3, 1, None, [([0], 1, False), ([1], 1, False), ([2], 1, False)]),
        # two pairs of ranks, each pair with a mask in common
        ([{0, 1}, {2, 3}, {0, 1}, {2, 3}], None, None, [([c], 1, False) for c in (0, 2, 1, 3)]),
        # fewer threads than cpus: the first ones
        ([{0, 1, 2, 3}] * 2, 1, None, [([0], 1, False), ([2], 1, False)]),
        # more threads than cpus
        ([{0, 1}], 3, None, [([0, 1], 3, True)]),
        ([{0, 1}] * 2, 2, None, [([0], 2, True), ([1], 2, True)]),
        # more ranks than cpus: by turns
        ([{3}] * 2, None, None, [([3], 1, True), ([3], 1, True)]),
        ([{0, 1}] * 3, None, None, [([0], 1, True), ([1], 1, True), ([0], 1, True)]),
        # a neighbour with a mask of its own is not disturbed by them
        ([{0}, {1}, {0}], None, None, [([0], 1, True), ([1], 1, False), ([0], 1, True)]),
        # two threads fit on the first rank's cpus but not on the second's, whose threads float over all three
        ([{0, 1, 2}] * 2, 2, None, [([0, 1], 2, True), ([2], 2, True)]),
        # masks that overlap but differ
        ([{0, 1, 2}, {2, 3}], None, None, [([0, 1], 2, False), ([2, 3], 2, False)]),
        ([{0}, {0, 1}], None, None, [([0], 1, False), ([1], 1, False)]),
        ([{0, 1}, {0}], None, None, [([1], 1, False), ([0], 1, False)]),
        # whole cores, neighbours to one rank; the second hardware threads come last
        ([ALL], None, TWO_SOCKETS, [([0, 2, 1, 3, 4, 6, 5, 7], 8, False)]),
        ([ALL], 4, TWO_SOCKETS, [([0, 2, 1, 3], 4, False)]),
        ([ALL] * 2, None, TWO_SOCKETS, [([0, 2, 4, 6], 4, False), ([1, 3, 5, 7], 4, False)]),
        ([ALL] * 2, 2, TWO_SOCKETS, [([0, 2], 2, False), ([1, 3], 2, False)]),
        ([ALL] * 4, None, TWO_SOCKETS, [([a, a + 4], 2, False) for a in (0, 2, 1, 3)]),
        ([ALL] * 8, None, TWO_SOCKETS, [([a], 1, False) for a in (0, 4, 2, 6, 1, 5, 3, 7)]),
    ],
)
def test_choose_cpus(masks, wanted, places, expected):
    chosen = [choose_cpus(masks, rank, wanted, places) for rank in range(len(masks))]
    assert chosen == [Choice(*entry) for entry in expected]


masks = st.lists(st.sets(st.integers(0, 7), min_size=1), min_size=1, max_size=6)


@given(masks)
def test_any_masks(masks):
    choices = [choose_cpus(masks, rank) for rank in range(len(masks))]
    for rank, (mask, choice) in enumerate(zip(masks, choices, strict=True)):
        assert choice.cpus
        assert set(choice.cpus) <= mask
        assert choice.threads == len(choice.cpus) == len(set(choice.cpus))
        others = {cpu for other, c in enumerate(choices) if other != rank for cpu in c.cpus}
        assert choice.oversubscribed or others.isdisjoint(choice.cpus)
    # no cpu idles
    assert set().union(*masks) == {cpu for choice in choices for cpu in choice.cpus}


def test_places(tmp_path):
    topology = tmp_path / "cpu5" / "topology"
    topology.mkdir(parents=True)
    (topology / "physical_package_id").write_text("1\n")
    (topology / "core_id").write_text("12\n")
    assert threads.places({5, 6}, tmp_path) == {5: (1, 12)}


@pytest.fixture
def world():
    from mpi4py import MPI

    return MPI.COMM_SELF


def test_bind_takes_all_cpus_and_unbind_gives_them_back(world):
    mask = os.sched_getaffinity(0)
    binding = threads.bind(world, None)
    try:
        assert binding.mask == sorted(mask)
        assert (binding.threads, sorted(binding.cpus)) == (len(mask), sorted(mask))
        assert (binding.pinned, binding.oversubscribed) == (True, False)
        assert binding.actual == [[cpu] for cpu in binding.cpus]
        assert (binding.rank, binding.local_rank, binding.ranks_on_host) == (0, 0, 1)
    finally:
        threads.unbind(binding)
    assert os.sched_getaffinity(0) == mask
    # the kernels' threads float again, and a second run finds what the first one found
    again = threads.bind(world, len(mask) + 1)
    assert (again.pinned, again.oversubscribed, again.threads) == (False, True, len(mask) + 1)
    assert again.actual == [sorted(mask)] * (len(mask) + 1)
    assert again.as_dict()["threads"] == len(mask) + 1


def test_threads_that_are_not_to_be_bound_run_anywhere(world):
    mask = os.sched_getaffinity(0)
    binding = threads.bind(world, None, pin=False)
    assert (binding.pinned, binding.oversubscribed, binding.threads) == (False, False, len(mask))
    assert binding.actual == [sorted(mask)] * len(mask)


def test_bind_refuses_no_threads(world):
    with pytest.raises(InputError, match="threads 0: the number of threads must be at least 1"):
        threads.bind(world, 0)


# --- threads task by task


def binding(threads: int) -> Binding:
    return Binding(0, "here", 0, 1, threads, list(range(threads)), False, False, "default", [0], [])


def test_auto_is_all_of_the_ranks_threads() -> None:
    assert thread_counts({"propagate": "auto", "imaging": 1, "io": 3}, binding(4)) == ThreadCounts(4, 1, 3)


def test_more_threads_than_the_rank_has_are_an_error() -> None:
    with pytest.raises(InputError, match=r"\[threads\] io: found 3; allowed: 1 to 2"):
        thread_counts({"propagate": "auto", "imaging": "auto", "io": 3}, binding(2), "[threads]")


@pytest.mark.parametrize("traces", [0, 1, 5, 6, 17])
def test_rows_are_the_same_by_any_number_of_threads(traces: int) -> None:
    values = np.random.default_rng(1).standard_normal((traces, 50)).astype(np.float32)

    def series(rows: np.ndarray) -> np.ndarray:
        return np.cumsum(rows, axis=1)[:, ::2]

    cpus = tuple(os.sched_getaffinity(0))
    for io in (1, 2, 3):
        assert ThreadCounts(1, 1, io, cpus).map_rows(series, values).tobytes() == series(values).tobytes()


def test_an_error_in_one_thread_is_raised() -> None:
    def fails(rows: np.ndarray) -> np.ndarray:
        raise ValueError("no such trace")

    with pytest.raises(ValueError, match="no such trace"):
        ThreadCounts(1, 1, 2).map_rows(fails, np.zeros((9, 3)))


def test_threads_keep_their_cpus_when_their_number_changes() -> None:
    """A thread that comes back would have the mask of the first one."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    before = os.sched_getaffinity(0)
    try:
        _native.set_threads(3)
        counts = ThreadCounts(3, 2, 1, tuple(cpus))
        _native.pin_threads(cpus)
        expected = [[cpus[n % len(cpus)]] for n in range(3)]
        assert _native.thread_binding() == expected
        counts.use(2)
        assert _native.thread_binding() == expected[:2]
        counts.use(3)
        assert _native.thread_binding() == expected
        counts.use(0)
        assert _native.threads() == 3
    finally:
        _native.set_threads(2)
        for task in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(task), before)
