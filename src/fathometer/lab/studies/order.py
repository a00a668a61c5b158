"""The order of the cases in each round of a study.

Rounds come in pairs: an order that is drawn, and its reverse. The middle of a pair is then the same moment for every
case, so that a linear drift of the machine cancels from ratios; the draw is new for each pair, so that no case always
follows the same other one. Cases of a group, such as those of two builds, follow each other at once, in an order that
is drawn too: what lasts longer than a few runs disturbs all of them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

C = TypeVar("C")


def order(cases: Sequence[C], number: int, seed: int) -> list[C]:
    """The cases in the order of round `number`, from 0; it depends on the arguments alone, so that a study that was
    interrupted goes on in the same one."""
    drawn = list(cases)
    random.Random(f"{seed} {number // 2}").shuffle(drawn)
    return drawn[::-1] if number % 2 else drawn


def in_groups(groups: Sequence[Sequence[C]], number: int, seed: int) -> list[C]:
    """`order` of the cases of groups, of which each stays together."""
    source = random.Random(f"{seed} {number // 2} groups")
    drawn = [source.sample(group, len(group)) for group in order(groups, number - number % 2, seed)]
    cases = [case for group in drawn for case in group]
    return cases[::-1] if number % 2 else cases
