"""Prints the figures of docs/verification.md and docs/theory.md, measured with the very code of the tests.

.venv/bin/python tools/figures.py [PART…]     in the checkout's folder; without a PART, all
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

sys.path += [
    str(Path(__file__).resolve().parents[1] / folder)
    for folder in (
        "",
        "tests/support",
        "tests/apps/flow",
        "tests/apps/ocean",
        "tests/apps/reactive",
        "tests/grid",
        "tests/seismic/elastic",
        "tests/seismic/kirchhoff",
        "tests/seismic/model",
        "tests/seismic/rtm",
        "tests/seismic/waves",
    )
]

import test_adjoint
import test_analytic
import test_anisotropy
import test_both_migrations
import test_convergence
import test_image_amplitudes
import test_imaging
import test_means
import test_moveout
import test_operator
import test_reflector_depths
import test_stencil
import test_time_amplitudes
import test_time_command
import test_time_images
import test_weights
from grazing_support import BOTTOM, FREQUENCY, TOP, errors

from benchmarks.reflection import Reflection
from fathometer.grid.stencil import OPTIMISED_BAND, weight_sum
from fathometer.seismic.waves.boundary import Pml, Sponge
from fathometer.seismic.waves.homogeneous import Material

MATERIALS = (Material("isotropic"), Material("VTI 0.25, 0.1", 0.25, 0.1), Material("VTI 0.2, 0.2", 0.2, 0.2))


def analytic() -> None:
    """Verification 1: relative L2 error of a trace after five wavelengths."""
    for dimensions, dtype in ((2, np.float64), (2, np.float32), (3, np.float32)):
        error = test_analytic.trace_error(dimensions, False, dtype)
        print(f"analytic, {dimensions}D, {np.dtype(dtype)}: {100 * error:.3f} %")


def steps() -> None:
    """Verification 1: the error in time, corrected or left in, of a trace and of a reflector's depth."""
    a, i = test_analytic, test_imaging
    words = {True: "corrected", False: "none"}
    for dimensions in (2, 3):
        for corrected, word in words.items():
            print(f"ten wavelengths, {dimensions}D, {word}: {100 * a.large_step_error(dimensions, corrected):.2f} %")
    with TemporaryDirectory() as name:
        folder = Path(name)
        for case in (("corrected",), ("none",), ("corrected", "optimised")):
            print(f"by the command, {', '.join(case)}: {100 * a.modelled_error(folder, *case):.2f} %")
        for word in words.values():
            print(f"reflector at {i.DEEP} cells, {word}: {i.deep_reflector_depth(folder, word):.2f}")


def weights() -> None:
    """Optimised weights beside Taylor's: where the velocity ceases to be right to 1e-4, and the time step."""
    t = test_stencil
    for radius in t.RADII:
        cells = [2 * np.pi / t.K[np.argmax(np.abs(t.velocity_error(radius, kind)) > 1e-4)] for kind in t.KINDS]
        share = np.sqrt(weight_sum(radius, "taylor") / weight_sum(radius, "optimised"))
        print(
            f"order {2 * radius}: band {OPTIMISED_BAND[radius - 1]:g}, cells a wavelength {cells[1]:.1f} "
            f"(Taylor's {cells[0]:.1f}), time step x {share:.3f}"
        )
    for points in (10, 8):
        errors = [test_analytic.large_step_error(2, True, points=points, space_weights=kind) for kind in t.KINDS]
        print(f"ten wavelengths, {points} points: " + ", ".join(f"{100 * error:.2f} %" for error in errors))


def anisotropy() -> None:
    """Verification 2: worst error of the group velocity over twelve directions."""
    for epsilon, delta in test_anisotropy.MEDIA:
        worst = 100 * np.abs(test_anisotropy.velocity_errors(epsilon, delta)).max()
        print(f"group velocity, epsilon {epsilon:g}, delta {delta:g}: worst error {worst:.3f} %")


def convergence() -> None:
    """Verification 3: measured orders."""
    for order, coarse, fine in test_convergence.SPACE:
        print(f"space, order {order}: {test_convergence.space_order(order, coarse, fine):.2f}")
    for vti in (False, True):
        print(f"time, {'VTI' if vti else 'isotropic'}: {test_convergence.time_order(vti):.3f}")


def adjoint() -> None:
    """Verification 4: |<Fx, y> - <x, F*y>| / (|Fx| |y|), the worst of all cases of the test."""
    t = test_adjoint
    for dtype in (np.float64, np.float32):
        worst = max(t.dot_product_error(*case, dtype) for case in t.CASES)
        print(f"dot product, {np.dtype(dtype)}, worst of {len(t.CASES)} cases: {worst:.1e}")


