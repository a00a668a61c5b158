"""The page of a time migration: panels from a run and again from its record, arrays, names, units; the heading."""

from __future__ import annotations

import base64
import json
import shutil

import numpy as np
import pytest

from fathometer.grid.grid import Grid
from fathometer.grid.volume_info import volume_info
from fathometer.report.records import read_record
from fathometer.seismic.application import APPLICATION
from fathometer.seismic.page.offset_panels import fullest
from fathometer.seismic.page.run_data import run_data_of
from fathometer.storage.traces.segy import GatherWriter
from fathometer.storage.volumes.volume import write_volume
from tests.support.cli_support import INTERVAL, NX, SAMPLES, here, inputs, survey

FLAT = {
    "acquisition.gathers": "recorded.segy",
    "imaging.gathers": "offset",
    "imaging.offset_bins": [0.0, 50.0, 100.0, 200.0],
    "time_migration.velocity": 2000.0,
    "time_migration.eta": 0.05,
    "time_migration.x": [0.0, 10.0 * (NX - 1), 10.0],
    "time_migration.aperture": 150.0,
    "time_migration.dip": 40.0,
    "output.directory": "out",
}
DEEP = {
    "acquisition.gathers": "deep.segy",
    "time_migration.velocity": 1900.0,
    "time_migration.x": [0.0, 200.0, 20.0],
    "time_migration.y": [100.0, 300.0, 40.0],
    "time_migration.start": 0.02,
    "time_migration.anti_alias": "none",
    "output.directory": "deep",
}
BINS = ("0-50", "50-100", "100-200")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder with a time migration in 2D with bins of offset and one in 3D, neither of which has a model."""
    folder = tmp_path_factory.mktemp("time")
    inputs(folder)
    positions = [(x, y, 0.0) for y in (100.0, 200.0, 300.0) for x in np.arange(0.0, 201.0, 20.0)]
    time = INTERVAL * np.arange(SAMPLES) - 0.1
    with GatherWriter(folder / "deep.segy", SAMPLES, INTERVAL, len(positions)) as writer:
        traces = np.tile(np.exp(-((60.0 * time) ** 2)), (len(positions), 1))
        writer.write(0, 7, (100.0, 200.0, 0.0), np.array(positions), traces)
    for keys in (FLAT, DEEP):
        done = here("migrate-time", survey(folder, keys, f"{keys['output.directory']}.toml"))
        assert done.code == 0, done.err
    return folder


def made(folder):
    run = read_record(folder)
    return APPLICATION.page.panels(run.record, run.path)


def decoded(part, shape=None):
    return np.frombuffer(base64.b64decode(part["codes"]), np.uint8).reshape(shape or part["shape"])


def values_of(path, shape):
    return np.fromfile(f"{path}@", np.float32).reshape(shape)


def test_what_is_shown_and_in_which_order(runs):
    flat, deep = made(runs / "out" / "time"), made(runs / "deep" / "time")
    assert [(panel["kind"], panel["title"]) for panel in flat] == [
        ("volume", "The image in time"),
        ("traces", "Images of the bins of offset at x = 190 m"),
        ("sections", "Sections of bins of offset"),
        ("volume", "The fold"),
        ("points", "Sources and receivers along the line"),
        ("traces", "Shot 1 (FFID 7), recorded"),
    ]
    assert [panel["kind"] for panel in deep] == ["volume", "volume", "points", "traces"]
    named = [panel["name"] for panel in flat if "name" in panel]
    assert sorted(named) == ["offset-gather", "offset-sections"]  # of figures, which the page finds by their names


def test_the_page_of_the_run_shows_the_same_as_that_of_its_record(runs):
    page = (runs / "out" / "time" / "report.html").read_text()
    for panel in made(runs / "out" / "time"):
        for part in [panel, *panel.get("sections", []), panel.get("image") or {}, panel.get("property") or {}]:
            assert part.get("codes", "") in page
    assert "not shown" not in page.split("plotly.js")[0]
    assert "<h1>Kirchhoff time migration: out</h1>" in page
    assert "samples/s</b>" in page
    assert "roofline" not in page.split("</main>")[0].lower()


@pytest.mark.parametrize(
    ("name", "shape", "step", "first"),
    [
        ("out", (NX, 1, SAMPLES), (10.0, 10.0, INTERVAL), (0.0, 0.0, 0.0)),
        ("deep", (11, 6, SAMPLES - 5), (20.0, 40.0, INTERVAL), (0.0, 100.0, 0.02)),
    ],
)
def test_the_image_lies_on_places_and_times(runs, name, shape, step, first):
    panel = made(runs / name / "time")[0]
    image = panel["image"]
    assert image["shape"] == list(shape)
    axes = (0, 2) if shape[1] == 1 else (0, 1, 2)
    for axis in axes:
        assert image["step"][axis] == pytest.approx(step[axis])
        assert image["first"][axis] == pytest.approx(first[axis])
        ends = first[axis], first[axis] + (shape[axis] - 1) * step[axis]
        assert panel["span"][axis] == pytest.approx(ends)
    file = values_of(runs / name / "time" / "image.rsf", shape)
    strong = np.abs(file) > 0.2 * np.abs(file).max()
    assert strong.sum() > 20
    assert np.array_equal(decoded(image)[strong] > 128, file[strong] > 0)
    assert panel["vertical"] == {
        "name": "time",
        "label": "two-way time (s)",
        "unit": "s",
        "digits": 3,
        "ratio": 0.6,
    }
    velocity = {"out": 2000.0, "deep": 1900.0}[name]
    assert panel["property"]["label"] == "RMS velocity (m/s)"
    assert panel["property"]["low"] < velocity < panel["property"]["high"]
    assert panel["caption"].startswith("Black, or blue: positive. For display only, the image is balanced over time ")


def test_the_fold_is_that_of_the_file(runs):
    panel = made(runs / "deep" / "time")[1]
    shown, file = panel["property"], values_of(runs / "deep" / "time" / "image-fold.rsf", (11, 6, SAMPLES - 5))
    assert shown["label"] == "fold (traces)"
    assert shown["low"] == 0.0
    assert shown["high"] == pytest.approx(file.max())
    np.testing.assert_allclose(decoded(shown) / 255 * shown["high"], file, atol=0.51 * file.max() / 255)
    assert panel["image"] is None
    assert panel["vertical"]["unit"] == "s"


def test_bins_of_offset_side_by_side_where_the_fold_is_largest(runs):
    folder = runs / "out" / "time"
    fold = values_of(folder / "image-fold.rsf", (NX, SAMPLES))
    run = read_record(folder)
    place = fullest(run_data_of(run.record, run.path))
    assert fold[place.column[0]].sum() == pytest.approx(fold.sum(axis=1).max())
    panel = made(folder)[1]
    assert panel["x"] == [0.0, 50.0, 100.0, 200.0]
    assert panel["time"] == pytest.approx([0.0, INTERVAL])
    assert (panel["label"], panel["vertical"]) == ("offset (m)", "two-way time (s)")
    codes = decoded(panel)
    assert codes.shape == (SAMPLES, 3)
    for n, name in enumerate(BINS):
        file = values_of(folder / f"image-offset-{name}.rsf", (NX, SAMPLES))[place.column[0]]
        strong = np.abs(file) > 0.5 * np.abs(file).max()
        assert strong.any()
        assert np.array_equal(codes[strong, n] > 128, file[strong] > 0)


def test_sections_of_a_near_a_middle_and_a_far_bin(runs):
    panel = made(runs / "out" / "time")[2]
    assert [section["name"] for section in panel["sections"]] == ["0 to 50 m", "50 to 100 m", "100 to 200 m"]
    assert panel["shape"] == [SAMPLES, NX]
    assert panel["x"] == pytest.approx([0.0, 10.0])
    assert panel["labels"] == ["x (m)", "two-way time (s)"]
    for section, name in zip(panel["sections"], BINS, strict=True):
        file = values_of(runs / "out" / "time" / f"image-offset-{name}.rsf", (NX, SAMPLES))
        strong = np.abs(file) > 0.3 * np.abs(file).max()
        assert np.array_equal(decoded(section, panel["shape"]).T[strong] > 128, file[strong] > 0)


def test_a_map_frames_the_image(runs):
    panel = made(runs / "deep" / "time")[2]
    assert panel["outline"] == [pytest.approx([0.0, 200.0]), pytest.approx([100.0, 300.0])]
    assert panel["caption"] == "1 shot, 33 receivers each. The frame is the image."


def test_the_image_in_depth_is_shown_where_it_was_written(runs, tmp_path):
    shutil.copytree(runs, tmp_path / "copy")
    folder = tmp_path / "copy" / "out" / "time"
    grid = Grid((NX, 1, 30), (10.0, 1.0, 5.0))
    values = np.random.default_rng(1).standard_normal((NX, 30)).astype(np.float32)
    from mpi4py import MPI

    write_volume(folder / "image-depth.rsf", volume_info(grid, values.dtype, ""), values, (0, 0), MPI.COMM_SELF)
    record = json.loads((folder / "run.json").read_text())
    record["results"]["files"]["depth"] = "elsewhere/image-depth.rsf"
    (panel,) = [one for one in APPLICATION.page.panels(record, folder / "run.json") if "depth" in one["title"]]
    assert panel["title"] == "The image stretched to depth"
    assert "vertical" not in panel
    assert panel["span"][2] == pytest.approx([0.0, 145.0])
    assert "over depth" in panel["caption"]
    assert "not shown" not in panel["caption"]


@pytest.mark.parametrize(
    ("lost", "title", "reason"),
    [
        ("image.rsf", "The image in time", "no such file"),
        ("image-fold.rsf", "The fold", "no such file"),
        ("image-fold.rsf", "Images of the bins of offset", "no such file"),
        ("image-offset-50-100.rsf", "Sections of bins of offset", "no such file"),
    ],
)
def test_a_file_that_is_gone_leaves_the_reason(runs, tmp_path, lost, title, reason):
    shutil.copytree(runs, tmp_path / "copy")
    folder = tmp_path / "copy" / "out" / "time"
    (folder / lost).unlink()
    run = read_record(folder)
    record = json.loads(json.dumps(run.record).replace(str(runs), str(tmp_path / "copy")))
    record["results"]["files"] = {k: f"absent/{v.rsplit('/', 1)[-1]}" for k, v in record["results"]["files"].items()}
    (panel,) = [one for one in APPLICATION.page.panels(record, run.path) if one["title"] == title]
    assert panel["kind"] == "missing"
    assert lost in panel["reason"]
    assert reason in panel["reason"]
    assert any(one["kind"] != "missing" for one in APPLICATION.page.panels(record, run.path))


def test_an_image_without_its_velocity_is_shown_alone(runs, tmp_path):
    shutil.copytree(runs / "out", tmp_path / "out")
    run = read_record(tmp_path / "out" / "time")
    run.record["results"]["files"]["velocity"] = "absent.rsf"
    panel = APPLICATION.page.panels(run.record, run.path)[0]
    assert panel["title"] == "The image in time"
    assert panel["property"] is None
    assert "The velocity is not shown: " in panel["caption"]
    assert "absent.rsf" in panel["caption"]


def test_an_image_of_another_run_is_not_taken_for_it(runs, tmp_path):
    shutil.copytree(runs / "out", tmp_path / "out")
    run = read_record(tmp_path / "out" / "time")
    run.record["results"]["grid"]["shape"] = [NX, 1, SAMPLES - 1]
    panel = APPLICATION.page.panels(run.record, run.path)[0]
    assert panel["kind"] == "missing"
    assert "holds 40 × 1 × 51 samples now, the record 40 × 1 × 50: it has been replaced" in panel["reason"]


def test_a_folder_that_was_moved_is_shown_whole(runs, tmp_path):
    """Without a model the gathers tell where the survey's files are."""
    shutil.copytree(runs, tmp_path / "elsewhere")
    shown = made(tmp_path / "elsewhere" / "out" / "time")
    assert [panel["kind"] for panel in shown] == [panel["kind"] for panel in made(runs / "out" / "time")]
    assert str(tmp_path) in shown[0]["file"]
    run = read_record(tmp_path / "elsewhere" / "out" / "time")
    assert run_data_of(run.record, run.path).survey.path == tmp_path / "elsewhere" / "out.toml"


