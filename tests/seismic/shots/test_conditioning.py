"""Conditioning of recorded traces: each step against its formula, the order of all, and that no trace sees others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analytic import VELOCITY, WAVELENGTH, exact_2d, exact_3d
from cli_support import INTERVAL, MIGRATE, NX, RECEIVERS, SAMPLES, call, inputs, survey
from survey_support import run_survey

from fathometer.base.errors import InputError
from fathometer.seismic.shots.acquisition import Acquisition, acquisition_of
from fathometer.seismic.survey import load_survey, survey_of
from fathometer.seismic.traces.balance import Agc, Rms
from fathometer.seismic.traces.bandpass import BandPass
from fathometer.seismic.traces.linesource import LineSource, half_integral
from fathometer.seismic.traces.mute import TopMute
from fathometer.storage.traces.segy import GatherWriter

CORNERS = (4.0, 8.0, 30.0, 40.0)
ALL: dict[str, Any] = {
    "dead_below": 0.1,
    "polarity": "reversed",
    "band_pass": [2, 6, 40, 60],
    "line_source": 1500.0,
    "balance": {"kind": "agc", "window": 0.1},
}
MUTE = {"velocity": 1500.0, "taper": 0.02}


def noise(n: int, ns: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, ns))


def nowhere(traces: np.ndarray) -> np.ndarray:
    return np.zeros(len(traces))


# --- band-pass


@pytest.mark.parametrize(
    ("frequency", "gain"),
    [(1.0, 0.0), (6.0, 0.5), (10.0, 1.0), (20.0, 1.0), (26.0, 1.0), (35.0, 0.5), (45.0, 0.0), (60.0, 0.0)],
)
@pytest.mark.parametrize("interval", [0.002, 0.004])
def test_a_sinusoid_passes_as_the_trapezoid_says_without_a_shift(
    interval: float, frequency: float, gain: float
) -> None:
    """0.5 midway on a flank is exact, for the window's spectrum is even; elsewhere what it leaks is below 0.3 %."""
    t = interval * np.arange(round(8.0 / interval))
    wave = np.cos(2 * np.pi * frequency * t + 0.3)
    got = BandPass(CORNERS, interval)(wave[None], np.zeros(1))[0]
    middle = np.abs(t - 4.0) < 2.0  # the ends see the traces end
    assert np.abs(got - gain * wave)[middle].max() <= 3e-3


def test_the_band_pass_has_zero_phase_and_is_linear() -> None:
    traces, step = noise(2, 301), BandPass(CORNERS, 0.004)
    there = step(traces, nowhere(traces))
    back = step(traces[:, ::-1], nowhere(traces))[:, ::-1]
    np.testing.assert_allclose(back, there, atol=1e-13)
    np.testing.assert_allclose(step(traces[:1] + traces[1:], np.zeros(1)), there[:1] + there[1:], atol=1e-13)


def test_a_spike_becomes_the_ormsby_wavelet() -> None:
    """The sum of four squared sincs, under its window of three over the narrower flank, with the area of the
    trapezoid."""
    interval, spike = 0.004, np.zeros((1, 601))
    spike[0, 300] = 1.0
    t = interval * (np.arange(601) - 300)
    f1, f2, f3, f4 = CORNERS
    parts = [np.pi * f**2 * np.sinc(f * t) ** 2 for f in CORNERS]
    formula = ((parts[3] - parts[2]) / (f4 - f3) - (parts[1] - parts[0]) / (f2 - f1)) / np.pi
    window = np.where(np.abs(t) < 0.75, np.cos(np.pi * t / 1.5) ** 2, 0.0)
    got = BandPass(CORNERS, interval)(spike, np.zeros(1))[0]
    np.testing.assert_allclose(got, interval * formula * window, atol=1e-12)
    late = BandPass(CORNERS, interval)(np.roll(spike, 300), np.zeros(1))[0]
    np.testing.assert_allclose(late, np.append(np.zeros(300), interval * formula * window)[:601], atol=1e-12)


# --- line source


def far_field(wavelengths: float, interval: float = 0.002) -> tuple[float, float]:
    """Relative L2 error of a corrected 3D trace against the 2D one, and the amplitude that fits best."""
    r = wavelengths * WAVELENGTH
    t = interval * np.arange(round((r / VELOCITY + 0.5) / interval))
    got = LineSource(VELOCITY, 0.0, interval)(exact_3d(t, r)[None], np.zeros(1))[0]
    wanted = exact_2d(t, r)
    error = np.linalg.norm(got - wanted) / np.linalg.norm(wanted)
    return float(error), float(got @ wanted / (wanted @ wanted))


