"""What `import fathometer` offers: these names and no others, quickly, without MPI; examples in docstrings; types."""

import doctest
import importlib
import inspect
import re
import subprocess
import sys
import time

import pytest
from paths import ROOT
from python_support import documented

import fathometer

PACKAGE = ROOT / "src" / "fathometer"
NAMES = {
    *("FathometerError", "Input", "InputError", "Record", "Run", "Survey"),
    *("open_gathers", "open_volume", "record", "run", "__version__"),
}
SECONDS = 0.3  # that the import may take


def fresh(code: str) -> str:
    """What a new interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_these_names_are_public_and_typed_alike():
    assert set(fathometer.__all__) == NAMES
    assert set(dir(fathometer)) >= NAMES
    stub = (PACKAGE / "__init__.pyi").read_text()
    assert set(re.findall(r" as (\w+)$", stub, re.MULTILINE)) | {"__version__"} == NAMES
    for module, name in re.findall(r"^from (\S+) import (\w+) as", stub, re.MULTILINE):
        found = getattr(fathometer, name)
        assert found is getattr(importlib.import_module(module), name) or name == "record"
    assert (PACKAGE / "py.typed").exists()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        fathometer.nothing  # noqa: B018


def test_each_public_name_is_documented():
    page = (ROOT / "docs" / "guide" / "python.md").read_text()
    for name in NAMES - {"__version__"}:
        assert f"`{name}" in page or f"fm.{name}" in page, name
        assert inspect.getdoc(getattr(fathometer, name))


def test_the_import_is_quick_and_loads_neither_mpi_nor_arrays():
    loaded = fresh("import fathometer, sys; print(*sys.modules)").split()
    assert not {"mpi4py", "numpy", "xarray", "pydantic", "matplotlib", "subprocess"} & set(loaded)
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        fresh("pass")
        between = time.perf_counter()
        fresh("import fathometer")
        times.append(time.perf_counter() - between - (between - begin))
    assert min(times) < SECONDS


def test_opening_and_checking_begin_no_mpi(tmp_path):
    documented(tmp_path)
    code = """
import os, sys, fathometer as fm
os.chdir({folder!r})
float(fm.open_volume("image.rsf").sum()), float(fm.open_gathers("shots.segy").sum()), fm.record("run.json").phases
wavelet = {{"kind": "ricker", "peak_frequency": 9}}
fm.Survey(model={{"vp": "a.npy"}}, acquisition={{"gathers": "b.segy"}}, wavelet=wavelet)
print("mpi4py.MPI" in sys.modules)
"""
    assert fresh(code.format(folder=str(tmp_path))) == "False\n"


@pytest.mark.parametrize("name", ["inputs", "opening", "records", "running"])
def test_the_examples_in_the_docstrings(name, tmp_path, monkeypatch):
    documented(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = doctest.testmod(
        importlib.import_module(f"fathometer.python.{name}"), optionflags=doctest.ELLIPSIS, report=True
    )
    assert done.attempted
    assert not done.failed


@pytest.mark.parametrize(
    "name", ["storage.xarray_engine", "storage.volumes.formats.axis_metadata", "config.toml_text", "base.progress"]
)
def test_the_examples_of_what_it_stands_on(name):
    assert not doctest.testmod(importlib.import_module(f"fathometer.{name}")).failed


def test_mypy_accepts_the_example_and_refuses_a_wrong_one(tmp_path):
    pytest.importorskip("mypy")
    page = (ROOT / "docs" / "guide" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text("\n".join(blocks))
    wrong.write_text("import fathometer as fm\n\nfm.open_volume(3)\nfm.run('model', 'a.toml', ranks='2')\nfm.nothing\n")
    words = [sys.executable, "-m", "mypy", "--strict", "--config-file", ROOT / "pyproject.toml"]
    done = subprocess.run([*words, right, wrong], capture_output=True, text=True, check=False, cwd=ROOT)
    lines = done.stdout.splitlines()
    assert [re.sub(r".*(wrong.py:\d+): error.*", r"\1", line) for line in lines[:-1]] == [
        "wrong.py:3",
        "wrong.py:4",
        "wrong.py:5",
    ], done.stdout
