"""Winners: chosen by their median, flattered by the choice, measured again without bias."""

import math
from statistics import median

import numpy as np
import pytest
from laws import measurements

from fathometer.base.errors import InputError
from fathometer.lab.statistics import winners
from fathometer.lab.statistics.winners import winner


def by_round(values):
    return dict(enumerate(values))


def test_the_best_median_wins():
    settings = {"a": by_round([3.0, 2.0, 9.0]), "b": by_round([2.5, 2.6, 2.4]), "c": by_round([4.0, 1.0, 4.0])}
    assert winner(settings, "lower", 1).setting == "b"
    assert winner(settings, "lower", 1).median == 2.5
    assert winner(settings, "higher", 1).setting == "c"
    assert winner({"a": by_round([1.0]), "b": by_round([1.0])}, "lower", 1).setting == "a"


def test_the_winner_looks_better_than_it_is_until_it_is_measured_again():
    """Ten equal settings with 5 % of noise: the chosen one's own rounds flatter it, fresh ones do not."""
    chosen, fresh = [], []
    table = measurements("log-normal", 0.05, (400, 10, 6), 1).tolist()
    again = measurements("log-normal", 0.05, (400, 10, 6), 2).tolist()
    for first, second in zip(table, again, strict=True):
        best = winner({n: by_round(values) for n, values in enumerate(first)}, "lower", 1)
        chosen.append(math.log(best.median))
        fresh.append(math.log(median(second[best.setting])))
    # What the median of six has by itself, without any choice: this law is skewed.
    alone = float(np.mean(np.log(np.median(again, axis=-1))))
    error = float(np.std(fresh)) / math.sqrt(len(fresh))
    assert abs(np.mean(fresh) - alone) < 3 * error
    assert np.mean(chosen) - alone < -10 * error


def test_shares_say_how_often_another_would_have_won():
    clear = winner({"a": by_round([1.0, 1.1, 1.2] * 3), "b": by_round([2.0, 2.1, 2.2] * 3)}, "lower", 1)
    assert clear.shares == {"a": 1.0}
    assert clear.others == 0.0
    equal = [
        winner({"a": by_round(a), "b": by_round(b)}, "lower", 1).shares.get("a", 0.0)
        for a, b in measurements("normal", 0.05, (200, 2, 10), 3).tolist()
    ]
    assert np.mean(equal) == pytest.approx(0.5, abs=0.06)
    four = winner({n: by_round(v) for n, v in enumerate(measurements("normal", 0.05, (4, 6), 4).tolist())}, "lower", 1)
    assert sum(four.shares.values()) == pytest.approx(1.0)
    assert 0 < four.others < 1


def test_rounds_are_drawn_whole():
    """Rounds differ tenfold, the settings in each by 1 %: the same one is always the best."""
    rounds = np.logspace(0, 1, 9)
    settings = {"a": by_round((1.01 * rounds).tolist()), "b": by_round(rounds.tolist())}
    assert winner(settings, "lower", 1).shares == {"b": 1.0}


def test_shares_depend_on_the_seed_alone(monkeypatch):
    settings = {n: by_round(values) for n, values in enumerate(measurements("normal", 0.05, (5, 8), 5).tolist())}
    found = winner(settings, "lower", 1)
    assert winner(settings, "lower", 1) == found
    assert winner(settings, "lower", 2).shares != found.shares
    monkeypatch.setattr(winners, "MOST_NUMBERS", 1000)  # in parts
    assert winner(settings, "lower", 1) == found


def test_a_setting_that_mostly_fails_does_not_win():
    sound = by_round([2.0] * 10)
    assert winner({"lucky": {3: 1.0}, "sound": sound}, "lower", 1).setting == "sound"
    half = {n: 1.0 for n in range(5)}
    assert winner({"half": half, "sound": sound}, "lower", 1).setting == "half"
    assert winner({"half": half, "sound": sound, "never": {}}, "lower", 1).shares["half"] > 0.99
    with pytest.raises(InputError, match="found none"):
        winner({"never": {}}, "lower", 1)


def test_settings_that_all_mostly_fail_have_a_winner():
    values = {"a": {1: 3.0, 2: 3.0}, "b": {3: 2.0, 4: 2.0}, "c": {5: 1.0, 6: 1.0}, "d": {7: 0.1}}
    assert winner(values, "lower", 1).setting == "c"
