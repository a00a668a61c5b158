"""Inputs from dictionaries, runs on ranks, what they return; interruptions; errors as the two classes, in one line."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
import traceback
from pathlib import Path

import numpy as np
import pytest
from cli_support import clean_environment, here
from hypothesis import given
from hypothesis import strategies as st
from kill_support import gone, wait_until
from python_support import MIGRATION, SURVEY, inputs, written

import fathometer as fm
from fathometer.config.toml_text import toml_file

pytest.importorskip("xarray")
OVERWRITTEN = {"output": {"directory": "out", "overwrite": True}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files of the small survey, in the working folder."""
    inputs(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=("Cs",))), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=("Cs",)), min_size=1), VALUES))
def test_values_come_back_from_the_file(values):
    assert tomllib.loads(toml_file(values)) == values


def test_a_survey_is_the_file_that_it_writes(folder):
    survey = fm.Survey(SURVEY)
    assert not (folder / "survey.toml").exists()
    assert survey.save() == Path("survey.toml")
    found = tomllib.loads((folder / "survey.toml").read_text())
    assert found["model"] == {"vp": "vp.npy", "spacing": [10.0, 10.0]}
    assert found["wavelet"]["peak_frequency"] == 15.0
    assert found["output"]["directory"] == "out"
    changed = fm.Survey(SURVEY | {"wavelet": {"kind": "ricker", "peak_frequency": 20.0}, "history": None})
    changed.save()  # what was written so is replaced
    assert tomllib.loads((folder / "survey.toml").read_text())["wavelet"]["peak_frequency"] == 20.0
    (folder / "survey.toml").write_text("# mine\n" + toml_file(survey.values))
    survey.save()
    (folder / "survey.toml").write_text("# mine\n[model]\nvp = 3\n")
    with pytest.raises(fm.InputError, match=r"survey.toml: found a file with other values"):
        survey.save()
    assert (folder / "survey.toml").read_text().startswith("# mine")


@pytest.mark.parametrize("ranks", [None, 2])
def test_a_survey_is_modelled_and_migrated(folder, ranks, capsys):
    modelled = fm.run("model", SURVEY, ranks=ranks, threads=1)
    assert modelled.files["shots" if "shots" in modelled.files else "gathers"].exists()
    (gathers,) = modelled.volumes.values()
    assert gathers.dims == ("trace", "time")
    assert float(abs(gathers).max()) > 0
    survey = fm.Survey(MIGRATION | {"output": {"directory": "image"}}, path="migration.toml")
    run = fm.run("migrate", survey, ranks=ranks, threads=1)
    image = run.open("image")
    assert (image.name, image.dims, image.shape) == ("image", ("x", "z"), (40, 30))
    assert run.volumes.keys() >= {"image", "laplacian", "illumination"}
    assert run.record.entries["machine"]["ranks"] == (ranks or 1)
    assert fm.record("image").entries == run.record.entries
    assert run.record.path == run.files["record"]
    seconds = run.record.seconds
    assert seconds.dims == ("rank", "phase", "category")
    assert seconds.sizes["rank"] == (ranks or 1)
    assert 0 < float(seconds.sum("phase").sum("category").max()) <= run.record.figures["total"].value + 1.0
    assert run.record.phases[0]["mean_seconds"] >= run.record.phases[-1]["mean_seconds"]
    shown = capsys.readouterr()
    assert "migrate: 1 of 1 shots done" in shown.out
    assert shown.err == ""


def test_quiet_shows_nothing_and_an_earlier_run_is_kept(folder, capsys):
    fm.run("migrate", MIGRATION, quiet=True, threads=1)
    assert capsys.readouterr() == ("", "")
    with pytest.raises(fm.FathometerError, match=r"out.*--overwrite"):
        fm.run("migrate", MIGRATION, quiet=True, threads=1)
    assert fm.run("migrate", MIGRATION, threads=1, overwrite=True).files["record"].exists()


