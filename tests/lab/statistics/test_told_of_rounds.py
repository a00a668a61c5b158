"""What may be told of a few rounds."""

import numpy as np
import pytest

from fathometer.base.errors import InputError
from fathometer.lab.statistics.interval import interval
from fathometer.lab.statistics.told import ends, leader


def test_an_interval_is_told_from_six_values_on():
    assert ends(interval([1.0, 2.0, 3.0, 4.0, 5.0])) == (None, None)
    assert ends(interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])) == (1.0, 6.0)


def test_the_fastest_differs_from_all_others():
    """Of five settings, all ten pairs are looked at: with nine rounds one can be told, with eight none."""
    for rounds in (8, 9):
        base = {number: 1.0 + 0.01 * number for number in range(rounds)}
        found = leader({k: {n: (1 + 0.1 * k) * x for n, x in base.items()} for k in range(5)}, 1)
        assert (found.setting, found.rounds, found.rounds_needed) == (0, rounds, 9)
        assert found.fastest is (rounds == 9)
        assert found.as_good == (() if rounds == 9 else (1, 2, 3, 4))


def test_equal_settings_are_as_good():
    source, named = np.random.default_rng(1), 0
    for _ in range(200):
        drawn = source.lognormal(0.0, 0.3, (5, 20))
        named += leader({name: dict(enumerate(values)) for name, values in enumerate(drawn)}, 1).fastest
    assert named <= 2


def test_what_has_no_round_in_common_is_not_slower():
    found = leader({"a": {1: 1.0, 2: 1.0}, "b": {3: 2.0, 4: 2.0}, "c": {}}, 1)
    assert (found.setting, found.as_good) == ("a", ("b",))
    assert leader({"a": {1: 1.0}}, 1).fastest
    with pytest.raises(InputError, match="found none with values"):
        leader({"a": {}}, 1)
