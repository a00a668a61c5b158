"""Input files from dictionaries: checked like a file, written as one when they are run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError, shortened
from fathometer.base.meant import did_you_mean
from fathometer.python.errors import path_of, public

FIRST_LINE = "# Written by fathometer.{kind} in Python; it is replaced when that is run again."
SEISMIC = "seismic"


class Input:
    """The input file of an application, from nested dictionaries: its sections, and their keys.

    Attributes:
        application: whose input it is. values: as they are written. path: of the file that a run reads, which is
            written by `save`, or when it is run; relative paths in the values start at its folder.
    """

    @public
    def __init__(
        self, application: str, values: Mapping[str, Any], *, path: str | os.PathLike[str] | None = None
    ) -> None:
        """Check the values by the same rules and messages as those of a file; nothing is written.

        Args:
            application: seismic, ocean, reactive, flow, plasma, atmosphere or farm.
            values: as in TOML; also tuples, paths, numbers and arrays of NumPy; a key of None is left out.
            path: of the file; None: the application's name and .toml, of a survey survey.toml.

        Raises InputError that names the file, the first wrong key, what was found and what is allowed.

        >>> Input("ocean", {"grid": {}})
        Traceback (most recent call last):
        fathometer.base.errors.InputError: ocean.toml: [grid] cells: missing; needed: ...
        """
        from fathometer.base.references import referred
        from fathometer.cli.registry import APPLICATIONS
        from fathometer.cli.registry import application as registered
        from fathometer.config.input_file import validated

        if not isinstance(application, str) or application not in APPLICATIONS:
            raise InputError(
                f"application: found {shortened(repr(application))}; allowed: {', '.join(APPLICATIONS)}"
                f"{did_you_mean(application, APPLICATIONS)}"
            )
        default = f"{'survey' if application == SEISMIC else application}.toml"
        name = path_of(default if path is None else path, type(self).__name__)
        self.application, self.path = application, Path(name)
        self.values: dict[str, Any] = table(values, f"{name}:")
        validated(referred(registered(application).identity.input), self.values, self.path)
        self._folder = os.getcwd()

    @public
    def save(self) -> Path:
        """Write the file, which is returned. A file that was written so is replaced, and one with the same values is
        left; any other is an InputError."""
        from fathometer.config.toml_text import toml_file
        from fathometer.storage import atomic

        first = FIRST_LINE.format(kind=type(self).__name__)
        text = f"{first}\n\n{toml_file(self.values)}"
        path = Path(self._folder, self.path)  # the working folder may be another one since
        if os.path.lexists(path) and not _replaceable(path, first, self.values):
            raise InputError(
                f"{self.path}: found a file with other values that was not written by {type(self).__name__}; allowed: "
                "another path, or the file itself in place of these values"
            )
        atomic.write(path, text.encode())
        return self.path if os.getcwd() == self._folder else path

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.values)}; {self.path})"


class Survey(Input):
    """The survey file, from dictionaries: see docs/guide/survey-file.md for its sections and keys.

    >>> survey = Survey(
    ...     model={"vp": "vp.rsf"},
    ...     acquisition={"gathers": "shots.segy"},
    ...     wavelet={"kind": "ricker", "peak_frequency": 15.0},
    ... )
    >>> survey.path.name, survey.values["wavelet"]["kind"]
    ('survey.toml', 'ricker')
    >>> Survey(survey.values | {"wavelet": {"kind": "rikcer"}})
    Traceback (most recent call last):
    fathometer.base.errors.InputError: survey.toml: [wavelet] kind: found "rikcer"; allowed: ...
    """

    @public
    def __init__(
        self,
        values: Mapping[str, Any] | None = None,
        /,
        *,
        path: str | os.PathLike[str] = "survey.toml",
        **sections: Mapping[str, Any],
    ) -> None:
        """Check the sections, in one dictionary or by their names, as `Input` does."""
        super().__init__(SEISMIC, {**(values or {}), **sections}, path=path)


def _replaceable(path: Path, first: str, values: Mapping[str, Any]) -> bool:
    """Whether a file was written by `save`, or has the same values."""
    import tomllib

    from fathometer.base.regular_file import read_regular

    try:
        text = read_regular(path).decode("utf-8")
        return text.startswith(first) or tomllib.loads(text) == values
    except (OSError, ValueError, RecursionError):
        return False


def table(values: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Values of Python as TOML has them. Raises InputError, which begins with `place`, where it has none such."""
    try:
        return _table(values, place)
    except RecursionError:
        raise InputError(f"{place} found a dictionary or list that holds itself; allowed: values as of TOML") from None


def _table(values: Mapping[str, Any], place: str) -> dict[str, Any]:
    if not isinstance(values, Mapping):
        raise InputError(f"{place} found {shortened(repr(values), 60)}; allowed: a dictionary")
    for name in values:
        if not isinstance(name, str):
            raise InputError(f"{place} found the key {shortened(repr(name), 60)}; allowed: text")
    return {name: _plain(value, f"{place} {name}") for name, value in values.items() if value is not None}


def _plain(value: Any, place: str) -> Any:
    """A value as TOML has it. InputError where it has none such."""
    if isinstance(value, Mapping):
        return _table(value, place)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):  # numbers and arrays of NumPy, which is not imported for this
        return _plain(value.tolist(), place)
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(entry, place) for entry in value]
    raise InputError(f"{place}: found {shortened(repr(value), 60)}; allowed: numbers, text, lists, dictionaries")
