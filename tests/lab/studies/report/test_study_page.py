"""The page of a study in a browser: nothing is cut off on a screen, a phone or paper, and no text becomes a script."""

import html
import re
from dataclasses import replace

import pytest

from fathometer.lab.studies.asked import answer_of
from fathometer.lab.studies.report.cells import Cell, Legend
from fathometer.lab.studies.report.description import description, facts
from fathometer.lab.studies.report.page import render, write_page
from fathometer.lab.studies.report.plots import plots
from fathometer.lab.studies.report.samples import samples
from fathometer.lab.studies.report.tables import Head, View
from fathometer.lab.studies.report.terminal import MOST_ROWS, text_of_comparison
from tests.support.browser_support import check_width, open_page, photograph, programs
from tests.support.study_support import KERNEL, MEMORY, TOTAL, speed, study

EVIL = "<script>document.title = 'evil'</script>\n| \"'&"
PAPER = 688  # CSS pixels of an A4 page between its margins
WIDE, RIGHT = "table, .main-svg, pre, h1, dl", "one.getBoundingClientRect().right"
PLOT = """const plot = document.querySelector('[data-figure="plot-1-1"] .plot'); return """
HISTORY = {"ranks": [1, 2], "threads": [1, 2], "history": ["memory", "disk"]}


def disturbed(settings, run):
    if settings["ranks"] == 8 and settings["threads"] == 1:
        return replace(run, figures={}, failed="exit code 139: Segmentation fault")
    if settings["ranks"] == 4 and run.number == 3:
        return replace(run, figures={"total": 9.0, "kernel": 1e8})
    return replace(run, marks=("cores shared",)) if settings["ranks"] == 2 else run


STUDIES = {
    "best": lambda: replace(
        study(
            HISTORY,
            figures=(TOTAL, KERNEL, MEMORY),
            winners=lambda settings: True,
            application={"recipe": "fathometer-migrate", "survey": "survey.toml"},
            table=[
                {
                    "rows": "ranks, threads",
                    "columns": ["total", "kernel", "memory"],
                    "relative_to": {"ranks": 1, "threads": 1},
                    "best_over": ["history"],
                }
            ],
            plot=[
                {"kind": "bars", "x": "threads", "lines": "ranks", "figure": "total", "best_over": ["history"]},
                {"kind": "heat map", "x": "threads", "y": "ranks", "figure": "total", "best_over": ["history"]},
            ],
            landscape=[{"table": "wrf-conus-12km"}, {"table": "rtm-x6275m2-storage-rates"}],
        ),
        text='title = "Ranks against threads"\n',
    ),
    "scaling": lambda: study(
        {"ranks": [1, 2, 4, 8, 16], "threads": [1, 2]},
        figures=(TOTAL, KERNEL),
        runs=disturbed,
        rounds=16,
        drift=0.08,
        table=[{"rows": "ranks", "by": "threads", "relative_to": {"ranks": 1}}],
        plot=[
            {"kind": "scaling", "x": "ranks", "lines": "threads", "figure": "total"},
            {"kind": "lines", "x": "ranks", "lines": "threads", "figure": "kernel"},
        ],
    ),
    "names": lambda: study(
        {
            "file system": ["/a/rather/long/path/of/a/parallel/file/system/on/the/old/storage", EVIL],
            "interface": [EVIL, "b"],
        },
        lambda settings: 1e-5,
        figures=(replace(TOTAL, name=EVIL),),
        title=EVIL,
        question=EVIL,
        rounds=5,
        ended="",
        runs=lambda settings, run: replace(run, marks=(EVIL,)),
        application={"command": [EVIL]},
    ),
}
PLOTS = {"best": ["plot-1-1", "plot-2-1", "samples-total"], "scaling": ["plot-1-1", "plot-2-1", "samples-total"]}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The pages of STUDIES, by name."""
    programs()
    folder = tmp_path_factory.mktemp("studies")
    for name, make in STUDIES.items():
        write_page(folder / f"{name}.html", make())
    return {name: folder / f"{name}.html" for name in STUDIES}


LONG = (
    replace(KERNEL, name="mean grid point updates of all ranks"),
    replace(TOTAL, name="total elapsed wall clock time"),
    replace(MEMORY, name="largest resident memory of a process", role="merit"),
)
WIDE_TABLES = {
    "by": study(
        {"ranks_per_node": [1, 2, 4, 8, 16, 32, 64, 128], "history": ["memory of all ranks", "disk"], "nodes": [1, 2]},
        lambda settings: 1.0,
        rounds=8,
        figures=LONG,
        table=[{"rows": "nodes", "by": "ranks_per_node", "best_over": ["history"]}],
    ),
    "factors": study(
        {f"{name}_long_factor_name": ["a value of some length", "b"] for name in ("one", "other", "third", "fourth")},
        lambda settings: 1.0,
        rounds=8,
        figures=LONG,
        table=[{"rows": "one_long_factor_name", "relative_to": {"one_long_factor_name": "b"}}],
    ),
}


@pytest.mark.parametrize("name", WIDE_TABLES)
def test_wide_tables_fit_a_window_of_1200_pixels(browser, tmp_path, name):
    """Nothing is to be scrolled for, and no name is broken within a word."""
    write_page(tmp_path / "wide.html", WIDE_TABLES[name])
    assert open_page(browser, tmp_path / "wide.html", 1200) == []
    photograph(browser, f"study-wide-{name}")
    boxes = "return [...document.querySelectorAll('.scroll.study')].map((one) => one.scrollWidth - one.clientWidth)"
    assert set(browser.execute_script(boxes)) == {0}
    wraps = "return [...document.querySelectorAll('.study th, .study td')].map((e) => getComputedStyle(e).overflowWrap)"
    assert set(browser.execute_script(wraps)) == {"normal"}


DRAWN = """
return [...document.querySelectorAll(".figure")].map((box) =>
  [box.dataset.figure, Boxed(box), box.querySelectorAll(".errorbar, .yerror, .xerror").length]);
