"""The kernels of a graphics card that tests use: the real ones where there is a card, else the same files compiled for
the processor (emulated_cuda.hpp), once for all tests and runs.

FATHOMETER_TEST_PROCESSOR chooses what the wavefields of all tests are stepped by: gpu (`make test-gpu`), a card that is
there; emulated, what stands for one, slowly; nothing, the processors, but for the tests of the card themselves.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from paths import ROOT, SUPPORT

from fathometer.base.host import built_library
from fathometer.seismic.waves import card_library
from fathometer.seismic.waves.card_library import LIBRARY

CHOICE = "FATHOMETER_TEST_PROCESSOR"
CUDA = ROOT / "src" / "fathometer" / "native" / "cuda"
REACHES = (1, 2, 4)  # of stencils, that the emulated library has
KEPT = 86400.0  # seconds, that a library is kept at least
FOLDER = "fathometer-emulated-card-"  # below that of temporary files, and a user's number: kept from run to run
FLAGS = [
    *("-std=c++20", "-O1", "-march=native", "-ffp-contract=off", "-fPIC", "-w", "-U_FORTIFY_SOURCE"),
    *("-DFATHOMETER_EMULATED", "-DFATHOMETER_FEW_RADII", f"-I{SUPPORT}"),
]
EMULATED = os.environ.get(CHOICE) == "emulated"
GIVEN = os.environ.setdefault("FATHOMETER_TEST_CARD_LIBRARY", os.environ.get(LIBRARY, ""))  # by who started the tests


class NoLibraryError(Exception):
    """Why there is none to test with."""


def on_card() -> bool:
    """Whether the wavefields of all tests are stepped by a card."""
    return os.environ.get(CHOICE, "") in ("gpu", "emulated")


@cache
def real_card() -> tuple[Path, str]:
    """The library of a card that is there, and the card's name. Raises NoLibraryError."""
    path = GIVEN or built_library("card")
    if path is None:
        raise NoLibraryError("kernels for graphics cards were not built (make cuda)")
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise NoLibraryError(f"kernels for graphics cards cannot be loaded: {error}") from None
    numbers, text = [ctypes.c_int() for _ in range(3)], ctypes.create_string_buffer(256)
    failed = library.card_count(*map(ctypes.byref, numbers), text, len(text))
    if failed or not numbers[0].value:
        raise NoLibraryError(f"no graphics card can be used: {text.value.decode() or 'the driver shows none'}")
    name, properties = ctypes.create_string_buffer(256), (ctypes.c_int64 * 6)()
    if library.card_use(0, name, len(name), properties, text, len(text)):
        raise NoLibraryError(f"no graphics card can be used: {text.value.decode()}")
    return Path(path).resolve(), name.value.decode()


@cache
def emulated_card() -> Path:
    """The library that stands for a card. Raises NoLibraryError where there is no compiler for it."""
    compiler = shutil.which("g++")
    if compiler is None or platform.machine() not in ("x86_64", "AMD64"):
        raise NoLibraryError("no graphics card; and what stands for one is compiled with g++ for x86-64")
    sources = [*sorted(CUDA.iterdir()), SUPPORT / "emulated_cuda.hpp"]
    flags = Path("/proc/cpuinfo").read_text().partition("flags")[2].partition("\n")[0]
    told = "\n".join([compiler, flags, *FLAGS, *(path.name + path.read_text() for path in sources)])
    folder = Path(tempfile.gettempdir(), f"{FOLDER}{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise NoLibraryError(f"no graphics card; and {folder} belongs to somebody else")
    library = folder / f"{hashlib.sha256(told.encode()).hexdigest()[:24]}.so"
    with (folder / "lock").open("w") as lock:  # of all workers and runs one compiles, and the others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.is_file():
            with tempfile.TemporaryDirectory(dir=folder) as objects:
                made = _compiled(compiler, Path(objects))
                for old in folder.glob("*.so"):  # of other sources, whose tests may go on beside these
                    if time.time() - old.stat().st_mtime > KEPT:
                        old.unlink()
                made.rename(library)
    return library


def _compiled(compiler: str, folder: Path) -> Path:
    """A library of all files."""
    steps = [("steps.cu", f"steps{reach}.o", [f"-DFATHOMETER_RADIUS={reach}"]) for reach in REACHES]
    others = [(path.name, f"{path.stem}.o", []) for path in sorted(CUDA.glob("*.cu")) if path.name != "steps.cu"]

    def call(words: list[str]) -> None:
        done = subprocess.run([compiler, *words], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    with ThreadPoolExecutor(min(os.cpu_count() or 1, 8)) as pool:
        words = ([*FLAGS, *more, "-x", "c++", "-c", str(CUDA / name), "-o", out] for name, out, more in steps + others)
        for _ in pool.map(call, words):
            pass
    call(["-shared", "-o", "libcard.so", *(out for _, out, _ in steps + others), "-Wl,--no-undefined"])
    return folder / "libcard.so"


def settle() -> None:
    """Before the first test: surveys that leave the choice take a card where all tests do, else the processors."""
    choice = os.environ.get(CHOICE, "")
    if missing():
        return
    if choice:
        os.environ[LIBRARY] = str(real_card()[0] if choice == "gpu" else emulated_card())
    elif GIVEN or built_library("card"):
        os.environ[LIBRARY] = os.devnull


@cache
def missing() -> str:
    """Why tests that are to use a card cannot; "" where they can, or are not to."""
    choice = os.environ.get(CHOICE, "")
    try:
        if choice == "gpu":
            real_card()
        elif choice == "emulated":
            emulated_card()
    except NoLibraryError as error:
        return str(error)
    return ""


def summary() -> str:
    """Which card the tests have used; "" where they were not to use one."""
    choice = os.environ.get(CHOICE, "")
    if not choice:
        return ""
    return f"time steps on: {missing() or (real_card()[1] if choice == 'gpu' else 'what stands for a card')}"


def library_for_tests() -> Path:
    """The real one where there is a card, else what stands for it. Raises NoLibraryError."""
    try:
        return real_card()[0]
    except NoLibraryError:
        return emulated_card()


def forget() -> None:
    """What this process knows of its library and card."""
    gc.collect()  # what is left of it is given back by the library that it is of
    card_library.library.cache_clear()
    card_library.open_card.cache_clear()


@contextmanager
def used(path: Path | str) -> Iterator[None]:
    """Let this process, and those that it starts, take this library."""
    before = os.environ.get(LIBRARY)
    os.environ[LIBRARY] = str(path)
    loaded = card_library.library.cache_info().currsize and card_library.library()._name
    if loaded != str(path):
        forget()
    try:
        yield
    finally:
        del os.environ[LIBRARY]
        if before is not None:
            os.environ[LIBRARY] = before
