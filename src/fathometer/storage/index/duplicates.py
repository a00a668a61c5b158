"""Duplicate rows, by their hashes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Parts = list[NDArray[np.uint64]]


def repeated(rows: NDArray[np.int64], lesser: NDArray[np.bool_], first: Parts, second: Parts) -> NDArray[np.int64]:
    """The rows, in order, both of whose hashes occur in an earlier one of `rows`; lesser ones (n,) count as later.

    rows: increasing numbers of rows. first, second: hashes of all rows, in parts, which are emptied to save memory:
    they are most of what a build keeps of a trace.
    """
    hashes = _joined(first)[rows]
    ordered = np.sort(hashes)
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not len(twice):  # as in most surveys; sorting values alone is much faster than sorting rows by them
        return np.empty(0, np.int64)
    candidates = np.flatnonzero(np.isin(hashes, twice))
    rows, lesser, hashes = rows[candidates], lesser[candidates], hashes[candidates]
    others = _joined(second)[rows]
    order = np.lexsort((lesser, others, hashes))
    alike = (hashes[order[1:]] == hashes[order[:-1]]) & (others[order[1:]] == others[order[:-1]])
    return np.sort(rows[order[1:]][alike])


def _joined(parts: Parts) -> NDArray[np.uint64]:
    joined = np.concatenate(parts)
    parts.clear()
    return joined
