"""The elastic medium: means at the points of the staggered grid, bits over decompositions, what checks refuse."""

import math

import numpy as np
import pytest
from elastic_survey_support import earth_of, random_model, survey_with

from fathometer.base.errors import InputError
from fathometer.seismic.elastic.attenuation import Attenuation
from fathometer.seismic.elastic.media import medium_of

DT = 1e-3
FIT = Attenuation(25.0, 10.0)
LOSSY = {"qp": "qp.npy", "qs": "qs.npy"}


def medium(survey, fit=None, ranks=(1, 1, 1), rank=0, dtype=np.float64):
    earth, grid, block = earth_of(survey, fit, ranks, rank)
    return medium_of(earth, grid, block.lo, DT, np.dtype(dtype)), block, grid


def arrays_of(found, nz):
    """All arrays of a medium by name, without the padding of rows, which is checked to be zero."""
    arrays = found.buoyancy | found.shear | {"p": found.p_modulus, "lame": found.lame}
    if found.relaxation is not None:
        arrays |= {"dp": found.relaxation.defect_p, "ds": found.relaxation.defect_s}
    assert all(not array[..., nz:].any() for array in arrays.values())
    return {name: array[..., :nz] for name, array in arrays.items()}


def test_means_of_nodes(tmp_path):
    values = random_model(tmp_path)
    found, _, grid = medium(survey_with(tmp_path))
    arrays = arrays_of(found, grid.full_shape[2])
    nodes = {
        name: np.pad(values[name].astype(float), [(lo, hi + 1) for lo, hi in grid.pad], mode="edge")
        for name in ("vp", "vs", "density")
    }
    rho, mu = nodes["density"], nodes["density"] * nodes["vs"] ** 2
    own = tuple(slice(0, n) for n in grid.full_shape)
    p = rho * nodes["vp"] ** 2
    assert np.allclose(arrays["p"], DT * p[own], rtol=1e-12)
    assert np.allclose(arrays["lame"], DT * (p - 2 * mu)[own], rtol=1e-12)
    unit = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    fluids = 0
    for i, j, k in np.ndindex(*grid.full_shape):
        for axis, (a, b, c) in unit.items():
            wanted = DT / (0.5 * (rho[i, j, k] + rho[i + a, j + b, k + c]))
            assert math.isclose(arrays[f"v{axis}"][i, j, k], wanted, rel_tol=1e-12)
        for first, second in ("xy", "xz", "yz"):
            e, f = np.array(unit[first]), np.array(unit[second])
            four = [mu[tuple(np.array((i, j, k)) + s * e + t * f)] for s in (0, 1) for t in (0, 1)]
            wanted = 0.0 if min(four) == 0 else DT * 4 / sum(1 / value for value in four)
            fluids += min(four) == 0
            assert math.isclose(arrays[f"s{first}{second}"][i, j, k], wanted, rel_tol=1e-12, abs_tol=0.0)
    assert fluids > 100


def test_attenuating_cells_have_the_mechanism_of_their_place(tmp_path):
    values = random_model(tmp_path)
    found, _, grid = medium(survey_with(tmp_path, model=LOSSY), FIT)
    arrays = arrays_of(found, grid.full_shape[2])
    assert found.relaxation.decay == tuple(np.exp(-DT / FIT.times))
    x, y, z = 4, 3, 5
    i, j, k = x + grid.pad[0][0], y + grid.pad[1][0], z
    quality, vp, vs, density = (float(values[name][x, y, z]) for name in ("qp", "vp", "vs", "density"))
    mechanism = (i + j + k) % 3
    assert arrays["dp"][i, j, k] == FIT.defects(np.array(quality))[mechanism]
    unrelaxed = density * vp**2 * FIT.stiffening(np.array(quality))[mechanism]
    assert math.isclose(arrays["p"][i, j, k], DT * unrelaxed, rel_tol=1e-12)
    assert vs > 0
    shear = FIT.stiffening(np.array(float(values["qs"][x, y, z])))[mechanism]
    lame = unrelaxed - 2 * density * vs**2 * shear
    assert math.isclose(arrays["lame"][i, j, k], DT * lame, rel_tol=1e-9)
    elastic, _, _ = medium(survey_with(tmp_path))
    for name, array in elastic.shear.items():  # each cell's own mechanism and quality, of a mean of elastic moduli
        assert math.isclose(arrays[name][i, j, k], array[i, j, k] * shear, rel_tol=1e-12)
    fluid = np.argwhere(values["vs"] == 0)[0]
    a, b, c = fluid + np.array([grid.pad[0][0], grid.pad[1][0], 0])
    assert arrays["ds"][a, b, c] == 0
    assert arrays["lame"][a, b, c] == arrays["p"][a, b, c]


@pytest.mark.parametrize("ranks", [(2, 1, 1), (1, 3, 2), (3, 2, 2)])
@pytest.mark.parametrize("lossy", [False, True])
def test_bits_do_not_depend_on_the_decomposition(tmp_path, ranks, lossy):
    random_model(tmp_path)
    survey = survey_with(tmp_path, model=LOSSY if lossy else {})
    fit = FIT if lossy else None
    whole, _, grid = medium(survey, fit, dtype=np.float32)
    wanted = arrays_of(whole, grid.full_shape[2])
    for rank in range(math.prod(ranks)):
        found, block, _ = medium(survey, fit, ranks, rank, np.float32)
        box = tuple(slice(lo, hi) for lo, hi in zip(block.lo, block.hi, strict=True))
        for name, array in arrays_of(found, block.local_shape[2]).items():
            assert np.array_equal(array, wanted[name][box]), name


