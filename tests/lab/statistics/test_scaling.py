"""Scaling: against hand calculation and Amdahl's law."""

import pytest

from fathometer.base.errors import InputError
from fathometer.lab.statistics.interval import Estimate
from fathometer.lab.statistics.scaling import scaling


def exact(value):
    return Estimate(value, value, value, 0.95, 10)


@pytest.mark.parametrize("serial", [0.0, 0.05, 0.4])
@pytest.mark.parametrize("base", [1, 4])
def test_the_serial_fraction_of_amdahls_law(serial, base):
    speed_ups = {base * n: exact(1 / (serial + (1 - serial) / n)) for n in (8, 1, 2, 16)}
    points = scaling(speed_ups, base)
    assert [point.processors for point in points] == [base * n for n in (1, 2, 8, 16)]
    assert points[0].serial_fraction is None
    for point in points[1:]:
        assert point.serial_fraction.median == pytest.approx(serial, abs=1e-12)
        assert not point.super_linear


def test_intervals_are_carried_over():
    """By hand: speed-up 3 (2 to 4) on 4; (1/3 - 1/4) / (3/4) = 1/9, (1/2 - 1/4) / (3/4) = 1/3, 0."""
    (point,) = scaling({4: Estimate(3.0, 2.0, 4.0, 0.95, 9)})
    efficiency, serial = point.efficiency, point.serial_fraction
    assert (efficiency.low, efficiency.median, efficiency.high) == (0.5, 0.75, 1.0)
    assert (serial.low, serial.median, serial.high) == pytest.approx((0.0, 1 / 9, 1 / 3))
    assert (serial.coverage, serial.count) == (0.95, 9)


@pytest.mark.parametrize(("low", "marked"), [(1.9, False), (2.0, False), (2.01, True)])
def test_super_linear_beyond_doubt_only(low, marked):
    (point,) = scaling({2: Estimate(2.1, low, 2.2, 0.95, 9)})
    assert point.super_linear is marked
    assert point.serial_fraction.median < 0


def test_wrong_numbers_are_one_error():
    with pytest.raises(InputError, match="found 2 processors; allowed: the base, 4"):
        scaling({2: exact(1.0)}, 4)
    with pytest.raises(InputError, match="base of 0"):
        scaling({}, 0)
