"""Panels of a page that say what the parts of a time step take, and which messages there are in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fathometer.runs.application import Panel


def parts_panel(record: Mapping[str, Any], parts: Mapping[str, str]) -> Panel:
    """Seconds of the parts of a step, of the slowest rank in each; parts: what is done in each, by the name of its
    figure. Raises KeyError and the like for a record without these."""
    figures = {figure["name"]: figure["value"] for figure in record["figures"]}
    kernel = figures["kernel"]
    rows = [[name, what, figures[name], figures[name] / kernel if kernel else None] for name, what in parts.items()]
    columns = [["part", "part", ""], ["what", "", ""], ["seconds", "seconds", "seconds"], ["share", "share", "1"]]
    return {"kind": "table", "title": "Parts of a step", "columns": columns, "rows": rows}


def messages_panels(record: Mapping[str, Any], of: str) -> list[Panel]:
    """Messages over all ranks, of a "step" or a "stage" by the results; none on a single rank."""
    found = record["results"][f"messages_of_a_{of}"]
    if not found:
        return []
    columns = [["what", "", ""], ["function", "", ""], ["calls a rank", "", "1"], ["messages", "", "1"]]
    columns.append(["bytes", "", "bytes"])
    rows = [[one[name] for name in ("what", "function", "calls", "messages", "bytes")] for one in found]
    return [{"kind": "table", "title": f"Messages of a {of}", "columns": columns, "rows": rows}]
