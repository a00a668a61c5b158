"""Units of figures."""

import pytest

from fathometer.lab.recipes.units import unit_problem


@pytest.mark.parametrize(
    "unit",
    [
        "1",
        "seconds",
        "bytes",
        "bytes_per_second",
        "points_per_second",
        "flops_per_second",
        "shots_per_hour",
        "simulated_seconds_per_second",
        "seconds_per_step",
        "bytes_per_point",
        "joules_per_second",
    ],
)
def test_units_of_records_and_rates_of_things(unit):
    assert unit_problem(unit) is None


@pytest.mark.parametrize(
    "unit",
    [
        "ms",
        "GB/s",
        "",
        "steps",
        "milliseconds",
        "kilobytes_per_second",
        "gflops_per_second",
        "flop_per_second",
        "seconds_per_ms",
        "mib_per_second",
        "minutes_per_step",
        "Seconds",
        "steps_per_fortnight",
        "_per_second",
        "percent_per_second",
        "1_per_step",
    ],
)
def test_others_are_refused_with_what_is_allowed(unit):
    problem = unit_problem(unit)
    assert problem is not None
    assert problem.startswith(f'found "{unit}"; allowed: 1, seconds, bytes')
    assert "scale" in problem
