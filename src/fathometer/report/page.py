"""The page of one run, or of several compared: one file that needs nothing else, report.html.

The data of the figures stands in it as JSON in which no `<` occurs, so that no text can end the script that holds it;
every other text is escaped by the template. A policy in its head keeps the page from the network.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError
from fathometer.record.envelope import plain
from fathometer.report import figures, tables, words
from fathometer.report.records import Run
from fathometer.report.verdict import verdict
from fathometer.storage import atomic

Panel = dict[str, Any]
# What code meets that takes a record for what it is not.
ODD = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)
MOST_BOUND = 64  # ranks whose places are listed
HERE = Path(__file__).parent  # of page.html, page.css and page.js
NO_ROOFLINE = "The roofline is missing: the record holds no yardstick or no work of the kernel."
DRAWN = {"points": figures.places, "traces": figures.gather, "bars": figures.bars}


@dataclass(frozen=True)
class Exhibit:
    """What an application shows of a run, beside the account: a title, what it was about, facts, panels to draw.

    kernel: whether it has one, whose roofline is missed where it cannot be drawn.
    """

    title: str = ""
    subject: str = ""
    facts: Sequence[tuple[str, str]] = ()
    panels: Sequence[Panel] = field(default=())
    kernel: bool = True


def write_page(path: Path, runs: Sequence[Run], exhibit: Exhibit) -> None:
    """Write the page of the first run, with its exhibit, and before it a comparison where there are several.

    The file appears whole or not at all. Raises FathometerError that names it where it cannot be written.
    """
    # Names that are not UTF-8 hold lone surrogates.
    atomic.write(path, render(runs, exhibit).encode(errors="backslashreplace"))


def check(run: Run) -> None:
    """Raises InputError where the parts of a record that its schema leaves free hold what no run writes."""
    record = run.record
    try:
        _run(run, Exhibit())
        _account(record)
        _configuration(record)
        _compared([run, run])
        _notes(record)
    except ODD as error:
        raise InputError(f"{run.path}: damaged: {odd(error)}") from None


def odd(error: Exception) -> str:
    """Of an error of ODD, what is wrong with a record that leads to it."""
    return (
        f"machine, input or results hold what no run writes ({type(error).__name__}: {' '.join(str(error).split())}); "
        f"allowed: a record as it was written"
    )


def render(runs: Sequence[Run], exhibit: Exhibit) -> str:
    """The page's text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from plotly.offline import get_plotlyjs

    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    base = runs[0].record
    account = _account(base, exhibit.kernel)
    compared = _compared(runs) if len(runs) > 1 else None
    shown = [_panel(panel) for panel in exhibit.panels]
    drawn = [
        part["figure"] for part in [*shown, *account, *(compared["figures"] if compared else [])] if part["figure"]
    ]
    volumes = [part["volume"] for part in shown if part["volume"]]
    return environment.get_template("page.html").render(
        title=_title(runs, exhibit),
        comparing=compared,
        run=_run(runs[0], exhibit),
        panels=shown,
        account=account,
        tables=[_table(table) for table in _tables(base)],
        overlapped=_table(tables.phases(base["ledger"], "overlapped")) if base["ledger"]["overlapped"] else None,
        waits=_waits(base["ledger"]),
        configuration=_configuration(base),
        notes=_notes(base),
        validity=base["validity"],
        data=safe_json({"figures": drawn, "volumes": volumes}),
        style=(HERE / "page.css").read_text(encoding="utf-8"),
        script=(HERE / "page.js").read_text(encoding="utf-8"),
        plotly=get_plotlyjs(),
    )


def safe_json(value: Any) -> str:
    """JSON that can stand in a script: nothing in it can end the script or begin a comment."""
    text = json.dumps(plain(value), separators=(",", ":"), allow_nan=False)  # ASCII only
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _notes(record: dict[str, Any]) -> list[str]:
    return [str(note) for note in record["results"].get("notes", [])]


def _title(runs: Sequence[Run], exhibit: Exhibit) -> str:
    if len(runs) > 1:
        return f"Comparison of {len(runs)} runs"
    what = exhibit.title or runs[0].record["application"]
    return f"{what}: {exhibit.subject}" if exhibit.subject else what


def _run(run: Run, exhibit: Exhibit) -> dict[str, Any]:
    """The top of the page."""
    record = run.record
    machine, ledger = record["machine"], record["ledger"]
    sentence = verdict(record)
    hosts = list(dict.fromkeys(rank["host"] for rank in ledger["ranks"]))
    ranks = len(machine.get("binding") or ledger["ranks"])
    ranks = max(ranks, int(machine.get("ranks") or 1))
    threads = sorted({int(one.get("threads", 1)) for one in machine.get("binding") or []})
    where = hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts ({hosts[0]} …)"
    each = f", {_range(threads)} {_plural(threads[-1], 'thread')} each" if threads else ""
    facts = [("Command", " ".join(record["command"])), *exhibit.facts]
    facts.append(("Machine", f"{_plural(ranks, 'rank', True)}{each} on {where}, {machine['cpu'] or words.NONE}"))
    merits = [one for one in record["figures"] if one["role"] == "merit"]
    return {
        "title": f"{exhibit.title or record['application']}",
        "subject": exhibit.subject,
        "verdict": sentence[:1].upper() + sentence[1:] + ".",
        "facts": facts,
        "merits": [(one["name"], _merit(one)) for one in merits],
        "finished": run.finished,
        "path": str(run.path),
    }


