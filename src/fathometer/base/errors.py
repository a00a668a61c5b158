"""Exceptions of the program and their exit codes."""

from collections.abc import Iterator
from contextlib import contextmanager


class FathometerError(Exception):
    """The run failed although its input was fine: one line that names the thing and its place (exit code 1)."""

    exit_code = 1


class InputError(FathometerError):
    """The input is at fault: one line names the thing, its place, what was found, what is allowed (exit code 2)."""

    exit_code = 2


class NotFiniteError(FathometerError):
    """A task's numbers are infinite or NaN; those of other tasks may be sound."""


@contextmanager
def naming(words: str) -> Iterator[None]:
    """Prefix the message of an InputError raised in the block with `words`, such as "input.toml: [model] vp"; add them
    as a note to an exception that nothing has foreseen."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{words}: {error}") from None
    except FathometerError:
        raise
    except Exception as error:
        error.add_note(words)
        raise


def system_error(error: OSError) -> FathometerError:
    """The error of a system call that nobody has named: one line with the file, where the system tells it."""
    name = error.filename if isinstance(error.filename, str) else "input or output"
    return FathometerError(f"{name}: {error.strerror or error}")
