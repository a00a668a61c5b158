"""Files that change under open arrays, folders that change, values that are none."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest
from cli_support import NX, SAMPLES, write_gathers

import fathometer as fm

pytest.importorskip("xarray")


@pytest.fixture
def cube(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("cube.npy", np.arange(60, dtype=np.float32).reshape(5, 4, 3))
    return tmp_path / "cube.npy"


@pytest.mark.parametrize("shape", [(2, 2, 2), (5, 4, 3), (9, 9, 9)])
def test_a_file_that_changes_under_an_open_array(cube, shape):
    """In its size or only in its values: no zeros, no dead process."""
    opened, lazy = fm.open_volume("cube.npy"), pickle.dumps(fm.open_volume("cube.npy"))
    os.utime(cube, ns=(1, 1))
    np.save("cube.npy", np.ones(shape, np.float32))
    with pytest.raises(fm.InputError, match=r"cube\.npy: has changed since it was opened"):
        opened.load()
    with pytest.raises(fm.InputError, match="has changed since"):
        pickle.loads(lazy).load()
    assert fm.open_volume("cube.npy").shape == shape


def test_a_closed_array_is_an_error(cube):
    opened = fm.open_volume("cube.npy")
    opened.close()
    with pytest.raises(fm.InputError, match="is closed"):
        opened.load()


def test_the_folder_above_a_link(cube, tmp_path):
    """Is where the link points, as everywhere in the system."""
    (tmp_path / "there" / "inside").mkdir(parents=True)
    np.save("there/cube.npy", np.zeros((2, 2), np.float32))
    (tmp_path / "link").symlink_to("there/inside")
    assert fm.open_volume("link/../cube.npy").shape == (2, 2)


def test_inputs_stay_where_they_were_made(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    survey = fm.Survey(
        model={"vp": "vp.npy", "spacing": [10.0, 10.0]}, acquisition={"gathers": "a.segy"}, wavelet=RICKER
    )
    monkeypatch.chdir(tmp_path / "there")
    assert survey.save() == tmp_path / "here" / "survey.toml"
    assert not list((tmp_path / "there").iterdir())


RICKER = {"kind": "ricker", "peak_frequency": np.float32(15.0)}


def test_values_that_are_none():
    itself = {}
    itself["a"] = itself
    for call in (
        lambda: fm.Input("ocean", itself),
        lambda: fm.Input(["ocean"], {}),
        lambda: fm.run(["model"], "survey.toml"),
        lambda: fm.run("model", "survey.toml", settings=[1]),
        lambda: fm.run("model", "survey.toml", settings={"a.b": object()}),
        lambda: fm.run("model", "survey.toml", ranks=True),
        lambda: fm.open_gathers("a.segy", sample_interval=True),
    ):
        with pytest.raises(fm.InputError):
            call()


def test_settings_of_numpy(tmp_path, monkeypatch):
    """They come to the program's own check."""
    monkeypatch.chdir(tmp_path)
    settings = {"propagation.duration": np.float64(0.2), "model.vp": None}
    with pytest.raises(fm.InputError, match=r"survey\.toml: cannot read"):
        fm.run("model", "survey.toml", ranks=np.int64(1), settings=settings, quiet=True)


def test_a_rank_of_a_launcher_starts_no_run(monkeypatch):
    """Its program would take itself for one of the launcher's ranks."""
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    with pytest.raises(fm.InputError, match="was started by mpirun, as one of its ranks"):
        fm.run("model", "survey.toml")


def test_gathers_that_change_under_an_open_array(tmp_path, monkeypatch):
    """Other samples in a file of the same size, here and where the array was sent to."""
    monkeypatch.chdir(tmp_path)
    write_gathers(tmp_path / "a.segy")
    opened = fm.open_gathers("a.segy")
    sent = pickle.dumps(opened)
    write_gathers(tmp_path / "a.segy", np.ones((NX, SAMPLES)))
    with pytest.raises(fm.InputError, match=r"a\.segy: has changed since it was opened"):
        opened.load()
    with pytest.raises(fm.InputError, match="has changed since"):
        pickle.loads(sent).load()
    assert (fm.open_gathers("a.segy").values == 1).all()
