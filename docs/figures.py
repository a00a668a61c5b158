"""Prints the figures of docs/verification.md and docs/theory.md, measured with the very code of the tests.

PYTHONPATH=.:tests .venv/bin/python docs/figures.py [PART…]      in the checkout's folder; all parts where none is named
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import test_adjoint
import test_analytic
import test_anisotropy
import test_convergence
import test_imaging
from support import Medium, ricker, times

from benchmarks.homogeneous import Material
from benchmarks.reflection import Reflection
from fathometer.seismic.boundary import Pml, Sponge

MATERIALS = (Material("isotropic"), Material("VTI 0.25, 0.1", 0.25, 0.1), Material("VTI 0.2, 0.2", 0.2, 0.2))


def analytic() -> None:
    """Verification 1: relative L2 error of a trace after five wavelengths."""
    t = test_analytic
    spacing = t.WAVELENGTH / 10
    for dimensions, exact, dtype in (
        (2, t.exact_2d, np.float64),
        (2, t.exact_2d, np.float32),
        (3, t.exact_3d, np.float32),
    ):
        flat = dimensions == 2
        medium = Medium((66, 1 if flat else 22, 22), spacing, t.VELOCITY, dtype=dtype, share=0.1)
        source = np.array([6.0, 0.0 if flat else 10.4, 10.3]) * spacing
        receiver = source + np.array([50.3, 0.0 if flat else 1.2, 0.9]) * spacing
        distance = float(np.linalg.norm(receiver - source))
        time = times(t.START, distance / t.VELOCITY + 1.6 / t.FREQUENCY, medium.dt)
        trace = medium.run(source, receiver, ricker(time, t.FREQUENCY))[:, 0]
        wanted = exact(time, distance)
        error = np.linalg.norm(trace - wanted) / np.linalg.norm(wanted)
        print(f"analytic, {dimensions}D, {np.dtype(dtype)}: {100 * error:.3f} %")


def anisotropy() -> None:
    """Verification 2: worst error of the group velocity over twelve directions."""
    t = test_anisotropy
    for epsilon, delta in ((0.2, 0.1), (0.25, 0.0), (0.15, 0.15), (0.1, -0.1), (0.0, 0.0)):
        half, near, far = 100, 500.0, 1150.0
        medium = Medium((2 * half, 1, 2 * half), t.SPACING, t.VP, epsilon, delta, share=0.3, frequency=t.FREQUENCY)
        centre = np.array([half, 0, half]) * t.SPACING
        angles = np.radians(np.linspace(0, 180, 12))
        directions = np.stack([np.sin(angles), 0 * angles, np.cos(angles)], axis=1)
        time = times(-1.5 / t.FREQUENCY, far / t.VP + 2.0 / t.FREQUENCY, medium.dt)
        receivers = np.concatenate([centre + near * directions, centre + far * directions])
        traces = medium.run(centre, receivers, ricker(time, t.FREQUENCY))
        errors = []
        for n, angle in enumerate(angles):
            late = t.first_break(traces[:, 12 + n], time, far)
            early = t.first_break(traces[:, n], time, near)
            errors.append((far - near) / (late - early) / t.group_velocity(angle, epsilon, delta) - 1)
        print(f"group velocity, epsilon {epsilon:g}, delta {delta:g}: worst error {100 * np.abs(errors).max():.3f} %")


def convergence() -> None:
    """Verification 3: measured orders."""
    step = test_convergence.smooth_step
    for order, coarse, fine in ((4, 40, 80), (8, 40, 80), (12, 32, 42)):
        rate = np.log(step(order, coarse) / step(order, fine)) / np.log(fine / coarse)
        print(f"space, order {order}: {rate:.2f}")
    for vti in (False, True):
        traces = []
        for refinement in (1, 2, 4):
            anisotropy = (0.2, 0.1) if vti else ()
            medium = Medium((60, 1, 60), 12.5, 2000.0, *anisotropy, share=0.8 / refinement, frequency=10.0)
            time = -0.15 + medium.dt * np.arange(240 * refinement + 1)
            trace = medium.run([200.0, 0, 210.0], [560.0, 0, 430.0], ricker(time, 10.0))[:, 0]
            traces.append(trace[::refinement])
        rate = np.log2(np.linalg.norm(traces[0] - traces[1]) / np.linalg.norm(traces[1] - traces[2]))
        print(f"time, {'VTI' if vti else 'isotropic'}: {rate:.3f}")


def adjoint() -> None:
    """Verification 4: |<Fx, y> - <x, F*y>| / (|Fx| |y|), the worst of all cases of the test."""
    t = test_adjoint
    for dtype in (np.float64, np.float32):
        worst = 0.0
        for dimensions, physics, boundary, order, free in t.CASES:
            rng = np.random.default_rng(5)
            medium = t.medium_of(dimensions, physics, boundary, order, dtype, free)
            shallow = 0.4 if free else 4.0
            sources, receivers = t.places(rng, medium, 3, shallow), t.places(rng, medium, 5, shallow)
            x, y = (rng.standard_normal((t.STEPS, n)).astype(dtype) for n in (3, 5))
            forward = medium.run(sources, receivers, x).astype(np.float64)
            back = medium.run(receivers, sources, y[::-1])[::-1].astype(np.float64)
            left, right = np.sum(forward * y, dtype=np.float64), np.sum(x * back, dtype=np.float64)
            worst = max(worst, abs(left - right) / (np.linalg.norm(forward) * np.linalg.norm(y)))
        print(f"dot product, {np.dtype(dtype)}, worst of {len(t.CASES)} cases: {worst:.1e}")


def absorption() -> None:
    """Verification 5: reflections in dB of both kinds of sides, the worst of 0 to 60 degrees and of x and z."""
    experiments = {material.name: [Reflection(material, axis) for axis in (0, 2)] for material in MATERIALS}
    for boundary in (*(Pml(n) for n in (5, 8, 10, 15, 20)), *(Sponge(n) for n in (20, 30, 40, 60))):
        worst = {name: max(one.decibels(boundary).max() for one in both) for name, both in experiments.items()}
        kind = type(boundary).__name__.lower()
        print(f"{kind}, {boundary.width} cells: " + ", ".join(f"{name} {dB:.1f} dB" for name, dB in worst.items()))


def imaging() -> None:
    """Verification 7: the depth of a flat reflector between cells 64 and 65 under VTI, in cells."""
    t = test_imaging
    overburden = np.full((t.NX, t.NZ), 2000.0)
    true = overburden.copy()
    true[:, 65:] = 2600.0
    vti = (0.2, 0.1)
    with TemporaryDirectory() as name:
        folder = Path(name)
        models = (("layers", true), ("none", overburden))
        traces = [t.shots(folder, label, vp, vti, acquisition=t.FAR) for label, vp in models]
        t.write_difference(*traces, folder / "reflected.segy")
        for label, parameters in (("VTI", vti), ("isotropic", (0.0, 0.0))):
            image = t.image_of(folder, label, overburden, parameters, folder / "reflected.segy")
            print(f"reflector at 64.5 cells, migrated as {label}: {t.reflector_depth(image):.2f}")


if __name__ == "__main__":
    parts = {part.__name__: part for part in (analytic, anisotropy, convergence, adjoint, absorption, imaging)}
    for name in sys.argv[1:] or parts:
        parts[name]()
