"""Heading and panels of a profile: findings, functions, sizes, matrix, time windows, ranks.

The module satisfies RecordPanels (runs/application.py).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fathometer.base import formatting
from fathometer.base.errors import shortened
from fathometer.lab.profile.headline import headline
from fathometer.lab.profile.shares import (
    SMALL_BYTES,
    SMALL_TEXT,
    imbalance,
    mpi_seconds,
    mpi_share,
    share_of_time,
    small_share,
    thread_seconds,
    total_bytes,
    user_seconds,
)
from fathometer.runs.application import Heading, Panel

FUNCTIONS = "Functions of MPI, by the time of all ranks"
LONGEST_NAME = 60  # letters of a function of the program
MOST_ROWS = 24  # of a table
MOST_RANKS = 128  # of a matrix that is drawn rank by rank; beyond, groups of ranks
COLOURS = {  # Okabe & Ito 2008, by kind of function
    "point-to-point": "#0072b2",
    "collective": "#e69f00",
    "one-sided": "#cc79a7",
    "file": "#009e73",
}
NAMES = {"messages": "messages", "puts": "one-sided: put", "gets": "one-sided: got"}


def heading(record: Mapping[str, Any]) -> Heading:
    """Command, MPI, ranks, share of MPI, data."""
    results = record["results"]
    share, mpi, user = mpi_share(results), mpi_seconds(results), user_seconds(results)
    words = record["input"]["command"]
    profiled = shlex.join(words) or results["program"]
    if record["input"].get("arguments_hidden"):
        profiled += " (its arguments are hidden)"
    facts = [("Profiled", profiled), ("MPI", results["mpi"])]
    hosts = results["hosts"]
    where = f" on {len(hosts)} {'host' if len(hosts) == 1 else 'hosts'}" if hosts else ""
    there = len(results["ranks"])
    part = f"; all numbers are of the {there} whose files can be read" if there < results["size"] else ""
    facts.append(("Ranks", f"{results['size']}{where}{part}"))
    if share is not None and mpi is not None:
        text = f"{formatting.percent(share)} of the ranks' time, {formatting.seconds(mpi)} a rank on the mean"
        if user:
            text += f"; MPI over user time {formatting.digits(mpi / user)}"
        facts.append(("In MPI", text))
        facts.append(("Load imbalance", f"{imbalance(results):.2f}, longest over mean time outside of MPI"))
    data = total_bytes(results)
    facts.append(
        (
            "Data",
            f"{formatting.scaled(data, 'B')} handed over, "
            f"{formatting.scaled(data / len(results['ranks']), 'B')} a rank on the mean",
        )
    )
    small = small_share(results)
    if small is not None:
        facts.append((f"Below {SMALL_TEXT}", f"{formatting.percent(small)} of the calls with bytes, but for files"))
    subject = Path(words[-1]).name if len(words) == 1 else ""
    return Heading("Profile of an MPI program", subject, facts, kernel=False, finding=headline(results))


def panels(record: Mapping[str, Any], path: Path) -> list[Panel]:
    """All panels of a profile; those without rows are left out."""
    results = record["results"]
    drawn: list[Panel | None] = [
        _findings(results["findings"]),
        _functions(results),
        _sizes(results["sizes"]),
        *(_matrix(results, name) for name in NAMES),
        *_windows(results["windows"]),
        _communicators(results["communicators"]),
        _sites(results["sites"]),
        _files(results["files"]),
        _ranks(results["ranks"]),
        _own(results.get("own_account"), results),
        _system(results["ranks"]),
    ]
    return [panel for panel in drawn if panel is not None]


def _table(title: str, columns: Sequence[tuple[str, str, str]], rows: Sequence[Mapping[str, Any]]) -> Panel | None:
    if not rows:
        return None
    shown = title if len(rows) <= MOST_ROWS else f"{title}: the first {MOST_ROWS} of {len(rows)}"
    return {
        "kind": "table",
        "title": shown,
        "columns": list(columns),
        "rows": [[row[key] for key, _, _ in columns] for row in rows[:MOST_ROWS]],
    }


def _findings(rows: Sequence[Mapping[str, Any]]) -> Panel | None:
    if not rows:
        return None
    points = [f"{row['what']}. It means: {row['means']}. To try: {row['attempt']}." for row in rows]
    return {"kind": "points of text", "title": "What costs most, and what to try", "points": points}


def _functions(results: Mapping[str, Any]) -> Panel | None:
    rows = [
        row
        | {
            "share": share_of_time(row, results),
            "thread_seconds": thread_seconds(row),
            "each": row["seconds"] / row["calls"],
            "imbalance": row["most_seconds"] / row["mean_seconds"] if row["mean_seconds"] else 1.0,
            "size": max(row["bytes_out"], row["bytes_in"]) / row["calls"],
            "waiting_seconds": row["waiting_seconds"] or None,
            "each_text": formatting.short_seconds(row["seconds"] / row["calls"]),
        }
        for row in results["functions"]
    ]
    # The ranks' time is that of the threads that called MPI_Init.
    threads = any(rank.get("threads", 1) > 1 for rank in results["ranks"])
    own = (("thread_seconds", "of it in first threads", "seconds"),) if threads else ()
    waiting = (("waiting_seconds", "of it waiting", "seconds"),) if "wait" in results["options"] else ()
    columns = (
        ("name", "function", ""),
        ("kind", "kind", ""),
        ("calls", "calls", "count"),
        ("seconds", "all ranks", "seconds"),
        *own,
        ("share", "share", "share"),
        *waiting,
        ("mean_seconds", "a rank", "seconds"),
        ("imbalance", "imbalance", "ratio"),
        ("each_text", "a call", ""),
        ("bytes_out", "handed over", "bytes"),
        ("bytes_in", "taken in", "bytes"),
        ("size", "mean size", "bytes"),
    )
    return _table(FUNCTIONS, columns, rows)


def _sizes(rows: Sequence[Mapping[str, Any]]) -> Panel | None:
    if not rows:
        return None
    least = sorted({row["least_bytes"] for row in rows})
    places = [2**n for n in range(least[0].bit_length() - 1, least[-1].bit_length())]
    series = []
    for kind, colour in COLOURS.items():
        counts = [
            sum(row["calls"] for row in rows if row["kind"] == kind and row["least_bytes"] == at) for at in places
        ]
        if any(counts):
            series.append({"name": kind, "colour": colour, "values": counts})
    return {
        "kind": "columns",
        "name": "sizes",
        "title": "Calls by size",
        "caption": "By powers of two, from the size below a column to just under the next one. The size of a call is "
        "what the rank hands over in it, or takes in where it hands over nothing; of an all-to-all that is what goes "
        "to all ranks together.",
        "axis": "bytes of a call",
        "label": "calls",
        "places": [formatting.length_in_words(at) for at in places],
        "series": series,
        "mark": formatting.length_in_words(SMALL_BYTES) if SMALL_BYTES in places else None,
    }


def _matrix(results: Mapping[str, Any], name: str) -> Panel | None:
    """Bytes from each rank to each other, of groups of ranks where there are very many."""
    sparse, size = results["matrix"][name], results["size"]
    pairs = [pair for pair in zip(sparse["rank"], sparse["peer"], sparse["messages"], sparse["bytes"], strict=True)]
    beyond = [pair for pair in pairs if not 0 <= pair[1] < size]
    pairs = [pair for pair in pairs if 0 <= pair[1] < size]
    if not pairs:
        return None
    group = -(-size // MOST_RANKS)
    number = -(-size // group)
    cells: list[list[int | None]] = [[None] * number for _ in range(number)]
    texts = [[""] * number for _ in range(number)]
    counts = [[0] * number for _ in range(number)]
    for rank, peer, messages, size_of in pairs:
        row, column = rank // group, peer // group
        cells[row][column] = (cells[row][column] or 0) + size_of
        counts[row][column] += messages
    for row in range(number):
        for column in range(number):
            if cells[row][column] is not None:
                moved = formatting.scaled(cells[row][column], "B")
                texts[row][column] = f"{formatting.count(counts[row][column])} in number, {moved}"
    together = f" {group} ranks together in a row." if group > 1 else ""
    missing = size - len(results["ranks"])
    if missing:
        together += f" What {missing} {'ranks' if missing > 1 else 'rank'} sent is not known."
    if beyond:
        number_of, moved = sum(pair[2] for pair in beyond), formatting.scaled(sum(pair[3] for pair in beyond), "B")
        together += (
            f" Not in it: {formatting.count(number_of)} of {moved} with ranks outside of the world, or too many to "
        )
        together += "tell apart."
    counted = "by the rank that gets them" if name == "gets" else "where they are sent"
    from_to = ("from rank", "to rank") if name != "gets" else ("rank", "from rank")
    return {
        "kind": "cells",
        "name": f"matrix-{name}",
        "title": f"Bytes between ranks: {NAMES[name]}",
        "caption": f"Counted {counted}, ranks as in the world.{together} White: none. What a collective call "
        "sends within MPI is not in it.",
        "axes": [from_to[1], from_to[0]],
        "places": [str(group * n) for n in range(number)],
        "cells": cells,
        "texts": texts,
        "label": "B",
    }


def _windows(windows: Mapping[str, Any] | None) -> list[Panel]:
    if windows is None:
        return []
    width = windows["width_seconds"]
    times = [(n + 0.5) * width for n in range(len(windows["bytes"]))]
    shown = [
        ("messages", "Messages over time", "messages a second", "messages"),
        ("bytes", "Bytes of messages over time", "bytes a second", "bytes"),
        ("mpi_seconds", "Ranks in MPI over time", "ranks, on the mean", "mpi_seconds"),
    ]
    return [
        {
            "kind": "course",
            "name": f"windows-{name}",
            "title": title,
            "caption": f"Of all ranks, in windows of {formatting.short_seconds(width)}, from the end of MPI_Init on"
            + ("." if name == "mpi_seconds" else "; messages between pairs of ranks and one-sided ones."),
            "axis": "seconds",
            "label": label,
            "times": times,
            "values": [value / width for value in windows[key]],
        }
        for name, title, label, key in shown
        if any(windows[key])
    ]


def _communicators(rows: Sequence[Mapping[str, Any]]) -> Panel | None:
    named = [
        dict(row) | {"name": row["name"] or "(without name)", "what": "window" if row["window"] else ""} for row in rows
    ]
    columns = (
        ("name", "communicator", ""),
        ("what", "", ""),
        ("size", "ranks in it", "count"),
        ("ranks", "ranks that call", "count"),
        ("calls", "calls", "count"),
        ("seconds", "all ranks", "seconds"),
        ("bytes_out", "handed over", "bytes"),
        ("bytes_in", "taken in", "bytes"),
    )
    return _table("Communicators", columns, named)


def _sites(rows: Sequence[Mapping[str, Any]]) -> Panel | None:
    shown = [
        dict(row)
        | {
            "where": shortened(row["symbol"], LONGEST_NAME) or f"+0x{row['offset']:x}",
            "module": Path(row["module"]).name,
            "line": row.get("line") or "",
        }
        for row in rows
    ]
    columns = (
        ("where", "called in", ""),
        ("line", "line", ""),
        ("module", "of", ""),
        ("name", "function", ""),
        ("calls", "calls", "count"),
        ("seconds", "all ranks", "seconds"),
        ("bytes_out", "handed over", "bytes"),
    )
    return _table("Places of the program", columns, shown)


def _files(rows: Sequence[Mapping[str, Any]]) -> Panel | None:
    columns = (
        ("name", "file", ""),
        ("ranks", "ranks", "count"),
        ("calls", "calls", "count"),
        ("seconds", "all ranks", "seconds"),
        ("written_bytes", "written", "bytes"),
        ("read_bytes", "read", "bytes"),
    )
    return _table("Files of MPI-IO", columns, rows)


def _ranks(rows: Sequence[Mapping[str, Any]]) -> Panel | None:
    several = any(row.get("threads", 1) > 1 for row in rows)
    columns = (
        ("rank", "rank", "count"),
        ("host", "host", ""),
        ("wall_seconds", "time", "seconds"),
        ("user_seconds", "outside of MPI", "seconds"),
        ("mpi_seconds", "in MPI", "seconds"),
        *((("other_threads_mpi_seconds", "other threads in MPI", "seconds"),) if several else ()),
        ("messages", "messages", "count"),
        ("message_bytes", "bytes of these", "bytes"),
        ("bytes_out", "handed over", "bytes"),
        ("bytes_in", "taken in", "bytes"),
        ("end", "end", ""),
    )
    return _table("Ranks", columns, rows)


def _own(own: Mapping[str, Any] | None, results: Mapping[str, Any]) -> Panel | None:
    """Of a run of this program: its own account of the same ranks."""
    if own is None:
        return None
    outside = {rank["rank"]: rank for rank in results["ranks"]}
    rows = [rank | {"mpi_seconds": outside.get(rank["rank"], {}).get("mpi_seconds")} for rank in own["ranks"]]
    columns = (
        ("rank", "rank", "count"),
        ("wall_seconds", "its own account: time", "seconds"),
        ("compute_seconds", "compute", "seconds"),
        ("communication_seconds", "communication", "seconds"),
        ("idle_seconds", "idle", "seconds"),
        ("io_seconds", "io", "seconds"),
        ("mpi_seconds", "this profile: in MPI", "seconds"),
    )
    sent = sum(results["matrix"]["messages"]["bytes"])
    title = "The program's own account beside the profile"
    if own["halo_bytes"]:
        halos = formatting.scaled(own["halo_bytes"], "B")
        title += f" (halos of {halos} by its own account, messages of {formatting.scaled(sent, 'B')} by the profile)"
    return _table(title, columns, rows)


def _system(rows: Sequence[Mapping[str, Any]]) -> Panel | None:
    if any(row["system"] is None for row in rows):
        return None
    columns = [
        ("rank", "rank", "count"),
        ("cpu_user_seconds", "cpu, program", "seconds"),
        ("cpu_system_seconds", "cpu, system", "seconds"),
        ("minor_faults", "page faults", "count"),
        ("major_faults", "from disk", "count"),
        ("involuntary_switches", "times displaced", "count"),
        ("peak_memory_bytes", "peak memory", "bytes"),
        ("read_bytes", "read", "bytes"),
        ("written_bytes", "written", "bytes"),
    ]
    shown = [{"rank": row["rank"]} | row["system"] | (row["system"]["counters"] or {}) for row in rows]
    if all(row["system"]["counters"] for row in rows):
        columns += [
            ("cycles", "cycles", "count"),
            ("instructions", "instructions", "count"),
            ("cache_misses", "cache misses", "count"),
        ]
    return _table("What the system counted, of each rank", columns, shown)
