"""The page in a browser (tests/support/browser_support.py)."""

from __future__ import annotations

import copy
import json
import time

import numpy as np
import pytest
from patience import PATIENCE

from fathometer.cli.pages import page_panels
from fathometer.report.decimation import encoded
from fathometer.report.page import PagePanels, write_page
from fathometer.report.records import Run, read_record
from fathometer.runs.application import Heading
from tests.support.browser_support import check_width, open_page, photograph, programs
from tests.support.cli_support import MIGRATE, MODEL, RECEIVERS, SPACING, call, inputs, survey
from tests.support.report_support import a_record

WIDTHS = (1280, 390)
DEEP = {
    "model.spacing": [40.0, 40.0, 20.0],
    "acquisition.sources": {"x": [200.0, 600.0, 400.0], "y": 160.0, "z": 40.0},
    "acquisition.receivers": {"x": [0.0, 800.0, 80.0], "y": [0.0, 320.0, 80.0], "z": 40.0},
    "wavelet.peak_frequency": 6.0,
    "propagation.duration": 0.3,
    "output.directory": "shots",
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """One page of each kind, by name."""
    programs()
    folder = tmp_path_factory.mktemp("pages")
    flat, deep = folder / "flat", folder / "deep"
    for one in (flat, deep):
        one.mkdir()
    inputs(flat)
    assert call("model", survey(flat, MODEL | {"output.directory": "shots"}, "shots.toml")).code == 0
    assert call("migrate", survey(flat, MIGRATE | {"output.directory": "image"}, "<b>&.toml")).code == 0
    vp = np.full((21, 9, 26), 1500.0, np.float32)
    vp[:, :, 8:] = 2200.0
    np.save(deep / "vp.npy", vp)
    assert call("model", survey(deep, MODEL | DEEP, "shots.toml"), "--ranks", "2").code == 0
    keys = {name: value for name, value in (MODEL | DEEP).items() if not name.startswith("acquisition")}
    keys |= {"acquisition.gathers": "shots/shots.segy", "output.directory": "image", "propagation.duration": None}
    assert call("migrate", survey(deep, keys, "image.toml"), "--ranks", "2").code == 0
    found = {
        "section": flat / "image" / "report.html",
        "modelling": flat / "shots" / "report.html",
        "slices": deep / "image" / "report.html",
    }
    base = read_record(deep / "image")
    unfinished = copy.deepcopy(base.record)
    unfinished |= {"figures": [], "validity": {"valid": False, "finished": False, "reasons": ["unfinished: killed"]}}
    unfinished["results"] |= {"files": {}}
    for name, runs in {
        "compared": [base, read_record(flat / "image"), Run(folder / "other" / "run.json", a_record())],
        "unfinished": [Run(deep / "image" / "run-unfinished.json", unfinished)],
        "ranks": [Run(folder / "many" / "run.json", many(40))],
    }.items():
        found[name] = folder / f"{name}.html"
        shown = name != "ranks"
        write_page(found[name], runs, page_panels(runs[0]) if shown else PagePanels())
    assert float(RECEIVERS[-1, 0]) == SPACING * 39
    return found


def many(ranks):
    """A record of many ranks: each as one of the two of `a_record`."""
    told = a_record()
    two = told["ledger"]["ranks"]
    told["ledger"]["ranks"] = [two[n % 2] | {"rank": n} for n in range(ranks)]
    told["ledger"]["timelines"] = [told["ledger"]["timelines"][n % 2] | {"rank": n} for n in range(8)]
    return told


NAMES = ("section", "modelling", "slices", "compared", "unfinished", "ranks")


# Of each figure: how many plots, and of these with marks (bars, lines, cells); the widest part beyond the window.
DRAWN = """
return [...document.querySelectorAll(".figure")].map((box) => {
  const plots = [...box.querySelectorAll(".js-plotly-plot")];
  const mark = ".trace path, .heatmaplayer image, .bars path, .points path";
  const marks = plots.filter((plot) => plot.querySelector(mark));
  return [box.dataset.figure || "volume", plots.length, marks.length];
});
"""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_page_is_drawn_and_fits(browser, pages, name, width):
    assert open_page(browser, pages[name], width) == []
    photograph(browser, f"{name}-{width}")
    figures = browser.execute_script(DRAWN)
    wanted = {"categories", "phases", "timeline", "lanes", "roofline"}
    wanted |= {"map", "gather"} if name != "ranks" else set()
    wanted |= {"volume"} if name not in ("ranks", "unfinished") else set()
    wanted |= {"compared"} if name == "compared" else set()
    assert {figure[0] for figure in figures} == wanted
    for figure, plots, marked in figures:
        assert plots == marked == (3 if figure == "volume" and name in ("slices", "compared") else 1), figure
    check_width(browser, width)


def in_time(ny):
    """Panels over two-way time: a volume (7, ny, 9), traces of its own name, sections."""
    step, first = [10.0, 20.0, 0.004], [100.0, 40.0, 0.65]
    codes = {"shape": [7, ny, 9], "first": first, "step": step}
    numbers = np.arange(7 * ny * 9, dtype=np.uint8)
    span = [[a, a + (n - 1) * d] for a, n, d in zip(first, (7, ny, 9), step, strict=True)]
    vertical = {"name": "time", "label": "two-way time (s)", "unit": "s", "digits": 3, "ratio": 0.6}
    parts = {"title": "Image", "caption": "", "file": "image.rsf", "span": span, "vertical": vertical}
    image = codes | {"codes": encoded(numbers), "low": -1.0, "high": 1.0, "label": "amplitude"}
    shown = {"kind": "volume", **parts, "property": None, "image": image}
    flat = {"time": [0.0, 0.004], "shape": [9, 3], "caption": ""}
    bins = {"kind": "traces", "name": "bins", "title": "Bins", "label": "offset (m)", "vertical": "two-way time (s)"}
    bins |= {"x": [0.0, 1.0, 2.0, 4.0], "smooth": False, "codes": encoded(numbers[:27])} | flat
    plain = {
        "kind": "traces",
        "title": "Shot",
        "label": "channel",
        "x": [1, 2, 3],
        "codes": encoded(numbers[:27]),
    } | flat
    beside = {"kind": "sections", "name": "beside", "title": "Sections", "labels": ["x (m)", "two-way time (s)"]}
    beside |= {"x": [0.0, 10.0], "sections": [{"name": f"{n} m", "codes": encoded(numbers[:27])} for n in range(3)]}
    return PagePanels(Heading("Migration"), [shown, bins, plain, beside | flat])


@pytest.fixture(scope="module")
def time_pages(tmp_path_factory):
    """Pages with panels over two-way time, of a line (1) and of a volume (5)."""
    programs()
    folder = tmp_path_factory.mktemp("in-time")
    for ny in (1, 5):
        write_page(folder / f"{ny}.html", [Run(folder / "run.json", a_record())], in_time(ny))
    return folder


LABELS = "return [...document.querySelectorAll('.slices > div')].map((plot) => plot.layout.yaxis.title.text)"
HEIGHTS = """
const plots = [...document.querySelectorAll(".slices > div")];
return plots.map((plot) => plot._fullLayout._size).map((box) => [box.w, box.h]);
"""
WHERE = "return document.querySelector('.where').textContent.replace(/\\u202f/g, ' ')"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("ny", [1, 5])
def test_panels_in_time_are_drawn_and_fit(browser, time_pages, ny, width):
    assert open_page(browser, time_pages / f"{ny}.html", width) == []
    photograph(browser, f"time-{ny}-{width}")
    figures = [
        figure for figure in browser.execute_script(DRAWN) if figure[0] in ("volume", "bins", "gather", "beside")
    ]
    assert figures == [
        ["volume", 2 * (ny > 1) + 1, 2 * (ny > 1) + 1],
        ["bins", 1, 1],
        ["gather", 1, 1],
        ["beside", 1, 1],
    ]
    check_width(browser, width)
    labels = browser.execute_script(LABELS)
    assert labels == ["two-way time (s)", "two-way time (s)", "y (m)"][: len(labels)]
    sizes = browser.execute_script(HEIGHTS)
    assert sizes[0][1] / max(wide for wide, _ in sizes) == pytest.approx(0.6, abs=0.02)
    assert "stretched" not in browser.execute_script(WHERE)


def test_a_slice_in_time_is_named_in_seconds(browser, time_pages):
    open_page(browser, time_pages / "5.html", 1280)
    assert browser.execute_script(TITLES)[2] == "time = 0.666 s"
    browser.execute_script(MOVE, "z", 7)
    deadline = time.monotonic() + PATIENCE
    while browser.execute_script(TITLES)[2] == "time = 0.666 s":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert browser.execute_script(TITLES) == ["y = 80 m", "x = 130 m", "time = 0.678 s"]
    told = "return [...document.querySelectorAll('.controls label')].map((label) => label.textContent)"
    told = [text.replace("\u202f", " ") for text in browser.execute_script(told)]
    assert told == ["coloursgreyred-white-blue", "x130 m", "y80 m", "time0.678 s"]
    assert browser.execute_script(WHERE).startswith("Slices through x = 130 m, y = 80 m, time 0.678 s.")


COLOURS = """
const all = document.querySelector(".slices > div").data.map((trace) => trace.colorscale[0][1]);
const bars = [...document.querySelectorAll(".volume .scale")].filter((bar) => bar.checkVisibility());
return [all, bars.map((bar) => [bar.lastElementChild.textContent, bar.querySelector("i").style.background])];
"""
CHOOSE = """
const list = document.querySelector(`select[name=${arguments[0]}]`);
list.value = arguments[1];
list.dispatchEvent(new Event("change"));
"""
VP, IMAGE = "vp (m/s)", "amplitude after gain (1: clip)"


def test_an_image_is_grey_and_switches_show_the_velocity_and_other_colours(browser, pages):
    """What is shown has its bar of colours, and each bar the colours of what it stands for."""
    open_page(browser, pages["slices"], 1280)
    assert browser.execute_script("return document.querySelector('h2').textContent") == "Results"
    for name, chosen, first, bars in [
        ("show", "image", ["#ffffff"], {IMAGE: "rgb(255, 255, 255) 0%"}),
        ("colours", "red-white-blue", ["#67001f"], {IMAGE: "rgb(103, 0, 31) 0%"}),
        ("show", VP, ["#440154"], {VP: "rgb(68, 1, 84) 0%"}),
        ("show", f"image over {VP}", ["rgb(127,97,154)", "rgba(255,255,255,0.920)"],
         {IMAGE: "rgb(255, 255, 255) 0%", VP: "rgb(127, 97, 154) 0%"}),
        ("show", "image", ["#67001f"], {IMAGE: "rgb(103, 0, 31) 0%"}),
        ("colours", "grey", ["#ffffff"], {IMAGE: "rgb(255, 255, 255) 0%"}),
    ]:  # fmt: skip
        browser.execute_script(CHOOSE, name, chosen)
        deadline = time.monotonic() + PATIENCE
        while (got := browser.execute_script(COLOURS))[0] != first:
            assert time.monotonic() < deadline, got
            time.sleep(0.05)
        assert [label for label, _ in got[1]] == list(bars)
        assert all(bars[label] in colours for label, colours in got[1])


def test_few_traces_of_a_page_are_wiggles(browser, pages):
    """A line a trace, and its peaks filled to the right of its place."""
    open_page(browser, pages["section"], 1280)
    lines = "return document.querySelector('[data-figure=gather] .js-plotly-plot').data.map((one) => [one.fill || '', "
    lines += "one.x.filter((value) => value === null).length])"
    shown = browser.execute_script("return JSON.parse(document.getElementById('data').textContent).figures")
    [gather] = [figure for figure in shown if figure["name"] == "gather"]
    [trace] = gather["data"]
    assert trace["type"] == "wiggles"
    count = trace["codes"]["shape"][1]
    assert browser.execute_script(lines) == [["toself", count], ["", count]]


def test_a_click_in_time_moves_the_map_there(browser, time_pages):
    """A click on the x-t section at x = 110 m, 0.654 s."""
    open_page(browser, time_pages / "5.html", 1280)
    browser.execute_script("""
const plot = document.querySelector(".slices > div"), { xaxis, yaxis } = plot._fullLayout;
const frame = plot.getBoundingClientRect();
const x = frame.left + xaxis._offset + xaxis.d2p(110), y = frame.top + yaxis._offset + yaxis.d2p(0.654);
plot.onclick({ clientX: x, clientY: y });
""")
    deadline = time.monotonic() + PATIENCE
    while browser.execute_script(TITLES) != ["y = 80 m", "x = 110 m", "time = 0.654 s"]:
        assert time.monotonic() < deadline, browser.execute_script(TITLES)
        time.sleep(0.05)


@pytest.fixture(scope="module")
def storage_page(tmp_path_factory):
    """The page of a storage benchmark."""
    programs()
    folder = tmp_path_factory.mktemp("io")
    words = ("--grid", "24,20,28", "--repeat", "2", "--strategy", "all", "--format", "rsf,blocks")
    assert call("io", folder, *words, "-o", folder / "io.html", "--ranks", "2").code == 0
    return folder / "io.html"


@pytest.mark.parametrize("width", WIDTHS)
def test_page_of_the_storage_benchmark(browser, storage_page, width):
    assert open_page(browser, storage_page, width) == []
    photograph(browser, f"storage-{width}")
    figures = browser.execute_script(DRAWN)
    assert [figure[0] for figure in figures] == ["rates-write", "rates-read", "categories", "phases"]
    assert all(plots == marked == 1 for _, plots, marked in figures)
    check_width(browser, width)


SLICES = """
return [...document.querySelectorAll(".slices > div")].map((plot) =>
  JSON.stringify(plot.data.map((trace) => trace.z.map((row) => [...row]))));
"""
TITLES = "return [...document.querySelectorAll('.slices > div')].map((plot) => plot.layout.annotations[0].text)"
MOVE = """
const input = document.querySelector('input[name="' + arguments[0] + '"]');
input.value = arguments[1];
input.dispatchEvent(new Event("input", { bubbles: true }));
"""


@pytest.mark.parametrize(("slider", "changed"), [("x", 1), ("y", 0), ("z", 2)])
def test_a_slider_moves_its_slice(browser, pages, slider, changed):
    open_page(browser, pages["slices"], 1280)
    before, titles = browser.execute_script(SLICES), browser.execute_script(TITLES)
    assert len(before) == 3
    browser.execute_script(MOVE, slider, 2)
    deadline = time.monotonic() + PATIENCE
    while (after := browser.execute_script(TITLES)) == titles:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert [a != b for a, b in zip(after, titles, strict=True)] == [n == changed for n in range(3)]
    data = browser.execute_script(SLICES)
    assert [a != b for a, b in zip(data, before, strict=True)] == [n == changed for n in range(3)]
    assert not [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]


def test_the_slice_is_the_one_of_the_file(browser, pages):
    """The y-z slice at the first x: black where the image, balanced as the page says, is positive."""
    open_page(browser, pages["slices"], 1280)
    before = browser.execute_script(SLICES)
    browser.execute_script(MOVE, "x", 5)
    deadline = time.monotonic() + PATIENCE
    while browser.execute_script(SLICES) == before:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    shown = np.array(json.loads(browser.execute_script(SLICES)[1])[-1])  # the image (depth, y) is drawn last
    image = np.fromfile(pages["slices"].with_name("image-laplacian.rsf@"), np.float32).reshape(21, 9, 26)
    deep = image[5, :, 12:].T  # below the water, where nothing fades
    strong = np.abs(deep) > 0.2 * np.abs(deep).max()
    assert strong.sum() > 20
    assert np.array_equal(shown[12:][strong] > 128, deep[strong] > 0)


def test_print_leaves_out_controls_and_cuts_nothing(browser, pages):
    open_page(browser, pages["slices"], 1280)
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        widths = browser.execute_script(
            "return [...document.querySelectorAll('.main-svg')].map((svg) => svg.getBoundingClientRect().width)"
        )
        assert max(widths) <= 680
        shown = browser.execute_script("return getComputedStyle(document.querySelector('.controls')).display")
        assert shown == "none"
        assert browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"].startswith("JVBERi0")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