def bad(folder):
    """Calls that are wrong, and what each says."""
    written(folder / "cube.rsf", np.ones((3, 3), np.float32))
    (folder / "cube.rsf@").unlink(missing_ok=True)
    (folder / "text.rsf").write_text("nothing")
    (folder / "hollow.json").write_text("{}")
    return [
        (lambda: fm.open_volume("nix.rsf"), "nix.rsf: no such file"),
        (lambda: fm.open_volume("nix.bin"), "nix.bin: unknown kind of file (allowed: .rsf, "),
        (lambda: fm.open_volume("text.rsf"), "text.rsf: the RSF header has no n1"),
        (lambda: fm.open_volume("recorded.segy"), "recorded.segy: holds gathers"),
        (lambda: fm.open_volume("cube.rsf", level=2), "cube.rsf: RSF has no levels (allowed: "),
        (lambda: fm.open_volume(3), "open_volume: found 3; allowed: "),
        (lambda: fm.open_gathers("nix.segy"), "nix.segy: no such file"),
        (lambda: fm.open_gathers("cube.rsf"), "cube.rsf: is RSF, a format of volumes"),
        (lambda: fm.open_gathers("recorded.segy", sample_interval=-1.0), "sample_interval: found -1.0; allowed: "),
        (lambda: fm.record("nix.json"), "nix.json: no such file"),
        (lambda: fm.record("hollow.json"), "hollow.json: not a record of Fathometer"),
        (
            lambda: fm.Survey(SURVEY | {"model": {"vp": "vp.npy", "spacing": 10}}),
            "survey.toml: [model] spacing: found 10",
        ),
        (lambda: fm.Survey(SURVEY | {"modle": {}}), "survey.toml: [modle]: unknown section; did you mean [model]?"),
        (
            lambda: fm.Survey(SURVEY | {"wavelet": {"kind": open}}),
            "survey.toml: wavelet kind: found <built-in",
        ),
        (lambda: fm.Survey({3: {}}), "survey.toml: found the key 3; allowed: text"),
        (lambda: fm.Input("oceans", {}), "application: found 'oceans'; allowed: seismic, "),
        (lambda: fm.run("migrat", SURVEY), "command: found 'migrat'; allowed: model, migrate, "),
        (lambda: fm.run("migrate", "nix.toml"), "nix.toml: cannot read the survey file: no such file"),
        (lambda: fm.run("migrate", SURVEY, ranks="2"), "ranks: found '2'; allowed: a whole number"),
        (lambda: fm.run("migrate", SURVEY, ranks=0), "--ranks 0: the number of ranks must be at least 1"),
        (lambda: fm.run("ocean", fm.Survey(SURVEY)), "survey.toml: found an input of seismic; allowed for ocean: "),
        (lambda: fm.run("model", SURVEY, settings={"wavelet.knd": 1}), "survey.toml: [wavelet] knd: unknown key"),
        (lambda: fm.run("migrate", MIGRATION | {"model": {"vp": "nix.rsf"}}), "nix.rsf: no such file"),
    ]


def test_bad_input_is_one_line_of_one_class_without_our_calls(folder):
    for call, words in bad(folder):
        with pytest.raises(fm.InputError) as caught:
            call()
        error = caught.value
        assert words in str(error)
        assert "\n" not in str(error)
        assert error.__cause__ is None
        assert error.__suppress_context__
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/fathometer/" in frame.filename]
        assert len(frames) <= 2, frames  # one; of a class with that above it, of `record` with its package
        assert {Path(frame.filename).name for frame in frames} <= {"errors.py", "__init__.py"}
    assert not (folder / "out").exists()


def test_errors_are_those_of_the_command_line(folder):
    wrong = MIGRATION | {"wavelet": {"kind": "ricker", "peak_frequency": -15.0}}
    with pytest.raises(fm.InputError) as caught:
        fm.Survey(wrong)
    (folder / "survey.toml").write_text(toml_file(fm.Survey(MIGRATION).values).replace("15.0", "-15.0"))
    done = here("migrate", "survey.toml")
    assert (done.code, done.err.strip()) == (2, f"fathometer: error: {caught.value}")


def test_a_failed_run_is_no_input_error(folder):
    (folder / "out").write_text("a file where the folder should be")
    with pytest.raises(fm.FathometerError) as caught:
        fm.run("migrate", MIGRATION, threads=1, quiet=True)
    assert "out" in str(caught.value)
    assert caught.value.__suppress_context__


WAITING = """
import sys, fathometer as fm
try:
    fm.run("migrate", {path!r}, ranks={ranks}, threads=1, overwrite=True)
except KeyboardInterrupt as error:
    print("stopped:", error)
"""


@pytest.mark.parametrize("ranks", [None, 2])
def test_an_interruption_ends_the_program_and_then_the_call(folder, ranks):
    """As a notebook does: SIGINT to this process alone."""
    long = MIGRATION | {"propagation": {"boundary": {"kind": "pml", "width": 10}, "order": 16}}
    path = fm.Survey(long | {"model": {"vp": "big.npy", "spacing": [1.0, 1.0]}}).save().resolve()
    np.save(folder / "big.npy", np.full((4000, 2000), 2000.0, np.float32))
    words = [sys.executable, "-c", WAITING.format(path=str(path), ranks=ranks)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=clean_environment())
    begin = time.monotonic()
    wait_until((folder / "out").exists, process)
    time.sleep(1.0)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert "stopped: fathometer: interrupted; --resume goes on with the shots that are not done" in out
    assert time.monotonic() - begin < 60
    assert gone(path)
    left = json.loads((folder / "out" / "run-unfinished.json").read_text()) if (folder / "out").exists() else None
    assert left is None or not left["validity"]["finished"]


def test_without_xarray_opening_says_what_to_install(folder):
    code = """
import sys
sys.modules["xarray"] = None
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *a: None if name == "xarray" else found(name, *a)
import fathometer as fm
for call in (lambda: fm.open_volume("vp.npy"), lambda: fm.open_gathers("recorded.segy")):
    try:
        call()
    except fm.InputError as error:
        print(error)
print(fm.run("model", "survey.toml", quiet=True, threads=1).record.application)
"""
    fm.Survey(SURVEY).save()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    needed = "found no package xarray; needed: pip install 'xarray>=2024.10'"
    assert done.stdout.splitlines() == [f"open_volume: {needed}", f"open_gathers: {needed}", "seismic"], done.stderr


def test_the_environment_of_ranks_is_not_that_of_this_process(folder):
    """MPI has begun in this process; what that left in its environment does not reach the program."""
    import mpi4py.MPI

    assert mpi4py.MPI.Is_initialized()
    assert not any(name.startswith("OMPI_COMM") for name in os.environ)
    assert fm.run("migrate", MIGRATION, ranks=2, threads=1, quiet=True).record.entries["machine"]["ranks"] == 2
