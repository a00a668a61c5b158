"""The kernel of the chemistry: against the plain version, its derivatives, its cases, and cells by themselves."""

import numpy as np
import pytest
from chemistries import any_chemistry, calcite, kernel, plain, rates_of, reaction_of, species_of, totals_of, waters

from fathometer import _native

MODELS = ["davies", "debye-hueckel", "ideal"]
SYSTEMS = {
    "calcite, Davies": (calcite("davies"), waters(12)),
    "calcite, Debye-Hückel": (calcite("debye-hueckel"), waters(12)),
    "calcite, ideal": (calcite("ideal"), waters(12)),
    "no secondary species": (calcite("davies", 0), waters(3)),
} | {
    f"random, {n} and {m}, {model}": (
        any_chemistry(n, m, k, model, seed=n),
        np.random.default_rng(n).uniform(-10, -8, (3, n)),
    )
    for n, m, k, model in [(1, 2, 1, "davies"), (2, 0, 2, "ideal"), (5, 7, 3, "debye-hueckel"), (16, 9, 2, "davies")]
}


def share(found, right, size):
    """Largest difference as a share of `size`."""
    assert np.isfinite(np.asarray(found)).all()
    return float((np.abs(found - right) / size).max())


@pytest.mark.parametrize("name", SYSTEMS)
def test_totals_and_their_derivative(name):
    arrays, ln_c = SYSTEMS[name]
    totals, derivative = totals_of(kernel(arrays), ln_c)
    for cell, u in enumerate(ln_c):
        slow, u = plain(arrays), u.astype(np.longdouble)
        size = slow.largest_terms(u)
        assert share(totals[cell], slow.totals(u), size) < 1e-13
        assert share(derivative[cell], slow.derivative(slow.totals, u), size[:, None]) < 1e-12
    alone = np.full(totals.shape, np.nan)
    kernel(arrays).totals(ln_c, alone, None)
    assert alone.tobytes() == totals.tobytes()


@pytest.mark.parametrize("name", SYSTEMS)
def test_activities_molalities_and_the_ionic_strength(name):
    arrays, ln_c = SYSTEMS[name]
    activity, strength, molality = species_of(kernel(arrays), ln_c, len(arrays["charge"]))
    for cell, u in enumerate(ln_c):
        slow, u = plain(arrays), u.astype(np.longdouble)
        right = slow.strength(u)
        assert share(strength[cell], right, right + 1e-300) < 1e-13
        ln_molality = np.log(slow.molalities(u, right))
        assert share(molality[cell], ln_molality, 1) < 1e-13
        assert share(activity[cell], ln_molality + slow.ln_gamma(right), 1) < 1e-13
    c = np.exp(molality)
    assert share(strength, (arrays["charge"] ** 2 * c).sum(1) / 2, strength + 1e-300) < 1e-13


@pytest.mark.parametrize("name", SYSTEMS)
def test_rates_and_their_derivative(name):
    """In both directions: with these random waters Omega is on both sides of 1."""
    arrays, ln_c = SYSTEMS[name]
    old = np.random.default_rng(3).uniform(0, 10, (len(ln_c), len(arrays["rate_constant"])))
    old[0] = 0
    for dt in (0.0, 10.0, 1e7):
        amounts, rates, derivative = rates_of(kernel(arrays), ln_c, old, dt)
        for cell, u in enumerate(ln_c):
            slow, u = plain(arrays), u.astype(np.longdouble)
            right_amounts, right_rates = slow.rates(u, old[cell], dt)
            size = abs(right_rates) + arrays["rate_constant"] * arrays["specific_area"] * right_amounts + 1e-300
            assert share(rates[cell], right_rates, size) < 1e-12  # of the larger of 1 and Omega
            assert share(amounts[cell], right_amounts, right_amounts + dt * size + 1e-300) < 1e-12
            slopes = slow.derivative(lambda moved, slow=slow, cell=cell, dt=dt: slow.rates(moved, old[cell], dt)[1], u)
            assert share(derivative[cell], slopes, size[:, None] + abs(slopes)) < 1e-10
        without = np.full(rates.shape, np.nan), np.full(rates.shape, np.nan)
        kernel(arrays).rates(ln_c, old, dt, *without, None)
        assert without[0].tobytes() + without[1].tobytes() == amounts.tobytes() + rates.tobytes()


