"""Traces with a spike, and loud ones: the kernel against NumPy, the rule by hand, no alarm on sound gathers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from paths import ROOT
from segy_support import Bytes
from survey_support import run_survey

from fathometer.storage.traces import amplitudes
from fathometer.storage.traces.amplitudes import BESIDE, LOUD, SPIKE, peaks_in
from fathometer.storage.traces.file_layout import Layout
from fathometer.storage.traces.sample_formats import SAMPLE_FORMATS
from fathometer.storage.traces.segy import scan

sys.path.insert(0, str(ROOT / "examples"))

import marmousi
import overthrust


def limits_of(
    away: np.ndarray,
    peaks: np.ndarray,
    rest: np.ndarray,
    kinds: np.ndarray | None = None,
    shots: np.ndarray | None = None,
) -> np.ndarray:
    ones = np.ones(len(peaks), int)
    return amplitudes.limits_of(ones if shots is None else shots, away, peaks, rest, ones if kinds is None else kinds)


def offsets(count: int) -> np.ndarray:
    return 25.0 * np.arange(1, count + 1)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("code", sorted(SAMPLE_FORMATS))
def test_peaks_are_those_of_the_decoded_samples(tmp_path: Path, code: int, order: str) -> None:
    width = np.dtype(SAMPLE_FORMATS[code][0]).itemsize
    stored = np.random.default_rng(code).integers(0, 256, (7, 240 + 31 * width), np.uint8)
    stored[2, 240:] = 0
    if code in (1, 5, 6):  # keep exponents where float32 holds them
        stored[:, 240:].reshape(7, 31, width)[:, :, 0 if order == ">" else width - 1] = 0x3F
    (tmp_path / "a").write_bytes(stored.tobytes())
    layout = Layout(tmp_path / "a", order, 1, code, 0, 31, 7, 0.004, False, ())
    peaks, rest, _ = peaks_in(layout, np.arange(7))
    values = np.abs(layout.decode(stored).astype(np.float64))
    assert np.array_equal(peaks, values.max(axis=1))
    for trace, place in enumerate(values.argmax(axis=1)):
        away = np.abs(np.arange(31) - place) > BESIDE
        assert rest[trace] == values[trace][away].max()


def test_a_spike_and_a_loud_trace() -> None:
    rest = np.random.default_rng(1).uniform(0.5, 1.0, 60)
    peaks = 1.1 * rest
    assert np.isinf(limits_of(offsets(60), peaks, rest)).all()
    peaks[40] = 1.3 * SPIKE
    peaks[50], rest[50] = 1.3 * LOUD, LOUD
    limits = limits_of(offsets(60), peaks, rest)
    assert np.flatnonzero(np.isfinite(limits)).tolist() == [40, 50]
    assert 0.5 < limits[40] < 1.1
    assert 0.5 < limits[50] < 1.1  # what fits is its neighbours', not the trace's own


def test_bad_traces_side_by_side_do_not_hide_each_other() -> None:
    peaks, rest = np.ones(60), 0.9 * np.ones(60)
    peaks[30:34] = 1e4
    assert np.flatnonzero(np.isfinite(limits_of(offsets(60), peaks, rest))).tolist() == [30, 31, 32, 33]


def test_every_other_trace_with_a_spike() -> None:
    peaks, rest = np.ones(60), 0.9 * np.ones(60)
    peaks[::2] = 1e4
    assert np.flatnonzero(np.isfinite(limits_of(offsets(60), peaks, rest))).tolist() == list(range(0, 60, 2))


def test_what_fits_is_that_of_sound_neighbours() -> None:
    peaks, rest = np.ones(60), 0.9 * np.ones(60)
    peaks[[30, 31, 32]] = 1e4
    limits = limits_of(offsets(60), peaks, rest)
    assert limits[[30, 31, 32]].tolist() == [1.0, 1.0, 1.0]


def test_shots_of_few_traces_are_judged_together_and_a_loud_shot_among_others() -> None:
    shots = np.repeat(np.arange(10), 3)
    peaks = np.ones(30)
    peaks[13] = 1e4
    assert np.flatnonzero(
        np.isfinite(limits_of(np.tile(offsets(3), 10), peaks, 0.9 * peaks, shots=shots))
    ).tolist() == [13]
    shots = np.repeat(np.arange(10), 12)
    peaks = np.ones(120)
    peaks[shots == 4] = 1e4
    limits = limits_of(np.tile(offsets(12), 10), peaks, 0.9 * peaks, shots=shots)
    assert np.array_equal(np.isfinite(limits), shots == 4)


def test_sensors_are_compared_with_their_own_kind() -> None:
    """Hydrophones and geophones in turns, in units of their own."""
    kinds = np.tile([12, 11], 30)
    peaks = np.where(kinds == 11, 1e5, 1.0)
    assert np.isinf(limits_of(offsets(60), peaks, 0.9 * peaks, kinds)).all()
    peaks[20] = 1e3
    assert np.flatnonzero(np.isfinite(limits_of(offsets(60), peaks, 0.9 * peaks, kinds))).tolist() == [20]


def test_traces_near_a_source_are_no_alarm() -> None:
    """Amplitudes that fall with the distance, and with its square; from half a trace's step on."""
    for power in (1, 2):
        away = np.abs(25.0 * (np.arange(120) - 40) + 6.0)
        peaks = away ** float(-power)
        assert np.isinf(limits_of(away, peaks, 0.3 * peaks)).all()


