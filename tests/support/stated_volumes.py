"""Volumes that state names, units, direction and packing, written by other libraries, with what they mean.

Made of a `Truth`, cells over x, (y,) z in m/s and m, and of a `Stated`: how a file holds it.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

LENGTHS = {"m": 1.0, "km": 1000.0, "ft": 0.3048}
VELOCITIES = {
    "m/s": lambda v: v,
    "km/s": lambda v: v / 1000,
    "ft/s": lambda v: v / 0.3048,
    "s/km": lambda v: 1000 / v,
    "s2/km2": lambda v: 1e6 / v**2,
}
NAMES = {"x": ("x", "Distance", "easting"), "y": ("y", "crossline", "Northing"), "z": ("z", "Depth", "depth")}


@dataclass(frozen=True)
class Truth:
    """Values [x, (y,) z], m/s; spacing and origin of these axes, m."""

    values: np.ndarray
    spacing: tuple[float, ...]
    origin: tuple[float, ...]

    @property
    def axes(self) -> str:
        return "xyz" if self.values.ndim == 3 else "xz"


@dataclass(frozen=True)
class Stated:
    """How a file holds a truth.

    Attributes:
        axes: of the array, slowest first. names: of the axes, by axis. falling: axes whose coordinates fall.
        upward: z is a height, by the attribute positive. length, unit: of axes and values.
        packed: scale and offset of 16-bit integers; None: floats. missing: a cell (in the truth's order) without value.
        column_major: written as MATLAB does. coordinates: their type.
    """

    axes: str
    names: dict[str, str] = field(default_factory=dict)
    falling: str = ""
    upward: bool = False
    length: str = "m"
    unit: str = "m/s"
    packed: bool = False
    missing: tuple[int, ...] | None = None
    column_major: bool = False
    coordinates: str = "f8"

    def name(self, axis: str) -> str:
        return self.names.get(axis, axis)


FILL = -32768


def array_of(truth: Truth, how: Stated) -> tuple[np.ndarray, dict[str, np.ndarray], dict[str, Any]]:
    """The array as it is stored, the coordinates by axis, and the attributes of the array."""
    values = np.asarray(VELOCITIES[how.unit](truth.values.astype(np.float64)))
    if how.missing is not None:
        values[how.missing] = np.nan
    places = {}
    for number, axis in enumerate(truth.axes):
        along = truth.origin[number] + truth.spacing[number] * np.arange(values.shape[number])
        along = along / LENGTHS[how.length]
        if axis in how.falling:
            values, along = np.flip(values, number), along[::-1]
        places[axis] = (-along if how.upward and axis == "z" else along).astype(how.coordinates)
    values = values.transpose([truth.axes.index(axis) for axis in how.axes])
    attributes: dict[str, Any] = {"units": how.unit}
    if how.packed:
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        scale, offset = max(high - low, 1e-3) / 60000, (low + high) / 2
        attributes |= {"scale_factor": scale, "add_offset": offset, "_FillValue": np.int16(FILL)}
        stored = np.where(np.isnan(values), FILL, np.rint((values - offset) / scale))
        return stored.astype("i2"), places, attributes
    return values.astype("f4"), places, attributes


def rsf(folder: Path, truth: Truth, how: Stated) -> str:
    """Without packing, and without heights but by a name."""
    values, places, attributes = array_of(truth, how)
    values.tofile(folder / "v.bin")
    lines = ['in="v.bin"', 'data_format="native_float"', f'unit="{attributes["units"]}"']
    for number, axis in enumerate(reversed(how.axes), 1):
        along = places[axis].astype(float)
        step = (along[-1] - along[0]) / (len(along) - 1)
        lines += [f"n{number}={len(along)}", f"d{number}={step!r}", f"o{number}={float(along[0])!r}"]
        lines += [f'label{number}="{how.name(axis)}"', f'unit{number}="{how.length}"']
    (folder / "v.rsf").write_text("\n".join(line.replace("np.float64(", "").replace(")", "") for line in lines) + "\n")
    return "v.rsf"


def _netcdf(folder: Path, truth: Truth, how: Stated, kind: str) -> str:
    import netCDF4

    values, places, attributes = array_of(truth, how)
    with netCDF4.Dataset(folder / "v.nc", "w", format=kind) as file:
        for axis, along in places.items():
            file.createDimension(how.name(axis), len(along))
            variable = file.createVariable(how.name(axis), along.dtype, (how.name(axis),))
            variable[:] = along
            variable.units = how.length
            if axis == "z" and how.upward:
                variable.positive = "up"
        fill = attributes.pop("_FillValue", None)
        variable = file.createVariable("vp", values.dtype, [how.name(axis) for axis in how.axes], fill_value=fill)
        variable.set_auto_maskandscale(False)
        variable.setncatts(attributes)
        variable[:] = values
    return "v.nc:vp"


def classic(folder: Path, truth: Truth, how: Stated) -> str:
    return _netcdf(folder, truth, how, "NETCDF3_CLASSIC")


def netcdf4(folder: Path, truth: Truth, how: Stated) -> str:
    return _netcdf(folder, truth, how, "NETCDF4")


def hdf5(folder: Path, truth: Truth, how: Stated) -> str:
    """With dimension scales; column-major as of MATLAB, without."""
    import h5py

    values, places, attributes = array_of(truth, how)
    with h5py.File(folder / "v.h5", "w") as file:
        if how.column_major:
            data = file.create_dataset("vp", data=values.T)
            data.attrs["MATLAB_class"] = np.bytes_("double")
        else:
            data = file.create_dataset("vp", data=values)
        for key, value in attributes.items():
            data.attrs[key] = value
        for number, axis in enumerate("" if how.column_major else how.axes):
            scale = file.create_dataset(how.name(axis), data=places[axis])
            scale.make_scale(how.name(axis))
            scale.attrs["units"] = how.length
            if axis == "z" and how.upward:
                scale.attrs["positive"] = np.bytes_("up")
            data.dims[number].attach_scale(scale)
    return "v.h5:vp"


def zarr(folder: Path, truth: Truth, how: Stated) -> str:
    import zarr as library

    values, places, attributes = array_of(truth, how)
    attributes = {key: value.item() if isinstance(value, np.generic) else value for key, value in attributes.items()}
    group = library.create_group(folder / "v.zarr", zarr_format=3)
    with library.config.set({"array.write_empty_chunks": True}):
        names = [how.name(axis) for axis in how.axes]
        data = group.create_array("vp", shape=values.shape, dtype=values.dtype, dimension_names=names)
        data[:] = values
        data.attrs.update(attributes)
        for axis, along in places.items():
            array = group.create_array(
                how.name(axis), shape=along.shape, dtype=along.dtype, dimension_names=[how.name(axis)]
            )
            array[:] = along
            array.attrs.update({"units": how.length} | ({"positive": "up"} if axis == "z" and how.upward else {}))
    return "v.zarr:vp"


WRITERS = {"rsf": rsf, "classic": classic, "netcdf4": netcdf4, "hdf5": hdf5, "zarr": zarr}
LIBRARIES = {"classic": "netCDF4", "netcdf4": "netCDF4", "hdf5": "h5py", "zarr": "zarr"}


def lacking(name: str) -> str:
    """The library that writes a format, where it is not here."""
    library = LIBRARIES.get(name, "")
    return library if library and importlib.util.find_spec(library) is None else ""


def random_case(random: np.random.Generator, form: str) -> tuple[Truth, Stated]:
    """A truth, and a way to hold it that a format has."""
    dimensions = int(random.integers(2, 4))
    shape = tuple(int(n) for n in random.integers(4, 12, dimensions))
    values = random.uniform(1500.0, 4500.0, shape)
    spacing = tuple(float(n) for n in random.choice([5.0, 12.5, 25.0, 30.48], dimensions))
    origin = tuple(float(n) for n in random.choice([0.0, 100.0, 4321.0], dimensions))
    truth = Truth(values, spacing, origin)
    names = {axis: str(random.choice(NAMES[axis])) for axis in truth.axes}
    how = Stated(
        "".join(random.permutation(list(truth.axes))),
        names,
        "".join(axis for axis in truth.axes if random.random() < 0.4),
        length=str(random.choice(list(LENGTHS))),
        unit=str(random.choice(list(VELOCITIES))),
    )
    if form != "rsf":
        how = replace(how, upward=bool(random.random() < 0.4), packed=bool(random.random() < 0.5))
        how = replace(how, coordinates=str(random.choice(["f4", "f8"])))
    return truth, how
