"""`fathometer messages`: what it measures, refuses and leaves."""

import json
import os

import jsonschema
import pytest
from cli_support import call, run
from machine_support import MACHINE
from mpi4py import MPI

from fathometer.base.errors import FathometerError, InputError
from fathometer.lab.messages import library as loops
from fathometer.lab.messages import panels
from fathometer.lab.messages.benchmark import require_right
from fathometer.lab.messages.machine_entries import entries
from fathometer.lab.messages.rows import choices_of, contention_of
from fathometer.lab.messages.tables import short_length, short_seconds
from fathometer.plan.machine_file import Exchange, Machine, load_machine, save_machine
from fathometer.record.schema import SCHEMA

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
        if row["samples"]:
            assert row["seconds_min"] <= row["ci_low"] <= row["seconds"] <= row["ci_high"]
        if row["pairs"] and row["seconds"]:
            assert row["pair_bytes_per_second"] == pytest.approx(row["length_bytes"] / row["seconds"])
            both = 2 if row["pattern"] == "swap" else 1
            assert row["aggregate_bytes_per_second"] == pytest.approx(both * row["pair_bytes_per_second"])
    assert "sent eagerly" in done.out
    assert "the fastest, swap" in done.out


def test_fits_limits_and_the_matrix_are_in_the_record(measured):
    results = measured[1]["results"]
    assert {curve["protocol"] for curve in results["curves"] if curve["pattern"] == "swap"} == set(PROTOCOLS)
    assert all(curve["lengths_bytes"] == [8, 512, 4096] for curve in results["curves"])
    assert results["thread_level"] == "single"  # as it was asked for, before MPI began
    (limit,) = results["eager_limits"]
    assert limit["bytes"] is None or limit["bytes"] > 0
    (fit,) = results["loggp"]
    assert fit["gap_seconds"]["low"] <= fit["gap_seconds"]["value"] <= fit["gap_seconds"]["high"]
    matrix = results["matrix"]["latency_seconds"]
    assert matrix[0][1] == matrix[1][0] > 0 == matrix[0][0]
    assert 0 < results["clock"]["resolution_seconds"] < 1e-3
    # A sample is long against the clock, in the exchanges that were found once; a disturbed one is longer only.
    clock = results["clock"]["resolution_seconds"] + results["clock"]["cost_seconds"]
    least = [row for row in results["rows"] if row["timing"] == "series"]
    assert all(row["exchanges_per_sample"] >= 1 and row["seconds"] > 0 for row in least)
    assert clock > 0


def test_the_page_and_report_open_the_record(measured, tmp_path, capsys):
    folder, record, _ = measured
    assert "What to use" in (folder / "page.html").read_text()
    assert (folder / "curves.png").stat().st_size > 0
    done = run(capsys, "report", folder / "run.json", "-o", tmp_path / "again.html")
    assert done.code == 0, done.err
    assert "All pairs, one at a time" in (tmp_path / "again.html").read_text()
    finding = panels.heading(record).finding  # the sentence at the top
    shortest = min((row for row in record["results"]["rows"] if row["place"]), key=lambda row: row["seconds"])
    assert finding.startswith(f"in-node, distance 1, 1 pair: {short_seconds(shortest['seconds'])} (")
    assert f" at {short_length(shortest['length_bytes'])} by {shortest['pattern']}, {shortest['protocol']}; " in finding
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
    rows = [row("send", [5.0, 5.1, 5.2]), row("ssend", [4.0, 4.1, 4.9]), row("bsend", [4.8, 5.3, 5.4])]
    (choice,) = choices_of(rows, 1)
    assert choice["best"] == "ssend"
    assert choice["as_good"] == ["bsend"]
    assert choice["slowest"] == "bsend"
    assert choice["slowest_ratio"] == pytest.approx(5.3 / 4.1)


def test_contention_by_hand():
    rows = [row("send", [1.0]), row("send", [4.0], pairs=2, place="two", aggregate_bytes_per_second=8.0)]
    (found,) = contention_of(rows)
    assert (found["pairs"], found["efficiency"]) == (2, 0.25)


def test_wrong_contents_end_with_an_error():
    rows = [row("send", [1.0]), row("ssend", [1.0], wrong_bytes=3)]
    with pytest.raises(FathometerError, match="swap ssend, 8 B: 3 wrong bytes"):
        require_right({"results": {"rows": rows}})
    require_right({"results": {"rows": rows[:1]}})