def test_single_pulses_among_zeros_and_few_traces_are_not_judged() -> None:
    peaks = np.zeros(60)
    peaks[7] = 1.0
    assert np.isinf(limits_of(offsets(60), peaks, np.zeros(60))).all()
    few = np.array([1.0, 1.0, 1e6, 1.0])
    assert np.isinf(limits_of(offsets(4), few, few)).all()
    same = np.ones(60)
    same[3] = 1e6
    assert np.isinf(limits_of(np.zeros(60), same, same)).all()  # no gather


def test_the_limits_do_not_depend_on_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    where, peaks = rng.uniform(0, 3000, 200), rng.uniform(1, 2, 200)
    peaks[[5, 77]] = 1e3
    limits = limits_of(where, peaks, 0.5 * peaks)
    order = rng.permutation(200)
    assert np.array_equal(limits_of(where[order], peaks[order], 0.5 * peaks[order]), limits[order])
    monkeypatch.setattr(amplitudes, "_ROWS_AT_ONCE", 7)
    assert np.array_equal(limits_of(where, peaks, 0.5 * peaks), limits)


def test_no_alarm_on_a_field_line(shared_data: Path) -> None:
    path = shared_data / "viking_graben" / "viking_small.segy"
    table = scan(path)
    away = np.hypot(*(table.receiver - table.source)[:, :2].T)
    for shot in np.unique(table.ffid):
        rows = np.flatnonzero(table.ffid == shot)
        assert np.isinf(limits_of(away[rows], *peaks_in(table.layout, rows))).all()


def test_no_alarm_on_shots_in_rough_models(shared_data: Path, tmp_path: Path) -> None:
    """Marmousi and Overthrust: few shots, so that each is judged by itself, and all together."""
    for name in ("marmousi", "overthrust"):
        (tmp_path / name).mkdir()
    for name, surveys in (
        ("marmousi", marmousi.write_inputs(shared_data / "marmousi_vti2d", tmp_path / "marmousi", 4, 3)),
        ("overthrust", overthrust.write_inputs(shared_data / "overthrust2d", tmp_path / "overthrust", 4)),
    ):
        table = scan(run_survey(surveys["shots"]).files["shots"])
        away = np.hypot(*(table.receiver - table.source)[:, :2].T)
        for rows in (np.flatnonzero(table.ffid == table.ffid[0]), np.arange(len(away))):
            peaks, rest, kinds = peaks_in(table.layout, rows)
            assert np.isinf(amplitudes.limits_of(table.ffid[rows], away[rows], peaks, rest, kinds)).all(), name


@pytest.mark.parametrize("code", [1, 3, 5, 8])
def test_bytes_swapped_in_pairs(tmp_path: Path, code: int) -> None:
    values = np.arange(8 * 12.0).reshape(8, 12)
    layouts = [
        scan(Bytes(values, format=code, revision=(2, 1), pairs=pairs).write(tmp_path / f"{pairs}.segy")).layout
        for pairs in (False, True)
    ]
    assert layouts[1].pairs
    plain, swapped = (peaks_in(layout, np.arange(8)) for layout in layouts)
    assert np.array_equal(plain, swapped)


def test_ibm_floats_that_are_not_normalised(tmp_path: Path) -> None:
    """The larger exponent may belong to the smaller number."""
    words = np.array([[0x42000001, 0x40800000, 0x40800001, 0x41000010, 0, 0, 0x3FFFFFFF, 0x40400000]], np.uint32)
    stored = np.zeros((1, 240 + 32), np.uint8)
    stored[:, 240:] = words.astype(">u4").view(np.uint8)
    (tmp_path / "a").write_bytes(stored.tobytes())
    layout = Layout(tmp_path / "a", ">", 1, 1, 0, 8, 1, 0.004, False, ())
    values = np.abs(layout.decode(stored).astype(np.float64))[0]
    peaks, rest, _ = peaks_in(layout, np.arange(1))
    assert (peaks[0], rest[0]) == (values.max(), values[5:].max())
    assert values.argmax() == 2


