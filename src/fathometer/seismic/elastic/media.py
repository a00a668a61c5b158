"""The medium of the kernels from the model: moduli and densities at the points of the staggered grid.

Densities are arithmetic means of two nodes, shear moduli harmonic means of four (Moczo, Kristek, Vavrycuk, Archuleta &
Halada 2002, Bull. Seism. Soc. Am. 92(8)); where one of them is a fluid the mean is 0. With attenuation that times what
the cell's mechanism makes of it, by its own quality.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fathometer.grid.arrays import allocate, padded
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Index3
from fathometer.seismic.elastic.attenuation import MECHANISMS
from fathometer.seismic.elastic.earth import ElasticEarth, inner
from fathometer.seismic.elastic.fields import FIELDS, SHEAR, VELOCITIES, of_dimension
from fathometer.seismic.elastic.medium import Medium, Relaxation
from fathometer.seismic.elastic.moduli import p_modulus

_BEFORE = len(FIELDS)  # offsets of the stagger that the fields use


def medium_of(earth: ElasticEarth, grid: Grid, lo: Index3, dt: float, dtype: np.dtype[Any]) -> Medium:
    """The medium on a block of cells.

    Args:
        earth: of the block. grid: padded. lo: first cell of the block, which tells each cell's mechanism.
        dt: time step, s. dtype: of the result.
    """
    velocities, shears = (of_dimension(names, grid.two_dimensional) for names in (VELOCITIES, SHEAR))
    box = inner(grid.two_dimensional)
    shape = earth.vp[box].shape
    rows: Index3 = (shape[0], shape[1], padded(shape[2], dtype.itemsize))
    lossy = ("defect_p", "defect_s") if earth.attenuation is not None else ()
    stored = {
        name: allocate(rows, dtype, stagger=_BEFORE + n)
        for n, name in enumerate((*velocities, "p_modulus", "lame", *shears, *lossy))
    }
    for x in range(shape[0]):  # plane by plane, to avoid copies in float64
        hardness: tuple[np.ndarray, np.ndarray] | None = None
        if earth.attenuation is not None:
            hardness, defects = _mechanisms(earth, x, lo, box[1])
            for name, plane in defects.items():
                stored[name][x, :, : shape[2]] = plane
        planes = _plane(earth, slice(x + 1, x + 3), box[1], dt, grid.two_dimensional, hardness)
        for name, plane in planes.items():
            stored[name][x, :, : shape[2]] = plane
    relaxation = None
    if earth.attenuation is not None:
        relaxation = Relaxation(earth.attenuation.decay(dt), stored["defect_p"], stored["defect_s"])
    return Medium(
        {name: stored[name] for name in velocities},
        stored["p_modulus"],
        stored["lame"],
        {name: stored[name] for name in shears},
        relaxation,
    )


def _plane(
    earth: ElasticEarth,
    x: slice,
    y: slice,
    dt: float,
    two_dimensional: bool,
    hardness: tuple[np.ndarray, np.ndarray] | None,
) -> dict[str, np.ndarray]:
    """Arrays of one plane of cells, (ny, nz) float64.

    x: of the plane and the next one, in the extended arrays. y: the block's cells there. hardness: of P and shear,
    each cell's unrelaxed modulus over the elastic one; None: no attenuation.
    """
    density = earth.density[x].astype(np.float64)
    stiff = p_modulus(earth.vp[x][:1], earth.density[x][:1], None, None)
    mu = p_modulus(earth.vs[x], earth.density[x], None, None)
    with np.errstate(divide="ignore"):
        compliance = 1 / mu  # infinite in fluids
    z, below = slice(1, -1), slice(2, None)
    beyond = y if two_dimensional else slice(2, None)
    here = (0, y, z)
    p, shear = stiff[here], mu[here]
    if hardness is not None:
        p, shear = p * hardness[0], shear * hardness[1]
    values = {"p_modulus": dt * p, "lame": dt * (p - 2 * shear)}
    near = {"x": (1, y, z), "y": (0, beyond, z), "z": (0, y, below)}
    diagonals = {"xy": (1, beyond, z), "xz": (1, y, below), "yz": (0, beyond, below)}
    for axis in "xz" if two_dimensional else "xyz":
        values[f"v{axis}"] = 2 * dt / (density[here] + density[near[axis]])
    for axes in ("xz",) if two_dimensional else ("xy", "xz", "yz"):
        four = (here, near[axes[0]], near[axes[1]], diagonals[axes])
        values[f"s{axes}"] = 4 * dt / sum(compliance[node] for node in four)
        if hardness is not None:  # of the cell's own mechanism, whatever the other nodes are
            values[f"s{axes}"] *= hardness[1]
    return values


def _mechanisms(
    earth: ElasticEarth, x: int, lo: Index3, y: slice
) -> tuple[tuple[np.ndarray, np.ndarray], dict[str, np.ndarray]]:
    """Of each cell's mechanism on plane x of the block: its unrelaxed P and shear modulus over the elastic ones, and
    how much it relaxes them."""
    assert earth.attenuation is not None
    assert earth.qp is not None
    assert earth.qs is not None
    here = (x + 1, y, slice(1, -1))
    qp, qs = earth.qp[here], np.where(earth.vs[here] > 0, earth.qs[here], np.inf)
    ny, nz = qp.shape
    mechanism = (lo[0] + x + lo[1] + np.arange(ny)[:, None] + lo[2] + np.arange(nz)) % MECHANISMS
    (hard_p, defect_p), (hard_s, defect_s) = (earth.attenuation.of_cells(quality, mechanism) for quality in (qp, qs))
    return (hard_p, hard_s), {"defect_p": defect_p, "defect_s": defect_s}
