"""Recipe files: what they hold, what is wrong with them, what a run is made of."""

import sys
from pathlib import Path

import pytest
from paths import ROOT

from fathometer.base.errors import InputError
from fathometer.config.reference import BEGIN_MARKER, END_MARKER, reference
from fathometer.lab.recipes.figures import figures_of
from fathometer.lab.recipes.recipe import COLLECTION, Recipe, load_recipe, named, recipes
from fathometer.lab.recipes.run_folder import place_files
from fathometer.lab.recipes.validity import validity_problems

RECIPE = """\
name = "mine"
title = "A program of mine"
command = ["./mine", "{input}", "-t{threads}", "{options}"]
launch = "mpi"
set_option = ["--{key}", "{value}"]
environment = {THREADS = "{threads}"}
copy_files = ["{input}"]

[[parameter]]
name = "input"
type = "file"
meaning = "what it reads"

[[parameter]]
name = "cells"
type = "number"
meaning = "cells along each axis"
default = 10
choices = [10, 20]

[[parameter]]
name = "options"
type = "words"
meaning = "further options"
default = []

[[figure]]
name = "total time"
unit = "seconds"
pattern = 'total ([0-9.]+) s'

[[figure]]
name = "rate"
unit = "cells_per_second"
expression = "cells ** 3 / total_time"

[validity]
must = ["end"]
reference = [{figure = "total time", value = 1.0, tolerance = 0.5}]
""".replace("cells ** 3", "cells * cells * cells")
VALUES = {"threads": 2, "ranks": 4}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").write_text("x")
    return tmp_path


def load(folder, text=RECIPE):
    (folder / "mine.toml").write_text(text)
    return load_recipe("mine.toml", folder)


def test_a_command_is_made_of_parameters_and_settings(folder):
    recipe = load(folder)
    values = VALUES | recipe.values({"input": "data", "options": ["-v", "-x y"]}, folder)
    data = str(folder / "data")
    assert recipe.words(values, {"a.b": True, "c": 0.5, "d": "e f"}) == [
        *("./mine", data, "-t2", "-v", "-x y"),
        *("--a.b", "true", "--c", "0.5", "--d", "e f"),
    ]
    assert recipe.variables(values) == {"THREADS": "2"}
    assert recipe.inputs(values) == [folder / "data"]
    assert values["cells"] == 10
    assert not recipe.ours


def test_our_own_program_is_this_one(folder):
    recipe = load(folder, RECIPE.replace("./mine", "fathometer"))
    values = VALUES | recipe.values({"input": "data"}, folder)
    assert recipe.words(values) == [sys.executable, "-P", "-m", "fathometer", str(folder / "data"), "-t2"]
    recipe.require_program(values)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, r"input: missing; needed by the recipe mine: what it reads \(a file\)"),
        ({"input": "absent"}, "input: no file .*/absent; needed: what it reads"),
        ({"input": 3}, "input: found 3; allowed: a file"),
        ({"input": "data", "cell": 10}, r"cell: no parameter of the recipe mine; did you mean cells\?"),
        ({"input": "data", "cells": 11}, "cells: found 11; allowed: 10 or 20"),
        ({"input": "data", "cells": "many"}, "cells: found many; allowed: 10 or 20"),
        ({"input": "data", "options": "-v"}, "options: found -v; allowed: a list of texts"),
    ],
)
def test_wrong_parameters(folder, given, told):
    with pytest.raises(InputError, match=told):
        load(folder).values(given, folder)


def test_names_of_figures_are_filled_in_as_far_as_they_are_known(folder):
    recipe = load(folder, RECIPE.replace("total time", "total of {cells} cells").replace("total_time", "1.0"))
    filled = named(recipe, {"cells": 20})
    assert [figure.name for figure in filled.figure] == ["total of 20 cells", "rate"]
    assert filled.validity.reference[0].figure == "total of 20 cells"
    assert named(recipe, {}).figure[0].name == "total of cells cells"


