"""A small NetCDF file of several variables, and the boxes of its ranks."""

import numpy as np

from fathometer.storage.datasets.dataset import FILL, FILL_VALUE, Dataset, Variable

NZ, NY, NX = 3, 10, 13


def dataset():
    """Two fields, one of double precision, a field without levels, a coordinate and a number."""
    fill = {FILL: FILL_VALUE}
    return Dataset(
        {"time": 1, "depth": NZ, "y": NY, "x": NX},
        [
            Variable("time", ("time",), "f8", {"units": "seconds since 0001-01-01 00:00:00"}, np.array([86400.0])),
            Variable("depth", ("depth",), "f8", {"units": "m", "positive": "down"}, np.array([5.0, 20.0, 60.0])),
            Variable("drag", (), "f8", {"units": "1"}, np.array(0.25)),
            Variable("heat", ("time", "depth", "y", "x"), "f4", fill | {"units": "degC"}),
            Variable("salt", ("time", "depth", "y", "x"), "f8", fill | {"valid_range": [0.0, 40.0]}),
            Variable("levels", ("y", "x"), "i4", {"long_name": "levels of water"}),
        ],
        {"Conventions": "CF-1.8", "title": "a small sea"},
    )


def values_of():
    """Values of the variables that ranks write, with bits that are easily lost."""
    rng = np.random.default_rng(3)
    salt = rng.normal(size=(1, NZ, NY, NX))
    salt[0, 0, 0, :3] = -0.0, 5e-324, 1e308
    return {
        "heat": rng.normal(size=(1, NZ, NY, NX)).astype(np.float32),
        "salt": salt,
        "levels": rng.integers(0, 4, (NY, NX)).astype(np.int32),
    }


def boxes_of(shape, rank, ranks):
    """This rank's boxes, first cell and slices: blocks of 4 x 5 columns in turn, none for the last of several ranks."""
    found = []
    for number, (y, x) in enumerate((y, x) for y in range(0, NY, 4) for x in range(0, NX, 5)):
        if number**2 % max(1, ranks - 1) == rank:
            lo = (*(0,) * (len(shape) - 2), y, x)
            box = (*(slice(None),) * (len(shape) - 2), slice(y, y + 4), slice(x, x + 5))
            found.append((lo, box))
    return found
