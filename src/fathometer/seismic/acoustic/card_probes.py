"""What benchmarks of a machine measure of its graphics cards: memory, copies, time steps, what opening one costs.

Of one card, by the process that calibrates. Nothing is loaded where no kernels for cards were built.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from fathometer.base.errors import FathometerError
from fathometer.base.host import available_memory, resident_memory
from fathometer.base.ledger import timed
from fathometer.parallel.decomposition import Index3
from fathometer.plan.machine_file import GraphicsCard, Rate
from fathometer.runs.probes import SecondsOf
from fathometer.seismic.acoustic.probes import MATERIALS, ORDERS, STEPS
from fathometer.seismic.setup.processor import kernels_built
from fathometer.seismic.waves.boundary import Pml
from fathometer.seismic.waves.homogeneous import Homogeneous
from fathometer.seismic.waves.physics import PHYSICS

if TYPE_CHECKING:
    from fathometer.seismic.waves.propagator import Propagator

SIZES: dict[int, tuple[Index3, ...]] = {  # absorbing layers come to them; the last ones where the memory allows
    3: ((40, 40, 40), (96, 96, 96), (200, 200, 200), (512, 512, 512)),
    2: ((100, 1, 100), (500, 1, 400), (2500, 1, 1200), (8000, 1, 4000)),
}
TRIAD_NUMBERS, COPY_BYTES = 1 << 28, 1 << 28  # of an array; of a copy
SHARE = 0.5  # of what a card has free: arrays of a measurement
HOST_BYTES = 64  # of a cell, while a homogeneous model is made
ITEM_BYTES, ARRAYS = 4, 1.5  # float32; times the arrays of a step: padding and layers
CALLS = 2  # for STEPS time steps that are begun before they are waited for
MOST_SECONDS = 4.0  # of STEPS on a grid, as the one before it suggests; larger grids are left out
SMALL, SHORT_CALLS = (8, 8, 8), 50  # cells; calls for a step of a grid that costs nothing


def card_figures(seconds_of: SecondsOf, say: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """The machine file's section of graphics cards; nothing where there is none that can be used, which `say` tells if
    kernels for cards were built."""
    if not kernels_built():
        return
    from fathometer.seismic.waves.card_library import (
        cards,
        copy_bytes_per_second,
        free_bytes,
        open_card,
        triad_bytes_per_second,
    )

    try:
        count, before = cards(), resident_memory()
        start = timed(partial(_first_use, 0))
        process = max(0, resident_memory() - before)
        card = open_card(0)
        say(f"graphics card: {card}")
        room = int(SHARE * free_bytes(0))
        triad = triad_bytes_per_second(max(4, min(TRIAD_NUMBERS, room // 12) // 4 * 4))
        into, back = (copy_bytes_per_second(way, min(COPY_BYTES, room)) for way in (True, False))
        section = GraphicsCard(
            name=card.name,
            per_node=count,
            memory_bytes=float(card.memory_bytes),
            triad_bytes_per_second=triad,
            to_card_bytes_per_second=into,
            from_card_bytes_per_second=back,
            rates=tuple(_rates(room, seconds_of, say)),
            step_seconds=_step_seconds(seconds_of),
            start_seconds=start,
            process_bytes=float(process),
        )
    except FathometerError as error:
        say(f"no graphics card is measured: {error}")
        return
    yield {"card": section.model_dump()}


def _on_card(shape: Index3, name: str, order: int, boundary: Pml) -> Propagator:
    """A wavefield at rest in a homogeneous model."""
    from fathometer.seismic.waves.card import CardPropagator

    return Homogeneous(shape, MATERIALS[name], boundary, order, propagator=CardPropagator).propagator


def _first_use(number: int) -> None:
    """All that a process does until a card has taken a step."""
    from fathometer.seismic.waves.card_library import open_card

    open_card(number)
    wave = _on_card(SMALL, "vti", 2, Pml(4))
    _advance(wave, 1, 1)
    wave.close()


def _advance(wave: Propagator, calls: int, steps: int) -> None:
    """Take time steps, and wait for them."""
    for _ in range(calls):
        wave.advance(steps)
    wave.settle()


def _rates(room: int, seconds_of: SecondsOf, say: Callable[[str], None]) -> Iterator[Rate]:
    """Of all equations and dimensions. room: bytes of the card."""
    for name, material in MATERIALS.items():
        for dimensions, shapes in SIZES.items():
            say(f"time steps on the card, {material.name}, {dimensions}D")
            for order in ORDERS:
                yield from _rates_of(name, 3 if dimensions == 3 else 2, order, shapes, room, seconds_of)


def _rates_of(
    name: str, dimensions: Literal[2, 3], order: int, shapes: Sequence[Index3], room: int, seconds_of: SecondsOf
) -> Iterator[Rate]:
    """Of grids of rising size, as far as memory and patience last."""
    width, fastest = Pml().width, 0.0
    for shape in shapes:
        points = math.prod(n if n == 1 else n + 2 * width for n in shape)
        fits = ARRAYS * ITEM_BYTES * PHYSICS[name].arrays * points < room and HOST_BYTES * points < available_memory()
        if not fits or STEPS * points > MOST_SECONDS * (fastest or math.inf):
            return
        wave = _on_card(shape, name, order, Pml())
        seconds = seconds_of(partial(_advance, wave, CALLS, STEPS))
        wave.close()
        fastest = CALLS * STEPS * points / seconds
        yield Rate(physics=name, dimensions=dimensions, order=order, points=float(points), points_per_second=fastest)


def _step_seconds(seconds_of: SecondsOf) -> float:
    """Of each call for a step of a grid that costs nothing; calls are not waited for."""
    wave = _on_card(SMALL, "vti", 2, Pml(4))
    seconds = seconds_of(partial(_advance, wave, SHORT_CALLS, 1)) / SHORT_CALLS
    wave.close()
    return seconds
