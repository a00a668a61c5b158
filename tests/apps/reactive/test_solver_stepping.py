"""The choice of time steps."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathometer.apps.reactive.solver.problem import Step, Worst
from fathometer.apps.reactive.solver.stepping import TimeSteps, advance
from fathometer.base.errors import FathometerError


def run(steps, iterations=lambda dt: 3):
    """(time, step) of each accepted step."""
    taken = []
    while not steps.done:
        dt = steps.next()
        steps.accept(iterations(dt))
        taken.append((steps.time, dt))
    return taken


def test_steps_grow_to_the_largest():
    taken = run(TimeSteps(end=35.0, step=1.0, growth=2.0, largest=10.0))
    assert [dt for _, dt in taken] == [1, 2, 4, 8, 10, 10]


def test_many_iterations_shorten_the_next_step():
    steps = TimeSteps(end=100.0, step=8.0, growth=2.0, target=5)
    steps.next()
    steps.accept(6)
    assert steps.next() == 4.0
    steps.accept(5)
    assert steps.next() == 8.0


def test_failed_steps_are_halved_down_to_the_smallest():
    steps = TimeSteps(end=100.0, step=8.0, smallest=2.0)
    assert steps.next() == 8.0
    assert steps.cut()
    assert steps.next() == 4.0
    assert steps.cut()
    assert steps.next() == 2.0
    assert not steps.cut()
    assert steps.time == 0.0


def test_a_cut_step_is_not_longer_again_at_once():
    steps = TimeSteps(end=100.0, step=8.0, growth=2.0)
    steps.next()
    steps.cut()
    steps.next()
    steps.accept(1)
    assert steps.next() == 4.0
    steps.accept(1)
    assert steps.next() == 8.0


def test_fixed_steps_stay_and_come_back_after_a_cut():
    steps = TimeSteps(end=10.0, step=1.0, adaptive=False, stops=[2.5])
    assert [dt for _, dt in run(steps, lambda dt: 20)] == [1, 1, 0.5, *[1] * 7, 0.5]
    steps = TimeSteps(end=10.0, step=1.0, adaptive=False)
    steps.next()
    assert steps.cut()
    assert steps.next() == 0.5
    steps.accept(3)
    assert steps.next() == 1.0


def test_fixed_steps_have_no_remainder_of_rounding():
    taken = run(TimeSteps(end=1.0, step=0.1, adaptive=False))
    assert len(taken) == 10
    assert taken[-1][0] == 1.0
    assert min(dt for _, dt in taken) > 0.0999


def test_a_time_is_hit_though_the_sum_is_rounded():
    steps = TimeSteps(end=3.28, step=0.95, growth=3.0)
    steps.next()
    steps.accept(1)
    assert (steps.time, steps.time + (3.28 - steps.time)) == (0.95, 3.28 + 2**-51)
    steps.next()
    steps.accept(1)
    assert steps.time == 3.28
    assert steps.done


def test_a_step_that_was_shortened_for_a_time_is_no_measure_of_the_next():
    steps = TimeSteps(end=100.0, step=8.0, growth=1.5, stops=[9.0])
    assert [dt for _, dt in run(steps)][:3] == [4.5, 4.5, 8.0]


@given(
    end=st.floats(1.0, 1e6),
    first=st.floats(1e-3, 1e3),
    growth=st.floats(1.0, 3.0),
    parts=st.lists(st.floats(0.0, 1.0, exclude_min=True), max_size=4, unique=True),
    seed=st.integers(1, 10**6),
)
def test_times_are_hit_exactly_without_tiny_steps(end, first, growth, parts, seed):
    stops = sorted(part * end for part in parts)
    steps = TimeSteps(end=end, step=first, growth=growth, largest=max(first, end / 20), stops=stops)
    times, gaps, before = [], [], 0.0
    for number in range(300):
        wanted = steps.wanted
        left = next(time for time in [*stops, end] if time > steps.time) - steps.time
        dt = steps.next()
        assert dt >= min(0.5 * left, wanted, left) * (1 - 1e-12)
        assert dt <= max(first, end / 20) * (1 + 1e-8)
        steps.accept(3 if (number * seed) % 7 else 9)
        times.append(steps.time)
        gaps.append(steps.time - before)
        before = steps.time
        if steps.done:
            break
    assert all(gap > 0 for gap in gaps)
    if steps.done:
        assert set(stops) | {end} <= set(times)


def test_a_restored_choice_goes_on_with_the_same_steps():
    keys = {"end": 77.7, "step": 0.3, "largest_step": 9.1, "growth": 1.7, "target_iterations": 4}
    whole = TimeSteps.of(keys, [10.0, 33.3])
    expected = run(whole, lambda dt: int(dt * 37) % 8)
    for count in (1, 5, 9):
        first = TimeSteps.of(keys, [10.0, 33.3])
        for _ in range(count):
            dt = first.next()
            first.accept(int(dt * 37) % 8)
        second = TimeSteps.of(keys, [10.0, 33.3])
        second.restore(json.loads(json.dumps(first.state())))
        assert run(second, lambda dt: int(dt * 37) % 8) == expected[count:]


class Solver:
    """Fails steps that are longer than allowed at their time."""

    def __init__(self, allowed):
        self.allowed, self.taken = allowed, []

    def step(self, dt):
        good = dt <= self.allowed
        self.taken += [dt] * good
        reason = "converged" if good else "it is too long"
        return Step(dt, good, reason, 3, 5, (1.0,), 1e-11)

    def worst(self):
        return Worst((3, 0, 7), "Ca+2", 0.25)


def test_advance_cuts_steps_and_counts_it():
    solver, steps = Solver(1.0), TimeSteps(end=3.0, step=4.0, largest=2.0)
    taken = [(step.seconds, step.cuts) for step in advance(solver, steps)]
    assert taken[0] == (0.75, 1)
    assert sum(dt for dt, _ in taken) == pytest.approx(3.0)
    assert all(dt <= 1.0 for dt, _ in taken)
    assert steps.time == 3.0


def test_advance_ends_with_one_line_where_the_smallest_step_fails():
    solver, steps = Solver(0.1), TimeSteps(end=10.0, step=4.0, smallest=0.5)
    with pytest.raises(FathometerError) as error:
        list(advance(solver, steps))
    assert str(error.value) == (
        "the step from 0 s does not converge even when cut to 0.5 s (4 attempts; the smallest allowed is 0.5 s): it is "
        "too long; the residual is largest in cell 3, 0, 7 (x, y, z), for Ca+2: 0.25"
    )
