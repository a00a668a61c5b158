"""`fathometer messages`: what it measures, refuses and leaves."""

import json
import os

import jsonschema
import pytest
from cli_support import call, run
from machine_support import MACHINE
from mpi4py import MPI

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.formatting import length_in_words, time_in_words
from fathometer.lab.messages import library as loops
from fathometer.lab.messages import panels
from fathometer.lab.messages.benchmark import require_right, rounds_to_tell
from fathometer.lab.messages.cases import TWO_SIDED, MessageCase
from fathometer.lab.messages.machine_entries import entries
from fathometer.lab.messages.rows import Measurement, choices_of, contention_of, row_of
from fathometer.lab.messages.sampling import SHORTEST_SAMPLE, Sample, Sampler
from fathometer.lab.messages.tables import choice_text, ends_text
from fathometer.plan.machine_file import Exchange, Machine, load_machine, save_machine
from fathometer.record.schema import SCHEMA
from fathometer.report import charts

PROTOCOLS = ("send", "irecv-isend", "put-fence", "shared-window")


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A small run on two ranks, with all that it leaves."""
    folder = tmp_path_factory.mktemp("messages")
    save_machine(folder / "machine.json", MACHINE)
    done = call(
        *("messages", "--ranks", 2, "--pattern", "swap,halo2d,allreduce,barrier", "--length", "8,512,4K"),
        *("--protocol", ",".join((*PROTOCOLS, "types"))),
        *("--repeat", 2, "--timing", "series,window", "--algorithm", "allreduce=ring", "--budget", "3m"),
        *("--json", folder / "run.json", "-o", folder / "page.html", "--picture", folder / "curves.png"),
        *("--machine", folder / "machine.json"),
    )
    assert done.code == 0, done.err
    record = json.loads((folder / "run.json").read_text())
    jsonschema.validate(record, json.loads(SCHEMA.read_text()))
    return folder, record, done


def test_every_case_has_a_row_and_every_byte_is_right(measured):
    _, record, done = measured
    rows = record["results"]["rows"]
    swaps = [row for row in rows if row["pattern"] == "swap"]
    assert {(row["protocol"], row["length_bytes"]) for row in swaps} == {
        (name, length) for name in PROTOCOLS for length in (8, 512, 4096)
    }
    assert {row["algorithm"] for row in rows if row["pattern"] == "allreduce"} == {"", "ring"}
    assert {row["timing"] for row in rows if row["pattern"] == "barrier"} == {"series", "window"}
    for row in rows:
        assert row["wrong_bytes"] == 0
        assert row["samples"] == len([x for x in row["all_seconds"] if x is not None]) <= 2
        assert row["ci_low"] is row["ci_high"] is row["ci_coverage"] is None  # of two values there is no interval
        if row["timing"] == "series":
            assert row["shortest_sample_seconds"] >= SHORTEST_SAMPLE
        if row["pairs"] and row["seconds"]:
            assert row["pair_bytes_per_second"] == pytest.approx(row["length_bytes"] / row["seconds"])
            both = 2 if row["pattern"] == "swap" else 1
            assert row["aggregate_bytes_per_second"] == pytest.approx(both * row["pair_bytes_per_second"])
    assert "sent eagerly" in done.out
    assert "the fastest, swap" in done.out
    # Two rounds cannot tell four ways apart, and have no interval.
    assert done.out.count("(rounds: 2; needed: 8)") == 3
    assert "s to " not in done.out
    for choice in record["results"]["choices"]:
        assert choice["best"] is choice["slowest"] is None
        assert len(choice["as_good"]) == (4 if choice["pattern"] == "swap" else 2)


def test_fits_limits_and_the_matrix_are_in_the_record(measured):
    results = measured[1]["results"]
    assert {curve["protocol"] for curve in results["curves"] if curve["pattern"] == "swap"} == set(PROTOCOLS)
    assert all(curve["lengths_bytes"] == [8, 512, 4096] for curve in results["curves"])
    assert results["thread_level"] == "single"  # as it was asked for, before MPI began
    (limit,) = results["eager_limits"]
    assert limit["bytes"] is None or limit["bytes"] > 0
    (fit,) = results["loggp"]
    for key in ("latency_seconds", "overhead_seconds", "gap_seconds", "gap_seconds_per_byte"):
        assert fit[key]["value"] is None or fit[key]["value"] > 0
        assert fit[key]["low"] is fit[key]["high"] is None
    assert fit["rounds"] == 2
    matrix = results["matrix"]["latency_seconds"]
    assert matrix[0][1] == matrix[1][0] > 0 == matrix[0][0]
    assert 0 < results["clock"]["resolution_seconds"] < 1e-3
    # Every sample is long against the clock.
    clock = results["clock"]["resolution_seconds"] + results["clock"]["cost_seconds"]
    series = [row for row in results["rows"] if row["timing"] == "series"]
    assert all(row["shortest_sample_seconds"] >= 1000 * clock > 0 for row in series)


def test_the_page_and_report_open_the_record(measured, tmp_path, capsys):
    folder, record, _ = measured
    assert "What to use" in (folder / "page.html").read_text()
    assert (folder / "curves.png").stat().st_size > 0
    done = run(capsys, "report", folder / "run.json", "-o", tmp_path / "again.html")
    assert done.code == 0, done.err
    assert "All pairs, one at a time" in (tmp_path / "again.html").read_text()
    finding = panels.heading(record).finding  # the sentence at the top
    shortest = min((row for row in record["results"]["rows"] if row["place"]), key=lambda row: row["seconds"])
    assert finding.startswith(f"in-node, distance 1, 1 pair: {time_in_words(shortest['seconds'])} (")
    assert (
        f" at {length_in_words(shortest['length_bytes'])} by {shortest['pattern']}, {shortest['protocol']} " in finding
    )
    assert "(n = 2)" in finding
    assert finding.count("3 other ways are as good") == 2
    assert finding[1:] in (folder / "page.html").read_text()
    kinds = [panel["kind"] for panel in panels.panels(record, folder)]
    assert kinds.count("cells") == 2
    assert "curves" in kinds


def test_the_machine_file_has_the_exchanges(measured):
    machine = load_machine(measured[0] / "machine.json")
    sizes = [entry.bytes for entry in machine.local_exchanges]
    assert sizes == sorted(sizes)
    assert all(entry.seconds > 0 for entry in machine.local_exchanges)
    assert machine.network_latency_seconds == MACHINE.network_latency_seconds  # there is one host only
    assert machine.rates == MACHINE.rates
    assert any("fathometer messages" in note for note in machine.notes)


def test_seconds_from_a_table_by_hand():
    table = (Exchange(bytes=100, seconds=1.0), Exchange(bytes=200, seconds=2.0), Exchange(bytes=400, seconds=6.0))
    machine = MACHINE.model_copy(update={"local_exchanges": table})
    for size, expected in ((10, 1.0), (100, 1.0), (150, 1.5), (200, 2.0), (300, 4.0), (400, 6.0), (500, 8.0)):
        assert machine.exchange_seconds("local", size) == pytest.approx(expected)
    assert machine.exchange_seconds("local", 150, 0.5) == pytest.approx(4.0)
    assert machine.exchange_seconds("network", 1e6) == pytest.approx(1e-5 + 1e6 / 1e9)
    assert machine.exchange_seconds("network", 1e6, 0.25) == pytest.approx(1e-5 + 4e6 / 1e9)


def test_the_line_through_a_table():
    table = [Exchange(bytes=n, seconds=3e-6 + n / 2e9) for n in (1e3, 1e4, 1e6)]
    found = entries("network", table)
    assert found["network_latency_seconds"] == pytest.approx(3e-6)
    assert found["network_bytes_per_second"] == pytest.approx(2e9)
    assert Machine.model_validate(
        MACHINE.model_dump() | {k: v for k, v in found.items() if k[-1] != "s" or "latency" in k}
    )


def test_a_table_rises():
    table = [{"bytes": 2.0, "seconds": 1.0}, {"bytes": 2.0, "seconds": 1.0}]
    with pytest.raises(ValueError, match="local_exchanges: found 2 bytes after 2"):
        Machine.model_validate(MACHINE.model_dump() | {"local_exchanges": table})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--protocol", "telepathy"), "found telepathy; allowed: send"),
        (("--pattern", "swap"), "found 1 rank; allowed: 2 or more"),
        (("--pattern", "barrier", "--protocol", "send"), "--protocol send: not one of --pattern barrier"),
        (("--pattern", "halo3d", "--length", "1G"), "not enough memory"),
        (("--pattern", "barrier", "--algorithm", "barrier=ring"), "--algorithm barrier=ring"),
        (("--pattern", "barrier", "--machine", "none.json"), "--machine: found 1 rank"),
        (("--length", "3"), "bytes from 8"),
    ],
)
def test_wrong_words_are_one_error(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(capsys, "messages", "--ranks", 1, *words)
    assert done.code == 2
    assert said in done.err
    assert done.err.strip().count("\n") == 0
    assert os.listdir(tmp_path) == []


def test_without_the_loops_it_says_what_to_install(capsys, monkeypatch):
    loops.library.cache_clear()
    monkeypatch.setattr(loops, "built_library", lambda name: None)
    done = run(capsys, "messages", "--ranks", 1, "--pattern", "barrier")
    loops.library.cache_clear()
    assert (done.code, done.out) == (2, "")
    assert "libopenmpi-dev" in done.err
    assert "make build" in done.err


def test_the_loops_of_another_mpi_are_refused(monkeypatch):
    class Other:
        def __getattr__(self, name):
            return getattr(MPI, name)

        @staticmethod
        def Get_library_version():
            return "Another MPI 9.9, of somebody"

    loops.library.cache_clear()
    monkeypatch.setattr(loops, "MPI", Other())
    with pytest.raises(InputError, match=r"mpi4py has loaded Another MPI 9\.9;"):
        loops.library()
    loops.library.cache_clear()


ROW = {
    "pattern": "swap",
    "direction": "both",
    "packet_bytes": 0,
    "buffers": "warm",
    "place": "all",
    "timing": "series",
    "algorithm": "",
    "length_bytes": 8,
    "class": "in-node",
    "distance": 1,
    "wrong_bytes": 0,
    "pairs": 1,
}


def row(protocol, seconds, **other):
    middle = sorted(seconds)[len(seconds) // 2]
    return ROW | {
        "protocol": protocol,
        "all_seconds": seconds,
        "rounds": list(range(len(seconds))),
        "seconds": middle,
        "ci_low": min(seconds),
        "ci_high": max(seconds),
        "aggregate_bytes_per_second": 16 / middle,
        **other,
    }


def test_the_fastest_and_those_that_are_as_good():
    """Where intervals do not meet, but rounds are too few to tell three ways apart, none is the fastest."""
    base = [5.0 + 0.01 * n for n in range(8)]
    for count in (3, 7, 8):
        send = base[:count]
        rows = [row("send", send), row("ssend", [0.8 * x for x in send]), row("bsend", [1.5 * x for x in send])]
        (choice,) = choices_of(rows, 1)
        told = count >= 7
        assert choice["rounds_needed"] == 7
        assert choice["best"] == ("ssend" if told else None)
        assert choice["as_good"] == (["ssend"] if told else ["ssend", "send", "bsend"])
        assert choice["slowest"] == ("bsend" if told else None)
        assert choice["slowest_ratio"] == (pytest.approx(1.5 / 0.8) if told else None)
        text = choice_text(choice)
        assert text == ("ssend" if told else "as good: ssend, send, bsend (rounds: 3; needed: 7)")
    mixed = [row("send", base), row("ssend", [x * (0.8 if n % 2 else 1.02) for n, x in enumerate(base)])]
    (choice,) = choices_of(mixed, 1)
    assert choice["best"] is None
    assert choice_text(choice) == "as good: ssend, send"


def test_contention_by_hand():
    for count, told in ((5, False), (6, True)):
        two = row("send", [4.0] * count, pairs=2, place="two", aggregate_bytes_per_second=8.0)
        (found,) = contention_of([row("send", [1.0] * count), two])
        assert (found["pairs"], found["efficiency"]) == (2, pytest.approx(0.25))
        assert found["efficiency_low"] == (pytest.approx(0.25) if told else None)


def test_a_row_has_an_interval_from_six_values_on():
    case = MessageCase("swap", "send", "both", 8, 0, "warm", "all")
    for count in (1, 5, 6):
        samples = {n: Sample(1.0 + n, [], bytes=16, duration=2.0 + n) for n in range(count)}
        found = row_of(Measurement(case, 3, 0.0, 1, samples), None)
        assert (found["samples"], found["too_short"], found["shortest_sample_seconds"]) == (count, 1, 2.0)
        expected = (1.0, 6.0, 1 - 2**-5) if count == 6 else (None, None, None)
        assert (found["ci_low"], found["ci_high"], found["ci_coverage"]) == expected
    assert ends_text(None, None) == ""


def test_curves_are_drawn_without_the_intervals_that_there_are_not():
    rows = [row("send", [1.0], ci_low=None, ci_high=None), row("send", [2.0], length_bytes=16, ci_low=1.5, ci_high=3.0)]
    (panel,) = panels.time_panels(rows)
    bars = charts.curves(panel)["data"][0]["error_y"]
    assert (bars["array"], bars["arrayminus"]) == ([0, 1.0], [0, 0.5])


def test_samples_that_are_too_short_are_taken_again_with_twice_the_exchanges(monkeypatch):
    taken = []

    def take(self, case, repetitions):
        taken.append(repetitions)
        return Sample(1e-6, duration=1e-6 * repetitions)

    monkeypatch.setattr(Sampler, "take", take)
    sampler = Sampler.__new__(Sampler)
    sampler.least_seconds = 3e-4
    case = MessageCase("swap", "send", "both", 8, 0, "warm", "all")
    repetitions, again, sample = sampler.take_long(case, 100)
    assert (taken, repetitions, again, sample.duration) == ([100, 200, 400], 400, 2, pytest.approx(4e-4))
    assert sampler.take_long(case, 400)[:2] == (400, 0)
    monkeypatch.setattr(Sampler, "take", lambda self, case, repetitions: Sample(1e-9))
    assert sampler.take_long(case, 10)[:2] == (10, 0)  # from agreed times on there is no series


def test_the_warm_up_keeps_no_more_cases_than_rounds_can_tell_of():
    cases = [MessageCase("swap", name, "both", length, 0, "warm", "here") for name in TWO_SIDED for length in (8, 16)]
    assert rounds_to_tell(cases) == 11  # 8 ways have 28 pairs: 2^(1-11) <= 0.05 / 28
    assert rounds_to_tell(cases[:1]) == 6


def test_wrong_contents_end_with_an_error():
    rows = [row("send", [1.0]), row("ssend", [1.0], wrong_bytes=3)]
    with pytest.raises(FathometerError, match="swap ssend, 8 B: 3 wrong bytes"):
        require_right({"results": {"rows": rows}})
    require_right({"results": {"rows": rows[:1]}})
