"""`fathometer io`: what it measures, verifies, refuses and leaves."""

import errno
import json
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from cli_support import MIGRATE, call, finish, inputs, mpirun, program, run, start, survey
from mpi4py import MPI
from patience import PATIENCE

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.ledger import current
from fathometer.lab.io import benchmark, cases, device, panels
from fathometer.lab.io.cases import StorageCase, choose, source_of, strategy_names
from fathometer.lab.io.page_cache import drop, files_of, resident
from fathometer.lab.io.pattern import Pattern
from fathometer.lab.io.ranking import (
    DeviceRates,
    best_text,
    filter_lines,
    filters_that_pay,
    leading,
    ranked,
    remembered_rows,
    row_of,
)
from fathometer.lab.io.trial import PHASES, Bench, Sample
from fathometer.parallel.decomposition import Decomposition
from fathometer.record.schema import SCHEMA
from fathometer.report import figures
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.strategy_cache import Winner, winners
from fathometer.storage.volumes.writer import VolumeWriter

SMALL = ("--grid", "24,20,28", "--repeat", "2")
ROW = {
    *("operation", "strategy", "format", "ranks", "repetitions", "logical_bytes", "stored_bytes", "seconds"),
    *("bytes_per_second", "ci_low", "ci_high", "ratio_to_raw", "cached", "verified"),
}


def validated(path):
    record = json.loads(path.read_text())
    jsonschema.validate(record, json.loads(SCHEMA.read_text()))
    return record


def test_all_formats_on_two_ranks(tmp_path):
    out = tmp_path / "io.json"
    place = tmp_path / "place"
    place.mkdir()
    done = call(
        *("io", place, *SMALL, "--ranks", 2, "--strategy", "all", "--format", "all", "--halo", 2, "--repeat", 1),
        *("--decomposition", "1,2,1", "--json", out, "--quiet", "--budget", "5m"),
    )
    assert done.code == 0, done.err
    assert done.err == ""
    assert list(place.iterdir()) == []
    record = validated(out)
    results = record["results"]
    assert record["application"] == "io"
    assert {"rsf", "npy", "segy", "blocks"} <= {row["format"] for row in results["rows"]}
    asked, _ = choose(("write", "read"), ("all",), ("all",), 2)
    assert {(r["operation"], r["format"], r["strategy"]) for r in results["rows"]} == {
        (one.operation, one.format, str(one.strategy)) for one in asked
    }
    for row in results["rows"]:
        assert row.keys() >= ROW
        assert row["verified"] is True
        assert row["ranks"] == 2 == len(row["phases"])
        assert row["logical_bytes"] == 4 * 24 * 20 * 28 <= row["stored_bytes"]
        assert row["bytes_per_second"] == pytest.approx(row["logical_bytes"] / row["seconds"])
        assert row["ratio_to_raw"] == pytest.approx(
            row["bytes_per_second"] / results["raw"][row["operation"]]["sequential_bytes_per_second"]
        )
        parts = [sum(rank.values()) for rank in row["phases"]]
        assert max(parts) <= row["seconds"]
        assert 0 < row["first_done_seconds"] <= row["last_done_seconds"] <= row["seconds"]
    assert done.out == ""


def test_one_rank_repetitions_and_ranking(tmp_path, capsys):
    out = tmp_path / "io.json"
    done = run(capsys, "io", tmp_path, *SMALL, "--json", out, "--data", "wavefield", "--threads", 1)
    assert done.code == 0, done.err
    results = validated(out)["results"]
    for operation in ("write", "read"):
        rows = [row for row in results["rows"] if row["operation"] == operation]
        assert all(len(row["all_seconds"]) == row["repetitions"] == 2 for row in rows)
        assert all(row["rounds"] == [1, 2] for row in rows)
        assert all(row["ci_low"] is row["ci_high"] is row["ci_coverage"] is None for row in rows)
        fair = [row for row in rows if not row["cached"]]
        if fair:
            best = max(fair, key=lambda row: row["bytes_per_second"])
            # Two rounds tell nothing apart, and have no interval.
            assert len(results["as_good"][operation]["ways"]) == len(fair)
            assert (results["winners"].get(operation) == best) is (len(fair) == 1)
            assert results["winners_again"][operation]["strategy"] == best["strategy"]
            assert results["winners_again"][operation]["verified"] is True
    assert [path.name for path in tmp_path.iterdir()] == ["io.json"]
    assert "round 2 of 2" in done.err
    assert "root-broadcast" in done.out
    for name in ("write", "read"):  # three in the first round
        assert (results["raw"][name]["sequential_interval"], results["raw"][name]["sequential_count"]) == (None, 4)
    assert done.out.count("MB/s in order (n = 4)") == 2


