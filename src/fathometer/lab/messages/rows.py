"""Samples of a case summed up in a row of the results; fits of the rows that differ in their length alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fathometer.lab.messages.cases import MessageCase
from fathometer.lab.messages.fits import Fit, Numbers, fit, half_of_best
from fathometer.lab.messages.places import Place
from fathometer.lab.messages.sampling import Sample
from fathometer.lab.statistics.interval import interval
from fathometer.lab.statistics.ratios import ByRound, ratio
from fathometer.lab.statistics.told import Leader, ends, leader

MOST_PAIRS = 64  # whose medians are in a row
TAIL = 0.99

# What tells a curve from others: all of a row but its length.
CURVE = ("pattern", "protocol", "direction", "packet_bytes", "buffers", "place", "timing", "algorithm")
# What a way is chosen among others of: all of a curve but its protocol and algorithm.
CHOICE = ("pattern", "direction", "packet_bytes", "buffers", "place", "timing")


@dataclass
class Measurement:
    """Samples of one case, by the number of their round.

    repetitions: exchanges of a sample. cost: seconds of taking one. too_short: samples that were taken again, with
    twice the exchanges.
    """

    case: MessageCase
    repetitions: int
    cost: float
    too_short: int = 0
    samples: dict[int, Sample] = field(default_factory=dict)


def row_of(measurement: Measurement, place: Place | None) -> dict[str, Any]:
    """One row of the results."""
    case, samples = measurement.case, list(measurement.samples.values())
    seconds = [sample.seconds for sample in samples if np.isfinite(sample.seconds)]
    singles = np.concatenate([np.asarray(sample.singles, float) for sample in samples] or [np.empty(0)])
    half = interval(seconds) if seconds else None
    middle = half.median if half else None
    low, high = ends(half) if half else (None, None)
    sent = max(sample.bytes for sample in samples)
    wrong = sum(sample.wrong for sample in samples)
    pairs = len(place.pairs) if place is not None else 0
    rate = case.length / middle if middle and pairs else None
    clock_errors = [sample.clock_error for sample in samples if sample.clock_error is not None]
    late = [sample.late for sample in samples if sample.late is not None]
    durations = [sample.duration for sample in samples if sample.duration is not None]
    return {
        "pattern": case.pattern,
        "protocol": case.protocol,
        "direction": case.direction,
        "length_bytes": case.length,
        "packet_bytes": case.packet,
        "buffers": case.buffers,
        "place": case.place,
        "class": place.kind if place else None,
        "distance": place.distance if place else None,
        "pairs": pairs,
        "timing": case.timing,
        "algorithm": case.algorithm,
        "samples": len(seconds),
        "exchanges_per_sample": measurement.repetitions,
        "shortest_sample_seconds": min(durations, default=None),
        "too_short": measurement.too_short,
        "seconds_min": min(seconds, default=None),
        "seconds": middle,
        "ci_low": low,
        "ci_high": high,
        "ci_coverage": half.coverage if half and low is not None else None,
        "seconds_p99": float(np.quantile(singles, TAIL)) if len(singles) else None,
        "singles": len(singles),
        "pair_bytes_per_second": rate,
        "aggregate_bytes_per_second": sent / case.messages_per_exchange / middle if middle and sent else None,
        "sent_bytes": sent,
        "pair_seconds": _pair_medians(samples),
        "wrong_bytes": wrong,
        "verified": wrong == 0 if case.pattern != "barrier" else None,
        "clock_error_seconds": max(clock_errors, default=None),
        "late_share": float(np.mean(late)) if late else None,
        "all_seconds": [sample.seconds for sample in samples],
        "rounds": list(measurement.samples),
    }


def _pair_medians(samples: Sequence[Sample]) -> list[float]:
    table = [sample.by_pair[:MOST_PAIRS] for sample in samples if sample.by_pair]
    return [float(value) for value in np.median(np.array(table), axis=0)] if table else []


def grouped(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> dict[tuple[Any, ...], list[Mapping[str, Any]]]:
    """Rows by their values of some keys, in their order."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def curves_of(rows: Sequence[Mapping[str, Any]], seed: int) -> list[dict[str, Any]]:
    """A fit of each set of rows that differ in their length alone, of three lengths or more."""
    found = []
    for values, members in grouped([row for row in rows if row["seconds"]], CURVE).items():
        ordered = sorted(members, key=lambda row: row["length_bytes"])
        lengths = [row["length_bytes"] for row in ordered]
        numbers = sorted({number for row in ordered for number in row["rounds"]})
        result = fit(lengths, _table(ordered, numbers), seed) if len(lengths) > 1 else None
        if result is not None:
            medians = [row["seconds"] for row in ordered]
            found.append(dict(zip(CURVE, values, strict=True)) | _fit_entry(result, lengths, medians))
    return found


