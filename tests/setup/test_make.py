"""The Makefile and .ci/run, in a project whose Python, compiler and packages do nothing."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from paths import ROOT

PYTHON = """
case "$*" in
    tools/editable.py*) env >compiled && touch "$2/a.whl" src/fathometer/_native/__init__.pyi ;;
    *pytest*) env >tested ;;
esac
"""
VENV = "for name in venv system; do [ -e .venv/stamps/$name ] || echo >.venv/stamps/$name; done"
EMPTY = (
    *("packages.txt", "packages-build.txt", "pyproject.toml", "CMakeLists.txt"),
    *("tools/python.sh", "tools/mpi.py", "tools/requirements.py", "tools/editable.py"),
    "src/fathometer/_native/__init__.py",
    *("src/fathometer/native/profile/functions.toml", "src/fathometer/native/profile/generate.py"),
)


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    script(folder / ".venv/bin/python", PYTHON)
    script(folder / "tools/packages.sh", 'touch "$1"')
    script(folder / "tools/venv.sh", VENV)
    shutil.copy(ROOT / "Makefile", folder)
    for name in EMPTY:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def make(folder: Path, *words: str, **environ: str) -> str:
    command = ["make", *words]
    outside = {name: value for name, value in os.environ.items() if name != "MAKELEVEL"}  # of `make test`
    done = subprocess.run(
        command, cwd=folder, env=outside | environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def variables(path: Path) -> dict[str, str]:
    """What env has written into a file."""
    return dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line)


def test_where_the_build_folder_was_removed_the_kernels_are_compiled_again(project):
    assert "compiling the kernels" in make(project, "build")
    assert make(project, "build") == ""
    shutil.rmtree(project / "build")
    assert "compiling the kernels" in make(project, "build")
    assert (project / "build/wheel/a.whl").exists()


def test_the_types_of_the_kernels_are_made_again_where_they_are_gone(project):
    types = project / "src/fathometer/_native/__init__.pyi"
    make(project, "build")
    make(project, "clean")
    assert not types.exists()
    make(project, "build")
    assert types.exists()
    types.unlink()  # as where an earlier version that tracked them was checked out in between
    assert "compiling the kernels" in make(project, "build")
    assert types.exists()
    assert make(project, "build") == ""


def test_recipes_inherit_neither_make_s_jobs_nor_an_active_environment(project, tmp_path):
    active = tmp_path / "active"
    path = f"{project}/.venv/bin:{active}/bin:/with a space:{os.environ['PATH']}"
    make(project, "check", "ARGS=-x", VIRTUAL_ENV=str(active), PATH=path)
    for name in ("compiled", "tested"):
        found = variables(project / name)
        assert not {"MAKEFLAGS", "MFLAGS", "ARGS"} & set(found)
        folders = found["PATH"].split(":")
        assert f"{active}/bin" not in folders
        assert "/with a space" in folders
        assert folders.count(f"{project}/.venv/bin") == (1 if name == "tested" else 0)


def test_the_python_of_an_active_environment_comes_last(tmp_path):
    script(tmp_path / "active/bin/python3", "exit 0")
    found = ROOT / "tools/python.sh"
    for folder, expected in (("nowhere", f"{tmp_path}/active/bin/python3"), ("bin", "python3.12")):
        if folder == "bin":
            script(tmp_path / "bin/python3.12", "exit 0")
        environ = {"PATH": str(tmp_path / folder), "VIRTUAL_ENV": str(tmp_path / "active")}
        done = subprocess.run([found], env=environ, capture_output=True, text=True, check=True)
        assert done.stdout == f"{expected}\n"


@pytest.mark.parametrize(("ci", "code", "goals"), [("true", 1, 0), ("", 0, 3)])
def test_the_check_ends_at_once_where_it_needs_a_bare_root_and_none_can_be_made(tmp_path, ci, code, goals):
    script(tmp_path / "tools/bare.sh", "exit 1")
    script(tmp_path / "bin/make", f"echo >>{tmp_path}/goals")
    (tmp_path / "goals").touch()
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / ".ci")
    environ = os.environ | {"CI": ci, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    done = subprocess.run([tmp_path / ".ci/run"], env=environ, capture_output=True, check=False)
    assert done.returncode == code
    assert (tmp_path / "goals").read_text().count("\n") == goals


NVCC = """
case "$*" in *--version*) echo "release 13.0"; exit ;; esac
echo "$*" >>calls
while [ "$1" != -o ]; do shift; done
touch "$2"
"""


@pytest.fixture
def with_kernels(project):
    """The project with two kernels for graphics cards, and a compiler for them that does nothing."""
    script(
        project / ".venv/bin/python", PYTHON + 'case "$*" in *built_library*) echo "$PWD/lib/libheartbeat.so" ;; esac'
    )
    script(project / "bin/nvcc", NVCC)
    for name in ("cuda.sh", "cuda.mk"):
        shutil.copy(ROOT / "tools" / name, project / "tools")
    for name in ("src/fathometer/native/cuda/steps.cu", "src/fathometer/native/cuda/wave.cu", "lib/libheartbeat.so"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).touch()
    return project


def test_kernels_for_graphics_cards_are_compiled_where_they_have_changed(with_kernels):
    def compiled(*words):
        (with_kernels / "calls").write_text("")
        said = make(with_kernels, "cuda", *words, PATH=f"{with_kernels}/bin:{os.environ['PATH']}")
        calls = (with_kernels / "calls").read_text().splitlines()
        assert ("compiling the kernels for graphics cards" in said) == bool(calls)
        return calls

    first = compiled()
    assert len(first) == 8 + 1 + 1  # reaches of the stencil, the other file, the library
    assert all("sm_90" in call and "compute_80" in call and "--fmad=false" in call for call in first[:-1])
    assert (with_kernels / "lib/libcard.so").is_file()
    assert compiled() == []
    os.utime(with_kernels / "src/fathometer/native/cuda/wave.cu", (4e9, 4e9))
    assert len(compiled()) == 2
    others = compiled("CUDA_ARCHITECTURES=80 100")
    assert len(others) == 10
    assert all("code=sm_80" in call and "code=sm_100" in call and "sm_90" not in call for call in others[:-1])


def test_without_a_compiler_for_graphics_cards_one_line_says_what_is_needed(with_kernels):
    (with_kernels / "bin/nvcc").unlink()
    path = with_kernels / "tools/cuda.sh"
    path.write_text(path.read_text().replace("/usr/local/cuda;", "/nowhere;"))
    for name in ("dirname", "nproc"):
        (with_kernels / "bin" / name).symlink_to(shutil.which(name))
    words, outside = [shutil.which("sh"), path, "python", "90"], {"PATH": str(with_kernels / "bin")}
    done = subprocess.run(words, env=outside, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "found no nvcc" in line
    assert "needed: CUDA 12 or 13" in line
