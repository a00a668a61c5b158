"""Time steps on a graphics card: their rate beside the card's triad, a whole migration, and a published grid."""

from __future__ import annotations

import json
import math
import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.command import fathometer
from benchmarks.table import Table
from fathometer.base.errors import FathometerError
from fathometer.base.ledger import timed
from fathometer.config.toml_text import toml_file
from fathometer.lab.stencil import ITEM_BYTES
from fathometer.parallel.decomposition import Index3
from fathometer.seismic.acoustic.probes import MATERIALS
from fathometer.seismic.waves.boundary import Pml
from fathometer.seismic.waves.card import CardPropagator
from fathometer.seismic.waves.card_library import Card, cards, open_card, triad_bytes_per_second
from fathometer.seismic.waves.homogeneous import Homogeneous, NoBoundary
from fathometer.seismic.waves.physics import PHYSICS
from fathometer.seismic.waves.propagator import Propagator

STEPS, ROUNDS = 40, 5
PUBLISHED: Index3 = (1243, 1151, 1231)
PUBLISHED_STEPS, PUBLISHED_SECONDS = 800, 242.0  # of a loop; of both, the kernel's, on 16 nodes of 2010
SHAPE: Index3 = (512, 512, 384)
SHOTS, SPACING, DURATION = 64, 12.5, 1.06  # m, s


def card_steps(threads: int, quick: bool) -> Table:
    """VTI and isotropic steps of several orders, without layers and with the default ones, in turns with the triad."""
    card = _card()
    if isinstance(card, str):
        return _nothing("Card, time steps", card)
    cells, width = (64 if quick else 512), Pml().width
    rows = []
    for physics, order in [(p, o) for p in MATERIALS for o in (4, 8, 12, 16)]:
        found = []
        for n, sides in ((cells, NoBoundary()), (cells - 2 * width, Pml())):
            wave = Homogeneous((n,) * 3, MATERIALS[physics], sides, order, propagator=CardPropagator).propagator
            _settled(wave, 2)
            seconds, bandwidth = [], []
            for _ in range(ROUNDS):
                bandwidth.append(triad_bytes_per_second(1 << (20 if quick else 28), 3))
                seconds.append(timed(partial(_settled, wave, STEPS)) / STEPS)
            wave.close()
            limit = median(bandwidth) / (ITEM_BYTES * PHYSICS[physics].fewest_moves)
            rate = cells**3 / median(seconds)
            found += [f"{rate / 1e9:.1f}", f"{rate / limit:.2f}"]
        rows.append((f"{physics}, order {order}", f"{median(bandwidth) / 1e9:.0f}", *found))
    share = 1 - math.prod([(cells - 2 * width) / cells] * 3)
    return Table(
        "Card, time steps",
        f"{card.name}: {cells}³ cells, float32, {STEPS} steps a measurement, medians of {ROUNDS}, in turns with the "
        "card's triad. The limit is the triad's bandwidth over the fewest bytes of a cell and step, "
        f"{ITEM_BYTES * PHYSICS['vti'].fewest_moves} (VTI) or {ITEM_BYTES * PHYSICS['isotropic'].fewest_moves} "
        f"(isotropic). The default absorbing layers cover {100 * share:.0f} % of these cells.",
        ("kernel", "triad, GB/s", "10⁹ cells/s", "of the limit", "with layers, 10⁹ cells/s", "of the limit"),
        tuple(rows),
    )


