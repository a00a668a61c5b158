"""What has happened in a run: steps, iterations, moles."""

from __future__ import annotations

from dataclasses import dataclass, field

COUNTS = ("newton_iterations", "linear_iterations", "cut_steps")


@dataclass
class Course:
    """What has happened in a run and in those that it goes on from.

    Attributes:
        steps: a row for each step of this run: time and length in s, Newton's and linear iterations, cuts.
        moles: of each component at the beginning. outflow: what has left through the sides.
    """

    time: float = 0.0
    count: int = 0
    counts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0.0))
    moles: list[float] = field(default_factory=list)
    outflow: list[float] = field(default_factory=list)
    steps: list[dict[str, float]] = field(default_factory=list)
    earlier: int = 0  # steps of runs before
