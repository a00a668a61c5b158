"""What is in a NetCDF file of several variables: dimensions, variables and their attributes, as CF describes them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.storage.volumes.formats.netcdf_header import DEFAULT_FILLS

Attribute = str | float | Sequence[float]
DTYPES = tuple(np.dtype(name) for name in ("int32", "float32", "float64"))
FILL = "_FillValue"
FILL_VALUE = DEFAULT_FILLS["f4"]


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable.

    Attributes:
        dimensions: names, the slowest first. dtype: of its values in the file, one of DTYPES.
        attributes: text, a number or numbers; `_FillValue` has the type of the values, all other numbers float64.
        values: the whole of it, of which every rank has the same, such as of coordinates; None: ranks give boxes of it.
    """

    name: str
    dimensions: tuple[str, ...]
    dtype: npt.DTypeLike
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    values: npt.NDArray[Any] | None = None

    @property
    def kind(self) -> np.dtype[Any]:
        """Type of the values, in this machine's byte order."""
        return np.dtype(self.dtype).newbyteorder("=")


@dataclass(frozen=True, eq=False)
class Dataset:
    """What a file is to hold: lengths of the dimensions by name, variables, attributes of the file."""

    dimensions: Mapping[str, int]
    variables: Sequence[Variable]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)

    def shape(self, variable: Variable) -> tuple[int, ...]:
        """Shape of a variable."""
        return tuple(self.dimensions[name] for name in variable.dimensions)

    def bytes(self, variable: Variable) -> int:
        """Bytes of a variable's values."""
        return math.prod(self.shape(variable)) * variable.kind.itemsize

    def check(self, path: Path) -> None:
        """InputError where the format cannot hold it, or it contradicts itself."""
        names = [variable.name for variable in self.variables]
        for name in {*self.dimensions, *names, *self.attributes}:
            _check_name(path, name)
        for name, length in self.dimensions.items():
            if length < 1:
                raise InputError(f"{path}: the dimension {name} has {length} cells (allowed: at least 1)")
        if len(set(names)) < len(names):
            raise InputError(f"{path}: two variables have one name: {', '.join(sorted(names))}")
        for variable in self.variables:
            if missing := [name for name in variable.dimensions if name not in self.dimensions]:
                raise InputError(f"{path}:{variable.name}: there is no dimension {missing[0]}")
            if variable.kind not in DTYPES:
                allowed = ", ".join(map(str, DTYPES))
                raise InputError(f"{path}:{variable.name}: values of type {variable.dtype} (allowed: {allowed})")
            if variable.values is not None and variable.values.shape != self.shape(variable):
                raise InputError(
                    f"{path}:{variable.name}: has values of shape {variable.values.shape}, not {self.shape(variable)}"
                )
            for name in variable.attributes:
                _check_name(path, name)


def numbers_of(value: float | Sequence[float]) -> list[float]:
    """An attribute's numbers."""
    return [float(value)] if isinstance(value, int | float | np.number) else [float(one) for one in value]


def _check_name(path: Path, name: str) -> None:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.@+-]{0,199}", name):
        raise InputError(f"{path}: {name!r} is no name of NetCDF (allowed: letters, digits, _.@+-, a letter first)")