function Boxed(box) {
  return box.querySelectorAll(".trace path, .heatmaplayer image, .bars path, .points path").length > 0;
}
"""


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", STUDIES)
def test_page_is_drawn_and_fits(browser, pages, name, width):
    assert open_page(browser, pages[name], width) == []
    photograph(browser, f"study-{name}-{width}")
    figures = browser.execute_script(DRAWN)
    assert [figure for figure, _, _ in figures] == PLOTS.get(name, [figure for figure, _, _ in figures])
    assert all(marked for _, marked, _ in figures)
    assert browser.title != "evil"
    check_width(browser, width)


@pytest.mark.parametrize("name", STUDIES)
def test_nothing_is_wider_than_paper(browser, pages, name):
    open_page(browser, pages[name], PAPER)
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        photograph(browser, f"study-{name}-paper")
        widths = f"return [...document.querySelectorAll('{WIDE}')].map((one) => [one.tagName, {RIGHT}])"
        beyond = [one for one in browser.execute_script(widths) if one[1] > PAPER + 1]
        assert beyond == []
        assert browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"].startswith("JVBERi0")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_bars_have_intervals_and_scaling_has_an_ideal_line(browser, pages):
    open_page(browser, pages["best"], 1280)
    assert browser.execute_script(DRAWN)[0][2] > 0
    open_page(browser, pages["scaling"], 1280)
    axes = PLOT + "[plot.layout.xaxis.type, plot.layout.yaxis.type, plot.data.map((trace) => trace.name)]"
    assert browser.execute_script(axes) == ["log", "log", ["ideal", "1 thread", "ideal", "2 threads"]]


def test_the_ideal_line_is_in_proportion(browser, pages):
    open_page(browser, pages["scaling"], 1280)
    x, y = browser.execute_script(PLOT + "[plot.data[0].x, plot.data[0].y]")
    assert y[0] / y[1] == pytest.approx(x[1] / x[0])


def text_of(page):
    """The page's texts, without scripts and styles."""
    body = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", body))


def test_page_says_what_was_measured_and_how_to_repeat_it():
    page = text_of(render(STUDIES["best"]()))
    for words in (
        "How to repeat it",
        "fathometer study run ranks.toml",
        'title = "Ranks against threads"',
        "fathometer-migrate",
        "A processor",
        "Published results beside",
        "Oracle",
        "lower is better",
        "best history",
    ):
        assert words in page


def test_no_text_is_markup():
    page = render(STUDIES["names"]())
    assert "<script>document" not in page
    assert "Content-Security-Policy" in page


