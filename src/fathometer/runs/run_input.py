"""What a resumable run reads, as its journal keeps it and compares it with that of a later run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class RunInput:
    """What a run reads, JSON-ready.

    Attributes:
        fingerprint: what must be the same for the tasks of two runs to be combined: version, settings, hashes of files.
        files: states of the files, by which a later run knows which of them nobody has touched; not compared.
    """

    fingerprint: Mapping[str, Any]
    files: Mapping[str, Any] = field(default_factory=dict)


class InputFiles(Protocol):
    """An application's account of what a run reads."""

    def now(self) -> RunInput:
        """What the run reads. Rank 0 only, not collective."""

    def changed(self, files: Mapping[str, Any], inputs: Mapping[int, str]) -> list[str]:
        """Collective. What of the tasks' own input has changed: a line for each difference, on rank 0.

        files: RunInput.files of an earlier run. inputs: hashes of what tasks have read (Contribution.input).
        """

    def require_unchanged(self, inputs: Mapping[int, str]) -> None:
        """Collective. Raises FathometerError on all ranks where files are no longer what the tasks have read; inputs:
        hashes of that."""
