"""Tables of a record of `fathometer messages` for people, line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fathometer.base.formatting import length_in_words, rate_in_words, time_in_words
from fathometer.base.text_tables import TextColumn, aligned
from fathometer.lab.messages.rows import CHOICE, grouped, way_of

MOST_NAMED = 3  # of those that are as good as the best
ROWS = (
    TextColumn("protocol", gap=0),
    TextColumn("length", right=True, least=9, gap=2),
    TextColumn("least", right=True, least=9),
    TextColumn("median", right=True, least=9),
    TextColumn("(interval)", least=21, gap=3),
    TextColumn("99 % of single", right=True),
    TextColumn("a pair", right=True, least=11),
    TextColumn("all", right=True, least=11),
    TextColumn("n", gap=2),
)
FITS = (
    TextColumn(gap=0),
    TextColumn("latency", right=True, least=9, gap=2),
    TextColumn("(interval)", least=21),
    TextColumn("rate", right=True, least=11),
    TextColumn("n1/2", right=True, least=10),
    TextColumn("misfit", right=True, least=7),
    TextColumn("breaks between", gap=2),
)
CHOICES = (TextColumn(right=True, least=9, gap=0), TextColumn(right=True, least=9), TextColumn(gap=3))


def seconds_text(seconds: float | None) -> str:
    """A time in the unit that fits; "-" for none."""
    return "-" if seconds is None else time_in_words(seconds)


def ends_text(low: float | None, high: float | None) -> str:
    """The interval of some seconds; nothing of too few values."""
    return "" if low is None or high is None else f"({seconds_text(low)} to {seconds_text(high)})"


def loggp_text(fit: Mapping[str, Any]) -> str:
    """LogGP's parameters with their intervals; of those that cannot be told from zero, below what they are."""
    names = {"L": "latency_seconds", "o": "overhead_seconds", "g": "gap_seconds", "G": "gap_seconds_per_byte"}
    parts = [f"{name} {_parameter_text(fit[key], name == 'G')}" for name, key in names.items()]
    return f"{', '.join(parts)}; n = {fit['rounds']}"


def _parameter_text(entry: Mapping[str, Any], per_byte: bool) -> str:
    value, low, high = entry["value"], entry["low"], entry["high"]
    if value is None:
        return "not resolved" + (f" (below {_amount(high, per_byte)})" if high else "")
    text = _amount(value, per_byte)
    return text if low is None else f"{text} ({_amount(low, per_byte)} to {_amount(high, per_byte)})"


def _amount(seconds: float, per_byte: bool) -> str:
    return f"{seconds * 1e9:.3g} ns/B" if per_byte else seconds_text(seconds)


def _rate(rate: float | None) -> str:
    return "-" if rate is None else rate_in_words(rate)


def title_of(row: Mapping[str, Any]) -> str:
    """What rows have in common that are in one table: pattern, direction, packets, buffers, place, timing."""
    parts = [row["pattern"] + (" one way" if row["direction"] == "one" else "")]
    parts += [f"packets of {length_in_words(row['packet_bytes'])}" if row["packet_bytes"] else ""]
    parts += ["cold buffers" if row["buffers"] == "cold" else "", row["place"]]
    parts += ["from agreed times on" if row["timing"] == "window" else ""]
    return ", ".join(part for part in parts if part)


def table_lines(envelope: Mapping[str, Any]) -> list[str]:
    """The record as tables: of each pattern and place a line for each protocol and length; fits; what is fastest."""
    results = envelope["results"]
    clock = results["clock"]
    text = [
        f"{results['mpi']}, threads: {results['thread_level']}",
        f"{envelope['machine']['ranks']} ranks on {len(set(results['hosts']))} host(s); clock: "
        f"{seconds_text(clock['resolution_seconds'])}, a reading {seconds_text(clock['cost_seconds'])}",
    ]
    for members in grouped(results["rows"], CHOICE).values():
        text += ["", f"{title_of(members[0])}:", *_rows(members)]
        if members[0]["timing"] == "window":
            error = max(row["clock_error_seconds"] or 0.0 for row in members)
            late = max(row["late_share"] or 0.0 for row in members)
            text.append(f"  clocks agree to {seconds_text(error)}; {late:.0%} of the times were missed, at most")
    text += _fits(results["curves"]) + _choices(results["choices"])
    text += _limits(results) + _contention(results["contention"])
    return text + [f"note: {note}" for note in results["notes"]]