def test_the_heading_says_what_was_done(runs):
    record = read_record(runs / "out" / "time").record
    told = APPLICATION.page.heading(record)
    assert (told.title, told.subject, told.kernel) == ("Kirchhoff time migration", "out", False)
    samples = record["results"]["samples_computed"]
    assert dict(told.facts) == {
        "Image": "2D, 40 places every 10 m; 51 samples from 0 to 0.2 s, one every 4 ms",
        "Velocities": "RMS velocity 2000 m/s everywhere; eta 0.05",
        "Traces": "40 of 1 shots, 51 samples each, one every 4 ms",
        "Sum": f"{samples / 1e9:.3g} · 10⁹ samples of traces; aperture 150 m, dips up to 40°; true-amplitude weights, "
        "triangle anti-alias filter",
        "Shared": "1 block of traces by one rank",
    }
    facts = dict(APPLICATION.page.heading(read_record(runs / "deep" / "time").record).facts)
    assert facts["Image"].startswith("3D, 11 × 6 places every 20 × 40 m; 46 samples from 0.02 to 0.2 s")
    assert facts["Velocities"] == "RMS velocity 1900 m/s everywhere; eta 0"
    assert "aperture as far as the dip allows" in facts["Sum"]
    assert "no anti-alias filter" in facts["Sum"]


