"""A program of a study: a recipe or a command, with what the study says to it, made into the command of one run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.meant import did_you_mean
from fathometer.config.input_file import validated
from fathometer.lab.profile import study_figures
from fathometer.lab.recipes.figures import figures_of
from fathometer.lab.recipes.keys import FigureTable
from fathometer.lab.recipes.recipe import KNOWN, MEASURED, Recipe, check_figures, load_recipe, named
from fathometer.lab.recipes.run_folder import LARGEST_TEXT, RunFiles, fitting, place_files
from fathometer.lab.recipes.template import Value, Values, fill_words, names_in, names_in_pattern, value_of
from fathometer.lab.recipes.validity import validity_problems
from fathometer.lab.studies.builds import BASELINE, BUILD, baseline_words
from fathometer.lab.studies.results import FigureInfo
from fathometer.lab.studies.study_file import ProgramTable

ELAPSED = FigureInfo("elapsed", "seconds", "lower")  # of every run: from its start to its end, as the study sees it


@dataclass(frozen=True)
class Program:
    """A program of a study.

    Attributes:
        table: what the study file says of it. recipe: its recipe, or one made of the table's command.
        directory: where relative paths of the study file start.
        baseline: the earlier build, which stands in place of the command's program, or the whole command (builds.py).
    """

    table: ProgramTable
    recipe: Recipe
    directory: Path
    baseline: str | Sequence[str] | None = None

    @cached_property
    def recipe_folder(self) -> str:
        """The folder of the recipe's file, an absolute path."""
        return str(self.recipe.directory.absolute())

    @property
    def figures(self) -> Sequence[FigureTable]:
        """Of the recipe, and of the study file."""
        return (*self.recipe.figure, *self.table.figure)

    def infos(self) -> list[FigureInfo]:
        """The figures of its runs, the elapsed time last: a merit where the program has none."""
        infos = [FigureInfo(table.name, table.unit, table.direction, table.role) for table in self.figures]
        merits = any(info.role == "merit" for info in infos)
        if self.table.profile:
            infos += [FigureInfo(name, unit, "none", "context") for name, unit in study_figures.UNITS.items()]
        return [*infos, replace(ELAPSED, role="context") if merits else ELAPSED]

    def names(self) -> set[str]:
        """Names in braces in what the study file says, and the recipe's parameters that it leaves to factors."""
        given = self.table.parameters
        texts = [*_texts(given.values()), *_texts(self.table.set.values()), *(self.table.command or ())]
        texts += [self.baseline] if isinstance(self.baseline, str) else (self.baseline or ())
        texts += [*self.table.copy_files, *self.table.link_files, *self.table.fill_files]
        texts += [text for table in self.table.figure for text in (table.name, table.file)]
        texts += self._texts_to_fill()
        patterns = [*self.table.validity.must, *self.table.validity.must_not]
        patterns += [pattern for table in self.table.figure for pattern in table.patterns]
        left = {parameter.name for parameter in self.recipe.parameter} - given.keys()
        in_patterns = {name for pattern in patterns for name in names_in_pattern(pattern)}
        return {name for text in texts for name in names_in(text)} | in_patterns | left

    def _texts_to_fill(self) -> list[str]:
        """The texts of fill_files whose own names have no braces, as far as they can be read by now."""
        found = []
        for name in self.table.fill_files:
            path = self.directory / name
            if not names_in(name) and path.is_file() and path.stat().st_size <= LARGEST_TEXT:
                with suppress(OSError, UnicodeDecodeError):
                    found.append(path.read_text(encoding="utf-8"))
        return found

    def values(self, known: Values) -> dict[str, Value | Sequence[Value]]:
        """All names of a run with their values.

        known: settings of the case, and the names of KNOWN. Raises InputError for a parameter that does not fit.
        """
        parameters = {parameter.name for parameter in self.recipe.parameter}
        given = {name: value for name, value in known.items() if name in parameters}
        given |= {name: filled(value, known) for name, value in self.table.parameters.items()}
        return {**known, **self.recipe.values(given, self.directory)}

    def words(self, values: Values) -> list[str]:
        """The command of a run. Raises InputError."""
        settings = {name: filled(value, values) for name, value in self.table.set.items()}
        for name, value in settings.items():
            if not isinstance(value, bool | int | float | str):
                raise InputError(f"set.{name}: found a list; allowed: a number or a text")
        command = None
        if self.baseline is not None and values.get(BUILD) == BASELINE:
            command = baseline_words(self.baseline, self.recipe.command)
        return self.recipe.words(values, settings, command)  # type: ignore[arg-type]

    def words_of_baseline(self, values: Values) -> list[str]:
        """Those words of the baseline's command that [gate] gives: the others are those of this build. Raises
        InputError."""
        return [] if self.baseline is None else self.recipe.words(values, None, baseline_words(self.baseline, ()))

    def prediction(self, values: Values) -> tuple[list[str], str]:
        """The words of the command that predicts a run's seconds, and where in its JSON they stand.

        Raises InputError where the recipe has none.
        """
        table = self.recipe.prediction
        if table is None:
            raise InputError(f"the recipe {self.recipe.name} has no [prediction]; allowed: a study without --predict")
        settings = {name: filled(value, values) for name, value in self.table.set.items()}
        return self.recipe.words(values, settings, table.command), table.json_path  # type: ignore[arg-type]

    def place_inputs(self, folder: Path, values: Values) -> None:
        """Put the files of the recipe and of the study file into a run's folder. Raises InputError."""
        for files, directory in ((self.recipe, self.recipe.directory), (self.table, self.directory)):
            place_files(folder, directory, values, files.copy_files, files.link_files, files.fill_files)

    def inputs(self, values: Values) -> list[Path]:
        """Files and folders that a run reads, as far as recipe and study file name them."""
        own = fill_words((*self.table.copy_files, *self.table.link_files, *self.table.fill_files), values)
        return [*self.recipe.inputs(values), *(path for name in own if name for path in fitting(name, self.directory))]

    def check_files(self, folder: Path, values: Values) -> None:
        """Raises InputError where a file in which a run's outcome is looked for would not be in its folder."""
        run = RunFiles(folder, values)
        for validity in (self.recipe.validity, self.table.validity):
            for name in (validity.file, *validity.files):
                run.name(name)
        for figure in self.figures:
            run.name(figure.file)

    def outcome(self, folder: Path, values: Values, code: int, seconds: float) -> tuple[dict[str, float], list[str]]:
        """Figures of a run that has ended, and what is wrong with it.

        code: of its exit, 128 + N for signal N. seconds: that it took.
        """
        figures, problems = figures_of(self.figures, folder, {**values, "wall_seconds": seconds})
        if self.table.profile:
            try:
                figures |= study_figures.figures_in(folder)
            except FathometerError as error:
                problems = [*problems, str(error)]
        signalled = 128 - code if code > 128 else code
        for validity in (self.recipe.validity, self.table.validity):
            problems = [*validity_problems(validity, folder, values, signalled, figures), *problems]
        return figures, list(dict.fromkeys(problems))


