"""Tables of one record, and of several compared with the first; as Markdown for people or CSV for programs.

A table is rows of plain values. Of a record: figures of merit, phases, files, ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fathometer.base import formatting, text_tables
from fathometer.record.ranks import spread

Value = str | float | int | None
SMALL = 1e-3  # of the wall time: shorter entries are added up on the page


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        key: its name in CSV, with the SI unit. title: its name for people.
        unit: "" for text, else as in a record's figures, or share, count, ratio, points (10^9 cells a second), mixed.
    """

    key: str
    title: str
    unit: str = ""


@dataclass(frozen=True)
class Table:
    """Columns, and rows of as many values. Values of a column "mixed" are in the unit that the row's `unit` names."""

    title: str
    columns: tuple[Column, ...]
    rows: list[list[Value]]


def text(value: Value, unit: str) -> str:
    """One value as people read it."""
    if isinstance(value, str) or value is None:
        return formatting.NONE if value is None else value
    match unit:
        case "share":
            return formatting.percent(value)
        case "count":
            return formatting.count(value)
        case "ratio":
            return f"{value:.2f}"
        case "points":  # whose unit stands in the head
            return formatting.digits(value / 1e9)
        case "bytes" if value == 0:
            return formatting.NONE
        case _:
            return formatting.quantity(value, unit)


PHASES = (
    Column("phase", "phase"),
    Column("category", "category"),
    Column("mean_seconds", "mean", "seconds"),
    Column("share", "share", "share"),
    Column("max_seconds", "longest", "seconds"),
    Column("max_rank", "on rank", "count"),
    Column("imbalance", "imbalance", "ratio"),
    Column("calls", "calls", "count"),
    Column("bytes", "moved", "bytes"),
    Column("bytes_per_second", "rate", "bytes_per_second"),
    Column("points_per_second", "10⁹ points/s", "points"),
)


def phases(ledger: dict[str, Any], entries: str = "phases") -> Table:
    """Each phase and category, the longest first. mean and share: over the ranks; bytes, points: of all ranks, over the
    seconds of the rank that took longest."""
    wall = ledger["wall_seconds"]["mean"]
    rows: list[list[Value]] = []
    for entry in sorted(ledger[entries], key=lambda entry: -float(entry["seconds"]["mean"])):
        spent = entry["seconds"]
        rows.append(
            [
                entry["phase"],
                entry["category"],
                spent["mean"],
                spent["mean"] / wall if wall else 0.0,
                spent["max"],
                spent["max_rank"],
                spent["imbalance"],
                entry["calls"]["max"],
                entry["total_bytes"],
                # Bytes that a computation counts, such as those of a snapshot, took time in other phases.
                None if entry["category"] == "compute" else _over(entry["total_bytes"], spent["max"]),
                _over(entry["total_points"], spent["max"]),
            ]
        )
    return Table("Phases", PHASES, rows)


def shortened(table: Table) -> Table:
    """The table of phases with the entries below SMALL in one row."""
    large = [row for row in table.rows if _number(row[3]) >= SMALL]
    small = [row for row in table.rows if _number(row[3]) < SMALL]
    if len(small) < 2:
        return table
    mean, share = (sum(_number(row[n]) for row in small) for n in (2, 3))
    rest: list[Value] = [f"{len(small)} shorter entries", "", mean, share, *[None] * (len(PHASES) - 4)]
    return Table(table.title, table.columns, [*large, rest])


def figures(record: dict[str, Any]) -> Table:
    """The figures of merit and what explains them."""
    columns = (
        Column("figure", "figure"),
        Column("value", "value", "mixed"),
        Column("unit", "unit"),
        Column("direction", "better"),
        Column("role", "role"),
    )
    rows: list[list[Value]] = [
        [figure["name"], figure["value"], figure["unit"], figure["direction"], figure["role"]]
        for figure in record["figures"]
    ]
    return Table("Figures", columns, rows)


def files(ledger: dict[str, Any]) -> Table:
    """What each kind of file took, from open to close."""
    columns = (
        Column("kind", "files"),
        Column("direction", "direction"),
        Column("bytes", "bytes", "bytes"),
        Column("overlap_bytes", "of these twice", "bytes"),
        Column("calls", "opened", "count"),
        Column("seconds", "open to close", "seconds"),
        Column("flush_seconds", "of these flushing", "seconds"),
        Column("bytes_per_second", "rate", "bytes_per_second"),
    )
    rows: list[list[Value]] = [[file[column.key] for column in columns] for file in ledger["files"]]
    return Table("Files", columns, sorted(rows, key=lambda row: -_number(row[5])))


def compression(ledger: dict[str, Any]) -> Table:
    """What compression took, saved and lost, of each kind of file that is compressed."""
    columns = (
        Column("kind", "files"),
        Column("plain_bytes", "before", "bytes"),
        Column("stored_bytes", "stored", "bytes"),
        Column("ratio", "ratio", "ratio"),
        Column("compress_seconds", "compressing", "seconds"),
        Column("write_seconds", "writing", "seconds"),
        Column("equivalent_bytes_per_second", "equivalent rate", "bytes_per_second"),
        Column("without_transform_bytes_per_second", "without compressing", "bytes_per_second"),
        Column("rms_error", "rms error", "mixed"),
        Column("largest_error", "largest error", "mixed"),
    )
    rows: list[list[Value]] = [
        [{"kind": file["kind"], **file["compression"]}[column.key] for column in columns]
        for file in ledger["files"]
        if "compression" in file
    ]
    return Table("Compression", columns, rows)


