"""Options of a command, declared once: as fields of a dataclass, from which its parser and its record are made."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_DECLARED = "option"  # where the metadata of a field have what `option` says
_GATHERING = ("append", "extend")  # actions that may be given several times

Declared = TypeVar("Declared")


@dataclass(frozen=True)
class _Option:
    """What the command line takes for a field, and the name of the field in records."""

    flags: tuple[str, ...]
    recorded: str | None
    arguments: Mapping[str, Any]

    @property
    def placed(self) -> bool:
        """Whether it is told by its place, without a flag."""
        return not self.flags[0].startswith("-") if self.flags else False


def option(help: str, *flags: str, default: Any = MISSING, recorded: str | None = "", **arguments: Any) -> Any:
    """A field that is an option of a command.

    help, arguments: as `add_argument` of argparse takes them; one whose default is False is a switch.
    flags: such as "-o", "--output"; none: --, and the name of the field; the name alone: it is told by its place.
    default: where it is left out; an option without one is required.
    recorded: its name in records, if it is another; None: they do not have it.
    """
    if default is False:
        arguments["action"] = "store_true"
    declared = _Option(flags, recorded, MappingProxyType({"help": help, **arguments}))
    return field(default=default, metadata={_DECLARED: declared})


def add_options(
    parser: argparse._ActionsContainer,
    kind: type[DataclassInstance],
    names: Iterable[str] | None = None,
    given_only: bool = False,
    **changed: Mapping[str, Any],
) -> None:
    """Declare the options of a dataclass on a parser, whose results have them by the names of the fields.

    names: of the fields that the command has, in the order of its help; None: all of them.
    given_only: what is left out becomes None, which tells it from what is given.
    changed: for a field, arguments of `add_argument` that are others for this command.
    """
    known = _options(kind)
    for name in known if names is None else names:
        declared = known[name].metadata[_DECLARED]
        arguments = {**declared.arguments, **_presence(known[name], declared, given_only), **changed.get(name, {})}
        parser.add_argument(*(declared.flags or (f"--{name.replace('_', '-')}",)), **arguments)


def options_of(kind: type[Declared], parsed: argparse.Namespace, **others: Any) -> Declared:
    """The dataclass of what was parsed. others: fields that are no options, or take the place of what was parsed."""
    return kind(**values_of(kind, parsed) | others)


def values_of(kind: type[Any], parsed: argparse.Namespace) -> dict[str, Any]:
    """What was parsed of the options of a dataclass that the command has, by the names of the fields."""
    found = {name: getattr(parsed, name) for name in _options(kind) if hasattr(parsed, name)}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}


def recorded(options: DataclassInstance) -> dict[str, Any]:
    """The options of a dataclass with the names that they have in records."""
    known = {name: one.metadata[_DECLARED].recorded for name, one in _options(type(options)).items()}
    return {other or name: getattr(options, name) for name, other in known.items() if other is not None}


def _options(kind: type[DataclassInstance]) -> dict[str, Field[Any]]:
    return {one.name: one for one in fields(kind) if _DECLARED in one.metadata}


def _presence(one: Field[Any], declared: _Option, given_only: bool) -> dict[str, Any]:
    """Where `add_argument` is to put the value, and what it is where the option is left out."""
    if declared.placed:
        return {}
    if given_only:
        return {"dest": one.name, "default": None}
    if one.default is MISSING:
        return {"dest": one.name, "required": True}
    gathered = declared.arguments.get("action") in _GATHERING  # argparse adds to a list
    return {"dest": one.name, "default": list(one.default) if gathered else one.default}
