"""Reading an input file: TOML to a checked model, or one clear error."""

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import PrivateAttr, ValidationError

from fathometer.base.errors import InputError
from fathometer.config.problems import first_problem
from fathometer.config.table import Table


class InputFile(Table):
    """The whole input of one run; `directory` is the folder that its relative paths start from."""

    _path: Path = PrivateAttr(default=Path("input"))

    @property
    def path(self) -> Path:
        """The input file, as it was named."""
        return self._path

    @property
    def directory(self) -> Path:
        """Folder of the input file; all relative paths in it start here."""
        return self._path.parent


Input = TypeVar("Input", bound=InputFile)


def validated(model: type[Input], values: dict[str, Any], path: Path) -> Input:
    """An input given as nested dictionaries, checked against its model.

    path: the file that they stand for: it names the input in errors, and its folder is where relative paths start.
    Raises InputError with one line that names the first wrong key.
    """
    try:
        checked = model.model_validate(values)
    except ValidationError as error:
        raise InputError(f"{path}: {first_problem(error, values, model)}") from None
    checked._path = path
    return checked


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """The values of a TOML file; `what` names it in errors ("the survey file").

    Raises InputError with one line that names the file.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{path}: cannot read {what}: {reason}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not text in UTF-8 (byte {error.start}); allowed: a TOML file") from None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also an integer or a nesting too long for Python
        raise InputError(f"{path}: not valid TOML: {error}") from None
