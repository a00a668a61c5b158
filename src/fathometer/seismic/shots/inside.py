"""Sources and receivers within the model: those beside it are moved to its side, left out or refused."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.shots.gathers import point
from fathometer.seismic.shots.selection import kept
from fathometer.seismic.shots.shot import Shot, frozen
from fathometer.storage.traces.place_doubts import on_places

Positions = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

LEAST_SPREAD = 0.05  # of the model's width: a survey that covers less of it is no survey of this model
_ROUNDING = 1e-3  # m; positions up to so far outside the box count as inside, because SEG-Y rounds coordinates


@dataclass(frozen=True, eq=False)
class Box:
    """The places of a model, sides included.

    Attributes:
        lower, upper: (3,), m; in 2D lower[1] = upper[1] = 0, as in the shots. spacing: of the cells, (3,), m.
    """

    lower: Positions
    upper: Positions
    spacing: Positions

    @classmethod
    def of(cls, grid: Grid) -> Box:
        """The box of a model's grid, without padding."""
        lower, upper = np.array(grid.origin), np.array(grid.upper)
        if grid.two_dimensional:
            lower[1] = upper[1] = 0.0
        return cls(lower, upper, np.array(grid.spacing))

    def outside(self, positions: Positions) -> Mask:
        """For each position (…, 3), m, whether it lies outside the box."""
        inside = (positions >= self.lower - _ROUNDING) & (positions <= self.upper + _ROUNDING)
        return np.asarray(~np.all(inside, axis=-1))  # so that NaN is outside


def within(acquisition: Acquisition, box: Box, drop: bool) -> Acquisition:
    """The acquisition with all sources and receivers in the box, and notes on those that were not.

    Those up to half a cell outside are moved to its side. Of the others, with `drop`, shots whose source lies outside
    are left out, and of the other shots the receivers outside. Raises InputError for positions outside without `drop`,
    and where none is inside.
    """
    acquisition = snapped(acquisition, box)
    if drop:
        acquisition = _without_outside(acquisition, box)
    check_inside(acquisition, box, drop)
    return acquisition


def _without_outside(acquisition: Acquisition, box: Box) -> Acquisition:
    """The acquisition without what lies outside the box; itself where nothing or everything does."""
    masks: list[Mask] = []
    spread, inside = np.empty((0, 3)), np.empty(0, np.bool_)
    sources = 0
    for shot in acquisition.shots:
        if shot.receivers is not spread:  # many shots may share one array
            spread, inside = shot.receivers, ~box.outside(shot.receivers)
        out = bool(box.outside(shot.source))
        sources += out
        masks.append(np.zeros_like(inside) if out else inside)
    if all(mask.all() for mask in masks) or not any(mask.any() for mask in masks):
        return acquisition
    record = {"step": "outside", "sources_outside": sources}
    shots, recording, record = kept(acquisition.shots, acquisition.recording, masks, record)
    total = sum(len(mask) for mask in masks)
    note = (
        f"{acquisition.name}: [acquisition] outside: {record['shots_left_out']} of {len(acquisition.shots)} shots and "
        f"{record['traces_left_out']} of {total} traces are left out, since their source or receiver lies outside the "
        "model"
    )
    conditioning = replace(acquisition.conditioning, selected=(*acquisition.conditioning.selected, record))
    notes = (*acquisition.notes, note)
    return replace(acquisition, shots=shots, recording=recording, conditioning=conditioning, notes=notes)


def snapped(acquisition: Acquisition, box: Box) -> Acquisition:
    """The acquisition with sources and receivers that lie up to half a cell outside the box moved to its side, and a
    note on them: the coordinates of a rotated survey are rounded. Others stay as they are, to the bit."""
    reach = box.spacing / 2

    def moved(positions: Positions) -> tuple[Positions, int, float]:
        """The positions (n, 3), how many were moved, and how far at most, m."""
        inside = np.clip(positions, box.lower, box.upper)
        off = np.abs(positions - inside)
        near = np.asarray((off > _ROUNDING).any(axis=-1) & (off <= reach).all(axis=-1))
        if not near.any():
            return positions, 0, 0.0
        return frozen(np.where(near[:, None], inside, positions)), int(near.sum()), float(off[near].max())

    shots: list[Shot] = []
    sources = receivers = 0
    most = 0.0
    spread, placed, count, far = np.empty((0, 3)), np.empty((0, 3)), 0, 0.0
    for shot in acquisition.shots:
        source, of_source, source_far = moved(shot.source[None])
        if shot.receivers is not spread:  # many shots may share one array
            spread = shot.receivers
            placed, count, far = moved(spread)
        sources, receivers, most = sources + of_source, receivers + count, max(most, source_far, far)
        shots.append(replace(shot, source=source[0], receivers=placed) if of_source or count else shot)
    if not sources + receivers:
        return acquisition
    note = (
        f"{acquisition.name}: [acquisition]: {sources} sources and {receivers} receivers lie up to {most:.3g} m "
        "outside the model, half a cell at most: they are taken to be on its side"
    )
    return replace(acquisition, shots=tuple(shots), notes=(*acquisition.notes, note))


