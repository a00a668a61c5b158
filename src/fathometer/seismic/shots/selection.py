"""Selection of recorded shots and traces by their headers: field record number, every n-th shot, offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from fathometer.base.errors import InputError
from fathometer.seismic.shots.gathers import Gather, Recording
from fathometer.seismic.shots.shot import Shot, frozen
from fathometer.seismic.survey import ConditioningTable, Survey

StepRecords = tuple[dict[str, Any], ...]  # name, parameters and counts of conditioning steps, as JSON values
Mask = npt.NDArray[np.bool_]
RecordingOrNone = TypeVar("RecordingOrNone", Recording, Recording | None)


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
        recording = replace(recording, gathers=tuple(recording.gathers[shot.index] for shot in chosen))
        shots = tuple(replace(shot, index=index) for index, shot in enumerate(chosen))
    if keys.offsets is not None:
        near, far = keys.offsets
        masks = [(offset >= near) & (offset <= far) for offset in (shot.offsets for shot in shots)]
        if not any(mask.any() for mask in masks):
            all_offsets = np.concatenate([shot.offsets for shot in shots])
            raise InputError(
                f"{place}.offsets: found [{near:g}, {far:g}] m, where no trace is; the traces' offsets are "
                f"{all_offsets.min():g} to {all_offsets.max():g} m"
            )
        record = {"step": "offsets", "metres": keys.offsets}
        shots, recording, record = kept(shots, recording, masks, record)
        records.append(record)
    return shots, recording, tuple(records)


def kept(
    shots: tuple[Shot, ...], recording: RecordingOrNone, masks: Sequence[Mask], record: dict[str, Any]
) -> tuple[tuple[Shot, ...], RecordingOrNone, dict[str, Any]]:
    """The shots with those of their receivers that the masks (n,) keep, their recorded traces, and the record of the
    step with its counts. Shots are renumbered; one without a receiver is left out."""
    pairs = [(shot, mask) for shot, mask in zip(shots, masks, strict=True) if mask.any()]
    shared: dict[tuple[int, int, int], Shot] = {}  # many shots may share arrays, and then share masks
    chosen = tuple(
        replace(shot, index=index, receivers=part.receivers, channel=part.channel)
        for index, (shot, part) in enumerate((shot, _with_receivers(shot, mask, shared)) for shot, mask in pairs)
    )
    if recording is not None:
        gathers = [(recording.gathers[shot.index], mask) for shot, mask in pairs]
        recording = replace(recording, gathers=tuple(Gather(g.file[mask], g.trace[mask]) for g, mask in gathers))
    counts = {"shots_left_out": len(shots) - len(chosen), "traces_left_out": _traces(shots) - _traces(chosen)}
    return chosen, recording, record | counts


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


def _with_receivers(shot: Shot, mask: Mask, shared: dict[tuple[int, int, int], Shot]) -> Shot:
    """A shot whose receivers and channels are those of this one that the mask (n,) keeps; shared: such shots by the
    identities of their arrays."""
    if mask.all():
        return shot
    key = id(shot.receivers), id(shot.channel), id(mask)
    if key not in shared:
        shared[key] = replace(shot, receivers=frozen(shot.receivers[mask]), channel=frozen(shot.channel[mask]))
    return shared[key]


def _traces(shots: tuple[Shot, ...]) -> int:
    return sum(len(shot.receivers) for shot in shots)
