"""Prints what pyproject.toml asks for, a requirement a line: to build (build), to run (run), or of extras by name.

Usage: python tools/requirements.py NAME…
"""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
tables = {
    "build": [*project["build-system"]["requires"], *project["dependency-groups"]["build"]],
    "run": project["project"]["dependencies"],
    **project["project"]["optional-dependencies"],
}
print("\n".join(sorted({requirement for name in sys.argv[1:] for requirement in tables[name]})))