@pytest.mark.parametrize(
    "make",
    [
        lambda: study({"ranks": [1, 2]}, rounds=0, ended=""),
        lambda: study({"ranks": [1, 2]}, runs=lambda settings, run: replace(run, figures={}, failed="exit code 1")),
        lambda: study({}, lambda _: 1.0),
        lambda: study({"ranks": [1]}, rounds=1),
        lambda: study({"ranks": [1, 2]}, rounds=2, figures=()),
        lambda: study({"ranks": [1, 2]}, lambda _: 0.0),
        lambda: study({"a": [True, False], "b": [1.5, "x", 2]}, figures=(replace(TOTAL, direction="none"),)),
        lambda: replace(study({"ranks": [1, 2]}), machine={}, command=()),
    ],
    ids=[
        "no runs",
        "all failed",
        "no factors",
        "one case, one round",
        "no figures",
        "zeros",
        "mixed values",
        "no machine",
    ],
)
def test_odd_studies_have_a_page(make):
    page = text_of(render(make()))
    assert "How it went" in page


def test_a_thousand_cases():
    results = study(
        {"ranks": list(range(1, 41)), "threads": list(range(1, 26))},
        speed,
        rounds=6,
        table=[{"rows": "ranks, threads", "relative_to": {"ranks": 1, "threads": 1}}],
    )
    page = render(results)
    assert page.count('<th scope="row">') >= 2000
    assert "cannot tell 1000 choices apart" in text_of(page)


def test_a_value_far_away_does_not_flatten_the_others():
    figure = samples(STUDIES["scaling"](), TOTAL)
    low, high = figure["layout"]["yaxis"]["range"]
    assert 0.8 < low < 0.97
    assert 1.03 < high < 1.2
    (far,) = (trace for trace in figure["data"] if trace.get("marker", {}).get("symbol") == "triangle-up")
    assert len(far["x"]) == 2  # rounds 3 of four ranks
    assert all(abs(x - 3) < 0.5 and low < y <= high for x, y in zip(far["x"], far["y"], strict=True))
    assert "far beyond the axis" in [name for name, *_ in figure["legend"]]


@pytest.mark.parametrize(("rounds", "visible", "width"), [(5, False, 0), (12, True, 4)])
@pytest.mark.parametrize("kind", ["bars", "lines", "scaling"])
def test_points_of_few_rounds_have_no_bar_of_an_interval(kind, rounds, visible, width):
    plot = [{"kind": kind, "x": "ranks", "figure": "total"}]
    results = study({"ranks": [1, 2, 4]}, rounds=rounds, plot=plot, table=[{"rows": "ranks"}])
    drawn = plots(results, answer_of(results))[0]
    [bars] = [trace["error_y"] for trace in drawn["data"] if "error_y" in trace]
    assert (bars["visible"], bars["width"]) == (visible, width)
    assert any(bars["array"]) == visible


def test_beside_others_a_point_without_an_interval_has_no_ends():
    def runs(settings, run):
        return replace(run, failed="x", figures={}) if settings["ranks"] == 2 and run.number > 3 else run

    results = study({"ranks": [1, 2]}, runs=runs, plot=[{"kind": "bars", "x": "ranks", "figure": "total"}])
    [bars] = [trace["error_y"] for trace in plots(results, answer_of(results))[0]["data"] if "error_y" in trace]
    assert (bars["visible"], bars["width"], bars["array"][1], bars["arrayminus"][1]) == (True, 0, 0, 0)
    assert bars["array"][0] > 0


def test_the_description_says_how_many_rounds():
    def rounds(**runs):
        return dict(description(replace(study({"ranks": [1]}, rounds=2), definition={"runs": runs} if runs else {})))

    end = " Every case once a round, in an order drawn with a seed, in the next round reversed."
    assert rounds()["Rounds"] == f"2.{end}"
    more = {"warm_up": 1, "page_cache": "cold", "budget": "2h"}
    assert rounds(repetitions=8, **more)["Rounds"] == (
        f"8; 1 run of each case before, which do not count; page cache cold; budget 2h.{end}"
    )
    assert rounds(repetitions={"least": 6, "most": 30, "interval": 0.05})["Rounds"] == (
        f"6 to 30, until each 95 % interval is at most 5 % of its median wide.{end}"
    )


def test_a_study_was_measured_until_its_last_run_had_ended():
    """A warm-up and three rounds of half a minute each."""
    told = dict(facts(study({"ranks": [1]}, lambda _: 30.0, rounds=3, noise=0.0)))
    assert told["Measured"].endswith(", 2\u202fmin")


def first_plot(factors, truth=speed, **keys):
    results = study(factors, truth, rounds=8, **{"noise": 0.001} | keys)
    return plots(results, answer_of(results))[0]


