"""The order in which jobs get cpus, on machines that are written down here as Linux shows them."""

import pytest

from fathometer.lab.studies.cpu_order import CpuPlace, compact, distributed, least_used, places_of


def machine(folder, sockets, siblings):
    """What Linux shows of cpus. sockets, siblings: of each cpu."""
    for cpu, (socket, listed) in enumerate(zip(sockets, siblings, strict=True)):
        topology = folder / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        (topology / "physical_package_id").write_text(f"{socket}\n")
        (topology / "thread_siblings_list").write_text(f"{listed}\n")
    return places_of(range(len(sockets)), folder)


@pytest.mark.parametrize(
    ("sockets", "siblings", "near", "over_all"),
    [
        # Two sockets of two cores, numbered one after the other, and in turns.
        ([0, 0, 1, 1], "0123", [0, 1, 2, 3], [0, 2, 1, 3]),
        ([0, 1, 0, 1], "0123", [0, 2, 1, 3], [0, 1, 2, 3]),
        # Of three and one.
        ([0, 0, 0, 1], "0123", [0, 1, 2, 3], [0, 3, 1, 2]),
        # Two cores of two threads each, whose second threads are the last cpus, and next to the first.
        ([0] * 4, ["0,2", "1,3", "0,2", "1,3"], [0, 1, 2, 3], [0, 1, 2, 3]),
        ([0] * 4, ["0-1", "0-1", "2-3", "2-3"], [0, 2, 1, 3], [0, 2, 1, 3]),
        # Two sockets of one core of two threads: the second thread before the other socket, and after it.
        ([0, 1, 0, 1], ["0,2", "1,3", "0,2", "1,3"], [0, 2, 1, 3], [0, 1, 2, 3]),
    ],
)
def test_orders(tmp_path, sockets, siblings, near, over_all):
    places = machine(tmp_path, sockets, siblings)
    assert compact(places) == near
    assert distributed(places) == over_all


def test_where_linux_does_not_tell(tmp_path):
    assert places_of([3, 1], tmp_path) == {3: CpuPlace(0, 0), 1: CpuPlace(0, 0)}
    assert compact(places_of([3, 1], tmp_path)) == [1, 3]


def test_the_least_used_come_first_in_their_order():
    assert least_used([5, 3, 4], {}, 2) == (5, 3)
    assert least_used([5, 3, 4], {5: 1}, 2) == (3, 4)
    assert least_used([5, 3, 4], {5: 2, 3: 1, 4: 1}, 2) == (3, 4)
    assert least_used([5, 3], {3: 1}, 9) == (5, 3)