def test_a_default_file_lies_beside_the_recipe(folder, tmp_path_factory):
    recipe = load(folder, RECIPE.replace('type = "file"', 'type = "file"\ndefault = "data"'))
    assert recipe.values({}, tmp_path_factory.mktemp("elsewhere"))["input"] == str(folder / "data")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('unit = "seconds"', 'unit = "ms"', '[[figure]] 1 unit: found "ms"; allowed: 1, seconds, bytes'),
        ("total ([0-9.]+) s", "total", "[[figure]] 1: pattern: found 'total' with 0 groups; allowed: one"),
        ("total ([0-9.]+) s", "(a)(b)", "[[figure]] 1: pattern: found '(a)(b)' with 2 groups"),
        ("total ([0-9.]+) s", "tot(al", "[[figure]] 1 pattern: found 'tot(al', which is not a regular expression"),
        (
            'expression = "',
            'json_path = "a"\nexpression = "',
            "[[figure]] 2: found json_path and expression; allowed: one",
        ),
        ("pattern = 'total ([0-9.]+) s'", "", "[[figure]] 1: found none of them; allowed: one of pattern, json_path"),
        ("pattern = 'total ([0-9.]+) s'", 'json_path = "a..b"', '[[figure]] 1 json_path: found "a..b"; allowed: keys'),
        ("total_time", "total_tim", "[[figure]] 2 expression: unknown name total_tim; known here: total_time, wall_"),
        ("cells * cells", "cells.x", "[[figure]] 2 expression: cells.x * cells / total_time: found cells.x; allowed"),
        ('name = "rate"', 'name = "total time"', '[[figure]] 2 name: found "total time" twice'),
        ("-t{threads}", "-t{thread}", "command: -t{thread}: unknown name {thread}; did you mean {threads}?"),
        ("-t{threads}", "-t{threads", "command: -t{threads: found a { alone"),
        ('"--{key}"', '"--{name}"', "set_option: --{name}: unknown name {name}"),
        ('copy_files = ["{input}"]', 'copy_files = ["{in}"]', "copy_files: {in}: unknown name {in}"),
        (
            "total ([0-9.]+) s",
            "{cell} ([0-9.]+) s",
            "[[figure]] 1 {cell} ([0-9.]+) s: unknown name {cell}; did you mean",
        ),
        (
            'name = "total time"',
            'name = "total {cell}"',
            "[[figure]] 1 total {cell}: unknown name {cell}; did you mean",
        ),
        ('must = ["end"]', 'must = ["end {cell}"]', "[validity] end {cell}: unknown name {cell}; did you mean"),
        ('name = "cells"', 'name = "ranks"', '[[parameter]] 2 name: found "ranks"; allowed: letters'),
        ('name = "cells"', 'name = "input"', '[[parameter]] 2 name: found "input" twice'),
        ("default = 10", "default = 12", "[[parameter]] 2 default: found 12; allowed: 10 or 20"),
        ('type = "file"', 'type = "path"', '[[parameter]] 1 type: found "path"; allowed: "file" or "folder"'),
        ('must = ["end"]', 'must = ["en(d"]', "[validity] must: found 'en(d', which is not a regular expression"),
        (
            '{figure = "total time"',
            '{figure = "time"',
            '[validity] reference: found "time"; allowed: a figure: total time',
        ),
        ('launch = "mpi"', 'launch = "mpirun"', 'launch: found "mpirun"; allowed: "own" or "mpi" or "serial"'),
        ("launch =", "lunch =", "launch"),
        ('title = "A program of mine"', "", "title: missing; needed: a string"),
        ('command = ["./mine", "{input}", "-t{threads}", "{options}"]', "command = []", "command: found []; allowed:"),
    ],
)
def test_a_wrong_recipe_is_one_line_with_its_place(folder, old, new, told):
    assert old in RECIPE
    with pytest.raises(InputError) as raised:
        load(folder, RECIPE.replace(old, new, 1))
    line = str(raised.value)
    assert line.startswith(f"{folder / 'mine.toml'}: ")
    assert told in line
    assert "\n" not in line


def test_a_program_that_is_not_there_is_named_with_its_package(folder):
    recipe = load(folder, RECIPE.replace("./mine", "no-such-program").replace("launch", 'package = "mine-bin"\nlaunch'))
    with pytest.raises(
        InputError, match="recipe mine: no program no-such-program on PATH; needed: the Debian package mine"
    ):
        recipe.require_program(VALUES)


def test_settings_of_a_program_that_takes_none(folder):
    recipe = load(folder, RECIPE.replace('set_option = ["--{key}", "{value}"]', ""))
    values = VALUES | recipe.values({"input": "data"}, folder)
    with pytest.raises(InputError, match="set: found a; the recipe mine has no set_option"):
        recipe.words(values, {"a": 1})


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        (
            "fathometer-migrat",
            r"recipe: found fathometer-migrat; did you mean fathometer-migrate\? allowed: .*, or blast, ",
        ),
        ("nothing-like-it", "recipe: found nothing-like-it; allowed: the path of a TOML file, or blast, "),
        ("absent.toml", "absent.toml: cannot read the recipe"),
        ("./absent", "absent: cannot read the recipe"),
    ],
)
def test_unknown_recipes(folder, reference, told):
    with pytest.raises(InputError, match=told):
        load_recipe(reference, folder)


