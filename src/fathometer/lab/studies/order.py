"""The order of the cases in each round of a study.

Rounds come in pairs: an order that is drawn, and its reverse. The middle of a pair is then the same moment for every
case, so that a linear drift of the machine cancels from ratios; the draw is new for each pair, so that no case always
follows the same other one.
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
