"""Files of a model that say nothing of their axes, beside others that do: told, or refused where the two may differ."""

from __future__ import annotations

from collections.abc import Mapping

from fathometer.base.errors import InputError
from fathometer.seismic.model.axes import natural_axes
from fathometer.storage.volumes.axis_labels import nameless
from fathometer.storage.volumes.formats.segy_volume import SegyVolume
from fathometer.storage.volumes.volume import Volume


def silent_notes(survey: str, given: str | None, axes: str, volumes: Mapping[str, Volume]) -> tuple[str, ...]:
    """A note for each file that does not name its axes, where another file names its own.

    Args:
        survey: its file, for messages. given: [model] axes. axes: as the files are taken, slowest first. volumes: the
            open files, by property.

    Raises InputError where nothing is given, and the file that names its axes was turned round along one, or lies in
    another order than a file without names has by default and the shape does not tell the two orders apart.
    """
    stating = [volume for volume in volumes.values() if _ordered(volume)]
    notes: tuple[str, ...] = ()
    for name, volume in volumes.items():
        others = [other for other in stating if other.path != volume.path]
        if _ordered(volume) or len(others) < len(stating) or not others:
            continue
        key = f"[model] {name}: {volume.path} does not name its axes"
        silent = volume.info.spacing is None and not any(volume.info.partial)
        for other in others if silent else ():
            turned = [axis for axis, flip in zip(axes, other.stored.flipped, strict=False) if flip]
            if turned and given is None:
                raise InputError(
                    f"{survey}: {key}, and {other.path} is turned round along {', '.join(turned)}; needed: names of "
                    f'its axes, or [model] axes = "{axes}" if its cells rise along all axes (z: downward)'
                )
            if turned:
                notes += (f"{key} and is not turned round, as {other.path} is along {', '.join(turned)}",)
        if given is not None:
            continue
        lengths = dict(zip(axes, volume.info.shape, strict=True))
        for other in others:
            for order in (natural_axes(len(axes)), axes[::-1] if other.stored.column_major else axes):
                if order != axes and tuple(lengths[axis] for axis in order) == volume.info.shape:
                    raise InputError(
                        f'{survey}: {key}: "{axes}", as {other.path}, or "{order}"? needed: names of its axes, or '
                        "[model] axes"
                    )
        cells = " x ".join(map(str, volume.info.shape))
        notes += (f"{key}: {cells} cells are taken as {', '.join(axes)}, slowest first, as {others[0].path} has them",)
    return notes


def _ordered(volume: Volume) -> bool:
    """Whether a file says which of its axes is which."""
    labels = volume.info.labels
    named = labels is not None and not all(map(nameless, labels))
    return isinstance(volume, SegyVolume) or named or volume.stored.column_major
