"""The ledger: exclusive seconds by a clock that the test moves, what goes with them, and what it costs in memory."""

import threading
from contextlib import suppress

import pytest
from ledger_support import rank
from patience import PATIENCE

from fathometer.base import ledger
from fathometer.base.ledger import MAX_BINS, Ledger, Timeline
from fathometer.record.ranks import account, spread


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self):
        self.time = 100.0

    def __call__(self):
        return self.time

    def passes(self, seconds):
        self.time += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(ledger, "now", clock)
    return clock


def entries(account):
    return {(e["phase"], e["category"]): e for e in account.as_dict()["entries"]}


def test_times_are_exclusive_and_their_sum_is_the_wall_time(clock):
    with Ledger() as account:
        with ledger.phase("propagation"):
            clock.passes(1)
            with ledger.communication("halo", bytes=10):
                clock.passes(2)
                with ledger.idle():
                    clock.passes(4)
                clock.passes(8)
            clock.passes(16)
            with ledger.io(bytes=5):
                clock.passes(32)
        clock.passes(0.5)  # in no phase
    values = {key: e["seconds"] for key, e in entries(account).items()}
    assert values == {
        ("propagation", "compute"): 17,
        ("halo", "communication"): 10,
        ("halo", "idle"): 4,
        ("propagation", "io"): 32,
    }
    values = account.as_dict()
    assert values["categories"] == {"compute": 17, "communication": 10, "io": 32, "idle": 4}
    assert values["wall_seconds"] == 63.5
    assert account.seconds("halo") == 14
    assert account.seconds("halo", "idle") == 4


def test_a_phase_within_itself_is_counted_once(clock):
    with Ledger() as account, ledger.phase("work"):
        clock.passes(1)
        with ledger.phase("work"):
            clock.passes(2)
    [entry] = entries(account).values()
    assert (entry["seconds"], entry["calls"]) == (3, 2)


def test_what_runs_is_charged_up_to_now(clock):
    with Ledger() as account, ledger.phase("work"):
        clock.passes(3)
        assert account.as_dict()["categories"]["compute"] == 3
        clock.passes(4)
        assert account.as_dict()["categories"]["compute"] == 7


def test_the_account_may_begin_before_the_program(clock):
    begin = clock()
    clock.passes(2)
    with Ledger(begin, "start-up") as account:
        clock.passes(1)
        account.begin_ends()
        with ledger.phase("work"):
            clock.passes(4)
    assert {key[0]: e["seconds"] for key, e in entries(account).items()} == {"start-up": 3, "work": 4}
    assert account.as_dict()["wall_seconds"] == 7


def test_an_exception_closes_the_phases_that_it_leaves(clock):
    with Ledger() as account:
        with suppress(KeyError), ledger.phase("outer"), ledger.phase("inner"):
            clock.passes(1)
            raise KeyError
        clock.passes(2)
        with ledger.phase("after"):
            clock.passes(4)
    assert {key[0]: e["seconds"] for key, e in entries(account).items()} == {"outer": 0, "inner": 1, "after": 4}


def test_work_goes_to_the_phase_that_runs(clock):
    with Ledger() as account, ledger.phase("steps"):
        ledger.work(points=10, flops=30)
        with ledger.communication("halo", bytes=7):
            ledger.work(bytes=1)
        ledger.work(points=10, flops=30)
    values = entries(account)
    assert (values["steps", "compute"]["points"], values["steps", "compute"]["flops"]) == (20, 60)
    assert values["halo", "communication"]["bytes"] == 8


def test_files_are_timed_from_open_to_close_and_know_what_others_move_too(clock):
    with Ledger() as account, ledger.phase("read model"):
        for _ in range(2):
            with ledger.file("model", "read", own=0.75):
                clock.passes(1)
                with ledger.io(bytes=100):
                    clock.passes(2)
        with ledger.file("image", "write"):
            with ledger.io(bytes=50):
                clock.passes(4)
            with ledger.flush():
                clock.passes(8)
    model, image = account.as_dict()["files"]
    assert (model["seconds"], model["bytes"], model["overlap_bytes"], model["calls"]) == (6, 200, 50, 2)
    assert (image["seconds"], image["bytes"], image["flush_seconds"]) == (12, 50, 8)
    assert account.as_dict()["categories"]["io"] == 16


def test_who_was_waited_for(clock):
    with Ledger() as account, ledger.communication("halo exchange"):
        for rank, seconds in ((1, 2), (3, 1), (1, 4)):
            with ledger.waiting_for(rank):
                clock.passes(seconds)
    values = account.as_dict()
    assert values["waited_seconds"] == {"1": 6, "3": 1}
    assert values["categories"]["idle"] == 7
    assert values["categories"]["communication"] == 0


def test_work_beside_the_main_line_never_inflates_the_total(clock):
    begun, ended = threading.Event(), threading.Event()

    def write():
        with ledger.phase("write snapshot"), ledger.io(bytes=1000):
            begun.set()
            assert ended.wait(PATIENCE)

    with Ledger() as account, ledger.phase("steps"):
        thread = threading.Thread(target=ledger.carried(write))
        thread.start()
        assert begun.wait(PATIENCE)
        clock.passes(5)
        with ledger.idle():
            clock.passes(1)
            ended.set()
            thread.join()
    values = account.as_dict()
    assert {(e["phase"], e["category"]): e["seconds"] for e in values["entries"]} == {
        ("steps", "compute"): 5,
        ("steps", "idle"): 1,
    }
    assert sum(values["categories"].values()) == values["wall_seconds"] == 6
    overlapped = {(e["phase"], e["category"]): (e["seconds"], e["bytes"]) for e in values["overlapped"]}
    assert overlapped == {("write snapshot", "compute"): (0, 0), ("write snapshot", "io"): (6, 1000)}


