"""Volumes and gathers as arrays of xarray, whose values are read where they are used."""

from __future__ import annotations

import hashlib
import importlib.util
import math
import os
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING

from fathometer.base.errors import InputError, shortened
from fathometer.python.errors import path_of, public, require_xarray

if TYPE_CHECKING:
    from xarray import DataArray

    Name = str | os.PathLike[str]


@public
def open_volume(path: Name, *, level: int = 0, share: int | None = None) -> DataArray:
    """A volume of any kind that `fathometer info` reads, such as "vp.rsf", "image.segy" or "models.h5:run/vp".

    Only headers are read; values are read where they are used. They are float32 or float64, NaN where the file says
    that there are none, in chunks of dask where that is installed.

    Args:
        path: the file; behind a colon the name of one array, where there are several.
        level: a coarser level, of volumes that have some. share: 100: by a hundredth of the coefficients of wavelets.

    The array has the file's axes, slowest first, with coordinates in m (of times in s; of SEG-Y the numbers of lines)
    where the file has them, and X and Y in the world, m, where it says where it lies. It is called as the file, or as
    the array in it; attributes: units, long_name, crs, world_origin, azimuth, and others of the file.

    Raises InputError where the file is missing, damaged, of an unknown kind, or holds gathers.

    >>> image = open_volume("image.rsf")
    >>> image.name, image.dims, image.sizes["z"], image.attrs["units"]
    ('image', ('x', 'z'), 4, 'm/s')
    >>> float(image.sel(x=20.0, z=5.0))
    9.0
    """
    require_xarray("open_volume")
    from fathometer.storage.xarray_engine import Engine, absolute

    name = path_of(path, "open_volume")
    try:
        dataset = Engine().open_dataset(name, level=level, share=share)
    except InputError as error:  # the engine's names are absolute
        raise InputError(str(error).replace(absolute(name), name)) from None
    (array,) = dataset.data_vars.values()
    close = dataset.close
    array = _chunked(array)
    array.set_close(close)
    return array


@public
def open_gathers(path: Name, *, sample_interval: float | None = None) -> DataArray:
    """Gathers in SEG-Y or SU, or those of an index that `fathometer survey build` made.

    Headers are read, or the index; samples, float32, where they are used, in chunks of dask where that is installed.

    Args:
        path: the file. sample_interval: s, in place of what the headers say.

    The array has the axes "trace" and "time" (s). Coordinates along the traces are what headers say: shot, channel,
    source_x … receiver_z (m, z down), offset (m, horizontal, unsigned), live; delay (s) where traces begin at different
    times. `gathers.sel(shot=3)` are the traces of a shot. Attributes: interval, files, notes, crs.

    Raises InputError where the file is missing, damaged, or holds a volume alone; where traces of an index differ in
    their samples.

    >>> gathers = open_gathers("shots.segy")
    >>> gathers.dims, gathers.sizes["trace"], gathers.attrs["interval"]
    (('trace', 'time'), 6, 0.004)
    >>> gathers.sel(shot=2).offset.values.tolist()
    [25.0, 50.0, 75.0]
    """
    require_xarray("open_gathers")
    from fathometer.storage import xarray_gathers

    name = path_of(path, "open_gathers")
    given = sample_interval
    if given is not None and (isinstance(given, bool) or not isinstance(given, Real) or not 0 < given < math.inf):
        raise InputError(f"sample_interval: found {shortened(repr(given), 60)}; allowed: a number above 0 (s)")
    return _chunked(xarray_gathers.open_gathers(name, Path(), None if given is None else float(given)))


def _chunked(array: DataArray) -> DataArray:
    """In chunks of dask, where that is installed; the coordinates as they are."""
    if importlib.util.find_spec("dask") is None:
        return array
    encoding = array.encoding
    token = hashlib.sha256(encoding["token"].encode()).hexdigest()[:16]
    variable = array.variable.chunk(encoding["preferred_chunks"], name=f"{array.name}-{token}")
    return array.copy(deep=False, data=variable.data)
