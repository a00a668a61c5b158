"""The level of illumination: which cells it depends on, which not, and what a run says of it."""

import html
import json

import numpy as np
import pytest
from cli_support import MIGRATE, inputs, run, survey
from mpi4py import MPI

from fathometer.seismic.rtm.illumination import (
    LIT,
    STABILISATION,
    WEAK,
    histogram,
    illumination_of,
    lower_edges,
    median_of_lit,
)

DTYPES = [np.float32, np.float64]


def distances(n, spacing):
    """From a source in the middle of the top of a cube, in cells of 1 / n of its side (n, n, n)."""
    x = spacing * (np.arange(n) - n // 2)
    return np.sqrt(x[:, None, None] ** 2 + x[None, :, None] ** 2 + (spacing * np.arange(n)) ** 2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_median_is_that_of_the_lit_cells(dtype):
    """To a bin's width; cells below LIT of the half and cells of zeros do not count."""
    values = np.random.default_rng(1).lognormal(0.0, 1.0, 10001)
    dark = np.concatenate([values, np.full(30000, 1e-12), np.zeros(50000)])
    for case in (values, dark):
        level = illumination_of((1e-9 * case).astype(dtype), MPI.COMM_SELF)
        assert 0.99e-9 * np.median(values) <= level.median <= 1e-9 * np.median(values)
        assert level.cells == case.size
        assert level.weak == np.count_nonzero((1e-9 * case).astype(dtype) < dtype(WEAK * level.median))
    assert LIT < WEAK


@pytest.mark.parametrize("dimensions", [2, 3])
def test_the_cells_around_a_source_do_not_count(dimensions):
    """1 / r or 1 / r² in coarse and in fine cells, with the value of the source's own cell: the median stays, where the
    largest value grows with each of them."""
    medians, largest = [], []
    for n in (32, 64, 128):
        r = distances(n, 1.0 / n)[:, n // 2] if dimensions == 2 else distances(n, 1.0 / n)
        s = np.maximum(r, 0.3 / n) ** (1 - dimensions)
        medians.append(illumination_of(s.astype(np.float32), MPI.COMM_SELF).median)
        largest.append(s.max())
    assert max(medians) <= 1.05 * min(medians)
    assert largest[-1] >= 3 * largest[0]


@pytest.mark.parametrize("share", [1.0, 0.01, 1e-4])
def test_what_no_wave_reaches_does_not_count(share):
    """However little of the model is lit, beside zeros or beside what is left of numbers that are almost zeros."""
    lit = distances(16, 1.0) + 1.0
    dark = np.zeros(round(lit.size / share))
    expected = illumination_of(lit**-2, MPI.COMM_SELF).median
    for value in (0.0, 1e-30, 1e-9):
        dark[: dark.size - lit.size] = value
        dark[dark.size - lit.size :] = lit.ravel() ** -2
        assert illumination_of(dark, MPI.COMM_SELF).median == expected


def test_what_is_trapped_beside_the_sources_does_not_count():
    """A twentieth of the cells, 300 times as bright as the rest and so with almost all of the energy."""
    values = np.ones(10000)
    values[:500] = 300.0
    assert illumination_of(values, MPI.COMM_SELF).median == 1.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_parts_of_a_volume_give_the_same_as_the_whole(dtype):
    """Counts add up, whatever the parts."""
    values = np.random.default_rng(2).lognormal(-20.0, 4.0, (20, 7, 9)).astype(dtype)
    whole, edges = histogram(values), lower_edges(values.dtype)
    parts = sum(histogram(np.ascontiguousarray(part)) for part in np.array_split(values, 3, axis=2))
    assert (parts == whole).all()
    bins = np.flatnonzero(whole)
    assert whole.sum() == values.size
    assert edges[bins[0]] <= values.min() < edges[bins[0] + 1]
    assert edges[bins[-1]] <= values.max() < edges[bins[-1] + 1]
    assert median_of_lit(whole, edges) > 0


def test_darkness_has_no_level():
    assert illumination_of(np.zeros((3, 1, 4), np.float32), MPI.COMM_SELF) is None
    assert illumination_of(np.zeros((0, 1, 4), np.float32), MPI.COMM_SELF) is None


def test_a_run_says_where_the_illumination_is_weak(tmp_path, capsys):
    """One note in the summary, the same in the record's notes and on the page; nothing by the plain condition."""
    inputs(tmp_path)
    plain = run(capsys, "migrate", survey(tmp_path, MIGRATE))
    assert "illumination" not in record(tmp_path)
    assert "source-normalised" not in plain.err
    keys = MIGRATE | {"imaging.condition": "source-normalised"}
    lit = run(capsys, "migrate", survey(tmp_path, keys), "--overwrite")
    assert record(tmp_path)["illumination"]["note"] == ""
    assert "source-normalised" not in lit.err
    np.save(tmp_path / "vp.npy", np.full((300, 30), 2000.0, np.float32))  # waves do not get that far
    done = run(capsys, "migrate", survey(tmp_path, keys), "--overwrite")
    assert done.code == 0, done.err
    level = record(tmp_path)["illumination"]
    values = np.fromfile(tmp_path / "out" / "image-illumination.rsf@", np.float32)
    assert level["stabilisation"] == STABILISATION * level["median"]
    assert level["weak_fraction_of_cells"] == np.mean(values < np.float32(level["weak_below"])) > 0.5
    assert level["note"] in record(tmp_path)["notes"]
    assert done.err.count(level["note"]) == 1
    assert level["note"] in html.unescape((tmp_path / "out" / "report.html").read_text())


def record(folder):
    return json.loads((folder / "out" / "run.json").read_text())["results"]


def test_the_level_by_hand():
    """Of three lit cells the middle one; weak is what is below its share of it, not what is just as much."""
    assert illumination_of(np.array([1.0, 2.0, 4.0], np.float32), MPI.COMM_SELF).median == 2.0
    values = np.full(100, 2.0, np.float32)
    values[:3] = np.float32(WEAK * 2.0)
    values[:2] = np.nextafter(values[:2], np.float32(0.0))
    level = illumination_of(values, MPI.COMM_SELF)
    assert (level.median, level.weak) == (2.0, 2)
