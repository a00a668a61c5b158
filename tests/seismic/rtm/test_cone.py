"""[propagation] cone: what is left out changes traces and images by less than 1e-8 in float64, and about as much as
rounding in float32, is counted and told; ranks, threads and history change no bit of it."""

import json
import math

import numpy as np
import pytest
from cli_support import call, here, survey
from support import heterogeneous
from survey_support import load

from examples.historical import FOLDER
from fathometer.storage.traces.segy import read_traces, scan

LARGEST = 1e-8  # relative L2 difference in float64
FAR = 1e-5  # the same after 400 cells, where waves run ahead
COMMON = {
    "wavelet.kind": "ricker",
    "propagation.precision": "float64",
    "propagation.boundary": {"kind": "pml", "width": 6},
}
CASES = {
    "3D vti": {
        "model.spacing": [20.0, 20.0, 20.0],
        "model.epsilon": "epsilon.npy",
        "model.delta": "delta.npy",
        "wavelet.peak_frequency": 8.0,
        "propagation.duration": 0.6,
        "acquisition.sources": {"x": [150.0, 610.0, 460.0], "y": 255.0, "z": 50.0},
        "acquisition.receivers": {"x": [0.0, 780.0, 60.0], "y": [100.0, 400.0, 100.0], "z": 30.0},
    },
    "2D free surface": {
        "model.spacing": [10.0, 10.0],
        "wavelet.peak_frequency": 15.0,
        "propagation.duration": 1.0,
        "propagation.top": "free-surface",
        "acquisition.sources": {"x": [200.0, 1000.0, 800.0], "z": 15.0},
        "acquisition.receivers": {"x": 400.0, "z": 12.0},
    },
}
SHAPES = {"3D vti": (40, 24, 22), "2D free surface": (120, 50)}
NOT_TO_MIGRATE = ("acquisition.sources", "acquisition.receivers", "propagation.duration")


def keys_of(case, **changes):
    return COMMON | {"model.vp": "vp.npy"} | CASES[case] | {k.replace("__", "."): v for k, v in changes.items()}


def to_migrate(case, **changes):
    keys = {key: value for key, value in keys_of(case).items() if key not in NOT_TO_MIGRATE}
    return keys | {"acquisition.gathers": "recorded.segy"} | {k.replace("__", "."): v for k, v in changes.items()}


def record_of(folder, name):
    return json.loads((folder / name / "run.json").read_text())


@pytest.fixture(scope="module", params=list(CASES))
def case(request, tmp_path_factory):
    """A folder with modelled shots and images, of cones ("cone", "image") and of all cells ("full", "full-image")."""
    folder = tmp_path_factory.mktemp("cone")
    vp, epsilon, delta = heterogeneous(SHAPES[request.param], 3)
    for name, values in (("vp", vp), ("epsilon", epsilon), ("delta", delta)):
        np.save(folder / f"{name}.npy", values.astype(np.float32))
    for name, cone in (("full", "off"), ("cone", "auto")):
        keys = keys_of(request.param, output__directory=name, propagation__cone=cone)
        assert here("model", survey(folder, keys), "--quiet").code == 0
    (folder / "recorded.segy").write_bytes((folder / "full" / "shots.segy").read_bytes())
    for name, cone in (("full-image", "off"), ("image", "auto")):
        keys = to_migrate(request.param, output__directory=name, propagation__cone=cone)
        assert here("migrate", survey(folder, keys), "--quiet").code == 0
    return request.param, folder


def difference(one, other):
    return np.linalg.norm(other - one) / np.linalg.norm(one)


def test_traces_are_those_of_all_cells(case):
    _, folder = case
    full, cone = (
        read_traces(path, np.arange(len(scan(path).ffid)))
        for path in (folder / name / "shots.segy" for name in ("full", "cone"))
    )
    assert 0 < difference(full, cone) <= LARGEST


@pytest.mark.parametrize("volume", ["image", "image-laplacian", "image-illumination"])
def test_images_are_those_of_all_cells(case, volume):
    _, folder = case
    full, cone = (load(folder / name / f"{volume}.rsf") for name in ("full-image", "image"))
    assert 0 < difference(full, cone) <= LARGEST


@pytest.mark.parametrize(("name", "loops"), [("cone", 1), ("image", 2), ("full", 1), ("full-image", 2)])
def test_what_is_saved_is_told_and_counted(case, name, loops):
    _, folder = case
    record = record_of(folder, name)
    results = record["results"]
    shares, shots = results["cone"], 2
    every = loops * math.prod(results["grid"]["padded_shape"]) * results["steps"] * shots
    points = sum(phase["total_points"] for phase in record["ledger"]["phases"])
    assert points == pytest.approx((1 - shares["saved_share"]) * every, rel=1e-12)
    if name.startswith("full"):
        assert set(shares.values()) == {0.0}
    else:
        assert shares["source_loop_saved_share"] > 0.05
        assert loops == 1 or shares["receiver_loop_saved_share"] > 0.05
        assert "first arrivals" in record["ledger"]["ranks"][0]["phases"]