@pytest.mark.parametrize("kind", ["noise", "wavefield"])
@pytest.mark.parametrize("shape", [(9, 7, 11), (13, 8)])
def test_a_volume_is_the_same_on_any_decomposition(kind, shape):
    pattern = Pattern(shape, 3, kind)
    whole = pattern.block((0,) * len(shape), shape)
    assert np.isfinite(whole).all()
    assert not np.array_equal(whole, Pattern(shape, 4, kind).block((0,) * len(shape), shape))
    solid = shape if len(shape) == 3 else (shape[0], 1, shape[1])
    axes = (0, 1, 2) if len(shape) == 3 else (0, 2)
    for ranks in ((3, 1, 2), (1, 1, 5), (4, 1, 1)):
        for rank in range(np.prod(ranks)):
            part = Decomposition(solid, ranks, rank)
            lo, hi = [part.lo[a] for a in axes], [part.hi[a] for a in axes]
            block = Pattern(shape, 3, kind).block(lo, hi)
            assert np.array_equal(block, whole[tuple(slice(a, b) for a, b in zip(lo, hi, strict=True))])
            assert pattern.differing(block, lo) == 0
    assert pattern.differing(whole, (0,) * len(shape)) == 0
    other = np.roll(whole, 1, axis=0)
    assert pattern.differing(other, (0,) * len(shape)) > 0.9 * whole.size


def test_noise_is_not_compressed():
    import zlib

    data = Pattern((16, 64, 64), 1).block((0, 0, 0), (16, 64, 64)).tobytes()
    assert len(zlib.compress(data, 9)) > 0.96 * len(data)


def bench(folder, shape=(6, 5, 4)):
    return Bench(folder, MPI.COMM_SELF, Pattern(shape, 1), (1, 1, 1), 0, 1)


@pytest.mark.parametrize("place", [0, 1, 2, 3, 7, 238, 477, 479])
def test_one_flipped_bit_anywhere_is_found(tmp_path, place):
    one = bench(tmp_path)
    case = StorageCase("read", "rsf", Strategy.of("posix-shared"))
    path = one.source(case)
    assert one.read(case).wrong == 0
    values = path.with_name(path.name + "@")
    data = bytearray(values.read_bytes())
    assert len(data) == 480
    for bit in (0, 7):
        changed = data.copy()
        changed[place] ^= 1 << bit
        values.write_bytes(changed)
        assert one.read(case).wrong == 1


def test_of_lossy_formats_what_is_no_number_is_wrong(tmp_path):
    one = bench(tmp_path)
    case = StorageCase("read", "h5", Strategy.of("root-broadcast:filter=sperr"))
    raw = DeviceRates({"read": {False: [1.0], True: []}})
    for value, wrong, verified in ((1.0, 0, None), (np.nan, 1, False), (np.inf, 1, False)):
        values = one.block.copy()
        values[1, 2, 3] = value
        found, error, _ = one._verified(values, one.box(0), True)
        assert found == wrong
        sample = Sample(1.0, [dict.fromkeys(PHASES, 0.1)], [0.5], 100, found, error, 0.0, False)
        assert row_of(case, one, [sample], None, raw)["verified"] is verified


def test_a_wrong_cell_makes_the_run_invalid(tmp_path, capsys, monkeypatch):
    told = iter([1] * 1000)
    monkeypatch.setattr(Pattern, "differing", lambda self, block, lo: next(told))
    out = tmp_path / "io.json"
    done = run(capsys, "io", tmp_path, *SMALL, "--strategy", "posix-shared", "--json", out)
    assert done.code == 0
    record = validated(out)
    assert [row["verified"] for row in record["results"]["rows"]] == [False, False]
    assert record["results"]["winners"] == {}
    assert not record["validity"]["valid"]
    assert "WRONG" in done.out


def test_rates_beyond_the_device_are_flagged(tmp_path, capsys, monkeypatch):
    """A device that seems slow: everything then came from memory."""
    for name in ("write", "read"):
        true = getattr(device.Device, name)
        monkeypatch.setattr(device.Device, name, lambda self, direct, true=true: 1e6 * (true(self, direct) or 1.0))
    out = tmp_path / "io.json"
    done = run(capsys, "io", tmp_path, *SMALL, "--strategy", "posix-shared", "--json", out)
    assert done.code == 0, done.err
    results = validated(out)["results"]
    assert [row["cached"] for row in results["rows"]] == [True, True]
    assert results["winners"] == {}
    assert "no winner" in done.out