def _table(rows: Sequence[Mapping[str, Any]], numbers: Sequence[int]) -> Numbers:
    """Seconds of rounds × rows; NaN where a round has none."""
    table = np.full((len(numbers), len(rows)), np.nan)
    for column, row in enumerate(rows):
        for number, seconds in zip(row["rounds"], row["all_seconds"], strict=True):
            table[numbers.index(number), column] = seconds
    return table


def _fit_entry(result: Fit, lengths: Sequence[int], medians: Sequence[float]) -> dict[str, Any]:
    return {
        "lengths_bytes": list(lengths),
        "hockney": result.line,
        "half_performance_bytes": result.half_length,
        "half_of_best_bytes": half_of_best(lengths, medians),
        "best_bytes_per_second": max(n / t for n, t in zip(lengths, medians, strict=True)),
        "segments": result.segments,
        "breaks_bytes": result.breaks,
    }


def choices_of(rows: Sequence[Mapping[str, Any]], seed: int) -> list[dict[str, Any]]:
    """Which protocol and algorithm is the fastest at each length, where one differs from all others, and else those
    that are as good; how often another one would have the least median, were all measured again."""
    found = []
    for values, members in grouped([row for row in rows if row["seconds"]], (*CHOICE, "length_bytes")).items():
        if len(members) > 1:
            found.append(dict(zip((*CHOICE, "length_bytes"), values, strict=True)) | _choice(members, seed))
    first = {tuple(choice[key] for key in CHOICE): number for number, choice in reversed(list(enumerate(found)))}
    return sorted(found, key=lambda choice: (first[tuple(choice[key] for key in CHOICE)], choice["length_bytes"]))


def _choice(rows: Sequence[Mapping[str, Any]], seed: int) -> dict[str, Any]:
    by_way = {way_of(row): row for row in rows}
    best = leader_of(rows, seed)
    top = by_way[best.setting]
    last = max(by_way, key=lambda name: by_way[name]["seconds"])
    differs = last != best.setting and last not in best.as_good
    times = ratio(_by_round(by_way[last]), _by_round(top)) if differs else None
    low, high = ends(times) if times else (None, None)
    return {
        "best": best.setting if best.fastest else None,
        "as_good": [best.setting, *best.as_good],
        "seconds": top["seconds"],
        "others_share": best.others,
        "rounds": best.rounds,
        "rounds_needed": best.rounds_needed,
        "slowest": last if times else None,
        "slowest_ratio": times.median if times else None,
        "slowest_ratio_low": low,
        "slowest_ratio_high": high,
    }


def leader_of(rows: Sequence[Mapping[str, Any]], seed: int) -> Leader[str]:
    """Of rows that differ in their way alone, the one with the least median and those that are as good."""
    return leader({way_of(row): _by_round(row) for row in rows}, seed)


def _by_round(row: Mapping[str, Any]) -> ByRound:
    return {
        number: seconds
        for number, seconds in zip(row["rounds"], row["all_seconds"], strict=True)
        if seconds is not None and np.isfinite(seconds)
    }


def way_of(row: Mapping[str, Any]) -> str:
    """Protocol and algorithm."""
    return str(row["protocol"]) + (f" ({row['algorithm']})" if row["algorithm"] else "")


def contention_of(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What all pairs together move, against as many times one pair alone, where both were measured."""
    keys = ("pattern", "protocol", "direction", "packet_bytes", "buffers", "class", "distance", "length_bytes")
    found = []
    for values, members in grouped([row for row in rows if row["pairs"] and row["seconds"]], keys).items():
        alone = next((row for row in members if row["pairs"] == 1), None)
        for row in members:
            if alone is not None and row["pairs"] > 1:
                share = ratio(_by_round(alone), _by_round(row))
                low, high = ends(share) if share else (None, None)
                found.append(
                    dict(zip(keys, values, strict=True))
                    | {
                        "pairs": row["pairs"],
                        "aggregate_bytes_per_second": row["aggregate_bytes_per_second"],
                        "alone_bytes_per_second": alone["aggregate_bytes_per_second"],
                        "efficiency": share.median if share else None,
                        "efficiency_low": low,
                        "efficiency_high": high,
                    }
                )
    return found
