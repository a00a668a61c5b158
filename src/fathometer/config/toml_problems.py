"""What is wrong in a text that is not TOML, with its line, and what the writer of it is to change."""

from __future__ import annotations

import re

from fathometer.base.errors import shortened

LONGEST_LINE = 80  # letters
LONGEST_LOOKED_AT = 1000  # letters: some patterns take a time that rises with the square
AT = re.compile(r"\(at line (\d+), column \d+\)")

# Lines that people write, and what to do about them; the first that fits is told.
MENDED = (
    (r"=\s*[+-]?\d+,\d+\s*(#.*)?$", "a number has a decimal point, not a comma"),
    (r"=\s*[+-]?[\d.]+(e[+-]?\d+)?\s*[A-Za-z°%/]+\w*\s*(#.*)?$", "a number stands without its unit"),
    (r"=\s*(True|False)\b", "true and false are in lower case"),
    (r"=\s*[A-Za-z_./~][\w./~-]*\s*(#.*)?$", "a text stands in quotes"),
    (r"^\s*\w+\s*:", "a key and its value have = between them"),
    (r"^\s*\[[^\]]*$", "a section's name ends with ]"),
    (r"=\s*(#.*)?$", "a key needs a value, or leave it out"),
    (r"\"[^\"]*\\", "between double quotes \\\\ stands for a backslash; between single quotes it stands for itself"),
)


def toml_problem(error: Exception, text: str) -> str:
    """The words of an error of tomllib, the line of the text that it is about, and what to change, where that is known.

    >>> toml_problem(ValueError("Invalid value (at line 1, column 6)"), "vp = vp.npy")
    'Invalid value (at line 1, column 6): vp = vp.npy; a text stands in quotes'
    """
    message = str(error)
    place = AT.search(message)
    lines = text.rstrip().splitlines()
    number = int(place[1]) if place is not None else len(lines)  # "at end of document"
    if not 1 <= number <= len(lines):
        return message
    line = lines[number - 1].strip()
    known = MENDED if len(line) <= LONGEST_LOOKED_AT else ()
    advice = next((words for pattern, words in known if re.search(pattern, line)), "")
    if re.search(r"Cannot (declare|overwrite)", message):
        advice = "a section, and a key in it, stands once"
    return f"{message}: {shortened(line, LONGEST_LINE)}{f'; {advice}' if advice else ''}"