@pytest.mark.parametrize("name", SYSTEMS)
def test_what_minerals_give_to_the_water(name):
    """Is their rates times what they consist of."""
    arrays, ln_c = SYSTEMS[name]
    random, nu = np.random.default_rng(3), arrays["mineral_stoichiometry"]
    old, share = random.uniform(0, 10, (len(ln_c), len(nu))), random.uniform(1, 2, len(ln_c))
    amounts, rates, slopes = rates_of(kernel(arrays), ln_c, old, 1e4)
    given = reaction_of(kernel(arrays), ln_c, old, 1e4, share)
    assert given[0].tobytes() == amounts.tobytes()
    right, right_slopes = rates @ nu * share[:, None], np.einsum("ij,cil->cjl", nu, slopes) * share[:, None, None]
    size = abs(rates) @ abs(nu) * share[:, None]
    assert (abs(given[1] - right) <= 1e-15 * size).all()
    sizes = np.einsum("ij,cil->cjl", abs(nu), abs(slopes)) * share[:, None, None]
    assert (abs(given[2] - right_slopes) <= 1e-15 * sizes).all()
    without = np.full(old.shape, np.nan), np.full(ln_c.shape, np.nan)
    kernel(arrays).reaction(ln_c, old, 1e4, share, *without, None)
    assert without[1].tobytes() == given[1].tobytes()


def test_without_minerals_nothing_is_given():
    arrays = any_chemistry(3, 2, 0, "davies")
    ln_c, none = np.full((11, 3), -9.0), np.zeros((11, 0))
    assert all(array.size == 0 for array in rates_of(kernel(arrays), ln_c, none, 1.0))
    _, reaction, derivative = reaction_of(kernel(arrays), ln_c, none, 1.0, np.ones(11))
    assert not reaction.any()
    assert not derivative.any()


def test_random_waters_dissolve_and_precipitate():
    omega = np.array([plain(calcite()).omega(u.astype(np.longdouble))[0] for u in waters(12)])
    assert (omega < 1).sum() > 2
    assert (omega > 1).sum() > 2


@pytest.mark.parametrize("dt", [1.0, 1e3, 1e9, 1e30])
def test_what_minerals_lose_has_dissolved_and_none_is_negative(dt):
    chemistry, ln_c = kernel(calcite()), waters(400)
    old = np.abs(np.random.default_rng(4).normal(size=(400, 1)))
    amounts, rates, _ = rates_of(chemistry, ln_c, old, dt)
    assert (amounts >= 0).all()
    assert (np.abs(old - amounts - dt * rates) <= 1e-15 * np.maximum(old, amounts)).all()


def saturated(amount, areas=(0.05, 2.0)):
    """Calcite, cells around Omega = 1 and ln Omega in them: without activity coefficients it is a sum."""
    arrays = calcite("ideal") | {"specific_area": np.array([areas[0]]), "nucleation_area": np.array([areas[1]])}
    cells = np.tile(np.log([1e-3, 1e-8, 1e-3, 1e-6]), (9, 1))
    cells[:, 0] = arrays["mineral_ln_k"] + cells[:, 1] - cells[:, 2]
    logarithm = np.array([-1e-3, -1e-6, -1e-9, -1e-13, 0, 1e-13, 1e-9, 1e-6, 1e-3])
    cells[:, 0] += logarithm
    return kernel(arrays), cells, np.full((9, 1), amount), logarithm


@pytest.mark.parametrize("amount", [0.0, 3.0])
def test_rates_are_continuous_where_water_is_saturated(amount):
    """And have the slopes of both laws there: dissolving in proportion to what is left, growing to old and seed."""
    dt = 10.0
    chemistry, cells, old, logarithm = saturated(amount)
    amounts, rates, slopes = rates_of(chemistry, cells, old, dt)
    growing = 1e-6 * (0.05 * amount + 2.0)
    slope = np.where(logarithm < 0, 1e-6 * 0.05 * amount, growing)
    near = np.abs(logarithm) <= 1e-6
    error = 3e-15 * 40 * growing  # of the logarithm's sum
    assert (np.abs(rates[:, 0] + slope * logarithm) <= error + growing * logarithm**2)[near].all()
    assert np.abs(amounts[near] - amount).max() <= dt * growing * 2e-6
    clear = near & (np.abs(logarithm) >= 1e-9)
    assert np.allclose(slopes[clear, 0, 0], -slope[clear], rtol=1e-5, atol=0)


