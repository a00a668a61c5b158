"""How long time steps are, and the loop over them.

Adaptive: a step after one of at most `target` iterations of Newton's method is `growth` times as long, after one of
more iterations as much shorter; a step that does not converge is halved and tried again. Fixed: all steps are equal
but those that are cut. Times of results and the end are hit exactly: the last step before one of them is shortened, or
the last two are made equal, so that none is tiny; an adaptive step that was shortened for that reason is no measure
for the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from fathometer.base.errors import FathometerError

if TYPE_CHECKING:
    from fathometer.apps.reactive.solver.problem import ReactiveSolver, Step

CUT = 0.5  # of a step that does not converge
SLACK = 1e-9  # of a step, by which it may be longer to reach a time
SMALLEST = 1e-6  # of the first step: the smallest one where none is given


@dataclass
class TimeSteps:
    """The choice of time steps; all times in s.

    Attributes:
        end: of the simulation. step: the first one; of fixed steps all. adaptive: whether steps change.
        largest, smallest: steps. growth: factor. target: iterations of Newton's method. stops: times to be hit, in
        order.
        time: reached. wanted: the next step, were there no times to hit.
    """

    end: float
    step: float
    adaptive: bool = True
    largest: float = float("inf")
    smallest: float = 0.0
    growth: float = 1.5
    target: int = 5
    stops: Sequence[float] = ()
    time: float = 0.0
    wanted: float = field(init=False)
    _tried: float = field(init=False, default=0.0)
    _cut: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.wanted = min(self.step, self.largest)
        self.smallest = self.smallest or SMALLEST * self.step
        self.stops = [*(time for time in self.stops if time < self.end), self.end]

    @classmethod
    def of(cls, keys: Mapping[str, Any], stops: Sequence[float] = ()) -> Self:
        """From the keys of the section [time] of a flow file: end, step, adaptive, largest_step, smallest_step, growth,
        target_iterations; stops: times of results."""
        return cls(
            end=keys["end"],
            step=keys["step"],
            adaptive=keys.get("adaptive", True),
            largest=keys.get("largest_step") or float("inf"),
            smallest=keys.get("smallest_step") or 0.0,
            growth=keys.get("growth", 1.5),
            target=keys.get("target_iterations", 5),
            stops=stops,
        )

    @property
    def done(self) -> bool:
        """Whether the end is reached."""
        return self.time >= self.end

    def next(self) -> float:
        """The length of the step to try now."""
        left = self._stop() - self.time
        if self.wanted * (1 + SLACK) >= left:
            self._tried = left
        elif self.adaptive and 2 * self.wanted > left:
            self._tried = 0.5 * left
        else:
            self._tried = self.wanted
        return self._tried

    def accept(self, iterations: int) -> None:
        """The step has converged after so many iterations of Newton's method."""
        stop = self._stop()
        self.time = stop if self._tried >= stop - self.time else self.time + self._tried
        if not self.adaptive:
            self.wanted = self.step
        elif iterations > self.target:
            self.wanted = max(self._tried / self.growth, self.smallest)
        elif not self._cut:
            self.wanted = max(self.wanted, min(self._tried * self.growth, self.largest))
        self._cut = False

    def cut(self) -> bool:
        """The step has not converged; False where a shorter one would be smaller than the smallest."""
        shorter = CUT * self._tried
        if shorter < self.smallest:
            return False
        self.wanted, self._cut = shorter, True
        return True

    def state(self) -> dict[str, Any]:
        """What `restore` needs to go on with the same steps, JSON-ready."""
        return {"time": self.time, "wanted": self.wanted}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where `state` was taken, after a step."""
        self.time, self.wanted = state["time"], state["wanted"]

    def _stop(self) -> float:
        return next((time for time in self.stops if time > self.time), self.end)


def advance(solver: ReactiveSolver, steps: TimeSteps) -> Iterator[Step]:
    """Collective. Take steps to the end; each that has converged is handed out, with the attempts before it.

    Raises FathometerError where the smallest step fails: time, step, why and where. The state is that of the last step
    that has converged.
    """
    while not steps.done:
        cuts = 0
        while not (step := solver.step(steps.next())).converged:
            cuts += 1
            if not steps.cut():
                worst = solver.worst()
                raise FathometerError(
                    f"the step from {steps.time:.6g} s does not converge even when cut to {step.seconds:.3g} s "
                    f"({cuts} attempts; the smallest allowed is {steps.smallest:.3g} s): {step.reason}; the residual "
                    f"is largest in cell {', '.join(map(str, worst.cell))} (x, y, z), for {worst.component}: "
                    f"{worst.value:.3g}"
                )
        steps.accept(step.newton)
        yield replace(step, cuts=cuts)
