"""What can be known of a command before it runs: which MPI it will use, and whether preloading can work at all."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from fathometer.base.errors import InputError
from fathometer.launch.mpirun import flavour_of

LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun", "prun")
Flavour = Literal["openmpi", "mpich", "other"]
_PROGRAM_INTERPRETER = 3  # a segment's type: what loads shared libraries
_LARGEST = 1 << 30  # bytes of a program that is looked into


def executables(words: Sequence[str]) -> list[Path]:
    """The words of a command that are programs in machine code."""
    found = []
    for word in dict.fromkeys(words):
        if word.startswith("-"):
            continue
        path = shutil.which(word)
        if path is not None and _is_elf(Path(path)):
            found.append(Path(path))
    return found


def refuse_static(words: Sequence[str]) -> None:
    """Raises InputError where a program of the command is an MPI program without shared libraries."""
    for path in executables(words):
        if static(path) and _has(path, b"MPI_Init"):
            raise InputError(
                f"{path}: a static program: nothing can be preloaded into it; allowed: one that is linked to MPI's "
                "shared library"
            )


def static(path: Path) -> bool:
    """Whether a program in machine code loads no shared libraries."""
    with path.open("rb") as file:
        head = file.read(64)
        if head[4] != 2:  # of 32 bits
            return False
        (offset,) = struct.unpack_from("<Q", head, 32)
        size, number = struct.unpack_from("<HH", head, 54)
        file.seek(offset)
        segments = file.read(size * number)
    types = [struct.unpack_from("<I", segments, size * n)[0] for n in range(number)]
    return _PROGRAM_INTERPRETER not in types


def links_mpi_statically(words: Sequence[str]) -> Path | None:
    """A program of the command that has MPI in it, not beside it."""
    for path in executables(words):
        if _has(path, b"PMPI_Init\0") and not any(name.startswith("libmpi") for name in _libraries(path)):
            return path
    return None


def has_newer_calls(words: Sequence[str]) -> bool:
    """Whether the command's MPI has the functions of MPI 4 with large counts: by its programs, else by its launcher.

    Of a Python program, for one, only the launcher tells.
    """
    for path in executables(words):
        for name, library in _libraries(path).items():
            if name.startswith("libmpi") and library is not None and "fort" not in name:
                return _has(library, b"PMPI_Send_c\0")
    launcher = launcher_of(words)
    return launcher is not None and launcher[1] == "mpich" and launcher[2] >= 4


def launcher_of(words: Sequence[str]) -> tuple[int, str, int] | None:
    """Where the launcher stands among the words, its flavour and major version; None without one."""
    for place, word in enumerate(words):
        if Path(word).name.split(".")[0] in LAUNCHERS and (path := shutil.which(word)) is not None:
            try:
                done = subprocess.run(
                    [path, "--version"], capture_output=True, text=True, errors="replace", timeout=60, check=False
                )
            except (OSError, subprocess.TimeoutExpired):
                return None
            found = flavour_of(path, done.stdout)
            return place, found.flavour, found.major
    return None


def _is_elf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def _has(path: Path, text: bytes) -> bool:
    try:
        return path.stat().st_size <= _LARGEST and text in path.read_bytes()
    except OSError:
        return False


def _libraries(path: Path) -> dict[str, Path | None]:
    """The shared libraries of a program and where they lie."""
    done = subprocess.run(["ldd", str(path)], capture_output=True, text=True, errors="replace", check=False)
    found: dict[str, Path | None] = {}
    for line in done.stdout.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if arrow:
            where = rest.split(" (")[0]
            found[name] = Path(where) if where.startswith("/") else None
    return found
