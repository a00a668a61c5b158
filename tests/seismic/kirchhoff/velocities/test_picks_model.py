"""Depth models from picks: layers by hand, vertical times and RMS velocities of the model against the picks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_support import here
from velocity_support import LINE, velocities, whole

from fathometer.base.errors import InputError
from fathometer.seismic.kirchhoff.velocities.description import describe_picks
from fathometer.seismic.kirchhoff.velocities.picks_model import PicksModel
from fathometer.seismic.model.prepare.extent import crop_of
from fathometer.seismic.model.prepare.request import PreparationRequest
from fathometer.storage.volumes.volume import open_volume

# RMS velocities of layers of 1500, 2500 and 3500 m/s that end at 0.8, 1.2 and 2 s: at 600, 1100 and 2500 m.
LAYERS = np.array([1500.0, 2500.0, 3500.0])
ENDS = np.array([0.8, 1.2, 2.0])
DEPTHS = np.cumsum(0.5 * np.diff(ENDS, prepend=0) * LAYERS)


def rms(layers: np.ndarray, ends: np.ndarray) -> np.ndarray:
    return np.sqrt(np.cumsum(np.diff(ends, prepend=0) * layers**2) / ends)


def picks(folder: Path, places: dict[tuple[float, ...], tuple[np.ndarray, np.ndarray]]) -> str:
    """A file of layers (velocities, ends) at places; its name."""
    rows = [
        (*place, *pick)
        for place, (layers, ends) in places.items()
        for pick in zip(ends, rms(layers, ends), strict=True)
    ]
    (folder / "picks.txt").write_text("".join(" ".join(f"{value:.12g}" for value in row) + "\n" for row in rows))
    return str(folder / "picks.txt")


def model(name: str, spacing: tuple[float, ...], crop: str | None = None) -> tuple[PicksModel, np.ndarray]:
    """The model and its velocities [x, y, z]."""
    cut = None if crop is None else crop_of(crop)
    made = PicksModel(PreparationRequest(name, Path("out.rsf"), spacing=spacing, crop=cut))
    return made, made.read([(0, n) for n in made.grid.shape])


def test_layers_by_hand(tmp_path: Path) -> None:
    name = picks(tmp_path, {(0.0,): (LAYERS, ENDS), (400.0,): (LAYERS, ENDS)})
    made, values = model(name, (100.0, 8.0))
    assert (made.grid.shape, made.grid.spacing, made.grid.origin) == ((5, 1, 314), (100, 100, 8), (0, 0, 0))
    z = 8.0 * np.arange(314)
    column = values[3, 0]
    whole_cells = np.min(np.abs(z[:, None] - DEPTHS), axis=1) >= 4
    expected = LAYERS[np.minimum(np.searchsorted(DEPTHS, z), 2)]
    np.testing.assert_allclose(column[whole_cells], expected[whole_cells], rtol=1e-6)
    assert np.all(values == column)
    assert column[75] == pytest.approx(2 / (1 / 1500 + 1 / 2500), rel=1e-6)  # the interface halves the cell at 600 m
    told = describe_picks(Path(name)).intervals
    np.testing.assert_allclose((values.min(), values.max()), told, rtol=1e-6)


def test_times_and_rms_velocities_of_the_model_are_the_picks(tmp_path: Path) -> None:
    """A time migration takes the model in place of the picks."""
    name = picks(tmp_path, {(0.0,): (LAYERS, ENDS)})
    done = here("prepare", name, "--spacing", "100,2", "--crop", "0:400,0:4000", "-o", tmp_path / "vp.rsf")
    assert done.code == 0, done.err
    assert "Dix velocities are those of NMO" in done.err
    found = whole(velocities(tmp_path, LINE, {"vp": "vp.rsf"})).rms[2, 0]
    times = LINE.origin[2] + LINE.spacing[2] * np.arange(LINE.shape[2])
    ends, squares = np.append(ENDS, 9.0), np.append(LAYERS, 3500.0) ** 2  # the last layer's velocity holds below
    moments = np.interp(times, [0, *ends], [0, *np.cumsum(np.diff(ends, prepend=0) * squares)])
    np.testing.assert_allclose(found[1:], np.sqrt(moments[1:] / times[1:]), rtol=1e-3)


def test_between_places_interval_velocities_are_linear_at_a_time(tmp_path: Path) -> None:
    """At a quarter of the way: layers at the times of both places, of weighted velocities."""
    slow, fast = (np.array([1600.0, 2000.0]), np.array([0.5, 1.0])), (np.array([2400.0, 4000.0]), np.array([0.8, 1.0]))
    name = picks(tmp_path, {(0.0,): slow, (400.0,): fast})
    _, values = model(name, (100.0, 2.0))
    layers = np.array([0.75 * 1600 + 0.25 * 2400, 0.75 * 2000 + 0.25 * 2400, 0.75 * 2000 + 0.25 * 4000])
    depths = np.cumsum(0.5 * np.array([0.5, 0.3, 0.2]) * layers)
    z = 2.0 * np.arange(values.shape[2])
    away = np.min(np.abs(z[:, None] - depths[:2]), axis=1) > 1
    np.testing.assert_allclose(values[1, 0][away], layers[np.minimum(np.searchsorted(depths, z), 2)][away], rtol=1e-6)


def test_three_places_in_three_dimensions(tmp_path: Path) -> None:
    corners = {(0.0, 0.0): 2000.0, (300.0, 0.0): 2600.0, (0.0, 300.0): 3200.0}
    name = picks(tmp_path, {place: (np.array([v]), np.array([1.0])) for place, v in corners.items()})
    made, values = model(name, (100.0, 100.0, 50.0))
    assert made.grid.shape == (4, 4, 33)
    np.testing.assert_allclose(values[1, 1], 2600.0, rtol=1e-6)  # the triangle's centre
    np.testing.assert_allclose(values[2, 0], 2400.0, rtol=1e-6)
    assert "6 of 16 columns lie outside the picks' hull" in " ".join(made.notes)


def test_smoothing_extension_and_rules_follow(tmp_path: Path) -> None:
    name = picks(tmp_path, {(0.0,): (LAYERS, ENDS), (400.0,): (LAYERS, ENDS)})
    words = ("--spacing", "50,10", "--smooth", "0,40", "--extend", "100,0:500", "--epsilon", "velocity:1500=0,3500=0.2")
    done = here("prepare", name, *words, "--delta", "0", "-o", tmp_path / "vp.rsf")
    assert done.code == 0, done.err
    with open_volume(str(tmp_path / "vp.rsf"), Path()) as volume:
        assert volume.info.shape == (13, 301)
        assert volume.info.origin == (-100, 0)
        values = volume.read((0, 0), volume.info.shape)
    assert values[0, 0] == pytest.approx(1500)
    assert values[0, -1] == pytest.approx(3500)
    assert np.all(np.diff(values[0]) > -0.1)
    assert (tmp_path / "vp-epsilon.rsf").exists()


def test_smoothing_keeps_the_times_of_the_picks(tmp_path: Path) -> None:
    """As slowness does, unless another mean is asked for; epsilon of a volume on the same cells comes with it."""
    name = picks(tmp_path, {(0.0,): (LAYERS, ENDS), (400.0,): (LAYERS, ENDS)})
    times = {}
    for mean in ("none", "slowness", "slowness-squared", "left out"):
        np.save(tmp_path / "epsilon.npy", np.full((9, 301), 0.1, np.float32))
        words = ["--spacing", "50,10", "--crop", "0:400,0:3000", "--epsilon", tmp_path / "epsilon.npy"]
        words += [] if mean == "none" else ["--smooth", "0,40"]
        words += ["--mean", mean] if mean.startswith("slowness") else []
        done = here("prepare", name, *words, "-o", tmp_path / "vp.rsf")
        assert done.code == 0, done.err
        with open_volume(str(tmp_path / "vp.rsf"), Path()) as volume:
            times[mean] = float((1 / volume.read((0, 0), volume.info.shape)[3].astype(float)).sum())
    assert times["left out"] == times["slowness"] == pytest.approx(times["none"], rel=1e-5)
    assert times["slowness-squared"] > times["none"] * 1.0005
    assert (tmp_path / "vp-epsilon.rsf").exists()


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("0 1 2000\n400 1 2000\n", [], "--spacing: missing; needed, since .*holds picks.*as 25,10"),
        ("0 0 1 2000\n", [], "as 25,25,10"),
        ("0 1 2000\n", ["--spacing", "10"], "--crop: x from 0 to 0 m has 1 cells of 10 m; needed: .* two or more"),
        ("0 1 2000\n9 1 2000\n", ["--spacing", "9,5", "--units", "km/s"], "--units: found with .*, a text of picks"),
        ("0 1 2000\n9 1 2000\n", ["--spacing", "9,5", "--crop=:,-5:"], "--crop: found -5 m along z; allowed: from 0 m"),
        ("0 1 2000\n9 1 2000\n", ["--spacing", "9,5", "--crop", "0:1000,:"], "lies 990 m beyond the picks"),
        (
            "0 0.5 1500\n0 0.6 5000\n9 1 2000\n",
            ["--spacing", "9,5"],
            "line 2: at x = 0 m the interval velocity from 0.5",
        ),
        (
            "x t v(m/s)\n0 1 200\n9 1 2000\n",
            ["--spacing", "9,5"],
            "line 2: at x = 0 m the interval velocity down to 1 s is 200 m/s",
        ),
        ("0 1 2000\n9 1 2000\n", ["--spacing", "0,5"], "--spacing: found 0 m along x"),
    ],
)
def test_errors(tmp_path: Path, text: str, options: list[str], words: str) -> None:
    (tmp_path / "p.txt").write_text(text)
    done = here("prepare", tmp_path / "p.txt", *options, "-o", tmp_path / "out.rsf")
    assert done.code == 2, done.out
    with pytest.raises(InputError, match=words):
        raise InputError(done.err)
    assert [path.name for path in tmp_path.iterdir()] == ["p.txt"]


def test_the_file_of_picks_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("0 1 2000\n9 1 2000\n")
    done = here("prepare", tmp_path / "p.txt", "--spacing", "9,5", "-o", tmp_path / "p.txt")
    assert done.code == 2
    assert (tmp_path / "p.txt").read_text() == "0 1 2000\n9 1 2000\n"
