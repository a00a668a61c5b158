"""The predicted cost of one phase of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Phase:
    """Predicted cost of a phase, by the name that the ledger has for it: seconds of the slowest rank; bytes and calls
    of all ranks."""

    name: str
    seconds: float
    bytes: float = 0.0
    calls: float = 0.0