@pytest.mark.parametrize("name", recipes())
def test_the_collection(name):
    recipe = load_recipe(name, Path())
    assert recipe.name == name
    assert recipe.path == COLLECTION / f"{name}.toml"
    assert recipe.source
    assert recipe.tried or not recipe.package
    assert any(figure.role == "merit" for figure in recipe.figure)


def test_the_guide_lists_the_collection_and_holds_the_reference():
    text = (ROOT / "docs" / "guide" / "recipes.md").read_text(encoding="utf-8")
    table = text.partition("| name | program |")[2].partition("\n\n")[0]
    for name in recipes():
        (row,) = [line for line in table.splitlines() if f"`{name}`" in line]
        assert row.endswith("| yes |") == load_recipe(name, Path()).tried
        assert load_recipe(name, Path()).package in row
    assert f"{BEGIN_MARKER}\n{reference(Recipe)}{END_MARKER}" in text, "run: make docs"


def test_the_example_of_the_guide_is_a_recipe(tmp_path):
    text = (ROOT / "docs" / "guide" / "recipes.md").read_text(encoding="utf-8")
    (example,) = [block for block in text.split("```toml\n")[1:] if "[[figure]]" in block]
    recipe = load(tmp_path, example.partition("```")[0])
    (tmp_path / "plate").write_text("")
    (tmp_path / "stdout").write_text("steps: 20\nsolved in 500.0 ms\nconverged\n")
    values = recipe.values({"input": "plate", "cells": 100}, tmp_path)
    assert recipe.words(values) == ["heat2d", "--cells=100", str(tmp_path / "plate")]
    figures, problems = figures_of(recipe.figure, tmp_path, values)
    assert figures == {"total": 0.5, "steps": 20.0, "cell updates": 400000.0}
    assert problems == validity_problems(recipe.validity, tmp_path, values, 0, figures) == []


def test_files_are_copied_linked_and_filled_in(tmp_path):
    source, folder = tmp_path / "source", tmp_path / "run"
    (source / "deep").mkdir(parents=True)
    folder.mkdir()
    for name in ("a.1", "a.2", "deep/b"):
        (source / name).write_text(name)
    (source / "deep" / "link").symlink_to("b")
    (source / "input").write_text("n = {n}, {{}}\n")
    place_files(folder, source, {"n": 7, "which": "a", "none": ""}, ["deep", "{none}"], ["{which}.*"], ["input"])
    assert (folder / "deep" / "b").read_text() == "deep/b"
    assert not (folder / "deep").is_symlink()
    assert (folder / "deep" / "link").is_symlink()
    assert (folder / "a.1").readlink() == source / "a.1"
    assert (folder / "a.2").readlink() == source / "a.2"
    assert (folder / "input").read_text() == "n = 7, {}\n"


def test_a_file_that_is_copied_is_not_linked_too(tmp_path):
    source, folder = tmp_path / "source", tmp_path / "run"
    source.mkdir()
    folder.mkdir()
    for name in ("input", "data"):
        (source / name).write_text(name)
    place_files(folder, source, {}, ["input"], ["*"])
    assert (folder / "data").is_symlink()
    assert not (folder / "input").is_symlink()
    assert (folder / "input").read_text() == "input"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"copy_files": ["absent"]}, "absent: no such file or folder"),
        ({"link_files": ["z*"]}, r"z\*: no such file or folder"),
        ({"copy_files": ["a"], "link_files": ["deep/a"]}, "found a second a"),
        ({"fill_files": ["a"]}, r"a: \{m\}: unknown name \{m\}"),
        ({"fill_files": ["bytes"]}, "bytes: not text in UTF-8"),
    ],
)
def test_files_that_cannot_be_placed(tmp_path, words, told):
    source, folder = tmp_path / "source", tmp_path / "run"
    (source / "deep").mkdir(parents=True)
    folder.mkdir()
    (source / "a").write_text("{m}")
    (source / "deep" / "a").write_text("")
    (source / "bytes").write_bytes(b"\xff")
    with pytest.raises(InputError, match=told):
        place_files(folder, source, {"n": 1}, **words)
