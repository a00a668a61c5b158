"""Elastic wavefields in media that are physical."""

import numpy as np
from elastic_steps import padded_array
from mpi4py import MPI

from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.attenuation import NARROW, Attenuation
from fathometer.seismic.elastic.earth import ElasticEarth, contact_share, count_contacts
from fathometer.seismic.elastic.fields import REACH
from fathometer.seismic.elastic.layers import multiaxial_share
from fathometer.seismic.elastic.media import medium_of
from fathometer.seismic.elastic.medium import Medium
from fathometer.seismic.elastic.propagator import ElasticPropagator
from fathometer.seismic.elastic.unevenness import sum_changes, unevenness
from fathometer.seismic.waves.boundary import MultiaxialPml
from fathometer.seismic.waves.scheme import Scheme


def limit(vmax, spacing):
    return 1 / (vmax * np.sqrt(sum(1 / h**2 for h in spacing)) * (9 / 8 + 1 / 24))


def behind(f, axis):
    """The next node along an axis; the last one has itself."""
    return np.concatenate([np.take(f, range(1, f.shape[axis]), axis), np.take(f, [-1], axis)], axis)


def medium_at(vp, vs, density, dt, dtype):
    """Means of nodes, written out: harmonic of moduli, arithmetic of density."""
    flat = vp.shape[1] == 1
    mu, p = density * vs**2, density * vp**2

    def shear(a, b):
        nodes = [mu, behind(mu, a), behind(mu, b), behind(behind(mu, a), b)]
        with np.errstate(divide="ignore"):
            return 4 / sum(1 / node for node in nodes)

    buoyancy = {f"v{'xyz'[a]}": 2 * dt / (density + behind(density, a)) for a in ((0, 2) if flat else (0, 1, 2))}
    moduli = {"sxz": shear(0, 2)} if flat else {"sxy": shear(0, 1), "sxz": shear(0, 2), "syz": shear(1, 2)}
    return Medium(
        {name: padded_array(b, dtype) for name, b in buoyancy.items()},
        padded_array(p * dt, dtype),
        padded_array((p - 2 * mu) * dt, dtype),
        {name: padded_array(m * dt, dtype) for name, m in moduli.items()},
    )


def share_in(vp, vs, width, free_surface):
    """The multi-axial share that the program gives a model, from its cells with those in layers."""
    solid = vs[vs > 0]
    contrast = max(vp.max() / vp.min(), solid.max() / solid.min() if solid.size else 1)
    pad = [(0 if axis == 2 and free_surface else width, width) if n > 1 else (0, 0) for axis, n in enumerate(vs.shape)]
    grid = Grid(tuple(n - sum(sides) for n, sides in zip(vs.shape, pad, strict=True)), (1.0,) * 3, pad=tuple(pad))
    around = np.pad(vs, [(1, 1) if n > 1 else (0, 0) for n in vs.shape], mode="edge")
    whole = Decomposition(vs.shape)
    contacts = contact_share(count_contacts(around, grid, whole), grid)
    ends = [(1, 1) if n > 1 else (0, 0) for n in vs.shape]
    changes = unevenness(sum_changes(np.pad(vp, ends, mode="edge"), around, grid, whole), grid)
    return multiaxial_share(float(contrast), contacts, changes, width)


def wave_in(vp, vs, density, spacing, share=0.9, width=0, free_surface=False, dtype=np.float64, boundary=None):
    """A wavefield at rest. share: of the largest stable time step. boundary: instead of layers of `width` cells."""
    shape = vp.shape
    dt = share * limit(vp.max(), [h for h, n in zip(spacing, shape, strict=True) if n > 1])
    boundary = boundary or MultiaxialPml(width, multiaxial=share_in(vp, vs, width, free_surface))
    scheme = Scheme(dt, REACH, np.dtype(dtype), boundary, free_surface, float(vp.max()), 5.0)
    medium = medium_at(vp, vs, density, dt, dtype)
    return ElasticPropagator(Grid(shape, spacing), Decomposition(shape), medium, scheme, True, MPI.COMM_SELF)


def attenuating_wave(vp, vs, density, qp, qs, spacing, highest, share, free_surface):
    """A wavefield at rest, without layers, in the program's own medium. highest: frequency of the source, Hz; share: of
    the limit in a homogeneous medium that is as hard as the hardest cell before it relaxes and as light as the
    lightest."""
    around = [(1, 1) if n > 1 else (0, 0) for n in vp.shape]
    model = [np.pad(array, around, mode="edge").astype(np.float32) for array in (vp, vs, density, qp, qs)]
    fit = Attenuation(highest, highest / 2.5, NARROW)
    hardest = np.sqrt(density * vp**2 * fit.stiffening(qp).max(axis=0)).max() / np.sqrt(density.min())
    dt = share * limit(hardest, [h for h, n in zip(spacing, vp.shape, strict=True) if n > 1])
    earth = ElasticEarth(*model, fit, float(vs.min()), float(vp.max()), dt, 0, 1.0, 0.0)
    grid, dtype = Grid(vp.shape, spacing), np.dtype(np.float64)
    scheme = Scheme(dt, REACH, dtype, MultiaxialPml(0), free_surface, float(vp.max()), highest)
    medium = medium_of(earth, grid, (0, 0, 0), dt, dtype)
    return ElasticPropagator(grid, Decomposition(vp.shape), medium, scheme, False, MPI.COMM_SELF)


def rough(shape, seed=2):
    """Velocities and densities that differ from cell to cell, with fluid ones."""
    random = np.random.default_rng(seed)
    vp = random.uniform(1500, 4500, shape)
    vs = vp / random.uniform(1.5, 3, shape)
    vs[random.random(shape) < 0.1] = 0
    return vp, vs, random.uniform(1000, 2600, shape)


def between(random, contrast, shape):
    """Velocities and densities whose P velocities differ by up to a factor `contrast`, and the others less."""
    vp = 3000 * contrast ** random.uniform(-0.5, 0.5, shape)
    ratio = 1.75 * contrast ** random.uniform(-0.15, 0.15, shape)
    return vp, vp / ratio, 2200 * contrast ** random.uniform(-0.15, 0.15, shape)


def beds(shape, seed, contrast):
    """Flat beds, as thick as one to seven cells."""
    random = np.random.default_rng(seed)
    thickness = random.integers(1, 8)
    values = between(random, contrast, shape[2])
    at = np.arange(shape[2]) // thickness
    return [np.broadcast_to(v[at], shape).copy() for v in values]


def cells(shape, seed, contrast):
    """Each cell by itself."""
    return between(np.random.default_rng(seed), contrast, shape)


def seafloor(shape, seed, contrast):
    """Water over beds."""
    vp, vs, density = beds(shape, seed, contrast)
    depth = 5 + 3 * seed
    vp[..., :depth], vs[..., :depth], density[..., :depth] = 1500, 0, 1000
    return vp, vs, density