def test_a_file_system_in_memory_is_told(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(device.Device, "drop_cache", lambda self: 1.0)
    done = run(capsys, "io", tmp_path, *SMALL, "--strategy", "posix-shared", "--operation", "write")
    assert done.code == 0, done.err
    assert f"note: {tmp_path}: files there stay in memory" in done.out


def test_files_are_forgotten_where_the_file_system_can(tmp_path):
    path = tmp_path / "file.rsf"
    path.write_bytes(b"x" * 1_000_000)
    (tmp_path / "file.rsf@").write_bytes(b"y" * 50_000)
    assert [one.name for one in files_of(path)] == ["file.rsf", "file.rsf@"]
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    if resident(handle, 1_000_000) > 0:
        os.close(handle)
        pytest.skip("this file system keeps its files in memory")
    path.read_bytes()
    assert resident(handle, 1_000_000) >= 1_000_000
    os.close(handle)
    assert drop(path) == 0


def test_an_interruption_while_pages_are_counted_stays_one(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 10_000)

    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("fathometer.lab.io.page_cache.np.zeros", interrupted)
    with pytest.raises(KeyboardInterrupt):
        drop(path)


def test_compressed_formats_are_ranked_apart(tmp_path, capsys):
    pytest.importorskip("hdf5plugin")
    out = tmp_path / "io.json"
    words = ("--format", "h5", "--strategy", "mpiio-collective,mpiio-collective:filter=zfp,root-broadcast:filter=sperr")
    done = run(capsys, "io", tmp_path, *SMALL, *words, "--data", "wavefield", "--json", out)
    assert done.code == 0, done.err
    every = validated(out)["results"]["rows"]
    read = {row["strategy"]: row for row in every if row["operation"] == "read"}
    assert read["mpiio-collective"]["verified"] is read["mpiio-collective:filter=zfp"]["verified"] is True
    rows = {row["strategy"]: row for row in every if row["operation"] == "write"}
    sperr = "root-broadcast:filter=sperr"
    assert read[sperr]["stored_bytes"] == rows[sperr]["stored_bytes"] < rows["mpiio-collective"]["stored_bytes"]
    # What was reserved is given back. The file's own attributes are a hundredth of so few values.
    assert rows[sperr]["stored_bytes"] < 0.52 * rows[sperr]["logical_bytes"]
    assert read[sperr]["relative_error"] == rows[sperr]["relative_error"]
    plain, zfp = rows["mpiio-collective"], rows["mpiio-collective:filter=zfp"]
    sperr = rows["root-broadcast:filter=sperr"]
    assert (plain["compressed"], zfp["compressed"], sperr["compressed"]) == (False, True, True)
    assert plain["verified"] is zfp["verified"] is True
    assert sperr["verified"] is None
    assert 0 < sperr["relative_error"] < 0.1
    assert json.loads(out.read_text())["results"]["winners"].get("write", plain)["strategy"] == "mpiio-collective"
    assert "of the bytes stored" in done.out


def test_what_is_compressed_is_cached_only_where_its_stored_bytes_tell(tmp_path):
    one = bench(tmp_path)
    raw = DeviceRates({"write": {False: [one.bytes / 1.0], True: []}})
    for text, stored, cached in (("filter=zfp", 100, False), ("filter=zfp", 480, True), ("sync=fsync", 100, True)):
        case = StorageCase("write", "h5", Strategy.of(f"mpiio-collective:{text}"))
        sample = Sample(0.5, [dict.fromkeys(PHASES, 0.1)], [0.5], stored, 0, None, 0.0, False)
        assert row_of(case, one, [sample], None, raw)["cached"] is cached


@pytest.mark.parametrize("name", ["zfp", "sperr", "blosc2", "wavelet", "wavelet,shares=10"])
def test_compressing_is_told_from_writing_with_every_filter(tmp_path, name):
    """Of a volume that is written and verified here: seconds, bytes, errors and rates, each by its meaning."""
    if not name.startswith("wavelet"):
        pytest.importorskip("hdf5plugin")
    way = "posix-shared" if name.startswith("wavelet") else "mpiio-collective"
    case = StorageCase("write", "h5", Strategy.of(f"{way}:filter={name}"))
    one = Bench(tmp_path, MPI.COMM_SELF, Pattern((70, 60, 66), 1, "wavefield"), (1, 1, 1), 0, 1)
    sample = one.write(case)
    own = sample.compression
    assert 0 < own["compress_seconds"] < sample.seconds
    assert own["compress_seconds"] + own["write_seconds"] == pytest.approx(sample.seconds)
    assert (own["plain_bytes"], own["stored_bytes"]) == (one.bytes, sample.stored_bytes)
    assert own["ratio"] == pytest.approx(one.bytes / sample.stored_bytes)
    assert own["equivalent_bytes_per_second"] == pytest.approx(one.bytes / sample.seconds)
    assert own["without_transform_bytes_per_second"] == pytest.approx(one.bytes / own["write_seconds"])
    if case.lossy:
        energy = np.sqrt(np.mean(np.square(one.block, dtype=float)))
        assert own["rms_error"] == pytest.approx(sample.error * energy, rel=1e-6)
        assert own["rms_error"] < own["largest_error"] < 100 * own["rms_error"]
    else:
        assert own["rms_error"] == own["largest_error"] == 0.0
    assert (one.write(StorageCase("write", "h5", Strategy.of("mpiio-collective")))).compression is None


def made_up(seconds, name, compressed, operation="write", error=None):
    """A row of a record with so many seconds in each round."""
    return {
        "operation": operation,
        "format": "h5" if compressed else "rsf",
        "strategy": name,
        "compressed": compressed,
        "cached": False,
        "capped": None,
        "verified": None if error else True,
        "relative_error": error,
        "all_seconds": seconds,
        "rounds": list(range(1, len(seconds) + 1)),
        "bytes_per_second": 1 / sorted(seconds)[len(seconds) // 2],
    }


def test_a_filter_is_recommended_only_where_it_pays_beyond_doubt():
    noise = 1 + 0.05 * np.sin(np.arange(12))
    plain = made_up(list(noise), "posix-shared", False)
    rows = [
        plain,
        made_up(list(1.5 * noise), "mpiio-collective", False),
        made_up(list(0.5 * noise[::-1]), "fast", True, error=1e-3),
        made_up(list(2.0 * noise[::-1]), "slow", True),
        made_up([0.9, 1.1] * 6, "as good", True),
    ]
    told = {one["way"]: one for one in filters_that_pay(rows, 1)}
    assert {way: one["pays"] for way, one in told.items()} == {
        "fast, h5": True,
        "slow, h5": False,
        "as good, h5": False,
    }
    assert told["fast, h5"]["times"] == pytest.approx(2, rel=0.1)
    assert all(one["than"] == "posix-shared, rsf" for one in told.values())
    lines = filter_lines(list(told.values()))
    assert any(
        "fast, h5 pays here: 2." in line and line.endswith("of posix-shared, rsf, and loses digits") for line in lines
    )
    assert any("slow, h5 does not pay here: 0.5" in line for line in lines)
    few = [row | {"all_seconds": row["all_seconds"][:3], "rounds": [1, 2, 3]} for row in rows]
    assert not any(one["pays"] for one in filters_that_pay(few, 1))
    # Beside nothing that can be compared nothing is said.
    assert filters_that_pay([rows[2]], 1) == []


def test_the_suite_of_piovdc(tmp_path, capsys):
    out, page = tmp_path / "io.json", tmp_path / "io.html"
    done = call("io", tmp_path, *SMALL, "--suite", "piovdc", "--ranks", 2, "--json", out, "-o", page)
    assert done.code == 0, done.err
    results = validated(out)["results"]
    suite = {row["name"]: row for row in results["suite"]["rows"]}
    left_out = [note for note in results["notes"] if "is left out" in note]
    assert len(suite) + len(left_out) == 6
    assert {"POSIX", "MPI-IO", "wavelets, without the transform", "wavelets, all"} <= set(suite)
    for row in suite.values():
        rate, seconds = row["bytes_per_second"], row["seconds"]
        assert rate["min"] <= rate["mean"] <= rate["max"]
        assert [seconds[key] * rate[other] for key, other in (("min", "max"), ("mean", "mean"), ("max", "min"))] == (
            pytest.approx([4 * 24 * 20 * 28] * 3)
        )
        assert row["repetitions"] == 2
    whole, without = suite["wavelets, all"], suite["wavelets, without the transform"]
    assert without["seconds"]["mean"] < whole["seconds"]["mean"]
    # Each rank has one contiguous piece where IOR has.
    ways = {(row["strategy"], row["slabs"]) for row in results["rows"] if row["format"] == "rsf"}
    assert ways == {("posix-shared", True), ("mpiio-independent", True)}
    assert "suite piovdc, bytes of the array over the seconds:" in done.out
    text = page.read_text()
    for words in ("Write rates on Lynx", "Write rates on Janus, second set", "209.4", "wavelets, all"):
        assert words in text
    both = tmp_path / "both.html"
    done = call("report", out, out, "-o", both)
    assert done.code == 0, done.err
    assert "wavelets, all, mean" in both.read_text()
    others = {
        "strategy": "posix-shared",
        "format": "h5",
        "pattern": "decimated-steps",
        "operation": "read",
        "halo": "1",
    }
    for name, value in others.items():
        done = run(capsys, "io", tmp_path, *SMALL, "--suite", "piovdc", f"--{name}", value)
        assert done.code == 2
        assert "--suite piovdc" in done.err
        assert "allowed" in done.err


def test_order_of_rows():
    """What cannot be compared comes last and never wins; compressed formats have an order of their own."""
    plain = {"operation": "write", "format": "rsf", "compressed": False, "cached": False, "capped": None}
    plain |= {"ranks": 1, "strategy": "posix-shared"}
    plain |= {"verified": True, "bytes_per_second": 2.0}
    rows = [
        plain | {"bytes_per_second": 1.0},
        plain | {"bytes_per_second": 9.0, "cached": True},
        plain,
        plain | {"bytes_per_second": 8.0, "capped": {"grid": [1, 1, 1], "why": ""}},
        plain | {"bytes_per_second": 7.0, "verified": False},
        plain | {"bytes_per_second": 6.0, "compressed": True},
        plain | {"bytes_per_second": 5.0, "compressed": True, "verified": None},
        plain | {"bytes_per_second": 1.5, "format": "npy"},
        plain | {"operation": "read", "cached": True},
        plain | {"bytes_per_second": 2.5, "strategy": "root-broadcast"},  # of one rank it says nothing
    ]
    assert ranked(rows, "write") == [9, 2, 7, 0, 1, 3, 4]
    assert ranked(rows, "write", compressed=True) == [5, 6]
    for count in (6, 10):
        timed = [
            row | {"rounds": list(range(count)), "all_seconds": [(1 + 0.01 * k) / row["bytes_per_second"]] * count}
            for k, row in enumerate(row | {"bytes_per_second": row.get("bytes_per_second", 1.0)} for row in rows)
        ]
        assert leading(timed, 1)["write"].places == ((9,) if count == 10 else (9, 2, 7, 0))
        # Of several that are as good the usual one.
        two = [row | {"ranks": 2} for row in timed]
        assert remembered_rows(two, 1)[0]["strategy"] == ("root-broadcast" if count == 10 else "posix-shared")
        assert remembered_rows(timed, 1) == [timed[2], timed[7]]


def test_no_winner_among_ways_that_do_not_differ():
    ways = {"ways": ["posix-shared, rsf", "root-broadcast, rsf"], "rounds": 3, "rounds_needed": 6}
    results = {"winners": {}, "as_good": {"write": ways}}
    told = "as good: posix-shared, rsf; root-broadcast, rsf"
    assert best_text(results, "write") == f"{told} (rounds: 3; needed: 6)"
    assert best_text({"winners": {}, "as_good": {"write": ways | {"rounds": 8}}}, "write") == told
    winner = {"strategy": "posix-shared", "format": "rsf", "buffer": 0}
    assert best_text(results | {"winners": {"write": winner}}, "write") == "best: posix-shared, rsf"


def test_a_disturbed_run_says_so_on_the_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(benchmark, "disturbances", lambda ranks: ["rank 0 on here: others used it"])
    monkeypatch.setattr(benchmark, "least_seconds", lambda: 1e3)
    done = run(capsys, "io", tmp_path, *SMALL, "--strategy", "posix-shared", "--operation", "write")
    assert done.code == 0, done.err
    assert done.out.endswith("warning: the times of this run are not to be trusted: rank 0 on here: others used it\n")
    assert "samples of 1 case are shorter than" in done.out


def test_bars_without_an_interval_have_none():
    bars = [{"name": n, "value": 1e9, "low": low, "high": high, "pale": False} for n, low, high in BARS]
    panel = {"name": "a", "title": "", "caption": "", "label": "GB/s", "bars": bars, "mark": {"name": "", "value": 1e9}}
    plain, with_ends = figures.bars(panel)["data"]
    assert "error_x" not in plain
    assert (with_ends["y"], with_ends["error_x"]["array"]) == (["two"], [1.0])


BARS = (("one", None, None), ("two", 5e8, 2e9))


def test_the_budget_bounds_repetitions_and_then_strategies(tmp_path, capsys, monkeypatch):
    """On a clock by which each trial takes ten seconds, and nothing else any, so that fast and slow disks agree."""
    skipped = []
    for name in ("write", "read"):
        trial = getattr(Bench, name)
        monkeypatch.setattr(Bench, name, lambda *words, trial=trial: (skipped.append(10.0), trial(*words))[1])
    monkeypatch.setattr(benchmark, "now", lambda: current().start + sum(skipped))
    out = tmp_path / "io.json"
    words = ("io", tmp_path, "--grid", "64,64,64", "--repeat", 100000, "--json", out)
    done = run(capsys, *words, "--budget", "500s")
    assert done.code == 0, done.err
    trials = len(skipped)
    assert 400 <= sum(skipped) <= 500
    results = validated(out)["results"]
    assert "of 100000 repetitions" in " ".join(results["notes"])
    assert "left out" not in done.out
    several = len(results["rows"])
    done = run(capsys, *words, "--budget", "150s")
    assert done.code == 0, done.err
    assert sum(skipped[trials:]) <= 150
    assert "left out, for want of time" in done.out
    assert 2 <= len(validated(out)["results"]["rows"]) < several


def test_lists_of_elements_are_capped_and_labelled(tmp_path, capsys, monkeypatch):
    for name, value in (("PROBE_BYTES", 4000), ("PROBE_LIST_BYTES", 4000), ("LIST_BYTES", 20_000)):
        monkeypatch.setattr(benchmark, name, value)
    out = tmp_path / "io.json"
    words = ("--strategy", "mpiio-independent,mpiio-independent:datatype=hindexed", "--operation", "write")
    done = run(capsys, "io", tmp_path, *SMALL, *words, "--json", out)
    assert done.code == 0, done.err
    whole, capped = validated(out)["results"]["rows"]
    assert (whole["capped"], whole["logical_bytes"]) == (None, 53_760)
    assert capped["capped"]["grid"] == [9, 20, 28]
    assert "160 B" in capped["capped"]["why"]
    assert capped["logical_bytes"] == 4 * 9 * 20 * 28
    assert "capped: 9 x 20 x 28 cells" in done.out


def test_two_results_in_one_file_are_refused(tmp_path, capsys):
    done = run(capsys, "io", tmp_path, *SMALL, "--json", tmp_path / "a", "-o", tmp_path / "." / "a")
    assert done.code == 2
    assert "allowed: a file of its own for each" in done.err
    assert list(tmp_path.iterdir()) == []


def test_of_each_operation_there_is_one_however_short_the_time(tmp_path, capsys):
    out = tmp_path / "io.json"
    done = run(capsys, "io", tmp_path, *SMALL, "--budget", "0.001s", "--json", out)
    assert done.code == 0, done.err
    results = validated(out)["results"]
    assert [row["operation"] for row in results["rows"]] == ["write", "read"]
    others = [note for note in results["notes"] if note.startswith("left out, for want of time")]
    assert len(others) == 8
    assert any("repetitions" in note for note in results["notes"])
    assert "0 s a trial" not in done.out


def test_a_smaller_volume_has_as_many_axes(tmp_path, capsys, monkeypatch):
    """A file does not tell an axis of one cell."""
    monkeypatch.setattr(benchmark, "PROBE_BYTES", 4000)
    done = run(capsys, "io", tmp_path, "--grid", "3,40,40", "--repeat", 1, "--strategy", "posix-shared")
    assert done.code == 0, done.err


def test_in_two_dimensions_there_is_no_halo_along_y(tmp_path, capsys, monkeypatch):
    told = {}
    monkeypatch.setattr(benchmark, "require_memory", lambda parts, *_: told.update(parts))
    done = run(capsys, "io", tmp_path, "--grid", "20,30", "--halo", 50, "--repeat", 1, "--strategy", "posix-shared")
    assert done.code == 0, done.err
    assert told["read back"] == 2 * 4 * 20 * 30


def test_what_is_read_is_written_as_this_machine_can(monkeypatch):
    case = StorageCase("read", "h5", Strategy.of("posix-shared"))
    lacking = replace(case.form, missing=lambda name, ranks: "" if name == "root-broadcast" else "no MPI")
    monkeypatch.setitem(cases.WRITABLE, "h5", lacking)
    assert source_of(case, 2).name == "root-broadcast"


def test_a_device_that_fails_is_one_error(tmp_path, monkeypatch):
    """Each piece that cannot be read gives its memory back, or the next ones would wait for it for ever."""
    monkeypatch.setattr(device, "PIECE_BYTES", 1 << 16)
    one = device.Device(tmp_path, 1 << 23, np.zeros(1 << 14, np.float32))
    if one.write(True) is None:
        pytest.skip("this file system knows no direct calls")
    os.truncate(one.path, 0)
    for direct in (False, True):
        with pytest.raises(InputError, match="cannot be read: read 0 bytes of 65536"):
            one.read(direct)


def test_lists_of_strategies():
    assert strategy_names("posix-shared,mpiio-collective:cb_nodes=1,sync=fsync,root-broadcast") == (
        "posix-shared",
        "mpiio-collective:cb_nodes=1,sync=fsync",
        "root-broadcast",
    )
    with pytest.raises(InputError, match="sync=none"):
        strategy_names("posix-shared:sync=none")
    asked = ("posix-shared:sync=o_dsync", "posix-per-rank", "root-broadcast:filter=zfp")
    assert choose(("read",), asked, ("rsf", "npy"), 1)[1] == [
        "posix-per-rank is left out: not for --format rsf,npy",
        "root-broadcast:filter=zfp is left out: not for --format rsf,npy",
    ]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("nowhere",), 2, "nowhere: no such folder"),
        ((".", "--strategy", "quickly"), 2, "no storage strategy 'quickly'"),
        ((".", "--strategy", "auto"), 2, "auto: is no strategy of its own"),
        ((".", "--format", "tiff"), 2, "--format tiff: allowed: all, rsf"),
        ((".", "--format", "rsf", "--strategy", "posix-per-rank"), 2, "no format is written or read so"),
        ((".", "--operation", "erase"), 2, "found erase; allowed: write, read"),
        ((".", "--decomposition", "2,1,1"), 2, "--decomposition 2,1,1: is for 2 ranks; found 1"),
        ((".", "--json", "no/folder.json"), 2, "no/folder.json: cannot be written"),
        ((".", "--grid", "20000,20000,20000"), 2, "not enough memory"),
        ((".", "--halo", "-1"), 2, "found -1"),
        ((".", "--grid", "1,1,1"), 2, "--grid 1,1,1: allowed: at least 2 cells along x and z"),
        ((".", "--grid", "1,64,64"), 2, "--grid 1,64,64: allowed: at least 2 cells along x and z"),
    ],
)
def test_wrong_words_are_one_error(tmp_path, monkeypatch, capsys, words, code, told):
    monkeypatch.chdir(tmp_path)
    done = run(capsys, "io", *words)
    assert (done.code, done.err.count("\n")) == (code, 1), done.err
    assert done.err.startswith("fathometer: error: ")
    assert told in done.err
    assert list(tmp_path.iterdir()) == []