def _merit(figure: Mapping[str, Any]) -> str:
    """A tile's number: a share as one."""
    if figure["unit"] == "1" and figure["name"].endswith("share"):
        return words.percent(figure["value"])
    return words.quantity(figure["value"], figure["unit"])


def _range(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _plural(number: int, word: str, with_number: bool = False) -> str:
    text = word if number == 1 else f"{word}s"
    return f"{number} {text}" if with_number else text


def _panel(panel: Panel) -> dict[str, Any]:
    """A panel as the template takes it: with a figure, with a volume for sliders, or with the reason for neither."""
    shown: dict[str, Any] = {"figure": None, "volume": None, "reason": None, "table": None, "title": panel["title"]}
    if panel["kind"] == "volume":
        shown |= {"volume": panel, "caption": panel["caption"], "flat": _flat(panel), "file": panel["file"]}
        shown["legend"] = panel["property"] and {
            "label": panel["property"]["label"],
            "low": words.digits(panel["property"]["low"], 4),
            "high": words.digits(panel["property"]["high"], 4),
        }
    elif panel["kind"] in DRAWN:
        shown["figure"] = DRAWN[panel["kind"]](panel)
    elif panel["kind"] == "table":
        columns = tuple(tables.Column(*column) for column in panel["columns"])
        shown["table"] = _table(tables.Table(panel["title"], columns, panel["rows"]))
    else:
        shown["reason"] = panel.get("reason", "unknown kind of panel")
    return shown


def _flat(panel: Panel) -> bool:
    return bool((panel["image"] or panel["property"])["shape"][1] == 1)


def _account(record: dict[str, Any], kernel: bool = True) -> list[dict[str, Any]]:
    ledger = record["ledger"]
    made = [
        (figures.by_category(ledger), ""),
        (figures.by_phase(ledger), ""),
        (figures.timeline_of_ranks(ledger), ""),
        (figures.timeline_of_phases(ledger), ""),
        (figures.roofline(record), NO_ROOFLINE if kernel else ""),
    ]
    return [{"figure": one, "reason": reason} for one, reason in made if one or reason]


def _tables(record: dict[str, Any]) -> list[tables.Table]:
    ledger = record["ledger"]
    made = [tables.shortened(tables.phases(ledger)), tables.ranks(record)]
    if ledger["files"]:
        made.append(tables.files(ledger))
    return made


def _table(table: tables.Table) -> dict[str, Any]:
    columns, rows = tables.readable(table)
    return {
        "title": table.title,
        "heads": [(column.title, bool(column.unit)) for column in columns],
        "rows": [list(zip(row, (bool(column.unit) for column in columns), strict=True)) for row in rows],
        "categories": [column.key for column in columns].index("category")
        if table.columns[1].key == "category"
        else None,
    }


def _waits(ledger: dict[str, Any]) -> str:
    """The longest wait of one rank for another."""
    waits = [
        (seconds, rank["rank"], int(other))
        for rank in ledger["ranks"]
        for other, seconds in rank["waited_seconds"].items()
    ]
    if not waits:
        return ""
    seconds, who, other = max(waits)
    return f"The longest wait of one rank for another: rank {who} for rank {other}, {words.seconds(seconds)}."


def _configuration(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Hardware, software, input: titles with pairs of name and text."""
    machine = record["machine"]
    processor = dict(machine["processor"])
    listing = processor.pop("lscpu", None)
    caches = processor.pop("caches", {}) or {}
    bound = machine.get("binding") or []
    hardware = [
        ("host", machine["host"]),
        ("processor", machine["cpu"]),
        *((name.replace("_", " "), value) for name, value in processor.items() if name != "model"),
        *((f"cache {name}", value) for name, value in caches.items()),
        ("logical cpus", machine["logical_cpus"]),
        ("memory", words.scaled(machine["memory_bytes"], "B")),
        *((f"network {one['name']}", _network(one)) for one in machine["networks"]),
        *((one["path"], f"{one['type']} on {one['mount']}") for one in machine["file_systems"]),
    ]
    software = [
        ("operating system", machine["os"]),
        ("kernel of the system", machine["kernel"]),
        ("Python", machine["python"]),
        ("MPI", machine["mpi"]),
        ("variant of the kernels", machine["kernels"]),
        ("commit", machine["commit"]),
        *machine["packages"].items(),
    ]
    binding = [(f"rank {one.get('rank')} on {one.get('host')}", _bound(one)) for one in bound[:MOST_BOUND]]
    if len(bound) > MOST_BOUND:
        binding.append(("and", f"{len(bound) - MOST_BOUND} more, in the record"))
    parts: list[dict[str, Any]] = [
        {"title": "Hardware", "rows": _texts(hardware), "open": True},
        {"title": "Software", "rows": _texts(software), "open": True},
        {"title": "Input, with all defaults", "rows": _texts(flattened(record["input"])), "open": True},
        {"title": "Where the ranks ran", "wide": True, "rows": _texts(binding), "open": False},
        {"title": "Environment", "wide": True, "rows": _texts(list(machine["environment"].items())), "open": False},
        {"title": "What the run found", "wide": True, "rows": _texts(_found(record["results"])), "open": False},
    ]
    if listing:
        parts.append({"title": "lscpu", "text": str(listing).rstrip(), "rows": [], "open": False})
    return [{"wide": False} | part for part in parts if part["rows"] or part.get("text")]


def _found(results: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return flattened({name: value for name, value in results.items() if name not in ("notes", "scaling", "rows")})


def _bound(one: Mapping[str, Any]) -> str:
    threads, cpus = one.get("threads", 1), one.get("cpus", [])
    pinned = "pinned" if one.get("pinned") else "not pinned"
    shared = ", cores shared" if one.get("oversubscribed") else ""
    return f"{_plural(int(threads), 'thread', True)} on cpus {', '.join(map(str, cpus))}, {pinned}{shared}"


def _network(one: Mapping[str, Any]) -> str:
    rate = one.get("bits_per_second")
    return words.scaled(rate, "bit/s") if rate else "speed not told"


def _texts(pairs: Sequence[tuple[str, Any]]) -> list[tuple[str, str]]:
    return [(str(name), _value(value)) for name, value in pairs]


def _value(value: Any) -> str:
    """A value of the input or the machine, as JSON writes it but without quotes around a text."""
    if value is None:
        return words.NONE
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def flattened(values: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Nested tables as pairs: ("model.vp", …)."""
    pairs: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            pairs += flattened(value, f"{before}{name}.")
        else:
            pairs.append((f"{before}{name}", value))
    return pairs


def labels(runs: Sequence[Run]) -> list[str]:
    """A short name for each run: a letter, and what tells its file from the others'."""
    places = [run.path.resolve().parent for run in runs]
    common = Path(os.path.commonpath(places)) if len(set(places)) > 1 else places[0].parent
    return [
        f"{_letters(number)}: {place.relative_to(common) if place != common else place.name}"
        for number, place in enumerate(places)
    ]


def _letters(number: int) -> str:
    """A … Z, AA …"""
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(65 + digit) + text
    return text


def comparison_tables(runs: Sequence[Run]) -> list[tables.Table]:
    """Phases and figures of all runs against the first."""
    records, names = [run.record for run in runs], labels(runs)
    made = [tables.compare_phases(records, names)]
    if records[0]["figures"]:
        made.append(tables.compare_figures(records, names))
    return made


def run_tables(run: Run) -> list[tables.Table]:
    """Figures, phases and files of one run, complete."""
    ledger = run.record["ledger"]
    made = [tables.figures(run.record), tables.phases(ledger), tables.files(ledger)]
    return [table for table in made if table.rows]


def _compared(runs: Sequence[Run]) -> dict[str, Any]:
    records, names = [run.record for run in runs], labels(runs)
    settings = [dict(flattened({"input": record["input"], "machine": _told(record["machine"])})) for record in records]
    keys = dict.fromkeys(key for one in settings for key in one)
    different = [
        (key, [_value(one.get(key)) for one in settings])
        for key in keys
        if any(one.get(key) != settings[0].get(key) for one in settings)
    ]
    base = records[0]["ledger"]["wall_seconds"]["max"]
    return {
        "runs": [
            {"name": name, "path": str(run.path), "command": " ".join(run.record["command"]), "finished": run.finished}
            | {"verdict": verdict(run.record), "valid": run.record["validity"]["valid"]}
            for name, run in zip(names, runs, strict=True)
        ],
        "names": names,
        "base": f"{names[0]}, {words.seconds(base)}",
        "tables": [_table(table) for table in comparison_tables(runs)],
        "figures": [{"figure": figures.compared_phases(records, names), "reason": ""}],
        "different": different,
    }


def _told(machine: Mapping[str, Any]) -> dict[str, Any]:
    """What of a machine is compared: not each rank's binding, nor the launcher's variables."""
    left_out = ("binding", "environment", "file_systems")
    told = {name: value for name, value in machine.items() if name not in left_out}
    told["processor"] = {name: value for name, value in machine["processor"].items() if name != "lscpu"}
    threads = {one.get("threads") for one in machine.get("binding") or []}
    return told | {"threads": sorted(str(one) for one in threads)}
