"""Sources and receivers between cells and in a free surface, by reciprocity: what one records of the other."""

import numpy as np
import pytest
from mpi4py import MPI

from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.elastic.earth import ElasticEarth
from fathometer.seismic.elastic.fields import REACH
from fathometer.seismic.elastic.media import medium_of
from fathometer.seismic.elastic.propagator import ElasticPropagator
from fathometer.seismic.elastic.receivers import receiver_points
from fathometer.seismic.elastic.sources import PointSources, source_points
from fathometer.seismic.traces.time_axis import time_axis
from fathometer.seismic.traces.wavelet import RickerWavelet
from fathometer.seismic.waves.boundary import MultiaxialPml
from fathometer.seismic.waves.scheme import Scheme

VP, VS, RHO, SPACING, DT = 3000.0, 1700.0, 2200.0, 5.0, 8e-4
WAVELET, DTYPE = RickerWavelet(12.0), np.dtype(np.float64)
TIME = time_axis(DT, WAVELET.lead, 0.2, 1)
GRID = Grid((60, 1, 50), (SPACING,) * 3, pad=((16, 16), (0, 0), (0, 16)))
DEEP = (201.0, 0.0, 122.0)
FORCES, STRESSES = ("vx", "vz"), ("sxx", "szz", "sxz")


def recorded(fields, component, source, receiver, what):
    """What a receiver records of a source, (steps,)."""
    block = Decomposition(GRID.full_shape)
    shape = (GRID.full_shape[0] + 2, 1, GRID.full_shape[2] + 2)
    vp, vs, rho = (np.full(shape, value, np.float32) for value in (VP, VS, RHO))
    earth = ElasticEarth(vp, vs, rho, None, None, None, VS, VP, 1.0, 0, 1.0, 0.0)
    medium = medium_of(earth, GRID, block.lo, DT, DTYPE)
    wave = ElasticPropagator(
        GRID, block, medium, Scheme(DT, REACH, DTYPE, MultiaxialPml(16), True, VP, 12.0), True, MPI.COMM_SELF
    )
    sources = PointSources(fields, np.array([component], float), np.zeros((1, 3)), np.zeros(1))
    points, series = source_points(GRID, sources, np.array(source), WAVELET, TIME, True, DTYPE, False)
    injectors = wave.injectors(points)
    samplers = wave.samplers(receiver_points(GRID, np.array([receiver]), [what], True))
    values = np.zeros((TIME.steps, 1))
    wave.advance(TIME.steps, injectors, series.rows(0, TIME.steps, injectors.indices), samplers, values)
    wave.close()
    return values[:, 0]


def difference(found, wanted):
    assert np.abs(wanted).max() > 0
    return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)


def force_difference(depth, name):
    """Of a force's velocity, down from a depth in m and up to it."""
    shallow = (133.0, 0.0, depth)
    force = [float(name == field) for field in FORCES]
    return difference(recorded(FORCES, force, shallow, DEEP, name), recorded(FORCES, force, DEEP, shallow, name))


def in_the_middle(stress):
    """From the beginnings of steps to their middles."""
    return 0.5 * (stress[:-1] + stress[1:])


# What stays are the layers, whose derivatives are not each other's transposes.
@pytest.mark.parametrize("depth", [0.0, 1.5, 14.0, 41.0])
@pytest.mark.parametrize("name", FORCES)
def test_forces_and_velocities(depth, name):
    assert force_difference(depth, name) < 0.003


@pytest.mark.parametrize(("depth", "largest"), [(1.5, 0.02), (7.0, 0.01), (41.0, 0.005)])
def test_an_explosion_is_what_pressure_records(depth, largest):
    """Velocity of a moment rate: minus the pressure of a force, over the bulk modulus (2D: lambda + mu)."""
    shallow = (133.0, 0.0, depth)
    of_explosion = recorded(STRESSES, [1.0, 1.0, 0.0], shallow, DEEP, "vz")
    of_force = recorded(FORCES, [0.0, 1.0], DEEP, shallow, "pressure")
    modulus = RHO * (VP**2 - VS**2)
    assert difference(-in_the_middle(of_force) / modulus, of_explosion[:-1]) < largest


def test_a_shear_couple_is_what_shear_stress_records():
    shallow = (133.0, 0.0, 41.0)
    of_couple = recorded(STRESSES, [0.0, 0.0, 1.0], shallow, DEEP, "vz")
    of_force = recorded(FORCES, [0.0, 1.0], DEEP, shallow, "sxz")
    assert difference(in_the_middle(of_force) / (RHO * VS**2), of_couple[:-1]) < 0.005
