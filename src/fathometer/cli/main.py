"""The command line: parse, start and bind ranks, run a command, turn errors and signals into an exit code.

    parse -> command.run(options)                                   one process, without MPI
          -> start ranks -> bind -> command.run_on_ranks(call)      all ranks

Nothing heavy is imported before it is known what is asked for: a process that has imported mpi4py can no longer start
mpirun, and `--help` is to be quick.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from time import sleep
from typing import TYPE_CHECKING, NoReturn

from fathometer.base.early_signals import INTERRUPTED
from fathometer.base.errors import FathometerError, system_error
from fathometer.base.ledger import Ledger, current, now, phase, process_start
from fathometer.base.legible import legible_output
from fathometer.base.names import check_name
from fathometer.base.signals import GRACE_SECONDS, RESUMABLE, ending, hold, interruptible, release, watchdog
from fathometer.cli import registry
from fathometer.cli.command import Command, Options, RankCall, trace_of
from fathometer.cli.error_lines import HEAD_START_SECONDS, defect, print_error, print_error_once
from fathometer.cli.output import print_line, require_writable
from fathometer.cli.parser import parser, with_actions
from fathometer.cli.profiled import run_profiled, under_profile

if TYPE_CHECKING:
    from mpi4py import MPI

ERROR_TOLD = 1  # tag of a message to rank 0: the rank has printed the error that ends all


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stderr is None:  # closed by whoever started us
        sys.stderr = io.StringIO()
    legible_output()
    begin = process_start() if arguments is None else now()
    try:
        for word in words:
            check_name(word, "command line")
        return _parse_and_run(words, begin)
    except FathometerError as error:
        return print_error_once(error)
    except Exception as error:
        return print_error_once(defect(error, "--debug" in words))


def _parse_and_run(words: list[str], begin: float) -> int:
    options = parser().parse_args(with_actions(words))
    command: Command = options.run_command
    try:
        with interruptible(), Ledger(begin, "start-up", tracing=trace_of(options) is not None):
            return _run_or_start(command, options, words)
    except (FathometerError, OSError) as error:  # before MPI runs, or without it
        return print_error_once(error if isinstance(error, FathometerError) else system_error(error))
    except MemoryError:
        return print_error(FathometerError("out of memory"))
    except KeyboardInterrupt:
        _print_interrupted_once(options)
        return _interrupted_code(options)


def _run_or_start(command: Command, options: Options, words: list[str]) -> int:
    """Run the command in this process, or on ranks."""
    try:
        if command.run is None:
            return _start(command, options, words)
        command.run(options)
    except Exception as error:
        if ending() and not isinstance(error, (FathometerError, OSError)):
            raise KeyboardInterrupt from None
        raise
    return 0


def _start(command: Command, options: Options, words: list[str]) -> int:
    """Start the ranks that the options ask for and wait for them, or run the command as one of the ranks."""
    from fathometer.launch.mpirun import start_ranks

    if options.ranks is None and command.default_ranks is not None:
        options.ranks = command.default_ranks()
        words += ["--ranks", str(options.ranks)]
    if getattr(options, "profile", None) is not None and not under_profile():
        return run_profiled(options, words)
    restarts = getattr(options, "restarts", 0)
    interrupted = _interrupted_code(options)
    code = start_ranks(options.ranks, options.threads, words, interrupted, restarts, command.end_seconds)
    if code is not None:
        return code
    with watchdog(lambda: _end_process(options)):
        return _run_rank(command, options, words)


def _run_rank(command: Command, options: Options, words: list[str]) -> int:
    """Run a command on all ranks of this world; all ranks return the same code, or the world is ended."""
    # From here to the first collective call a signal waits: a rank that left alone would wait for the others in
    # MPI_Finalize, and they for it in MPI_Init or Dup. `watchdog` ends a rank that they leave alone there.
    hold()
    for name, value in command.environment(options).items():
        os.environ.setdefault(name, value)
    from fathometer.launch.begin_mpi import begin_mpi
    from fathometer.launch.mpirun import check_world, is_first

    begin_mpi()
    from mpi4py import MPI

    from fathometer.parallel.collectives import all_arrived

    comm = MPI.COMM_WORLD
    begun = False
    try:
        try:
            check_world(comm.size, os.environ, options.ranks)
            own = comm.Dup()  # no message of the work can be taken for one of all_arrived
            release()
            begun = True
            _run_bound(command, options, words, own)
        except (FathometerError, OSError) as raised:
            error = raised if isinstance(raised, FathometerError) else system_error(raised)
            if all_arrived(comm):
                return print_error(error) if comm.rank == 0 and is_first(os.environ) else error.exit_code
            return _end_with_error(comm, error)
        except MemoryError:
            return _end_with_error(comm, FathometerError(f"rank {comm.rank} ran out of memory"))
        except Exception as error:
            if ending():
                raise KeyboardInterrupt from None
            return _end_by_defect(comm, error, words)
    except KeyboardInterrupt:
        # The first rank that ends, ends all: rank 0 is to have cleared up and printed by then, however slow its disk
        # is, and the others get a moment for it. A rank that is still somewhere in MPI is ended by `watchdog`.
        if comm.rank == 0:
            if not comm.iprobe(tag=ERROR_TOLD):  # else the signal is mpirun's, which ends all after that rank's error
                _print_interrupted(options)
            all_arrived(comm, HEAD_START_SECONDS)
        else:
            all_arrived(comm, 2 * GRACE_SECONDS if begun else 2 * HEAD_START_SECONDS)
        return _end_world(comm, _interrupted_code(options))
    return 0


def _end_by_defect(comm: MPI.Intracomm, error: Exception, words: list[str]) -> int:
    """End all ranks after an unforeseen exception, with one line: that of rank 0 where all have it, else of the lowest
    rank that has it."""
    from fathometer.parallel.collectives import all_arrived

    together = all_arrived(comm)
    if comm.rank:
        sleep(HEAD_START_SECONDS if together else HEAD_START_SECONDS * comm.rank / comm.size)
    if comm.rank == 0 or not together:
        return _end_with_error(comm, defect(error, "--debug" in words, comm.rank if comm.size > 1 else None))
    return _end_world(comm, FathometerError.exit_code)


def _run_bound(command: Command, options: Options, words: list[str], comm: MPI.Intracomm) -> None:
    """Collective. Run a command on the cores of this rank; the start-up ends here."""
    from fathometer.parallel.collectives import collective_errors
    from fathometer.parallel.threads import bind, unbind
    from fathometer.record import trace

    prepared = command.prepare(options)
    path = trace_of(options)
    with collective_errors(comm):
        if comm.rank == 0:
            require_writable(path)

    def say(line: str) -> None:
        if comm.rank == 0 and not options.quiet:
            with suppress(OSError):  # that nobody reads is no reason to lose a run
                print_line(line)

    assert command.run_on_ranks is not None, "the only one of the two that is left"
    binding = bind(comm, options.threads, options.bind == "cores")
    account = current()
    assert account is not None, "main has opened it"
    zero = trace.zero(comm) if path is not None else 0.0
    account.begin_ends()
    try:
        command.run_on_ranks(RankCall(options, ("fathometer", *words), comm, binding, say, zero, prepared))
    finally:
        with phase("finish"):
            unbind(binding)


def _interrupted_code(options: Options) -> int:
    """The exit code of an interrupted command."""
    return RESUMABLE if _resume_hint(options) else INTERRUPTED


def _resume_hint(options: Options) -> str:
    command: Command = options.run_command
    if command.resume_hint is not None:
        return command.resume_hint(options)
    return registry.resume_hint(options.command, getattr(options, "survey", None), getattr(options, "set", ()))


def _print_interrupted(options: Options) -> None:
    hint = _resume_hint(options)
    with suppress(OSError):
        print(f"fathometer: interrupted{'; ' * bool(hint)}{hint}", file=sys.stderr, flush=True)


def _print_interrupted_once(options: Options) -> None:
    """The same where MPI may not be called, as in `print_error_once`."""
    from fathometer.launch.mpirun import is_first

    if is_first(os.environ):
        _print_interrupted(options)
    else:
        sleep(HEAD_START_SECONDS)


def _end_process(options: Options) -> NoReturn:
    """End an interrupted process that is still somewhere in a kernel or in MPI."""
    _print_interrupted_once(options)
    os._exit(_interrupted_code(options))


def _end_with_error(comm: MPI.Intracomm, error: FathometerError) -> int:
    """Print the error, whose line is the last of all ranks, and end the world."""
    code = print_error(error)
    if comm.rank:
        comm.isend(None, 0, ERROR_TOLD)
    return _end_world(comm, code)


def _end_world(comm: MPI.Intracomm, code: int) -> int:
    """End the other ranks, which wait for this one; return the exit code where there are none."""
    if comm.size > 1:
        comm.Abort(code)
    return code
