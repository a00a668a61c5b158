"""A 2D slice of the SEG/EAGE Overthrust model: shots in the true model, migrated in the smooth one (isotropic).

    python examples/overthrust.py DATA OUTPUT [--shots N] [--picture overthrust.png]

DATA holds `overthrust_model.h5`: m (true) and m0 (smooth), slowness squared in s2/km2, 121 x 401 cells of 25 m, axes
z, x.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import h5py
import numpy as np
from shared import balanced, central_correlation, reflectivity_of, run, write_survey

SPACING, FREQUENCY = 25.0, 8.0  # m, Hz: with 1500 m/s in the water no more is possible on these cells


def write_inputs(data: Path, folder: Path, shots: int = 33) -> dict[str, Path]:
    """Write the surveys, which read the models from where they are; returns them by name."""
    file = (data / "overthrust_model.h5").resolve()
    with h5py.File(file) as models:
        np.save(folder / "vp.npy", (1000 / np.sqrt(models["m"][:].T)).astype(np.float32))
    step = SPACING * int(400 / (shots - 1))
    first = SPACING * ((400 - (shots - 1) * step / SPACING) // 2)
    geometry = (
        f"sources = {{x = [{first}, {first + (shots - 1) * step}, {step}], z = {SPACING}}}\n"
        f"receivers = {{x = [0.0, 10000.0, {SPACING}], z = {SPACING}}}"
    )
    gathers = 'gathers = "shots/shots.segy"\nmute = {velocity = 1500.0, taper = 0.2}'
    common = {"frequency": FREQUENCY, "spacing": SPACING, "duration": 2.6, "axes": "zx", "units": "s2/km2"}
    return {
        "shots": write_survey(folder, "shots", f"{file}:m", "0.0", geometry, **common),
        "image": write_survey(folder, "image", f"{file}:m0", "0.0", gathers, **common),
    }


def correlation(folder: Path) -> float:
    """Correlation of the image with the true reflectivity, balanced, in the central part."""
    true = reflectivity_of(folder / "vp.npy", SPACING, FREQUENCY)
    return central_correlation(np.load(folder / "image" / "image-laplacian.npy"), true, 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--shots", type=int, default=33)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    surveys = write_inputs(options.data, options.output, options.shots)
    run("model", surveys["shots"])
    run("migrate", surveys["image"])
    found = correlation(options.output)
    print(f"correlation with the true reflectivity: {found:.3f}")
    if options.picture:
        from fathometer.pictures import comparison_picture

        image = np.load(options.output / "image" / "image-laplacian.npy")
        true = reflectivity_of(options.output / "vp.npy", SPACING, FREQUENCY)
        panels = [
            (f"RTM (correlation {found:.2f})", image),
            ("true reflectivity in the wavelet's band", true),
        ]
        comparison_picture(
            options.picture,
            [(title, balanced(panel, 10)[:, None]) for title, panel in panels],
            np.load(options.output / "vp.npy")[:, None],
            (SPACING,) * 3,
            (0.0, 0.0, 0.0),
            "Overthrust",
            gained="balanced by the RMS amplitude around each cell",
        )


if __name__ == "__main__":
    main()
