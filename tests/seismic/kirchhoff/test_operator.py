"""The operator of time migration by itself: its transpose, a plain loop, cuts, the anti-alias filter."""

from dataclasses import replace

import numpy as np
import pytest
from kirchhoff_support import Experiment, decibels, five, pairs, peak
from support import ricker

from fathometer import _native
from fathometer.seismic.kirchhoff.operator import OperatorSettings, TileOperator, nodes, segments
from fathometer.seismic.survey.time_migration import TimeMigrationTable

SMALL = Experiment((7, 5, 100), (25.0, 20.0, 0.004), (0.0, 0.0, 0.0), 2000.0, None, 0.004, 150, {})
LINE = replace(SMALL, shape=(9, 1, 100))
CASES = {
    "3D": SMALL,
    "3D, no filter against aliasing": replace(SMALL, keys={"anti_alias": "none"}),
    "3D, eta": replace(SMALL, eta=0.15),
    "3D, eta below 0, aperture and dip": replace(SMALL, eta=-0.1, keys={"aperture": 120.0, "dip": 40.0, "taper": 0.3}),
    "3D, no weights, all dips": replace(SMALL, keys={"weights": "none", "dip": 90.0}),
    "2D": LINE,
    "2D, line sources, eta": replace(LINE, eta=0.1, keys={"sources": "line", "alias_spacing": (80.0,)}),
}


def random_pairs(case, count=12):
    """Midpoints over the image and beside it, offsets in any direction."""
    source = np.random.default_rng(5)
    places = source.uniform(-150, 350, (count, 4))
    if case.grid.two_dimensional:
        places[:, 1::2] = 0
    return places


def dot_product_error(name):
    """|<L d, m> - <d, L* m>| / (|L* m| |d|) of noise."""
    case = CASES[name]
    source, places = np.random.default_rng(1), random_pairs(case)
    traces = source.standard_normal((len(places), case.samples)).astype(np.float32)
    model = source.standard_normal(case.shape).astype(np.float32)
    image, made = case.image(traces, places)[0].astype(float), case.demigrated(model, places).astype(float)
    assert np.linalg.norm(image) > 0
    apart = abs((image * model).sum() - (traces * made).sum())
    return float(apart / np.linalg.norm(made) / np.linalg.norm(traces))


@pytest.mark.parametrize("name", CASES)
def test_demigration_is_the_transpose(name):
    assert dot_product_error(name) <= 1e-6


PLAIN = {"dip": 90.0, "anti_alias": "none"}
BOUNDS = {  # without what the kernel picks at nodes, and with it
    "3D": 0.05,
    "3D, no filter against aliasing": 0.01,
    "3D, eta": 0.1,
    "3D, eta below 0, aperture and dip": 0.1,
    "3D, no weights, all dips": 0.05,
    "2D": 0.05,
    "2D, line sources, eta": 0.12,
}


def plain_error(name, **keys):
    """Largest difference of the kernel from the plain loop over the largest value, after the first two nodes, of smooth
    traces. Between nodes, 16 samples apart, the kernel interpolates weights and tapers, and takes one triangle of the
    filter; the plain loop has those of each sample, and leaves eta out of the filter's slope."""
    case, places = CASES[name], random_pairs(CASES[name])
    case = replace(case, keys=case.keys | keys)
    source = np.random.default_rng(2)
    arrivals = source.uniform(0.1, 0.5, (len(places), 1))
    fine = case.series(ricker(case.times - arrivals, 15.0))
    late = np.s_[..., 2 * _native.KIRCHHOFF_SEGMENT :]
    both = [case.image_of_fine(fine, places, None, plainly)[late] for plainly in (False, True)]
    return float(np.abs(both[0] - both[1]).max() / np.abs(both[1]).max())


@pytest.mark.parametrize("name", CASES)
def test_the_kernel_sums_what_the_plain_loop_does(name):
    assert plain_error(name, **PLAIN) <= 0.01
    assert plain_error(name) <= BOUNDS[name]


def tapers(place, **keys):
    """The fold (nt,) of one trace in the column at 0, at the nodes, and their times."""
    case = replace(SMALL, shape=(2, 2, 200), keys=keys | {"taper": 0.4})
    fold = np.zeros((2, 2, nodes(200)), np.float32)
    image = np.zeros((1, 2, 2, segments(200)), np.float32)
    fine = np.zeros((1, 4 * case.samples), np.float32)
    case.operator.migrate(fine, five(np.array([place])), np.zeros(1, np.int32), image, fold)
    times = case.t0[_native.KIRCHHOFF_SEGMENT :: _native.KIRCHHOFF_SEGMENT]
    return times, fold[0, 0, 1 : 1 + len(times)]


def ramp(value, limit):
    """1 up to 0.6 of the limit, 0 from it on."""
    s = np.clip((limit - value) / (0.4 * limit), 0, 1)
    return s**2 * (3 - 2 * s)


@pytest.mark.parametrize("distance", [0.0, 50.0, 70.0, 99.0, 100.0, 120.0])
def test_weights_fall_to_0_at_the_aperture(distance):
    """From the midpoint; the fold counts the fraction of a trace."""
    x, y = distance * 0.6, distance * 0.8
    fold = tapers((x - 300, y - 50, x + 300, y + 50), aperture=100.0, dip=90.0)[1]
    np.testing.assert_allclose(fold, ramp(distance, 100.0), atol=1e-5)


def test_weights_fall_to_0_at_the_steepest_dip():
    """Of a trace without offset 250 m away the tangent of the dip is 250 m over the depth."""
    times, fold = tapers((150.0, 200.0, 150.0, 200.0), dip=45.0)
    tangents = 250.0 / (SMALL.velocity * times / 2)
    assert fold[0] == 0
    assert fold[-1] == 1
    np.testing.assert_allclose(fold, ramp(tangents, 1.0), atol=1e-5)


