"""Prints what pyproject.toml asks for to build, run, test and check this project, one requirement a line; or, with the
name of an extra, what that one asks for."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
extras = project["project"]["optional-dependencies"]
requirements = (
    extras[sys.argv[1]]
    if len(sys.argv) > 1
    else [*project["build-system"]["requires"], *project["project"]["dependencies"], *extras["dev"]]
)
print("\n".join(sorted(set(requirements))))
