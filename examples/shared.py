"""What the examples have in common: a survey file, running a command, comparing an image with the truth."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter

from fathometer.seismic.model.synthetic import reflectivity

SURVEY = """\
[model]
vp = "{vp}"
epsilon = {epsilon}
spacing = [{spacing}, {spacing}]     # m
axes = "{axes}"
units = "{units}"

[acquisition]
{acquisition}

[wavelet]
kind = "ricker"
peak_frequency = {frequency}         # Hz

[propagation]
duration = {duration}                # s

[imaging]
condition = "source-normalised"

[output]
directory = "{name}"
image = "image.npy"
"""


def write_survey(
    folder: Path,
    name: str,
    vp: str,
    epsilon: str,
    acquisition: str,
    *,
    frequency: float,
    spacing: float,
    duration: float,
    axes: str = "xz",
    units: str = "m/s",
) -> Path:
    """Write folder/name.toml, whose results go to folder/name."""
    path = folder / f"{name}.toml"
    path.write_text(
        SURVEY.format(
            name=name,
            vp=vp,
            epsilon=epsilon,
            acquisition=acquisition,
            frequency=frequency,
            spacing=spacing,
            duration=duration,
            axes=axes,
            units=units,
        )
    )
    return path


def run(command: str, survey: Path, *options: str) -> None:
    """Run `fathometer COMMAND SURVEY OPTIONS` and end with its exit code if it fails."""
    words = [sys.executable, "-m", "fathometer", *command.split(), str(survey), *options]
    done = subprocess.run(words, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def reflectivity_of(vp: Path, spacing: float, frequency: float) -> np.ndarray:
    """True reflectivity (x, z) of a model file (x, z) in the band of a Ricker wavelet."""
    return reflectivity(np.load(vp), spacing, frequency)


def balanced(image: np.ndarray, radius: int) -> np.ndarray:
    """An image (x, z) over its RMS amplitude in a neighbourhood of `radius` cells: for comparison and display only."""
    energy = gaussian_filter(image.astype(float) ** 2, radius)
    return np.asarray(image / np.sqrt(energy + 1e-6 * np.square(image).max()), np.float32)


def central_correlation(image: np.ndarray, true: np.ndarray, radius: int) -> float:
    """Correlation coefficient of two balanced images (x, z) in the central half of x, without the top and bottom."""
    nx, nz = image.shape
    centre = slice(nx // 4, 3 * nx // 4), slice(nz // 6, nz * 11 // 12)
    pair = [balanced(values, radius)[centre].ravel() for values in (image, true)]
    return float(np.corrcoef(pair)[0, 1])