def test_a_mineral_without_area_and_amount_does_not_appear():
    chemistry, cells, old, _ = saturated(0.0, (0.05, 0.0))
    amounts, rates, _ = rates_of(chemistry, cells + 1.0, old, 10.0)
    assert not amounts.any()
    assert not rates.any()


@pytest.mark.parametrize("model", MODELS)
def test_a_cell_is_computed_by_itself(model):
    """The same bits alone, in any place of a vector, with any number of threads."""
    chemistry, ln_c = kernel(calcite(model)), waters(1203)
    ln_c[::3, :3] += np.random.default_rng(6).uniform(-9, 0, (401, 1))  # also purer ones: they take fewer iterations
    old = np.abs(np.random.default_rng(4).normal(size=(len(ln_c), 1)))

    def results(cells):
        some, amounts = np.ascontiguousarray(ln_c[cells]), np.ascontiguousarray(old[cells])
        every = [*totals_of(chemistry, some), *rates_of(chemistry, some, amounts, 1e4), *species_of(chemistry, some, 9)]
        every += reaction_of(chemistry, some, amounts, 1e4, np.exp(some[:, 3]))
        return [np.ascontiguousarray(array.reshape(len(some), -1)) for array in every]

    whole, before = results(slice(None)), _native.threads()
    try:
        for threads in (1, 2, 3):
            _native.set_threads(threads)
            for array, right in zip(results(slice(None)), whole, strict=True):
                assert array.tobytes() == right.tobytes()
    finally:
        _native.set_threads(before)
    shuffled = np.random.default_rng(7).permutation(1203)
    for cells in (*np.split(shuffled[:40], 40), slice(3, 14), slice(700, 720), shuffled):
        for array, right in zip(results(cells), whole, strict=True):
            assert array.tobytes() == np.ascontiguousarray(right[cells]).tobytes()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 800.0, 30.0, -700.0, -745.0, -2000.0])
def test_what_is_no_water_stays_in_its_cell(model, bad):
    """NaN or infinities come out, or the limit of none of a species; the cells beside keep their bits."""
    chemistry, ln_c = kernel(calcite(model)), waters(20)
    right, right_rates = totals_of(chemistry, ln_c), rates_of(chemistry, ln_c, np.ones((20, 1)), 10.0)
    for component in range(4):
        broken = ln_c.copy()
        broken[7, component] = bad
        found = totals_of(chemistry, broken)
        found_rates = rates_of(chemistry, broken, np.ones((20, 1)), 10.0)
        for array, other in zip(found + found_rates, right + right_rates, strict=True):
            assert np.delete(array, 7, 0).tobytes() == np.delete(other, 7, 0).tobytes()
        if np.isnan(bad):
            assert np.isnan(found[0][7, component])
            assert np.isnan(found_rates[1][7]).all() or component == 3
        if bad >= 800:
            assert not np.isfinite(found[0][7, component])
        if -np.inf < bad < -700 and component != 1:  # without H+ there would be no end of OH-
            assert np.isfinite(found[0][7]).all()


@pytest.mark.parametrize("model", MODELS)
def test_water_without_ions(model):
    """Where there is nothing whose activity could change: no share of it in the derivatives either."""
    neutral = calcite(model) | {"charge": np.zeros(9)}
    for arrays, ln_c in [(neutral, waters(5)), (calcite(model, 0), np.full((3, 4), -2000.0))]:
        totals, derivative = totals_of(kernel(arrays), ln_c)
        _, strength, _ = species_of(kernel(arrays), ln_c, len(arrays["charge"]))
        assert not strength.any()
        assert np.isfinite(totals).all()
        assert np.isfinite(derivative).all()
        assert np.isfinite(rates_of(kernel(arrays), ln_c, np.ones((len(ln_c), 1)), 1.0)[2]).all()


