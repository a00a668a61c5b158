"""The page of a reactive flow: which panels there are, what is in them, what is said of files that are gone; one of
them in a browser."""

import base64
import copy
import json
import time

import numpy as np
import pytest
from hand_run import ORIGIN, SPACING, record_of, state, written
from patience import PATIENCE

from fathometer.apps.reactive.page import heading, panels_of
from fathometer.apps.reactive.shown import step_panel
from fathometer.report.page import DRAWN, PagePanels, write_page
from fathometer.report.records import Run
from fathometer.shown.lines import MOST_PLACES
from tests.support.browser_support import check_width, open_page, photograph, programs

TITLES = [
    "The fields",
    "Time steps",
    "Newton's method: the account beside PETSc's log",
    "PETSc 3.18.5's own log",
    "Balance of moles, in water and minerals; missing: relative to the largest of the three",
    "The waters of the flow file",
]
TIMES = ["0 h", "0.5 h", "1 h"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run on a grid of three different sizes, and its record."""
    folder = tmp_path_factory.mktemp("flow")
    case, fields = written(folder, (9, 7, 5))
    return folder / "out", case, record_of(case, fields)


def drawn(record, folder):
    """The panels, each as the page's figure where it is one."""
    panels = panels_of(record, folder)
    return panels, [DRAWN[panel["kind"]](panel) for panel in panels if panel["kind"] in DRAWN]


def field_of(panel, name):
    return next(one for one in panel["fields"] if one["label"].startswith(name))


def test_all_panels_are_there(run):
    folder, _, record = run
    panels, figures = drawn(record, folder)
    assert [panel["title"] for panel in panels] == TITLES
    assert [panel["kind"] for panel in panels] == ["fields", "lines"] + 4 * ["table"]
    assert [figure["name"] for figure in figures] == ["fields", "steps"]


@pytest.mark.parametrize(("name", "column"), [("pH", "pH"), ("Tracer", "tracer")])
def test_codes_are_the_values_of_the_section(run, name, column):
    """Rows go along z, columns along x; codes over the range at all times, logarithmic for the tracer."""
    folder, case, record = run
    panel = panels_of(record, folder)[0]
    one = field_of(panel, name)
    assert panel["choices"] == TIMES
    assert one["log"] is (name == "Tracer")
    assert (panel["x"], panel["y"]) == (
        pytest.approx([ORIGIN[0] + SPACING[0] / 2, SPACING[0]]),
        pytest.approx([ORIGIN[2] + SPACING[2] / 2, SPACING[2]]),
    )
    for time_, codes in zip((0.0, 1800.0, 3600.0), one["codes"], strict=True):
        cells = state(case, (9, 7, 5), time_)
        exact = -cells.ln_activity[:, 3, :, 1] / np.log(10) if name == "pH" else np.log10(cells.totals[:, 3, :, 3])
        low, high = (np.log10(one[key]) if one["log"] else one[key] for key in ("low", "high"))
        shown = np.frombuffer(base64.b64decode(codes), np.uint8).reshape(panel["shape"]).astype(float)
        assert shown.min() >= 1
        assert low + (shown.T - 1) / 254 * (high - low) == pytest.approx(exact, abs=0.51 * (high - low) / 254)


def test_no_value_constant_and_one_time(tmp_path):
    holes = np.full((6, 1, 4), 7.0)
    holes[:2] = np.nan
    case, fields = written(tmp_path, (6, 1, 4), times=(3600.0,), change={"pH": holes, "tracer": np.nan}.items())
    panel = panels_of(record_of(case, fields), tmp_path / "out")[0]
    assert panel["title"] == "The fields at 1 h"
    assert panel["caption"] == "The axes are not at one scale. Grey: no value."
    one = field_of(panel, "pH")
    assert (one["label"], one["plain"]) == ("pH: 7 where it has values", True)
    codes = np.frombuffer(base64.b64decode(one["codes"][0]), np.uint8).reshape(4, 6)
    assert np.array_equal(codes == 0, np.isnan(holes[:, 0, :].T))
    assert field_of(panel, "Tracer")["label"] == "Tracer, total (mol/kg): no values"


@pytest.mark.parametrize(("cells", "across"), [((1, 40, 1), "y (m)"), ((1, 1, 1), "time (h)")])
def test_lines_of_grids_without_a_section(tmp_path, cells, across):
    case, fields = written(tmp_path, cells)
    panels, _ = drawn(record_of(case, fields), tmp_path / "out")
    assert [panel["title"] for panel in panels] == TITLES
    ph = next(plot for plot in panels[0]["plots"] if plot["label"] == "pH")
    assert panels[0]["legend"] == [] if cells == (1, 1, 1) else [name for name, _ in panels[0]["legend"]] == TIMES
    assert ph["labels"][0] == across
    exact = np.array([-state(case, cells, t).ln_activity[0, :, 0, 1] / np.log(10) for t in fields.written])
    values = [line["y"] for line in ph["lines"]]
    assert np.array(values) == pytest.approx(exact.T if cells == (1, 1, 1) else exact, rel=1e-5)


def test_large_sections_are_thinned(tmp_path):
    case, fields = written(tmp_path, (801, 2, 1), times=(0.0,))
    panel = panels_of(record_of(case, fields), tmp_path / "out")[0]
    assert panel["shape"] == [2, 267]
    assert panel["x"] == pytest.approx([ORIGIN[0] + 1.5 * SPACING[0], 3 * SPACING[0]])
    assert "Means of 3 × 1 cells." in panel["caption"]


def test_what_is_gone_is_said(tmp_path):
    """A file that is missing and one of another grid; the other fields stay."""
    case, fields = written(tmp_path, (6, 1, 4))
    record = record_of(case, fields)
    by_name = {field.name: field for field in fields.fields}
    (tmp_path / "out" / by_name["pH"].file(2)).unlink()
    (tmp_path / "out" / by_name["total Tracer"].file(1)).write_bytes(b"no HDF5")
    other, _ = written(tmp_path / "other", (6, 1, 5))
    name = by_name["total Ca+2"].file(0)
    (other.file.output_directory / name).replace(tmp_path / "out" / name)
    panels = panels_of(record, tmp_path / "out")
    assert panels[0]["kind"] == "fields"
    assert not [one for one in panels[0]["fields"] if one["label"].startswith(("pH", "Tracer", "Ca+2"))]
    gone = {panel["title"]: panel["reason"] for panel in panels if panel["kind"] == "missing"}
    assert gone.keys() == {"pH", "total Tracer", "total Ca+2"}
    assert gone["pH"].endswith("pH-0002.h5: no such file")
    assert "total_Tracer-0001.h5: is not a readable field" in gone["total Tracer"]
    assert gone["total Ca+2"].endswith("holds 6 × 1 × 5 cells; needed: 6 × 1 × 4, those of the run")


def test_a_run_that_did_not_end_has_its_waters(run):
    folder, _, record = run
    unfinished = copy.deepcopy(record)
    kept = ("files", "grid", "chemistry", "waters")
    unfinished["results"] = {name: unfinished["results"][name] for name in kept}
    panels = panels_of(unfinished, folder)
    assert [panel["kind"] for panel in panels] == ["missing", "table"]
    assert panels[0]["reason"] == "the record names no fields that were written"
    assert [name for name, _ in heading(unfinished).facts] == ["Grid", "Chemistry", "Flow and transport"]


def test_tables(run):
    folder, _, record = run
    tables = {panel["title"]: panel["rows"] for panel in panels_of(record, folder) if panel["kind"] == "table"}
    newton, events, balance, waters = (tables[title] for title in TITLES[2:])
    # Of ranks with 1.0 + 0.9 + 3.1 and 1.5 + 0.7 + 2.9 s; PETSc's second rank is slower by a tenth.
    assert [row[2] for row in newton] == pytest.approx([1.5, 0.9, 3.1, 5.1])
    assert [row[4] for row in newton] == pytest.approx([1.32, 0.88, 1.1 * (5.0 - 1.2 - 0.8), 5.5])
    assert [row[0] for row in events] == ["SNESSolve", "KSPSolve", "SNESFunctionEval", "SNESJacobianEval"]
    assert events[0][1:] == pytest.approx([3, 5.5, 1, 12e9 / 5.5, 120, 12e6, 90])
    assert balance[0] == ["Ca+2", 1.5, 1.0, 0.5, 3e-14]
    columns = panels_of(record, folder)[-1]["columns"]
    assert [column[1] for column in columns] == ["", "resident", "acid"]
    assert waters[0][0] == "pH"
    assert waters[0][1] == record["results"]["waters"]["resident"]["pH"]
    assert [row[0] for row in waters[-2:]] == ["Calcite, log₁₀ Ω", "CO2(g), pressure (atm)"]


def test_heading(run):
    _, _, record = run
    top = heading(record)
    assert (top.title, top.subject, top.kernel) == ("Reactive flow", "flow", False)
    facts = dict(top.facts)
    assert facts["Grid"] == "3D, 9 × 7 × 5 cells of 0.01 × 0.02 × 0.04 m"
    assert facts["Flow and transport"].startswith("flux 1e-06, 0, 0 m/s; limited fluxes; diffusivity 1e-09 m²/s")
    assert facts["Time steps"] == "6 to 1 h; 1 cut"
    assert facts["Solver"] == "PETSc 3.18.5; 4.5 Newton iterations a step, 7.22 linear ones in each"


def test_many_steps_are_thinned_and_their_sums_stay():
    count = 2 * MOST_PLACES + 100
    rows = [
        {"step_seconds": 1.0 + n, "newton_iterations": n % 5, "linear_iterations": n, "cut_steps": n % 2}
        for n in range(count)
    ]
    panel = step_panel({"results": {"course": rows, "earlier_steps": 1000}})
    newton, linear, length, cuts = (plot["lines"][0] for plot in panel["plots"])
    assert len(newton["x"]) == count // 3 + 1
    assert newton["x"][:2] == [1002.0, 1005.0]
    assert linear["y"][:2] == [1.0, 4.0]
    assert length["y"][0] == pytest.approx(2.0)
    assert sum(cuts["y"]) == count // 2
    assert "Each place is the mean of 3 steps" in panel["caption"]
    with pytest.raises(ValueError, match="no row"):
        step_panel({"results": {"course": [], "earlier_steps": 3}})


@pytest.fixture(scope="module")
def pages(run, tmp_path_factory):
    """Pages of a grid with sections and of one with lines."""
    programs()
    folder, _, record = run
    line = tmp_path_factory.mktemp("line")
    case, fields = written(line, (40, 1, 1))
    found = {"sections": folder / "report.html", "lines": line / "out" / "report.html"}
    for path, one in zip(found.values(), (record, record_of(case, fields)), strict=True):
        shown = PagePanels(heading(one), panels_of(one, path.parent))
        write_page(path, [Run(path.with_name("run.json"), one)], shown)
    return found


SHOWN = """
return [...document.querySelectorAll('[data-figure="fields"] .js-plotly-plot')].map((plot) =>
  [plot.layout.annotations[0].text, JSON.stringify((plot.data[0].z || plot.data[0].y))]);
"""
PLOTS = """
return ["fields", "steps"].map((name) =>
  [...document.querySelectorAll(`[data-figure="${name}"] .js-plotly-plot`)]
    .filter((plot) => plot.querySelector(".trace path, .heatmaplayer image")).length);
"""
MOVE = """
const input = document.querySelector('input[name="time"]');
input.value = arguments[0];
input.dispatchEvent(new Event("input", { bubbles: true }));
return input.nextElementSibling.textContent;
"""


@pytest.mark.parametrize(("name", "width"), [("sections", 1280), ("sections", 400), ("lines", 400)])
def test_page_in_a_browser(browser, pages, run, name, width):
    assert open_page(browser, pages[name], width) == []
    photograph(browser, f"reactive-{name}-{width}")
    assert browser.execute_script(PLOTS) == [6, 4]
    check_width(browser, width)
    sliders = browser.execute_script("return document.querySelectorAll('input[name=\"time\"]').length")
    assert sliders == (name == "sections")


def test_the_slider_chooses_the_time(browser, pages, run):
    """Values in the browser are those of the section at the time, to the step of the codes."""
    _, case, _ = run
    open_page(browser, pages["sections"], 1280)
    before = browser.execute_script(SHOWN)
    assert browser.execute_script(MOVE, 0) == "0 h"
    deadline = time.monotonic() + PATIENCE
    while (after := browser.execute_script(SHOWN)) == before:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    for shown, seconds in ((before, 3600.0), (after, 0.0)):
        values = np.array(json.loads(dict(shown)["pH"]))
        exact = -state(case, (9, 7, 5), seconds).ln_activity[:, 3, :, 1] / np.log(10)
        assert np.abs(values.T - exact).max() < 0.01
    assert not [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]
