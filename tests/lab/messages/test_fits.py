"""Cost models from times that follow them exactly."""

import re
from dataclasses import asdict

import numpy as np
import pytest

from fathometer.lab.messages.fits import fit, half_of_best, loggp
from fathometer.lab.messages.places import nearest_order
from fathometer.lab.messages.tables import loggp_text

LENGTHS = [8 << n for n in range(20)]


def line(latency, rate):
    return np.array([latency + n / rate for n in LENGTHS])


def test_a_line_is_found_with_its_half_length_and_no_break():
    seconds = line(2e-6, 4e9)
    found = fit(LENGTHS, np.array([seconds] * 5), 1)
    assert found.line.latency_seconds.value == pytest.approx(2e-6)
    assert found.line.bytes_per_second.value == pytest.approx(4e9)
    assert found.line.misfit == pytest.approx(0, abs=1e-9)
    assert found.half_length.value == pytest.approx(2e-6 * 4e9)
    assert found.breaks == ()
    assert len(found.segments) == 1


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_no_break(seed):
    noise = np.random.default_rng(seed).normal(1.0, 0.03, (9, len(LENGTHS)))
    assert fit(LENGTHS, line(2e-6, 4e9) * noise, 1).breaks == ()


@pytest.mark.parametrize("places", [(9,), (6, 13)])
def test_breaks_lie_where_the_protocol_changes(places):
    lines = [line(1e-6, 2e9), line(4e-6, 9e9), line(3e-5, 5e9)]
    seconds = np.concatenate(
        [part[a:b] for part, a, b in zip(lines, (0, *places), (*places, len(LENGTHS)), strict=False)]
    )
    found = fit(LENGTHS, np.array([seconds * (1 + 1e-4 * np.sin(n)) for n in range(7)]), 1)
    assert found.breaks == tuple((LENGTHS[place - 1], LENGTHS[place]) for place in places)
    assert [s.bytes_per_second.value for s in found.segments] == pytest.approx(
        [2e9, 9e9, 5e9][: len(places) + 1], rel=0.01
    )


def test_the_interval_is_that_of_the_rounds():
    """Rounds that are all slower by one factor change latency and rate by it, and nothing else."""
    factors = np.linspace(0.9, 1.1, 21)
    found = fit(LENGTHS, np.outer(factors, line(2e-6, 4e9)), 1)
    value = found.line.latency_seconds
    assert 0.9 * 2e-6 < value.low < value.value < value.high < 1.1 * 2e-6
    assert value.value == pytest.approx(2e-6)
    assert found.half_length.low == pytest.approx(found.half_length.high)


def test_a_round_without_a_value_does_not_count():
    table = np.array([line(2e-6, 4e9)] * 3)
    table[1, 4] = np.nan
    assert fit(LENGTHS, table, 1).line.latency_seconds.value == pytest.approx(2e-6)
    assert fit(LENGTHS[:2], table[:, :2], 1) is None


def test_half_of_the_best_rate():
    assert half_of_best([1, 2, 4, 8], [1.0, 1.0, 1.0, 1.0]) == pytest.approx(4)
    assert half_of_best([8, 16], [1.0, 2.0]) == 8


def test_loggp_from_its_own_definition():
    """Round trips as the model has them, with gaps of g + (k - 1) G between the messages."""
    for rounds in (3, 6):
        found = loggp(SIZES, *round_trips(dict(zip(NAMES, (5e-6, 1e-6, 3e-6, 1e-9), strict=True)), rounds), COUNT)
        for name, true in zip(NAMES, (5e-6, 1e-6, 3e-6, 1e-9), strict=True):
            assert found[name].value == pytest.approx(true)
            assert found[name].low == (None if rounds == 3 else pytest.approx(true))


SIZES, COUNT = [8, 1024, 65536], 16
NAMES = ("latency_seconds", "overhead_seconds", "gap_seconds", "gap_seconds_per_byte")


def round_trips(true, rounds, noise=0.0, seed=1):
    """What loggp takes, by the model with these parameters; noise: relative, of every round trip."""
    latency, overhead, gap, per_byte = (true[name] for name in NAMES)
    sizes = np.array(SIZES, float)
    one = 2 * (latency + 2 * overhead) + 0 * sizes
    many = one + (COUNT - 1) * (gap + (sizes - 1) * per_byte)
    delay = 2 * one
    delayed = one + (COUNT - 1) * (delay + overhead)
    source = np.random.default_rng(seed)
    rows = [row * np.exp(noise * source.standard_normal((rounds, len(sizes)))) for row in (one, many, delayed)]
    return (*rows, np.array([delay] * rounds))


