"""Reading in a process of its own, before it is done here: damage makes some libraries end the process.

HDF5 and Arrow trust what they find in a file, and over some damage abort or touch memory that is not theirs. No
exception tells; so a child opens the file first. It costs some 0.2 s a file, or as much for many files together.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from fathometer.base.errors import InputError, shortened

CRASHES = frozenset((signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL))
LONGEST_SECONDS = 300.0  # of a child, which reads no values but a few
LONGEST_CPU = 20, 10e-6  # s, and s more for a byte: many times what metadata take that fill a file
PERTURB = "165"  # glibc fills memory with this byte: what is used before or after its time is noticed more surely
LAUNCHERS = ("OMPI_", "PMIX_", "PMI_", "PRTE_", "MPI_")  # variables by which the child would pass for this rank

LIMIT = """
import resource
hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
if hard == resource.RLIM_INFINITY or hard >= {seconds}:
    resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, hard))
"""
HDF5 = """
import os, sys, mpi4py
mpi4py.rc.initialize = False
import h5py
NAMES = "values", "wavelet", "levels", "crs", "spatial_ref", "!", "~"  # that readers look for, and ends of an order
access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
access.set_sieve_buf_size(256)  # a value of a dataset shall not take 64 KiB
def look(path):
    with h5py.File(h5py.h5f.open(os.fsencode(path), h5py.h5f.ACC_RDONLY, access)) as file:
        found = [file]
        try:
            file.visititems(lambda name, item: found.append(item))
        except Exception:
            pass
        for item in found:
            for name in NAMES if isinstance(item, h5py.Group) else ():
                try:
                    item.get(name)
                except Exception:
                    pass
            names = []
            try:
                names = list(item.attrs)
            except Exception:
                pass
            for name in names:  # readers of volumes take all of them
                try:
                    item.attrs.get(name)
                except Exception:
                    pass
            if isinstance(item, h5py.Dataset):
                try:
                    item.attrs.get("CLASS"), item.dtype, item.id.get_create_plist().get_nfilters()
                    if item.is_virtual or item.external:  # in other files, of which nothing is known yet
                        item.is_virtual and item.virtual_sources()
                    elif item.shape:
                        item.chunks and item.id.get_num_chunks()
                        item[tuple(0 for n in item.shape)], item[tuple(n - 1 for n in item.shape)]
                except Exception:
                    pass
for path in sys.argv[1:]:
    try:
        look(path)
    except Exception:
        pass
"""
PARQUET = """
import sys
import pyarrow.parquet
with pyarrow.parquet.ParquetFile(sys.argv[1]) as file:
    for group in range(file.num_row_groups):
        file.read_row_group(group)
"""


def probe(path: Path, program: str, library: str) -> None:
    """InputError where a child that runs `program` (HDF5, PARQUET) on a file is ended by it, or never ends.

    Exceptions in the child do not count: they can be met here. library: its name, for the message.
    """
    status = path.stat()
    how = _ending(os.fspath(path), program, status.st_size, status.st_mtime_ns, status.st_ino)
    if how:
        raise InputError(f"{path}: is damaged: {how} in {library}, which reads it")


def probe_together(paths: Sequence[Path], program: str, library: str) -> None:
    """The same for many files with one child, for a program that takes several; InputError names the first bad one."""
    if not paths:
        return
    try:
        code, _ = child(program, *(os.path.abspath(path) for path in paths))
    except subprocess.TimeoutExpired:
        code = -signal.SIGABRT  # each is looked at by itself
    except OSError:
        return
    if -code in CRASHES or -code == signal.SIGXCPU:
        for path in paths:
            probe(path, program, library)


@cache
def _ending(path: str, program: str, *state: int) -> str:
    """How the child ended, if it must not have ended so; state: of the file, which may change."""
    try:
        code, said = child(program, os.path.abspath(path))
    except subprocess.TimeoutExpired:
        return f"no end within {LONGEST_SECONDS:g} s"
    except OSError:  # no child can be had here: the file is read without
        return ""
    if -code == signal.SIGXCPU:
        return f"no end within {cpu_seconds(path)} s of computing"
    if -code not in CRASHES:
        return ""
    words = next((line.partition("what():")[2].strip() for line in said.splitlines() if "what():" in line), "")
    return f"{signal.Signals(-code).name}{f' ({shortened(words)})' if words else ''}"


def cpu_seconds(*paths: str) -> int:
    """What a child may take that reads these files."""
    least, each = LONGEST_CPU
    size = sum(os.path.getsize(path) for path in paths if os.path.exists(path))
    return min(math.ceil(least + each * size), int(LONGEST_SECONDS))


def child(program: str, *paths: str) -> tuple[int, str]:
    """Run a program on files; its exit code (below 0: a signal) and what it said."""
    program = LIMIT.format(seconds=cpu_seconds(*paths)) + program
    environment = {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHERS)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *paths],  # -P: no module that lies in the working folder
        env=environment | {"MALLOC_PERTURB_": PERTURB},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=LONGEST_SECONDS,
    )
    return done.returncode, done.stderr.decode(errors="replace")
