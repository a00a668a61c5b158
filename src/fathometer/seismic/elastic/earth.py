"""The elastic earth model, read from files to this rank's cells and their neighbours, and checked.

The padding around the model repeats the outermost cells. What is derived from a cell depends on it and its neighbours
alone, so that no bit depends on how ranks share the grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fathometer.grid.grid import Grid
from fathometer.parallel.collectives import allreduce
from fathometer.parallel.decomposition import Decomposition, Index3
from fathometer.seismic.elastic.attenuation import GOOD_QUALITY, Attenuation, band_ratio
from fathometer.seismic.elastic.checks import check_model
from fathometer.seismic.elastic.contact import NEAREST, SeaFloor
from fathometer.seismic.elastic.contact_limit import contact_eigenvalue, sloping_eigenvalue
from fathometer.seismic.elastic.contact_media import PlaneSides
from fathometer.seismic.elastic.fields import WEIGHT_SUM
from fathometer.seismic.elastic.moduli import p_modulus
from fathometer.seismic.elastic.sloping_floor import SlopingFloor, sea_floor
from fathometer.seismic.elastic.sloping_media import SlopingSides
from fathometer.seismic.elastic.unevenness import sum_changes, unevenness
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.survey import Survey
from fathometer.seismic.traces.wavelet import Wavelet

if TYPE_CHECKING:
    from mpi4py import MPI


@dataclass(frozen=True, eq=False)
class ElasticEarth:
    """The model on this rank's cells, padding included, and one more on each side (2D: not along y).

    Attributes:
        vp, vs: m/s, vs is 0 in fluids. density: kg/m3. qp, qs: None without attenuation. All float32 [x, y, z].
        attenuation: of the run; None: none.
        slowest, fastest: velocities of the whole model, m/s: the slowest of S waves, and of P waves in fluids.
        time_step_limit: largest stable dt, s.
        lossy: cells of the model where Q is too low for its fit to be within 5 %.
        contrast: largest over smallest P velocity, or S velocity of solids, whichever is more.
        contacts: of all pairs of cells side by side, the share that is a fluid and a solid; or of those in the
            outermost cells of a side with a layer, which repeats them, where it is more.
        floor: of the sea, where derivatives next to it have tables of their own.
        hard: a note on velocities that may be in feet. least_quality: of qp and qs, infinity without attenuation.
        unevenness: how much velocities change from cell to cell (unevenness.py).
    """

    vp: np.ndarray
    vs: np.ndarray
    density: np.ndarray
    qp: np.ndarray | None
    qs: np.ndarray | None
    attenuation: Attenuation | None
    slowest: float
    fastest: float
    time_step_limit: float
    lossy: int
    contrast: float
    contacts: float
    hard: tuple[str, ...] = ()
    unevenness: float = 0.0
    least_quality: float = math.inf
    floor: SeaFloor | SlopingFloor | None = None

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """By their names, those that there are."""
        names = ("vp", "vs", "density", "qp", "qs")
        return {name: array for name in names if (array := getattr(self, name)) is not None}

    @property
    def attenuation_error(self) -> float:
        """The largest relative error of Q in the band, at the lowest Q of the model; 0 without attenuation."""
        return 0.0 if self.attenuation is None else self.attenuation.largest_error(self.least_quality)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of the model."""
        if not self.lossy:
            return self.hard
        return (
            *self.hard,
            f"qp or qs is below {GOOD_QUALITY:g} in {self.lossy} cells: there Q is off by up to "
            f"{100 * self.attenuation_error:.0f} %",
        )


def extended(block: Decomposition, two_dimensional: bool) -> tuple[Index3, Index3]:
    """Half-open box of a block's cells with one more on each side; in two dimensions not along y."""
    y = 0 if two_dimensional else 1
    (x0, y0, z0), (x1, y1, z1) = block.lo, block.hi
    return (x0 - 1, y0 - y, z0 - 1), (x1 + 1, y1 + y, z1 + 1)


def inner(two_dimensional: bool) -> tuple[slice, slice, slice]:
    """The block's own cells in an array on its extended box."""
    return slice(1, -1), slice(None) if two_dimensional else slice(1, -1), slice(1, -1)


