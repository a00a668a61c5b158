"""Collective checks of an elastic model's values: in the range of rocks, moduli positive, attenuation physical."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fathometer.base.errors import InputError
from fathometer.parallel.collectives import allreduce
from fathometer.seismic.elastic.attenuation import LEAST_QUALITY
from fathometer.seismic.model.checks import ModelChecks
from fathometer.seismic.model.limits import DENSITIES, SLOWEST_SHEAR

LARGEST_RATIO = np.sqrt(3) / 2  # of vs and vp: there the bulk modulus is 0


def check_model(checks: ModelChecks, values: Mapping[str, np.ndarray]) -> float:
    """The least P velocity, m/s.

    values: vp, vs (m/s), density (kg/m3), and qp and qs where the model attenuates; float32 [x, y, z] on the block of
    the checks. Raises InputError, the same on all ranks, with the number of wrong cells and the position of the first.
    """
    for name, array in values.items():
        checks.finite(name, array)
    least = checks.velocity(values["vp"])
    own = {name: array[checks.own] for name, array in values.items()}
    low, high = DENSITIES
    hint = "; a density in g/cm3? multiply by 1000"
    wrong = ~((own["density"] >= low) & (own["density"] <= high))
    _refuse(checks, "density", own, wrong, f"{low:g} to {high:g} kg/m3{hint}")
    vs = own["vs"]
    wrong = (vs < 0) | ((vs > 0) & (vs < SLOWEST_SHEAR))
    _refuse(checks, "vs", own, wrong, f"0 (a fluid), or {SLOWEST_SHEAR:g} m/s and more; is [model] units right?")
    wrong = vs >= LARGEST_RATIO * own["vp"]
    _refuse(checks, "vs", own, wrong, f"below {LARGEST_RATIO:.4g} vp, where the bulk modulus is positive")
    if "qp" in own:
        _check_qualities(checks, own)
    return least


def _check_qualities(checks: ModelChecks, own: Mapping[str, np.ndarray]) -> None:
    qp, qs, vs = own["qp"], own["qs"], own["vs"]
    words = f"{LEAST_QUALITY:g} or more: three mechanisms cannot hold a lower one"
    _refuse(checks, "qp", own, ~(qp >= LEAST_QUALITY), words)
    _refuse(checks, "qs", own, ~(qs >= LEAST_QUALITY) & (vs > 0), words + " (in fluids qs does not count)")
    # The bulk modulus would gain energy: of P waves' losses those in shear are the share 4/3 (vs / vp)^2.
    shear = 4 / 3 * (vs.astype(np.float64) / own["vp"]) ** 2
    wrong = (vs > 0) & (qp * shear > qs * (1 + 1e-6))
    _refuse(checks, "qp", own, wrong, "up to 3/4 (vp / vs)^2 qs, where compression alone loses nothing")


def _refuse(checks: ModelChecks, name: str, own: Mapping[str, np.ndarray], wrong: np.ndarray, allowed: str) -> None:
    count, first = checks.count_and_first(wrong)
    if count:
        some = own[name][wrong]
        low = allreduce(checks.comm, float(some.min(initial=np.inf)), "MIN")
        high = allreduce(checks.comm, float(some.max(initial=-np.inf)), "MAX")
        found = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        raise InputError(
            f"{checks.survey}: {checks.source(name)}: {count} of {checks.cells} cells are out of range, first at "
            f"{first}; found {found} in these; allowed: {allowed}"
        )
