"""Values at two levels."""

import numpy as np
import pytest
from laws import LAWS, STUDIES, measurements

from fathometer.lab.statistics.modes import two_levels


@pytest.mark.parametrize("count", [10, 20])
@pytest.mark.parametrize("law", ["normal", "log-normal", "exponential"])
def test_one_level_is_hardly_ever_taken_for_two(law, count):
    assert law in LAWS
    assert (
        np.mean([two_levels(values) is not None for values in measurements(law, 0.03, (STUDIES, count), 1).tolist()])
        < 0.03
    )


def test_two_levels_are_found_with_their_shares():
    source = np.random.default_rng(2)
    values = [*(1.0 + 0.005 * source.normal(size=12)), *(1.2 + 0.005 * source.normal(size=8))]
    found = two_levels(source.permutation(values).tolist())
    assert (found.low, found.high) == (pytest.approx(1.0, abs=0.01), pytest.approx(1.2, abs=0.01))
    assert found.upper_share == 0.4


@pytest.mark.parametrize(
    "values",
    [
        [1.0] * 10,
        [1.0] * 5 + [1.001] * 5,  # nobody minds a thousandth
        [1.0] * 19 + [2.0],  # one far away is no level
        [1.0] * 4 + [2.0] * 4,  # too few to tell
        [0.0] * 5 + [1.0] * 5,
    ],
)
def test_what_is_none(values):
    assert two_levels(values) is None