def found(away: np.ndarray, peaks: np.ndarray, shots: np.ndarray | None = None, rest: float = 0.9) -> list[int]:
    return np.flatnonzero(np.isfinite(limits_of(away, peaks, rest * peaks, shots=shots))).tolist()


SOURCES = np.array([300.0, 600.0, 900.0, 1200.0])


def spread(sources: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """41 receivers that stay where they are: numbers of the shots, distances, amplitudes that fall with them."""
    x = 200.0 + 40.0 * np.arange(41)
    away = np.hypot(x[None, :] - sources[:, None], 10.0).reshape(-1)
    return np.repeat(np.arange(len(sources)), 41), away, 50.0 / away


@pytest.mark.parametrize("sources", [SOURCES[:3], SOURCES], ids=len)
@pytest.mark.parametrize(
    "bad", [np.arange(41), np.arange(25), np.flatnonzero(np.arange(41) % 5)], ids=["all", "25", "33"]
)
@pytest.mark.parametrize("spike", [True, False])
def test_most_traces_of_one_of_three_shots(sources: np.ndarray, bad: np.ndarray, spike: bool) -> None:
    shots, away, peaks = spread(sources)
    rest = 0.9 * peaks
    assert np.isinf(limits_of(away, peaks, rest, shots=shots)).all()
    clean = peaks.copy()
    peaks[bad] = 1e4
    if not spike:
        rest[bad] = 0.9e4
    limits = limits_of(away, peaks, rest, shots=shots)
    wrong = np.flatnonzero(np.isfinite(limits))
    assert set(wrong) <= set(bad)
    assert len(wrong) >= len(bad) - 1  # one beside the sources of others may be as loud as they are
    assert (limits[wrong] < 50 * clean[wrong]).all()  # bad neighbours are not what fits


@pytest.mark.parametrize(("count", "times"), [(4, 1e3), (5, 1e3), (8, 1e3), (8, 1e4), (11, 1e4)])
def test_many_loud_traces_side_by_side(count: int, times: float) -> None:
    """In the one shot that there is; what fits them is that of the sound ones around."""
    away = offsets(60)
    clean = 50.0 / away
    peaks = clean.copy()
    bad = np.arange(30, 30 + count)
    peaks[bad] *= times
    limits = limits_of(away, peaks, 0.9 * peaks)
    assert np.flatnonzero(np.isfinite(limits)).tolist() == bad.tolist()
    assert (limits[bad] < 2 * clean[bad]).all()


@pytest.mark.parametrize("count", [25, 45])
def test_a_cable_of_loud_traces_among_many(count: int) -> None:
    for away in (12.5 * np.arange(1, 481), np.abs(12.5 * (np.arange(480) - 240) + 6.0)):
        peaks = 50.0 / away
        peaks[100 : 100 + count] *= 1e4
        assert found(away, peaks) == list(range(100, 100 + count))


def test_every_sixth_trace_of_a_part_of_the_shot() -> None:
    away = offsets(120)
    peaks = 50.0 / away
    bad = np.arange(20, 100, 6)
    peaks[bad] *= 1e4
    assert found(away, peaks) == bad.tolist()


@pytest.mark.parametrize("bad", [np.arange(5), np.arange(36, 41)], ids=["near", "far"])
def test_many_loud_traces_at_an_end_are_told_by_other_shots(bad: np.ndarray) -> None:
    """Alone, the nearest or the farthest ones may be as loud as they are for their distance."""
    shots, away = np.repeat(np.arange(4), 41), np.tile(offsets(41), 4)
    peaks = 50.0 / away
    peaks[bad] *= 1e4
    assert found(away, peaks, shots) == bad.tolist()
    assert found(away[:41], peaks[:41]) == []


def test_loud_traces_of_one_shot_do_not_hide_those_of_another() -> None:
    shots, away = np.repeat(np.arange(4), 41), np.tile(offsets(41), 4)
    peaks = 50.0 / away
    bad = np.r_[39, 40, 41 + np.arange(36, 41)]
    peaks[bad] *= 1e4
    assert found(away, peaks, shots) == bad.tolist()


def test_the_same_loud_channels_of_all_shots() -> None:
    shots, away = np.repeat(np.arange(4), 51), np.tile(offsets(51), 4)
    peaks = 50.0 / away
    bad = np.flatnonzero((np.arange(204) % 51 > 30) & (np.arange(204) % 51 < 35))
    peaks[bad] *= 1e4
    assert found(away, peaks, shots) == bad.tolist()


@pytest.mark.parametrize("reach", [41, 30], ids=["all", "nearer"])
def test_loud_traces_of_a_shot_that_is_weaker_than_the_others(reach: int) -> None:
    """Beside theirs, all of its traces are weak; the loud ones are louder than theirs. reach: traces of the others,
    which need not have the distances of the loud ones."""
    shots = np.r_[np.zeros(41, int), np.repeat([1, 2], reach)]
    away = np.r_[offsets(41), np.tile(offsets(reach), 2)]
    for weak in (0.05, 1e-3):
        peaks = np.where(shots == 0, weak, 1.0) * 50.0 / away
        bad = np.arange(32, 38)
        peaks[bad] *= 1e6
        assert found(away, peaks, shots) == bad.tolist()


def test_some_sound_traces_of_a_shot_that_is_else_too_weak() -> None:
    """By the other shots its loud traces are as they must be."""
    shots, away = np.repeat(np.arange(5), 60), np.tile(offsets(60), 5)
    peaks = 50.0 / away
    peaks[(shots == 2) & ~((away > 700) & (away < 900))] *= 1e-3
    assert found(away, peaks, shots) == []


def test_a_direct_wave_that_a_mute_leaves_near_the_source_is_no_alarm() -> None:
    """In each shot of a split spread, and of four lines of receivers."""
    x = 25.0 * np.arange(121)
    for y in (np.zeros(1), np.array([0.0, 300.0, 600.0, 900.0])):
        away = np.hypot((x - 1500.0)[None, :], (y - 20.0)[:, None]).reshape(-1)
        peaks = np.where(away < 220.0, 1.0, 1e-3)
        assert found(np.tile(away, 3), np.tile(peaks, 3), np.repeat(np.arange(3), away.size)) == []
        assert found(away, peaks) == []


def test_two_shots_cannot_tell_which_is_loud() -> None:
    shots, away, peaks = spread(SOURCES[:2])
    peaks[:41] *= 1e4
    assert found(away, peaks, shots) == []


@pytest.mark.parametrize("power", [1.5, 2.0])
def test_a_near_shot_among_far_ones_is_no_alarm(power: float) -> None:
    shots = np.repeat(np.arange(30), 20)
    away = np.repeat(np.r_[50.0, np.linspace(3000, 9000, 29)], 20) + np.tile(offsets(20) - 25, 30)
    assert found(away, away**-power, shots) == []


def test_sources_of_two_strengths_are_no_alarm() -> None:
    shots, away = np.repeat(np.arange(10), 20), np.tile(offsets(20), 10)
    assert found(away, np.where(shots % 3 == 0, 100.0, 1.0), shots) == []


@pytest.mark.parametrize("near", [1.0, 5.0, 50.0])
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_irregular_spreads_are_no_alarm(near: float, power: float) -> None:
    away = np.r_[near, 500.0 + 500.0 * np.arange(20)]
    assert found(away, away**-power) == []
    peaks = away**-power
    peaks[9] *= 1e3
    assert found(away, peaks) == [9]


@pytest.mark.parametrize("decibels", [10, 20, 50, 100])
def test_absorption_beside_the_source_is_no_alarm(decibels: float) -> None:
    """In 100 m, with amplitudes that fall with the square of the distance."""
    away = 10.0 * np.arange(1, 61)
    assert found(away, away**-2 * 10 ** (-decibels / 20 * away / 100)) == []
    for count in (5, 8, 24):
        away = 100.0 + 50.0 * np.arange(count)
        assert found(away, away**-2 * 10 ** (-0.02 * away)) == []


@pytest.mark.parametrize("loud", [100.0, 1e6])
@pytest.mark.parametrize("components", [2, 4])
def test_a_component_in_another_unit_is_no_alarm(loud: float, components: int) -> None:
    peaks = np.tile(np.r_[loud, np.ones(components - 1)], 20)
    assert found(np.repeat(offsets(20), components), peaks) == []


def test_arrivals_that_only_few_shots_have_are_no_alarm() -> None:
    """At far offsets, where in the others none has come within the record."""
    shots, away = np.repeat(np.arange(12), 60), np.tile(offsets(60), 12)
    peaks = 1.0 / away
    peaks[(away > 900) & (shots > 0)] = 1e-9
    assert found(away, peaks, shots) == []


def test_no_alarm_on_a_field_line_as_a_whole(shared_data: Path) -> None:
    table = scan(shared_data / "viking_graben" / "viking_small.segy")
    away = np.hypot(*(table.receiver - table.source)[:, :2].T)
    peaks, rest, kinds = peaks_in(table.layout, np.arange(len(away)))
    assert np.isinf(limits_of(away, peaks, rest, kinds, table.ffid)).all()
