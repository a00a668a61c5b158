"""The figures of docs/verification.md of elastic waves; needs ten minutes. Run by tools/figures.py."""

from pathlib import Path

import matplotlib
import numpy as np
import test_elastic_laws as laws
import test_elastic_reciprocity as reciprocity
import test_layer_width as layer_width
import test_product_full_space as full_space
import test_product_lamb as lamb
import test_product_layers as layers
import test_product_loh1 as loh1
import test_product_sea_floor as sea_floor


def percent(values):
    """One number after another."""
    return ", ".join(f"{100 * value:.1f}" for value in values) + " %"


def figures():
    """Print them."""
    for kind in "PS":
        order = laws.order(kind)
        print(f"plane {kind} wave: order {order:.2f}")
    distances, found = full_space.errors(full_space.NEAR, 7, 20)
    print(f"double couple, {percent(found)} at {', '.join(f'{one:.1f}' for one in distances)} wavelengths")
    for correction in ("corrected", "none"):
        distances, found = full_space.errors(full_space.FAR, 12, 12, time_dispersion=correction)
        words = ", ".join(f"{one:.1f}" for one in distances)
        print(f"double couple, time dispersion {correction}: {percent(found)} at {words} wavelengths")
    for name, force in (("vertical", (0.0, 0, 1)), ("horizontal", (1.0, 0, 0))):
        for points in (6, 8, 10, 15):
            for trace, error in zip(("vx", "vz"), lamb.errors(2, force, (0.5, 1, 2), points), strict=True):
                print(f"Lamb, line, {name} force, {points} points, {trace}: {percent(error)} at 0.5, 1, 2 wavelengths")
        for trace, error in zip(("vx", "vy", "vz"), lamb.errors(3, force, (0.5, 1, 1.8)), strict=True):
            print(f"Lamb, point, {name} force, 10 points, {trace}: {percent(error)} at 0.5, 1, 1.8 wavelengths")
    for shift in (0.0, 0.25, 0.5, 0.75):
        found = layers.reflection(shift)
        print(f"interface {shift:g} cells below a node: reflected vx {percent(found[0])}, vz {percent(found[1])}")
    for shift in (0.0, 0.25, 0.5, 0.75):
        words = [
            f"{name} {percent(found)}" for name, found in zip(("vx", "vz", "p"), layers.seafloor(shift), strict=True)
        ]
        print(f"seafloor {shift:g} cells below a node: {'; '.join(words)}")
    for kind in "ps":
        for quality in (50.0, 100.0):
            amplitude, error, without = layers.lossy(kind, quality)
            words = f"amplitudes {percent(amplitude)}; L2 {percent(error)}, elastic {percent(without)}"
            print(f"Q {quality:g}, {kind.upper()}, at 2, 5, 10 wavelengths: {words}")
    for name, (sea, spacing) in layer_width.SEAS.items():
        for h in (spacing, spacing / 2, spacing / 3):
            for words, one in zip(("auto", "20 cells"), sea.reflected(h, "auto", layer_width.TWENTY), strict=True):
                print(f"layers beside a floor of {name}, cells of {h:.3g} m, {words}: vx, vz {percent(one)} come back")
    sea_floors()
    for name in reciprocity.FORCES:
        print(f"reciprocity, {name}, free surface: {reciprocity.force_difference(0.0, name):.1e}")
    for cells, receivers, keys in (
        (4, [2, 4], {"box": loh1.SMALL, "width": 10}),
        (5, [4, 9], {"width": 10}),
        (5, [4, 9], {"width": 20}),
        (5, [4, 9], {"width": 36}),
        (9, [4, 9], {"width": 20}),
    ):
        for (receiver, name), (em, pm, error) in loh1.errors(cells, receivers, **keys).items():
            words = f"EM {100 * em:.1f}, PM {100 * pm:.1f}, L2 {100 * error:.1f} %"
            print(
                f"LOH.1, {cells} + 1/2 cells in the layer, {keys['width']} around, {receiver + 1} km, {name}: {words}"
            )


def sea_floors():
    """Next to a sea floor, at parts of a cell below a node."""
    for name, (source, receivers) in sea_floor.NEAR.items():
        for part in (0.5, 0.25, 0.75, 0.9, 0.1):
            for h in (10.0, 5.0, 10 / 3) if part in (0.5, 0.25, 0.75) else (10.0,):
                found = sea_floor.errors(sea_floor.sea(600 + part * h, source, receivers, spacing=h))
                words = "; ".join(f"{of} {percent(one)}" for of, one in zip(sea_floor.BOTH, found, strict=True))
                print(f"sea floor, {name}, {part:g} of a cell, cells of {h:.3g} m: {words}")


def picture(path: Path):
    """LOH.1 at 182 m beside the wavenumber integration: three components, 5 and 10 km away."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    found = loh1.modelled(loh1.DEPTH / 5.5, "propagation.boundary='auto'")
    wanted = loh1.reference(found)
    figure, rows = plt.subplots(2, 3, figsize=(11, 4.6), sharex=True, sharey="row", layout="constrained")
    for axes, receiver in zip(rows, (loh1.MIDDLE, loh1.FAR), strict=True):
        for c, (axis, name) in enumerate(zip(axes, ("north", "east", "down"), strict=True)):
            axis.plot(found.times, wanted[c, receiver], color="0.55", lw=2.6, label="wavenumber integration")
            axis.plot(found.times, found.traces[c, receiver], color="#0072b2", lw=0.9, label="fathometer model")
            axis.plot(
                found.times,
                found.traces[c, receiver] - wanted[c, receiver],
                color="#d55e00",
                lw=0.9,
                label="difference",
            )
            axis.set_title(f"velocity {name}, {receiver + 1} km away", fontsize=9)
            axis.tick_params(labelsize=8)
    for axis in rows[-1]:
        axis.set_xlabel("time (s)", fontsize=9)
    for axes in rows:
        axes[0].set_ylabel("m/s", fontsize=9)
    lines, labels = rows[0][0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside lower center", ncols=3, fontsize=9, frameon=False)
    figure.savefig(path, dpi=110)
    print(f"{path.name}: largest difference {np.abs(found.traces - wanted).max() / np.abs(wanted).max():.3f}")
