"""The panel of a page that says what the parts of a time step take."""

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
