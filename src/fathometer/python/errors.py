"""Errors of the Python interface: the one line of the command line, without the functions that it went through."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from fathometer.base.errors import FathometerError, InputError, shortened, system_error
from fathometer.base.names import check_name

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def public(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A function whose errors begin at its caller: a FathometerError, or an OSError as one, without a cause and without
    the calls below."""

    @wraps(function)
    def called(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        try:
            return function(*arguments, **named)
        except FathometerError as error:
            wrong = error.with_traceback(None)
        except OSError as error:
            wrong = system_error(error)
        raise wrong from None

    return called


def path_of(path: object, what: str) -> str:
    """A path as text. InputError where it is none, or has letters that no file's name can have."""
    if not isinstance(path, str | os.PathLike) or not isinstance(name := os.fspath(path), str):
        raise InputError(f"{what}: found {shortened(repr(path), 60)}; allowed: the path of a file")
    check_name(name, what)
    return name


def require_xarray(what: str) -> None:
    """InputError where xarray is not installed."""
    if importlib.util.find_spec("xarray") is None:
        raise InputError(f"{what}: found no package xarray; needed: pip install 'xarray>=2024.10'")
