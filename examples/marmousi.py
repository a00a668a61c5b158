"""The VTI Marmousi model: shots in the true model, migrated in a smooth one, with its anisotropy and without.

    python examples/marmousi.py DATA OUTPUT [--coarsen N] [--shots N] [--picture marmousi.png]

DATA holds `derived_vp_eps_delta_xz.npz` (vp in m/s, epsilon, delta; 737 x 240 cells of 12.5 m, axes x, z).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter
from shared import balanced, central_correlation, reflectivity_of, run, write_survey

SPACING, FREQUENCY, SMOOTHING = 12.5, 12.0, 125.0  # m, Hz, m


def write_inputs(data: Path, folder: Path, coarsen: int = 1, shots: int = 31) -> dict[str, Path]:
    """Write the true and the smooth model and the three surveys; returns the surveys by name."""
    with np.load(data / "derived_vp_eps_delta_xz.npz") as archive:
        vp, epsilon = (archive[name][::coarsen, ::coarsen].astype(float) for name in ("vp", "epsilon"))
    d, frequency = SPACING * coarsen, FREQUENCY / coarsen
    water = int(np.argmax(vp[0] > 1500.5))  # cells of water on top, which stays as it is
    smooth_vp, smooth_epsilon = vp.copy(), epsilon.copy()
    smooth_vp[:, water:] = 1 / gaussian_filter(1 / vp[:, water:], SMOOTHING / d)
    smooth_epsilon[:, water:] = gaussian_filter(epsilon[:, water:], SMOOTHING / d)
    models = {"vp": vp, "epsilon": epsilon, "smooth-vp": smooth_vp, "smooth-epsilon": smooth_epsilon}
    for name, values in models.items():
        np.save(folder / f"{name}.npy", values.astype(np.float32))
    far = (len(vp) - 1) * d
    first, step = 300.0, d * int((far - 600) / d / (shots - 1))
    last_receiver = (len(vp) - 1) // 2 * 2 * d
    geometry = (
        f"sources = {{x = [{first}, {first + (shots - 1) * step}, {step}], z = {d}}}\n"
        f"receivers = {{x = [0.0, {last_receiver}, {2 * d}], z = {d}}}"
    )
    gathers = 'gathers = "shots/shots.segy"\nmute = {velocity = 1500.0, taper = 0.15}'
    common = {"frequency": frequency, "spacing": d, "duration": 2.9}
    return {
        "shots": write_survey(folder, "shots", "vp.npy", '"epsilon.npy"', geometry, **common),
        "vti": write_survey(folder, "vti", "smooth-vp.npy", '"smooth-epsilon.npy"', gathers, **common),
        "isotropic": write_survey(folder, "isotropic", "smooth-vp.npy", "0.0", gathers, **common),
    }


def correlations(folder: Path, coarsen: int = 1) -> dict[str, float]:
    """Correlation of both images with the true reflectivity, balanced, in the central part."""
    true = reflectivity_of(folder / "vp.npy", SPACING * coarsen, FREQUENCY / coarsen)
    return {
        name: central_correlation(np.load(folder / name / "image-laplacian.npy"), true, 20 // coarsen)
        for name in ("vti", "isotropic")
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--coarsen", type=int, default=1, help="keep every N-th cell, at 1/N of the frequency")
    parser.add_argument("--shots", type=int, default=31)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    surveys = write_inputs(options.data, options.output, options.coarsen, options.shots)
    for name, survey in surveys.items():
        run("model" if name == "shots" else "migrate", survey)
    found = correlations(options.output, options.coarsen)
    for name, value in found.items():
        print(f"correlation with the true reflectivity, migrated as {name}: {value:.3f}")
    if options.picture:
        from fathometer.pictures import comparison_picture

        d = SPACING * options.coarsen
        true = reflectivity_of(options.output / "vp.npy", d, FREQUENCY / options.coarsen)
        images = {name: np.load(options.output / name / "image-laplacian.npy") for name in found}
        panels = [
            (f"RTM with epsilon (correlation {found['vti']:.2f})", images["vti"]),
            (f"RTM without epsilon (correlation {found['isotropic']:.2f})", images["isotropic"]),
            ("true reflectivity in the wavelet's band", true),
        ]
        comparison_picture(
            options.picture,
            [(title, balanced(panel, 20 // options.coarsen)[:, None]) for title, panel in panels],
            np.load(options.output / "vp.npy")[:, None],
            (d, d, d),
            (0.0, 0.0, 0.0),
            "VTI Marmousi",
            gained="balanced by the RMS amplitude around each cell",
        )


if __name__ == "__main__":
    main()