def test_the_heading_of_a_shared_run(runs):
    record = read_record(runs / "out" / "time").record
    record["results"] |= {
        "groups": 2,
        "ranks_per_block": 3,
        "ranks_per_block_why": "fewer do not fit into memory",
        "migrated_blocks": [1, 2],
        "earlier_blocks": 1,
        "failed_blocks": [{"block": 3, "reason": "a NaN"}],
        "velocities": {
            "velocity": {"source": "picks", "file": "a/picks.txt", "locations": 4, "picks": 20},
            "eta": {"source": "volume", "file": "a/eta.rsf"},
            "slowest_metres_per_second": 1500.0,
            "fastest_metres_per_second": 3210.4,
            "least_eta": 0.0,
            "largest_eta": 0.0912,
        },
    }
    facts = dict(APPLICATION.page.heading(record).facts)
    assert facts["Shared"] == (
        "2 blocks of traces by 2 groups of ranks with blocks of their own, 3 a block (fewer do not fit into memory); "
        "1 block of traces by earlier runs; 1 set aside: block 4: a NaN"
    )
    assert facts["Velocities"] == (
        "RMS velocities from 20 picks at 4 places (picks.txt), 1500 to 3210 m/s; "
        "eta 0 to 0.0912 from a volume (eta.rsf)"
    )


def test_the_heading_of_what_rank_0_knew_alone(runs):
    """The record of a run that was killed has no counts of what was done."""
    record = read_record(runs / "out" / "time").record
    known = ("time_migration", "grid", "velocities", "shots", "traces", "sample_interval_seconds", "samples", "files")
    record["results"] = {name: record["results"][name] for name in known}
    record["results"]["velocities"] |= {"slowest_metres_per_second": None, "fastest_metres_per_second": None}
    facts = dict(APPLICATION.page.heading(record).facts)
    assert facts["Sum"].startswith("aperture 150 m")
    assert facts["Velocities"] == "RMS velocity 2000 m/s everywhere; eta 0.05"
    assert "Shared" not in facts
