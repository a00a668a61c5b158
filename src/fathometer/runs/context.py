"""Context of a command, and its outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fathometer.parallel.threads import Binding
from fathometer.runs.options import RunOptions
from fathometer.runs.told import note_lines


@dataclass(frozen=True)
class Context:
    """What a command needs to run beside its input.

    Attributes:
        command: its words, for the record. quiet: no progress display. binding: cpus of this rank's threads.
        say: prints a line; does nothing with --quiet and on ranks above 0.
        publish: writes the page of a record with the application's panels into a file; None: there is no page.
        options: what to do with an earlier run's results in the same folder.
        speaks: whether `say` prints: on rank 0, without --quiet.
    """

    command: tuple[str, ...]
    quiet: bool
    binding: Binding
    say: Callable[[str], None]
    publish: Callable[[Path, dict[str, Any], list[dict[str, Any]]], None] | None = None
    options: RunOptions = field(default_factory=RunOptions)
    speaks: bool = True

    def tell(self, notes: Sequence[str], about: Path) -> None:
        """Print notes on an input file; those that have been told today are only counted."""
        for line in note_lines(notes, about) if self.speaks else ():
            self.say(line)


@dataclass(frozen=True)
class Outcome:
    """What a command has produced.

    Attributes:
        files: its files by kind. record: complete on rank 0 only. failed: reasons of failed tasks, by number.
        nothing: what is not in the results and why, the same on all ranks; "" where all is.
        words: for people, at the end.
    """

    files: dict[str, Path]
    record: dict[str, Any]
    failed: Mapping[int, str] = field(default_factory=dict)
    nothing: str = ""
    words: Sequence[str] = ()