def ranks(record: dict[str, Any]) -> Table:
    """What differs from rank to rank: seconds of the categories, memory."""
    ledger = record["ledger"]
    columns = (
        Column("quantity", "over the ranks"),
        Column("unit", "unit"),
        Column("min", "least", "mixed"),
        Column("mean", "mean", "mixed"),
        Column("max", "most", "mixed"),
        Column("max_rank", "on rank", "count"),
        Column("imbalance", "imbalance", "ratio"),
    )
    spreads = {"wall time": (ledger["wall_seconds"], "seconds")}
    spreads |= {name: (found, "seconds") for name, found in ledger["categories"].items()}
    for title, key, unit in (
        ("peak memory", "peak_memory_bytes", "bytes"),
        ("processor, user", "cpu_user_seconds", "seconds"),
        ("processor, system", "cpu_system_seconds", "seconds"),
    ):
        values = [rank["usage"].get(key) for rank in ledger["ranks"]]
        if values and all(value is not None for value in values):
            found = spread(values)
            spreads[title] = found | {"max_rank": ledger["ranks"][found["max_rank"]]["rank"]}, unit
    rows: list[list[Value]] = [
        [title, unit, *(found[key] for key in ("min", "mean", "max", "max_rank", "imbalance"))]
        for title, (found, unit) in spreads.items()
    ]
    return Table("Ranks", columns, rows)


def phase_seconds(ledger: dict[str, Any]) -> dict[str, float]:
    """Seconds of each phase, all categories together, on the rank that spent most in it; in order of occurrence."""
    names = dict.fromkeys(entry["phase"] for entry in ledger["phases"])
    return {name: max(sum(rank["phases"].get(name, {}).values()) for rank in ledger["ranks"]) for name in names}


def compare_phases(records: Sequence[dict[str, Any]], names: Sequence[str]) -> Table:
    """Seconds of each phase (slowest rank) in each record, and the speed-up base / this over the first one; the base's
    longest first, the whole wall time on top."""
    spent = [phase_seconds(record["ledger"]) for record in records]
    rows = [_compared("wall time", [record["ledger"]["wall_seconds"]["max"] for record in records], "lower")]
    for name in sorted(
        dict.fromkeys(name for seconds in spent for name in seconds), key=lambda name: -spent[0].get(name, 0.0)
    ):
        rows.append(_compared(name, [seconds.get(name) for seconds in spent], "lower"))
    return Table("Seconds of each phase, slowest rank", _columns("phase", names, "seconds"), rows)


def compare_figures(records: Sequence[dict[str, Any]], names: Sequence[str]) -> Table:
    """The figures of the first record in each; the speed-up is above 1 where a record is better than the first, by the
    figure's direction, and missing for a figure without one."""
    tables = [{figure["name"]: figure for figure in record["figures"]} for record in records]
    rows: list[list[Value]] = []
    for name, base in tables[0].items():
        same = [table.get(name) for table in tables]
        values = [figure["value"] if figure is not None and figure["unit"] == base["unit"] else None for figure in same]
        row = _compared(name, values, base["direction"])
        rows.append([row[0], base["unit"], *row[1:]])
    columns = _columns("figure", names, "mixed")
    return Table("Figures", (columns[0], Column("unit", "unit"), *columns[1:]), rows)


def _columns(what: str, names: Sequence[str], unit: str) -> tuple[Column, ...]:
    key = "seconds" if unit == "seconds" else "value"
    values = tuple(
        Column(f"{name}_{key}", f"{name} (base)" if number == 0 else name, unit) for number, name in enumerate(names)
    )
    return (
        Column(what, what),
        *values,
        *(Column(f"{name}_speedup", f"speed-up, {name}", "ratio") for name in names[1:]),
    )


def _compared(name: str, values: Sequence[float | None], direction: str) -> list[Value]:
    base = values[0]
    ratios: list[Value] = []
    for value in values[1:]:
        if direction == "none" or not base or not value:
            ratios.append(None)
        else:
            ratios.append(base / value if direction == "lower" else value / base)
    return [name, *values, *ratios]


def _over(amount: float, seconds: float) -> float | None:
    return amount / seconds if amount and seconds else None


def _number(value: Value) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def readable(table: Table) -> tuple[list[Column], list[list[str]]]:
    """Columns and rows as people read them: each value with its unit, so that a column of units is not needed."""
    place = next((n for n, column in enumerate(table.columns) if column.key == "unit"), None)
    shown = []
    for row in table.rows:
        own = str(row[place]) if place is not None else ""
        shown.append(
            [
                text(value, own if column.unit == "mixed" else column.unit)
                for number, (value, column) in enumerate(zip(row, table.columns, strict=True))
                if number != place
            ]
        )
    return [column for number, column in enumerate(table.columns) if number != place], shown


def markdown(tables: Sequence[Table]) -> str:
    """Tables below each other, each under its title."""
    parts = []
    for table in tables:
        columns, rows = readable(table)
        heads, numbers = [column.title for column in columns], [bool(column.unit) for column in columns]
        lines = text_tables.markdown_lines(heads, numbers, rows)
        parts.append(f"## {table.title}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def comma_separated(tables: Sequence[Table]) -> str:
    """Tables below each other, an empty line between; numbers in SI units with all their digits."""
    heads = [[column.key for column in table.columns] for table in tables]
    return "\n".join(text_tables.comma_separated(head, table.rows) for head, table in zip(heads, tables, strict=True))