def test_a_thread_without_the_ledger_leaves_it_alone(clock):
    def work():
        with ledger.phase("elsewhere"):
            pass

    with Ledger() as account, ledger.phase("steps"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert [key[0] for key in entries(account)] == ["steps"]
    assert account.as_dict()["overlapped"] == []


def test_without_an_open_ledger_nothing_happens():
    with ledger.phase("a"), ledger.io(bytes=1), ledger.file("b", "read"), ledger.flush(), ledger.waiting_for(0):
        ledger.work(points=1)
    with ledger.timeline("c"):
        pass
    assert ledger.current() is None


def test_ledgers_nest():
    with Ledger() as outer, ledger.phase("a"):
        with Ledger() as inner, ledger.phase("b"):
            pass
        assert ledger.current() is outer
    assert [key[0] for key in entries(outer)] == ["a"]
    assert [key[0] for key in entries(inner)] == ["b"]


def test_memory_does_not_grow_with_steps(clock):
    with Ledger() as account, ledger.timeline("shot 1"), ledger.phase("between"):
        for _ in range(5000):
            with ledger.phase("steps"):
                clock.passes(0.75)
            with ledger.communication("halo"):
                clock.passes(0.25)
    values = account.as_dict()
    assert len(values["entries"]) == 3
    assert account.spans() == []
    rows = {row["phase"]: row["seconds"] for row in values["timeline"]["rows"]}
    assert all(MAX_BINS / 2 <= len(seconds) <= MAX_BINS for seconds in rows.values())
    assert sum(rows["steps"]) == pytest.approx(3750)
    assert sum(rows["halo"]) == pytest.approx(1250)


def test_a_timeline_keeps_where_the_seconds_were():
    timeline = Timeline("shot", 10.0)
    first, second = ledger.Entry("a", "compute"), ledger.Entry("b", "idle")
    timeline.add(first, 10.0, 10.05)
    timeline.add(second, 10.05, 10.1)
    timeline.add(first, 10.1, 18.1)  # many times the first bins: they are merged
    values = timeline.as_dict()
    width = values["bin_seconds"]
    rows = {row["phase"]: row["seconds"] for row in values["rows"]}
    assert width * MAX_BINS >= 8.1 > width * MAX_BINS / 2
    assert sum(rows["b"]) == pytest.approx(0.05)
    assert not any(rows["b"][int(0.1 / width) + 1 :])
    for n, seconds in enumerate(zip(*rows.values(), strict=True)):
        assert sum(seconds) == pytest.approx(width if (n + 1) * width <= 8.1 else 8.1 - n * width, abs=1e-9)


def test_only_the_first_stretch_is_kept(clock):
    with Ledger() as account:
        for name in ("shot 1", "shot 2"):
            with ledger.timeline(name), ledger.phase("steps"):
                clock.passes(1)
    values = account.as_dict()["timeline"]
    assert values["name"] == "shot 1"
    assert sum(values["rows"][0]["seconds"]) == pytest.approx(1)


def test_spans_of_a_trace(clock):
    with Ledger(tracing=True) as account, ledger.phase("a"):
        clock.passes(1)
        with ledger.communication("b"):
            clock.passes(2)
    assert account.spans() == [("b", "communication", 101.0, 103.0, 0), ("a", "compute", 100.0, 103.0, 0)]


def test_a_trace_has_an_end(clock, monkeypatch):
    monkeypatch.setattr(ledger, "MAX_SPANS", 3)
    with Ledger(tracing=True) as account:
        for _ in range(5):
            with ledger.phase("a"):
                pass
    assert (len(account.spans()), account.dropped_spans) == (3, 2)


def test_spread_over_ranks():
    assert spread([1.0, 4.0, 1.0]) == {"min": 1.0, "mean": 2.0, "max": 4.0, "max_rank": 1, "imbalance": 2.0}
    assert spread([0, 0])["imbalance"] == 1.0


def test_the_ranks_put_together():
    values = account([rank(0, 1.0, 100), rank(1, 4.0, 300), rank(2, 1.0)])
    [phase] = values["phases"]
    assert phase["seconds"] == {"min": 0, "mean": 5 / 3, "max": 4.0, "max_rank": 1, "imbalance": 4 / (5 / 3)}
    assert (phase["total_bytes"], phase["total_points"], phase["total_flops"]) == (400, 6.0, 12.0)
    [file] = values["files"]
    assert (file["bytes"], file["own_bytes"], file["overlap_bytes"]) == (400, 300, 100)
    assert (file["seconds"], file["bytes_per_second"]) == (4.0, 100.0)
    assert values["wall_seconds"]["max_rank"] == 1
    assert [r["unaccounted_seconds"] for r in values["ranks"]] == [1.0, 4.0, 1.0]
