"""Rendering of pages: one file that loads nothing from elsewhere, from a template that extends frame.html.

The data of the figures is JSON in which no `<` occurs, so that no text can end the script that holds it; every other
text is escaped by the template. A content security policy in the head keeps the page from the network.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fathometer.record.envelope import plain

HERE = Path(__file__).parent  # of frame.html, macros.html, page.css and page.js


def render_page(template: str, data: dict[str, Any], folder: Path = HERE, style: str = "", **values: Any) -> str:
    """The page's text.

    template: its file, in `folder`. data: what page.js draws, figures and volumes. style: beyond page.css. values: what
    the template asks for.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from plotly.offline import get_plotlyjs

    environment = Environment(
        loader=FileSystemLoader([folder, HERE]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(
        **values,
        data=safe_json(data),
        style=(HERE / "page.css").read_text(encoding="utf-8") + style,
        script=(HERE / "page.js").read_text(encoding="utf-8"),
        plotly=get_plotlyjs(),
    )


def safe_json(value: Any) -> str:
    """JSON that can stand in a script: nothing in it can end the script or begin a comment."""
    text = json.dumps(plain(value), separators=(",", ":"), allow_nan=False)  # ASCII only
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
