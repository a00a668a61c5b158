"""Wavelets: zero phase, their band and their length, and series from files."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fathometer.base.errors import InputError
from fathometer.seismic.survey import Survey, survey_of
from fathometer.seismic.traces.wavelet import Wavelet, wavelet_of

RICKER = {"kind": "ricker", "peak_frequency": 15.0}
ORMSBY = {"kind": "ormsby", "corners": [3.0, 8.0, 30.0, 40.0]}


def survey(wavelet: dict[str, Any], folder: Path = Path()) -> Survey:
    values = {"model": {"vp": "vp.npy"}, "acquisition": {"gathers": "*.segy"}, "wavelet": wavelet}
    return survey_of(values, folder / "survey.toml")


def spectrum(wavelet: Wavelet) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies (Hz) and the real spectrum, relative to its maximum, of a wavelet centred on t = 0."""
    n, dt = 16384, 0.001
    t = dt * (np.arange(n) - n // 2)
    amplitude = np.fft.rfft(np.fft.ifftshift(wavelet(t)))
    assert np.max(np.abs(amplitude.imag)) <= 1e-6 * np.max(np.abs(amplitude))  # zero phase
    return np.fft.rfftfreq(n, dt), amplitude.real / np.max(np.abs(amplitude))


@pytest.mark.parametrize("keys", [RICKER, ORMSBY], ids=["ricker", "ormsby"])
def test_zero_phase_with_peak_one(keys: dict[str, Any]) -> None:
    wavelet = wavelet_of(survey(keys))
    t = np.linspace(-1.0, 1.0, 2001)
    values = wavelet(t)
    assert wavelet(np.zeros(1))[0] == pytest.approx(1.0, abs=1e-15)
    assert np.argmax(np.abs(values)) == 1000
    assert np.allclose(values, values[::-1], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("keys", [RICKER, ORMSBY], ids=["ricker", "ormsby"])
def test_negligible_outside_lead(keys: dict[str, Any]) -> None:
    wavelet = wavelet_of(survey(keys))
    outside = wavelet.lead * np.linspace(1.0001, 4.0, 5001)
    assert np.max(np.abs(wavelet(outside))) < 1e-6
    just_inside = wavelet.lead * np.linspace(0.9, 0.9999, 2001)
    assert np.max(np.abs(wavelet(just_inside))) > 1e-6
    assert np.array_equal(wavelet(outside), wavelet(-outside))


def test_ricker_spectrum() -> None:
    wavelet = wavelet_of(survey(RICKER))
    f, amplitude = spectrum(wavelet)
    assert wavelet.fmax == 37.5
    assert f[np.argmax(amplitude)] == pytest.approx(15.0, abs=f[1])
    exact = (f / 15.0) ** 2 * np.exp(1.0 - (f / 15.0) ** 2)
    assert np.max(np.abs(amplitude - exact)) <= 1e-5


def test_ormsby_spectrum() -> None:
    wavelet = wavelet_of(survey(ORMSBY))
    f, amplitude = spectrum(wavelet)
    assert wavelet.fmax == 40.0
    flat = amplitude[(f >= 11.0) & (f <= 27.0)]
    assert np.max(np.abs(flat / np.mean(flat) - 1.0)) <= 0.02
    assert np.max(np.abs(amplitude[f >= 40.0])) <= 0.03
    assert np.max(np.abs(amplitude[f >= 45.0])) <= 1e-3
    assert abs(amplitude[0]) <= 1e-2
    half = np.interp([5.5, 35.0], f, amplitude) / np.mean(flat)
    assert half == pytest.approx([0.5, 0.5], abs=0.02)


def write(path: Path, series: np.ndarray) -> None:
    if path.suffix == ".npy":
        np.save(path, series)
    elif path.suffix == ".rsf":
        path.with_name("w.bin").write_bytes(series.astype("<f8").tobytes())
        path.write_text(f'n1={series.size} d1=0.002 data_format="native_double" esize=8 in="w.bin"\n')
    else:
        path.write_text("# a wavelet\n" + "\n".join(repr(float(value)) for value in series) + "\n")


@pytest.mark.parametrize("name", ["w.npy", "w.rsf", "w.txt"])
def test_a_series_from_a_file(tmp_path: Path, name: str) -> None:
    ricker = wavelet_of(survey(RICKER))
    write(tmp_path / name, ricker(0.002 * np.arange(251) - 0.2))
    keys = {"kind": "file", "path": name, "sample_interval": 0.002, "zero": 0.2, "maximum_frequency": 60.0}
    wavelet = wavelet_of(survey(keys, tmp_path))
    assert wavelet.fmax == 60.0
    t = np.linspace(-0.5, 0.5, 3333).reshape(3, 1111)
    assert np.max(np.abs(wavelet(t) - ricker(t))) <= 1e-4
    assert np.max(np.abs(wavelet(wavelet.lead * np.array([-1.001, 1.001, 3.0])))) <= 1e-6


def test_a_survey_file_that_begins_at_its_peak_is_zero_before(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.array([1.0, 0.5, 0.2, 0.1, 0.0]))
    keys = {"kind": "file", "path": "w.npy", "sample_interval": 0.004, "maximum_frequency": 50.0}
    wavelet = wavelet_of(survey(keys, tmp_path))
    assert not np.any(wavelet(np.linspace(-2.0, -1.0001 * wavelet.lead, 100)))


class Unpickled(Exception):
    """Raised by a pickle that is opened."""


class Trap:
    def __reduce__(self) -> tuple[Any, ...]:
        return (_spring, ())


def _spring() -> None:
    raise Unpickled


def pickled(path: Path) -> None:
    np.save(path, np.array([Trap()], dtype=object), allow_pickle=True)


@pytest.mark.parametrize(
    ("name", "make", "words"),
    [
        ("gone.npy", lambda path: None, ["gone.npy", "no such file"]),
        ("w.npy", lambda path: np.save(path, np.array([1.0, np.nan, 0.0])), ["w.npy", "nan", "sample 1"]),
        ("w.npy", lambda path: np.save(path, np.array([1.0, 0.0, np.inf])), ["w.npy", "inf", "sample 2"]),
        ("w.npy", lambda path: np.save(path, np.ones(1)), ["w.npy", "(1,)", "2 or more"]),
        ("w.npy", lambda path: np.save(path, np.ones((4, 5))), ["w.npy", "(4, 5)", "one series"]),
        ("w.npy", lambda path: np.save(path, np.zeros(5)), ["w.npy", "zero throughout"]),
        ("w.npy", lambda path: np.save(path, np.ones(3, dtype=complex)), ["w.npy", "complex"]),
        ("w.npy", lambda path: path.write_bytes(b"rubbish"), ["w.npy", "not an NPY"]),
        ("w.npy", pickled, ["w.npy", "pickled", "never"]),
        ("w.txt", lambda path: path.write_text("1.0\nzwei\n"), ["w.txt", "'zwei'", "line 2"]),
        ("w.txt", lambda path: path.write_bytes(b"\xff\xfe\x00"), ["w.txt", "UTF-8"]),
        ("w.txt", lambda path: path.write_text("# only words\n"), ["w.txt", "(0,)", "2 or more"]),
        ("w.rsf", lambda path: path.write_text("n1=5\n"), ["w.rsf", "in="]),
        ("w.rsf", lambda path: path.write_text('n1=5 in="gone.bin"\n'), ["gone.bin", "no such file"]),
        ("w.rsf", lambda path: path.write_text("nothing\n"), ["w.rsf", "n1"]),
        ("w.rsf", lambda path: path.write_text('n1=5 data_format="ascii_int"\n'), ["w.rsf", "ascii_int"]),
        ("w.rsf", lambda path: path.write_text('n1=5 in="w.rsf"\n'), ["w.rsf", "20 bytes"]),
    ],
)
def test_files_that_hold_no_wavelet(tmp_path: Path, name: str, make: Any, words: list[str]) -> None:
    make(tmp_path / name)
    keys = {"kind": "file", "path": name, "sample_interval": 0.002, "maximum_frequency": 60.0}
    with pytest.raises(InputError) as caught:
        wavelet_of(survey(keys, tmp_path))
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_trap_of_the_pickle_would_spring(tmp_path: Path) -> None:
    pickled(tmp_path / "w.npy")
    with pytest.raises(Unpickled):
        np.load(tmp_path / "w.npy", allow_pickle=True)
    assert pickle.dumps(Trap())


def test_a_band_beyond_nyquist_is_refused(tmp_path: Path) -> None:
    keys = {"kind": "file", "path": "w.npy", "sample_interval": 0.01, "maximum_frequency": 50.0}
    with pytest.raises(InputError, match=r"maximum_frequency: found 50 Hz; allowed: below 50 Hz.*0\.01 s"):
        wavelet_of(survey(keys, tmp_path))


def test_only_what_lies_before_zero_leads(tmp_path: Path) -> None:
    """A long series that begins at its zero costs no steps before it but those of the interpolator."""
    np.save(tmp_path / "w.npy", np.exp(-np.arange(250) / 60.0))
    keys = {"kind": "file", "path": "w.npy", "sample_interval": 0.004, "maximum_frequency": 50.0}
    assert wavelet_of(survey(keys, tmp_path)).lead < 0.2
    later = wavelet_of(survey(keys | {"zero": 0.5}, tmp_path))
    assert later.lead == pytest.approx(wavelet_of(survey(keys, tmp_path)).lead + 0.5)
