"""Keys that ask for millions of time steps or of filter weights: named before any work, in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import MIGRATE, MODEL, inputs, run, survey

from fathometer.seismic.setup import setup

FILE = {
    "wavelet.kind": "file",
    "wavelet.peak_frequency": None,
    "wavelet.path": "w.npy",
    "wavelet.sample_interval": 0.004,
    "wavelet.maximum_frequency": 40.0,
}


@pytest.mark.parametrize(
    ("command", "keys", "words"),
    [
        (
            "migrate",
            FILE | {"wavelet.sample_interval": 4e-9},
            "[wavelet] sample_interval: found 4e-09 s with a maximum_frequency of 40 Hz, whose low-pass is 4e+07",
        ),
        (
            "migrate",
            FILE | {"wavelet.maximum_frequency": 0.001},
            "[wavelet] sample_interval: found 0.004 s with a maximum_frequency of 0.001 Hz",
        ),
        (
            "model",
            {"wavelet.kind": "cosine", "wavelet.peak_frequency": None, "wavelet.rise_time": 1e4},
            "[wavelet] rise_time: the wavelet begins 1.282e+04 s before t = 0, and the traces end at 0.2 s: ",
        ),
        (
            "model",
            {"wavelet.peak_frequency": 1e-4},
            "[wavelet] peak_frequency: the wavelet begins 1.325e+04 s before t = 0, and the traces end at 0.2 s: ",
        ),
        (
            "migrate",
            {"acquisition.sample_interval": 1e-6},
            "[acquisition] sample_interval: traces every 1e-06 s are 1.7e+05 samples in half the low-pass",
        ),
    ],
)
def test_what_asks_for_millions_is_named_and_refused(
    tmp_path: Path, capsys: Any, command: str, keys: dict[str, Any], words: str
) -> None:
    inputs(tmp_path)
    np.save(tmp_path / "w.npy", np.hanning(51))
    done = run(capsys, command, survey(tmp_path, (MODEL if command == "model" else MIGRATE) | keys))
    assert done.code == 2, done
    assert words in done.err


def test_weights_of_resampling_are_counted_before_they_are_made(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 38,000 time steps, 26 GB."""
    monkeypatch.setattr(setup, "usable_memory", lambda comm, share: 2e9)
    inputs(tmp_path)
    done = run(capsys, "migrate", survey(tmp_path, MIGRATE | {"wavelet.peak_frequency": 0.015}))
    assert done.code == 2
    assert "weights of resampling" in done.err
    assert "or another [wavelet] peak_frequency: the wavelet is far longer than the traces" in done.err


def test_a_wavelet_far_longer_than_the_traces_is_told(tmp_path: Path, capsys: Any) -> None:
    inputs(tmp_path)
    keys = {"wavelet.peak_frequency": 0.05, "propagation.cone": "off"}
    assert run(capsys, "model", survey(tmp_path, MODEL | keys)).code == 0
    notes = json.loads((tmp_path / "out" / "run.json").read_text())["results"]["notes"]
    assert any(note.startswith("[wavelet] peak_frequency: the wavelet begins 26") for note in notes)