def absorption() -> None:
    """Verification 5: reflections in dB of both kinds of sides, the worst of 0 to 60 degrees and of x and z."""
    experiments = {material.name: [Reflection(material, axis) for axis in (0, 2)] for material in MATERIALS}
    for boundary in (*(Pml(n) for n in (5, 8, 10, 15, 20)), *(Sponge(n) for n in (20, 30, 40, 60))):
        worst = {name: max(one.decibels(boundary).max() for one in both) for name, both in experiments.items()}
        kind = type(boundary).__name__.lower()
        print(f"{kind}, {boundary.width} cells: " + ", ".join(f"{name} {dB:.1f} dB" for name, dB in worst.items()))


def grazing() -> None:
    """Verification 5: errors in % of direct waves along an absorbing top, by offset and by cells of the PML."""
    widths, offsets = (5, 6, 8, 10, 12, 16, 20), np.array([1100.0, 2500.0, 3900.0, 8000.0])
    for bottom in (BOTTOM, TOP):
        print(f"{TOP:g} to {bottom:g} m/s, {FREQUENCY:g} Hz, offsets of {', '.join(f'{one:g}' for one in offsets)} m:")
        for width, found in zip(widths, errors(offsets, [Pml(n) for n in widths], bottom), strict=True):
            print(f"  {width} cells: " + ", ".join(f"{100 * error:.1f}" for error in found))


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


def amplitudes() -> None:
    """Verification 7: source-normalised images over what they must be, by cells, shots and angles."""
    a = test_image_amplitudes
    cases = [(a.line, shots, cells) for shots in (1, 5) for cells in (20.0, 10.0, 5.0)]
    cases += [(a.square, 1, 25.0), (a.square, 1, 12.5), (a.square, 3, 25.0)]
    with TemporaryDirectory() as name:
        for kind, shots, cells in cases:
            over_sum, over_coefficient = a.shares(Path(name), kind(shots), cells)
            print(f"{kind.__name__}, {shots} shots, cells of {cells:g} m: {over_sum:.3f}, {over_coefficient:.3f}")
        for angle, (over_sum, over_coefficient) in zip(a.ANGLES, a.shares_at_angles(Path(name)), strict=True):
            print(f"line, {angle:g} degrees: {over_sum:.3f}, {over_coefficient:.3f}")


def depths() -> None:
    """Verification 7: depths of flat reflectors under exact gradients and layers, in m; a minute or two."""
    t = test_reflector_depths
    head = "stack, " + ", ".join(f"tangent {angle:g}" for angle in t.ANGLES)
    for name in t.MEDIA:
        with TemporaryDirectory() as folder:
            print(f"single reflectors, {name}: depth: errors in m of {head}")
            for depth, row in zip(t.LARGE.reflectors, t.depth_errors(t.LARGE, name, Path(folder)), strict=True):
                print(f"  {depth:6g}: " + " ".join(f"{value:6.1f}" for value in row))


def smoothing() -> None:
    """Verification 7: the same for many thin layers, migrated in smoothed media."""
    t = test_reflector_depths
    head = "stack, " + ", ".join(f"tangent {angle:g}" for angle in t.ANGLES)
    with TemporaryDirectory() as folder:
        for case, shifts in t.layer_shifts(t.LARGE, Path(folder)).items():
            words = case if case == "exact" else f"{case[0]} smoothed over {case[1]:g} m"
            print(f"thin layers, {words}: depth: m deeper by vertical time, {head}")
            for depth, row in zip(t.LARGE.reflectors, shifts, strict=True):
                print(f"  {depth:6g}: " + " ".join(f"{value:6.1f}" for value in row))


def means() -> None:
    """Verification 7: depths below layers, in m, by what is smoothed: exactly, then in images."""
    m, t = test_means, test_reflector_depths
    for count in (4.0, 6.0, 8.0, 10.0, 12.0, 16.0, 24.0):
        cases = [m.depth_errors(count, seed) for seed in range(10)]
        found = {mean: [errors[mean] for errors in cases] for mean in m.means.MEANS}
        words = ", ".join(f"{mean} {np.mean(v):.1f} +- {np.std(v):.1f}" for mean, v in found.items())
        print(f"normal incidence, {count:g} layers a wavelength: m deeper: {words}")
    for seed in range(3):
        with TemporaryDirectory() as folder:
            errors = t.smoothed_errors(t.DEEP, seed, Path(folder), ("exact", *m.means.MEANS))
            words = ", ".join(f"{kind} {metres:.1f}" for kind, metres in errors.items())
            print(f"reflector at {t.DEEP.reflectors[0]:g} m below thin VTI layers, medium {seed}: m deeper: {words}")


