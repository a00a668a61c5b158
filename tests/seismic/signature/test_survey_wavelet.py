"""`fathometer survey wavelet` against wavelets that are known: analogue filters, ghosts of a surface, noise."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from cli_support import here
from scipy.signal import butter, freqs

from fathometer.seismic.signature.minimum_phase import minimum_phase
from fathometer.seismic.survey import survey_of
from fathometer.seismic.traces.deghost import ghost
from fathometer.seismic.traces.wavelet import wavelet_of
from fathometer.seismic.traces.wavelet_file import ghosts_of_series, read_series
from fathometer.storage.traces.modelled_top import line_of_top
from fathometer.storage.traces.segy_writer import GatherWriter

DT, NS, PERIOD, C = 0.004, 500, 1 << 14, 1500.0
SOURCE, RECEIVER, FLOOR = 6.0, 10.0, 361.475  # m
T0 = (2 * FLOOR - SOURCE - RECEIVER) / C
R = 0.95
OFFSETS = 100.0 + 12.5 * np.arange(48)
FREQUENCY = np.fft.rfftfreq(PERIOD, DT)


def spectra(line: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Spectra of a causal wavelet (6 to 60 Hz, 18 dB an octave, and a recorder's filter) without and with ghosts; line:
    as traces of line sources have it, a half integral later."""
    omega = 2 * np.pi * FREQUENCY
    source = freqs(*butter(3, [2 * np.pi * 6, 2 * np.pi * 60], "band", analog=True), omega)[1]
    source = source * freqs(*butter(6, 2 * np.pi * 75, analog=True), omega)[1]
    both = source * ghost(FREQUENCY, SOURCE, C, R) * ghost(FREQUENCY, RECEIVER, C, R)
    if line:
        both = both / np.sqrt(1j * np.maximum(omega, omega[1]))
    return source, both


def write_survey(
    folder: Path, sign: float = 1.0, noise: float = 0.0, spectrum: np.ndarray | None = None, **keys: object
) -> Path:
    """A survey of two shots over a flat sea floor, with direct waves and a second, weaker reflection."""
    spectrum = spectra()[1] if spectrum is None else spectrum
    random = np.random.default_rng(3)
    said = keys.pop("said", "")
    depths = keys.pop("depths", (SOURCE, RECEIVER))
    with GatherWriter(folder / "shots.segy", NS, DT, 2 * len(OFFSETS), [line_of_top(said)] if said else []) as writer:
        for shot in range(2):
            traces = []
            for offset in OFFSETS:
                arrivals = ((np.hypot(T0, offset / C), 1.0), (np.hypot(T0 + 0.55, offset / C), 0.5), (offset / C, 0.3))
                delays = sum(a * np.exp(-2j * np.pi * FREQUENCY * t) for t, a in arrivals)
                trace = np.fft.irfft(spectrum * delays, PERIOD)[:NS]
                peak = np.abs(trace).max()
                traces.append(sign * (trace / peak + noise * random.standard_normal(NS)))
            receivers = np.stack((50.0 * shot + OFFSETS, 0 * OFFSETS, 0 * OFFSETS + depths[1]), axis=1)
            writer.write(48 * shot, shot + 1, [50.0 * shot, 0.0, depths[0]], receivers, np.array(traces))
    np.save(folder / "vp.npy", np.full((101, 61), 1500.0, np.float32))
    lines = {
        "top": "absorbing",
        "conditioning": "{line_source = 1500.0}",
        "gathers": "shots.segy",
    } | {name: str(value) for name, value in keys.items()}
    path = folder / "survey.toml"
    path.write_text(
        '[model]\nvp = "vp.npy"\nspacing = [10.0, 10.0]\naxes = "xz"\n[acquisition]\n'
        f'gathers = "{lines["gathers"]}"\nconditioning = {lines["conditioning"]}\n'
        f'[propagation]\ntop = "{lines["top"]}"\n'
    )
    return path


def likeness(series: np.ndarray, spectrum: np.ndarray) -> tuple[float, float]:
    """Largest correlation of a series with a known wavelet, and by how many samples that is then later."""
    shifts = np.arange(-2, 2.01, 0.05)
    known = [np.fft.irfft(spectrum * np.exp(2j * np.pi * FREQUENCY * DT * s), PERIOD)[: len(series)] for s in shifts]
    found = [series @ one / np.sqrt((series @ series) * (one @ one)) for one in known]
    return float(np.max(found)), float(shifts[int(np.argmax(found))])


def estimated(path: Path, *options: str, length: float = 0.3) -> tuple[np.ndarray, str]:
    out = path.parent / "wavelet.txt"
    done = here("survey", "wavelet", str(path), "-o", str(out), "--length", str(length), *options)
    assert done.code == 0, done.err
    return read_series(out)[0], done.out


def sea_floor_of(text: str) -> tuple[float, float]:
    """Time, s, and depth, m, of the line on the sea floor."""
    [line] = [line for line in text.splitlines() if line.startswith("sea floor")]
    words = line.replace(",", "").split()
    return float(words[3]), float(words[5])


