"""Times in study files and recipes: "90s", "30min", "8h", "2d"."""

import re

UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
LONGEST = 1e9  # s
_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([a-z]+)")


def time_problem(text: str) -> str | None:
    """What is wrong with a time, as "found …; allowed: …"; None where nothing is."""
    match = _TIME.fullmatch(text)
    if match is not None and match[2] in UNITS and 0 < float(match[1]) * UNITS[match[2]] <= LONGEST:
        return None
    return f'found "{text}"; allowed: a time such as "90s", "30min", "8h" or "2d"'


def seconds_of(text: str) -> float:
    """Seconds of a time that has no problem."""
    match = _TIME.fullmatch(text)
    assert match is not None, "checked when the file was read"
    return float(match[1]) * UNITS[match[2]]
