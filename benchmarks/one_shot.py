"""The survey of one shot that several benchmarks migrate: layers of velocity, receivers on most of the surface."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.command import fathometer
from benchmarks.stencil import SURVEY
from fathometer.parallel.decomposition import Index3

EVERY = 5  # time steps between those that are imaged
STEPS_A_SECOND = 600


def modelled(folder: str, shape: Index3, steps: int) -> None:
    """Write the model and model its shot: shots/shots.segy in the folder."""
    x, y = (50.0 * ((n - 16) // 4) for n in shape[:2])  # of the last receivers
    geometry = (
        f"sources = {{x = {x / 2}, y = {y / 2}, z = 60.0}}\n"
        f"receivers = {{x = [100.0, {x}, 50.0], y = [100.0, {y}, 50.0], z = 56.0}}"
    )
    depth = np.arange(shape[2], dtype=np.float32)
    np.save(f"{folder}/vp.npy", np.broadcast_to(1800 + 5 * depth, shape))
    shots = SURVEY.format(acquisition=geometry, name="shots", duration=steps / STEPS_A_SECOND)
    (Path(folder) / "shots.toml").write_text(shots)
    fathometer("model", f"{folder}/shots.toml", "--quiet")


def migration(folder: str, steps: int, cone: str, name: str = "image", more: str = "") -> Path:
    """Write the survey that migrates the shot into the folder `name`. more: at the end of the survey."""
    text = SURVEY.format(
        acquisition='gathers = "shots/shots.segy"',
        name=name,
        duration=f'{steps / STEPS_A_SECOND}\ncone = "{cone}"',
    )
    path = Path(folder) / f"{name}.toml"
    path.write_text(f"{text}[imaging]\nevery = {EVERY}\n{more}")
    return path