def check_inside(acquisition: Acquisition, box: Box, dropped: bool = False) -> None:
    """Check that sources and receivers lie in the box. Raises InputError with the number of positions outside, the
    first of them and the box. dropped: what lies outside would have been left out, had anything been left."""
    violations = _violations(acquisition, box.outside)
    if violations:
        counts, first = violations
        drop = ', [acquisition] outside = "drop" leaves them out'
        if dropped:
            drop = '; no shot is left with [acquisition] outside = "drop"'
        raise InputError(
            f"{acquisition.name}: [acquisition]: {counts} lie outside the model; first: {first} m; "
            f"allowed: from {point(box.lower)} to {point(box.upper)} m, and half a cell; `fathometer prepare --extend` "
            f"makes a larger model{drop}"
        )


def other_places(acquisition: Acquisition, box: Box) -> tuple[str, ...]:
    """What would have all sources and receivers of an acquisition in the box, where some lie outside: the other sign of
    depths, a model in metres; nothing where neither does."""
    for factor, words in (
        ((1, 1, -1), "all of them lie inside with the other sign of z: depths are positive downward"),
        (
            (1e-3, 1e-3, 1e-3),
            "all would lie inside a model 1000 times as large: are its spacing and origin in m?",
        ),
    ):
        places = (place * factor for shot in acquisition.shots for place in (shot.source[None], shot.receivers))
        least, most = np.full(3, np.inf), np.full(3, -np.inf)
        for place in places:
            if (np.abs(place - np.clip(place, box.lower, box.upper)) > box.spacing / 2).any():
                break
            least, most = np.minimum(least, place.min(axis=0)), np.maximum(most, place.max(axis=0))
        else:
            if (most - least)[:2].max() > LEAST_SPREAD * (box.upper - box.lower)[:2].max():
                return (words,)
    return ()


@contextlib.contextmanager
def doubted(acquisition: Acquisition) -> Iterator[None]:
    """Adds to an InputError on places what the headers of the gathers have that speaks against these."""
    try:
        yield
    except InputError as error:
        raise InputError("; ".join((str(error), *on_places(acquisition.notes)))) from None


def check_below(acquisition: Acquisition, surface: float) -> None:
    """Check that sources and receivers lie below the depth `surface` (m) of a free surface.

    Pressure is zero on it, so sources there inject nothing and receivers record nothing. Raises InputError.
    """
    violations = _violations(acquisition, lambda positions: ~np.asarray(positions[..., 2] > surface + _ROUNDING))
    if violations:
        counts, first = violations
        raise InputError(
            f"{acquisition.name}: [acquisition]: {counts} lie in the free surface, where pressure is zero; "
            f"first: {first} m; allowed: a depth of more than {surface:g} m"
        )


def _violations(acquisition: Acquisition, wrong: Callable[[Positions], Mask]) -> tuple[str, str] | None:
    """How many sources and receivers have a wrong position (…, 3) and the first of them, as text; None: none has."""
    sources = receivers = all_receivers = 0
    first = ""
    spread, bad = np.empty((0, 3)), np.empty(0, np.int64)
    for shot in acquisition.shots:
        all_receivers += len(shot.receivers)
        if wrong(shot.source):
            sources += 1
            first = first or f"the source of shot {shot.index + 1} (FFID {shot.ffid}) at {point(shot.source)}"
        if shot.receivers is not spread:  # many shots may share one array
            spread, bad = shot.receivers, np.flatnonzero(wrong(shot.receivers))
        receivers += len(bad)
        if len(bad):
            first = first or (
                f"the receiver of shot {shot.index + 1} (FFID {shot.ffid}), channel {shot.channel[bad[0]]}, "
                f"at {point(shot.receivers[bad[0]])}"
            )
    if not first:
        return None
    return f"{sources} of {len(acquisition.shots)} sources and {receivers} of {all_receivers} receivers", first
