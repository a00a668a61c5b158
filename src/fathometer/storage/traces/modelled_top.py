"""What the textual header of modelled traces says of the top of their model: whether there was a free surface."""

from __future__ import annotations

from fathometer.storage.reading import reading
from fathometer.storage.traces.file_layout import Layout
from fathometer.storage.traces.headers import TEXT

LINE = 80  # characters, of which the first four are its number
MARK = "Top of the model: "
_CODES = ("cp037", "ascii")  # of textual headers


def line_of_top(top: str) -> str:
    """The line of a textual header that says it; top: "absorbing" or "free-surface"."""
    return MARK + top


def top_of(layout: Layout) -> str:
    """What the textual header of a file says; "" where it says nothing: recorded, or modelled by another program."""
    if layout.start < TEXT:
        return ""
    with reading(layout.path), layout.path.open("rb") as file:
        head = file.read(TEXT)
    for code in _CODES:
        lines = _lines(head.decode(code, "replace"))
        for line in lines:
            if line[4:].startswith(MARK):
                return line[4 + len(MARK) :].strip()
    return ""


def with_top(head: bytes, top: str) -> bytes:
    """A file header whose textual header says it: in the line that did, or in the first that is blank; itself where
    there is none, or no textual header."""
    if len(head) < TEXT:
        return head
    for code in _CODES:
        lines = _lines(head[:TEXT].decode(code, "replace"))
        numbered = [line[0] == "C" and line[1:4].strip().isdecimal() for line in lines]
        if not all(numbered):
            continue
        said = [n for n, line in enumerate(lines) if line[4:].startswith(MARK)]
        blank = [n for n, line in enumerate(lines) if not line[4:].strip()]
        if said or blank:
            n = (said or blank)[0]
            text = f"{lines[n][:4]}{line_of_top(top)}".ljust(LINE)[:LINE].encode(code)
            return head[: n * LINE] + text + head[(n + 1) * LINE :]
    return head


def _lines(text: str) -> list[str]:
    return [text[first : first + LINE] for first in range(0, TEXT, LINE)]
