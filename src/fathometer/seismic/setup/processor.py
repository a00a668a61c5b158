"""What takes the time steps of acoustic waves: the processors, or a graphics card for each rank.

Kernels for cards are an extension (`make cuda`). Everything here asks for it, or for a card, only where the survey
does: without it, nothing is loaded.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mpi4py import MPI

from fathometer.base.errors import FathometerError, InputError, naming
from fathometer.base.formatting import bytes_in_words
from fathometer.base.host import built_library
from fathometer.parallel.collectives import allgather, barrier, collective_errors
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.setup.survey_layout import SurveyLayout
from fathometer.seismic.waves.card_library import LIBRARY
from fathometer.seismic.waves.card_memory import card_wavefield_bytes
from fathometer.seismic.waves.checked_steps import MOST_STEPS
from fathometer.seismic.waves.points import POINT_BYTES
from fathometer.seismic.waves.propagator import Propagator
from fathometer.seismic.waves.recording import lines_bytes

if TYPE_CHECKING:
    from fathometer.seismic.waves.card_library import Card

CARD_SHARE = 0.95  # of a card's free memory that a run takes: the driver takes some for itself
SERIES = 3  # of an advance, that are on the card at the same time
OTHERS_BYTES = 2 << 30  # that others have of a card's memory, from which on people are told
TRIAD_NUMBERS, TRIAD_BYTES, TRIAD_RUNS = 1 << 26, 12, 5  # of an array; of one number in the three; the best counts
TRIAD_SHARE = 0.25  # of what a card has free at the end of a run
ON_CARD = ("wavefields", "absorbing layers")  # parts of a wavefield's memory that are not on the host then


@dataclass(frozen=True)
class Processor:
    """What takes the time steps of a run.

    Attributes:
        card: of this rank; None: the processors. ranks_on_card: that share it. wanted: by the survey.
        notes: for people.
    """

    card: Card | None = None
    ranks_on_card: int = 1
    wanted: str = "cpu"
    notes: tuple[str, ...] = ()

    @property
    def propagator(self) -> type[Propagator]:
        """The kind of wavefield."""
        if self.card is None:
            return Propagator
        from fathometer.seismic.waves.card import CardPropagator

        return CardPropagator

    def __str__(self) -> str:
        """For people; "" of processors."""
        if self.card is None:
            return ""
        shared = f", {self.ranks_on_card} ranks a card" if self.ranks_on_card > 1 else ""
        return f"time steps on a graphics card: {self.card}{shared}"

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, for the record."""
        if self.card is None:
            return {"kind": "cpu"}
        return {"kind": "gpu", "ranks_per_card": self.ranks_on_card} | vars(self.card)

    def roofline(self, comm: MPI.Intracomm) -> dict[str, Any]:
        """Collective. Of the cards of all ranks together, measured now: triad_bytes_per_second, whose it is, and a
        sentence on its source; {} where one of them cannot do it."""
        from fathometer.seismic.waves.card_library import CardError, free_bytes, triad_bytes_per_second

        assert self.card is not None
        rate = 0.0
        barrier(comm)
        with contextlib.suppress(CardError):
            numbers = int(TRIAD_SHARE * free_bytes(self.card.number) / self.ranks_on_card) // TRIAD_BYTES
            rate = triad_bytes_per_second(max(4, min(TRIAD_NUMBERS, numbers) // 4 * 4), TRIAD_RUNS)
        found = allgather(comm, (rate, (self.card.name, socket.gethostname(), self.card.number)))
        if not all(rate for rate, _ in found):
            return {}
        cards: dict[tuple[str, str, int], float] = {}  # ranks that share a card take turns
        for rate, card in found:
            cards[card] = max(rate, cards.get(card, 0.0))
        names = " and ".join(dict.fromkeys(name for name, _, _ in sorted(cards)))
        device = f"the graphics card ({names})" if len(cards) == 1 else f"{len(cards)} graphics cards ({names})"
        return {
            "triad_bytes_per_second": sum(cards.values()),
            "device": device,
            "source": f"Triad of {device}, measured at the end of the run, all ranks at once.",
        }

    def left(self, parts: Mapping[str, int]) -> int:
        """Bytes of the card's memory for one of its ranks beside these parts; 0 of processors."""
        if self.card is None:
            return 0
        return max(0, self._room(self.card) - sum(parts.values()))

    def _room(self, card: Card) -> int:
        return int(CARD_SHARE * card.free_bytes / self.ranks_on_card)

    def fitted(self, layout: SurveyLayout, block: Decomposition, comm: MPI.Intracomm) -> Processor:
        """Collective. The same where a shot fits the cards of all ranks; else the processors, if the survey leaves the
        choice. Raises InputError on all ranks where it does not."""
        if self.card is None:
            return self
        parts = card_parts(layout, block, _volumes(layout))
        have = self._room(self.card)
        worst = max(
            allgather(comm, (sum(parts.values()) - have, parts, have, self.card.name)), key=lambda entry: entry[0]
        )
        excess, parts, have, name = worst
        if excess <= 0:
            return self
        listed = ", ".join(f"{what} {bytes_in_words(b)}" for what, b in sorted(parts.items(), key=lambda p: -p[1]))
        text = (
            f"too little memory on the graphics card ({name}): {bytes_in_words(sum(parts.values()))} needed by a rank, "
            f"of {bytes_in_words(have)} ({listed})"
        )
        if self.wanted == "auto":
            return Processor(notes=(f"the processors take the time steps: {text}",))
        raise InputError(
            f'{layout.survey.path}: [parallel] processor: found "gpu"; {text}; use more ranks with a card each, larger '
            'cells, [imaging] aperture, or processor = "cpu"'
        )


def kernels_built() -> bool:
    """Whether the kernels for cards were."""
    return bool(os.environ.get(LIBRARY)) or built_library("card") is not None


def choose_processor(layout: SurveyLayout, comm: MPI.Intracomm) -> Processor:
    """Collective. What the survey asks for; cards are opened, a rank on one of its host's in turns.

    Raises InputError on all ranks where it asks for cards and some rank has none, or the kernels were not built.
    """
    wanted = layout.survey.parallel.processor
    if wanted == "cpu" or (wanted == "auto" and not kernels_built()):
        return Processor()
    barrier(comm)
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    place, ranks = host.rank, host.size
    host.Free()
    card, error = None, ""
    try:
        card, sharing = _opened(place, ranks)
    except FathometerError as reason:
        error, sharing = str(reason), 1
    errors = [text for text in allgather(comm, error) if text]
    if not errors:
        assert card is not None
        return Processor(card, sharing, wanted, _notes(card, sharing))
    if wanted == "auto":
        return Processor(notes=(f"the processors take the time steps: {errors[0]}",))
    with collective_errors(comm), naming(f"{layout.survey.path}: [parallel]"):
        raise InputError(errors[0])


def card_parts(layout: SurveyLayout, block: Decomposition, volumes: int) -> dict[str, int]:
    """Bytes of a card by part: a wavefield, and `volumes` that correlations go to, with the snapshot in hand."""
    parts = card_wavefield_bytes(
        layout.physics, block, layout.radius, layout.off_grid, layout.boundary, layout.grid, layout.dtype
    )
    if volumes:
        _, most = layout.receivers(block)
        lines = (
            0 if layout.imaging else 3 * lines_bytes(most, layout.off_grid, layout.grid.two_dimensional, MOST_STEPS, 8)
        )
        parts["images"] = (volumes + 2) * layout.snapshot_bytes(block)
        parts["points"] = most * (POINT_BYTES + SERIES * MOST_STEPS * layout.dtype.itemsize) + lines
    return parts


def host_parts(processor: Processor, parts: Mapping[str, int]) -> dict[str, int]:
    """Of a wavefield's bytes by part those that the host has."""
    return {name: 0 if processor.card is not None and name in ON_CARD else bytes for name, bytes in parts.items()}


def _volumes(layout: SurveyLayout) -> int:
    from fathometer.seismic.shots.offsets import volumes_of

    return len(volumes_of(layout.survey.imaging)) if layout.imaging else 1


def _opened(place: int, ranks: int) -> tuple[Card, int]:
    """The card of a rank, and ranks that share it."""
    from fathometer.seismic.waves.card_library import cards, open_card

    count = cards()
    return open_card(place % count), math.ceil(ranks / count)


def _notes(card: Card, sharing: int) -> tuple[str, ...]:
    if sharing > 1 or card.in_use < OTHERS_BYTES:
        return ()
    return (f"graphics card: others have {bytes_in_words(card.in_use)} of its memory, and may slow it down",)
