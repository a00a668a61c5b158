"""What the traces of a SEG-Y or SU file are: gathers, or a volume (a model, an image, a stack)."""

from __future__ import annotations

import numpy as np

from fathometer.storage.traces.file_layout import Layout


def holds_gathers(layout: Layout) -> bool:
    """Whether the traces of a SEG-Y are gathers rather than a volume, which is so if any of these holds:

    - the offset differs between traces;
    - source and receiver coordinates are both given, and differ in some trace;
    - all traces have the same coordinates, but source depth or receiver elevation differs (a vertical profile);
    - inlines and crosslines are not numbered, but there are several field records of several traces.

    Stacks and models meet none: they have one offset (0, or 1 by some writers), the cell's coordinates as source,
    receiver or both, and line numbers or one trace a record.
    """
    head = layout.headers(
        (
            *("offset", "source_depth", "receiver_elevation", "source_x", "source_y", "group_x", "group_y"),
            *("inline", "crossline", "ffid"),
        )
    )
    varies = {name for name, values in head.items() if (values != values[0]).any()}
    if "offset" in varies:
        return True
    source = np.stack((head["source_x"], head["source_y"]))
    group = np.stack((head["group_x"], head["group_y"]))
    if source.any() and group.any() and (source != group).any():
        return True
    if not varies & {"source_x", "source_y", "group_x", "group_y"} and varies & {
        "source_depth",
        "receiver_elevation",
    }:
        return True
    records = len(np.unique(head["ffid"]))
    return not varies & {"inline", "crossline"} and 1 < records < layout.traces


def looks_like_volume(layout: Layout) -> bool:
    """Whether traces are no gathers (`holds_gathers`), and their places or line numbers differ as those of a volume's
    do; gathers without geometry have neither."""
    places = ("inline", "crossline", "cdp_x", "cdp_y", "source_x", "source_y", "group_x", "group_y")
    numbers = layout.headers(places).values()
    return any((values != values[0]).any() for values in numbers) and not holds_gathers(layout)