def named(figure, name):
    return next(trace for trace in figure["data"] if trace.get("name") == name)


def test_titles_of_plots_name_their_factors():
    ranks = {"ranks": [1, 2], "threads": [1, 2]}
    for keys, title in (
        ({"kind": "bars", "lines": "threads"}, "total by ranks and threads"),
        ({"kind": "heat map", "y": "threads"}, "total by ranks and threads"),
        ({"kind": "bars"}, "total by ranks"),
        ({"kind": "scaling"}, "total: scaling over ranks"),
    ):
        factors = ranks if len(keys) > 1 else {"ranks": [1, 2]}
        assert first_plot(factors, plot=[{"x": "ranks", "figure": "total"} | keys])["title"] == title


def test_numbers_along_a_line_are_in_their_order_and_names_as_they_were_given():
    lines = [{"kind": "lines", "x": "n", "figure": "total"}]
    numbers = first_plot({"n": [4, 1, 2]}, lambda settings: settings["n"], plot=lines)
    [drawn] = numbers["data"]
    assert drawn["x"] == [1, 2, 4]
    assert [round(y) for y in drawn["y"]] == [1, 2, 4]
    assert "type" not in numbers["layout"]["xaxis"]
    names = first_plot({"n": ["disk", "b", "a"]}, plot=lines)
    assert names["data"][0]["x"] == ["disk", "b", "a"]
    assert names["layout"]["xaxis"]["type"] == "category"


def test_the_ideal_line_goes_from_the_first_point_to_the_last():
    scaling = first_plot({"ranks": [4, 1, 2]}, plot=[{"kind": "scaling", "x": "ranks", "figure": "total"}])
    ideal, points = scaling["data"]
    assert ideal["x"] == [1.0, 4.0]
    assert ideal["y"] == pytest.approx([points["y"][0], points["y"][0] / 4])


@pytest.mark.parametrize("figure", [TOTAL, KERNEL])
def test_a_heat_map_is_lighter_where_it_is_better_and_says_where_there_is_nothing(figure):
    drawn = first_plot(
        {"ranks": [1, 2], "threads": [1, 2]},
        figures=(figure,),
        keep=lambda settings: settings["ranks"] * settings["threads"] < 4,
        plot=[{"kind": "heat map", "x": "threads", "y": "ranks", "figure": figure.name}],
    )
    [trace] = drawn["data"]
    assert trace["z"][1][1] is None
    assert trace["text"][1][1] == "no value"
    assert [float(text) for text in trace["text"][0]] == pytest.approx(trace["z"][0], rel=0.01)
    pale_first = trace["colorscale"][0][1] > trace["colorscale"][1][1]  # "#eef4f9" before "#5f9ecb"
    assert trace["reversescale"] == ((figure is KERNEL) == pale_first)


def test_the_legend_of_samples_names_what_is_drawn():
    def far(settings, run):
        return replace(run, figures={"total": run.seconds * (1.02 if run.number == 3 else 1.0)})

    for runs, ringed in ((far, True), (lambda settings, run: run, False)):
        figure = samples(study({"ranks": [1]}, rounds=12, noise=0.002, seed=3, runs=runs), TOTAL)
        [rings] = [one for one in figure["data"] if one.get("marker", {}).get("symbol") == "circle-open"]
        assert bool(rings["x"]) is ringed
        assert ("far from the others of its case" in [name for name, *_ in figure["legend"]]) is ringed


@pytest.mark.parametrize(("rows", "words"), [(MOST_ROWS, ""), (MOST_ROWS + 2, "… and 2 more rows")])
def test_long_tables_are_cut_on_the_terminal(rows, words):
    shown = View("A table", [Head("n")], [[Cell(f"row {n}")] for n in range(rows)])
    text = text_of_comparison(shown, Legend(), [])
    assert text.count("row ") == MOST_ROWS
    assert ("more rows" in text) is bool(words)
    assert words in text


def test_samples_are_drawn_from_two_rounds_on():
    assert samples(study({"ranks": [1]}, rounds=1), TOTAL) is None
    assert samples(study({"ranks": [1]}, rounds=2), TOTAL) is not None


def test_samples_that_are_all_the_same_fill_a_percent():
    figure = samples(study({"ranks": [1]}, lambda _: 1.0, noise=0.0), TOTAL)
    low, high = figure["layout"]["yaxis"]["range"]
    assert 0.99 < low < 0.996
    assert 1.004 < high < 1.01
