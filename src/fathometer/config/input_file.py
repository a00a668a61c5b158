"""Reading an input file: TOML to a validated model, or an error of one line."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import PrivateAttr, ValidationError

from fathometer.base.errors import InputError
from fathometer.base.meant import file_meant
from fathometer.base.regular_file import read_regular
from fathometer.config.gaps import gaps_in_words
from fathometer.config.problems import first_problem
from fathometer.config.settings import with_settings
from fathometer.config.table import Table
from fathometer.config.toml_problems import toml_problem


class InputFile(Table):
    """Base class of the models of whole input files, which remember the file's path."""

    _path: Path = PrivateAttr(default=Path("input"))

    @property
    def path(self) -> Path:
        """The input file, as it was named."""
        return self._path

    @property
    def directory(self) -> Path:
        """Folder of the input file; all relative paths in it start here."""
        return self._path.parent

    def resolved(self) -> dict[str, Any]:
        """All keys with their defaults, as JSON values; reading them again gives the same input."""
        values: dict[str, Any] = self.model_dump(mode="json", exclude_none=True)
        return values


Input = TypeVar("Input", bound=InputFile)


def validated(model: type[Input], values: dict[str, Any], path: Path) -> Input:
    """An input given as nested dictionaries, validated by its model.

    path: of the file, for errors; its folder is where relative paths start.
    Raises InputError with one line that names the first wrong key, or all gaps (gaps.py).
    """
    if gaps := gaps_in_words(values, model):
        raise InputError(f"{path}: {gaps}")
    try:
        checked = model.model_validate(values)
    except ValidationError as error:
        raise InputError(f"{path}: {first_problem(error, values, model)}") from None
    checked._path = path
    return checked


def load_input(model: type[Input], path: Path | str, what: str, settings: Sequence[str] = ()) -> Input:
    """Read and check an input file. what: it is, in errors ("the ocean file"). settings: keys in place of the file's,
    see config/settings.py.

    Raises InputError with one line that names the file and the first wrong key.
    """
    path = Path(path)
    return validated(model, with_settings(read_toml(path, what), settings), path)


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """The values of a TOML file; `what` names it in errors ("the input file").

    Raises InputError with one line that names the file.
    """
    try:
        text = read_regular(path).decode("utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        meant = file_meant(path) if isinstance(error, FileNotFoundError) else ""
        raise InputError(f"{path}: cannot read {what}: {reason}{meant}") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not text in UTF-8 (byte {error.start}); needed: {what}, a text in TOML; `fathometer info {path}` "
            "says what a file of data holds"
        ) from None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also an integer or a nesting too long for Python
        raise InputError(f"{path}: not valid TOML: {toml_problem(error, text)}") from None
