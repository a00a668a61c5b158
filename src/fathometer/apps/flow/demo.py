"""The built-in case: Taylor's and Green's vortices (1937) break up, at a Reynolds number of 1600."""

from __future__ import annotations

CELLS = {False: 64, True: 32}  # along each axis; quick
STEPS = {False: 100, True: 40}

FLOW = """\
# Vortices of Taylor and Green break up. Made by `fathometer flow --demo`.

[grid]
cells = [{cells}, {cells}, {cells}]
size = [6.283185307179586, 6.283185307179586, 6.283185307179586]   # m, periodic

[fluid]
viscosity = 6.25e-4      # m²/s

[initial]
kind = "taylor-green"
speed = 1.0              # m/s

[time]
end = 20.0               # s
most_steps = {steps}
courant = 1.0

[output]
directory = "."
every = {every}
"""


def flow_text(cells: int, steps: int, every: float) -> str:
    """The input file; cells: along each axis. every: interval of results, s."""
    return FLOW.format(cells=cells, steps=steps, every=every)


def demo_text(quick: bool) -> str:
    """The demo's input file; its results lie beside it."""
    return flow_text(CELLS[quick], STEPS[quick], 1.0 if quick else 2.0)
