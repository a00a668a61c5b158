"""A new farm file from the tasks themselves: sequences in FASTA, or lines of a text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fathometer.apps.farm.application import IDENTITY
from fathometer.base.errors import InputError
from fathometer.config.draft import Drafted, Found, gap
from fathometer.runs.given_files import GivenFile, unknown_role
from fathometer.storage.reading import readable, reading

DATABASES = (".pin", ".nin", ".pal", ".nal", ".pdb", ".ndb")  # of BLAST+, beside the name of a database
FASTA = (".fasta", ".fa", ".faa", ".fna", ".fas", ".ffn")


def draft(files: Sequence[GivenFile], target: Path) -> Drafted:
    """The keys of a farm file at `target`.

    Raises InputError for a file that cannot be read, one that holds no tasks, and a database that is not there.
    """
    found: dict[str, GivenFile] = {}
    for file in files:
        role = file.role or _role(file)
        if role in found:
            raise InputError(f"{file.reference}: found beside {found[role].reference}; allowed: one file for {role}")
        found[role] = file
    if "fasta" in found and "lines" in found:
        names = f"{found['fasta'].reference} and {found['lines'].reference}"
        raise InputError(f"{names}: found sequences and lines; allowed: one of them, and another [[tasks]] by hand")
    if not found:
        return Drafted({"tasks": [{}]}, "farm")
    if "fasta" in found:
        return Drafted({"tasks": [_sequences(found, target.parent)]}, "farm")
    if "lines" not in found:
        raise InputError(f"{found['database'].reference}: found without sequences; needed: fasta=FILE beside it")
    return Drafted({"tasks": [_lines(found, target.parent)]}, "farm")


def _role(file: GivenFile) -> str:
    path = Path(file.reference)
    if any(Path(f"{path}{suffix}").exists() for suffix in DATABASES):
        return "database"
    if path.suffix.lower() in FASTA:
        return "fasta"
    text = _text(file)
    if not text.strip():
        raise InputError(f"{file.reference}: is empty; needed: sequences, or lines that are tasks")
    if "\0" in text[:4096]:
        raise InputError(unknown_role(file.reference, IDENTITY.given))
    return "fasta" if text.lstrip().startswith(">") else "lines"


def _text(file: GivenFile) -> str:
    path = readable(Path(file.reference))
    with reading(path):
        return path.read_text(encoding="utf-8", errors="replace")


def _sequences(found: dict[str, GivenFile], folder: Path) -> dict[str, Any]:
    text = _text(found["fasta"])
    count = sum(line.startswith(">") for line in text.splitlines())
    if not count or not text.lstrip().startswith(">"):
        raise InputError(
            f"{found['fasta'].reference}: is no FASTA; needed: sequences, each after a line that begins with >"
        )
    keys = {
        "kind": Found("fasta"),
        "file": Found(found["fasta"].beside(folder), f"{count} sequences"),
        "database": gap('of BLAST+, which `makeblastdb` makes; or leave it out and say `command`, as ["cat"]'),
    }
    if "database" in found:
        database = found["database"]
        if not any(Path(f"{database.reference}{suffix}").exists() for suffix in DATABASES):
            raise InputError(
                f"{database.reference}: found no database of BLAST+, {', '.join(DATABASES[:2])} or the like; needed: "
                "its path without suffix, as `makeblastdb -out` had it"
            )
        keys["database"] = Found(database.beside(folder))
    return keys


def _lines(found: dict[str, GivenFile], folder: Path) -> dict[str, Any]:
    lines = [line for line in _text(found["lines"]).splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise InputError(f"{found['lines'].reference}: holds no line that is a task; needed: one at least")
    fields = max(line.count("\t") for line in lines) + 1
    more = f", up to {fields} fields between tabs: {{1}}, {{2}}, …" if fields > 1 else ""
    return {
        "kind": Found("lines"),
        "file": Found(found["lines"].beside(folder), f"{len(lines)} tasks{more}"),
        "command": gap('the program and its words, as ["program", "{}"]: {} is the line'),
    }
