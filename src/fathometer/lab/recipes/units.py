"""Units of figures: those of records, SI without prefixes, so that figures of different programs can be compared.

1  seconds  bytes  points  flops  joules  watts  hertz  metres  kelvins      a quantity; 1: shares and counts
points_per_second  jobs_per_hour  simulated_seconds_per_second               things that a word names, over a time
seconds_per_step  bytes_per_point  joules_per_shot                           a quantity for each such thing
"""

from __future__ import annotations

import re

QUANTITIES = ("1", "seconds", "bytes", "points", "flops", "joules", "watts", "hertz", "metres", "kelvins")
TIMES = ("second", "minute", "hour", "day")
ALLOWED = (
    f"{', '.join(QUANTITIES)}, THINGS_per_second (or _minute, _hour, _day), or one of them per thing, such as "
    "seconds_per_step; `scale` converts: seconds from ms with 0.001"
)
_WORD = re.compile(r"[a-z]+(?:_[a-z]+)*")
# "milliseconds", "gflops", "kilobytes": units with a magnitude of their own. "minutes": times that are not seconds.
_PREFIXED = re.compile(
    r"(?:(?:nano|micro|milli|centi|kilo|mega|giga|tera|peta|exa|kibi|mebi|gibi|tebi|[kmgtpe]i?|n|u)"
    r"(?:seconds?|bytes?|bits?|points?|flops?|joules?|watts?|hertz|metres?|kelvins?|b|s|w|j|hz)"
    r"|bits?|flop|percent|minutes?|hours?|days?)"
)


def unit_problem(unit: str) -> str | None:
    """What is wrong with a unit, as "found …; allowed: …"; None where nothing is."""
    if unit in QUANTITIES:
        return None
    things, per, thing = unit.rpartition("_per_")
    if per and _plain(things) and thing in TIMES:
        return None
    if things in QUANTITIES[1:] and _plain(thing):
        return None
    return f'found "{unit}"; allowed: {ALLOWED}'


def _plain(words: str) -> bool:
    return _WORD.fullmatch(words) is not None and not any(_PREFIXED.fullmatch(word) for word in words.split("_"))
