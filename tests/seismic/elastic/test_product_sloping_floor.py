"""Verification 13: next to a sea floor that slopes, against wavenumber integration in a frame that is turned with it.

Water over rock, cells of 10 m, a Ricker wavelet of 6 Hz, unless something else is said; receivers 250, 500, 750 m away
along x, so many metres above the floor along z, below it if negative. No side of the model is closer than 1100 m: there
the floor becomes level.
"""

import numpy as np
import pytest
from elastic_product import misfit
from support import FULL
from tilted_floors import Tilted

WATER, ROCK, SOFT = (1500.0, 0.0, 1000.0), (3000.0, 1700.0, 2200.0), (1700.0, 400.0, 1800.0)
BOTH = ("vx", "vz", "pressure")
ON = -1e-6  # in the rock, on the floor
TENSOR = {"tensor": (1e9, -0.5e9, 0.7e9), "components": ("vx", "vz"), "offsets": (125.0, 250.0, 500.0)}


def line(angle, source, heights, spacing=10.0, offsets=(250.0, 500.0, 750.0), rock=ROCK, frequency=6.0, **keys):
    """A survey over a floor that falls by `angle` degrees along x."""
    lead, tail = keys.pop("sides", (1300.0, 1100.0))
    length = lead + offsets[-1] + tail
    fall = np.tan(np.radians(abs(angle))) * length
    force = keys.pop("force", None)
    return Tilted(
        angle,
        floor=700 + 0.3 * spacing + fall * (angle < 0),
        water=WATER,
        rock=rock,
        shape=(int(length / spacing) + 1, 1, int((1400 + fall) / spacing) + 1),
        spacing=spacing,
        frequency=frequency,
        source=(lead, 0.0, source),
        receivers=[(lead + offset, 0.0, height) for height in heights for offset in offsets],
        duration=offsets[-1] / 1500 + 1.1,
        force=None if force is None else (force[0], 0.0, force[1]),
        **{"components": BOTH} | keys,
    )


def traces(survey):
    """The program's, with absorbing layers of 600 m, and the exact ones."""
    found = survey.found(boundary={"kind": "pml", "width": round(600 / survey.spacing)})
    assert not any("sea floor: it" in note for note in found.setup.run.warnings)
    return found.traces, survey.exact(found)


def errors(survey):
    """Relative L2 errors (components, receivers)."""
    return np.array([[misfit(*pair) for pair in zip(*both, strict=True)] for both in zip(*traces(survey), strict=True)])


@pytest.mark.parametrize(("sharp", "most"), [(False, 0.007), (True, 0.018)])
def test_ten_degrees(sharp, most):
    """Cells that are means, and cells that are one or the other."""
    assert errors(line(10, 95.0, (5.0, 85.0), sharp=sharp)).max() <= most


@pytest.mark.parametrize("sharp", [False, True])
def test_ten_degrees_beside_cells_a_third_as_large(sharp):
    """Of a shorter line, whose sides are closer; above the floor and below it."""
    keys = {"sides": (500.0, 400.0), "offsets": (150.0, 300.0), "components": ("vx", "vz", "szz"), "sharp": sharp}
    coarse, fine = (
        line(10, 95.0, (5.0, 85.0, -5.0), spacing=h, **keys).found(boundary={"kind": "pml", "width": round(400 / h)})
        for h in (10.0, 10 / 3)
    )
    pairs = zip(coarse.traces.reshape(-1, coarse.traces.shape[2]), fine.traces.reshape(-1, fine.traces.shape[2]),
                strict=True)  # fmt: skip
    assert max(misfit(*pair) for pair in pairs) <= 0.02


@pytest.mark.verify
@pytest.mark.parametrize(("angle", "most"), [(1, 0.01), (20, 0.01), (-20, 0.02), (28, 0.012)])
def test_other_slopes(angle, most):
    assert errors(line(angle, 95.0, (5.0, 85.0))).max() <= most


@pytest.mark.verify
def test_order_next_to_a_sloping_floor():
    coarse, fine = (errors(line(10, 45.0, (5.0, 85.0), sharp=True, spacing=h)) for h in (10.0, 5.0))
    assert np.log2(np.linalg.norm(coarse) / np.linalg.norm(fine)) >= 1.2


@pytest.mark.verify
@pytest.mark.parametrize(
    ("source", "heights", "keys", "most"),
    [
        (5.0, (5.0, 85.0), {}, 0.01),
        (-5.0, (5.0, 85.0), {"force": (1.0, 0.5)}, 0.03),
        (-5.0, (-5.0, -45.0), {"force": (1.0, 0.5), "components": ("vx", "vz")}, 0.03),
        (95.0, (ON, -5.0), {"components": ("vx", "vz")}, 0.025),
        (95.0, (1e-6,), {"components": ("pressure",)}, 0.01),
        (5.0, (ON,), {"components": ("vx", "vz"), "offsets": (125.0, 250.0)}, 0.045),
        (ON, (ON,), {"components": ("vx", "vz"), "offsets": (125.0, 250.0), "force": (1.0, 0.5)}, 0.05),
        (
            50.0,
            (ON, -20.0),
            {"components": ("vx", "vz"), "offsets": (250.0, 500.0), "rock": SOFT, "frequency": 2.4},
            0.045,
        ),
        (-10.0, (ON, -3.0, 3.0), TENSOR, 0.06),
        (50.0, (10.0, 20.0), {"offsets": (250.0, 500.0), "rock": SOFT, "frequency": 2.4}, 0.04),
    ],
)
def test_sources_and_receivers_around_a_floor_of_ten_degrees(source, heights, keys, most):
    assert errors(line(10, source, heights, **keys)).max() <= most


@pytest.mark.verify
@pytest.mark.skipif(not FULL, reason="full size only (make verify)")
def test_three_dimensions():
    """Ten degrees towards 30 degrees from x, an explosion 45 m above the floor; errors beside the largest component of
    a receiver's motion."""
    margin, cells = 420.0, 105
    fall, towards = np.tan(np.radians(10)), np.array([np.cos(np.radians(30)), np.sin(np.radians(30))])
    middle = margin * np.ones(2)
    offsets = ((150.0, 0.0), (0.0, 200.0), (200.0, 150.0))
    survey = Tilted(
        10, 433.0 - fall * towards @ middle, WATER, ROCK, (cells, cells, cells), 10.0, 6.0, (*middle, 45.0),
        [(*(middle + offset), height) for height in (5.0, 60.0) for offset in offsets], 0.75,
        components=("vx", "vy", "vz", "pressure"), azimuth=30.0,
    )  # fmt: skip
    found = survey.found(boundary={"kind": "pml", "width": 25})
    exact = survey.exact(found)
    off, size = (np.linalg.norm(some, axis=2) for some in (found.traces - exact, exact))
    assert (off[:3] / size[:3].max(axis=0)).max() <= 0.02
    assert (off[3] / size[3]).max() <= 0.02