@pytest.mark.parametrize("interval", [0.002, 0.004])
def test_a_point_source_becomes_a_line_source_to_the_order_of_the_far_field(interval: float) -> None:
    """What the far-field approximation leaves out is of the order 1 / (k r): that is the tolerance, and it halves from
    distance to distance. The amplitude, in the units of both, errs to second order only."""
    distances = (5, 10, 20, 40)
    errors = []
    for wavelengths in distances:
        error, amplitude = far_field(wavelengths, interval)
        order = 1 / (2 * np.pi * wavelengths)
        assert error <= order
        assert abs(amplitude - 1) <= order**2
        errors.append(error)
    assert np.array(errors[1:]) / errors[:-1] == pytest.approx(0.5, rel=0.01)


def test_the_half_integral_of_a_pulse() -> None:
    """I½ f (t) = 2 / sqrt(pi) int f(t - x^2) dx from 0, by quadrature; pulse of 8 samples either side."""
    t, x = 0.004 * np.arange(500), np.linspace(0, 1.5, 20001)
    pulse = np.exp(-(((t - 0.5) / 0.03) ** 2))[None]
    integrand = np.exp(-(((t[:, None] - x**2 - 0.5) / 0.03) ** 2))
    wanted = 2 / np.sqrt(np.pi) * np.trapezoid(integrand, x, axis=1)
    got = half_integral(pulse, 0.004)[0]
    assert np.abs(got - wanted).max() <= 1e-5 * wanted.max()


def test_the_line_source_counts_time_from_the_source() -> None:
    """Nothing before t = 0 enters, and a delay of recording is no delay of the source."""
    t = 0.004 * np.arange(300)
    traces = np.exp(-(((t - 0.8) / 0.03) ** 2))[None]
    late = LineSource(1500.0, 0.4, 0.004)(traces[:, 100:], np.zeros(1))
    whole = LineSource(1500.0, 0.0, 0.004)(traces, np.zeros(1))
    np.testing.assert_allclose(late, whole[:, 100:], atol=1e-4 * whole.max())
    assert not np.any(LineSource(1500.0, -1.2, 0.004)(traces, np.zeros(1)))


# --- balance


@pytest.mark.parametrize("half", [1, 7, 400])
def test_agc_divides_by_the_rms_amplitude_around(half: int) -> None:
    traces = noise(3, 120) * np.exp(-np.arange(120) / 20)
    traces[0, :40], traces[2] = 0.0, 0.0
    got = Agc(2 * half * 0.004, 0.004)(traces, nowhere(traces))
    for trace, row in zip(traces, got, strict=True):
        live = trace != 0
        mean = np.mean(trace[live] ** 2) if live.any() else 0.0
        for k in range(120):
            around = slice(max(0, k - half), k + half + 1)
            there = trace[around][live[around]]
            local = np.mean(there**2) if len(there) else 0.0
            wanted = trace[k] / np.sqrt(local + 1e-4 * mean) if trace[k] else 0.0
            assert row[k] == pytest.approx(wanted, rel=1e-12)


def test_rms_balance_does_not_count_what_a_mute_took() -> None:
    traces = noise(3, 200) * np.array([[1.0], [1e6], [0.0]])
    traces[1, :150] = 0.0
    got = Rms()(traces, nowhere(traces))
    assert np.mean(got[0] ** 2) == pytest.approx(1.0, rel=1e-12)
    assert np.mean(got[1, 150:] ** 2) == pytest.approx(1.0, rel=1e-12)
    assert not np.any(got[2])


# --- all of it


def gathers(folder: Path, shots: int = 4, samples: int = 100) -> np.ndarray:
    """FFIDs 11, 12, ... with sources at x = 0, 100, ... and six receivers at offsets 100 to 350 m: receiver 2 holds
    zeros, receiver 4 is weak. Returns all traces."""
    traces = noise(6 * shots, samples).astype(np.float32)
    traces[2::6], traces[4::6] = 0.0, 1e-3 * traces[4::6]
    with GatherWriter(folder / "a.segy", samples, INTERVAL, len(traces)) as file:
        for shot in range(shots):
            x = 100.0 * shot
            receivers = np.array([[x + 100 + 50 * k, 0.0, 10.0] for k in range(6)])
            file.write(6 * shot, 11 + shot, np.array([x, 0, 5]), receivers, traces[6 * shot : 6 * shot + 6])
    return traces


