"""Traces that begin at different times, or are sampled differently, on one time axis."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import INTERVAL, MIGRATE, RECEIVERS, SAMPLES, here, inputs, survey
from index_support import index_of

from fathometer.base.errors import InputError
from fathometer.seismic.shots.acquisition import Acquisition, acquisition_of
from fathometer.seismic.survey import load_survey
from fathometer.storage.traces.segy import GatherWriter, read_traces, scan

START, HEADER = 3600, 240
LATE = 15  # samples
SOURCES = {7: 150.0, 8: 250.0}  # by FFID


def pulses(source: float, times: np.ndarray) -> np.ndarray:
    """Band-limited arrivals (receivers, n) at times (n,), s; nothing before 60 ms to six digits."""
    late = times - 0.12 - np.abs(RECEIVERS[:, :1] - source) / 16000.0
    return np.exp(-((late / 0.014) ** 2)) * np.cos(150.0 * late)


def write(path: Path, sources: dict[int, float], samples: int, interval: float, first: float) -> None:
    times = first + interval * np.arange(samples)
    with GatherWriter(path, samples, interval, len(sources) * len(RECEIVERS)) as writer:
        for k, (ffid, source) in enumerate(sources.items()):
            values = np.where(times >= LATE * INTERVAL - 1e-9, pulses(source, times), 0.0)
            writer.write(k * len(RECEIVERS), ffid, (source, 0.0, 20.0), RECEIVERS, values)


def set_words(path: Path, traces: range, samples: int, words: dict[int, int]) -> None:
    """Put words of 16 bits, by their first byte (from 1), into headers."""
    data = bytearray(path.read_bytes())
    for trace in traces:
        for byte, value in words.items():
            struct.pack_into(">h", data, START + trace * (HEADER + 4 * samples) + byte - 1, value)
    path.write_bytes(data)


def acquired(folder: Path, gathers: str) -> Acquisition:
    return acquisition_of(load_survey(survey(folder, MIGRATE | {"acquisition.gathers": gathers})), 2)


def all_traces(acquisition: Acquisition) -> list[np.ndarray]:
    return [acquisition.traces(shot, np.arange(len(shot.receivers))) for shot in acquisition.shots]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """whole.segy: both shots from 0 s; late/*.segy: of the second only what follows LATE samples."""
    inputs(tmp_path)
    (tmp_path / "recorded.segy").unlink()
    (tmp_path / "late").mkdir()
    write(tmp_path / "whole.segy", SOURCES, SAMPLES, INTERVAL, 0.0)
    write(tmp_path / "late" / "a.segy", {7: SOURCES[7]}, SAMPLES, INTERVAL, 0.0)
    write(tmp_path / "late" / "b.segy", {8: SOURCES[8]}, SAMPLES - LATE, INTERVAL, LATE * INTERVAL)
    delay = {109: round(1000 * LATE * INTERVAL)}
    set_words(tmp_path / "late" / "b.segy", range(len(RECEIVERS)), SAMPLES - LATE, delay)
    return tmp_path


def migrated(folder: Path, gathers: str, name: str, **keys: Any) -> bytes:
    done = here(
        "migrate", survey(folder, MIGRATE | {"acquisition.gathers": gathers, "output.directory": name}, f"{name}.toml")
    )
    assert done.code == 0, done.err
    return (folder / name / "image.rsf@").read_bytes()


def test_shots_with_delays_of_their_own_give_the_same_image(folder: Path) -> None:
    whole = migrated(folder, "whole.segy", "whole")
    assert migrated(folder, "late/*.segy", "delayed") == whole
    index_of(*sorted((folder / "late").glob("*.segy")))
    assert migrated(folder, "late/survey.parquet", "indexed") == whole
    notes = " ".join(acquired(folder, "late/*.segy").notes)
    assert "40 of 80 traces begin later than the first, from 0 to 0.06 s by their delays: aligned" in notes
    assert "traces have 36 to 51 samples: each is zero outside its own" in notes


def test_delays_of_single_traces(folder: Path) -> None:
    """Every other trace of one file begins later by whole samples."""
    path = folder / "each.segy"
    write(path, SOURCES, SAMPLES, INTERVAL, 0.0)
    set_words(path, range(0, 80, 2), SAMPLES, {109: 40})
    got, whole = acquired(folder, "each.segy"), acquired(folder, "whole.segy")
    assert (got.samples, got.start) == (SAMPLES + 10, 0.0)
    for shifted, plain in zip(all_traces(got), all_traces(whole), strict=True):
        assert np.array_equal(shifted[1::2, :SAMPLES], plain[1::2])
        assert np.array_equal(shifted[::2, 10:], plain[::2])
        assert not shifted[::2, :10].any()


def test_a_fraction_of_a_sample_goes_through_the_resampler(folder: Path) -> None:
    """Samples at 1.5 ms and later: the pulse at the common times to 2e-4 of its largest value."""
    write(folder / "a.segy", {7: SOURCES[7]}, SAMPLES, INTERVAL, 0.0)
    write(folder / "b.segy", {8: SOURCES[8]}, SAMPLES, INTERVAL, 0.0015)
    for name, words in (("a.segy", {109: 0}), ("b.segy", {109: 15, 215: -10})):
        data = bytearray((folder / name).read_bytes())
        assert data[3500] >= 1  # the revision, from which on delays have a scalar
        set_words(folder / name, range(len(RECEIVERS)), SAMPLES, words)
    got = acquired(folder, "[ab].segy")
    assert "40 of them shifted by a fraction of a sample through the resampler" in " ".join(got.notes)
    times = got.start + got.sample_interval * np.arange(got.samples)
    np.testing.assert_allclose(all_traces(got)[1], pulses(SOURCES[8], times), atol=2e-4)


def test_another_sample_interval_is_resampled(folder: Path) -> None:
    write(folder / "a.segy", {7: SOURCES[7], 9: 300.0}, SAMPLES, INTERVAL, 0.0)
    write(folder / "b.segy", {8: SOURCES[8]}, 2 * SAMPLES, INTERVAL / 2, 0.0)
    got = acquired(folder, "[ab].segy")
    assert got.sample_interval == INTERVAL
    assert "40 of 120 traces have a sample interval of 2000 µs: resampled to the 4000 µs of most" in " ".join(got.notes)
    times = got.start + got.sample_interval * np.arange(got.samples)
    expected = np.where(times < LATE * INTERVAL - 1e-9, 0, pulses(SOURCES[8], times))
    np.testing.assert_allclose(all_traces(got)[2], expected, atol=2e-4)


def test_intervals_that_differ_within_a_file_hold_without_an_index(folder: Path) -> None:
    """No interval in the file's header: of the second shot, the traces' own is half that of the first's."""
    write(folder / "own.segy", SOURCES, SAMPLES, INTERVAL, 0.0)
    set_words(folder / "own.segy", range(40, 80), SAMPLES, {117: round(5e5 * INTERVAL)})
    data = bytearray((folder / "own.segy").read_bytes())
    data[3216:3218] = bytes(2)
    (folder / "own.segy").write_bytes(data)
    got = acquired(folder, "own.segy")
    assert "40 of 80 traces have a sample interval of 2000 µs: resampled to the 4000 µs of most" in " ".join(got.notes)
    assert not np.array_equal(all_traces(got)[1], all_traces(acquired(folder, "whole.segy"))[1])
    direct = migrated(folder, "own.segy", "direct")
    index_of(folder / "own.segy")
    assert migrated(folder, "survey.parquet", "indexed") == direct


def test_modelled_traces_say_when_they_begin(folder: Path) -> None:
    keys = {key: value for key, value in MIGRATE.items() if not key.startswith("acquisition")}
    path = survey(folder, keys | {"acquisition.gathers": "late/*.segy", "output.directory": "model"}, "model.toml")
    done = here("model", path)
    assert done.code == 0, done.err
    path = survey(folder, keys | {"acquisition.gathers": "whole.segy", "output.directory": "plain"}, "plain.toml")
    assert here("model", path).code == 0
    plain = read_traces(folder / "plain" / "shots.segy", range(80))
    for number, name in enumerate(("a.segy", "b.segy")):
        table = scan(folder / "model" / "shots" / name)
        assert (table.samples, set(table.delays)) == (SAMPLES, {0.0})
        modelled = read_traces(folder / "model" / "shots" / name, range(40))
        assert np.array_equal(modelled, plain[40 * number : 40 * (number + 1)])


def test_delays_that_no_survey_has_are_refused(folder: Path) -> None:
    set_words(folder / "late" / "b.segy", range(1), SAMPLES - LATE, {109: 32000})
    with pytest.raises(
        InputError, match=r"gathers: found traces that begin from 0 to 32 s .*; allowed: a spread of up"
    ):
        acquired(folder, "late/*.segy")


def test_a_changed_delay_is_no_resume(folder: Path) -> None:
    migrated(folder, "late/*.segy", "run")
    set_words(folder / "late" / "b.segy", range(3), SAMPLES - LATE, {109: 64})
    again = here("migrate", folder / "run.toml", "--resume")
    assert again.code == 2, again.err + again.out