def test_a_tile_is_a_part_of_the_image_bit_by_bit():
    """With traces in two parts, too."""
    case, places = CASES["3D, eta"], random_pairs(CASES["3D, eta"])
    fine = case.series(np.random.default_rng(4).standard_normal((len(places), case.samples)))
    keys, volumes = TimeMigrationTable(), np.zeros(len(places), np.int32)
    length = segments(case.shape[2])

    def tile(lo, hi, *ends):
        shape = (hi[0] - lo[0], hi[1] - lo[1], case.shape[2])
        operator = TileOperator(
            OperatorSettings.of(keys, case.grid),
            case.grid,
            lo,
            np.full(shape, case.velocity, np.float32),
            np.full(shape, 0.15, np.float32),
            case.series,
            0.0,
        )
        image = np.zeros((1, *shape[:2], length), np.float32)
        fold = np.zeros((*shape[:2], nodes(shape[2])), np.float32)
        for a, b in zip((0, *ends), (*ends, len(places)), strict=True):
            operator.migrate(fine[a:b], five(places[a:b]), volumes[a:b], image, fold)
        return image[0], fold

    for whole, part in zip(tile((0, 0), (7, 5)), tile((2, 1), (6, 4), 5), strict=True):
        assert np.abs(part).max() > 0
        assert whole[2:6, 1:4].tobytes() == part.tobytes()


def test_steep_operators_do_not_depend_on_velocities_beside_them():
    """With eta near its lower end slopes are 1.6 times those of a straight ray, and in a tile of its own a column has
    no slower one beside it for which there would be more rows in the filter bank."""
    case = replace(LINE, shape=(2, 1, 100), spacing=(25.0, 1.0, 0.004), samples=2000, keys={"dip": 90.0})
    places = pairs(np.array([-2500.0, -2000.0]), np.zeros(1), 0.0)
    fine = case.series(np.random.default_rng(4).standard_normal((len(places), case.samples)))

    def columns(*velocities):
        shape = (len(velocities), 1, case.shape[2])
        velocity = np.ones(shape, np.float32) * np.array(velocities, np.float32)[:, None, None]
        settings = OperatorSettings.of(TimeMigrationTable(**case.keys), case.grid)
        eta = np.full(shape, -0.2999, np.float32)
        operator = TileOperator(settings, case.grid, (0, 0), velocity, eta, case.series, 0.0)
        image = np.zeros((1, *shape[:2], segments(shape[2])), np.float32)
        operator.migrate(fine, five(places), np.zeros(len(places), np.int32), image)
        return image[0]

    for velocity in np.arange(1400.0, 2600.0, 25.0):
        alone, beside = columns(velocity), columns(velocity, 1000.0)
        assert np.abs(alone).max() > 0
        assert alone.tobytes() == beside[:1].tobytes()


def test_each_trace_goes_to_its_volume_and_some_to_none():
    case, places = SMALL, random_pairs(SMALL)
    fine = case.series(np.random.default_rng(4).standard_normal((len(places), case.samples)))
    volumes = np.array([0, 1, -1] * 4)
    images = case.image_of_fine(fine, places, volumes)
    for number in (0, 1):
        own = volumes == number
        assert images[number].tobytes() == case.image_of_fine(fine[own], places[own])[0].tobytes()


ALIASED = Experiment((1, 1, 250), (50.0, 1.0, 0.004), (0.0, 0.0, 0.0), 2000.0, None, 0.004, 400, {"dip": 80.0})


def steep_noise(anti_alias):
    """A flat reflector at 0.9 s on traces 50 m apart, 30 Hz: the RMS amplitude above it, from 0.15 to 0.75 s, where
    only steep parts of the operator cross its event; and its own amplitude."""
    case = replace(ALIASED, keys=ALIASED.keys | {"anti_alias": anti_alias})
    places = pairs(50.0 * np.arange(-60, 61), 0.0, 0.0)
    image = 50.0 * case.image(ricker(case.times - 0.9, 30.0)[None].repeat(len(places), 0), places)[0, 0, 0]
    image *= 1 / (case.velocity * 0.9)
    noise = image[(case.t0 > 0.15) & (case.t0 < 0.75)]
    return float(np.sqrt(np.mean(noise**2))), peak(image)[1]


def test_noise_of_steep_operators_falls_by_20_decibels():
    none, filtered = steep_noise("none"), steep_noise("triangle")
    assert decibels(none[0] / filtered[0]) >= 20
    assert filtered[1] == pytest.approx(none[1], rel=0.05)  # the reflector stays


def half_lengths():
    return [
        (int(_native.bank_row(length)), length) for length in np.concatenate([np.geomspace(0.3, 100, 400), [0.0, 1e9]])
    ]


def test_rows_of_the_filter_bank_are_four_an_octave():
    """The row that is nearest: half-lengths 0, 1, 1.25, 1.5, 1.75, 2, 2.5, ... 64."""
    rows = [0.0] + [2.0**octave * (1 + quarter / 4) for octave in range(7) for quarter in range(4)]
    rows = rows[: _native.MOST_BANK_ROWS + 1]
    for row, length in half_lengths():
        if row == 0:
            assert length < 1.0
        elif row == _native.MOST_BANK_ROWS - 1:
            assert length >= (rows[row] + rows[row - 1]) / 2
        else:
            assert (rows[row] + rows[row - 1]) / 2 - 1e-6 <= length <= (rows[row] + rows[row + 1]) / 2 + 1e-6
