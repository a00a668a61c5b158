"""Where a form's study file is written, and what may be replaced by it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError
from fathometer.lab.studies.course import FREE
from fathometer.storage import atomic

FIRST = "# The form "  # how a form's study file begins
STUDY, FILE = ".study", ".toml"


def study_path(name: str, output: Path | None) -> Path:
    """The study file of a form, beside the folder of its results. Raises InputError for a folder without a name."""
    folder = output if output is not None else Path(f"{name}{STUDY}")
    if folder.name in ("", "..") or folder.suffix == FILE:
        raise InputError(
            f"--output: found {folder}; allowed: a folder with a name of its own that does not end in {FILE}"
        )
    return folder.with_name(folder.name.removesuffix(STUDY) + FILE)


def write_study(path: Path, text: str, inputs: Iterable[Path | None], overwrite: bool) -> None:
    """Write the study file, where there is none, or one that this form has made and that differs in how the answer is
    shown alone; with `overwrite` any that a form has made.

    inputs: files and folders that the study reads. Raises InputError where another file is there.
    """
    if any(one is not None and one.resolve() == path.resolve() for one in inputs):
        raise InputError(f"{path}: is the input, and would be the study file as well; allowed: --output DIR")
    if path.exists() or path.is_symlink():
        before = path.read_bytes() if path.is_file() else b""
        if before == text.encode():
            return
        if not before.startswith(FIRST.encode()):
            raise InputError(f"{path}: holds something else than a form's study; allowed: --output DIR")
        if not overwrite and _measured(before.decode(errors="replace")) != _measured(text):
            raise InputError(
                f"{path}: holds another study of a form; allowed: --overwrite, --output DIR, or `fathometer study run "
                f"{path}`, which runs that"
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(path, text.encode())


def _measured(text: str) -> dict[str, Any] | None:
    """What a study file says but for what may change while it goes on; None of what is none."""
    try:
        values = tomllib.loads(text)
    except ValueError:
        return None
    return {name: value for name, value in values.items() if name not in FREE}
