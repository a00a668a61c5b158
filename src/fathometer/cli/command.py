"""A command of the command line: how it is described, which arguments it takes, and what it runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.parallel.threads import Binding

Options = argparse.Namespace  # of one command, as parsed


@dataclass(frozen=True)
class RankCall:
    """A command on the ranks that run it.

    Attributes:
        options: of the command. words: of the whole command line, as records keep it.
        comm: all ranks. binding: cores and threads of this rank.
        say: prints a line for people on standard error; nothing on ranks above 0 and with --quiet.
        trace_zero: the trace's origin on this rank's clock, s; 0 without --trace.
        prepared: what the command's `prepare` returned.
    """

    options: Options
    words: tuple[str, ...]
    comm: MPI.Intracomm
    binding: Binding
    say: Callable[[str], None]
    trace_zero: float = 0.0
    prepared: Any = None

    @property
    def trace(self) -> Path | None:
        """Where --trace wants the spans of all ranks."""
        return trace_of(self.options)


@dataclass(frozen=True)
class Command:
    """One command. Either `run` or `run_on_ranks` does the work.

    Attributes:
        name: on the command line; two words for an action of a group: "survey build".
        summary: one line in the list of commands. description, examples: in its own help.
        add_arguments: declares its arguments on a parser.
        run: does the work in this process, before or without MPI.
        run_on_ranks: does it on all ranks (collective), after they were started and bound.
        prepare: reads the input, where there is one, and then imports what `run_on_ranks` needs, so that this counts
            as start-up time and a wrong input is told at once; what it returns is RankCall.prepared.
        default_ranks: how many ranks are started where --ranks is left out; None: as launched, or one.
        environment: variables that MPI reads when it starts, for these options; set before, where they are not set.
        resume_hint: of a command that goes on where it was interrupted (exit code 75), what to tell people then; None:
            what the application of the command's name says.
        end_seconds: that it may take longer than others from a signal to its end, to write what it goes on from.

    What they raise ends the command: InputError with exit code 2, FathometerError with 1, each with one line.
    """

    name: str
    summary: str
    description: str
    examples: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[Options], None] | None = None
    run_on_ranks: Callable[[RankCall], None] | None = None
    prepare: Callable[[Options], Any] = lambda options: None
    default_ranks: Callable[[], int] | None = None
    environment: Callable[[Options], Mapping[str, str]] = lambda options: {}
    resume_hint: Callable[[Options], str] | None = None
    end_seconds: float = 0.0


def trace_of(options: Options) -> Path | None:
    """Where --trace wants the spans of all ranks; None without it, and for commands that do not have it."""
    path: Path | None = getattr(options, "trace", None)
    return path