def time_migration() -> None:
    """Verification 10: time migration against analytic traces."""
    t, o, m, w = test_time_images, test_operator, test_moveout, test_weights
    for dimensions in (2, 3):
        for offset in (0.0, 600.0):
            missed = ", ".join(f"{one:.3f}" for one in t.diffractor_errors(dimensions, offset))
            print(f"diffractor, {dimensions}D, offset {offset:g} m: bins and samples off: {missed}")
        cases = [(offset, *t.reflector(dimensions, offset)) for offset in t.OFFSETS]
        if dimensions == 2:
            cases += [(offset, *t.reflector(2, offset, True)) for offset in t.OFFSETS]
        late = max(abs(time - t.T0) / t.INTERVAL for _, time, *_ in cases)
        heights = ", ".join(f"{height:.3f} at {offset:g} m" for offset, _, height, _ in cases)
        turned = max(abs(phase) for *_, phase in cases)
        words = f"samples off {late:.3f}, degrees {turned:.1f}, amplitude over R {heights}"
        print(f"plane reflector, {dimensions}D{', then of line sources' * (dimensions == 2)}: {words}")
        print(f"one trace, {dimensions}D: samples off {np.abs(t.impulse_errors(dimensions)).max():.3f}")
    for offset in (0.0, 1000.0):
        for filtered in ("none", "triangle"):
            bins, heights = t.dipping(offset, filtered)
            words = f"bins off {bins:.3f}, amplitude over R {min(heights):.3f} to {max(heights):.3f}"
            print(f"dip of 30 degrees, offset {offset:g} m, anti-alias filter {filtered}: {words}")
    for eta in m.ETAS:
        found, hyperbola = (1000 * np.abs(m.moveout(eta, used)).max() for used in (eta, None))
        print(f"VTI layer, eta {eta:g}: ms off {found:.2f}, hyperbola {hyperbola:.1f}")
    for degrees in m.DIPS:
        found = ", ".join(f"{1000 * error:.2f}" for error in m.dip_errors(degrees))
        print(f"VTI, eta 0.125, dip of {degrees} degrees, offsets 0, 900, 1800 m: ms off {found}")
    with TemporaryDirectory() as name:
        (depth, phase), (depth_in_time, phase_in_time) = test_both_migrations.events(Path(name))
        words = f"in time {depth_in_time:.2f} m, {phase_in_time:.1f} degrees"
        print(
            f"2D, reflector at {test_both_migrations.DEPTH:g} m: in depth {depth:.2f} m, {phase:.1f} degrees; {words}"
        )
    print(f"adjoint: dot product, the worst of {len(o.CASES)} cases: {max(map(o.dot_product_error, o.CASES)):.1e}")
    plainly = max(o.plain_error(name, **o.PLAIN) for name in o.CASES)
    print(f"plain loop: weights {100 * plainly:.2f} %, all {100 * max(map(o.plain_error, o.CASES)):.1f} %")
    none, filtered = o.steep_noise("none"), o.steep_noise("triangle")
    print(f"noise of steep operators: {o.decibels(none[0] / filtered[0]):.1f} dB less with the filter")
    with TemporaryDirectory() as name:
        folder, _ = test_time_command.images_by_bins(Path(name))
        bins = sorted(path.stem for path in (folder / "out" / "time").glob("image-offset-*.rsf"))
        for file in ("image", *bins):
            heights = test_time_command.reflector_of(folder, file)[1] / test_time_command.REFLECTION
            print(f"by the command, {file}: amplitude over R {heights.min():.3f} to {heights.max():.3f}")
    for name, (case, _) in test_time_amplitudes.CASES.items():
        with TemporaryDirectory() as folder:
            found, _ = case(Path(folder))
        print(f"amplitude over R, {name}: {found.min():.3f} to {found.max():.3f}")
    for left, offset in test_time_amplitudes.PATCHES:
        with TemporaryDirectory() as folder:
            found = test_time_amplitudes.in_space(Path(folder), left, offset)
        words = f"midpoints {left:g} and 25 m apart, offsets to {offset:g} m"
        print(f"amplitude over R, 3D, {words}: {found.min():.3f} to {found.max():.3f}")
    print("derivatives: " + ", ".join(f"{w.filter_error(summed):.1e} of {summed}" for summed in w.SUMMED))


def reactive() -> None:
    """Reactive flow; needs PETSc and phreeqpython."""
    import reactive_figures

    reactive_figures.figures()


def ocean() -> None:
    """Verification 12: waves, gyres, a lock exchange, conservation; a minute or two."""
    import ocean_figures

    ocean_figures.figures()


def elastic() -> None:
    """Verification 13: elastic waves; a quarter of an hour."""
    import elastic_figures

    elastic_figures.figures()


def flow() -> None:
    """Verification 14: incompressible flow; half an hour."""
    import flow_figures

    flow_figures.figures()


def loh1_picture() -> None:
    """Verification 13: draws docs/pictures/loh1.png."""
    import elastic_figures

    elastic_figures.picture(Path(__file__).resolve().parents[1] / "docs" / "pictures" / "loh1.png")


PARTS = (
    *(
        analytic,
        steps,
        weights,
        anisotropy,
        convergence,
        adjoint,
        absorption,
        grazing,
        imaging,
        amplitudes,
        depths,
        smoothing,
        means,
    ),
    time_migration,
    reactive,
    ocean,
    elastic,
    flow,
    loh1_picture,
)

if __name__ == "__main__":
    parts = {part.__name__: part for part in PARTS}
    for name in sys.argv[1:] or parts:
        parts[name]()
