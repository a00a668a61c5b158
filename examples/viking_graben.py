"""Four field shots of the Viking Graben line (marine, 120 channels), migrated in a 1D velocity: in depth, and in time.

    python examples/viking_graben.py DATA OUTPUT

DATA holds `viking_small.segy`. The velocity is a guess good enough for four shots: water of 1480 m/s down to 349 m,
then 1750 m/s and 0.75 m/s more per metre, at most 3500 m/s. The wavelet is estimated from the sea-floor reflections,
with the ghosts that the traces hold. A time migration takes no wavelet: to compare the two, traces are migrated in
depth once more with one of zero phase, which leaves theirs in the image, as the time migration does.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from shared import balanced, run

from fathometer.storage.volumes.volume import open_volume

SPACING = 10.0  # m
WATER_DEPTH, WATER, SEDIMENT, GRADIENT, FASTEST = 349.0, 1480.0, 1750.0, 0.75, 3500.0
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

{wavelet}

[imaging]
condition = "source-normalised"

[time_migration]
end = 2.4                         # s
dip = 45.0                        # degrees
replacement_velocity = {water}    # m/s
depth = true

[output]
directory = "{name}"
"""
ESTIMATED = """\
[wavelet]
kind = "file"
path = "wavelet.txt"              # of `fathometer survey wavelet`
sample_interval = 0.004           # s
maximum_frequency = 50.0          # Hz\
"""
RICKER = """\
[wavelet]
kind = "ricker"
peak_frequency = 20.0             # Hz\
"""


def write_inputs(data: Path, folder: Path) -> Path:
    """Write the velocity (x, z), the survey and the one to be compared; returns the survey."""
    depth = SPACING * np.arange(261)
    vp = np.where(depth < WATER_DEPTH, WATER, np.minimum(SEDIMENT + GRADIENT * (depth - WATER_DEPTH), FASTEST))
    np.save(folder / "vp.npy", np.tile(vp, (341, 1)).astype(np.float32))
    gathers = (data / "viking_small.segy").resolve()
    paths = [folder / "viking.toml", folder / "compared.toml"]
    for path, name, wavelet in zip(paths, ("image", "compared"), (ESTIMATED, RICKER), strict=True):
        path.write_text(SURVEY.format(spacing=SPACING, water=WATER, gathers=gathers, name=name, wavelet=wavelet))
    return paths[0]


def wavelet_options(folder: Path) -> list[str]:
    """Options with which `fathometer survey wavelet` makes the wavelet of the survey."""
    files = ["-o", str(folder / "wavelet.txt"), "--picture", str(folder / "wavelet.png")]
    return [*files, "--velocity", f"{WATER:g}", "--length", "0.3", "--max-frequency", "50"]


def likeness(folder: Path) -> tuple[float, float]:
    """Correlation coefficient of the two images in depth where both are illuminated, balanced; and by how many degrees
    the phase of the depth migration is ahead, weighted by the product of their spectra."""
    pair = []
    for name in ("image-laplacian.rsf", "time/image-depth.rsf"):
        with open_volume(name, folder / "compared") as volume:
            values = volume.read([0, 0], volume.info.shape)
        pair.append(balanced(values, 25)[LIT])
    spectra = [np.fft.rfft(values * np.hanning(values.shape[1]), axis=1) for values in pair]
    phase = np.angle(np.sum(spectra[0] * np.conj(spectra[1])), deg=True)
    return float(np.corrcoef(pair[0].ravel(), pair[1].ravel())[0, 1]), float(phase)


def sea_floor(folder: Path) -> float:
    """Depth, m, of the largest value of the mean image below the spread between 250 and 450 m, by a parabola."""
    with open_volume("image-laplacian.rsf", folder / "image") as volume:
        trace = volume.read([0, 0], volume.info.shape)[300:330].mean(axis=0)
    k = 25 + int(np.argmax(trace[25:45]))
    before, at, after = trace[k - 1 : k + 2]
    return float(SPACING * (k + 0.5 * (before - after) / (before - 2 * at + after)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    survey = write_inputs(options.data, options.output)
    run("survey wavelet", survey, *wavelet_options(options.output))
    run("migrate", survey)
    run("migrate", options.output / "compared.toml")
    run("migrate-time", options.output / "compared.toml")
    print(f"sea floor in the image: {sea_floor(options.output):.0f} m")
    found, phase = likeness(options.output)
    print(f"both images in depth: correlation {found:.2f}, phase {phase:+.0f} degrees")


if __name__ == "__main__":
    main()