def program_of(
    table: ProgramTable, directory: Path, names: Sequence[str], baseline: str | Sequence[str] | None = None
) -> Program:
    """The program that a table of the study file asks for.

    directory: of the study file. names: that have values in each run, besides those of KNOWN and the parameters.
    baseline: of [gate].
    Raises InputError that names the key.
    """
    if (table.recipe is None) == (table.command is None):
        found = "both" if table.recipe is not None else "neither"
        raise InputError(f"recipe, command: found {found}; allowed: one of them")
    if table.recipe is not None:
        if table.launch is not None:
            raise InputError("launch: found with a recipe, which says it; allowed: with command")
        recipe = load_recipe(table.recipe, directory)
    else:
        assert table.command is not None
        if table.parameters:
            raise InputError(f"{next(iter(table.parameters))}: unknown key; parameters are those of a recipe")
        recipe = _bare_recipe(table.command, table.launch or "serial", directory, names)
    constants = _constants(recipe, table, names)
    program = Program(named(table, constants), named(recipe, constants), directory, baseline)
    known = [*names, *KNOWN, *MEASURED, *(parameter.name for parameter in recipe.parameter)]
    for name in sorted(program.names() - set(known)):
        raise InputError(f"unknown name {{{name}}}; known: {', '.join(known)}{did_you_mean(name, known)}")
    try:
        check_figures(program.figures, program.table.validity, known)
    except ValueError as error:
        raise InputError(str(error)) from None
    return program


def filled(value: object, values: Values) -> Value | Sequence[Value]:
    """A value of the study file with its names in braces filled in; a text that is one name keeps its value's type."""
    if isinstance(value, str):
        return value_of(value, values)
    if isinstance(value, list | tuple):
        return tuple(fill_words([str(word) for word in value], values))
    assert isinstance(value, bool | int | float), "other values are refused when the file is read"
    return value


def _constants(recipe: Recipe, table: ProgramTable, factors: Sequence[str]) -> dict[str, Value]:
    """The parameters of a recipe that are the same in all runs."""
    values = {each.name: each.default for each in recipe.parameter if each.name not in factors} | table.parameters
    varied = [name for name, value in table.parameters.items() if any(map(names_in, _texts([value])))]
    return {
        name: value
        for name, value in values.items()
        if isinstance(value, bool | int | float | str) and name not in varied
    }


def _bare_recipe(words: Sequence[str], launch: str, directory: Path, names: Sequence[str]) -> Recipe:
    """A recipe that has a command and nothing else; names that are not of every run are its parameters."""
    used = dict.fromkeys(name for word in words for name in names_in(word) if name in names and name not in KNOWN)
    values = {
        "name": "command",
        "title": words[0] if words else "",
        "tried": True,
        "command": list(words),
        "launch": launch,
        "parameter": [{"name": name, "meaning": "a factor"} for name in used],
    }
    return validated(Recipe, values, directory / "command")


def _texts(values: object) -> list[str]:
    """All texts in values of the study file."""
    found = []
    for value in values:  # type: ignore[attr-defined]
        found += [value] if isinstance(value, str) else _texts(value) if isinstance(value, list | tuple) else []
    return found
