"""Random surveys in the world: what leaves the program lies where it has to, in every format, and comes back.

    python places_program.py FOLDER SEED COUNT

Prints a line that begins with "! " for each that does not.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
from cli_support import call, here, survey
from place_support import SUFFIXES, Frame, attributes, cdp, gathers, segy_model

from fathometer.storage.volumes.volume import open_volume


def trial(folder: Path, seed: int) -> list[str]:
    """What is wrong with one random survey."""
    pick = random.Random(seed)
    folder.mkdir(parents=True)
    flat = pick.random() < 0.3
    azimuth = pick.choice([0.0, 90.0, 180.0, 270.0, round(pick.uniform(-360, 360), pick.choice([0, 2, 12]))])
    frame = Frame((round(pick.uniform(-5e6, 5e6), 2), round(pick.uniform(-9e6, 9e6), 2)), azimuth)
    spacing = pick.choice([5.0, 6.25, 12.5, 20.0]), pick.choice([5.0, 10.0, 18.75])
    shape = pick.randint(12, 20), pick.randint(10, 16), pick.randint(10, 16)
    values = np.full((shape[0], shape[2]) if flat else shape, 2000.0, np.float32)
    segy_model(folder / "vp.segy", values, spacing, frame, lines={9: "CRS: EPSG:25831"})
    np.save(folder / "vp.npy", values)
    widths = spacing[0] * (shape[0] - 1), 0.0 if flat else spacing[1] * (shape[1] - 1)
    sources = np.array([[0.4 * widths[0], 0.5 * widths[1], 10.0]])
    receivers = np.array([[f * widths[0], 0.4 * widths[1], 10.0] for f in np.linspace(0.1, 0.9, 6)])
    gathers(folder / "shots.segy", frame, sources, receivers)
    by_keys = pick.random() < 0.5
    keys: dict[str, Any] = {
        "model.vp": "vp.segy",
        "model.spacing": [10.0],
        "acquisition.gathers": "shots.segy",
        "wavelet.kind": "ricker",
        "wavelet.peak_frequency": 15.0,
        "propagation.boundary": {"kind": "pml", "width": 5},
        "propagation.duration": 0.06,
    }
    if by_keys:
        keys |= {"model.vp": "vp.npy", "model.spacing": [*(spacing[:1] if flat else spacing), 10.0],
                 "acquisition.origin": list(frame.origin), "acquisition.azimuth": azimuth}  # fmt: skip
    wrong = []
    x, y = np.meshgrid(spacing[0] * np.arange(shape[0]), spacing[1] * np.arange(1 if flat else shape[1]), indexing="ij")
    there = frame.world(x.reshape(-1), y.reshape(-1))
    # CDP coordinates are rounded to a centimetre, and so is the place that is taken from them.
    close = 1e-6 if by_keys else 0.05
    images = {}
    for suffix in (".segy", pick.choice(SUFFIXES), pick.choice(SUFFIXES)):
        path = survey(folder, keys | {"output.image": f"image{suffix}", "output.directory": f"out{suffix}"})
        ranks = pick.choice([1, 2])
        words = ("migrate", path, "--quiet", "--overwrite")
        done = call(*words, "--ranks", 2) if ranks == 2 else here(*words)
        if done.code:
            return [f"{suffix} on {ranks}: {done.err}"]
        image = folder / f"out{suffix}" / f"image{suffix}"
        if suffix == ".segy":
            east, north, step = cdp(image)
            if not np.allclose((east, north), there, rtol=0, atol=0.5 * step + close):
                wrong.append(f"CDP coordinates are off by {np.abs((east - there[0], north - there[1])).max():g} m")
            continue
        found = attributes(image)
        a, b, c, d, e, f = found["world_transform"]
        with open_volume(image.name, image.parent) as volume:
            images[suffix] = volume.read((0,) * len(volume.info.shape), volume.info.shape)
            first = volume.info.origin
        x0, y0 = first[0] + x.reshape(-1), (0.0 if flat else first[1]) + y.reshape(-1)
        if not np.allclose((a * x0 + b * y0 + c, d * x0 + e * y0 + f), there, rtol=0, atol=close):
            wrong.append(f"{suffix}: {found['world_origin']} {found['azimuth']}")
        if (found.get("crs", "") == "EPSG:25831") == by_keys:
            wrong.append(f"{suffix}: crs {found.get('crs')}")
        # An image of ours as a model, or the velocities prepared in this format: the same image again.
        again = folder / f"own{suffix}"
        if by_keys:
            continue
        done = here("prepare", folder / "vp.segy", "--input-spacing",
                    ",".join(map(str, [*(spacing[:1] if flat else spacing), 10.0])), "-o", again)  # fmt: skip
        own = {**keys, "model.vp": again.name, "model.spacing": None, "output.image": f"image{suffix}",
               "output.directory": f"again{suffix}"}  # fmt: skip
        done = done if done.code else here("migrate", survey(folder, own), "--quiet", "--overwrite")
        if done.code:
            wrong.append(f"{suffix} again: {done.err}")
            continue
        with open_volume(image.name, folder / f"again{suffix}") as volume:
            if not np.array_equal(volume.read((0,) * len(volume.info.shape), volume.info.shape), images[suffix]):
                wrong.append(f"{suffix}: another image from its own model")
        if attributes(folder / f"again{suffix}" / image.name)["world_transform"] != found["world_transform"]:
            wrong.append(f"{suffix}: another place from its own model")
    if len({array.tobytes() for array in images.values()}) > 1:
        wrong.append("images in two formats differ")
    return [f"{line} (azimuth {azimuth}, origin {frame.origin}, flat {flat}, keys {by_keys})" for line in wrong]


def main() -> None:
    """As the module says."""
    folder, seed, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for number in range(seed, seed + count):
        for line in trial(folder / str(number), number):
            print(f"! seed {number}: {line}")
    print("done")


if __name__ == "__main__":
    main()
