"""LOH.1: a double couple below a soft layer, recorded on the free surface at distances up to 10 km.

    python examples/loh1.py FOLDER [--cells 9]

Writes model, receivers and the survey loh1.toml into FOLDER; `fathometer model FOLDER/loh1.toml` runs it. The test
problem of Day & Bradley (2001, Bull. Seism. Soc. Am. 91(3)) and of the code comparison of the Southern California
Earthquake Center: 1000 m with vp 4000 m/s, vs 2000 m/s, 2600 kg/m3 over a half space with 6000, 3464, 2700; a vertical
strike-slip source at 2000 m depth with a moment of 1e18 N m, 1 - (1 + t/T) exp(-t/T) of which is released at the time
t, T = 0.1 s. Here up to 1.5 Hz.

The layer has CELLS and a half cells, so that its lower side lies between nodes: in a node the harmonic mean of the
moduli would make it too soft along the layer, by 5 % with cells of 100 m. Envelopes and
phases of the seismograms are within 4 % of those of a wavenumber integration (docs/verification.md).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

LAYER, BELOW = (4000.0, 2000.0, 2600.0), (6000.0, 3464.0, 2700.0)  # vp, vs in m/s, density in kg/m3
DEPTH = 1000.0  # m, of the layer's lower side
LOW, HIGH = (-3000.0, -3000.0, 0.0), (9000.0, 11000.0, 6000.0)  # m: x, y, z of the model
RECEIVERS = 10  # on the line to (6000, 8000) m

SURVEY = """\
[model]
vp = "vp.npy"
vs = "vs.npy"
density = "density.npy"
axes = "xyz"
spacing = [{spacing}, {spacing}, {spacing}]
origin = [{x}, {y}, 0.0]

[acquisition]
sources = {{x = 0.0, y = 0.0, z = 2000.0}}
receivers = "receivers.csv"
sample_interval = 0.01            # s

[source]
kind = "double-couple"
strike = 0.0                      # degrees, from x towards y
dip = 90.0
rake = 0.0
moment = 1.0e18                   # N m

[wavelet]                         # the moment rate
kind = "brune"
rise_time = 0.1                   # s
maximum_frequency = 1.5           # Hz

[propagation]
physics = "elastic"
top = "free-surface"
duration = 9.0                    # s
boundary = {{kind = "pml", width = 10}}

[snapshots]
region = "surface"
every_nodes = 1
every_steps = 25

[output]
directory = "seismograms"
"""


def layers(depth: np.ndarray) -> np.ndarray:
    """vp, vs and density, (3, n), at depths (n,), m; a node in the plane between the layers has the mean density and
    the harmonic means of the moduli."""
    upper, lower = np.array(LAYER), np.array(BELOW)
    inverse = [1 / (v[2] * v[:2] ** 2) for v in (upper, lower)]
    density = (upper[2] + lower[2]) / 2
    middle = np.append(np.sqrt(2 / (inverse[0] + inverse[1]) / density), density)
    return np.where(depth < DEPTH, upper[:, None], np.where(depth > DEPTH, lower[:, None], middle[:, None]))


def write_inputs(folder: Path, spacing: float) -> Path:
    """Write the model on cells of `spacing` m, receivers and survey; returns the survey."""
    folder.mkdir(parents=True, exist_ok=True)
    nx, ny, nz = (round((high - low) / spacing) + 1 for low, high in zip(LOW, HIGH, strict=True))
    columns = layers(spacing * np.arange(nz)).astype(np.float32)
    for name, column in zip(("vp", "vs", "density"), columns, strict=True):
        np.save(folder / f"{name}.npy", np.broadcast_to(column, (nx, ny, nz)))
    places = [f"{600 * n},{800 * n},0" for n in range(1, RECEIVERS + 1)]
    (folder / "receivers.csv").write_text("\n".join(["x,y,z", *places]) + "\n")
    path = folder / "loh1.toml"
    path.write_text(SURVEY.format(spacing=spacing, x=LOW[0], y=LOW[1]))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where model and survey are written")
    parser.add_argument("--cells", type=int, default=5, help="of the layer, and a half more (5)")
    options = parser.parse_args()
    path = write_inputs(options.folder, DEPTH / (options.cells + 0.5))
    print(f"{path}: written; run it: fathometer model {path}")


if __name__ == "__main__":
    main()
