"""Next to a sea floor: energy, the same bits for any ranks."""

import numpy as np
import pytest
from cli_support import under_mpirun
from elastic_seabeds import cut_cells, drawn, energies, excite, seabed
from mpi4py import MPI
from paths import SUPPORT
from support import FULL

from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.attenuation import Attenuation
from fathometer.seismic.elastic.contact import find_floor
from fathometer.seismic.elastic.contact_media import PlaneSides, set_contact
from fathometer.seismic.elastic.earth import ElasticEarth
from fathometer.seismic.elastic.fields import fields_of
from fathometer.seismic.elastic.media import medium_of

SPACING = (10.0, 11.0, 9.0)


@pytest.mark.parametrize("part", [0.0, 0.2, 0.5, 0.75])
@pytest.mark.parametrize("shape", [(20, 1, 40), (12, 11, 40)])
def test_energy_is_kept_over_a_flat_floor(shape, part):
    """Rock that differs from cell to cell, water that differs from column to column."""
    bed = seabed(drawn(shape, np.full(shape[:2], 18 + part)), SPACING)
    totals = energies(bed, shape)
    assert np.ptp(totals) <= 1e-11 * totals[0]


@pytest.mark.parametrize("ranks", [2, 3])
def test_bits_do_not_depend_on_ranks_or_tiles(ranks):
    done = under_mpirun(ranks, SUPPORT / "seabed_ranks_program.py")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 4


@pytest.mark.parametrize(("part", "top"), [(0.5, False), (0.2, True), (0.9, False)] if FULL else [(0.2, True)])
def test_nothing_grows_where_a_floor_goes_on_into_layers(part, top):
    """Long after the waves have left, in layers of ten cells: what stays are stresses at rest."""
    shape = (60, 1, 70)
    depth = np.full(shape[:2], 30 + part)
    one = np.ones(shape)
    model = cut_cells(depth, (1500 * one, 1000 * one), (1700 * one, 400 * one, 1800 * one))
    bed = seabed(model, SPACING, free_surface=top, width=10, dtype=np.float32)
    names = [field.name for field in fields_of(True)]
    excite(bed, names, shape)
    if top:
        for name in ("sxx", "szz"):
            bed.wave.field(name)[:, :, 0] = 0
    largest = []
    for _ in range(24 if FULL else 6):
        bed.wave.advance(1000)
        largest.append(max(np.abs(bed.wave.field(name)).max() * (1 if name[0] == "v" else 5e-7) for name in names))
    half = len(largest) // 2
    assert max(largest[half:]) <= 1.1 * max(largest[:half])


def test_media_that_attenuate_stay_as_they_are_next_to_a_floor_half_way():
    """Uniform sides: what the floor changes is the inertia of its own half points alone."""
    shape = (7, 6, 50)
    one = np.ones(shape)
    model = cut_cells(np.full(shape[:2], 24.5), (1500 * one, 1000 * one), (3000 * one, 1700 * one, 2200 * one))
    vp, vs, density = (np.pad(some, 1, mode="edge").astype(np.float32) for some in model)
    qp, qs = (np.where(vs > 0, *pair).astype(np.float32) for pair in ((60, 5000), (30, 0)))
    grid, block, fit = Grid(shape, SPACING), Decomposition(shape), Attenuation(15.0, 6.0, 20.0)
    floor, _ = find_floor(vp, vs, density, grid, block, MPI.COMM_SELF)
    earth = ElasticEarth(vp, vs, density, qp, qs, fit, 1.0, 3000.0, 1.0, 0, 1.0, 0.0, floor=floor)
    before, after = (medium_of(earth, grid, (0, 0, 0), 1e-3, np.dtype(np.float64)) for _ in range(2))
    set_contact(after, PlaneSides(earth.arrays, fit, floor, grid), (0, 0, 0), 1e-3)
    pairs = [(before.p_modulus, after.p_modulus), (before.lame, after.lame)]
    pairs += [(getattr(before.relaxation, name), getattr(after.relaxation, name)) for name in ("defect_p", "defect_s")]
    pairs += [(before.shear[name], after.shear[name]) for name in before.shear]
    pairs += [(before.buoyancy[name], after.buoyancy[name]) for name in ("vx", "vy")]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-14)
    changed = np.unique(np.nonzero(before.buoyancy["vz"] != after.buoyancy["vz"])[2])
    assert changed.tolist() == [24]
