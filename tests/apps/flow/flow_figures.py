"""Prints what the tests of incompressible flow compare, for docs/verification.md: tools/figures.py flow."""

import numpy as np
from flow_boxes import box, error, model_of, orders
from test_flow_accuracy import vortices
from test_flow_verification import cavity, largest_loss, nusselt, peak, set_vortices

from benchmarks.flow_numpy import NumpyFlow
from fathometer.apps.flow.solver.model import Fluid


def richardson(coarse, fine):
    return fine + (fine - coarse) / 3


def peak_of_numpy(n):
    model = model_of(box((n, n, n), (2 * np.pi,) * 3, Fluid(1 / 1600), *("periodic",) * 3))
    set_vortices(model)
    other = NumpyFlow(model.arrays.transpose(0, 3, 2, 1).copy(), 1 / 1600)
    rows = []
    while not rows or rows[-1][0] < 9.8:
        speeds = other.velocities
        step = 2 * np.pi / n / sum(np.abs(speeds)).max()
        other.step(step)
        rows.append(((rows[-1][0] if rows else 0.0) + step, 0.5 * sum((speed**2).mean() for speed in speeds)))
    return largest_loss(rows)


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
    for n, courant in ((64, 1.0), (96, 1.0), (96, 0.5), (128, 1.0), (192, 1.0)):
        largest, time = peak(n, courant)
        print(f"   vortices that break up, {n}³, Courant number {courant}: {largest:.5f} at {time:.2f} s", flush=True)
    largest, time = peak_of_numpy(128)
    print(f"   the same by NumPy, 128³: {largest:.15f} at {time:.3f} s")