def _rows(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    text = []
    for row in rows:
        wrong = f"  WRONG: {row['wrong_bytes']} bytes" if row["wrong_bytes"] else ""
        text.append(
            [
                way_of(row),
                length_in_words(row["length_bytes"]),
                seconds_text(row["seconds_min"]),
                seconds_text(row["seconds"]),
                ends_text(row["ci_low"], row["ci_high"]),
                seconds_text(row["seconds_p99"]),
                _rate(row["pair_bytes_per_second"]),
                _rate(row["aggregate_bytes_per_second"]),
                f"{row['samples']}{wrong}",
            ]
        )
    return aligned(ROWS, text, "  ")


def _fits(curves: Sequence[Mapping[str, Any]]) -> list[str]:
    """Latency, rate and half-performance length of each curve, and where it breaks."""
    if not curves:
        return []
    rows = []
    for curve in curves:
        line = curve["hockney"]
        low, high = (line["latency_seconds"][key] for key in ("low", "high"))
        rows.append(
            [
                f"{title_of(curve)}, {way_of(curve)}",
                seconds_text(_value(line["latency_seconds"])),
                ends_text(low, high),
                _rate(_value(line["bytes_per_second"])),
                length_in_words(_value(curve["half_performance_bytes"]) or 0),
                f"{line['misfit']:.0%}",
                ", ".join(f"{length_in_words(a)} and {length_in_words(b)}" for a, b in curve["breaks_bytes"]),
            ]
        )
    return ["", "latency + length / rate, fitted to the medians:", *aligned(FITS, rows, "  ")]


def _value(entry: Mapping[str, Any]) -> float | None:
    value: float | None = entry["value"]
    return value


def choice_text(choice: Mapping[str, Any]) -> str:
    """The fastest way, or those that are as good."""
    if choice["best"] is not None:
        return str(choice["best"])
    names = choice["as_good"]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    few = f" (rounds: {choice['rounds']}; needed: {choice['rounds_needed']})" if _few_rounds(choice) else ""
    return f"as good: {', '.join(names[:MOST_NAMED])}{more}{few}"


def _few_rounds(choice: Mapping[str, Any]) -> bool:
    """Whether there were too few rounds to tell any of so many ways apart."""
    return bool(choice["rounds"] < choice["rounds_needed"])


def _choices(choices: Sequence[Mapping[str, Any]]) -> list[str]:
    text: list[str] = []
    for members in grouped(choices, CHOICE).values():
        text += ["", f"the fastest, {title_of(members[0])}:"]
        rows = [
            [length_in_words(choice["length_bytes"]), seconds_text(choice["seconds"]), choice_text(choice)]
            for choice in members
        ]
        text += aligned(CHOICES, rows, "  ")
    return text


def _limits(results: Mapping[str, Any]) -> list[str]:
    text = []
    for limit in results["eager_limits"]:
        size = f"up to {limit['bytes']} B" if limit["bytes"] is not None else "in all lengths that were tried"
        text.append(f"sent eagerly, {limit['place']}: {size}")
    text += [f"LogGP, {fit['place']}: {loggp_text(fit)}" for fit in results["loggp"]]
    return ["", *text] if text else []


def _contention(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    if not entries:
        return []
    text = ["", "all pairs against one alone (1: as fast as alone):"]
    for members in grouped(entries, ("pattern", "direction", "class", "distance", "pairs", "protocol")).values():
        ratios = [entry["efficiency"] for entry in members if entry["efficiency"] is not None]
        if not ratios:
            continue
        first = members[0]
        text.append(
            f"  {first['pattern']}, {first['class']}, {first['pairs']} pairs, {first['protocol']}: "
            f"{min(ratios):.2f} to {max(ratios):.2f} over the lengths"
        )
    return text
