"""The figures of docs/verification.md of elastic waves; needs ten minutes. Run by tools/figures.py."""

from unittest.mock import patch

import test_elastic_laws as laws
import test_elastic_reciprocity as reciprocity
import test_product_full_space as full_space
import test_product_lamb as lamb
import test_product_layers as layers
import test_product_loh1 as loh1

from fathometer.seismic.elastic import layers as damping


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
    for ratio in (damping.RATIO, 0.0):
        with patch.object(damping, "RATIO", ratio):
            distances, found = full_space.errors(full_space.FAR, 12, 12, dt=0.0015)
        words = ", ".join(f"{one:.1f}" for one in distances)
        print(f"double couple, layers' damping {ratio:g}: {percent(found)} at {words} wavelengths")
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
    for name in reciprocity.FORCES:
        print(f"reciprocity, {name}, free surface: {reciprocity.force_difference(0.0, name):.1e}")
    for cells, receivers, keys in (
        (4, [2, 4], {"box": loh1.SMALL, "width": 10}),
        (5, [4, 9], {"width": 20}),
        (5, [4, 9], {"width": 36}),
        (9, [4, 9], {"width": 20}),
    ):
        for (receiver, name), (em, pm, error) in loh1.errors(cells, receivers, **keys).items():
            words = f"EM {100 * em:.1f}, PM {100 * pm:.1f}, L2 {100 * error:.1f} %"
            print(
                f"LOH.1, {cells} + 1/2 cells in the layer, {keys['width']} around, {receiver + 1} km, {name}: {words}"
            )
