"""Names and paths of files as text: what none may hold, and how to show one that does.

A control character in a name acts where the name goes: a line end closes a comment of a script or a line of a header,
an escape sequence is obeyed by a terminal. Names that are given (in an input file or on the command line) are refused
with it; names that are only found are shown with it spelt out.
"""

from __future__ import annotations

import json
import re

from fathometer.base.errors import InputError

# The controls of ASCII and Latin-1 (C0, DEL, C1: among them NUL, line ends, escape and U+0085), the line and paragraph
# separators of Unicode, and the marks that turn the direction of writing, which show a name as another one.
_CONTROLS = "\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROL = re.compile(f"[{_CONTROLS}]")
_BUT_LINES = re.compile(f"(?!\n)[{_CONTROLS}]")
_SURROGATE = re.compile("[\ud800-\udfff]")  # a byte of a name that is not UTF-8


def visible(text: str) -> str:
    """The text with its control characters, line ends excepted, as escapes.

    >>> print(visible("a\\x1b[2Jb"))
    a\\u001b[2Jb
    """
    return _BUT_LINES.sub(_escape, text)


def visible_name(name: str) -> str:
    """The name with all control characters as escapes: it takes one line."""
    return _CONTROL.sub(_escape, name)


def control_problem(name: str) -> str | None:
    """What is wrong with a name that holds a control character, as "found …; allowed: …"; None where nothing is."""
    match = _CONTROL.search(name)
    if match is None:
        return None
    return (
        f'found "{visible_name(name)}" with the control character U+{ord(match[0]):04X}; allowed: a name without '
        "control characters"
    )


def check_name(name: str, what: str) -> None:
    """InputError, in which `what` says whose name it is, where it holds a control character."""
    if problem := control_problem(name):
        raise InputError(f"{what}: {problem}")


def check_script_name(name: str, what: str) -> None:
    """As check_name, for a script, which is text in UTF-8: bytes of a name that are not are refused too."""
    check_name(name, what)
    if _SURROGATE.search(name):
        shown = name.encode(errors="backslashreplace").decode()
        raise InputError(f'{what}: found "{shown}"; allowed: a name in UTF-8')


def _escape(match: re.Match[str]) -> str:
    """As JSON writes it, so that JSON that is shown stays JSON."""
    return json.dumps(match[0])[1:-1] if match[0] != "\x7f" else "\\u007f"