def test_a_plan_expects_about_that(case):
    name, folder = case
    expected = {}
    for cone in ("auto", "off"):
        path = survey(folder, to_migrate(name, propagation__cone=cone), "plan.toml")
        done = here("plan", path, "--on", FOLDER / "cluster.json", "--json", folder / "plan.json")
        assert done.code == 0, done.err
        expected[cone] = json.loads((folder / "plan.json").read_text())["cone"]
        assert ("% of the receiver loop" in done.out) == (cone == "auto")
    assert expected["off"] is None
    told = record_of(folder, "image")["results"]["cone"]
    assert expected["auto"] == pytest.approx(told, abs=0.1)


def same_again(case, *words, **changes):
    """Whether a migration with other keys makes the same image and leaves out as much."""
    name, folder = case
    keys = to_migrate(name, output__directory="again", **changes)
    work = call if "--ranks" in words else here
    assert work("migrate", survey(folder, keys, "again.toml"), "--quiet", "--overwrite", *words).code == 0
    images = (load(folder / run / "image.rsf").tobytes() for run in ("image", "again"))
    told = (record_of(folder, run)["results"]["cone"] for run in ("image", "again"))
    return len(set(images)) == 1 and next(told) == next(told)


def test_snapshots_that_are_computed_again_are_the_same(case):
    """From the beginning, too: there is room for few states."""
    budget = 6.5e6 if case[0] == "3D vti" else 1.5e6
    assert same_again(case, history__store="checkpoint", history__memory_budget=budget)


def test_ranks_that_share_a_shot_leave_out_the_same(case):
    if case[0] == "3D vti":
        assert same_again(case, "--ranks", 4, "--threads", 1, parallel__ranks_per_shot="all")


def test_another_word_is_refused(tmp_path):
    done = here("model", survey(tmp_path, keys_of("3D vti", propagation__cone="on")))
    assert done.code == 2
    assert '[propagation] cone: found "on"; allowed: "auto" or "off"' in done.err


@pytest.mark.parametrize(("order", "weights", "peak"), [(16, "taylor", 6.5), (8, "optimised", 6.5)])
def test_what_is_far_away_is_the_same(order, weights, peak, tmp_path):
    """Over 400 cells: waves above the wavelet's highest frequency, which are faster on time steps, get far ahead of the
    others where the stencil is accurate."""
    vp = np.full((600, 60), 1500.0, np.float32)
    vp[:, 45:] = 1400.0
    np.save(tmp_path / "vp.npy", vp)
    keys = COMMON | {
        "model.vp": "vp.npy",
        "model.spacing": [20.0, 20.0],
        "wavelet.peak_frequency": peak,
        "propagation.order": order,
        "propagation.space_weights": weights,
        "propagation.duration": 9.0,
        "acquisition.sources": {"x": 403.0, "z": 101.0},
        "acquisition.receivers": {"x": [8020.0, 11220.0, 160.0], "z": 100.0},
    }
    traces = []
    for cone in ("off", "auto"):
        path = survey(tmp_path, keys | {"output.directory": cone, "propagation.cone": cone})
        assert here("model", path, "--quiet").code == 0
        segy = tmp_path / cone / "shots.segy"
        traces.append(read_traces(segy, np.arange(len(scan(segy).ffid))))
    assert record_of(tmp_path, "auto")["results"]["cone"]["saved_share"] > 0.2
    assert difference(*traces) < FAR
    (tmp_path / "recorded.segy").write_bytes((tmp_path / "off" / "shots.segy").read_bytes())
    images = []
    for cone in ("off", "auto"):
        recorded = {key: value for key, value in keys.items() if key not in NOT_TO_MIGRATE}
        recorded |= {"acquisition.gathers": "recorded.segy", "propagation.cone": cone}
        path = survey(tmp_path, recorded | {"output.directory": f"{cone}-image"})
        assert here("migrate", path, "--quiet").code == 0
        images.append([load(file) for file in sorted((tmp_path / f"{cone}-image").glob("*.rsf"))])
    assert len(images[0]) == 3
    for one, other in zip(*images, strict=True):
        assert difference(one, other) < FAR


def test_in_float32_it_changes_about_as_much_as_rounding_does(tmp_path):
    """Most where epsilon = delta: by some 1e-4, as much as all cells differ from those of float64."""
    np.save(tmp_path / "vp.npy", np.full((400, 60), 2000.0, np.float32))
    elliptic = {"model.epsilon": 0.1, "model.delta": 0.1}
    traces = {}
    for precision, cone in (("float64", "off"), ("float32", "off"), ("float32", "auto")):
        keys = keys_of("2D free surface", propagation__duration=2.0, propagation__precision=precision) | elliptic
        keys |= {"propagation.cone": cone, "output.directory": f"{precision}-{cone}"}
        assert here("model", survey(tmp_path, keys), "--quiet").code == 0
        segy = tmp_path / f"{precision}-{cone}" / "shots.segy"
        traces[precision, cone] = read_traces(segy, np.arange(len(scan(segy).ffid)))
    rounding = difference(traces["float64", "off"], traces["float32", "off"])
    assert record_of(tmp_path, "float32-auto")["results"]["cone"]["saved_share"] > 0
    assert 1e-6 < difference(traces["float32", "off"], traces["float32", "auto"]) < 6 * rounding < 2e-3
