"""Axes of model files: by their labels, by the survey's key, or by their number alone."""

from __future__ import annotations

from fathometer.base.errors import InputError
from fathometer.storage.volumes.axis_labels import TIME, axis_of, listed, nameless
from fathometer.storage.volumes.formats.segy_volume import SegyVolume
from fathometer.storage.volumes.volume import Volume


def natural_axes(dimensions: int) -> str:
    """The axes of a file that says nothing, slowest first: "xyz" or "xz"."""
    return "xyz" if dimensions == 3 else "xz"


def labelled_axes(key: str, volume: Volume, given: str | None) -> str | None:
    """The axes of a file by its labels, slowest first, as "zx"; None where it has none, or a key is there and they are
    unknown.

    Of a SEG-Y they do not count: which of its horizontal axes is x its survey decides, and samples are along z.

    Args:
        key: "[model] axes" or "--axes", with the survey's file, for messages. given: its value.

    Raises InputError for an axis of time, and for labels that are unknown or contradict each other or the key.
    """
    info = volume.info
    if info.in_time:
        raise InputError(f'{key}: {volume.path} has an axis of time, "{TIME}"; needed: a model over depth')
    if info.labels is None or isinstance(volume, SegyVolume) or all(map(nameless, info.labels)):
        return None
    found = [axis_of(label) for label in info.labels]
    if len(found) == 2 and "y" in found and "x" not in found:  # a line along y
        found = ["x" if axis == "y" else axis for axis in found]
    if given is not None:
        if any(axis not in ("", wanted) for axis, wanted in zip(found, given, strict=True)):
            raise InputError(
                f'{key}: found "{given}", but {volume.path} labels its axes "{_short(found, info.labels)}", slowest '
                "first; allowed: the same in both"
            )
        return given if all(found) else None
    natural = natural_axes(len(found))
    left = [axis for axis in natural if axis not in found]
    known = [axis for axis in found if axis]
    if len(set(known)) == len(known) and set(known) <= set(natural):
        if len(left) <= 1:  # the one without a known label is the one that is left
            return "".join(axis or left[0] for axis in found)
        if known and all(axis in ("", wanted) for axis, wanted in zip(found, natural, strict=True)):
            return natural
    raise InputError(
        f"{key}: left out, but {volume.path} labels its axes {listed(info.labels)}, slowest first; known: x, y, z, "
        f'depth, distance, inline, crossline and the like; needed: axes, as "{natural}"'
    )


def assumed_axes(volume: Volume, given: str | None) -> bool:
    """Whether nothing but the number of a file's axes says which they are. Call after `labelled_axes`."""
    labels = volume.info.labels
    return given is None and not isinstance(volume, SegyVolume) and (labels is None or all(map(nameless, labels)))


def assumption(key: str, volume: Volume, axes: str) -> str:
    """A note on axes that were assumed."""
    cells = " x ".join(map(str, volume.info.shape))
    return f"{key}: {volume.path} does not name its axes: {cells} cells are taken as {', '.join(axes)}, slowest first"


def _short(axes: list[str], labels: tuple[str, ...]) -> str:
    return "".join(axes) if all(axes) else ", ".join(labels)
