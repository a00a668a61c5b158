"""Ranking of the storage strategies: repetitions summed up in rows, their order, the tables.

A row's rate is flagged as cached where it exceeds MOST_OF_DEVICE times the highest rate of the device in the same run,
or where what was read was still in memory. Such rows, capped and compressed ones and those with a wrong cell never win.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from fathometer.base.errors import FathometerError
from fathometer.base.formatting import bytes_in_words, megabytes, number_of, rate_in_words
from fathometer.base.text_tables import TextColumn, aligned
from fathometer.lab.io.cases import WRITABLE, StorageCase, way
from fathometer.lab.io.trial import MOST_RESIDENT, Bench, Sample
from fathometer.lab.statistics.differences import differences
from fathometer.lab.statistics.interval import Estimate, interval
from fathometer.lab.statistics.ratios import paired_ratios
from fathometer.lab.statistics.told import Leader, ends, leader
from fathometer.record.envelope import Figure
from fathometer.storage.volumes.strategy import ROOT, Strategy

MOST_OF_DEVICE = 1.5  # times the device's own highest rate: more did not reach the device
MOST_RANKS = 64  # whose phases are in a row
COLUMNS = (
    TextColumn("strategy", gap=0),
    TextColumn("format", gap=2),
    TextColumn("MB/s", right=True, least=10),
    TextColumn("(interval)", least=15, gap=3),
    TextColumn("n", right=True, least=2),
    TextColumn("of raw", right=True, gap=2),
    TextColumn("first, last done (s)", gap=3),
)


@dataclass(frozen=True)
class Capped:
    """A smaller grid than asked for, of files of steps with their number before, and why."""

    grid: tuple[int, ...]
    why: str


@dataclass(frozen=True)
class Failed:
    """A case that was excluded, and why."""

    operation: str
    strategy: str
    format: str
    why: str
    buffer: int = 0

    def __str__(self) -> str:
        return f"{self.operation} {self.format} {way(self.strategy, self.buffer)}: {self.why}"


@dataclass
class DeviceRates:
    """The device's own rates, bytes a second, of each operation: sequential (False) and direct (True).

    seconds: of a round of them.
    """

    rates: dict[str, dict[bool, list[float]]]
    seconds: float = 0.0

    def sequential(self, operation: str) -> Estimate:
        """The rate that strategies are compared with."""
        return interval(self.rates[operation][False])

    def bound(self, operation: str) -> float:
        """Bytes a second beyond which data came from memory or has not left it."""
        return MOST_OF_DEVICE * max(max(rates) for rates in self.rates[operation].values() if rates)

    def as_dict(self) -> dict[str, Any]:
        """For a record."""
        entries: dict[str, Any] = {}
        for operation, kinds in self.rates.items():
            entries[operation] = {"cached_beyond_bytes_per_second": self.bound(operation)}
            for direct, rates in kinds.items():
                name = "direct" if direct else "sequential"
                rate = interval(rates) if rates else None
                entries[operation][f"{name}_bytes_per_second"] = rate.median if rate else None
                entries[operation][f"{name}_interval"] = ends(rate) if rate and rate.reaches() else None
                entries[operation][f"{name}_count"] = len(rates)
        return entries


def row_of(
    case: StorageCase, bench: Bench, samples: Sequence[Sample], capped: Capped | None, raw: DeviceRates
) -> dict[str, Any]:
    """One row of the results: a strategy and an operation. verified is None where a format loses digits by intent, and
    all are numbers still."""
    size = bench.bytes
    rate = interval([size / sample.seconds for sample in samples])
    low, high = ends(rate)
    resident = max(sample.resident for sample in samples)
    wrong = sum(sample.wrong for sample in samples)
    errors = [sample.error for sample in samples if sample.error is not None]
    # Of compressed formats only what is stored goes to the device.
    moved = rate.median * (samples[-1].stored_bytes / size if case.compressed else 1.0)
    return {
        "operation": case.operation,
        "strategy": str(case.strategy),
        "format": case.format,
        "buffer": case.buffer,
        "ranks": len(samples[0].phases),
        "repetitions": len(samples),
        "logical_bytes": size,
        "stored_bytes": samples[-1].stored_bytes,
        "seconds": median(sample.seconds for sample in samples),
        "bytes_per_second": rate.median,
        "ci_low": low,
        "ci_high": high,
        "ci_coverage": rate.coverage if rate.reaches() else None,
        "ratio_to_raw": rate.median / raw.sequential(case.operation).median,
        "cached": moved > raw.bound(case.operation) or resident > MOST_RESIDENT,
        "verified": None if case.lossy and wrong == 0 else wrong == 0,
        "wrong_cells": wrong,
        "relative_error": max(errors) if errors else None,
        "compressed": case.compressed,
        "compression": _compression([sample.compression for sample in samples if sample.compression]),
        "slabs": case.slabs,
        "seconds_without_compressing": [
            sample.compression["write_seconds"] if sample.compression else sample.seconds for sample in samples
        ],
        "capped": None if capped is None else {"grid": capped.grid, "why": capped.why},
        "resident_share": resident,
        "other_ranks_blocks": any(sample.shifted for sample in samples),
        "first_done_seconds": median(min(sample.done) for sample in samples),
        "last_done_seconds": median(max(sample.done) for sample in samples),
        "phases": _phases(samples),
        "all_seconds": [sample.seconds for sample in samples],
        "rounds": list(range(1, len(samples) + 1)),
    }


def _compression(samples: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Medians of the repetitions; of errors the largest. None: nothing was compressed."""
    if not samples:
        return None
    return {
        key: None
        if any(sample[key] is None for sample in samples)
        else (max if key.endswith("error") else median)(sample[key] for sample in samples)
        for key in samples[0]
    }