def acquired(folder: Path, conditioning: dict[str, Any], dimension: int | None = 2, **keys: Any) -> Acquisition:
    values = {
        "model": {"vp": "vp.npy"},
        "acquisition": {"gathers": "a.segy", "conditioning": conditioning} | keys,
        "wavelet": {"kind": "ricker", "peak_frequency": 15.0},
    }
    return acquisition_of(survey_of(values, folder / "survey.toml"), dimension)


@pytest.mark.parametrize(
    ("keys", "ffids", "channels", "left_out"),
    [
        ({}, [11, 12, 13, 14], [1, 2, 3, 4, 5, 6], {}),
        ({"shots": {"ffid": [12, 13]}}, [12, 13], [1, 2, 3, 4, 5, 6], {"shots": (2, 12)}),
        ({"shots": {"every": 3}}, [11, 14], [1, 2, 3, 4, 5, 6], {"shots": (2, 12)}),
        ({"shots": {"ffid": [12, 99], "every": 2}}, [12, 14], [1, 2, 3, 4, 5, 6], {"shots": (2, 12)}),
        ({"offsets": [150, 250]}, [11, 12, 13, 14], [2, 3, 4], {"offsets": (0, 12)}),
        (
            {"shots": {"every": 2}, "offsets": [320.5, 1e9]},
            [11, 13],
            [6],
            {"shots": (2, 12), "offsets": (0, 10)},
        ),
    ],
)
def test_what_is_taken(
    tmp_path: Path, keys: dict[str, Any], ffids: list[int], channels: list[int], left_out: dict[str, Any]
) -> None:
    traces = gathers(tmp_path)
    got = acquired(tmp_path, keys)
    assert [(shot.index, shot.ffid) for shot in got.shots] == list(enumerate(ffids))
    for shot in got.shots:
        assert shot.channel.tolist() == channels
        assert shot.receivers[:, 0].tolist() == [shot.source[0] + 50 + 50 * c for c in channels]
        rows = [6 * (shot.ffid - 11) + c - 1 for c in channels]
        assert np.array_equal(got.traces(shot, np.arange(len(channels))), traces[rows])
    told = {one["step"]: (one["shots_left_out"], one["traces_left_out"]) for one in got.conditioning.selected}
    assert told == left_out


def test_a_shot_without_a_trace_in_the_offsets_is_left_out(tmp_path: Path) -> None:
    with GatherWriter(tmp_path / "a.segy", 10, INTERVAL, 2) as file:
        for row, x in enumerate((500.0, 50.0)):
            file.write(row, row + 1, np.zeros(3), np.array([[x, 0, 0]]), np.full((1, 10), row + 1.0))
    got = acquired(tmp_path, {"offsets": [0, 100]})
    assert [(shot.index, shot.ffid) for shot in got.shots] == [(0, 2)]
    assert np.array_equal(got.traces(got.shots[0], np.array([0])), np.full((1, 10), 2.0))
    assert got.conditioning.selected[0]["shots_left_out"] == 1


@pytest.mark.parametrize(("below", "dead"), [(0.0, [2]), (0.01, [2, 4])])
def test_dead_traces(tmp_path: Path, below: float, dead: list[int]) -> None:
    traces = gathers(tmp_path)
    got = acquired(tmp_path, {"dead_below": below})
    assert got.conditioning.dead is not None
    for shot in got.shots:
        wanted = traces[6 * shot.index : 6 * shot.index + 6].copy()
        wanted[dead] = 0.0
        assert np.array_equal(got.traces(shot, np.arange(6)), wanted)
    (told,) = got.conditioning.record(got.shots, got.conditioning.dead.detected)
    assert (told["step"], told["below"], told["traces_left_out"]) == ("dead traces", below, 4 * len(dead))
    assert told["first"][: len(dead)] == [{"ffid": 11, "channel": one + 1} for one in dead]


