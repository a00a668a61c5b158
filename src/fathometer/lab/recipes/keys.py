"""Tables that recipes and study files have in common: figures, and what shows that a run did its work."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from annotated_types import Ge
from pydantic import AfterValidator, model_validator

from fathometer.base.errors import InputError
from fathometer.config.constraints import Allowed
from fathometer.config.table import Table, key
from fathometer.config.types import Loose
from fathometer.lab.recipes import expression
from fathometer.lab.recipes.json_path import path_problem
from fathometer.lab.recipes.run_folder import way_problem
from fathometer.lab.recipes.template import names_in
from fathometer.lab.recipes.times import time_problem
from fathometer.lab.recipes.units import unit_problem

# The end of a line that a pattern asks for, and not one in a set of letters such as [^\\n].
_LINE_END = re.compile(r"(?:^|[^\\\[^])(?:\\\\)*(?:\\[nr]|\n)(?![^\[]*\])")

Direction = Literal["higher", "lower", "none"]
Take = Literal["first", "last", "only", "sum", "mean", "least", "most", "count"]


def _time(text: str) -> str:
    if problem := time_problem(text):
        raise ValueError(problem)
    return text


def _unit(text: str) -> str:
    if problem := unit_problem(text):
        raise ValueError(problem)
    return text


def _json_path(text: str) -> str:
    if problem := path_problem(text):
        raise ValueError(problem)
    return text


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"found '{text}', which is not a regular expression: {error}") from None
    if _LINE_END.search(text):
        raise ValueError(
            f"found '{text}', which never matches: it wants the end of a line within one; allowed: one line"
        )
    return text


def _expression(text: str) -> str:
    try:
        expression.read(text)
    except InputError as error:
        raise ValueError(str(error)) from None
    return text


def _word(text: str) -> str:
    try:
        names_in(text)
    except InputError as error:
        raise ValueError(str(error)) from None
    return text


def _file(text: str) -> str:
    _word(text)
    if problem := way_problem(text):
        raise ValueError(problem)
    return text


Word = Annotated[str, AfterValidator(_word), Allowed("a text with names in braces")]
RunFile = Annotated[str, AfterValidator(_file), Allowed("a file in the run's folder, with names in braces")]
RunFiles = Annotated[tuple[RunFile, ...], Loose, Allowed("a list of files in the run's folder, with names in braces")]
Words = Annotated[tuple[Word, ...], Loose, Allowed("a list of texts with names in braces")]
Pattern = Annotated[str, AfterValidator(_pattern), Allowed("a regular expression with names in braces")]
Patterns = Annotated[tuple[Pattern, ...], Loose, Allowed("a list of regular expressions with names in braces")]
JsonPath = Annotated[str, AfterValidator(_json_path), Allowed("a path such as figures[name=total].value")]
ExpressionText = Annotated[str, AfterValidator(_expression), Allowed("an expression")]
Unit = Annotated[str, AfterValidator(_unit), Allowed("a unit: SI without prefixes")]
Time = Annotated[str, AfterValidator(_time), Allowed('a time such as "90s", "30min" or "8h"')]
SOURCES = ("pattern", "json_path", "csv_column", "expression")


class FigureTable(Table):
    """A number that a run leaves. One of pattern, json_path, csv_column and expression says where it stands."""

    name: Word = key("of the figure; names of parameters in braces are filled in")
    unit: Unit = key("SI, as in records: seconds, bytes, 1, points_per_second, seconds_per_step, …")
    direction: Direction = key("which values are better", "", "none")
    role: Literal["merit", "context"] = key("merit: compared; context: explains", "", "merit")
    file: RunFile = key("where it stands: stdout, stderr, or a file in the run's folder", "", "stdout")
    pattern: Pattern | None = key(
        "a regular expression with one group, the number, for each line by itself", default=None
    )
    json_path: JsonPath | None = key(
        "place in a JSON file: keys with dots, [n] of a list, [*]: all, [key=value] of a list of tables", default=None
    )
    csv_column: str | None = key("a column of a CSV file with a head line", default=None)
    expression: ExpressionText | None = key(
        "made from figures above it and parameters, by their names with _ for blanks", default=None
    )
    not_after: Pattern | None = key("the next match after a line with this pattern is left out", default=None)
    since: Pattern | None = key("only what stands from the last line with this pattern on counts", default=None)
    take: Take = key(
        "which, where there are several; only: several are an error; count: how many there are, or 0", "", "last"
    )
    skip: Annotated[int, Ge(0)] = key("of several, so many first ones are left out", "", 0)
    scale: float = key("the number is multiplied by it, to have the unit", "", 1.0)
    default: float | None = key("its value in a run without it", default=None)
    optional: bool = key("a run without it is as good", "", False)

    @property
    def patterns(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(word for word in (self.pattern, self.not_after, self.since) if word is not None)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        found = [name for name in SOURCES if getattr(self, name) is not None]
        if len(found) != 1:
            raise ValueError(f"found {' and '.join(found) or 'none of them'}; allowed: one of {', '.join(SOURCES)}")
        for name in ("not_after", "since"):
            if getattr(self, name) is not None and self.pattern is None:
                raise ValueError(f"{name}: found with {found[0]}; allowed: with pattern")
        if self.default is not None and self.optional:
            raise ValueError("default: found with optional; allowed: one of them")
        return self

    @model_validator(mode="after")
    def _one_group(self) -> Self:
        if self.pattern is not None and self.take != "count" and (groups := re.compile(self.pattern).groups) != 1:
            raise ValueError(
                f"pattern: found '{self.pattern}' with {groups} groups; allowed: one, the number; (?:…) does not count"
            )
        return self


class ReferenceTable(Table):
    """A figure that must have a known value."""

    figure: str = key("its name")
    value: float = key("that it must have")
    tolerance: Annotated[float, Ge(0)] = key("by which it may differ, of the value", "", 0.0)


class ValidityTable(Table):
    """What shows that a run did its work. One that does not show it has failed."""

    exit_codes: Annotated[tuple[int, ...], Loose] = key("with which it may end", "", (0,))
    must: Patterns = key("patterns that must occur, each in one line of `file`", default=())
    must_not: Patterns = key("patterns that must not occur there, or in standard error", default=())
    file: RunFile = key("where patterns are looked for: stdout, stderr, or a file in the run's folder", "", "stdout")
    files: RunFiles = key("files that must exist, in the run's folder", default=())
    reference: Annotated[tuple[ReferenceTable, ...], Loose] = key("figures with known values", default=())