def _phases(samples: Sequence[Sample]) -> list[dict[str, float]]:
    """Of each rank the medians of its phases' seconds."""
    ranks = range(min(MOST_RANKS, len(samples[0].phases)))
    return [
        {f"{name}_seconds": median(sample.phases[rank][name] for sample in samples) for name in samples[0].phases[rank]}
        for rank in ranks
    ]


def ranked(rows: Sequence[Mapping[str, Any]], operation: str, compressed: bool = False) -> list[int]:
    """Indices of the rows of an operation, the best first; those that cannot win last."""
    places = [n for n, row in enumerate(rows) if row["operation"] == operation and row["compressed"] == compressed]
    return sorted(places, key=lambda n: (not comparable(rows[n]), -rows[n]["bytes_per_second"]))


def comparable(row: Mapping[str, Any]) -> bool:
    """Whether a row's rate can be compared: the whole volume, its bytes on the device, none of them wrong."""
    return not row["cached"] and row["capped"] is None and row["verified"] is not False


@dataclass(frozen=True)
class Leading:
    """Of the rows of an operation that can be compared: which are the fastest.

    places: indices of those that do not differ from the one with the best rate, which comes first; it is the winner
    where it is alone. rounds, rounds_needed: as of `Leader`.
    """

    places: tuple[int, ...]
    rounds: int
    rounds_needed: int

    @property
    def winner(self) -> int | None:
        """The row that differs from all others."""
        return self.places[0] if len(self.places) == 1 else None

    def as_dict(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """For a record."""
        names = [f"{way_of(rows[place])}, {rows[place]['format']}" for place in self.places]
        return {"ways": names, "rounds": self.rounds, "rounds_needed": self.rounds_needed}


def leading(rows: Sequence[Mapping[str, Any]], seed: int, **only: str) -> dict[str, Leading]:
    """The fastest rows of each operation; none where no row is comparable. seed: of `leader`. only: values that a row
    must have."""
    found = {}
    for operation in dict.fromkeys(row["operation"] for row in rows):
        places = [
            place
            for place in ranked(rows, operation)
            if comparable(rows[place]) and all(rows[place][key] == value for key, value in only.items())
        ]
        if places:
            seconds = {n: dict(zip(rows[n]["rounds"], rows[n]["all_seconds"], strict=True)) for n in places}
            best: Leader[int] = leader(seconds, seed)
            kept = {best.setting, *best.as_good}
            found[operation] = Leading(tuple(n for n in places if n in kept), best.rounds, best.rounds_needed)
    return found


def filters_that_pay(rows: Sequence[Mapping[str, Any]], seed: int) -> list[dict[str, Any]]:
    """For each operation and compressed way that can be compared: how many times the rate of the best plain way it
    has, of the rounds that both have, and whether it pays: beyond doubt, at a level for all of them."""
    found = []
    best = leading(rows, seed)
    for operation, plain in best.items():
        base = rows[plain.places[0]]
        packed = [rows[place] for place in ranked(rows, operation, True) if comparable(rows[place])]
        ratios = {n: paired_ratios(_by_round(base), _by_round(row)) for n, row in enumerate(packed)}
        told = differences({n: values for n, values in ratios.items() if values})
        for n, row in enumerate(packed):
            one = told.get(n)
            if one is None:
                continue
            low, high = ends(one.corrected) if one.could_differ else (None, None)
            found.append(
                {
                    "operation": operation,
                    "way": f"{way_of(row)}, {row['format']}",
                    "than": f"{way_of(base)}, {base['format']}",
                    "times": one.corrected.median,
                    "low": low,
                    "high": high,
                    "pays": one.differs and one.corrected.low > 1,
                    "lossy": row["relative_error"] is not None,
                }
            )
    return found


def _by_round(row: Mapping[str, Any]) -> dict[int, float]:
    return dict(zip(row["rounds"], row["all_seconds"], strict=True))


def filter_lines(filters: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which filters pay on this disk, in words."""
    lines = []
    for one in filters:
        held = f" ({one['low']:.2f} to {one['high']:.2f})" if one["low"] is not None else ""
        verb = "pays here" if one["pays"] else "does not pay here" if one["times"] <= 1 else "is not shown to pay here"
        loss = ", and loses digits" if one["lossy"] and one["pays"] else ""
        lines.append(
            f"{one['operation']}: {one['way']} {verb}: {one['times']:.2f}{held} times the rate of {one['than']}{loss}"
        )
    return lines


def remembered_rows(rows: Sequence[Mapping[str, Any]], seed: int) -> list[Mapping[str, Any]]:
    """The fastest row of each operation on each format, of several that are as good the strategy that `auto` is by
    itself, else the first; of one rank not the strategies that differ on several only."""
    rows = [row for row in rows if row["ranks"] > 1 or not row["strategy"].startswith(ROOT)]
    rows = [row for row in rows if not Strategy.of(row["strategy"]).levels]  # they are asked for, not found
    formats = dict.fromkeys(row["format"] for row in rows)
    return [
        _usual([rows[place] for place in best.places])
        for name in formats
        for best in leading(rows, seed, format=name).values()
    ]


def _usual(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    form = WRITABLE[rows[0]["format"]]
    usual = (form.writes if rows[0]["operation"] == "write" else form.reads)[0]
    return next((row for row in rows if row["strategy"] == str(Strategy.of(usual))), rows[0])


def figures_of(
    rows: Sequence[Mapping[str, Any]], again: Mapping[str, Mapping[str, Any]], raw: DeviceRates
) -> list[Figure]:
    """The winners' rates, on fresh files where there was a choice, what they are of the device's, and the device's."""
    figures = []
    for operation, row in again.items():
        figures.append(Figure(f"best {operation}", row["bytes_per_second"], "bytes_per_second", "higher"))
        figures.append(Figure(f"best {operation} to raw", row["ratio_to_raw"], "1", "higher"))
    for operation in raw.rates:
        rate = raw.sequential(operation).median
        figures.append(Figure(f"raw {operation}", rate, "bytes_per_second", "higher", "context"))
    for row in rows:
        name = f"{row['operation']} {row['format']} {way_of(row)}"
        figures.append(Figure(name, row["bytes_per_second"], "bytes_per_second", "higher", "context"))
    return figures


def way_of(row: Mapping[str, Any]) -> str:
    """A row's strategy, with the steps that are written together."""
    return way(row["strategy"], row.get("buffer", 0))


def volume_words(options: Mapping[str, Any], times: str = " x ") -> str:
    """What was written, from a record's input: "64 x 64 x 64 cells"; of files of steps also how many."""
    cells = times.join(str(n) for n in options["grid"] if n > 1)
    steps = options.get("steps")
    if not steps:
        return f"{cells} cells"
    files = steps["files"]
    return f"{steps['steps']} steps of {cells} nodes in {number_of(files, 'file')}, nodes {steps['every']} apart"


def failures(results: Mapping[str, Any], operation: str) -> list[Mapping[str, Any]]:
    """The cases of an operation that were excluded."""
    return [case for case in results.get("failed", []) if case["operation"] == operation]


def require_all(envelope: Mapping[str, Any]) -> None:
    """Raises FathometerError where a case was excluded; the others are ranked nevertheless."""
    if failed := [Failed(**case) for case in envelope["results"]["failed"]]:
        others = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        raise FathometerError(f"failed: {failed[0]}{others}")


def remarks(row: Mapping[str, Any]) -> str:
    """Remarks on a row: wrong cells, cached, capped, compressed, lossy."""
    entries = []
    if row["verified"] is False:
        entries.append(f"WRONG: {row['wrong_cells']} cells differ")
    if row["cached"]:
        entries.append("cached")
    if row["capped"] is not None:
        entries.append(f"capped: {' x '.join(str(n) for n in row['capped']['grid'] if n > 1)} cells")
    if row["compressed"]:
        entries.append(f"{row['stored_bytes'] / row['logical_bytes']:.3g} of the bytes stored")
    if (own := row.get("compression")) is not None:
        without = own["without_transform_bytes_per_second"]
        entries.append(f"{own['compress_seconds']:.3g} s compressing, {own['write_seconds']:.3g} s writing")
        entries += [f"without compressing {rate_in_words(without)}"] if without else []
    if row["relative_error"] is not None:
        rms, largest = (f", rms {own['rms_error']:.1e}", f", largest {own['largest_error']:.1e}") if own else ("", "")
        entries.append(f"relative error {row['relative_error']:.1e}{rms}{largest}")
    return ", ".join(entries)


def table_lines(envelope: Mapping[str, Any]) -> list[str]:
    """The ranking of a record as tables for people."""
    results, options = envelope["results"], envelope["input"]
    rows = results["rows"]
    text = [
        f"{options['data']}, {volume_words(options)}, float32, {bytes_in_words(results['logical_bytes'], 4)}; "
        f"{envelope['machine']['ranks']} rank(s), {' x '.join(map(str, results['decomposition']))}"
    ]
    for operation, raw in results["raw"].items():
        direct = raw["direct_bytes_per_second"]
        text += [
            "",
            f"{operation}: the device gives {rate_in_words(raw['sequential_bytes_per_second'])} in order "
            f"({_ends(*(raw['sequential_interval'] or (None, None))) or 'n = ' + str(raw['sequential_count'])})"
            + (f", {rate_in_words(direct)} past the page cache" if direct else "")
            + f"; above {rate_in_words(raw['cached_beyond_bytes_per_second'])}: cached",
        ]
        for compressed in (False, True):
            places = ranked(rows, operation, compressed)
            if places:
                text += ["  compressed, as logical bytes:"] if compressed else []
                text += _table([rows[place] for place in places])
        text += [f"  failed: {way_of(case)}, {case['format']}: {case['why']}" for case in failures(results, operation)]
        again = results["winners_again"].get(operation)
        if again is None:
            text.append("no winner: nothing moved the whole volume to or from the device itself without a wrong cell")
        elif again != results["winners"].get(operation):
            text.append(
                f"{best_text(results, operation)}; on fresh files once more {way_of(again)}, {again['format']}: "
                f"{rate_in_words(again['bytes_per_second'])} ({again_text(again)}), {again['ratio_to_raw']:.2f} of "
                "the device's" + (f" ({remarks(again)})" if remarks(again) else "")
            )
    text += ["", *filter_lines(results["filters"])] if results["filters"] else []
    return text + [f"note: {note}" for note in results["notes"]]


def best_text(results: Mapping[str, Any], operation: str) -> str:
    """Which way is the best, or which are as good."""
    if (row := results["winners"].get(operation)) is not None:
        return f"best: {way_of(row)}, {row['format']}"
    same = results["as_good"][operation]
    few = f" (rounds: {same['rounds']}; needed: {same['rounds_needed']})"
    return f"as good: {'; '.join(same['ways'])}" + (few if same["rounds"] < same["rounds_needed"] else "")


def again_text(row: Mapping[str, Any]) -> str:
    """The interval of a winner on fresh files, else of how many it is the median."""
    return _ends(row["ci_low"], row["ci_high"]) or f"n = {row['repetitions']}"


def _ends(low: float | None, high: float | None) -> str:
    """An interval of bytes a second in MB/s; nothing of too few values."""
    return "" if low is None or high is None else f"{megabytes(low)} to {megabytes(high)}"


def _table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    text = []
    for row in rows:
        held = _ends(row["ci_low"], row["ci_high"])
        text.append(
            [
                way_of(row),
                row["format"],
                megabytes(row["bytes_per_second"]),
                f"({held})" if held else "",
                str(row["repetitions"]),
                f"{row['ratio_to_raw']:.2f}",
                f"{row['first_done_seconds']:.3f}, {row['last_done_seconds']:.3f}   {remarks(row)}",
            ]
        )
    return aligned(COLUMNS, text, "  ")
