"""What a recipe or a study puts into a run's folder before it begins."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from fathometer.base.errors import InputError, naming
from fathometer.lab.recipes.template import Values, fill, fill_pattern, fill_words

LARGEST_TEXT = 1 << 24  # bytes, of a file that is filled in


def place_files(
    folder: Path,
    directory: Path,
    values: Values,
    copy_files: Sequence[str] = (),
    link_files: Sequence[str] = (),
    fill_files: Sequence[str] = (),
) -> None:
    """Copy, link and fill in files and folders; each keeps its name.

    directory: where relative names start. values: of names in braces; an empty name is left out, one with * or ? is all
    that it fits. Links are kept as links within folders that are copied. Raises InputError for a file that is not
    there, and for two of the same name. A file that is copied is not linked too, where both name it.
    """
    placed: set[Path] = set()
    for words, place in ((copy_files, _copy), (link_files, _link)):
        for source, target in _pairs(words, folder, directory, values, placed):
            place(source, target)
            placed.add(source)
    for source, target in _pairs(fill_files, folder, directory, values):
        with naming(str(source)):
            target.write_text(fill(_text(source), values), encoding="utf-8")


def way_problem(name: str) -> str:
    """Why a name, perhaps with names in braces, cannot be that of a file in a run's folder; "": it can."""
    if name.startswith("/") or ".." in name.split("/"):
        return f"found '{name}', which leads out of the run's folder; allowed: a file in it"
    return ""


class RunFiles:
    """The files that a run has left, by the names that a recipe or a study file gives.

    Args:
        folder: of the run's output. values: of names in braces; "folder": where it ran, whose files may be linked into
            the other one.
    """

    def __init__(self, folder: Path, values: Values) -> None:
        self._folder, self._values = folder, values
        self._places = [os.path.realpath(place) for place in (folder, str(values.get("folder", folder)))]

    def name(self, word: str) -> str:
        """A name with its values filled in. Raises InputError for one that leads out of the folder."""
        name = fill(word, self._values)
        inside = name.removeprefix(f"{self._values.get('folder', self._folder)}/")
        if problem := way_problem(inside):
            raise InputError(f"file: {problem}")
        return name

    def patterns(self, patterns: Sequence[str]) -> list[str]:
        """Patterns with values filled in, as `fill_pattern` does it."""
        return [fill_pattern(pattern, self._values) for pattern in patterns]

    def path(self, name: str) -> Path:
        """Where a file is, existing or not. Raises ValueError where links lead out of the run's folder."""
        path = self._folder / name
        if not any(Path(os.path.realpath(path)).is_relative_to(place) for place in self._places):
            raise ValueError("a link that leads out of the run's folder; allowed: a file in it")
        return path


def copy_inputs(copies: Mapping[Path, Path]) -> None:
    """Copy files and folders from where to where; folders are made."""
    for source, target in copies.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        _copy(source, target)


def _pairs(
    words: Sequence[str], folder: Path, directory: Path, values: Values, placed: Collection[Path] = ()
) -> list[tuple[Path, Path]]:
    """Where from and where to, without the sources that are placed already."""
    pairs = []
    for name in fill_words(words, values):
        for source in _sources(name, directory) if name else ():
            if source in placed:
                continue
            target = folder / source.name
            if target.exists():
                raise InputError(f"{source}: found a second {source.name} for a run's folder; allowed: one of a name")
            pairs.append((source, target))
    return pairs


def _sources(name: str, directory: Path) -> list[Path]:
    found = [path for path in fitting(name, directory) if path.exists()]
    if not found:
        raise InputError(f"{Path(directory, name).absolute()}: no such file or folder; needed in the folder of a run")
    return found


def fitting(name: str, directory: Path) -> list[Path]:
    """What a name with * or ? fits; where that is nothing, and of other names, the path itself."""
    path = Path(directory, name).absolute()
    fits = sorted(path.parent.glob(path.name)) if any(letter in path.name for letter in "*?") else []
    return fits or [path]


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy(source, target)


def _link(source: Path, target: Path) -> None:
    target.symlink_to(source)


def _text(source: Path) -> str:
    if source.stat().st_size > LARGEST_TEXT:
        raise InputError(f"found {source.stat().st_size} bytes; allowed: a text of {LARGEST_TEXT}")
    try:
        return source.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"not text in UTF-8 (byte {error.start}); allowed: a text file") from None
