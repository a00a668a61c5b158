"""An array of another shape, type or order than a kernel needs is refused by its name, and none is converted."""

import numpy as np
import pytest

from fathometer import _native


def points(**changed):
    arrays = {
        "first": np.ones((5, 3), np.int64),
        "count": np.ones((5, 3), np.int32),
        "weight": np.ones((5, 3, 8), np.float32),
        "column": np.arange(5),
    }
    return _native.PointsFloat32(**arrays | changed, shape=(4, 4, 8), receivers=False)


def decode(**changed):
    arrays = {
        "encoded": np.zeros((9, 8, 17), np.int8),
        "scales": np.ones((2, 1, 3), np.float32),
        "volume": np.zeros((9, 8, 17), np.float32),
    }
    _native.decode_int8(**arrays | changed)


def banded(**changed):
    arrays = {
        "first": np.zeros(4, np.int64),
        "weights": np.ones((4, 2)),
        "series": np.ones((3, 6), np.float32),
        "result": np.zeros((3, 4), np.float32),
    }
    _native.banded(**arrays | changed)


def first_arrivals(**changed):
    arrays = {"speed": np.ones((2, 3, 4)), "times": np.zeros((3, 4, 5))}
    _native.first_arrivals(**arrays | changed, spacing=(1.0, 1.0, 1.0))


def job(**changed):
    arrays = {"active": np.zeros((2, 9, 12), np.int32)}
    _native.JobFloat32(**arrays | changed)


def image(**changed):
    arrays = {"source": np.zeros((2, 3, 4)), "image": np.zeros((2, 3, 4)), "illumination": np.zeros((2, 3, 4))}
    _native.JobFloat64().add_imaging(step=0, lo=(1, 1, 1), hi=(3, 4, 5), **arrays | changed)


def gradients(**changed):
    blocks = (2, 8, 9)
    arrays = {
        "extents": np.array([[2, 3], [1, 2]]),
        "wet": np.ones(blocks, np.uint8),
        "depth": np.ones(blocks),
        "area": np.ones((2, 9)),
        "ratio_x": np.ones((2, 9)),
        "ratio_y": np.ones((2, 9)),
        "vectors": np.zeros((11, *blocks)),
        "sums": np.zeros(3),
        "limbs": np.zeros(7, np.int64),
    }
    return _native.SurfaceGradients(**arrays | changed, tile=0, exact=False)


def surface(**changed):
    gradients().surface(**{"eta": np.zeros((2, 8, 9))} | changed)


def halo(**changed):
    none = np.zeros((0, 5), np.int64)
    arrays = {"arrays": [np.zeros((1, 8, 9))], "sent": none, "received": none, "moved": none}
    buffers = {"send_buffer": np.zeros(0), "receive_buffer": np.zeros(0)}
    _native.BlockHaloCopies(**arrays | buffers | changed)


def migrate(**changed):
    operator = _native.TimeOperator(
        slowness2=np.full((2, 1, _native.KIRCHHOFF_SEGMENT), 1e-6, np.float32), eta=None, first=(0, 0),
        origin=(0.0, 0.0, 0.0), spacing=(10.0, 10.0, 0.004), weights=2, scale=1.0, aperture=100.0, tan_dip=10.0,
        taper=0.1, alias=(10.0, 0.0), rows=1, unit=1,
    )  # fmt: skip
    arrays = {
        "traces": np.ones((3, 64), np.float32),
        "geometry": np.zeros((3, 5)),
        "volume": np.zeros(3, np.int32),
        "image": np.zeros((1, 2, 1, _native.KIRCHHOFF_SEGMENT), np.float32),
        "fold": np.zeros((2, 1, 2), np.float32),
        "workspace": np.zeros(10000, np.float32),
    }
    operator.migrate(**arrays | changed, first=0.0, interval=0.004, plainly=False)


@pytest.mark.parametrize(
    ("call", "name", "shape", "needed"),
    [
        (points, "count", (4, 3), "(5, 3)"),
        (points, "weight", (5, 3, 7), "(5, 3, 8)"),
        (points, "field", (6,), "(5)"),
        (decode, "encoded", (9, 8, 16), "(9, 8, 17)"),
        (decode, "scales", (2, 1, 2), "(2, 1, 3)"),
        (banded, "first", (3,), "(4)"),
        (banded, "result", (3, 3), "(3, 4)"),
        (first_arrivals, "times", (3, 4, 4), "(3, 4, 5)"),
        (first_arrivals, "speed", (2, 0, 4), "(1, 1, 1) or more"),
        (job, "active", (3, 9, 12), "(2, 9, 12)"),
        (job, "active", (2, 9, 8), "(2, 9, 9) or more"),
        (image, "illumination", (2, 3, 5), "(2, 3, 4)"),
        (gradients, "extents", (3, 2), "(2, 2)"),
        (gradients, "ratio_y", (2, 8), "(2, 9)"),
        (gradients, "vectors", (10, 2, 8, 9), "(11, 2, 8, 9)"),
        (gradients, "limbs", (8,), "(7)"),
        (surface, "eta", (2, 8, 8), "(2, 8, 9)"),
        (halo, "sent", (1, 4), "(1, 5)"),
        (migrate, "geometry", (3, 4), "(3, 5)"),
        (migrate, "volume", (2,), "(3)"),
        (migrate, "fold", (2, 1, 3), "(2, 1, 2)"),
    ],
)
def test_another_shape(call, name, shape, needed):
    call()
    kinds = {"count": np.int32, "field": np.int32, "active": np.int32, "volume": np.int32, "encoded": np.int8}
    kinds |= dict.fromkeys(("first", "extents", "limbs", "sent"), np.int64)
    single = dict.fromkeys(("weight", "scales", "result", "fold"), np.float32)
    with pytest.raises(ValueError) as caught:
        call(**{name: np.zeros(shape, (kinds | single).get(name, np.float64))})
    found = ", ".join(map(str, shape))
    assert str(caught.value) == f"{name} has the shape ({found}), not {needed}"


@pytest.mark.parametrize(
    ("call", "name", "array"),
    [
        (points, "column", np.arange(5, dtype=np.int32)),
        (decode, "volume", np.zeros((9, 8, 17), np.float32, order="F")),
        (banded, "result", np.zeros((3, 8), np.float32)[:, ::2]),
        (surface, "eta", np.zeros((2, 8, 9), np.float32)),
        (halo, "arrays", [np.zeros((1, 8, 9), np.float32)]),
        (migrate, "image", np.zeros((1, 2, 1, _native.KIRCHHOFF_SEGMENT))),
        (migrate, "fold", np.zeros((2, 1, 4), np.float32)[:, :, ::2]),
    ],
)
def test_another_type_or_order(call, name, array):
    """A converted copy would take the result in the array's place."""
    call()
    with pytest.raises(TypeError, match="incompatible function arguments"):
        call(**{name: array})
