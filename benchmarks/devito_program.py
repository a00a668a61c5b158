"""Devito's time steps and its migration, one task a line on standard input, its answer a line on standard output.

Runs in Devito's own environment, which knows nothing of Fathometer. Steps, orders and equations are those of
native/acoustic/vti.hpp on a grid of spacing 1; what absorbs is a damping mask, as Devito's examples have it.

    check N      from a Gaussian at rest, N steps: the norm of the pressure
    steps N      N steps without sides: seconds
    forward      the source loop, snapshots kept in memory: seconds
    backward     the receiver loop, correlated with them: seconds
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import numpy as np
from devito import (  # type: ignore[import-not-found]
    ConditionalDimension,
    Eq,
    Function,
    Grid,
    Operator,
    SparseTimeFunction,
    TimeFunction,
    configuration,
)

ORDER, MASK = 8, 8  # of the stencil; cells of the damping mask
TUNING_STEPS = 6


class Vti:
    """The two wavefields u and v, forward in time or backward, with a damping mask or without."""

    def __init__(self, shape: list[int], model: list[float], backward: bool, damped: bool) -> None:
        self.grid = Grid(shape=shape, extent=[float(n - 1) for n in shape], dtype=np.float32)
        self.u, self.v = (
            TimeFunction(name=name, grid=self.grid, time_order=2, space_order=ORDER) for name in ("u", "v")
        )
        m11, m12, m22 = (Function(name=f"m{n}", grid=self.grid, space_order=0) for n in ("11", "12", "22"))
        for function, value in zip((m11, m12, m22), model, strict=True):
            function.data[:] = value
        damping = self._mask() if damped else 0
        across, along = self.u.dx2 + self.u.dy2, self.v.dz2

        def step(field: TimeFunction, horizontal: Function, vertical: Function) -> Eq:
            after, before = (field.backward, field.forward) if backward else (field.forward, field.backward)
            stepped = 2 * field - (1 - damping) * before + horizontal * across + vertical * along
            return Eq(after, stepped / (1 + damping) if damped else stepped)

        self.equations = [step(self.u, m11, m12), step(self.v, m12, m22)]

    @property
    def pressure(self) -> object:
        return 0.5 * (self.u + self.v)

    def rest(self) -> None:
        for field in (self.u, self.v):
            field.data[:] = 0

    def points(self, name: str, coordinates: np.ndarray, steps: int) -> SparseTimeFunction:
        points = SparseTimeFunction(name=name, grid=self.grid, npoint=len(coordinates), nt=steps + 2)
        points.coordinates.data[:] = coordinates
        points.data[:] = 1e-3
        return points

    def _mask(self) -> Function:
        mask = Function(name="damping", grid=self.grid, space_order=0)
        for axis, n in enumerate(self.grid.shape):
            depth = np.clip(MASK - np.minimum(np.arange(n), np.arange(n)[::-1]), 0, None) / MASK
            mask.data[:] += (0.05 * depth**2).reshape([n if a == axis else 1 for a in range(3)]).astype(np.float32)
        return mask


def cube_tasks(side: int, model: list[float]) -> dict[str, Callable[[int], float | None]]:
    """Steps in a cube without sides."""
    wave = Vti([side] * 3, model, False, False)
    stepping = Operator(wave.equations)
    stepping.apply(time_M=TUNING_STEPS, autotune="aggressive")

    def check(steps: int) -> float:
        wave.rest()
        for level in (0, 1):  # two equal levels: at rest; "now" is level 1, "before" level 0
            wave.u.data[level] = wave.v.data[level] = gaussian(side)
        stepping.apply(time_m=1, time_M=steps)
        last = (steps + 1) % 3
        return float(np.linalg.norm(0.5 * (wave.u.data[last] + wave.v.data[last])))

    return {"check": check, "steps": lambda steps: stepping.apply(time_m=1, time_M=steps) and None}


def gaussian(side: int) -> np.ndarray:
    """exp(-r^2 / 50) around the middle of a cube, r in cells; as in beside_devito.py."""
    line = np.exp(-((np.arange(side) - side // 2) ** 2) / 50.0)
    return np.asarray(line[:, None, None] * line[:, None] * line, np.float32)


def migration_tasks(shape: list[int], steps: int, every: int, model: list[float]) -> dict[str, Callable[[], None]]:
    """A shot on a grid that has the mask's cells already."""
    source_wave, receiver_wave = (Vti(shape, model, backward, True) for backward in (False, True))
    x, y, _ = shape

    def loop(wave: Vti, name: str, coordinates: np.ndarray, backward: bool) -> tuple[list[object], object]:
        points = wave.points(name, coordinates.astype(np.float32), steps)
        fields = [f.backward if backward else f.forward for f in (wave.u, wave.v)]
        return [points.inject(field=field, expr=points) for field in fields], points

    middle = np.array([[x / 2, y / 2, MASK + 4.0]])
    spread = np.array([[i, j, MASK + 4.0] for i in range(12, x - 12, 4) for j in range(12, y - 12, 4)])
    sources, _ = loop(source_wave, "source", middle, False)
    receivers, _ = loop(receiver_wave, "receivers", spread, True)
    coarse = ConditionalDimension("coarse", parent=source_wave.grid.time_dim, factor=every)
    snapshots = TimeFunction(
        name="snapshots",
        grid=source_wave.grid,
        time_order=0,
        space_order=0,
        save=steps // every + 2,
        time_dim=coarse,
    )
    snapshots.data[:] = 0  # the memory is there before anything is timed
    image, illumination = (
        Function(name=name, grid=receiver_wave.grid, space_order=0) for name in ("image", "illumination")
    )
    forward = Operator([*source_wave.equations, *sources, Eq(snapshots, source_wave.pressure)])
    backward = Operator(
        [
            *receiver_wave.equations,
            *receivers,
            Eq(image, image + snapshots * receiver_wave.pressure, implicit_dims=[coarse]),
            Eq(illumination, illumination + snapshots * snapshots, implicit_dims=[coarse]),
        ]
    )
    for operator in (forward, backward):
        operator.apply(time_m=1, time_M=TUNING_STEPS, autotune="aggressive")

    def source_loop() -> None:
        source_wave.rest()
        forward.apply(time_m=1, time_M=steps)

    def receiver_loop() -> None:
        receiver_wave.rest()
        image.data[:] = illumination.data[:] = 0
        backward.apply(time_m=1, time_M=steps)

    return {"forward": source_loop, "backward": receiver_loop}


def main() -> None:
    """Make what the argument, a JSON object, describes; then do what is asked."""
    configuration["log-level"], configuration["language"] = "ERROR", "openmp"
    wanted = json.loads(sys.argv[1])
    tasks = cube_tasks(**wanted) if "side" in wanted else migration_tasks(**wanted)
    print("ready", flush=True)
    for line in sys.stdin:
        name, *arguments = line.split()
        start = time.perf_counter()
        answer = tasks[name](*map(int, arguments))
        print(time.perf_counter() - start if answer is None else answer, flush=True)


if __name__ == "__main__":
    main()
