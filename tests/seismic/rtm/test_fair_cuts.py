"""Grids are cut where ranks have equal work: a wave that begins at one side leaves the other cells at rest for long."""

import json
from dataclasses import replace

import numpy as np
import pytest
from cli_support import call, here, survey
from support import heterogeneous
from test_cone import keys_of, to_migrate

from fathometer.seismic.setup.cone import loops_of_some
from fathometer.seismic.setup.fair_cuts import GAIN, Shares, Work, parts_of
from fathometer.seismic.setup.known_model import known_model
from fathometer.seismic.setup.survey_layout import survey_layout
from fathometer.seismic.survey import load_survey

AT_ONE_SIDE = {"x": 200.0, "z": 15.0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With a model, traces of a source at one side, and an image of one rank, "alone"."""
    folder = tmp_path_factory.mktemp("cuts")
    for name, values in zip(("vp", "epsilon", "delta"), heterogeneous((120, 50), 3), strict=True):
        np.save(folder / f"{name}.npy", values.astype(np.float32))
    few = {"acquisition.sources": AT_ONE_SIDE, "output.directory": "shots"}
    assert here("model", survey(folder, keys_of("2D free surface") | few), "--quiet").code == 0
    (folder / "recorded.segy").write_bytes((folder / "shots" / "shots.segy").read_bytes())
    keys = to_migrate("2D free surface", output__directory="alone")
    assert here("migrate", survey(folder, keys), "--quiet").code == 0
    return folder


def work_of(folder):
    keys = to_migrate("2D free surface", output__directory="planned")
    layout = survey_layout(load_survey(survey(folder, keys)), True, headers_only=True)
    known = known_model(layout, None)
    time, _ = layout.time(known.limit)
    return Work(layout, loops_of_some(layout, time, known.speeds)), time


def image(folder, name):
    return b"".join((folder / name / f"image{kind}.rsf@").read_bytes() for kind in ("", "-illumination"))


@pytest.mark.parametrize(("command", "name"), [("migrate", "image"), ("model", "traces")])
def test_unequal_parts_change_no_bit_and_are_told(folder, command, name):
    keys = to_migrate("2D free surface", output__directory=name)
    if command == "model":
        few = {"acquisition.sources": AT_ONE_SIDE, "output.directory": name}
        keys = keys_of("2D free surface") | few
    path = survey(folder, keys | {"parallel.decomposition": [3, 1], "parallel.ranks_per_shot": "all"})
    done = call(command, path, "--ranks", 3, "--threads", 1)
    assert done.code == 0, done.err
    grid = json.loads((folder / name / "run.json").read_text())["results"]["grid"]
    first, second = grid["cuts"][0]
    width = grid["padded_shape"][0]
    assert first < width // 3  # more waves there
    assert 0 < grid["waiting_share"] < 0.5
    assert f"cut along x at cells {first}, {second}, for equal work" in done.err
    assert f"{100 * grid['waiting_share']:.0f} % of the time steps' time is waiting" in done.err
    if command == "migrate":
        assert image(folder, name) == image(folder, "alone")
    else:
        assert (folder / name / "shots.segy").read_bytes() == (folder / "shots" / "shots.segy").read_bytes()


def test_parts_have_equal_sums_of_work(folder):
    work, time = work_of(folder)
    for parts in (2, 3, 4):
        shares = work.shares(time, (parts, 1, 1))
        ends, _ = parts_of(work.layout, (parts, 1, 1), shares.cuts)
        sums = np.add.reduceat(work.of_rows.sum(axis=1), ends[:-1])
        assert sums.max() <= 1.1 * sums.mean() or np.diff(ends).max() >= 1.4 * 120 / parts
        equal, _ = parts_of(work.layout, (parts, 1, 1), None)
        assert sums.max() < (1 - GAIN) * np.add.reduceat(work.of_rows.sum(axis=1), equal[:-1]).max()


def test_work_of_parts_adds_up_to_what_is_computed(folder):
    """Whatever the parts and instants; and of the largest part is no more than of one that has all."""
    work, _ = work_of(folder)
    nx, ny, _ = work.layout.grid.full_shape
    for loop in work.loops:
        assert loop.rows is not None
        rows = float(np.maximum(loop.rows.last - loop.rows.first, 0).sum())
        for parts in (((0, nx), (0, ny)), ((0, 17, 60, nx), (0, ny))):
            for instants in (1, 7, 32):
                assert loop.computed(parts, instants).sum() == pytest.approx(rows, rel=1e-9)
        whole = replace(loop, rows=None)
        assert whole.computed(((0, 17, nx), (0, ny)), 4).sum(axis=0) == pytest.approx(
            np.array([[17.0 * ny], [(nx - 17.0) * ny]]) * loop.cone.time.steps
        )
    alone = work.computed_shares((1, 1, 1), None)
    shared = work.computed_shares((4, 1, 1), None)
    assert all(alone[name] <= shared[name] <= 1 for name in alone)


def test_nothing_is_cut_unequally_that_does_not_fit(folder):
    work, time = work_of(folder)
    assert work.shares(time, (3, 1, 1)).cuts is not None
    assert work.shares(time, (3, 1, 1), room=1e5).cuts is None
    assert work.shares(time, (1, 1, 3)).cuts is None  # nor along z, whose rows are whole
    assert str(Shares()) == ""
