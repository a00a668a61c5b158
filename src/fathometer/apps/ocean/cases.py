"""Ocean files made by code: the demo's basin, and the benchmark's earth."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

DEGREE = 1.112e5  # m
FASTEST = 3.5  # m/s, an internal wave
DEMO_CELLS = {False: (96, 64, 12), True: (48, 32, 8)}  # quick
DEMO_STEPS = {False: 300, True: 200}

GYRE = """\
# A double gyre: wind over a basin in middle latitudes with a warm upper ocean, and a ridge across its floor.

[grid]
cells = [{nx}, {ny}]
spacing = [{spacing}, {spacing}]   # m
levels = {{count = {nz}, depth = 3000.0, top = {top}}}   # m

[bathymetry]
kind = "ridge"
height = 1000.0                # m

[rotation]                     # at 45 degrees
f = 1.0e-4                     # 1/s
beta = 1.6e-11                 # 1/(m s)

[mixing]
viscosity = {viscosity}             # m²/s
diffusivity = 500.0
vertical_viscosity = 1e-3
vertical_diffusivity = 1e-5
bottom_drag = "linear"
drag_coefficient = 1e-4        # m/s

[initial]
temperature = {{surface = {{south = 22.0, north = 8.0}}, deep = 3.0, scale = 500.0}}   # °C, m
salinity = 35.0
noise = {{amplitude = 0.01}}     # K

[forcing]
wind = {{kind = "double-gyre", amplitude = 0.15}}   # N/m²
temperature = {{timescale = 2.592e6, target = {{south = 24.0, north = 6.0}}}}   # s, °C

[time]
step = {step}                  # s
steps = {steps}

[output]
directory = "{directory}"
every_steps = {every}
fields = ["temperature", "velocity", "height", "streamfunction"]
"""

EARTH = """\
# An earth with idealised continents, {nx} x {ny} cells and {nz} levels; those of the grid x1 of benchmarks of ocean
# models are 320 x 384 and 40. Made by `fathometer ocean FILE --write-case one-degree`.

[grid]
kind = "sphere"
cells = [{nx}, {ny}]
spacing = [{dx:.12g}, {dy:.12g}]         # degrees
origin = [0.0, -76.8]
periodic = true
levels = {{count = {nz}, depth = 5500.0, top = 10.0}}   # m

[bathymetry]
kind = "continents"
least_levels = 2

[water]
equation_of_state = "wright"

[mixing]
viscosity = {viscosity}            # m²/s
diffusivity = 1000.0
vertical_viscosity = 1e-3
vertical_diffusivity = 2e-5
bottom_drag = "quadratic"
drag_coefficient = 1e-3

[initial]
temperature = {{surface = {{equator = 26.0, pole = 1.0}}, deep = 1.0, scale = 600.0}}   # °C, m
salinity = 34.7

[forcing]
wind = {{kind = "zonal", amplitude = 0.1}}   # N/m²
temperature = {{timescale = 2.592e6, target = {{equator = 28.0, pole = -1.0}}}}   # s, °C
salinity = {{timescale = 5.184e6, target = {{equator = 35.5, pole = 33.5}}}}

[time]
step = {step}                # s
steps = {steps}

[output]
directory = "{directory}"
course_steps = 4
"""


def demo_text(quick: bool) -> str:
    """The demo's ocean file; its results lie beside it."""
    return gyre_text(DEMO_CELLS[quick], DEMO_STEPS[quick], ".")


def gyre_text(cells: tuple[int, int, int] = (96, 64, 12), steps: int = 600, directory: str = "gyre") -> str:
    """The double gyre in a basin of 3840 km x 2560 km, of any number of cells; steps: of the simulation."""
    nx, ny, nz = cells
    spacing = 3.84e6 / nx
    return GYRE.format(
        nx=nx,
        ny=ny,
        nz=nz,
        spacing=spacing,
        top=min(60.0, 3000.0 / nz),
        viscosity=max(500.0, 1.6e-11 * (1.5 * spacing) ** 3),  # a boundary layer of 1.5 cells
        step=7200.0 if spacing >= 4e4 else 3600.0,
        steps=steps,
        every=max(1, steps // 4),
        directory=directory,
    )


def earth_text(cells: tuple[int, int, int] = (320, 384, 40), steps: int = 24, directory: str = "one-degree") -> str:
    """The earth at any resolution; steps: of the simulation."""
    nx, ny, nz = cells
    width, north = DEGREE * 360 / nx, DEGREE * 153.6 / ny  # m, at the equator
    narrowest = width * math.cos(math.radians(76.8))
    step = min(3600.0, 10 * math.floor(0.05 * min(narrowest, north) / FASTEST))
    most = 0.3 / (step * (narrowest**-2 + north**-2))
    return EARTH.format(
        nx=nx,
        ny=ny,
        nz=nz,
        steps=steps,
        dx=360 / nx,
        dy=153.6 / ny,
        viscosity=float(f"{min(2.3e-11 * width**3, most):.2g}"),  # a western boundary layer of one cell
        step=step,
        directory=directory,
    )


CASES: Mapping[str, Callable[[], str]] = MappingProxyType({"one-degree": earth_text, "double-gyre": gyre_text})