STEEP = {  # n, m, model, seed and ln c
    "ions of a neutral species": (1, 4, "debye-hueckel", 57, [-5.65]),
    "ions of a neutral species, few others": (2, 3, "davies", 6, [-4.22, -13.9]),
    "complexes": (2, 5, "debye-hueckel", 9, [-5.89, -10.56]),
    "many complexes": (4, 5, "debye-hueckel", 55, [-3.99, -11.49, -11.35, -8.33]),
    "a brine of complexes": (3, 5, "davies", 4, [-6.34, -12.47, -8.27]),
}


@pytest.mark.parametrize("name", STEEP)
def test_the_least_strength_is_found(name):
    """Where nearly all of it is of secondary species, so that Newton's first step would lead far beyond, to where there
    is none."""
    n, m, model, seed, ln_c = STEEP[name]
    arrays = any_chemistry(n, m, 0, model, seed)
    _, strength, _ = species_of(kernel(arrays), np.array([ln_c]), n + m)
    right = plain(arrays).strength(np.array(ln_c, np.longdouble))
    assert right > 10 * (arrays["charge"][:n] ** 2 * np.exp(ln_c)).sum() / 2
    assert share(strength[0], right, right) < 1e-13


def test_a_strength_without_solution_is_not_a_number():
    """Davies' activity coefficients grow without bound in brines: no strength is consistent with itself there."""
    arrays = calcite("davies")
    _, strength, _ = species_of(kernel(arrays), np.log([[6.0, 1e-7, 6.0, 1.0], [1e-3, 1e-7, 1e-3, 1.0]]), 9)
    assert np.isnan(strength[0])
    assert 2e-3 < strength[1] < 3e-3


WRONG = {
    "charge": np.zeros(8),
    "ln_k": np.zeros(4),
    "ion_size": np.full(9, -1.0),
    "rate_constant": np.array([np.nan]),
    "mineral_stoichiometry": np.zeros((1, 3)),
    "mineral_ln_k": np.zeros(2),
    "stoichiometry": np.zeros((5, 17)),
    "model": "pitzer",
    "a": np.nan,
}


@pytest.mark.parametrize("key", WRONG)
def test_systems_that_do_not_fit_are_refused(key):
    with pytest.raises(ValueError, match=r"shape|value|model|primary|a is nan"):
        kernel(calcite() | {key: WRONG[key]})


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("totals", (np.zeros((3, 5)), np.zeros((3, 4)), None)),
        ("totals", (np.zeros((3, 4)), np.zeros((2, 4)), None)),
        ("totals", (np.zeros((3, 4)), np.zeros((3, 4)), np.zeros((3, 4, 3)))),
        ("rates", (np.zeros((3, 4)), np.zeros((3, 2)), 1.0, np.zeros((3, 1)), np.zeros((3, 1)), None)),
        ("rates", (np.zeros((3, 4)), np.zeros((3, 1)), -1.0, np.zeros((3, 1)), np.zeros((3, 1)), None)),
        ("rates", (np.zeros((3, 4)), np.zeros((3, 1)), np.nan, np.zeros((3, 1)), np.zeros((3, 1)), None)),
        ("reaction", (*[np.zeros((3, n)) for n in (4, 1)], 1.0, np.ones(4), np.zeros((3, 1)), np.zeros((3, 4)), None)),
        ("reaction", (*[np.zeros((3, n)) for n in (4, 1)], 1.0, np.ones(3), np.zeros((3, 1)), np.zeros((3, 1)), None)),
        ("species", (np.zeros((3, 4)), np.zeros((3, 9)), np.zeros(4), None)),
        ("species", (np.zeros((3, 4)), np.zeros((3, 8)), np.zeros(3), None)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(call, arguments):
    with pytest.raises(ValueError, match=r"shape|dt"):
        getattr(kernel(calcite()), call)(*arguments)


def test_arrays_are_not_converted():
    for wrong in (np.zeros((3, 4), np.float32), np.zeros((4, 3)).T, np.zeros((6, 4))[::2]):
        with pytest.raises(TypeError):
            kernel(calcite()).totals(wrong, np.zeros((3, 4)), None)
