"""The width of absorbing layers that is left to the program: how many cells, what comes back, what is said of it."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from cli_support import call, here
from elastic_product import Run, columns
from elastic_survey_support import random_model, survey_with
from elastic_surveys import IN_2D, SPACING, elastic_survey, samples
from layered_kernels import Layer
from machine_support import MACHINE
from mpi4py import MPI
from support import FULL

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.plan.machine_file import Rate, save_machine
from fathometer.seismic.elastic.layer_width import LEAST, SlowWaves, layer_width, slow_waves
from fathometer.seismic.model import earth
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.setup.survey_layout import boundary_of
from fathometer.seismic.survey import PropagationTable
from fathometer.seismic.waves.boundary import Pml

GRID = Grid((200, 1, 100), (10.0, 1.0, 5.0))
LOW = {"wavelet__peak_frequency": 3.5, "snapshots__every_steps": None, "tuning__search": "never"}


def cells(tmp_path, waves, grid=GRID, frequency=6.0, **propagation):
    return layer_width(survey_with(tmp_path, propagation=propagation), grid, waves, frequency)


def test_auto_is_a_share_of_the_wavelengths(tmp_path):
    """By hand: 4/3 of 250 m in water above rock; 0.8 of them above mud, whose S waves have 67 m."""
    assert cells(tmp_path, SlowWaves(1700.0, 1500.0)).cells == 67
    assert cells(tmp_path, SlowWaves(400.0, 1500.0)).cells == 40
    assert cells(tmp_path, SlowWaves(1500.0)).cells == 67
    assert cells(tmp_path, SlowWaves(sound=1500.0)).cells == 67
    assert cells(tmp_path, SlowWaves(1500.0), frequency=12.0).cells == 34
    fine = replace(GRID, shape=(400, 1, 200), spacing=(5.0, 1.0, 2.5))
    assert cells(tmp_path, SlowWaves(1700.0, 1500.0), fine).cells == 134


def test_auto_is_never_less_than_twenty(tmp_path):
    assert LEAST == 20
    for waves in (SlowWaves(), SlowWaves(400.0), SlowWaves(1e-3, 2e-3)):
        assert cells(tmp_path, waves).cells == 20
    assert cells(tmp_path, SlowWaves(1500.0), boundary={"kind": "pml", "width": 9}).cells == 9


def test_auto_is_never_wider_than_the_model(tmp_path):
    shallow = replace(GRID, shape=(200, 1, 30))
    found = cells(tmp_path, SlowWaves(1500.0), shallow)
    assert found.cells == 30
    assert found.notes == (
        "[propagation] boundary.width: auto would be 67 cells, but the model has 30 along z: 30 are taken, and more of "
        "long waves comes back than from a model with more cells",
    )
    assert cells(tmp_path, SlowWaves(1500.0), replace(GRID, shape=(200, 1, 7))).cells == 20  # as ever


def test_layers_wider_than_the_model_are_refused(tmp_path):
    """Along all axes: a flat model may have layers that are wider than it is deep."""
    wide = {"kind": "pml", "width": 121}
    flat = replace(GRID, shape=(120, 1, 50))
    with pytest.raises(InputError) as raised:
        cells(tmp_path, SlowWaves(), flat, boundary=wide)
    assert str(raised.value) == (
        f"{tmp_path / 'survey.toml'}: [propagation] boundary.width: found 121 cells, wider than the model; allowed: "
        'up to the 120 cells that it has along x, or "auto"'
    )
    assert cells(tmp_path, SlowWaves(), flat, boundary=wide | {"width": 120}).cells == 120
    here_too = here("model", elastic_survey(tmp_path, propagation__boundary=wide | {"width": 27}), "--quiet")
    assert here_too.code == 2
    assert "boundary.width: found 27 cells, wider than the model; allowed: up to the 26" in here_too.err


@pytest.mark.parametrize("piece", [50, 10**6])
def test_slow_waves_are_those_of_all_cells(tmp_path, monkeypatch, piece):
    """Of fluids only sound counts; values that are none do not."""
    monkeypatch.setattr(earth, "PIECE", piece)
    values = random_model(tmp_path)
    vp, vs = values["vp"], values["vs"]
    wanted = SlowWaves(float(vs[vs > 0].min()), float(vp[vs == 0].min()))
    survey = survey_with(tmp_path)
    assert slow_waves(EarthFiles(survey), survey, MPI.COMM_SELF) == wanted
    vs.flat[:3] = np.nan, -5, 1
    np.save(tmp_path / "vs.npy", vs)
    assert slow_waves(EarthFiles(survey), survey, MPI.COMM_SELF) == replace(wanted, shear=1.0)
    for key, shear in ((800.0, 800.0), (0.0, np.inf)):
        survey = survey_with(tmp_path, model={"vs": key})
        found = slow_waves(EarthFiles(survey), survey, MPI.COMM_SELF)
        assert found.shear == shear
        assert found.sound == (np.inf if key else vp.min())


def test_acoustic_layers_stay_as_they_are():
    for boundary in ("auto", {"kind": "pml"}, {"kind": "pml", "width": "auto"}):
        assert boundary_of(PropagationTable(boundary=boundary)) == Pml(8)


WATER = (1500.0, 0.0, 1000.0)


@dataclass(frozen=True)
class Sea:
    """An explosion of 6 Hz in water above a floor, below a free surface; receivers 22.5 m above the floor and below it.

    Attributes:
        floor: vp, vs, density. width, depth, below: m, of the model and of the water, and of the model below it.
        height: of the source, at 203 m along x, m. places: of receivers along x, m. large: m that the model is wider on
            each side and below where nothing comes back in time.
    """

    floor: tuple[float, float, float]
    width: float
    depth: float
    below: float
    height: float
    places: tuple[float, ...]
    duration: float
    large: float

    def traces(self, spacing, pad=0.0, boundary="auto"):
        """pad: m more of the model on each side and below."""
        shape = (round((self.width + 2 * pad) / spacing) + 1, 1, round((self.depth + self.below + pad) / spacing) + 1)
        layers = [Layer(self.depth + spacing / 2, *WATER), Layer(0.0, *self.floor)]
        run = Run(
            shape=shape,
            spacing=spacing,
            model=dict(zip(("vp", "vs", "density"), columns(layers, shape[2], spacing), strict=True)),
            source_at=(203.0 + pad, 0.0, self.depth - self.height),
            receivers=[(x + pad, 0.0, self.depth + z) for x in self.places for z in (-22.5, 22.5)],
            source={"kind": "explosion", "moment": 1e9},
            wavelet={"kind": "ricker", "peak_frequency": 6.0},
            duration=self.duration,
            interval=0.004,
            free_surface=True,
            propagation={"boundary": boundary},
        )
        return run().traces

    def reflected(self, spacing, *boundaries):
        """What comes back, of vx and vz: relative L2 of all traces, a row for each of the boundaries."""
        large = self.traces(spacing, self.large)
        size = np.linalg.norm(large, axis=(1, 2))
        return [np.linalg.norm(self.traces(spacing, 0.0, one) - large, axis=(1, 2)) / size for one in boundaries]


TWENTY = {"kind": "pml", "width": 20}
SMALL = Sea((3000.0, 1700.0, 2200.0), 600.0, 450.0, 300.0, 65.0, (230.0, 453.0), 0.8, 1200.0)
SEAS = {
    "rock": (Sea((3000.0, 1700.0, 2200.0), 1000.0, 600.0, 500.0, 65.0, (230.0, 453.0, 703.0), 1.3, 2160.0), 10.0),
    "mud": (Sea((1700.0, 400.0, 1800.0), 800.0, 300.0, 200.0, 30.0, (230.0, 453.0, 703.0), 1.3, 1200.0), 5.0),
}


def test_finer_cells_do_not_bring_more_back():
    """From layers that stay as wide in metres; those of twenty cells reflect more the finer the grid is."""
    (coarse, coarse_of_twenty), (fine, fine_of_twenty) = (SMALL.reflected(h, "auto", TWENTY) for h in (15.0, 7.5))
    assert coarse.max() <= 0.01
    assert (fine <= coarse + 0.001).all()  # widths are whole cells
    assert (fine_of_twenty > 2.5 * coarse_of_twenty).all()


@pytest.mark.verify
@pytest.mark.parametrize("name", SEAS)
def test_little_comes_back_beside_a_sea_floor(name):
    """Whatever the cells, over rock and over mud."""
    sea, spacing = SEAS[name]
    found = [sea.reflected(spacing / finer, "auto")[0] for finer in ((1, 2, 3) if FULL else (1, 2))]
    assert np.max(found) <= 0.01
    assert (np.diff(found, axis=0) <= 0.0005).all()


def said(text):
    [line] = [line for line in text.splitlines() if "absorbing layers:" in line]
    return line.partition("absorbing layers: ")[2]


def test_what_layers_cost_is_said(tmp_path):
    """Before the run, by the plan, in the record and on the page; run and plan have the same grid."""
    path = elastic_survey(tmp_path, **IN_2D, **LOW)
    done = here("model", path)
    assert done.code == 0
    wide = -(-(4 / 3 * 1100 / 3.5) // SPACING)
    assert wide == 21
    line = said(done.out + done.err)
    folder = next(tmp_path.glob("*/run.json")).parent
    results = json.loads((folder / "run.json").read_text())["results"]
    nx, _, nz = results["grid"]["padded_shape"]
    share = 1 - (1 - 42 / nx) * (1 - 21 / nz)
    assert line == f"21 cells (420 m, in wavelengths at 3.5 Hz 1.34 of 1100 m/s); {100 * share:.0f} % of all cells"
    assert results["absorbing_layers"] == {
        "summary": f"absorbing layers: {line}",
        "share_of_cells": pytest.approx(share),
    }
    assert results["boundary"]["width"] == 21
    assert line in (folder / "report.html").read_text()
    machine = tmp_path / "machine.json"
    rate = Rate(physics="elastic", dimensions=2, order=4, points=1e3, points_per_second=4e7)
    save_machine(machine, MACHINE.model_copy(update={"rates": (rate,)}))
    planned = here("plan", path, "--on", machine)
    assert said(planned.out) == line
    plan = json.loads(here("plan", path, "--on", machine, "--json", "-").out)
    assert plan["padded_shape"] == results["grid"]["padded_shape"]
    assert plan["absorbing_layers"] == f"absorbing layers: {line}"


def test_ranks_agree_on_the_width(tmp_path):
    """One slow cell, which one of them reads: with it the layers are thinner than without."""
    path = elastic_survey(tmp_path, **IN_2D | LOW | {"model__vs": "slow.npy"})
    slow = np.full((26, 26), 1250.0, np.float32)
    slow[23, 5] = 1100.0
    np.save(tmp_path / "slow.npy", slow)
    expected = None
    for ranks in (1, 3):
        done = call("model", path, "--ranks", ranks, "--threads", 1, "--overwrite")
        assert done.code == 0, done.err
        assert said(done.out + done.err).startswith("21 cells (420 m, ")
        folder = next(tmp_path.glob("*/run.json")).parent
        expected = expected or samples(folder)
        assert samples(folder) == expected
