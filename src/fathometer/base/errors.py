"""Exceptions of the program and their exit codes; how their messages quote what stands in files."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_NAME, LONGEST_MESSAGE = 200, 2000  # letters


def shortened(text: object, most: int = LONGEST_NAME) -> str:
    """The text on one line of at most `most` letters, its middle left out; what cannot be printed is escaped.

    >>> shortened("a" * 300, 9), shortened("vp\\n\\0")
    ('aaaaa…aaa', 'vp \\\\x00')
    """
    line = "".join(letter if letter.isprintable() else _escaped(letter) for letter in str(text)).strip()
    return line if len(line) <= most else f"{line[: most - most // 2]}…{line[len(line) - most // 2 + 1 :]}"


def _escaped(letter: str) -> str:
    return " " if letter in "\n\r\t" else letter.encode("unicode_escape").decode()


class FathometerError(Exception):
    """The run failed although its input was fine: one line that names the thing and its place (exit code 1).

    However long the names are that the message quotes, and whatever stands in them, it is one line to be printed: words
    of more than LONGEST_NAME letters, and messages of more than LONGEST_MESSAGE, lose their middle.
    """

    exit_code = 1

    def __init__(self, message: object = "") -> None:
        words = re.sub(rf"\S{{{LONGEST_NAME + 1},}}", lambda word: shortened(word[0]), str(message))
        super().__init__(shortened(words, LONGEST_MESSAGE))


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
        raise InputError(f"{words}: {error}") from error.__cause__
    except FathometerError:
        raise
    except Exception as error:
        error.add_note(words)
        raise


def system_error(error: OSError) -> FathometerError:
    """The error of a system call that nobody has named: one line with the file, where the system tells it."""
    name = error.filename if isinstance(error.filename, str) else "input or output"
    return FathometerError(f"{name}: {error.strerror or error}")