def test_the_intervals_of_loggp_hold_what_is_true():
    true = dict(zip(NAMES, (5e-6, 1e-6, 3e-6, 1e-9), strict=True))
    held = dict.fromkeys(NAMES, 0)
    for seed in range(200):
        found = loggp(SIZES, *round_trips(true, 8, 0.002, seed), COUNT)
        for name, value in found.items():
            assert value.value is not None
            held[name] += value.low <= true[name] <= value.high
    assert min(held.values()) >= 0.95 * 200, held


def test_what_cannot_be_told_from_zero_has_a_bound_and_no_value():
    """Of a network without overhead and gap, noisy round trips gave parameters below zero in two of three cases."""
    true = dict(zip(NAMES, (5e-6, 0.0, 0.0, 1e-9), strict=True))
    for seed in range(50):
        found = loggp(SIZES, *round_trips(true, 8, 0.05, seed), COUNT)
        assert all(value.low >= 0 for value in found.values())
        assert found["latency_seconds"].value is None or found["latency_seconds"].value > 0
        if seed == 0:
            assert found["overhead_seconds"].value is found["gap_seconds"].value is None
            text = loggp_text({name: asdict(value) for name, value in found.items()} | {"rounds": 8})
            assert re.search(
                r"o not resolved \(below [\d.]+ .?s\), g not resolved \(below [\d.]+ ns\), G [\d.]+ ns/B", text
            )
            assert text.endswith("; n = 8")
    # The shorter time of many messages than of one, as on a busy machine.
    busy = [np.full((2, 3), value) for value in (9e-6, 5e-6, 1e-6, 2e-5)]
    found = loggp(SIZES, *busy, COUNT)
    assert {name: value.value for name, value in found.items()} == {
        "latency_seconds": pytest.approx(4.5e-6),
        "overhead_seconds": None,
        "gap_seconds": None,
        "gap_seconds_per_byte": None,
    }
    text = loggp_text({name: asdict(value) for name, value in found.items()} | {"rounds": 2})
    assert text == "L 4.5 µs, o not resolved, g not resolved, G not resolved; n = 2"


def test_a_fit_of_few_rounds_has_no_interval():
    for rounds in (1, 5, 6):
        line_of = fit(LENGTHS, np.array([line(2e-6, 4e9)] * rounds), 1).line
        assert line_of.latency_seconds.low == (pytest.approx(2e-6) if rounds == 6 else None)
        assert line_of.bytes_per_second.high == (pytest.approx(4e9) if rounds == 6 else None)


def test_ranks_in_the_order_of_their_distance():
    where = [0, 10, 1, 11, 2]
    assert nearest_order([[abs(a - b) for b in where] for a in where]) == [0, 2, 4, 1, 3]


def test_neither_latency_nor_rate_is_below_zero():
    lengths = [8 << n for n in range(8)]
    convex = np.array(
        [[(n / 1024) ** 2 + 1e-3 for n in lengths]] * 6
    )  # least squares cross zero below the first length
    falling = np.array([[2.0 - n / 2048 for n in lengths]] * 6)
    for seconds in (convex, falling):
        found = fit(lengths, seconds, 1)
        assert found.line.latency_seconds.low >= 0
        assert found.line.bytes_per_second.low > 0
        assert found.half_length.low >= 0
        assert found.line.misfit > 0.01
    assert fit(lengths, falling, 1).line.bytes_per_second.value == np.inf


def test_any_first_part_of_the_cases_is_spread_over_the_lengths():
    from fathometer.lab.messages.benchmark import spread
    from fathometer.lab.messages.cases import MessageCase

    cases = [
        MessageCase("swap", name, "both", 8 << n, 0, "warm", "here") for name in ("send", "ssend") for n in range(9)
    ]
    order = spread(cases)
    assert sorted(map(str, order)) == sorted(map(str, cases))
    lengths = [case.length for case in order]
    assert lengths[0::2] == lengths[1::2]  # both ways of each
    assert lengths[0::2] == [8, 2048, 128, 32, 512, 16, 64, 256, 1024]


def test_the_fastest_of_each_length_come_by_length():
    from fathometer.lab.messages.rows import CHOICE, choices_of

    def row(protocol, length):
        same = dict.fromkeys(CHOICE, "x") | {"algorithm": "", "rounds": [1, 2], "all_seconds": [1.0, 1.1]}
        return same | {"protocol": protocol, "length_bytes": length, "seconds": 1.05, "ci_low": 1.0, "ci_high": 1.1}

    rows = [row("send", 64), row("ssend", 64), row("send", 512), row("ssend", 8), row("ssend", 512), row("put", 8)]
    assert [choice["length_bytes"] for choice in choices_of(rows, 1)] == [8, 64, 512]
