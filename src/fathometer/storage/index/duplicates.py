"""Which rows repeat an earlier one, by hashes of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Parts = list[NDArray[np.uint64]]


def repeated(rows: NDArray[np.int64], marks: Parts, others: Parts) -> NDArray[np.int64]:
    """Those of some rows, in order, whose two marks an earlier one of them has.

    rows: increasing. marks, others: of all rows, in parts, which are given up: together they are most of what a build
    keeps of a trace.
    """
    mine = _joined(marks)[rows]
    ranked = np.sort(mine)
    twice = np.unique(ranked[1:][ranked[1:] == ranked[:-1]])
    if not len(twice):  # as in most surveys; sorting values alone is much faster than sorting rows by them
        return np.empty(0, np.int64)
    chosen = np.flatnonzero(np.isin(mine, twice))
    rows, mine = rows[chosen], mine[chosen]
    other = _joined(others)[rows]
    order = np.lexsort((other, mine))
    alike = (mine[order[1:]] == mine[order[:-1]]) & (other[order[1:]] == other[order[:-1]])
    return np.sort(rows[order[1:]][alike])


def _joined(parts: Parts) -> NDArray[np.uint64]:
    joined = np.concatenate(parts)
    parts.clear()
    return joined
