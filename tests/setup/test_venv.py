"""tools/venv.sh makes .venv anew where what is in it was made for something else, or not wholly, and says why."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT

MADE = "· creating .venv with Python "


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """A Python whose environments have no pip, which would take seconds each."""
    path = tmp_path_factory.mktemp("python") / "python"
    path.write_text(
        "#!/bin/sh\n"
        f'[ "$*" != "-m venv .venv" ] || set -- -m venv --without-pip .venv\n'
        f'[ "$1 $2" != "-c import sys; print(sys._base_executable)" ] || {{ echo "$0" && exit; }}\n'
        f'exec {sys._base_executable} "$@"\n',
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


@pytest.fixture
def project(tmp_path):
    """A checkout with an environment, and a package in it that is installed."""
    folder = tmp_path / "project"
    (folder / ".venv" / "stamps").mkdir(parents=True)
    shutil.copytree(ROOT / "tools", folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "src").symlink_to(ROOT / "src")
    return folder


def made(folder: Path, python: Path, **environ: str) -> str:
    """What tools/venv.sh prints."""
    environ = dict(os.environ) | {"PYTHON": str(python)} | environ
    words = [folder / "tools" / "venv.sh"]
    done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def package(folder: Path) -> Path:
    """The folder by which a package that is wholly installed is known."""
    [site] = (folder / ".venv/lib").glob("python*/site-packages")
    path = site / "something-1.0.dist-info"
    path.mkdir()
    for name in ("METADATA", "RECORD"):
        (path / name).write_text("", encoding="utf-8")
    return path


def stamped(folder: Path) -> Path:
    """A stamp of what was installed into the environment."""
    path = folder / ".venv/stamps/dependencies"
    path.touch()
    return path


def test_once(project, python):
    assert made(project, python).startswith(MADE)
    stamp = stamped(project)
    package(project)
    assert made(project, python) == ""
    assert stamp.exists()


def test_an_installation_that_was_broken_off(project, python):
    made(project, python)
    stamp, info = stamped(project), package(project)
    (project / "build/editable").mkdir(parents=True)
    (info / "RECORD").unlink()
    assert made(project, python).startswith(f"· making .venv anew: an installation was broken off\n{MADE}")
    assert not stamp.exists()
    assert not info.exists()
    assert (project / "build/editable").exists()
    set_aside = package(project).parent / "~omething"
    set_aside.mkdir()
    assert "an installation was broken off" in made(project, python)
    assert made(project, python) == ""


def test_an_environment_that_was_not_wholly_made(project, python):
    made(project, python)
    (project / ".venv/stamps/venv").rename(project / ".venv/stamps/making")
    stamp = stamped(project)
    assert made(project, python).startswith(f"· making .venv anew\n{MADE}")
    assert not stamp.exists()


def test_an_environment_of_somebody_else_stays(project, python):
    made(project, python)
    (project / ".venv/stamps/venv").unlink()
    words = [project / "tools" / "venv.sh"]
    done = subprocess.run(words, env=os.environ | {"PYTHON": str(python)}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "make: .venv was not made here" in done.stderr
    assert (project / ".venv/pyvenv.cfg").exists()


def test_another_folder(project, python):
    made(project, python)
    moved = project.rename(project.with_name("moved"))
    assert "it was made in another folder" in made(moved, python)
    assert made(moved, python) == ""


def test_another_mpi(project, python, tmp_path):
    made(project, python)
    (tmp_path / "bin").mkdir()
    mpirun = tmp_path / "bin/mpirun"
    mpirun.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 9.1.4'\n", encoding="utf-8")
    mpirun.chmod(0o755)
    other = {"PATH": f"{mpirun.parent}:{os.environ['PATH']}"}
    (project / "build/editable").mkdir(parents=True)
    assert "the system's MPI is another one" in made(project, python, **other)
    assert not (project / "build/editable").exists()  # what was compiled for the former one
    assert made(project, python, **other) == ""
    assert "the system's MPI is another one" in made(project, python)


def test_headers_that_came_are_seen_and_nothing_is_made_anew(project, python, tmp_path):
    mpirun = tmp_path / "bin" / "mpirun"
    mpirun.parent.mkdir()
    mpirun.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 9.1.4'\n", encoding="utf-8")
    mpirun.chmod(0o755)
    path = {"PATH": f"{mpirun.parent}:{os.environ['PATH']}"}
    made(project, python, **path)
    before = (project / ".venv/stamps/system").read_text(encoding="utf-8")
    (tmp_path / "include").mkdir()
    numbers = zip(("MAJOR", "MINOR", "RELEASE"), (9, 1, 4), strict=True)
    text = "\n".join(f"#define OMPI_{part}_VERSION {number}" for part, number in numbers)
    (tmp_path / "include/mpi.h").write_text(text, encoding="utf-8")
    assert made(project, python, **path) == ""
    assert (project / ".venv/stamps/system").read_text(encoding="utf-8") != before


def test_a_python_that_is_gone(project, python):
    made(project, python)
    for path in (project / ".venv/bin").glob("python*"):
        path.unlink()
    assert "its Python does not run any more" in made(project, python)


def test_another_version_where_python_is_named(project, python):
    made(project, python)
    stamp = project / ".venv/stamps/venv"
    stamp.write_text(stamp.read_text(encoding="utf-8").replace("python: 3", "python: 2"), encoding="utf-8")
    assert "it was made with Python 2." in made(project, python)