@pytest.mark.parametrize(("sign", "noise"), [(1.0, 0.0), (-1.0, 0.01), (1.0, 0.02)])
def test_a_known_wavelet_with_ghosts_comes_back(tmp_path: Path, sign: float, noise: float) -> None:
    path = write_survey(tmp_path, sign, noise)
    series, text = estimated(path)
    correlation, later = likeness(sign * series, spectra()[1])
    time, depth = sea_floor_of(text)
    print(f"noise {noise}: correlation {correlation:.4f}, {later:+.2f} samples, t0 {(time - T0) / DT:+.2f} samples")
    assert correlation > 0.98
    assert abs(later) <= 1.0
    assert abs(time - T0) <= DT
    assert abs(depth - FLOOR) <= DT * C / 2
    assert ("polarity: SEG normal, an increase" in text) == (sign < 0)
    assert ("reversed from SEG normal" in text) == (sign > 0)
    assert ghosts_of_series(tmp_path / "wavelet.txt") == "kept"


def test_the_wavelet_without_ghosts_fits_a_free_surface(tmp_path: Path) -> None:
    series, text = estimated(write_survey(tmp_path, top="free-surface"))
    correlation, later = likeness(series, spectra()[0])
    assert correlation > 0.98
    assert abs(later) <= 1.0
    assert 'fits top = "free-surface"' in text
    assert ghosts_of_series(tmp_path / "wavelet.txt") == "removed"


def test_traces_of_line_sources_lose_their_half_integral(tmp_path: Path) -> None:
    path = write_survey(tmp_path, spectrum=spectra(line=True)[1], conditioning="{}")
    correlation, later = likeness(estimated(path)[0], spectra()[1])
    assert correlation > 0.98
    assert abs(later) <= 1.0


def test_the_section_that_is_printed_takes_the_file(tmp_path: Path) -> None:
    path = write_survey(tmp_path)
    series, text = estimated(path, "--max-frequency", "60")
    path.write_text(path.read_text() + text[text.index("[wavelet]") :])
    wavelet = wavelet_of(survey_of(tomllib.loads(path.read_text()), path))
    assert wavelet.fmax == 60.0
    assert np.corrcoef(wavelet(DT * np.arange(40)), series[:40])[0, 1] > 0.95  # low-passed at 60 Hz


def test_the_sign_after_conditioning_is_that_of_the_wavelet(tmp_path: Path) -> None:
    path = write_survey(tmp_path, -1.0, conditioning='{line_source = 1500.0, polarity = "reversed"}')
    series, text = estimated(path)
    assert likeness(series, spectra()[1])[0] > 0.98
    assert "reversed from SEG normal, an increase of impedance begins with positive numbers after" in text


def test_traces_modelled_without_a_surface_have_no_ghosts_to_divide_by(tmp_path: Path) -> None:
    path = write_survey(tmp_path, spectrum=spectra()[0], said="absorbing")
    series, text = estimated(path)
    assert likeness(series, spectra()[0])[0] > 0.98
    assert "since the traces have none" in text


def test_a_minimum_phase_series_is_its_own(tmp_path: Path) -> None:
    """(1 + 0.5 z)(1 - 0.8 z) has its zeros outside of the unit circle; with them inside, amplitudes are the same."""
    for series in ([1.0, -0.3, -0.4], [-0.4, -0.3, 1.0]):
        got = minimum_phase(np.abs(np.fft.rfft(series, 4096)))
        np.testing.assert_allclose(got[:4], [1.0, -0.3, -0.4, 0.0], atol=1e-9)


@pytest.mark.parametrize(
    ("keys", "options", "words"),
    [
        ({}, ("--velocity", "-3"), "--velocity: found '-3'; allowed: above 100"),
        ({}, ("--length", "0.02"), "--length: found 0.02 s, 5 samples; allowed: 16 samples or more"),
        ({}, ("--max-frequency", "200"), "--max-frequency: found 200 Hz; allowed: below 125 Hz"),
        ({}, ("--offset", "10"), "no trace has an offset up to 10 m"),
        ({}, ("--sea-floor", "1.9"), "have the reflection of 1.9 s"),
        ({"depths": (-6.0, 10.0)}, ("--ghosts", "kept"), "sources at a depth of -6 m"),
        ({"depths": (0.0, 0.0)}, (), "needed: depths above 0"),
        ({"depths": (6.0, 290.0)}, (), "the later ghost comes after"),
        ({"noise": 1e3}, (), "resemble each other"),
        ({"gathers": "none.segy"}, (), "found no file"),
    ],
)
def test_bad_input_gets_one_line(tmp_path: Path, keys: dict, options: tuple[str, ...], words: str) -> None:
    done = here("survey", "wavelet", str(write_survey(tmp_path, **keys)), "-o", str(tmp_path / "w.txt"), *options)
    assert done.code == 2
    assert words in done.err
    assert len(done.err.strip().splitlines()) <= 4
    assert not (tmp_path / "w.txt").exists()


def test_the_picture_is_drawn(tmp_path: Path) -> None:
    estimated(write_survey(tmp_path), "--picture", str(tmp_path / "wavelet.png"))
    assert (tmp_path / "wavelet.png").read_bytes()[:4] == b"\x89PNG"
