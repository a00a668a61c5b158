"""Outliers: what is far out, and how seldom clean samples have any."""

import numpy as np
import pytest
from laws import measurements

from fathometer.lab.statistics.outliers import outliers


def test_far_out_by_hand():
    """0 to 8 and a last one: quartiles 2.25 and 6.75, fences at -11.25 and 20.25."""
    values = [float(n) for n in range(9)]
    assert outliers([*values, 20.0]) == []
    assert outliers([30.0, *values, -30.0]) == [0, 10]
    assert outliers([*values, 20.5]) == [9]


def test_few_values_have_none():
    assert outliers([1.0, 1.0, 1.0, 1.0, 100.0]) == []
    assert outliers([1.0, 1.1, 1.0, 1.1, 1.0, 100.0]) == [5]


@pytest.mark.parametrize(("count", "most"), [(6, 0.15), (10, 0.05), (30, 0.02)])
def test_clean_samples_seldom_have_any(count, most):
    table = measurements("normal", 0.02, (1000, count), 1).tolist()
    assert np.mean([bool(outliers(values)) for values in table]) < most
