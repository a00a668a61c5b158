"""What a build of an index has found so far: anomalies with their counts, and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.storage.index.anomalies import (
    DECLARED,
    HEADERS,
    LEFT_OUT,
    MOVES,
    NAMES,
    TRUNCATED,
    WORDS,
    Anomaly,
    Flag,
    anomaly,
)

ORDER = (LEFT_OUT, TRUNCATED, HEADERS, DECLARED, *Flag, MOVES)


class Findings:
    """Counts anomalies, and keeps the first place of each; with `strict` the first one is an InputError."""

    def __init__(self, strict: bool, say: Callable[[str], None]) -> None:
        self.strict, self._say = strict, say
        self._counts: Counter[Flag | str] = Counter()
        self._first: dict[Flag | str, str] = {}
        self._notes: dict[str, list[Path]] = {}

    def add(self, key: Flag | str, count: int, where: str) -> None:
        """So many more of a kind; where: the first of them, and what was found there."""
        if self.strict:
            raise InputError(f"{where} ({NAMES[key] if isinstance(key, Flag) else WORDS[key]}; --strict)")
        self._counts[key] += count
        self._first.setdefault(key, where)

    def leave_out(self, why: str) -> None:
        """A file that is no gathers."""
        if self.strict:
            raise InputError(why)
        self.add(LEFT_OUT, 1, why)
        self._say(f"left out: {why}")

    def note(self, note: str, path: Path) -> None:
        """What is no anomaly, but should be known."""
        self._notes.setdefault(note, []).append(path)

    @property
    def first_left_out(self) -> str | None:
        """Why the first of the files that were left out was."""
        return self._first.get(LEFT_OUT)

    def anomalies(self) -> tuple[Anomaly, ...]:
        """All kinds that were found."""
        return tuple(anomaly(key, self._counts[key], self._first[key]) for key in ORDER if self._counts[key])

    def notes(self) -> tuple[str, ...]:
        """Each once, with the first file that it is for and how many more there are."""
        return tuple(
            f"{paths[0]}{f' and {len(paths) - 1} more' if len(paths) > 1 else ''}: {note}"
            for note, paths in self._notes.items()
        )
