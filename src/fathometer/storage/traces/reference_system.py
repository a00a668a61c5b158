"""Names of coordinate reference systems: found in textual headers of SEG-Y, and short enough for one line there."""

from __future__ import annotations

import re
from pathlib import Path

from fathometer.storage.reading import reading
from fathometer.storage.traces.headers import BINARY, TEXT

LINE = 80  # characters of a line of a textual header
MOST_TEXT = 1 << 20  # bytes of textual headers that are looked at
LONGEST = 4096  # characters of a name; WKT takes some hundreds
NAMED = re.compile(r"\b(?:CRS|COORDINATE\s+REFERENCE\s+SYSTEM)(?:\s+(?:NAME|CODE))?\s*[:=]\s*(\S.*)", re.IGNORECASE)
DATUM = re.compile(r"\bVERTICAL\s+DATUM\s*[:=]\s*([^\s;][^;]*)", re.IGNORECASE)
CODE = re.compile(r"\bEPSG\b\W{0,3}(?:CODE\W{0,3})?(\d{4,6})\b", re.IGNORECASE)
NONE = re.compile(r"(?:unknown|none|n/?a|local|not (?:known|given|specified|stated))\W*", re.IGNORECASE)
EBCDIC_SPACE, ASCII_SPACE = b"\x40", b"\x20"


def tidy_crs(text: str) -> str:
    """A name on one line, printable; "" where it says that there is none."""
    line = "".join(letter for letter in " ".join(text.split()) if letter.isprintable())[:LONGEST]
    return "" if NONE.fullmatch(line) else line


def text_of(head: bytes) -> str:
    """A textual header, in EBCDIC or ASCII, as text."""
    return head.decode("cp037" if head.count(EBCDIC_SPACE) > head.count(ASCII_SPACE) else "latin-1", "replace")


def crs_of_text(head: bytes) -> str:
    """The name of the system in a textual header, 3200 bytes in EBCDIC or ASCII: what follows "CRS:" or "Coordinate
    reference system:", else an EPSG code anywhere in it as EPSG:NUMBER; "" where there is neither."""
    text = text_of(head)
    lines = [text[first : first + LINE] for first in range(0, len(text), LINE)]
    for line in lines:
        if (found := NAMED.search(line)) and (name := tidy_crs(found[1])):
            return name
    return next((f"EPSG:{found[1]}" for line in lines if (found := CODE.search(line))), "")


def datum_of(text: str) -> str:
    """The name of the level that depths count from in the text of a textual header; "" where it says none."""
    lines = (text[first : first + LINE] for first in range(0, len(text), LINE))
    return next((tidy_crs(found[1]) for line in lines if (found := DATUM.search(line))), "")


def crs_of_file(path: Path, start: int) -> str:
    """As `crs_of_text`, of the textual header of a SEG-Y file, else of the extended ones. start: of its traces."""
    with reading(path), path.open("rb") as file:
        head = file.read(min(start, MOST_TEXT))
    return crs_of_text(head[:TEXT]) or crs_of_text(head[TEXT + BINARY :])


def code_of(crs: str) -> str:
    """The EPSG code in a name, of WKT that of the whole system, which comes last; "" where it has none."""
    codes = CODE.findall(crs)
    return codes[-1] if codes else ""


def short_crs(crs: str, most: int) -> str:
    """A name of at most `most` characters: the whole, or its EPSG code, or the name in WKT, or its beginning.

    >>> short_crs('PROJCS["ETRS89 / UTM zone 32N",AUTHORITY["EPSG","25832"]]', 40)
    'EPSG:25832'
    """
    if len(crs) <= most:
        return crs
    if code := code_of(crs):
        return f"EPSG:{code}"
    quoted = re.search(r'"([^"]+)"', crs)
    name = quoted[1] if quoted else crs
    return name if len(name) <= most else f"{name[: most - 3]}..."
