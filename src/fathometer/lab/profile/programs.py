"""What can be known of a command before it runs: which MPI it will use, and whether preloading can work at all."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import stat
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from fathometer.base.errors import InputError
from fathometer.launch.mpirun import flavour_of

LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun", "prun")
Flavour = Literal["openmpi", "mpich", "other"]
_DYNAMIC, _PROGRAM_INTERPRETER = 2, 3  # types of segments: what a program needs, and what loads it
_NEEDED = 1  # an entry of the first: a shared library
_LARGEST = 1 << 30  # bytes of a program that is looked into
_LONGEST_LINE = 256  # the first of a script, of which the kernel reads as much
_GET_NO_NEW_PRIVILEGES = 39  # of prctl: whether set-uid has an effect


def executables(words: Sequence[str]) -> list[Path]:
    """The words of a command that are programs in machine code."""
    return [path for path in _files(words) if _is_elf(path)]


def refuse_static(words: Sequence[str]) -> None:
    """Raises InputError where a program of the command is an MPI program without shared libraries."""
    for path in executables(words):
        if static(path) and _has(path, b"MPI_Init"):
            raise InputError(
                f"{path}: a static program: nothing can be preloaded into it; allowed: one that is linked to MPI's "
                "shared library"
            )


def refuse_privileged(words: Sequence[str]) -> None:
    """Raises InputError where a program of the command is an MPI program with privileges of its own."""
    for path in executables(words):
        if (held := privileges(path)) and any(name.startswith("libmpi") for name in _libraries(path)):
            raise InputError(
                f"{path}: {held}: the loader preloads nothing into it; allowed: a copy without them, as cp makes"
            )


def obstacles(words: Sequence[str]) -> list[str]:
    """What keeps a library from being preloaded into programs of a command, or into the interpreters of its scripts."""
    found = []
    files = _files(words)
    for path in dict.fromkeys([*files, *(given for file in files if (given := script_interpreter(file)) is not None)]):
        if not path.exists():
            found.append(f"{path}, by which a script is run, is not there")
        elif not _is_elf(path):
            continue
        elif _bits(path) != 64:
            found.append(f"{path} is not a program of 64 bits, and the library that counts is")
        elif static(path):
            found.append(f"{path} is a static program: nothing can be preloaded into it")
        elif (loader := _loader(path)) is not None and not loader.exists():
            found.append(f"{path} needs the loader {loader}, which is not there")
        elif held := privileges(path):
            found.append(f"{path}: {held}: the loader preloads nothing into it")
    return found


def why_not_run(word: str, error: OSError) -> str:
    """Why the system could not begin a program, in words."""
    path = Path(shutil.which(word) or word)
    if error.errno == errno.ENOENT and path.exists():
        needed = _loader(path) if _is_elf(path) else script_interpreter(path)
        if needed is not None:
            return f"{'its loader' if _is_elf(path) else 'its interpreter'} {needed} is not there"
    if error.errno == errno.ENOEXEC:
        return "it is no program for this machine, and its first line names no interpreter (#!)"
    return error.strerror or str(error)


def script_interpreter(path: Path) -> Path | None:
    """What runs a script by its first line, of "env NAME" that NAME; None of a file that is no script."""
    try:
        with path.open("rb") as file:
            line = file.read(_LONGEST_LINE).split(b"\n")[0]
    except OSError:
        return None
    words = os.fsdecode(line.removeprefix(b"#!")).split()
    if not line.startswith(b"#!") or not words:
        return None
    if Path(words[0]).name == "env":
        named = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), None)
        return Path(words[0]) if named is None else Path(shutil.which(named) or named)
    return Path(words[0])


def privileges(path: Path) -> str:
    """The privileges that a program gives whom runs it, for which the loader ignores what is to be preloaded: in
    words, "" for none."""
    if os.statvfs(path).f_flag & os.ST_NOSUID or ctypes.CDLL(None).prctl(_GET_NO_NEW_PRIVILEGES, 0, 0, 0, 0) == 1:
        return ""
    state = path.stat()
    if state.st_mode & stat.S_ISUID and state.st_uid != os.getuid():
        return "a set-uid program"
    if state.st_mode & stat.S_ISGID and state.st_mode & stat.S_IXGRP and state.st_gid != os.getgid():
        return "a set-gid program"
    try:
        os.getxattr(path, "security.capability")
    except OSError:
        return ""
    return "a program with file capabilities" if os.getuid() else ""


def static(path: Path) -> bool:
    """Whether a file in machine code is a program that loads no shared libraries. Libraries, which have no loader
    either, are none, as plugins that a command names."""
    return _bits(path) == 64 and _loader(path) is None and not _needs_libraries(path)


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


def _files(words: Sequence[str]) -> list[Path]:
    """The words of a command that can be run."""
    found = (shutil.which(word) for word in dict.fromkeys(words) if not word.startswith("-"))
    return [Path(path) for path in found if path is not None]


def _bits(path: Path) -> int:
    """Of a program in machine code."""
    with path.open("rb") as file:
        return 64 if file.read(5)[4:] == b"\2" else 32


def _loader(path: Path) -> Path | None:
    """What loads the shared libraries of a program in machine code of 64 bits; None where nothing does."""
    found = _segment(path, _PROGRAM_INTERPRETER)
    return Path(os.fsdecode(found.rstrip(b"\0"))) if found else None


def _needs_libraries(path: Path) -> bool:
    found = _segment(path, _DYNAMIC)
    entries = struct.iter_unpack("<QQ", found[: len(found) // 16 * 16])
    return any(kind == _NEEDED for kind, _ in entries)


def _segment(path: Path, wanted: int) -> bytes:
    """The first segment of a type in machine code of 64 bits; empty where there is none."""
    with path.open("rb") as file:
        head = file.read(64)
        (offset,) = struct.unpack_from("<Q", head, 32)
        size, number = struct.unpack_from("<HH", head, 54)
        file.seek(offset)
        segments = file.read(size * number)
        for n in range(number):
            kind, _, at, _, _, length = struct.unpack_from("<IIQQQQ", segments, size * n)
            if kind == wanted:
                file.seek(at)
                return file.read(length)
    return b""


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