def test_the_steps_in_their_order(tmp_path: Path) -> None:
    traces = gathers(tmp_path).astype(np.float64)
    traces[2::6], traces[4::6] = 0.0, 0.0
    got = acquired(tmp_path, ALL, mute=MUTE)
    offset = 100.0 + 50.0 * np.arange(6)
    wanted = LineSource(1500.0, 0.0, INTERVAL)(BandPass((2, 6, 40, 60), INTERVAL)(-traces[:6], offset), offset)
    wanted = Agc(0.1, INTERVAL)(TopMute(1500.0, 0.02, 0.0, INTERVAL)(wanted, offset), offset)
    rows = got.traces(got.shots[0], np.arange(6))
    assert np.array_equal(rows, wanted.astype(np.float32))
    assert not rows[0, :17].any()  # 100 m at 1500 m/s: nothing smeared to before the mute
    names = [one["step"] for one in got.conditioning.record(got.shots, [])]
    assert names == ["dead traces", "polarity", "band-pass", "line source", "mute", "balance"]


@pytest.mark.parametrize("balance", [{"kind": "rms"}, {"kind": "agc", "window": 0.1}])
def test_a_trace_is_bitwise_the_same_whatever_others_are_read(tmp_path: Path, balance: dict[str, Any]) -> None:
    gathers(tmp_path)
    keys = ALL | {"balance": balance}
    whole = [acquired(tmp_path, keys, mute=MUTE).traces(shot, np.arange(6)) for shot in acquired(tmp_path, keys).shots]
    for some in ([0], [4], [5, 1], [2, 4], [1, 2, 3], [4, 3, 2, 1, 0]):
        got = acquired(tmp_path, keys, mute=MUTE)
        for shot in got.shots:
            assert got.traces(shot, np.array(some)).tobytes() == whole[shot.index][some].tobytes()


def test_the_mute_counts_the_traces_that_it_changes(tmp_path: Path) -> None:
    gathers(tmp_path)
    got = acquired(tmp_path, {}, mute={"velocity": 1500.0, "taper": 0.0})
    assert got.conditioning.record(got.shots, [])[0]["traces_muted"] == 24
    step = TopMute(1000.0, 0.02, 0.1, 0.004)
    offset = np.array([60.0, 79.0, 81.0, 150.0])
    changed = (step(np.ones((4, 50)), offset) != 1.0).any(axis=1)
    assert step.affects(offset).tolist() == changed.tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("keys", "dimension", "words"),
    [
        ({"band_pass": [5, 10, 100, 130]}, 2, ["band_pass", "130 Hz", "up to 125 Hz", "0.004 s"]),
        ({"line_source": 1500.0}, 3, ["line_source", "3D", "only in 2D"]),
        ({"shots": {"ffid": [90, 99]}}, 2, ["shots.ffid", "[90, 99]", "4 shots", "11 to 14"]),
        ({"offsets": [0, 99]}, 2, ["offsets", "[0, 99] m", "100 to 350 m"]),
        ({"offsets": [99, 0]}, 2, ["offsets", "[99, 0]", "increasing"]),
        ({"shots": {"every": 0}}, 2, ["shots.every", "found 0", "from 1"]),
        ({"shots": {"ffid": [3, 2]}}, 2, ["shots.ffid", "[3, 2]", "[first, last]"]),
        ({"balance": {"kind": "loud"}}, 2, ["balance.kind", '"loud"', '"agc" or "rms"']),
        ({"polarity": "up"}, 2, ["polarity", '"up"', '"reversed"']),
        ({"dead_below": -1}, 2, ["dead_below", "-1", "from 0 to 1"]),
        ({"bandpass": [1, 2, 3, 4]}, 2, ["bandpass", "did you mean band_pass?"]),
    ],
)
def test_what_is_refused(tmp_path: Path, keys: dict[str, Any], dimension: int, words: list[str]) -> None:
    gathers(tmp_path)
    with pytest.raises(InputError) as caught:
        acquired(tmp_path, keys, dimension)
    for word in ["survey.toml", "[acquisition] conditioning", *words]:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_conditioning_is_for_recorded_shots() -> None:
    values = {
        "model": {"vp": "vp.npy"},
        "acquisition": {"sources": {"x": 0, "z": 0}, "receivers": {"x": 0, "z": 0}, "conditioning": ALL},
        "wavelet": {"kind": "ricker", "peak_frequency": 15.0},
        "propagation": {"duration": 1.0},
    }
    with pytest.raises(InputError, match=r"\[acquisition\] conditioning: found without gathers"):
        survey_of(values, Path("survey.toml"))


