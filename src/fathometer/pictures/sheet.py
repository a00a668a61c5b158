"""Figures whose axes are placed in inches, their common style, and writing them as PNG, PDF or SVG atomically.

Automatic layouts can't keep several sections at a common scale and true aspect, so every position is computed.
matplotlib is imported inside the functions, so that commands that draw nothing don't wait for it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from fathometer.base import ledger
from fathometer.storage import atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOTS_PER_INCH = 130
PRINTED = 300  # dots an inch of the images within a PDF or SVG
SUFFIXES = (".png", ".pdf", ".svg")
INK = "#222222"
LEFT, RIGHT, TOP, BOTTOM = 0.85, 0.35, 0.62, 0.65  # inches around the axes: labels, title
LETTER, LONGEST_TITLE = 0.122, 90  # inches a letter of the title, letters
NOTE_LETTER, NOTE_LINE = 0.062, 0.14  # inches of a letter and a line of the note
NAME = 0.25  # inches for a panel's title
BAR = 1.25  # inches for a colour bar and its labels on the right
# Inches: a long thin section may grow to LONG_SIDE until its short side is SHORT_SIDE.
LONG_SIDE, SHORT_SIDE = 13.0, 1.5


@contextmanager
def style() -> Iterator[None]:
    """matplotlib settings of all pictures, in place of the user's, which are restored afterwards."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "font.family": "DejaVu Sans",
                "text.parse_math": False,  # a $ in a file's name is a $
                "font.size": 10,
                "axes.titlesize": 10.5,
                "axes.labelsize": 10,
                "axes.edgecolor": INK,
                "axes.labelcolor": INK,
                "axes.linewidth": 0.8,
                "text.color": INK,
                "xtick.color": INK,
                "ytick.color": INK,
                "xtick.labelsize": 9,
                "ytick.labelsize": 9,
                "legend.fontsize": 9,
                "legend.frameon": False,
                "pdf.fonttype": 42,  # TrueType, embedded: texts can be searched and edited
                "svg.fonttype": "path",  # outlines, which look the same wherever they are opened
                "svg.hashsalt": "fathometer",  # the same names in the same figure
            }
        )
        yield


def sheet(width: float, height: float, title: str, beside: float = 0.0, note: str = "") -> Figure:
    """An empty white figure of `width` by `height` inches with a title at its top left and a small note under it.

    It is wider where the title with `beside` inches on its right needs that; a very long title is truncated.
    """
    from matplotlib.figure import Figure

    title = title.encode(errors="backslashreplace").decode()  # names of files need not be UTF-8
    title = title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
    lines = _wrapped(note, width)
    width = max(width, LEFT + LETTER * len(title) + beside + 0.2)
    figure = Figure(figsize=(width, height), dpi=DOTS_PER_INCH, facecolor="white")
    figure.text(LEFT / width, 1.0 - 0.2 / height, title, ha="left", va="top", fontsize=13, fontweight="bold")
    figure.text(LEFT / width, 1.0 - 0.44 / height, "\n".join(lines), ha="left", va="top", fontsize=8, color="#555555")
    return figure


def note_height(note: str, width: float) -> float:
    """Inches at the top of a figure of `width` inches for its title and this note."""
    return TOP + NOTE_LINE * max(0, len(_wrapped(note, width)) - 1)


def _wrapped(note: str, width: float) -> list[str]:
    return textwrap.wrap(note, max(20, int((width - LEFT - 0.1) / NOTE_LETTER)))


def place(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """New axes of `width` by `height` inches, their upper left corner `left`, `top` inches from that of the figure."""
    across, down = figure.get_size_inches()
    return figure.add_axes((left / across, 1.0 - (top + height) / down, width / across, height / down))


def inches_per_metre(widths: Sequence[float], heights: Sequence[float], room: tuple[float, float]) -> float:
    """The common scale of panels with these widths side by side and heights one above another (m) in `room` (inches).

    Long thin ones may exceed the room, up to LONG_SIDE, until the thinnest is SHORT_SIDE.
    """
    across, down = sum(widths), sum(heights)
    fits = min(room[0] / across, room[1] / down)
    readable = SHORT_SIDE / min(*widths, *heights)
    return max(fits, min(LONG_SIDE / across, room[1] / down, readable))


def save(figure: Figure, path: Path) -> None:
    """Write the figure as PNG, PDF or SVG, by the suffix, atomically; the same figure gives the same bytes.

    Raises FathometerError where the file can't be written.
    """
    kind = path.suffix.lower().removeprefix(".")
    written = BytesIO()
    # Neither the version of matplotlib nor the date goes into the file: pictures are compared byte by byte.
    nameless: dict[str, dict[str, None]] = {
        "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
        "svg": {"Creator": None, "Date": None},
    }
    with style():
        if kind in nameless:
            figure.savefig(written, format=kind, dpi=PRINTED, metadata=nameless[kind])
        else:
            # Compressed less than by default, in half its time; the file is a tenth larger.
            figure.savefig(
                written,
                format="png",
                dpi=DOTS_PER_INCH,
                metadata={"Software": None},
                pil_kwargs={"compress_level": 4},
            )
    with ledger.file("picture", "write"):
        atomic.write(path, written.getvalue())
