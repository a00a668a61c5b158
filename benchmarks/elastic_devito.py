"""Elastic time steps beside Devito's, in turns; see beside_devito.py."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.beside_devito import RELEASE, Devito, row
from benchmarks.table import Table
from fathometer import _native
from fathometer.config.sections import TuningTable
from fathometer.grid.tuning import best_tiling
from fathometer.lab.turns import interleave
from fathometer.parallel.threads import ThreadCounts
from fathometer.seismic.elastic.homogeneous import DENSITY, SPACING, VP, VS, homogeneous

PROGRAM = Path(__file__).resolve().parent / "elastic_devito_program.py"
STEPS, CHECKED, WIDTH = 24, 12, 10
STRESSES = ("sxx", "syy", "szz")


def elastic_devito(threads: int, quick: bool) -> Table:
    """Both with `threads` threads."""
    side, rounds = (96, 2) if quick else (240, 7)
    _native.set_threads(threads)
    wave = homogeneous((side,) * 3, WIDTH, False, False)
    wave.threads = ThreadCounts(threads, threads, threads)
    best_tiling(wave, TuningTable(), STEPS, threads, print)
    wanted = {"side": side, "spacing": SPACING, "dt": wave.scheme.dt, "medium": [VP, VS, DENSITY], "width": WIDTH}
    with Devito(threads, PROGRAM, **wanted) as other:
        ours, theirs = _norm(side), other.ask("check", CHECKED)
        if abs(ours - theirs) > 1e-3 * ours:
            raise RuntimeError(f"Devito's vz has another norm: {theirs:.6g}, not {ours:.6g}")
        times = interleave({"theirs": partial(other.ask, "steps", STEPS), "ours": partial(wave.advance, STEPS)}, rounds)
    return Table(
        f"Elastic waves beside Devito, {threads} threads",
        f"{RELEASE.replace('==', ' ')} with OpenMP and its most thorough tuning: velocity and stress on a staggered "
        f"grid, order 4, float32, moduli and densities as arrays; layers of {WIDTH} cells at all sides, Devito's a "
        f"damping mask, Fathometer's a PML. {STEPS} steps at a time without receivers, the tiling from a search; "
        f"without layers both come to the same vz. In turns, medians of {rounds} rounds, and the range of the ratios.",
        ("what", "Devito", "Fathometer", "ratio", "range", "wanted"),
        (row(f"an elastic step of {side}³ cells, ms", times["theirs"], times["ours"], 1e3 / STEPS, "1.8"),),
    )


def _norm(side: int) -> float:
    """Of vz after some steps from a Gaussian of normal stresses, without layers."""
    wave = homogeneous((side,) * 3, 0, False, False)
    line = np.exp(-((np.arange(side) - side // 2) ** 2) / 50.0)
    for name in STRESSES:
        wave.field(name)[...] = line[:, None, None] * line[:, None] * line
    wave.advance(CHECKED)
    norm = float(np.linalg.norm(wave.field("vz")))
    wave.close()
    return norm