def test_two_dimensions(tmp_path):
    values = random_model(tmp_path, (12, 10))
    flat = {"spacing": [10.0, 8.0]}
    places = {"sources": {"x": 20.0, "z": 20.0}, "receivers": {"x": 30.0, "z": 8.0}}
    found, _, grid = medium(survey_with(tmp_path, model=flat, acquisition=places))
    assert set(found.buoyancy) == {"vx", "vz"}
    assert set(found.shear) == {"sxz"}
    x, z = 5, 6
    mu = values["density"].astype(float) * values["vs"].astype(float) ** 2
    four = mu[x : x + 2, z : z + 2]
    wanted = 0.0 if four.min() == 0 else DT * 4 / (1 / four).sum()
    assert math.isclose(found.shear["sxz"][x + grid.pad[0][0], 0, z], wanted, rel_tol=1e-12)


def test_time_step_and_velocities_of_a_layered_model(tmp_path):
    shape = (9, 8, 7)
    for name, upper, lower in (("vp", 1500, 4000), ("vs", 0, 2300), ("density", 1000, 2500)):
        array = np.full(shape, lower, np.float32)
        array[..., :3] = upper
        np.save(tmp_path / f"{name}.npy", array)
    earth, grid, _ = earth_of(survey_with(tmp_path))
    assert (earth.slowest, earth.fastest) == (1500, 4000)
    h = np.array(grid.spacing)
    homogeneous = 1 / (4000 * (9 / 8 + 1 / 24) * math.sqrt((1 / h**2).sum()))
    # the first plane of rock has light water on one side
    vertical = 0.5 * (1 + 2 * 2500 / 3500)
    wanted = 1 / (4000 * (9 / 8 + 1 / 24) * math.sqrt(1 / h[0] ** 2 + 1 / h[1] ** 2 + vertical / h[2] ** 2))
    assert wanted < homogeneous
    assert math.isclose(earth.time_step_limit, wanted, rel_tol=1e-6)


def refusal(tmp_path, **model):
    with pytest.raises(InputError) as caught:
        earth_of(survey_with(tmp_path, model=model), FIT if "qp" in model else None)
    return str(caught.value)


def spoiled(tmp_path, name, value, cells):
    array = np.load(tmp_path / f"{name}.npy")
    for cell in cells:
        array[cell] = value
    np.save(tmp_path / f"{name}.npy", array)


PLACE = "2 of 504 cells are out of range, first at x = 20 m, y = 36 m, z = 8 m"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("vp", np.nan, "vp.npy): NaN or infinity in 2 of 504 cells, first at x = 20 m, y = 36 m, z = 8 m"),
        ("vs", np.inf, "vs.npy): NaN or infinity in 2 of 504 cells"),
        (
            "density",
            2.4,
            f"{PLACE}; found 2.4 in these; allowed: 100 to 25000",
        ),
        ("density", 0.0, "density in g/cm3? multiply by 1000"),
        ("vs", -1.0, "allowed: 0 (a fluid), or 50 m/s and more"),
        ("vs", 2.0, "is [model] units right?"),
        ("vs", 3600.0, "found 3600 in these; allowed: below 0.866 vp, where the bulk modulus is positive"),
        (
            "qp",
            3.0,
            f"{PLACE}; found 3 in these; allowed: 5 or more",
        ),
        ("qp", 1e4, "up to 3/4 (vp / vs)^2 qs"),
    ],
)
def test_values_that_are_refused(tmp_path, name, value, words):
    values = random_model(tmp_path)
    values["vs"][2, 3, 1] = values["vs"][5, 5, 5] = 1200
    np.save(tmp_path / "vs.npy", values["vs"])
    spoiled(tmp_path, name, value, [(2, 3, 1), (5, 5, 5)])
    message = refusal(tmp_path, **(LOSSY if name.startswith("q") else {}))
    assert words in message
    assert f"[model] {name}" in message


def test_quality_of_shear_does_not_count_in_fluids(tmp_path):
    values = random_model(tmp_path)
    values["qs"][values["vs"] == 0] = 0
    np.save(tmp_path / "qs.npy", values["qs"])
    earth, _, _ = earth_of(survey_with(tmp_path, model=LOSSY), FIT)
    assert earth.notes == ()
    np.save(tmp_path / "qs.npy", np.where(values["vs"] == 0, 0, 6).astype(np.float32))
    np.save(tmp_path / "qp.npy", np.full((9, 8, 7), 8, np.float32))
    earth, _, _ = earth_of(survey_with(tmp_path, model=LOSSY), FIT)
    assert "in 504 cells" in earth.notes[0]


def test_numbers_only_give_no_grid(tmp_path):
    message = refusal(tmp_path, vp=3000.0, vs=1500.0, density=2000.0)
    assert "vp, vs, density, qp and qs are all numbers; needed: at least one file" in message


def test_units_apply_to_both_velocities(tmp_path):
    values = random_model(tmp_path)
    for name in ("vp", "vs"):
        np.save(tmp_path / f"{name}.npy", values[name] / 1000)
    earth, _, _ = earth_of(survey_with(tmp_path, model={"units": "km/s"}))
    assert math.isclose(earth.fastest, values["vp"].max(), rel_tol=1e-6)
    assert math.isclose(earth.vs.max(), values["vs"].max(), rel_tol=1e-6)
