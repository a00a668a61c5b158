"""Checks of values at the nodes of a volume or model: finite, in range, with interval velocities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fathometer.base.errors import InputError
from fathometer.seismic.kirchhoff.velocities.dix import interval_squares, require_interval_velocities
from fathometer.seismic.kirchhoff.velocities.limits import ETA, FASTEST, SLOWEST
from fathometer.seismic.model.limits import FASTEST as FASTEST_ROCK
from fathometer.seismic.model.limits import SLOWEST as SLOWEST_ROCK
from fathometer.seismic.model.limits import THOMSEN
from fathometer.seismic.model.velocity_units import OTHERS

Floats = NDArray[np.float64]
Where = Callable[[tuple[int, ...]], str]  # the place of a node by its index, in words


def check_finite(name: str, values: NDArray[Any], where: Where, missing: str = "") -> None:
    """InputError for NaN and infinity. name: the key with its file. missing: what stands for missing data in it, to
    follow "values"; "": nothing."""
    wrong = ~np.isfinite(values)
    if wrong.any():
        node = _first(wrong)
        raise InputError(
            f"{name}: NaN or infinity in {np.count_nonzero(wrong)} of {wrong.size} values{missing}, first "
            f"{values[node]} at {where(node)}; allowed: finite numbers"
        )


def check_velocities(name: str, values: NDArray[Any], where: Where, missing: str = "") -> None:
    """InputError for velocities (m/s) that are not finite, or so low or high that their unit is another one."""
    check_finite(name, values, where, missing)
    wrong = ~((values >= SLOWEST) & (values <= FASTEST))
    if not wrong.any():
        return
    node, low, high = _first(wrong), float(values.min()), float(values.max())
    hint = ""
    if low > 0 and high < SLOWEST / 4:
        hint = "; these look like km/s"
    elif low > SLOWEST and high > FASTEST:
        hint = "; are these ft/s?"
    raise InputError(
        f"{name}: {np.count_nonzero(wrong)} of {wrong.size} velocities lie outside {SLOWEST:g} to {FASTEST:g} m/s, the "
        f"first {values[node]:g} at {where(node)}; found {low:g} to {high:g}{hint}; needed: m/s, or the key units"
    )


def check_unit(name: str, values: NDArray[Any], where: Where) -> None:
    """InputError for velocities (m/s) that rocks do not have, of a file that does not state their unit."""
    wrong = ~((values >= SLOWEST_ROCK) & (values <= FASTEST_ROCK))
    if wrong.any():
        node = _first(wrong)
        raise InputError(
            f"{name}: {np.count_nonzero(wrong)} of {wrong.size} velocities lie outside {SLOWEST_ROCK:g} to "
            f"{FASTEST_ROCK:g} m/s, the first {values[node]:g} at {where(node)}, and the file states no unit; needed: "
            f'[time_migration] units, "m/s", {OTHERS}'
        )


def check_eta(name: str, values: NDArray[Any], where: Where, missing: str = "") -> None:
    """InputError for values of eta that are not finite or out of range."""
    check_finite(name, values, where, missing)
    wrong = ~((values > ETA[0]) & (values <= ETA[1]))
    if wrong.any():
        node = _first(wrong)
        raise InputError(
            f"{name}: {np.count_nonzero(wrong)} of {wrong.size} values lie outside {ETA[0]:g} to {ETA[1]:g}, the first "
            f"{values[node]:g} at {where(node)}"
        )


def check_thomsen(name: str, values: NDArray[Any], where: Where, missing: str = "") -> None:
    """InputError for values of epsilon or delta that are not finite or out of range."""
    check_finite(name, values, where, missing)
    wrong = ~((values > THOMSEN[0]) & (values <= THOMSEN[1]))
    if wrong.any():
        node = _first(wrong)
        raise InputError(
            f"{name}: {np.count_nonzero(wrong)} of {wrong.size} values lie outside {THOMSEN[0]:g} to {THOMSEN[1]:g}, "
            f"the first {values[node]:g} at {where(node)}"
        )


def check_intervals(name: str, times: Floats, rms: NDArray[Any], where: Where) -> None:
    """InputError where interval velocities of RMS velocities (…, n) at times (n,), s, do not exist."""
    if len(times) < 2:
        return
    wrong = ~(interval_squares(times, rms.astype(np.float64)) > 0)
    if wrong.any():
        column = _first(wrong)[:-1]
        require_interval_velocities(name, where(column), times, rms[column].astype(np.float64))


def _first(wrong: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
