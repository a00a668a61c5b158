"""A new file of an incompressible flow: an inflow with a profile of one's own, and what it says of the cells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fathometer.apps.flow.application import APPLICATION
from fathometer.base.errors import InputError
from fathometer.config.draft import Drafted, Found, gap
from fathometer.runs.given_files import GivenFile, roles_of
from fathometer.storage.volumes.volume import open_volume


def draft(files: Sequence[GivenFile], target: Path) -> Drafted:
    """The keys of a flow file at `target`. Raises InputError for a profile that holds no velocities over z, y."""
    found = roles_of(files, {"profile": ("profile", "inflow", "velocity", "inlet", "u")}, APPLICATION.identity.given)
    cells = gap("[nx, ny], or [nx, ny, nz]")
    keys: dict[str, Any] = {"fluid": {"viscosity": gap("m²/s; of water 1e-6, of air 1.5e-5")}}
    if "profile" in found:
        values = _profile(found["profile"])
        nz, ny = values.shape
        cells = gap(f"[nx, {ny}, {nz}]: the profile has {nz} x {ny} values over z, y")
        held = Found(found["profile"].beside(target.parent), f"{values.min():g} to {values.max():g} m/s into the box")
        keys["side"] = [
            {"side": Found("x-"), "kind": Found("inflow"), "profile_file": held},
            {"side": Found("x+"), "kind": Found("outflow")},
        ]
    keys["grid"] = {"cells": cells, "size": gap("m, as many numbers")}
    return Drafted(keys, "flow")


def _profile(file: GivenFile) -> Any:
    if Path(file.reference).suffix.lower() != ".npy":
        raise InputError(f"{file.reference}: found for profile; allowed: .npy, velocities over z, y")
    with open_volume(file.reference, Path()) as volume:
        if len(volume.info.shape) != 2:
            raise InputError(f"{file.reference}: found {len(volume.info.shape)} axes; needed: two, z and y")
        values = np.asarray(volume.read((0, 0), volume.info.shape), np.float64)
    if not np.isfinite(values).all():
        raise InputError(f"{file.reference}: found NaN or infinity; allowed: finite velocities, m/s")
    return values