def read_earth(
    files: EarthFiles, grid: Grid, block: Decomposition, attenuation: Attenuation | None, comm: MPI.Intracomm
) -> ElasticEarth:
    """Collective. This rank's part of the model.

    Args:
        grid: padded. attenuation: of the source's frequencies; None where the model has no qp and qs.

    Raises InputError, the same on all ranks, for values that the checks refuse and for a file that cannot be read.
    """
    lower, upper = extended(block, grid.two_dimensional)
    own = math.prod(hi - lo for lo, hi in zip(*grid.model_box(block), strict=True))
    names = files.names if attenuation is not None else files.names[:3]
    arrays = {name: files.part(name, grid, lower, upper, own, comm) for name in names}
    inside = inner(grid.two_dimensional)
    checks = files.checks(grid, block, comm)
    parts = {name: values[inside] for name, values in arrays.items()}
    hard = files.hard_notes(check_model(checks, parts))
    files.check_order(comm)
    vp, vs = parts["vp"], parts["vs"]
    slowest = float(np.where(vs > 0, vs, vp).min())
    lossy, least_quality = 0, math.inf
    if attenuation is not None:
        qualities = np.minimum(parts["qp"], np.where(vs > 0, parts["qs"], np.inf))[checks.own]
        least_quality = allreduce(comm, float(qualities.min(initial=math.inf)), "MIN")
        low = (parts["qp"] < GOOD_QUALITY) | ((parts["qs"] < GOOD_QUALITY) & (vs > 0))
        lossy = allreduce(comm, int(low[checks.own].sum()), "SUM")
    fastest = allreduce(comm, float(vp.max()), "MAX")
    fastest_shear = allreduce(comm, float(vs.max()), "MAX")
    slowest_shear = allreduce(comm, float(np.where(vs > 0, vs, np.inf).min()), "MIN")  # inf: all is fluid
    contrast = max(fastest / allreduce(comm, float(vp.min()), "MIN"), fastest_shear / slowest_shear)
    contacts = contact_share(allreduce(comm, count_contacts(arrays["vs"], grid, block), "SUM"), grid)
    changes = allreduce(comm, sum_changes(arrays["vp"], arrays["vs"], grid, block), "SUM")
    floor, why = sea_floor(arrays["vp"], arrays["vs"], arrays["density"], grid, block, comm)
    largest = _largest_eigenvalue(arrays, attenuation, grid)
    if isinstance(floor, SlopingFloor) and block.ranks[2] == 1:  # others are refused (check_cuts)
        sides = SlopingSides(arrays, attenuation, floor, grid, block.lo)
        largest = max(largest, sloping_eigenvalue(sides, grid))
    elif isinstance(floor, SeaFloor):
        largest = max(largest, contact_eigenvalue(PlaneSides(arrays, attenuation, floor, grid), grid))
    eigenvalue = allreduce(comm, largest, "MAX")
    return ElasticEarth(
        vp=arrays["vp"],
        vs=arrays["vs"],
        density=arrays["density"],
        qp=arrays.get("qp"),
        qs=arrays.get("qs"),
        attenuation=attenuation,
        slowest=allreduce(comm, slowest, "MIN"),
        fastest=fastest,
        time_step_limit=2 / math.sqrt(eigenvalue),
        lossy=lossy,
        least_quality=least_quality,
        contrast=contrast,
        contacts=contacts,
        hard=(*hard, *_floor_notes(why, floor)),
        floor=floor,
        unevenness=unevenness(changes, grid),
    )


def _floor_notes(why: str, floor: SeaFloor | SlopingFloor | None) -> tuple[str, ...]:
    if why:
        return (f"sea floor: {why}: next to it errors are of first order in the size of cells",)
    if isinstance(floor, SlopingFloor) and not floor.from_means:
        return (
            "sea floor: cells of water or rock tell its depth to a cell: of the floors that fit, the one that bends "
            "least is taken (means of both media in the cells that it cuts tell it to a part of a cell)",
        )
    if isinstance(floor, SeaFloor) and not NEAREST <= floor.part <= 1 - NEAREST:
        return (
            f"sea floor: it lies {floor.part:.2g} of a cell below a node: waves next to it are off by several per "
            "cent, in soft rock more; cells so that it lies half a cell below nodes are best",
        )
    return ()


def attenuation_of(survey: Survey, wavelet: Wavelet, peak: float) -> Attenuation | None:
    """The attenuation of a run; None where the survey has no qp and qs.

    wavelet: of its source; peak: its frequency, Hz.
    """
    keys = survey.needed_model
    if keys.qp is None:
        return None
    return Attenuation(wavelet.fmax, keys.reference_frequency or peak, band_ratio(wavelet))


def count_contacts(vs: np.ndarray, grid: Grid, block: Decomposition) -> np.ndarray:
    """A rank's pairs of cells, next to one another along an axis, of which one is fluid: (7,), of the padded grid; of
    the first and the last plane of each axis where there is padding, within the plane. vs: on the extended box."""
    solid, own = vs > 0, inner(grid.two_dimensional)
    count = np.zeros(7, np.int64)
    for along in grid.axes:
        following = list(own)
        following[along] = slice(2, None)
        changes = solid[own] != solid[tuple(following)]
        count[0] += np.count_nonzero(changes)
        for axis in grid.axes:
            for side, plane in enumerate((0, grid.full_shape[axis] - 1)):
                if axis != along and grid.pad[axis][side] and block.lo[axis] <= plane < block.hi[axis]:
                    count[1 + 2 * axis + side] += np.count_nonzero(changes.take(plane - block.lo[axis], axis))
    return count


def contact_share(count: np.ndarray, grid: Grid) -> float:
    """The share of pairs of cells side by side that are a fluid and a solid (ElasticEarth.contacts); count: the sum of
    all ranks' count_contacts."""
    cells, axes = math.prod(grid.full_shape), len(grid.axes)
    pairs = [cells * axes, *(cells // n * (axes - 1) for n in grid.full_shape for _ in range(2))]
    return float((count / np.array(pairs)).max())


def _largest_eigenvalue(arrays: dict[str, np.ndarray], fit: Attenuation | None, grid: Grid) -> float:
    """Largest eigenvalue of the space operator on this rank, 1/s^2.

    Of P waves at the shortest wavelength along all axes: a node's modulus times the buoyancies around it. That is more
    than vp^2 next to a light medium, and what waves along the contact depend on.
    """
    largest = 0.0
    y = inner(grid.two_dimensional)[1]
    vp, density, qp = arrays["vp"], arrays["density"], arrays.get("qp")
    for x in range(1, vp.shape[0] - 1):  # plane by plane, to avoid copies in float64
        modulus = p_modulus(vp[x, y, 1:-1], density[x, y, 1:-1], None if qp is None else qp[x, y, 1:-1], fit)
        around = density[x - 1 : x + 2].astype(np.float64)
        centre = around[1, y, 1:-1]
        total = np.zeros_like(modulus)
        for axis in grid.axes:
            for side in (slice(None, -2), slice(2, None)):
                place: list[slice] = [slice(1, 2), y, slice(1, -1)]
                place[axis] = side
                total += 1 / (centre + around[tuple(place)][0]) / grid.spacing[axis] ** 2
        largest = max(largest, float((modulus * total).max()))
    return 4 * WEIGHT_SUM**2 * largest
