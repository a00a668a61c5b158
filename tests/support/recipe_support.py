"""A program run once by its recipe, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from time import perf_counter

import pytest
from patience import PATIENCE

from fathometer.base.errors import InputError
from fathometer.lab.recipes.figures import figures_of
from fathometer.lab.recipes.recipe import load_recipe, named
from fathometer.lab.recipes.run_folder import place_files
from fathometer.lab.recipes.validity import validity_problems

LAUNCHER = ("mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n")


def run_recipe(name: str, given, folder: Path, ranks: int = 1, settings=None):
    """The figures of a run by a recipe of the collection, and what is wrong with it. The test is skipped where the
    program is not installed."""
    folder.mkdir()
    recipe = load_recipe(name, Path())
    known = {"ranks": ranks, "threads": 1, "nodes": 1, "ranks_per_node": ranks, "cores": 2, "round": 0}
    known |= {"folder": str(folder), "recipe": str(recipe.directory.absolute())}
    values = known | recipe.values(given, folder.parent)
    try:
        recipe.require_program(values)
    except InputError as error:
        pytest.skip(str(error))
    place_files(folder, recipe.directory, values, recipe.copy_files, recipe.link_files, recipe.fill_files)
    words = recipe.words(values, settings)
    if recipe.launch == "mpi":
        words = [*LAUNCHER, str(ranks), *words]
    begin = perf_counter()
    with (folder / "stdout").open("w") as out, (folder / "stderr").open("w") as errors:
        environment = os.environ | recipe.variables(values)
        code = subprocess.run(
            words, cwd=folder, env=environment, stdout=out, stderr=errors, timeout=PATIENCE
        ).returncode
    values["wall_seconds"] = perf_counter() - begin
    recipe = named(recipe, values)
    figures, problems = figures_of(recipe.figure, folder, values)
    return figures, [*problems, *validity_problems(recipe.validity, folder, values, code, figures)]
