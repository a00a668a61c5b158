"""Random traps in gathers: delays, lengths, spikes, loud traces alone and side by side.

The image is that of the traces put right by hand. New seeds each time, printed.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from cli_support import INTERVAL, RECEIVERS, SAMPLES, inputs
from delayed_gathers import image, write
from index_support import index_of

pytestmark = pytest.mark.trials
COUNT = 12


def gathers(rng: np.random.Generator, sources: list[float], apart: float) -> list[np.ndarray]:
    """Arrivals and noise, (receivers, samples) of each source, float32. apart: by how much gains of shots differ at
    most; from 50 times on, a shot would be too loud as a whole."""
    times = INTERVAL * np.arange(SAMPLES)
    gain, made = 10 ** rng.uniform(-5, 5), []
    for source in sources:
        late = times - 0.05 - np.abs(RECEIVERS[:, :1] - source) / rng.uniform(3000, 6000)
        wave = (1 - 2 * (70 * late) ** 2) * np.exp(-((70 * late) ** 2))
        noise = rng.uniform(0.001, 0.05) * rng.standard_normal(late.shape)
        made.append((gain * apart ** rng.random() * (wave + noise)).astype(np.float32))
    return made


def side_by_side(rng: np.random.Generator, source: float) -> list[int]:
    """Four to eight channels, two others of the shot nearer to its source and two farther from it than all of these."""
    while True:
        rows = rng.integers(len(RECEIVERS) - 8) + np.arange(rng.integers(4, 9))
        away = np.abs(RECEIVERS[:, 0] - source)
        others = np.delete(away, rows)
        if min((others < away[rows].min()).sum(), (others > away[rows].max()).sum()) >= 2:
            return [int(row) for row in rows]


@pytest.mark.parametrize("survey", range(COUNT))
def test_the_image_is_that_of_the_traces_put_right(tmp_path: Path, survey: int) -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    inputs(tmp_path)
    sources = sorted(rng.uniform(50, 350, int(rng.integers(1, 4))).round(1).tolist())
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.mkdir(), wrong.mkdir()
    longest, end, truths = int(rng.integers(0, 12)), 0, []
    # Loud traces side by side are in any of the shots, or in one of shots that differ more: at like distances in two of
    # three shots that are ten times weaker than the third they are not told.
    apart, one = (5.0, None) if rng.random() < 0.5 else (32.0, int(rng.integers(len(sources))))
    for number, (source, traces) in enumerate(zip(sources, gathers(rng, sources, apart), strict=True)):
        ffid = 7 + number
        # What lies before a trace's delay, or behind its end, is not recorded.
        length = SAMPLES - int(rng.integers(0, 8))
        delays = np.where(rng.random(len(RECEIVERS)) < 0.5, rng.integers(0, longest + 1, len(RECEIVERS)), 0)
        delays[int(rng.integers(len(RECEIVERS)))] = 0
        whole, cut = np.zeros((len(RECEIVERS), SAMPLES + longest), np.float32), np.zeros((len(RECEIVERS), length))
        bad = {int(row) for row in rng.choice(len(RECEIVERS), int(rng.integers(0, 4)), replace=False)}
        for row, delay in enumerate(delays):
            own = traces[row, delay : delay + length]
            cut[row, : len(own)] = own
            whole[row, delay : delay + len(own)] = own
        together = one in (None, number) and rng.random() < 0.3
        for row in side_by_side(rng, source) if together else bad:
            whole[row] = 0
            if rng.random() < 0.5 and not together:
                cut[row, int(rng.integers(length))] = 10.0 ** rng.uniform(3.5, 12) * np.abs(traces).max()
            else:
                cut[row] *= 10.0 ** rng.uniform(4.5, 8)
        truths.append((ffid, source, whole))
        end = max(end, int(delays.max()) + length)
        write(wrong / f"{ffid}.segy", ffid, source, cut, np.round(1000 * INTERVAL * delays).astype(int))
    for ffid, source, whole in truths:
        write(right / f"{ffid}.segy", ffid, source, whole[:, :end], np.zeros(len(RECEIVERS), int))
    index_of(*sorted(wrong.glob("*.segy")))
    truth = image(tmp_path, "right-image", "right/*.segy")
    for name, files in (("wrong-image", "wrong/*.segy"), ("indexed-image", "wrong/survey.parquet")):
        found = image(tmp_path, name, files)
        scale = np.abs(truth).max()
        np.testing.assert_allclose(found / scale, truth / scale, atol=1e-6)
