"""Findings of a build: anomalies with their counts, and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.storage.index.anomalies import (
    DECLARED,
    DESCRIPTIONS,
    FILE_DESCRIPTIONS,
    FORMAT,
    HEADERS,
    LEFT_OUT,
    MOVES,
    TRUNCATED,
    VOLUME,
    Anomaly,
    Flag,
    anomaly,
)

ORDER = (VOLUME, LEFT_OUT, TRUNCATED, FORMAT, HEADERS, DECLARED, *Flag, MOVES)


class Findings:
    """Counts of anomalies, and the first occurrence of each; with `strict` the first one is an InputError."""

    def __init__(self, strict: bool, say: Callable[[str], None]) -> None:
        self.strict, self._say = strict, say
        self._counts: Counter[Flag | str] = Counter()
        self._first: dict[Flag | str, str] = {}
        self._notes: dict[str, list[Path]] = {}

    def add(self, key: Flag | str, count: int, where: str) -> None:
        """Count more of a kind; where: the first of them, and what was found there."""
        if self.strict:
            raise InputError(
                f"{where} ({DESCRIPTIONS[key] if isinstance(key, Flag) else FILE_DESCRIPTIONS[key]}; --strict)"
            )
        self._counts[key] += count
        self._first.setdefault(key, where)

    def leave_out(self, reason: str, tell: bool = True) -> None:
        """Count a file that is left out; tell: say so, where there are others."""
        if self.strict:
            raise InputError(reason)
        self.add(LEFT_OUT, 1, reason)
        if tell:
            self._say(f"left out: {reason}")

    def note(self, note: str, path: Path) -> None:
        """Add a remark on a file that is no anomaly."""
        self._notes.setdefault(note, []).append(path)

    @property
    def first_left_out(self) -> str | None:
        """The reason for leaving out the first file; None where all were indexed."""
        return self._first.get(LEFT_OUT)

    def anomalies(self) -> tuple[Anomaly, ...]:
        """All kinds that occurred."""
        return tuple(anomaly(key, self._counts[key], self._first[key]) for key in ORDER if self._counts[key])

    def notes(self) -> tuple[str, ...]:
        """Each note once, with the first file that it is about and the number of further ones."""
        return tuple(
            f"{paths[0]}{f' and {len(paths) - 1} more' if len(paths) > 1 else ''}: {note}"
            for note, paths in self._notes.items()
        )
