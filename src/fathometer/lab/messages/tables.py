"""Tables of a record of `fathometer messages` for people, line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fathometer.lab.messages.rows import CHOICE, grouped, way_of

MOST_NAMED = 3  # of those that are as good as the best


def short_length(size: float) -> str:
    """8 B, 4 KiB, 16 MiB."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size:.4g} B"


def short_seconds(seconds: float | None) -> str:
    """Three digits in ns, µs, ms or s."""
    if seconds is None:
        return "-"
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= factor:
            return f"{_three(seconds / factor)} {unit}"
    return f"{_three(seconds * 1e9)} ns"


def ends_text(low: float | None, high: float | None) -> str:
    """The interval of some seconds; nothing of too few values."""
    return "" if low is None or high is None else f"({short_seconds(low)} to {short_seconds(high)})"


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
    return f"{seconds * 1e9:.3g} ns/B" if per_byte else short_seconds(seconds)


def short_rate(rate: float | None) -> str:
    """Three digits in MB/s."""
    return "-" if rate is None else f"{_three(rate / 1e6)} MB/s"


def _three(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def title_of(row: Mapping[str, Any]) -> str:
    """What rows have in common that are in one table: pattern, direction, packets, buffers, place, timing."""
    parts = [row["pattern"] + (" one way" if row["direction"] == "one" else "")]
    parts += [f"packets of {short_length(row['packet_bytes'])}" if row["packet_bytes"] else ""]
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
        f"{short_seconds(clock['resolution_seconds'])}, a reading {short_seconds(clock['cost_seconds'])}",
    ]
    for members in grouped(results["rows"], CHOICE).values():
        text += ["", f"{title_of(members[0])}:", *_rows(members)]
        if members[0]["timing"] == "window":
            error = max(row["clock_error_seconds"] or 0.0 for row in members)
            late = max(row["late_share"] or 0.0 for row in members)
            text.append(f"  clocks agree to {short_seconds(error)}; {late:.0%} of the times were missed, at most")
    text += _fits(results["curves"]) + _choices(results["choices"])
    text += _limits(results) + _contention(results["contention"])
    return text + [f"note: {note}" for note in results["notes"]]


def _rows(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    wide = max(len(way_of(row)) for row in rows) + 2
    text = [
        f"  {'protocol':<{wide}}{'length':>9} {'least':>9} {'median':>9}   {'(interval)':<21} {'99 % of single':>14} "
        f"{'a pair':>11} {'all':>11}  n"
    ]
    for row in rows:
        ends = ends_text(row["ci_low"], row["ci_high"])
        wrong = f"  WRONG: {row['wrong_bytes']} bytes" if row["wrong_bytes"] else ""
        text.append(
            f"  {way_of(row):<{wide}}{short_length(row['length_bytes']):>9} {short_seconds(row['seconds_min']):>9} "
            f"{short_seconds(row['seconds']):>9}   {ends:<21} {short_seconds(row['seconds_p99']):>14} "
            f"{short_rate(row['pair_bytes_per_second']):>11} {short_rate(row['aggregate_bytes_per_second']):>11}  "
            f"{row['samples']}{wrong}"
        )
    return text


def _fits(curves: Sequence[Mapping[str, Any]]) -> list[str]:
    """Latency, rate and half-performance length of each curve, and where it breaks."""
    if not curves:
        return []
    names = [f"{title_of(curve)}, {way_of(curve)}" for curve in curves]
    wide = max(map(len, names)) + 2
    text = ["", "latency + length / rate, fitted to the medians:"]
    text.append(
        f"  {'':<{wide}}{'latency':>9} {'(interval)':<21} {'rate':>11} {'n1/2':>10} {'misfit':>7}  breaks between"
    )
    for name, curve in zip(names, curves, strict=True):
        line = curve["hockney"]
        low, high = (line["latency_seconds"][key] for key in ("low", "high"))
        breaks = ", ".join(f"{short_length(a)} and {short_length(b)}" for a, b in curve["breaks_bytes"])
        text.append(
            f"  {name:<{wide}}{short_seconds(_value(line['latency_seconds'])):>9} {ends_text(low, high):<21} "
            f"{short_rate(_value(line['bytes_per_second'])):>11} "
            f"{short_length(_value(curve['half_performance_bytes']) or 0):>10} {line['misfit']:>7.0%}  {breaks}"
        )
    return text


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
        text += [
            f"  {short_length(choice['length_bytes']):>9} {short_seconds(choice['seconds']):>9}   {choice_text(choice)}"
            for choice in members
        ]
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
