"""Models that do not name their axes: what their values say of the order, in notes of surveys, of prepare and of info;
labels are read as they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_support import MODEL, here, inputs, survey

from fathometer.seismic.model.axis_order import depth_axis, order_words
from fathometer.storage.volumes.volume import open_volume

SHAPE = (40, 24, 32)


def layered(axis: int, dimensions: int, roughness: float = 20.0) -> np.ndarray:
    """Velocities that grow along one axis, with some noise; m/s."""
    shape = SHAPE[:dimensions]
    profile = 1800.0 + 30.0 * np.arange(shape[axis])
    noise = roughness * np.random.default_rng(3).standard_normal(shape)
    return (np.moveaxis(np.broadcast_to(profile, (*np.delete(shape, axis), shape[axis])), -1, axis) + noise).astype(
        "f4"
    )


@pytest.mark.parametrize(
    ("axis", "dimensions", "found"),
    [(0, 2, 0), (1, 2, None), (0, 3, 0), (1, 3, 1), (2, 3, None)],
)
def test_the_axis_along_which_velocities_grow(tmp_path, axis, dimensions, found):
    np.save(tmp_path / "vp.npy", layered(axis, dimensions))
    with open_volume("vp.npy", tmp_path) as volume:
        assert depth_axis(volume, lambda values: values) == found


@pytest.mark.parametrize(
    "values",
    [
        np.full((40, 30), 2000.0),  # nothing changes
        np.where(np.arange(40)[:, None] < 20, 2000.0, 3000.0) + 25.0 * np.arange(30),  # a fault, and growth along z
        2000.0 + 400.0 * np.sin(0.4 * np.arange(40))[:, None] * np.ones(30),  # folds
        4000.0 - 30.0 * np.arange(40)[:, None] * np.ones(30),  # falling
        np.full((40, 30), np.nan),
    ],
)
def test_other_models_are_told_nothing(tmp_path, values):
    np.save(tmp_path / "vp.npy", values.astype("f4"))
    with open_volume("vp.npy", tmp_path) as volume:
        assert depth_axis(volume, lambda values: values) is None


def test_the_orders_that_have_depth_there():
    assert [order_words(0, 2), order_words(0, 3), order_words(1, 3)] == ['"zx"', '"zxy" or "zyx"', '"xzy" or "yzx"']


def notes_of(folder: Path, *words: str) -> str:
    done = here(*words)
    assert done.code == 0, done.err
    return done.err + done.out


def test_a_survey_prepare_and_info_say_so(tmp_path, monkeypatch):
    inputs(tmp_path)
    monkeypatch.chdir(tmp_path)
    np.save("vp.npy", layered(0, 2)[:, :24].repeat(2, axis=1)[:, :40])
    survey(tmp_path, MODEL)
    hint = "values grow along the first axis as velocities do with depth: "
    assert f'{hint}axes = "zx" if that is depth' in notes_of(tmp_path, "model", "survey.toml")
    assert f'{hint}[model] axes = "zx" if that is depth' in notes_of(tmp_path, "info", "vp.npy")
    prepared = notes_of(tmp_path, "prepare", "vp.npy", "--input-spacing", "10", "--smooth", "20", "-o", "s.rsf")
    assert f"{hint}--axes zx if that is depth" in prepared
    assert "[model] axes" in notes_of(tmp_path, "new", "survey", "vp.npy", "-o", "new.toml")  # a gap
    survey(tmp_path, MODEL | {"model.axes": "zx", "output.directory": "turned"})
    assert "does not name its axes" not in notes_of(tmp_path, "model", "survey.toml")


def test_labels_are_read_as_they_say(tmp_path, monkeypatch):
    """A model with depth first gives the same traces as the same model with depth last."""
    monkeypatch.chdir(tmp_path)
    inputs(tmp_path)
    values = np.load("vp.npy")
    for name, stored, labels in (("xz", values, ("Distance", "Depth")), ("zx", values.T, ("Depth", "Distance"))):
        stored.tofile(f"{name}.rsf@")
        keys = "".join(f'n{n}={stored.shape[-n]} d{n}=10 o{n}=0 label{n}="{labels[-n]}" unit{n}="m"\n' for n in (1, 2))
        Path(f"{name}.rsf").write_text(f'{keys}in="{name}.rsf@"\n')
        survey(tmp_path, MODEL | {"model.vp": f"{name}.rsf", "output.directory": name})
        assert "does not name its axes" not in notes_of(tmp_path, "model", "survey.toml")
    assert Path("xz/shots.segy").read_bytes()[3600:] == Path("zx/shots.segy").read_bytes()[3600:]
