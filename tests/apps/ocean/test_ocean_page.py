"""The page of an ocean: which panels there are, what is in them, what is said of files that are gone; in a browser."""

from __future__ import annotations

import base64
import copy

import numpy as np
import pytest
from hand_ocean import DAY, basin, record_of, state, written

from fathometer.apps.ocean.page import heading, panels_of
from fathometer.apps.ocean.page_tables import block_panel
from fathometer.apps.ocean.shown import course_panel
from fathometer.report.page import DRAWN, PagePanels, write_page
from fathometer.report.records import Run
from fathometer.shown.lines import MOST_PLACES
from tests.support.browser_support import check_width, open_page, photograph, programs

TITLES = [
    "Maps of the surface",
    "Section",
    "Time series",
    "Barotropic and baroclinic: 1\N{NARROW NO-BREAK SPACE}006 simulated years a day",
    "Contents of the tracers; missing: relative to the largest of the three",
    "52 blocks on 4 ranks",
    "The solver for the surface",
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ocean")
    grid = basin(nx=90)
    _, files = written(folder, grid)
    return folder, grid, record_of(grid, files, folder)


def codes_of(one, number, shape):
    """Values that codes stand for, NaN for none."""
    codes = np.frombuffer(base64.b64decode(one["codes"][number]), np.uint8).reshape(shape).astype(float)
    values = one["low"] + (codes - 1) / 254 * (one["high"] - one["low"])
    return np.where(codes == 0, np.nan, values)


def test_all_panels_are_there_and_are_drawn(run):
    folder, _, record = run
    panels = panels_of(record, folder)
    assert [panel["title"] for panel in panels] == TITLES
    assert [panel["kind"] for panel in panels] == ["fields", "fields", "lines", "table", "table", "blocks", "table"]
    assert [DRAWN[panel["kind"]](panel)["name"] for panel in panels if panel["kind"] in DRAWN] == [
        "maps",
        "section",
        "course",
        "blocks",
    ]


def test_codes_of_maps_are_their_values(run):
    folder, grid, record = run
    maps, section = panels_of(record, folder)[:2]
    assert maps["choices"] == ["0 d", "10 d", "20 d"]
    assert [one["label"] for one in maps["fields"]] == [
        "Surface height (m)",
        "Surface temperature (°C)",
        "Barotropic streamfunction (Sv)",
        "Surface salinity",
        "Surface speed (m/s)",
    ]
    for number, time in enumerate((0.0, 10 * DAY, 20 * DAY)):
        for one, name in ((0, "eta"), (1, "temperature")):
            field = maps["fields"][one]
            whole = state(grid, time)[name]
            exact = np.where(grid.levels > 0, whole if whole.ndim == 2 else whole[..., 0], np.nan).T
            found = codes_of(field, number, maps["shape"])
            assert found == pytest.approx(exact, abs=0.51 * (field["high"] - field["low"]) / 254, nan_ok=True)
    assert maps["fields"][0]["low"] == -maps["fields"][0]["high"]
    assert maps["fields"][2]["first"] == [-79.0, 11.0]  # corners
    assert section["down"]
    assert section["y"][0] == pytest.approx(section["y"][1] / 2)
    assert section["y"][1] * section["shape"][0] == pytest.approx(grid.bottoms[-1])
    assert section["caption"].startswith("At ")


def test_large_maps_are_thinned(tmp_path):
    grid = basin(nx=801, ny=40, nz=2)
    _, files = written(tmp_path, grid, times=(0.0,))
    maps = panels_of(record_of(grid, files, tmp_path), tmp_path)[0]
    assert maps["shape"] == [40, 267]
    assert maps["x"] == pytest.approx([-80.0 + 1.5, 3.0])
    assert "Means of 3 × 1 cells." in maps["caption"]


def test_the_map_of_blocks(run):
    _, _, record = run
    panel = block_panel(record)
    x, y = (np.array(edges) for edges in panel["edges"])
    assert (x[0], x[-1], y[0], y[-1]) == (-80.0, 10.0, 10.0, 50.0)
    for lo, hi, rank in record["results"]["blocks"]["owners"]:
        row, column = np.searchsorted(y, 10.0 + lo[1]), np.searchsorted(x, -80.0 + lo[0])
        assert panel["owners"][row][column] == rank
        assert (x[column + 1], y[row + 1]) == (-80.0 + hi[0], 10.0 + hi[1])
    owned = sum(owner is not None for row in panel["owners"] for owner in row)
    assert owned == len(record["results"]["blocks"]["owners"])
    assert "Grey: blocks of land, left out" in panel["caption"]


def test_what_is_gone_is_said(tmp_path):
    grid = basin(nx=30)
    _, files = written(tmp_path, grid)
    record = record_of(grid, files, tmp_path)
    files.files(files.written)[0].unlink()
    files.files(files.written)[2].write_bytes(b"CDF\x05 no more")
    panels = panels_of(record, tmp_path)
    assert panels[0]["title"] == "Maps of the surface at 10 d"
    gone = {panel["title"]: panel["reason"] for panel in panels if panel["kind"] == "missing"}
    assert gone["fields/ocean-00000000.nc"].endswith("no such file")
    assert "is damaged" in gone["fields/ocean-00000480.nc"]


def test_a_run_that_did_not_end(run):
    folder, _, record = run
    unfinished = copy.deepcopy(record)
    unfinished["results"] = {name: unfinished["results"][name] for name in ("files", "grid")}
    panels = panels_of(unfinished, folder)
    assert [panel["kind"] for panel in panels] == ["missing"]
    assert [name for name, _ in heading(unfinished).facts] == ["Grid", "Water"]


def test_tables(run):
    folder, _, record = run
    tables = {panel["title"]: panel["rows"] for panel in panels_of(record, folder) if panel["kind"] == "table"}
    parts, balance, solver = (tables[title] for title in TITLES if title in tables)
    assert parts[1] == ["barotropic", 1.2, 1.2 / 480, pytest.approx(1.2 / 4.7), 33.0, 34.0, 13600.0, 40.0]
    assert parts[2][1] == pytest.approx(4.7)
    assert balance[0] == ["temperature", "°C m³", 1.5e18, 1.6e18, 1e17, 3e-14]
    assert ["conjugate gradients", "chronopoulos-gear"] in solver
    assert ["tolerance", "1e-13"] in solver


def test_heading(run):
    _, _, record = run
    facts = dict(heading(record).facts)
    assert facts["Grid"].startswith("90 × 40 × 8 cells of 1° × 1°, 1398.32 m deep; ")
    assert facts["Blocks"].startswith("52 on 4 ranks; ")
    assert facts["Time steps"] == "480 of 3600 s, to 20 d"
    assert facts["Solver"].endswith("33 iterations a step")


def test_a_long_time_series_is_thinned():
    rows = [{"step": n, "time_seconds": DAY * n, "largest_speed": float(n)} for n in range(2 * MOST_PLACES + 3)]
    panel = course_panel({"results": {"course": rows}})
    (plot,) = panel["plots"]
    assert plot["lines"][0]["y"][:2] == [1.0, 4.0]
    assert plot["labels"] == ["time (a)", ""]
    assert panel["caption"] == "Each place is the mean of 3 rows."
    with pytest.raises(ValueError, match="no row"):
        course_panel({"results": {"course": []}})


PLOTS = """
return ["maps", "section", "course", "blocks"].map((name) =>
  [...document.querySelectorAll(`[data-figure="${name}"] .js-plotly-plot`)]
    .filter((plot) => plot.querySelector(".trace path, .heatmaplayer image")).length);
"""


@pytest.mark.parametrize("width", [1280, 400])
def test_page_in_a_browser(browser, run, width):
    programs()
    folder, _, record = run
    path = folder / "report.html"
    write_page(path, [Run(folder / "run.json", record)], PagePanels(heading(record), panels_of(record, folder)))
    assert open_page(browser, path, width) == []
    photograph(browser, f"ocean-{width}")
    assert browser.execute_script(PLOTS) == [5, 1, 6, 1]
    check_width(browser, width)
    assert browser.execute_script("return document.querySelectorAll('input[name=\"time\"]').length") == 2
