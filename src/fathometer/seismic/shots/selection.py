"""Selection of recorded shots and traces by their headers: field record number, every n-th shot, offset."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.seismic.shots.gathers import Gather, Recording
from fathometer.seismic.shots.shot import Shot, frozen
from fathometer.seismic.survey import ConditioningTable, Survey

StepRecords = tuple[dict[str, Any], ...]  # name, parameters and counts of conditioning steps, as JSON values


def selected(
    survey: Survey, shots: tuple[Shot, ...], recording: Recording
) -> tuple[tuple[Shot, ...], Recording, StepRecords]:
    """The shots and traces that [acquisition] conditioning selects, and a record of each selection step.

    Shots are renumbered; a shot without a selected trace is left out. Raises InputError where nothing is selected.
    """
    keys = survey.acquisition.conditioning
    records: list[dict[str, Any]] = []
    place = f"{survey.path}: [acquisition] conditioning"
    if keys.shots is not None:
        traces = _traces(shots)
        chosen = _chosen_shots(keys, shots, place)
        records.append(
            {
                "step": "shots",
                "ffid": keys.shots.ffid,
                "every": keys.shots.every,
                "shots_left_out": len(shots) - len(chosen),
                "traces_left_out": traces - _traces(chosen),
            }
        )
        shots = chosen
    gathers = [recording.gathers[shot.index] for shot in shots]
    if keys.offsets is not None:
        near, far = keys.offsets
        masks = [(offset >= near) & (offset <= far) for offset in (shot.offsets for shot in shots)]
        if not any(mask.any() for mask in masks):
            all_offsets = np.concatenate([shot.offsets for shot in shots])
            raise InputError(
                f"{place}.offsets: found [{near:g}, {far:g}] m, where no trace is; the traces' offsets are "
                f"{all_offsets.min():g} to {all_offsets.max():g} m"
            )
        records.append(
            {
                "step": "offsets",
                "metres": keys.offsets,
                "shots_left_out": sum(not mask.any() for mask in masks),
                "traces_left_out": sum(int(np.count_nonzero(~mask)) for mask in masks),
            }
        )
        pairs = [
            (_with_receivers(shot, mask), Gather(gather.file[mask], gather.trace[mask]))
            for shot, gather, mask in zip(shots, gathers, masks, strict=True)
            if mask.any()
        ]
        shots, gathers = tuple(shot for shot, _ in pairs), [gather for _, gather in pairs]
    renumbered = tuple(replace(shot, index=index) for index, shot in enumerate(shots))
    return renumbered, replace(recording, gathers=tuple(gathers)), tuple(records)


def _chosen_shots(keys: ConditioningTable, shots: tuple[Shot, ...], place: str) -> tuple[Shot, ...]:
    """Every n-th shot of those in the range of field record numbers; place: of the key, for messages."""
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


def _with_receivers(shot: Shot, mask: npt.NDArray[np.bool_]) -> Shot:
    """The shot with the receivers of the mask (n,) only."""
    if mask.all():
        return shot
    return replace(shot, receivers=frozen(shot.receivers[mask]), channel=frozen(shot.channel[mask]))


def _traces(shots: tuple[Shot, ...]) -> int:
    return sum(len(shot.receivers) for shot in shots)
