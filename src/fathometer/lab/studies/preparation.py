"""Inputs that a study makes for itself, once, before its first run.

    FOLDER/preparation.json      of each path the command that made it; null while that runs

A file that a killed command has left is there, but is not what was asked for: it is made again.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from fathometer.base.errors import FathometerError, InputError, naming
from fathometer.base.own_program import with_own_program
from fathometer.base.removal import Mark, remove_tree
from fathometer.lab.recipes.template import fill, fill_words
from fathometer.lab.studies.processes import MARKER, end_marked
from fathometer.lab.studies.store import LOCK, STUDY, require_own
from fathometer.lab.studies.study_file import PrepareTable, Study
from fathometer.storage import atomic
from fathometer.storage.json_text import as_written, json_values
from fathometer.storage.lock import FileLock

LOG, MADE = "preparation.log", "preparation.json"  # in the study's folder
MARK = Mark(MADE, b"{")
Made = dict[str, list[str] | None]


def missing(study: Study) -> list[Path]:
    """What is to be prepared and is not there. Raises InputError for a name in braces without a value."""
    known = _known(study)
    return [path for table in study.prepare for path in _made(study, table) if not _whole(path, known)]


def prepare(study: Study, say: Callable[[str], None], overwrite: bool = False) -> None:
    """Run the commands whose files are not all there, or not whole.

    overwrite: so are those of files that another command of this study has made. Raises InputError where a command
    cannot be started, another process runs the study, or its folder is somebody else's; FathometerError where one fails
    or does not make its files.
    """
    require_own(study.folder)
    begun = (study.folder / STUDY).exists()  # what its runs read is not changed behind them
    for place, table in enumerate(study.prepare, 1):
        where = f"{study.path}: [[prepare]] {place}"
        with naming(where):
            words, made = fill_words(table.command, _names(study)), _made(study, table)
        known = _known(study)
        other = (overwrite or not begun) and any((known.get(str(path)) or words) != words for path in made)
        if not other and all(_whole(path, known) for path in made):
            continue
        with atomic.writing(study.folder):
            study.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(study.folder / LOCK) as lock:
            if not lock.acquire():
                raise InputError(f"{study.folder}: in use by another `fathometer study run`; allowed: one at a time")
            end_marked(study.folder.absolute())  # what a killed preparation has left running
            say(f"prepares {', '.join(path.name for path in made)}: {' '.join(words)}")
            for path in made:
                if str(path) in known:  # this study has made it: whole or not, it is not what is wanted
                    _remove(path, study, where)
            ours = [str(path) for path in made if not path.exists()]
            _keep(study, known | dict.fromkeys(ours))
            _make(study, with_own_program(words), made, where)
            _keep(study, known | dict.fromkeys(ours, words))


def _remove(path: Path, study: Study, where: str) -> None:
    """Remove what a command of this study has made: a file, or a folder in that of the results."""
    try:
        remove_tree(path, study.folder, MARK)
    except FathometerError as error:
        raise FathometerError(f"{where}: {error}; it is to be made anew: needed: to remove it by hand") from None


def _make(study: Study, words: list[str], made: Sequence[Path], where: str) -> None:
    code = _run(words, study, where)
    if code:
        raise FathometerError(f"{where}: ended with exit code {code}; its output is in {study.folder / LOG}")
    for path in made:
        if not path.exists():
            raise FathometerError(f"{where}: {path} was not made; the command's output is in {study.folder / LOG}")


def _run(words: Sequence[str], study: Study, where: str) -> int:
    log, mark = study.folder / LOG, study.folder.absolute() / MADE
    with atomic.writing(log), log.open("wb") as output:
        try:
            done = subprocess.run(
                words,
                cwd=study.directory,
                env=os.environ | {MARKER: str(mark)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                check=False,
            )
        except OSError as error:
            raise InputError(f"{where}: {words[0]}: cannot be started: {error.strerror or error}") from None
        except BaseException:
            end_marked(mark)
            raise
    return done.returncode


def _whole(path: Path, known: Made) -> bool:
    """Whether a file is there, and no command that makes it was interrupted."""
    return path.exists() and known.get(str(path), []) is not None


def _known(study: Study) -> Made:
    """What commands of this study have made: nothing where that is not known."""
    with suppress(OSError, ValueError):
        return as_written(Made, json_values((study.folder / MADE).read_bytes()))
    return {}


def _keep(study: Study, known: Made) -> None:
    atomic.write(study.folder / MADE, json.dumps(known, indent=1).encode())


def _made(study: Study, table: PrepareTable) -> list[Path]:
    return [study.directory.absolute() / fill(word, _names(study)) for word in table.makes]


def _names(study: Study) -> dict[str, str]:
    return {"study": str(study.folder.absolute())}
