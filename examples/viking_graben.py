"""Four field shots of the Viking Graben line (marine, 120 channels), migrated in a 1D velocity: in depth, and in time.

    python examples/viking_graben.py DATA OUTPUT

DATA holds `viking_small.segy`. The velocity is a guess good enough for four shots: water of 1480 m/s down to 330 m,
then 1750 m/s and 0.75 m/s more per metre, at most 3500 m/s.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from shared import balanced, run

from fathometer.storage.volumes.volume import open_volume

SPACING = 10.0  # m
WATER_DEPTH, WATER, SEDIMENT, GRADIENT, FASTEST = 330.0, 1480.0, 1750.0, 0.75, 3500.0
LIT = slice(280, 330), slice(80, 200)  # cells (x, z) where both images have layers

SURVEY = """\
[model]
vp = "vp.npy"
spacing = [{spacing}, {spacing}]
axes = "xz"

[acquisition]
gathers = "{gathers}"
mute = {{velocity = 1480.0, taper = 0.15}}
conditioning = {{line_source = 1700.0}}     # m/s; for `migrate`, whose sources are lines in 2D

[wavelet]
kind = "ricker"
peak_frequency = 20.0             # Hz

[imaging]
condition = "source-normalised"

[time_migration]
end = 2.4                         # s
dip = 45.0                        # degrees
replacement_velocity = {water}    # m/s
depth = true

[output]
directory = "image"
"""


def write_inputs(data: Path, folder: Path) -> Path:
    """Write the velocity (x, z) and the survey; returns the survey."""
    depth = SPACING * np.arange(261)
    vp = np.where(depth < WATER_DEPTH, WATER, np.minimum(SEDIMENT + GRADIENT * (depth - WATER_DEPTH), FASTEST))
    np.save(folder / "vp.npy", np.tile(vp, (341, 1)).astype(np.float32))
    path = folder / "viking.toml"
    path.write_text(SURVEY.format(spacing=SPACING, water=WATER, gathers=(data / "viking_small.segy").resolve()))
    return path


def likeness(folder: Path) -> tuple[float, float]:
    """Correlation coefficient of the two images in depth where both are illuminated, balanced; and by how many degrees
    the phase of the depth migration is ahead, weighted by the product of their spectra."""
    pair = []
    for name in ("image-laplacian.rsf", "time/image-depth.rsf"):
        with open_volume(name, folder / "image") as volume:
            values = volume.read([0, 0], volume.info.shape)
        pair.append(balanced(values, 25)[LIT])
    spectra = [np.fft.rfft(values * np.hanning(values.shape[1]), axis=1) for values in pair]
    phase = np.angle(np.sum(spectra[0] * np.conj(spectra[1])), deg=True)
    return float(np.corrcoef(pair[0].ravel(), pair[1].ravel())[0, 1]), float(phase)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    survey = write_inputs(options.data, options.output)
    run("migrate", survey)
    run("migrate-time", survey)
    found, phase = likeness(options.output)
    print(f"both images in depth: correlation {found:.2f}, phase {phase:+.0f} degrees")


if __name__ == "__main__":
    main()
