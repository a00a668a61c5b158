"""Axis labels of model files."""

from __future__ import annotations

from collections.abc import Sequence

AXIS_OF_LABEL = {"x": "x", "y": "y", "z": "z", "depth": "z"}


def labelled_axes(labels: Sequence[str] | None) -> str | None:
    """The axes of a file by its labels, slowest first, as "xyz"; None where a label is missing or unknown."""
    axes = "".join(AXIS_OF_LABEL.get(label.strip().lower(), "?") for label in labels or "?")
    return None if "?" in axes else axes
