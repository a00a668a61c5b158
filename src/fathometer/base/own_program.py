"""The words that start this very program again: the same Python, and the same modules."""

from __future__ import annotations

import sys
from collections.abc import Sequence

FATHOMETER = "fathometer"  # as the first word of a command: this very program


def own_program() -> list[str]:
    """The first words of its command. -P: a folder with a module of ours in it, from which it may be started, changes
    nothing."""
    return [sys.executable, "-P", "-m", FATHOMETER]


def with_own_program(words: Sequence[str]) -> list[str]:
    """A command in which `fathometer` as the first word is this program, whatever PATH has."""
    return [*own_program(), *words[1:]] if words[0] == FATHOMETER else list(words)