def card_grid(threads: int, quick: bool) -> Table:
    """The published grid on one card, for some steps; what both loops of its migration would take."""
    card = _card()
    if isinstance(card, str):
        return _nothing("Card, a published grid", card)
    shape = tuple(n // 16 for n in PUBLISHED) if quick else PUBLISHED
    medium = Homogeneous((shape[0], shape[1], shape[2]), MATERIALS["vti"], Pml(), propagator=CardPropagator)
    cells = math.prod(medium.grid.full_shape)
    _settled(medium.propagator, 2)
    seconds = [timed(partial(_settled, medium.propagator, STEPS)) / STEPS for _ in range(3)]
    medium.propagator.close()
    step = median(seconds)
    both = 2 * PUBLISHED_STEPS * step
    rows = (
        ("a step, s", f"{step:.4f}"),
        ("10⁹ cells/s", f"{cells / step / 1e9:.1f}"),
        (f"{2 * PUBLISHED_STEPS} steps, extrapolated, s", f"{both:.1f}"),
        ("published, kernel on 16 nodes, s", f"{PUBLISHED_SECONDS:.0f}"),
        ("published over extrapolated", f"{PUBLISHED_SECONDS / both:.1f}"),
    )
    return Table(
        "Card, a published grid",
        f"{card.name}: VTI, order 8, {' x '.join(map(str, shape))} homogeneous cells and the default layers "
        f"({cells / 1e9:.2f} 10⁹ cells in all), {STEPS} steps a measurement, median of {len(seconds)}. The steps of "
        "both loops of a migration are extrapolated from their rate; imaging and the history are not in them. "
        "Published: the kernel time of the same grid on 16 nodes of two Xeon X5670 (2010), 800 time steps.",
        ("what", "found"),
        rows,
    )


def card_migration(threads: int, quick: bool) -> Table:
    """A whole migration on the card, from files to image: what its seconds go to."""
    card = _card()
    if isinstance(card, str):
        return _nothing("Card, a whole migration", card)
    shape, shots = ((64, 64, 48), 2) if quick else (SHAPE, SHOTS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, shape, 0.2 if quick else DURATION, shots)
        fathometer("model", folder / "model.toml", "--quiet", "--processor", "gpu")
        wall = fathometer("migrate", folder / "migrate.toml", "--quiet", "--overwrite", "--processor", "gpu")
        record = json.loads((folder / "out" / "run.json").read_text())
    phases, beside = _phases(record["ledger"]["phases"]), _phases(record["ledger"]["overlapped"])
    steps = phases.get("source propagation", 0.0) + phases.get("receiver propagation", 0.0)
    others = sorted((-of, name) for name, of in phases.items() if not name.endswith("propagation"))[:12]
    by_threads = sorted((-of, name) for name, of in beside.items() if not name.endswith("on the card"))[:6]
    rows = [
        ("wall time", f"{wall:.1f}"),
        ("time steps", f"{steps:.1f}"),
        ("of these the card at work, by its events", f"{beside.get('steps on the card', 0.0):.1f}"),
        ("time steps over the wall time", f"{steps / wall:.2f}"),
        *((name, f"{-of:.2f}") for of, name in others),
        *((f"beside the time steps: {name}", f"{-of:.2f}") for of, name in by_threads),
    ]
    results = record["results"]
    history = results["history"]
    return Table(
        "Card, a whole migration",
        f"{card.name}: {shots} shots on {' x '.join(map(str, shape))} cells and layers, VTI, order 8, "
        f"{results['steps']} steps a loop, {history['snapshots']} snapshots as {history['encoding']}, store "
        f"`{history['store']}`; `fathometer migrate` from start to exit, and its largest phases. Beside the time steps "
        "the next shot is read, and the image of the one before written and summed.",
        ("what", "s"),
        tuple(rows),
    )


def prepare(folder: Path, shape: Index3, duration: float, shots: int) -> None:
    """Model and surveys of shots over a reflector; each has a receiver every eight cells."""
    x, y, _ = ((n - 1) * SPACING for n in shape)
    speeds = 2000 + 0.4 * SPACING * np.arange(shape[2], dtype=np.float32)
    speeds[shape[2] // 2 :] += 400
    volumes = {"vp": speeds, "epsilon": np.full(shape[2], 0.15), "delta": np.full(shape[2], 0.08)}
    for name, values in volumes.items():
        np.save(folder / f"{name}.npy", np.broadcast_to(values.astype(np.float32), shape))
    step, apart = 8 * SPACING, 3 * SPACING
    common: dict[str, Any] = {
        "model": {name: f"{name}.npy" for name in volumes} | {"spacing": [SPACING] * 3},
        "wavelet": {"kind": "ricker", "peak_frequency": 12.0},
    }
    geometry = {
        "sources": {"x": [0.3 * x, 0.3 * x + (shots - 1) * apart, apart], "y": 0.5 * y, "z": SPACING},
        "receivers": {"x": [0.0, x // step * step, step], "y": [0.0, y // step * step, step], "z": 2 * SPACING},
    }
    surveys = {
        "model": {"propagation": {"duration": duration}, "acquisition": geometry, "output": {"directory": "modelled"}},
        "migrate": {
            "acquisition": {"gathers": "modelled/shots.segy"},
            "parallel": {"ranks_per_shot": 1},
            "output": {"directory": "out"},
        },
    }
    for name, more in surveys.items():
        (folder / f"{name}.toml").write_text(toml_file(common | more))


def _phases(entries: list[dict[str, Any]]) -> dict[str, float]:
    """Seconds of each phase, its categories together, means of the ranks."""
    phases: dict[str, float] = {}
    for one in entries:
        seconds = one["seconds"]
        phases[one["phase"]] = phases.get(one["phase"], 0.0) + float(
            seconds["mean"] if isinstance(seconds, dict) else seconds
        )
    return phases


def _settled(wave: Propagator, steps: int) -> None:
    wave.advance(steps)
    wave.settle()


def _card() -> Card | str:
    """The first card, or why there is none."""
    try:
        cards()
        return open_card(0)
    except FathometerError as error:
        return str(error)


def _nothing(title: str, reason: str) -> Table:
    return Table(title, f"Left out: {reason}.", (), ())
