"""Which of the recorded shots and traces are taken, by what their headers say: field record, step, offset."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.seismic.shots.gathers import Gather, Recording
from fathometer.seismic.shots.shot import Shot, frozen
from fathometer.seismic.survey import ConditioningTable, Survey

Told = tuple[dict[str, Any], ...]


def selected(survey: Survey, shots: tuple[Shot, ...], recording: Recording) -> tuple[tuple[Shot, ...], Recording, Told]:
    """The shots and traces that [acquisition] conditioning chooses, and what was left out, step by step.

    Shots are numbered anew; a shot of which no trace is left is left out. Raises InputError where nothing is left.
    """
    keys = survey.acquisition.conditioning
    told: list[dict[str, Any]] = []
    place = f"{survey.path}: [acquisition] conditioning"
    if keys.shots is not None:
        traces = _traces(shots)
        kept = _chosen_shots(keys, shots, place)
        told.append(
            {
                "step": "shots",
                "ffid": keys.shots.ffid,
                "every": keys.shots.every,
                "shots_left_out": len(shots) - len(kept),
                "traces_left_out": traces - _traces(kept),
            }
        )
        shots = kept
    gathers = [recording.gathers[shot.index] for shot in shots]
    if keys.offsets is not None:
        near, far = keys.offsets
        masks = [(offset >= near) & (offset <= far) for offset in map(offsets, shots)]
        if not any(mask.any() for mask in masks):
            found = np.concatenate([offsets(shot) for shot in shots])
            raise InputError(
                f"{place}.offsets: found [{near:g}, {far:g}] m, where no trace is; the traces' offsets are "
                f"{found.min():g} to {found.max():g} m"
            )
        told.append(
            {
                "step": "offsets",
                "metres": keys.offsets,
                "shots_left_out": sum(not mask.any() for mask in masks),
                "traces_left_out": sum(int(np.count_nonzero(~mask)) for mask in masks),
            }
        )
        pairs = [
            (_cut(shot, mask), Gather(gather.file[mask], gather.trace[mask]))
            for shot, gather, mask in zip(shots, gathers, masks, strict=True)
            if mask.any()
        ]
        shots, gathers = tuple(shot for shot, _ in pairs), [gather for _, gather in pairs]
    numbered = tuple(replace(shot, index=index) for index, shot in enumerate(shots))
    return numbered, replace(recording, gathers=tuple(gathers)), tuple(told)


def offsets(shot: Shot) -> npt.NDArray[np.float64]:
    """Horizontal distances (n,) of a shot's receivers from its source, m."""
    away = shot.receivers[:, :2] - shot.source[:2]
    return np.asarray(np.sqrt(away[:, 0] ** 2 + away[:, 1] ** 2))


def _chosen_shots(keys: ConditioningTable, shots: tuple[Shot, ...], place: str) -> tuple[Shot, ...]:
    assert keys.shots is not None
    ffid = keys.shots.ffid
    if ffid is not None:
        within = tuple(shot for shot in shots if ffid[0] <= shot.ffid <= ffid[1])
        if not within:
            numbers = [shot.ffid for shot in shots]
            raise InputError(
                f"{place}.shots.ffid: found [{ffid[0]}, {ffid[1]}], in which none of the {len(shots)} shots is; "
                f"their FFIDs are {min(numbers)} to {max(numbers)}"
            )
        shots = within
    return shots[:: keys.shots.every]


def _cut(shot: Shot, mask: npt.NDArray[np.bool_]) -> Shot:
    """A shot with some of its receivers."""
    if mask.all():
        return shot
    return replace(shot, receivers=frozen(shot.receivers[mask]), channel=frozen(shot.channel[mask]))


def _traces(shots: tuple[Shot, ...]) -> int:
    return sum(len(shot.receivers) for shot in shots)
