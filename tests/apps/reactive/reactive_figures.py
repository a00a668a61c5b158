"""Prints what the tests of reactive flow compare, for docs/verification.md (tools/figures.py reactive)."""

import math

import numpy as np
import test_solver_accuracy as a
import test_solver_steps as s
from phreeqc import Phreeqc

from fathometer.apps.reactive.chemistry.assembly import system_of
from fathometer.apps.reactive.chemistry.constraints import ChargeBalance, Pressure, Saturation, Total
from fathometer.apps.reactive.chemistry.data_file import read_chemistry
from fathometer.apps.reactive.chemistry.description import describe
from fathometer.apps.reactive.chemistry.speciation import water

PRIMARY, SECONDARY = ("Ca+2", "H+", "HCO3-", "Tracer"), ("OH-", "CO2(aq)", "CO3-2", "CaHCO3+", "CaCO3(aq)")


def figures() -> None:
    """All of it."""
    for scheme in ("central", "limited", "upwind"):
        print(f"Ogata-Banks, 200 cells, Pe 50, {scheme}: L2 {100 * a.difference(*a.column(200, 400, scheme)):.2f} %")
    for scheme in ("central", "limited", "upwind"):
        grids = [a.coarse(a.pulse(cells, 4, scheme, 8e4), 64) for cells in (64, 128, 256, 512)]
        print(f"order in space, {scheme}: {a.orders(grids)[-1]:.2f}")
    print(f"order in time: {a.orders([a.pulse(100, n, 'central', 2e5) for n in (20, 40, 80, 160)])[-1]:.2f}")
    for scheme in ("central", "limited"):
        solver = s.column(scheme=scheme)
        before, left = solver.moles(), np.zeros(4)
        for dt in (1e3, 3e3, 1e4, 1e4, 3e4):
            s.steps(solver, dt)
            left += solver.outflow()
        after = solver.moles()
        error = np.abs(before - after - left) / np.max(np.abs([before, after, left]), axis=0)
        print(f"moles of each component, {scheme}: {error.max():.1e}")
    for scheme in ("central", "limited"):
        waters = np.array([s.neutral(s.RESTING), s.neutral(s.ACID)])
        solver = s.column(waters=waters, scheme=scheme)
        s.steps(solver, 1e3, 1e4, 1e4)
        charge = np.abs(solver.totals() @ s.SYSTEM.charge[:4]).max() / np.exp(waters).max()
        print(f"charge over the largest molality, {scheme}: {charge:.1e}")
    solver = s.column(scheme="central", options="-ksp_rtol 1e-13 -sub_pc_type lu")
    solver.step(2e3)
    norms = [norm for norm in s.steps(solver, 2e3).norms if norm > 1e-13]
    pairs = zip(norms, norms[1:], norms[2:], strict=False)
    exponents = [math.log(three / two) / math.log(two / one) for one, two, three in pairs]
    print(f"Newton's method: norms {', '.join(f'{n:.1e}' for n in norms)}; last exponent {exponents[-1]:.2f}")
    data = read_chemistry()
    for activity in ("davies", "debye-hueckel"):
        system = system_of(data, PRIMARY, ["Calcite"], ["CO2(g)"], activity, SECONDARY)
        for exponent in (-3.5, -3.0):
            gas = {"HCO3-": Pressure("CO2(g)", 10**exponent), "H+": ChargeBalance()}
            known = water(system, {"Ca+2": Saturation("Calcite"), "Tracer": Total(1e-3)} | gas)
            ours = describe(system, known)
            theirs = Phreeqc(data, (*PRIMARY, *SECONDARY), activity).water(
                {"pH": 7, "Tracer": 1e-3}, {"Calcite": 0.0, "CO2(g)": exponent}
            )
            totals = ours["totals_mol_per_kg"]
            off = [abs(totals[name] / theirs[key] - 1) for name, key in (("Ca+2", "Ca"), ("HCO3-", "C"))]
            acidity = f"pH {ours['pH']:.4f}, off PHREEQC's {ours['pH'] - theirs['pH']:.1e}"
            print(f"calcite at pCO2 10^{exponent}, {activity}: {acidity}; Ca {off[0]:.1e}, C {off[1]:.1e} relative")
