"""Four field shots of the Viking Graben line (marine, 120 channels), migrated in a 1D velocity.

    python examples/viking_graben.py DATA OUTPUT

DATA holds `viking_small.segy`. The velocity is a guess good enough for four shots: water of 1480 m/s down to 330 m,
then 1750 m/s and 0.75 m/s more per metre, at most 3500 m/s.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from shared import run

SPACING = 10.0  # m
WATER_DEPTH, WATER, SEDIMENT, GRADIENT, FASTEST = 330.0, 1480.0, 1750.0, 0.75, 3500.0

SURVEY = """\
[model]
vp = "vp.npy"
spacing = [{spacing}, {spacing}]

[acquisition]
gathers = "{gathers}"
mute = {{velocity = 1480.0, taper = 0.15}}

[wavelet]
kind = "ricker"
peak_frequency = 20.0             # Hz

[imaging]
condition = "source-normalised"

[output]
directory = "image"
"""


def write_inputs(data: Path, folder: Path) -> Path:
    """Write the velocity (x, z) and the survey; returns the survey."""
    depth = SPACING * np.arange(261)
    vp = np.where(depth < WATER_DEPTH, WATER, np.minimum(SEDIMENT + GRADIENT * (depth - WATER_DEPTH), FASTEST))
    np.save(folder / "vp.npy", np.tile(vp, (341, 1)).astype(np.float32))
    path = folder / "viking.toml"
    path.write_text(SURVEY.format(spacing=SPACING, gathers=(data / "viking_small.segy").resolve()))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    run("migrate", write_inputs(options.data, options.output))


if __name__ == "__main__":
    main()