def test_too_little_space_is_said_before(tmp_path, monkeypatch, capsys):
    import shutil
    from collections import namedtuple

    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 10**9 - 1000, 1000))
    done = run(capsys, "io", tmp_path, *SMALL)
    assert done.code == 1
    assert "found 1 kB free" in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_read_only_is_one_error(tmp_path, monkeypatch, capsys):
    def refuse(**_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("fathometer.lab.io.folder.tempfile.mkdtemp", refuse)
    done = run(capsys, "io", tmp_path, *SMALL)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"{tmp_path}: cannot be written to: read-only file system" in done.err


@pytest.mark.parametrize("ranks", [1, 2])
def test_an_interrupted_run_leaves_nothing(tmp_path, ranks):
    process = start(*program(), "io", tmp_path, "--ranks", ranks, "--grid", "64,64,64", "--repeat", 100000)
    deadline = time.monotonic() + PATIENCE
    while not any(tmp_path.glob(".fathometer-io-*/*")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    done = finish(process)
    assert done.code == 130 if ranks == 1 else done.code, done.err  # mpirun has codes of its own
    assert ranks > 1 or "fathometer: interrupted" in done.err  # an interrupted mpirun may lose the last line
    # mpirun ends ranks a second after it was interrupted, whether they have cleared up or not.
    assert ranks > 1 or list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_goes_with_the_next(tmp_path, capsys):
    """But not the folder of a run that still goes on."""
    words = ("io", tmp_path, "--grid", "64,64,64", "--repeat", 100000, "--quiet", "--budget", "10m")
    killed, going = start(*program(), *words), start(*program(), *words)
    try:
        deadline = time.monotonic() + PATIENCE
        while len({one.parent for one in tmp_path.glob(".fathometer-io-*/*.rsf")}) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        killed.kill()
        killed.wait()
        assert len(list(tmp_path.iterdir())) == 2
        done = run(capsys, "io", tmp_path, *SMALL, "--strategy", "posix-shared")
        assert done.code == 0, done.err
        assert len(list(tmp_path.iterdir())) == 1
        assert going.poll() is None
    finally:
        going.send_signal(signal.SIGINT)
    assert finish(going).code == 130
    assert list(tmp_path.iterdir()) == []


LIMITED = """
import resource, signal, sys
from mpi4py import MPI
from fathometer.cli.main import main
from fathometer.parallel import collectives
collectives.PATIENCE_SECONDS = 60.0  # however slow the ranks are to fail together
if MPI.COMM_WORLD.rank == MPI.COMM_WORLD.size - 1:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
sys.exit(main(sys.argv[1:]))
"""


def limited(text, ranks, *words):
    return finish(start(*(mpirun(ranks) if ranks > 1 else []), *(sys.executable, "-c", text, "io"), *words))


def test_a_full_disk_is_one_error(tmp_path):
    done = limited(LIMITED, 1, tmp_path, "--grid", "64,64,64")
    assert done.code == 1, done.err
    assert "cannot be written: File too large" in done.err
    assert done.err.count("fathometer: error") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_strategy_that_fails_is_set_aside(tmp_path):
    """The last rank's writes are refused: the first rank's are left to rank, and what failed is named everywhere."""
    place, out, page = tmp_path / "place", tmp_path / "io.json", tmp_path / "io.html"
    place.mkdir()
    words = ("--strategy", "posix-shared,mpiio-independent,root-broadcast", "--operation", "write", "--repeat", 1)
    done = limited(LIMITED, 2, place, "--grid", "64,64,64", *words, "--json", out, "-o", page)
    assert done.code == 1, done.err
    assert "failed: write rsf posix-shared: written.rsf: cannot be written: File too large, and 1 more" in done.err
    assert done.err.count("fathometer: error") == 1
    results = validated(out)["results"]
    assert [row["strategy"] for row in results["rows"]] == ["root-broadcast"]
    assert [one["strategy"] for one in results["failed"]] == ["posix-shared", "mpiio-independent"]
    assert results["winners_again"].keys() == {"write"}
    for text in (done.out, page.read_text()):
        assert "failed" in text
        assert "written.rsf: cannot be written: MPI moved" in text
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("when", [1, 2, 3])
def test_a_strategy_may_fail_at_any_time(tmp_path, capsys, monkeypatch, when):
    """In the warm-up, in a round, on fresh files: then the next one is the best."""
    true, turns = Bench.read, []

    def fails(self, case):
        if case.strategy.name == "posix-shared":
            turns.append(case)
            if len(turns) == when:
                raise FathometerError("no more")
        return true(self, case)

    monkeypatch.setattr(Bench, "read", fails)
    # However fast memory is, nothing is cached: there is a winner on any file system.
    monkeypatch.setattr(Bench, "drop_caches", lambda self, path: 0.0)
    monkeypatch.setattr(DeviceRates, "bound", lambda self, operation: 1e99)

    def faster(case, *rest):
        row = row_of(case, *rest)
        fast = {"bytes_per_second": 1e15, "all_seconds": [1e-9] * len(row["all_seconds"])}
        return row | (fast if case.strategy.name == "posix-shared" else {})

    monkeypatch.setattr(benchmark, "row_of", faster)
    out = tmp_path / "io.json"
    words = ("--strategy", "posix-shared,root-broadcast", "--operation", "read", "--repeat", 1, "--json", out)
    done = run(capsys, "io", tmp_path, *SMALL, *words)
    assert (done.code, done.err.count("fathometer: error: failed: read rsf posix-shared: no more\n")) == (1, 1)
    results = validated(out)["results"]
    assert results["failed"] == [
        {"operation": "read", "strategy": "posix-shared", "format": "rsf", "why": "no more", "buffer": 0},
    ]
    assert [row["strategy"] for row in results["rows"]] == ["root-broadcast"]
    assert results["winners"]["read"]["strategy"] == "root-broadcast"
    assert results["winners_again"]["read"]["strategy"] == "root-broadcast"
    assert list(tmp_path.iterdir()) == [out]


ALONE = """
import sys
from mpi4py import MPI
from fathometer.cli.main import main
from fathometer.base.errors import FathometerError
from fathometer.parallel import collectives
from fathometer.storage.volumes.writer import VolumeWriter

def flush(self):
    if self.comm.rank == 1:
        raise FathometerError("only here")
    true(self)

collectives.PATIENCE_SECONDS = 0.5
true, VolumeWriter.flush = VolumeWriter.flush, flush
sys.exit(main(sys.argv[1:]))
"""


def test_what_only_one_rank_knows_of_ends_all(tmp_path):
    done = limited(ALONE, 2, tmp_path, *SMALL)
    assert done.code != 0
    assert "fathometer: error: only here" in done.err


def test_levels_are_asked_for_and_never_remembered():
    row = {"operation": "write", "format": "h5", "compressed": False, "cached": False, "capped": None, "ranks": 2}
    row |= {"verified": True, "bytes_per_second": 2.0, "rounds": list(range(10)), "all_seconds": [0.5] * 10}
    rows = [row | {"strategy": name} for name in ("mpiio-collective:levels=2", "mpiio-collective")]
    assert [one["strategy"] for one in remembered_rows(rows, 1)] == ["mpiio-collective"]
    assert remembered_rows(rows[:1], 1) == []


def test_winners_are_remembered_and_taken(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = ("--strategy", "mpiio-independent:cb_nodes=1", "--format", "rsf,npy", "--remember")
    done = run(capsys, "io", tmp_path, *SMALL, *words)
    assert done.code == 0, done.err
    assert "remembered in" in done.err
    kept = {(one.format, one.operation): one.strategy for one in winners()}
    if not kept:
        pytest.skip("this file system keeps its files in memory: nothing wins")
    assert set(kept.values()) == {"mpiio-independent:cb_nodes=1"}
    (tmp_path / "survey").mkdir()
    inputs(tmp_path / "survey")
    path = survey(tmp_path / "survey", MIGRATE | {"output.image": "image.rsf"})
    done = run(capsys, "migrate", path, "--json", "--quiet")
    assert done.code == 0, done.err
    told = json.loads(done.out)["results"]["strategies"]
    assert [(one["operation"], Path(one["file"]).name) for one in told] == [("read", "vp.npy"), ("write", "image.rsf")]
    for one in told:
        usual = kept.get(({".npy": "NPY", ".rsf": "RSF"}[Path(one["file"]).suffix], one["operation"]))
        assert one["remembered"] == (usual is not None)
        assert usual in (None, one["strategy"])
    done = run(capsys, "info", "--formats")
    assert "remembered" in done.out
    assert "mpiio-independent:cb_nodes=1" in done.out
    # What is asked for by name is not overruled, and what is damaged is forgotten.
    info = VolumeInfo((3, 4, 5), np.dtype(np.float32), None, None, None, None)
    with VolumeWriter(tmp_path / "v.npy", info, MPI.COMM_SELF, Strategy.of("posix-shared")) as writer:
        writer.write(np.ones((3, 4, 5), np.float32), (0, 0, 0))
        assert writer.strategy.name == "posix-shared"
    strange = json.dumps({"schema_version": 1, "winners": [dict.fromkeys(Winner.__dataclass_fields__, 5)]})
    for damaged in ("{", '{"schema_version": 1, "winners": [{"mount": "/"}]}', "[]", strange):
        (tmp_path / "cache" / "fathometer" / "storage.json").write_text(damaged)
        assert winners() == []


def test_a_page_shows_remarks_before_phases(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Bench, "drop_caches", lambda self, path: 0.5)
    done = run(capsys, "io", ".", *SMALL, "--strategy", "posix-shared", "--json", "io.json")
    assert done.code == 0, done.err
    record = validated(tmp_path / "io.json")
    shown = panels.heading(record)
    assert (shown.subject, shown.facts[0]) == (tmp_path.name, ("Folder", str(tmp_path)))
    assert shown.facts[2] == ("Blocks", "1 × 1 × 1 ranks")
    assert shown.facts[4][1].endswith("to one process; no winner")
    bars, _, _, table = panels.panels(record, tmp_path)
    assert bars["caption"].startswith("Medians. ")
    assert [key for key, _, _ in table["columns"]][-5:-3] == ["ratio_to_raw", "remarks"]
    assert "flush_seconds" not in [key for key, _, _ in table["columns"]]
    assert table["rows"][0][7] == "cached"


def test_page_picture_and_report(tmp_path, capsys):
    out, page, picture = tmp_path / "io.json", tmp_path / "io.html", tmp_path / "io.png"
    done = run(capsys, "io", tmp_path, *SMALL, "--json", out, "-o", page, "--picture", picture)
    assert done.code == 0, done.err
    assert picture.read_bytes().startswith(b"\x89PNG")
    for text in (page.read_text(), None):
        if text is None:
            done = run(capsys, "report", out, "-o", tmp_path / "again.html")
            assert done.code == 0, done.err
            text = (tmp_path / "again.html").read_text()
        assert "Storage benchmark" in text
        assert 'data-figure="rates-write"' in text
        assert 'data-figure="rates-read"' in text
        assert "root-broadcast" in text
    done = run(capsys, "report", out, out, "-o", tmp_path / "two.html", "--markdown", "-")
    assert done.code == 0, done.err
    assert "best write" in done.out or "raw write" in done.out
    record = json.loads(out.read_text())
    del record["results"]["rows"][0]["phases"]
    out.write_text(json.dumps(record))
    done = run(capsys, "report", out)
    assert done.code == 2
    assert "damaged" in done.err