# --- whole runs


def test_image_and_record_are_the_same_on_one_rank_and_two(tmp_path: Path) -> None:
    """Receivers lie between cells, so that ranks share some. One that both have is dead, and one of the second rank's.
    Two ranks read pieces of the traces beside the time steps. (Of the second shot the page shows a gather.)"""
    inputs(tmp_path)
    receivers = RECEIVERS[:-1] + np.array([3.3, 0.0, 0.0])
    recorded = noise(NX - 1, SAMPLES)
    recorded[NX // 2 - 1], recorded[NX - 5] = 0.0, 1e-6
    with GatherWriter(tmp_path / "recorded.segy", SAMPLES, INTERVAL, 2 * len(recorded)) as file:
        file.write(0, 7, np.array([200.0, 0, 20]), receivers, recorded)
        file.write(len(recorded), 8, np.array([100.0, 0, 20]), receivers, noise(NX - 1, SAMPLES, 2))
    keys = {f"acquisition.conditioning.{key}": value for key, value in ALL.items()} | {"acquisition.mute": MUTE}
    images, steps = [], []
    for ranks, traces in ((1, "whole"), (2, "slices")):
        more = {"output.directory": f"out{ranks}", "storage.traces": traces, "parallel.decomposition": [ranks, 1]}
        path = survey(tmp_path, MIGRATE | keys | more, f"{ranks}.toml")
        done = call("migrate", path, "--ranks", ranks, "--threads", 1, "--quiet")
        assert done.code == 0, done.err
        images.append((tmp_path / f"out{ranks}" / "image.rsf@").read_bytes())
        steps.append(json.loads((tmp_path / f"out{ranks}" / "run.json").read_text())["results"]["conditioning"])
    assert images[0] == images[1]
    assert np.frombuffer(images[0], np.float32).any()
    assert steps[0] == steps[1]
    names = ["dead traces", "polarity", "band-pass", "line source", "mute", "balance", "resampling"]
    assert [one["step"] for one in steps[0]] == names
    assert steps[0][0]["traces_left_out"] == 2
    assert steps[0][4]["traces_muted"] == 2 * (NX - 1)


def test_field_data(shared_data: Path, tmp_path: Path) -> None:
    """Two of four Viking Graben shots, with one of their traces and what the mute leaves of it."""
    np.save(tmp_path / "vp.npy", np.full((86, 30), 1480.0, np.float32))
    keys = {
        "model.vp": "vp.npy",
        "model.spacing": [40.0, 40.0],
        "acquisition.gathers": str((shared_data / "viking_graben" / "viking_small.segy").resolve()),
        "acquisition.mute": {"velocity": 1480.0, "taper": 0.1},
        "acquisition.conditioning": {
            "shots": {"every": 2},
            "offsets": [0.0, 1500.0],
            "dead_below": 0.01,
            "band_pass": [1.0, 3.0, 8.0, 12.0],
            "line_source": 1500.0,
            "balance": {"kind": "rms"},
        },
        "wavelet.kind": "ricker",
        "wavelet.peak_frequency": 4.0,
        "propagation.duration": 1.5,
    }
    outcome = run_survey(survey(tmp_path, keys))
    results = outcome.record["results"]
    shots, offsets, dead, *_, mute, balance, resampling = results["conditioning"]
    assert (results["shots"], shots["shots_left_out"], shots["traces_left_out"]) == (2, 2, 240)
    assert offsets["traces_left_out"] == 240 - results["traces"]
    assert (dead["traces_left_out"], mute["traces_muted"]) == (0, results["traces"])
    assert (balance["kind"], resampling["from_seconds"]) == ("rms", 0.004)
    acquisition = acquisition_of(load_survey(tmp_path / "survey.toml"), 2)
    every = acquisition.traces(acquisition.shots[0], np.arange(len(acquisition.shots[0].receivers)))
    away = np.abs(acquisition.shots[0].receivers[:, 0] - acquisition.shots[0].source[0])
    assert away.max() <= 1500
    for trace, offset in zip(every, away, strict=True):
        assert not trace[0.004 * np.arange(len(trace)) < offset / 1480.0].any()
        assert np.mean(trace[trace != 0] ** 2) == pytest.approx(1.0, rel=1e-5)
