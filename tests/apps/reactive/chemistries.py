"""Sets of species to test the kernel of the chemistry with: calcite in water, and random ones."""

from dataclasses import fields

import numpy as np
from plain import PlainChemistry

from fathometer import _native

LN10 = float(np.log(10))


def kernel(arrays):
    return _native.ReactiveChemistry(**arrays)


def plain(arrays):
    """The same in extended precision."""
    return PlainChemistry(
        **{
            f.name: arrays[f.name].astype(np.longdouble) if isinstance(arrays[f.name], np.ndarray) else arrays[f.name]
            for f in fields(PlainChemistry)
        }
    )


def calcite(model="davies", secondary=5):
    """Ca+2, H+, HCO3- and a tracer; OH-, CO2, CO3-2, CaHCO3+, CaCO3; calcite. Constants of phreeqc.dat (Parkhurst &
    Appelo 2013), rate constants of a made-up mineral."""
    rows = np.array([[0, -1, 0, 0], [0, 1, 1, 0], [0, -1, 1, 0], [1, 0, 1, 0], [1, -1, 1, 0]], float)
    log_k = np.array([-14.0, 6.352, -10.329, 1.106, -7.105])
    keep = [0, 1, 2, 3, *range(4, 4 + secondary)]
    return {
        "stoichiometry": rows[:secondary].copy(),
        "ln_k": log_k[:secondary] * LN10,
        "charge": np.array([2.0, 1, -1, 0, -1, 0, -2, 1, 0])[keep],
        "ion_size": np.array([5.0, 9, 5.4, 0, 3.5, 0, 5.4, 6.0, 0])[keep],
        "ion_b": np.array([0.165, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1])[keep],
        "mineral_stoichiometry": np.array([[1.0, -1, 1, 0]]),
        "mineral_ln_k": np.array([1.849 * LN10]),
        "rate_constant": np.array([1e-6]),
        "specific_area": np.array([0.05]),
        "nucleation_area": np.array([2.0]),
        "model": model,
        "a": 0.5092,
        "b": 0.3283,
    }


def waters(count, seed=1):
    """ln c (count, 4) for `calcite`: pH 5 to 9."""
    random = np.random.default_rng(seed)
    low, high = np.array([1e-5, 1e-9, 1e-4, 1e-9]), np.array([0.02, 1e-5, 0.05, 1.0])
    return np.log(low) + random.uniform(size=(count, 4)) * np.log(high / low)


def any_chemistry(primary, secondary, minerals, model, seed=1):
    """Random reactions and ions. Where the primary species have ln c = -9, the secondary ones have -14 to -9."""
    random = np.random.default_rng(seed)
    reactions = random.integers(-1, 3, (secondary, primary)).astype(float)
    dissolutions = random.integers(-1, 3, (minerals, primary)).astype(float)
    return {
        "stoichiometry": reactions,
        "ln_k": random.uniform(-14, -9, secondary) + 9 * reactions.sum(1),
        "charge": random.integers(-2, 3, primary + secondary).astype(float),
        "ion_size": random.uniform(0, 9, primary + secondary),
        "ion_b": random.uniform(-0.1, 0.2, primary + secondary),
        "mineral_stoichiometry": dissolutions,
        "mineral_ln_k": random.uniform(-1, 1, minerals) - 9 * dissolutions.sum(1),
        "rate_constant": random.uniform(0, 1e-4, minerals),
        "specific_area": random.uniform(0, 1, minerals),
        "nucleation_area": random.uniform(0, 1, minerals),
        "model": model,
        "a": 0.51,
        "b": 0.33,
    }


def totals_of(chemistry, ln_c):
    """(totals, derivative)."""
    cells, n = ln_c.shape
    totals, derivative = np.full((cells, n), np.nan), np.full((cells, n, n), np.nan)
    chemistry.totals(ln_c, totals, derivative)
    return totals, derivative


def rates_of(chemistry, ln_c, old, dt):
    """(amounts, rates, derivative)."""
    amounts, rates = np.full(old.shape, np.nan), np.full(old.shape, np.nan)
    derivative = np.full((*old.shape, ln_c.shape[1]), np.nan)
    chemistry.rates(ln_c, old, dt, amounts, rates, derivative)
    return amounts, rates, derivative


def reaction_of(chemistry, ln_c, old, dt, share):
    """(amounts, reaction, derivative)."""
    amounts, reaction = np.full(old.shape, np.nan), np.full(ln_c.shape, np.nan)
    derivative = np.full((*ln_c.shape, ln_c.shape[1]), np.nan)
    chemistry.reaction(ln_c, old, dt, share, amounts, reaction, derivative)
    return amounts, reaction, derivative


def species_of(chemistry, ln_c, count):
    """(ln activities, ionic strength, ln molalities) of `count` species."""
    activity, molality = np.full((len(ln_c), count), np.nan), np.full((len(ln_c), count), np.nan)
    strength = np.full(len(ln_c), np.nan)
    chemistry.species(ln_c, activity, strength, molality)
    return activity, strength, molality
