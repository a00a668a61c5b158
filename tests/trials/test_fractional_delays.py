"""Random delays by fractions of a sample: traces and images are those of samples taken at the common times.

New seeds each time, printed.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from cli_support import INTERVAL, MIGRATE, RECEIVERS, inputs, survey
from delayed_gathers import image, write
from index_support import index_of

from fathometer.seismic.shots.acquisition import acquisition_of
from fathometer.seismic.survey import load_survey

pytestmark = pytest.mark.trials
COUNT = 4
SAMPLES, LATEST = 90, 0.03  # of each trace; s, of the delays
QUIET = 0.07  # s that pulses take to fall to nothing, on either side
ERROR = 3e-5  # of the largest value


def arrivals(rng: np.random.Generator) -> np.ndarray:
    """(receivers, n, 3) of some pulses in each trace: time (s), amplitude, angular frequency (rad/s)."""
    n = int(rng.integers(1, 4))
    begin, end = LATEST + QUIET, (SAMPLES - 1) * INTERVAL - QUIET
    shape = len(RECEIVERS), n
    return np.stack([rng.uniform(begin, end, shape), rng.uniform(-1, 1, shape), rng.uniform(60, 160, shape)], axis=2)


def at(pulses: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The traces (receivers, n) at times (receivers, n), s; below 0.75 of the Nyquist frequency to five digits."""
    late = times[:, None] - pulses[:, :, :1]
    return np.asarray(
        (pulses[:, :, 1:2] * np.exp(-((late / 0.014) ** 2)) * np.cos(pulses[:, :, 2:] * late)).sum(axis=1)
    )


@pytest.mark.parametrize("number", range(COUNT))
def test_they_are_those_at_the_common_times(tmp_path: Path, number: int) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    inputs(tmp_path)
    for name in ("right", "late"):
        (tmp_path / name).mkdir()
    scalar = int(rng.choice([10, 100, 1000]))
    unit = 1e-3 / scalar
    first = int(rng.integers(0, round(1e-3 / unit))) if rng.random() < 0.5 else 0  # the common times may be odd ones
    shots = []
    for ffid, source in enumerate(rng.uniform(50, 350, int(rng.integers(1, 4))), start=7):
        delays = rng.integers(first, round(LATEST / unit) + 1, len(RECEIVERS))
        delays[rng.random(len(RECEIVERS)) < 0.2] = first + round(INTERVAL / unit) * int(rng.integers(3))
        delays[int(rng.integers(len(RECEIVERS)))] = first
        shots.append((ffid, float(source), arrivals(rng), delays))
    latest = max(int(delays.max()) for *_, delays in shots)
    common = first * unit + INTERVAL * np.arange(int(np.ceil((latest - first) * unit / INTERVAL - 1e-6)) + SAMPLES)
    truths = []
    for ffid, source, pulses, delays in shots:
        own = unit * delays[:, None] + INTERVAL * np.arange(SAMPLES)
        write(tmp_path / "late" / f"{ffid}.segy", ffid, source, at(pulses, own), delays, scalar)
        truths.append(at(pulses, np.broadcast_to(common, (len(RECEIVERS), len(common)))))
        begin = np.full(len(RECEIVERS), first)
        write(tmp_path / "right" / f"{ffid}.segy", ffid, source, truths[-1], begin, scalar)

    acquisition = acquisition_of(load_survey(survey(tmp_path, MIGRATE | {"acquisition.gathers": "late/*.segy"})), 2)
    assert (acquisition.samples, acquisition.start) == (len(common), pytest.approx(first * unit))
    for shot, truth in zip(acquisition.shots, truths, strict=True):
        found = acquisition.traces(shot, np.arange(len(RECEIVERS)))
        np.testing.assert_allclose(found, truth, atol=ERROR * np.abs(truth).max())
    index_of(*sorted((tmp_path / "late").glob("*.segy")))
    right = image(tmp_path, "right-image", "right/*.segy")
    found, indexed = image(tmp_path, "late-image", "late/*.segy"), image(tmp_path, "index-image", "late/survey.parquet")
    np.testing.assert_array_equal(found, indexed)
    np.testing.assert_allclose(found, right, atol=3 * ERROR * np.abs(right).max())
