"""A recipe: how somebody's program is run and what it says, in a TOML file, without code.

The tables of this module and of keys.py are the only definition of the keys. What a recipe is used for:

    recipe = load_recipe("opm-flow", directory)             checked; InputError names file, key, place, what is allowed
    recipe.require_program(values)                          it is there, or which package has it
    values = known | recipe.values(given, directory)        known: the names of KNOWN; given: parameters of the study
    recipe.words(values, settings)                          the command
    place_files(recipe, values, folder)                     run_folder.py
    figures_of(recipe.figure, folder, values)               figures.py
    validity_problems(recipe.validity, folder, …)           validity.py
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Protocol, Self, TypeVar

from annotated_types import MinLen
from pydantic import model_validator

from fathometer.base.errors import InputError, shortened
from fathometer.base.meant import did_you_mean, nearest
from fathometer.base.own_program import FATHOMETER, with_own_program
from fathometer.config.constraints import Allowed
from fathometer.config.input_file import InputFile, read_toml, validated
from fathometer.config.table import Table, key, section
from fathometer.config.types import Loose
from fathometer.lab.recipes import expression
from fathometer.lab.recipes.figures import variable
from fathometer.lab.recipes.keys import FigureTable, JsonPath, ValidityTable, Word, Words
from fathometer.lab.recipes.run_folder import fitting
from fathometer.lab.recipes.template import (
    NAME,
    Value,
    Values,
    check_names,
    check_pattern,
    fill,
    fill_words,
    names_in,
    text_of,
)

COLLECTION = Path(__file__).parent / "collection"
PATHS = ("file", "folder")  # types of parameters that are inputs
PLACE = "place"  # type of a parameter: a folder that runs may change
# What each run has besides the parameters of its recipe.
KNOWN: Mapping[str, str] = MappingProxyType(
    {
        "ranks": "MPI ranks of the run",
        "threads": "threads of each rank",
        "nodes": "hosts of the run",
        "ranks_per_node": "ranks of each host",
        "cores": "cores of this machine",
        "folder": "the run's folder, an absolute path",
        "recipe": "the folder of the recipe's file, an absolute path",
        "round": "which repetition it is, from 1",
        "study": "the folder of the study's results, an absolute path",
        "job": "which of the jobs of its name it is, from 1",
    }
)
# What was measured of a run, for expressions besides.
MEASURED: Mapping[str, str] = MappingProxyType({"wall_seconds": "how long the run took, its launcher included"})
_SETTING = ("key", "value")  # names in set_option

Given = Annotated[Value | Annotated[tuple[str, ...], Loose], Allowed("a value of the type")]
Choices = Annotated[tuple[Value, ...], Loose, Allowed("a list of values of the type")]


class ParameterTable(Table):
    """What a study says to the program; a key of its [application]."""

    name: str = key("of the parameter; in braces where its value belongs")
    type: Literal["file", "folder", "place", "text", "number", "words"] = key(
        "file, folder: an input, a path from the study's file that exists; place: a folder in which the program works, "
        "no input; words: a list of texts",
        "",
        "text",
    )
    meaning: str = key("for people")
    default: Given | None = key("where the study does not say it; paths from the recipe's file", default=None)
    choices: Choices = key("values that are allowed; any: left out", default=())


class PredictionTable(Table):
    """A command that says beforehand how long a run will take."""

    command: Annotated[Words, MinLen(1)] = key("its words; it prints JSON, and takes the same settings as the program")
    json_path: JsonPath = key("where in it the seconds stand")


class Recipe(InputFile):
    """How a program is run and what it says."""

    name: str = key("of the recipe; that of its file")
    title: str = key("what the program does, for people")
    package: str = key("the Debian package that it comes from", default="")
    source: str = key("where the patterns come from: documentation or repository, with address and version", default="")
    tried: bool = key("whether it was run with the program; else it is made from published output alone", "", False)
    command: Annotated[Words, MinLen(1)] = key(
        'the program, looked for on PATH, and its words; "fathometer" is this program'
    )
    launch: Literal["own", "mpi", "serial"] = key(
        "own: it starts its ranks itself; mpi: by a launcher; serial: it has none", "", "serial"
    )
    set_option: Words = key(
        "words with which a key of the program's input is set, after the others, with {key} and {value}", default=()
    )
    environment: dict[str, Word] = key("variables of its runs", default={})
    like: str = key(
        "a recipe of the collection: its figures come before those here, its validity holds where there is none here",
        default="",
    )
    parameter: Annotated[tuple[ParameterTable, ...], Loose] = key("what a study says to it", default=())
    copy_files: Words = key("files and folders copied into each run's folder, from the recipe's file", default=())
    link_files: Words = key("files and folders linked there", default=())
    fill_files: Words = key("text files that are copied there with names in braces filled in", default=())
    figure: Annotated[tuple[FigureTable, ...], Loose] = key("numbers that a run leaves", default=())
    prediction: PredictionTable | None = key("how long a run will take, before it; left out: not known", default=None)
    validity: ValidityTable = section("what shows that a run did its work", ValidityTable)

    @property
    def ours(self) -> bool:
        """Whether its program is this one."""
        return self.command[0] == FATHOMETER

    def values(self, given: Mapping[str, object], directory: Path) -> dict[str, Value | Sequence[Value]]:
        """The values of all parameters: those given, else their defaults; paths are absolute.

        directory: where relative paths that are given start. Raises InputError for an unknown parameter, one without a
        value, and a value of the wrong type.
        """
        known = {parameter.name: parameter for parameter in self.parameter}
        for name in given:
            if name not in known:
                near = nearest(name, known, 0.5)
                hint = f"did you mean {near}?" if near else f"known: {', '.join(known) or 'none'}"
                raise InputError(f"{name}: no parameter of the recipe {self.name}; {hint}")
        values: dict[str, Value | Sequence[Value]] = {}
        for name, parameter in known.items():
            if name in given:
                values[name] = _checked(parameter, given[name], directory)
            elif parameter.default is not None:
                values[name] = _checked(parameter, parameter.default, self.directory)
            else:
                raise InputError(
                    f"{name}: missing; needed by the recipe {self.name}: {parameter.meaning} ({_allowed(parameter)})"
                )
        return values

    def words(
        self, values: Values, settings: Mapping[str, Value] | None = None, command: Sequence[str] | None = None
    ) -> list[str]:
        """The command of a run.

        values: of the parameters and of the names in KNOWN. settings: keys of the program's input and their values.
        command: in place of the recipe's, such as that of its prediction.
        Raises InputError for a name without value, and for settings of a program that takes none.
        """
        words = with_own_program(fill_words(self.command if command is None else command, values))
        if settings and not self.set_option:
            raise InputError(f"set: found {', '.join(settings)}; the recipe {self.name} has no set_option")
        for name, value in (settings or {}).items():
            words += fill_words(self.set_option, {**values, "key": name, "value": text_of(value)})
        return words

    def variables(self, values: Values) -> dict[str, str]:
        """The environment variables of a run, besides those that it inherits."""
        return {name: fill(word, values) for name, word in self.environment.items()}

    def inputs(self, values: Values) -> list[Path]:
        """The files and folders that a run reads, as far as its recipe names them."""
        named = [str(values[parameter.name]) for parameter in self.parameter if parameter.type in PATHS]
        filled = fill_words((*self.copy_files, *self.link_files, *self.fill_files), values)
        paths = [self.directory.absolute() / name for name in named if name]
        paths += [path for name in filled if name for path in fitting(name, self.directory)]
        return list(dict.fromkeys(paths))

    def require_program(self, values: Values) -> None:
        """Raises InputError, with the package that has it, where the program is not there."""
        program = fill(self.command[0], values)
        if not self.ours and shutil.which(program) is None:
            package = f"the Debian package {self.package}" if self.package else "to be installed"
            raise InputError(f"recipe {self.name}: no program {program} on PATH; needed: {package}")

    @model_validator(mode="after")
    def _names_fit(self) -> Self:
        parameters = [parameter.name for parameter in self.parameter]
        for place, parameter in enumerate(self.parameter, 1):
            with _at(f"[[parameter]] {place}"):
                _check_parameter(parameter, parameters[: place - 1])
        names = [*KNOWN, *parameters]
        _check_words("command", self.command, names)
        if self.prediction is not None:
            _check_words("[prediction] command", self.prediction.command, names)
        _check_words("set_option", self.set_option, [*names, *_SETTING])
        _check_words("environment", tuple(self.environment.values()), names)
        for where in ("copy_files", "link_files", "fill_files"):
            _check_words(where, getattr(self, where), names)
        _check_words("[validity]", (self.validity.file, *self.validity.files), names)
        check_figures(self.figure, self.validity, names)
        return self


def check_figures(figures: Sequence[FigureTable], validity: ValidityTable, names: Sequence[str]) -> None:
    """Raises ValueError where names of figures, in braces or in expressions do not fit.

    names: those that have values, besides figures.
    """
    variables: list[str] = []
    for place, figure in enumerate(figures, 1):
        with _at(f"[[figure]] {place}"):
            if variable(figure.name) in variables:
                raise InputError(f'name: found "{figure.name}" twice; allowed: names of which each is used once')
            check_names(figure.name, names)
            check_names(figure.file, names)
            for pattern in figure.patterns:
                check_pattern(pattern, names)
            used = expression.read(figure.expression).names if figure.expression is not None else ()
            usable = [*variables, *MEASURED, *names]
            for name in used:
                if name not in usable:
                    known = ", ".join(usable) + did_you_mean(name, usable)
                    raise InputError(f"expression: unknown name {name}; known here: {known}")
        variables.append(variable(figure.name))
    with _at("[validity]"):
        for pattern in (*validity.must, *validity.must_not):
            check_pattern(pattern, names)
    known_figures = [figure.name for figure in figures]
    for reference in validity.reference:
        if reference.figure not in known_figures:
            raise ValueError(
                f'[validity] reference: found "{reference.figure}"; allowed: a figure: {", ".join(known_figures)}'
                f"{did_you_mean(reference.figure, known_figures)}"
            )


class WithFigures(Protocol):
    """A recipe, and a table of a study file that has figures too."""

    @property
    def figure(self) -> tuple[FigureTable, ...]: ...
    @property
    def validity(self) -> ValidityTable: ...
    def model_copy(self, *, update: Mapping[str, Any]) -> Self: ...


Named = TypeVar("Named", bound=WithFigures)


def named(table: Named, values: Values) -> Named:
    """A table with the names of its figures filled in. A name in braces that has no value there stands for itself."""

    def name(text: str) -> str:
        return fill(text, {**{word: word for word in names_in(text)}, **values})

    figures = tuple(figure.model_copy(update={"name": name(figure.name)}) for figure in table.figure)
    known = tuple(each.model_copy(update={"figure": name(each.figure)}) for each in table.validity.reference)
    validity = table.validity.model_copy(update={"reference": known})
    return table.model_copy(update={"figure": figures, "validity": validity})


def recipes() -> tuple[str, ...]:
    """The names of the recipes that come with the program."""
    return tuple(sorted(path.stem for path in COLLECTION.glob("*.toml")))


def load_recipe(reference: str, directory: Path) -> Recipe:
    """The recipe of a name, or of a file: what ends in .toml or has a slash is a path, from `directory`.

    Raises InputError where there is none, and for what is wrong in its file.
    """
    if "/" in reference or reference.endswith(".toml"):
        path = directory / reference
    elif reference in recipes():
        path = COLLECTION / f"{reference}.toml"
    else:
        near = nearest(reference, recipes(), 0.5)
        hint = f"did you mean {near}? " if near else ""
        known = ", ".join(recipes())
        raise InputError(
            f"recipe: found {shortened(reference, 40)}; {hint}allowed: the path of a TOML file, or {known}"
        )
    return validated(Recipe, _with_figures(read_toml(path, "the recipe"), path), path)


def _with_figures(values: dict[str, Any], path: Path) -> dict[str, Any]:
    """The values of a recipe's file with the figures of the one that it is like. Raises InputError where there is none,
    or where that is like another one."""
    like = values.get("like")
    if not like:
        return values
    known = [name for name in recipes() if name != path.stem]
    if like not in known:
        meant = did_you_mean(like, known)
        raise InputError(f"{path}: like: found {shortened(like, 40)}; allowed: {', '.join(known)}{meant}")
    other = read_toml(COLLECTION / f"{like}.toml", "the recipe")
    if "like" in other:
        raise InputError(f"{path}: like: found {like}, which is like {other['like']}; allowed: a recipe of its own")
    figures = [*other.get("figure", ()), *values.get("figure", ())]
    return {"validity": other.get("validity", {}), **values, "figure": figures}


class _at:
    """Puts a place before the message of an InputError, which becomes the ValueError that pydantic takes."""

    def __init__(self, words: str) -> None:
        self._words = words

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, InputError):
            raise ValueError(f"{self._words} {error}") from None


def _check_words(where: str, words: Sequence[str], names: Sequence[str]) -> None:
    with _at(f"{where}:"):
        for word in words:
            check_names(word, names)


def _check_parameter(parameter: ParameterTable, earlier: Sequence[str]) -> None:
    if not re.fullmatch(NAME, parameter.name) or parameter.name in (*KNOWN, *MEASURED, *_SETTING):
        taken = ", ".join((*KNOWN, *MEASURED, *_SETTING))
        raise InputError(f'name: found "{parameter.name}"; allowed: letters, digits and _, but for {taken}')
    if parameter.name in earlier:
        raise InputError(f'name: found "{parameter.name}" twice; allowed: names of which each is used once')
    if parameter.default is not None and not _fits(parameter, parameter.default):
        raise InputError(f"default: found {parameter.default!r}; allowed: {_allowed(parameter, parameter.default)}")


def _checked(parameter: ParameterTable, value: object, directory: Path) -> Value | Sequence[Value]:
    """A value that was given, or the default."""
    if not _fits(parameter, value):
        raise InputError(f"{parameter.name}: found {shortened(value, 60)}; allowed: {_allowed(parameter, value)}")
    if parameter.type in (*PATHS, PLACE) and value != "":
        path = Path(directory, str(value)).absolute()
        if not (path.is_file() if parameter.type == "file" else path.is_dir()):
            what = "file" if parameter.type == "file" else "folder"
            raise InputError(f"{parameter.name}: no {what} {path}; needed: {parameter.meaning}")
        return str(path)
    if parameter.type == "words":
        assert isinstance(value, list | tuple)
        return tuple(value)
    assert isinstance(value, bool | int | float | str)
    return value


def _fits(parameter: ParameterTable, value: object) -> bool:
    if parameter.type == "words":
        return isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)
    if parameter.type == "number":
        right = isinstance(value, int | float) and not isinstance(value, bool)
    elif parameter.type in (*PATHS, PLACE):
        right = isinstance(value, str)
    else:
        right = isinstance(value, bool | int | float | str)
    return right and (not parameter.choices or value in parameter.choices)


def _allowed(parameter: ParameterTable, found: object = "") -> str:
    if parameter.choices:
        choices = [text_of(choice) for choice in parameter.choices]
        return f"{' or '.join(choices)}{did_you_mean(found, choices)}"
    return "a list of texts" if parameter.type == "words" else f"a {parameter.type}"
