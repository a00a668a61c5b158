"""Wavelets: zero phase, their band and their length, and series from files."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fathometer.base.errors import InputError
from fathometer.seismic.survey import Survey, survey_of
from fathometer.seismic.traces.wavelet import Wavelet, notes_of, wavelet_of
from fathometer.seismic.traces.wavelet_file import read_series

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


@pytest.mark.parametrize(
    ("header", "told"),
    [
        (
            "d1=0.004",
            r"sample_interval: found 0.002 s; by the header \(d1, o1\) of .*w.rsf times grow by 0.004 \(no unit",
        ),
        ("d1=0.002 o1=-0.1", r"zero: found 0.2 s; by the header \(d1, o1\) of .*w.rsf t = 0 is 0.1 s from the first"),
        ("d1=0.002 o1=-0.2", None),
        ('d1=2 o1=-200 unit1="ms"', None),
        ("d1=1", None),
    ],
)
def test_the_header_of_an_rsf_is_obeyed(tmp_path: Path, header: str, told: str | None) -> None:
    write(tmp_path / "w.rsf", wavelet_of(survey(RICKER))(0.002 * np.arange(251) - 0.2))
    with (tmp_path / "w.rsf").open("a") as file:
        file.write(header)
    keys = {"kind": "file", "path": "w.rsf", "sample_interval": 0.002, "zero": 0.2, "maximum_frequency": 60.0}
    if told is None:
        assert notes_of(wavelet_of(survey(keys, tmp_path))) == ()
        return
    with pytest.raises(InputError, match=told):
        wavelet_of(survey(keys, tmp_path))


def test_a_survey_file_that_begins_at_its_peak_is_zero_before(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.array([1.0, 0.5, 0.2, 0.1, 0.0]))
    keys = {"kind": "file", "path": "w.npy", "sample_interval": 0.004, "maximum_frequency": 50.0}
    wavelet = wavelet_of(survey(keys, tmp_path))
    assert not np.any(wavelet(np.linspace(-2.0, -1.0001 * wavelet.lead, 100)))


COLUMNS = {"kind": "file", "path": "w.txt", "sample_interval": 0.002, "maximum_frequency": 60.0}


def write_columns(path: Path, head: str, scale: float = 1.0, first: float = -0.2) -> None:
    """A Ricker wavelet with a column of times, in s times `scale`, that begin at `first`."""
    times = 0.002 * np.arange(251) - 0.2
    values = wavelet_of(survey(RICKER))(times)
    lines = (f"{scale * (t + 0.2 + first):.4f} {value:.9g}" for t, value in zip(times, values, strict=True))
    path.write_text(head + "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("head", "scale", "noted"),
    [
        ("# time (s) amplitude\n", 1.0, False),
        ("# a wavelet\n# t[ms], amp\n", 1e3, False),
        ("time_ms,amplitude\n", 1e3, False),
        ("", 1e3, True),
        ("# time, amplitude\n", 1.0, True),
    ],
)
def test_two_columns_are_time_and_amplitude(tmp_path: Path, head: str, scale: float, noted: bool) -> None:
    write_columns(tmp_path / "w.txt", head, scale)
    ricker, t = wavelet_of(survey(RICKER)), np.linspace(-0.5, 0.5, 3333)
    for zero in ({}, {"zero": 0.2}):
        wavelet = wavelet_of(survey(COLUMNS | zero, tmp_path))
        assert np.max(np.abs(wavelet(t) - ricker(t))) <= 1e-4
        notes = notes_of(wavelet)
        assert len(notes) == noted
        assert not noted or f"time in {'s' if scale == 1.0 else 'ms'}" in notes[0]


def test_a_column_that_begins_at_zero_only_counts(tmp_path: Path) -> None:
    write_columns(tmp_path / "w.txt", "# t (s) a\n", first=0.0)
    wavelet = wavelet_of(survey(COLUMNS | {"zero": 0.2}, tmp_path))
    assert wavelet(np.zeros(1))[0] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(
    ("head", "keys", "words"),
    [
        ("# t (s) a\n", {"sample_interval": 0.001}, "sample_interval: found 0.001 s.*w.txt.*0.002 s; allowed: 0.002$"),
        ("# t (ms) a\n", {}, "found 0.002 s.*0.002 ms; allowed: 2e-06"),
        ("", {"sample_interval": 0.004}, "no unit said.*allowed: 0.002 or 2e-06"),
        ("# t (s) a\n", {"zero": 0.1}, "zero: found 0.1 s.*t = 0 is 0.2 s from the first sample; allowed: 0.2"),
    ],
)
def test_times_that_contradict_the_survey_are_refused(
    tmp_path: Path, head: str, keys: dict[str, Any], words: str
) -> None:
    write_columns(tmp_path / "w.txt", head)
    with pytest.raises(InputError, match=words):
        wavelet_of(survey(COLUMNS | keys, tmp_path))


def test_a_series_broken_into_lines_is_one(tmp_path: Path) -> None:
    series = wavelet_of(survey(RICKER))(0.002 * np.arange(250) - 0.2)
    for width in (1, 3, 5, 8):
        rows = [" ".join(f"{value:.9g}" for value in series[n : n + width]) for n in range(0, 250, width)]
        (tmp_path / "w.txt").write_text("\n".join(rows))
        assert read_series(tmp_path / "w.txt")[0] == pytest.approx(series, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 1\n1 2\n3 1\n4 0\n", "2 numbers in each of the lines 1 to 4.*not grow evenly: 3 in line 3"),
        ("# two\n0 1\n1 2\n0 1\n", "2 numbers in each of the lines 2 to 4.*evenly: 0 in line 4"),
        ("0 1 5\n1 2 5\n2 1 5\n3 0 5\n", "3 numbers in each of the lines 1 to 4.*as times do"),
        ("t 1 5\n1 2 5\n", "found 't' in line 1"),
    ],
)
def test_columns_that_are_no_series_are_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "w.txt").write_text(text)
    with pytest.raises(InputError, match=words):
        read_series(tmp_path / "w.txt")


@pytest.mark.parametrize(
    ("zero", "words"), [(100.0, "99.8 s after the last sample"), (-0.15, "0.15 s before the first"), (0.2, "")]
)
def test_a_zero_outside_the_series_is_told(tmp_path: Path, zero: float, words: str) -> None:
    np.save(tmp_path / "w.npy", np.exp(-np.arange(51) / 6.0))
    keys = {"kind": "file", "path": "w.npy", "sample_interval": 0.004, "zero": zero, "maximum_frequency": 50.0}
    notes = notes_of(wavelet_of(survey(keys, tmp_path)))
    assert len(notes) == bool(words)
    assert all("[wavelet] zero" in note and words in note for note in notes)


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
