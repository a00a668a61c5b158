"""Prints what the tests of incompressible flow compare, for docs/verification.md: tools/figures.py flow."""

import numpy as np
from flow_boxes import error, orders
from test_flow_accuracy import vortices
from test_flow_verification import cavity, nusselt, peak


def richardson(coarse, fine):
    return fine + (fine - coarse) / 3


def figures():
    print("14. Incompressible flow")
    errors = []
    for n in (16, 32, 64, 128):
        model, decay = vortices(n, ("periodic", "periodic"), 2 * np.pi, n, end=1.0)
        errors.append(error(model, 0, lambda x, y, z, decay=decay: np.sin(x) * np.cos(y) * decay))
    print("   vortices in 2D, largest error:", *(f"{one:.3g}" for one in errors), "orders", orders(errors).round(3))
    slow, fast = [cavity(n, 100, 40) for n in (32, 64, 128)], [cavity(n, 1000, 60) for n in (64, 128)]
    print("   cavity, Re 100:", *(one.round(5) for one in slow), "Richardson", richardson(*slow[1:]).round(5))
    print("   cavity, Re 1000:", *(one.round(5) for one in fast), "Richardson", richardson(*fast).round(5))
    for rayleigh in (1e3, 1e4, 1e5):
        coarse, fine = (nusselt(n, rayleigh) for n in (64, 128))
        print(f"   warm wall, Ra {rayleigh:.0e}: {coarse:.4f} {fine:.4f} Richardson {richardson(coarse, fine):.4f}")
    for n in (64, 128):
        largest, time = peak(n)
        print(f"   vortices that break up, {n}³: {largest:.5f} at {time:.2f} s", flush=True)
