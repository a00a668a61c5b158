"""The tables of a study's answer: what stands in their cells, against the truth that the values were drawn from."""

from dataclasses import replace

import pytest

from fathometer.base.errors import InputError
from fathometer.base.formatting import THIN, duration_text, ratio_text, spread_text, value_text
from fathometer.lab.statistics.interval import interval
from fathometer.lab.statistics.stopping import LEVEL_LOOKED_AT
from fathometer.lab.studies.asked import answer_of
from fathometer.lab.studies.levels import level_of
from fathometer.lab.studies.report.answer import answer_sentence
from fathometer.lab.studies.report.tables import MOST_COLUMNS, views
from fathometer.lab.studies.selection import blocks, winners
from tests.support.study_support import KERNEL, MEMORY, TOTAL, speed, study

RANKS = {"ranks": [1, 2], "threads": [1, 2]}
ALL = (TOTAL, KERNEL, MEMORY)


def table(**keys):
    return [{"rows": "ranks, threads"} | keys]


def cells(view, column):
    """The cells below a head, by the row's names."""
    place = [head.text + (f", {head.below}" if head.below else "") for head in view.heads].index(column)
    return {tuple(cell.text for cell in row if cell.kind == "name"): row[place] for row in view.rows}


def test_values_and_speed_ups_hold_the_truth():
    results = study(
        RANKS, figures=ALL, table=table(columns=["total", "kernel"], relative_to={"ranks": 1, "threads": 1})
    )
    main, scaling = views(results)[0]
    for (ranks, threads), cell in cells(main, "speed-up, total").items():
        truth = speed({"ranks": 1, "threads": 1}) / speed({"ranks": int(ranks), "threads": int(threads)})
        if cell.kind == "reference":
            assert (ranks, threads) == ("1", "1")
            continue
        assert cell.estimate.low * 0.99 <= truth <= cell.estimate.high * 1.01
        assert cell.differs
        efficiency = cells(scaling, "efficiency, total")[ranks, threads].estimate
        assert efficiency.median == pytest.approx(cell.estimate.median / (int(ranks) * int(threads)))
    # A rate that is its inverse has the same speed-up.
    rates, times = cells(main, "speed-up, kernel"), cells(main, "speed-up, total")
    assert [cell.text for cell in rates.values()] == [cell.text for cell in times.values()]


def test_the_serial_fraction_is_the_one_that_the_values_were_made_with():
    results = study({"threads": [1, 2, 4]}, noise=0.001, table=[{"rows": "threads", "relative_to": {"threads": 1}}])
    scaling = views(results)[0][1]
    found = cells(scaling, "serial fraction, total")
    assert found["2",].estimate.median == pytest.approx(0.1, abs=0.01)
    assert found["4",].estimate.median == pytest.approx(0.1, abs=0.01)


def test_super_linear_points_are_marked_and_others_are_not():
    truth = {1: 8.0, 2: 3.5, 4: 2.1}
    results = study(
        {"ranks": [1, 2, 4]},
        lambda settings: truth[settings["ranks"]],
        table=[{"rows": "ranks", "relative_to": {"ranks": 1}}],
    )
    shown, legend = views(results)
    found = cells(shown[1], "efficiency, total")
    assert [found[n,].signs for n in "124"] == [(), ("↑",), ()]
    assert "super-linear" in legend.texts["↑"]


@pytest.mark.parametrize(("scaling", "columns"), [("strong", 5), ("weak", 4), ("none", 0)])
def test_scaling_is_told_as_asked(scaling, columns):
    keys = {"rows": "ranks", "relative_to": {"ranks": 1}, "scaling": scaling, "columns": ["total", "kernel"]}
    shown = views(study({"ranks": [1, 2]}, figures=ALL, table=[keys]))[0]
    assert len(shown) == (2 if columns else 1)
    if scaling == "weak":
        assert [head.text for head in shown[1].heads] == ["ranks", "efficiency", "efficiency"]
        value = cells(shown[1], "efficiency, total")["2",].estimate.median
        assert value == pytest.approx(cells(shown[0], "speed-up, total")["2",].estimate.median)


def test_no_difference_is_called_so_where_there_is_none():
    results = study(
        {"history": ["memory", "disk"]},
        lambda _: 1.0,
        table=[{"rows": "history", "relative_to": {"history": "memory"}}],
    )
    (main,), legend = views(results)
    assert next(head.unit for head in main.heads if head.text == "total") == "s"
    assert {cell.unit for cell in cells(main, "total").values()} == {"s"}
    cell = cells(main, "speed-up, total")["disk",]
    assert (cell.differs, cell.signs) == (False, ("≈",))
    assert "holds 1" in legend.texts["≈"]


def test_too_few_rounds_are_told():
    results = study(RANKS, rounds=4, table=table(relative_to={"ranks": 1, "threads": 1}))
    (main, _), legend = views(results)
    cell = cells(main, "speed-up, total")["2", "2"]
    assert cell.differs is False  # three times as fast, but four rounds can tell nothing
    assert "8 are needed" in legend.texts["?"]  # as the answer says, of all pairs
    assert "for which 8 are needed" in answer_sentence(results)
    assert "n=4" in cells(main, "total")["2", "2"].signs
    one = views(study(RANKS, rounds=1))
    assert cells(one[0][0], "total")["2", "2"].signs == ("1×",)


def test_winners_are_reported_by_their_fresh_runs():
    keys = table(best_over=["history"], columns=["total"])
    factors = RANKS | {"history": ["memory", "disk"]}

    def truth(settings):
        return speed(settings) * (1.0 if settings["history"] == "disk" else 1.3)

    before = study(factors, truth, table=keys)
    (main,), legend = views(before)
    assert all("*" in cell.signs for cell in cells(main, "total").values())
    assert "measured again" in legend.texts["*"]
    assert {cell.text for cell in cells(main, "best history, by total").values()} == {"disk"}
    again = winners(before, answer_of(before))
    assert {before.cases[name].case.settings["history"] for name in again} == {"disk"}
    assert len(again) == 4
    after = study(factors, truth, winners=lambda settings: settings["history"] == "disk", table=keys)
    (main,), _ = views(after)
    assert not any(cell.signs for cell in cells(main, "total").values())
    for block in blocks(after, answer_of(after), answer_of(after).tables[0]):
        for cell in block.cells.values():
            assert cell.kind == "winner"
            assert cell.others_won == 0.0
            assert cell.values("total") == cell.case.values("total", "winner")


def test_how_often_another_setting_would_have_won_is_told():
    factors = {"ranks": [1], "history": ["memory", "disk"]}
    results = study(factors, lambda _: 1.0, rounds=8, table=[{"rows": "ranks", "best_over": ["history"]}])
    (main,), _ = views(results)
    (cell,) = cells(main, "best history, by total").values()
    assert cell.note.startswith("another better in ")


def broken(settings, run):
    if settings["ranks"] == 2 and settings["threads"] == 2:
        return replace(run, figures={}, failed="exit code 139: out of range\nlast line")
    if settings["ranks"] == 2 and run.number == 3:
        return replace(run, figures={}, failed="time limit of 60 s")
    return replace(run, marks=("cores shared",)) if settings["threads"] == 2 else run


def test_failed_and_marked_cells_say_why():
    results = study(RANKS, runs=broken, table=table(relative_to={"ranks": 2, "threads": 2}))
    (main, *_), legend = views(results)
    values = cells(main, "total")
    assert values["2", "2"].kind == "failed"
    (sign,) = values["2", "2"].signs
    assert legend.texts[sign] == "failed, 12 of 12 runs: exit code 139: out of range"
    assert [legend.texts[sign] for sign in values["2", "1"].signs] == ["1 of 12 runs failed: time limit of 60 s"]
    assert [legend.texts[sign] for sign in values["1", "2"].signs] == ["cores shared"]
    ratios = cells(main, "speed-up, total")
    assert {cell.note for cell in ratios.values()} == {"no value", "reference has no value"}
    assert ratios["2", "2"].text == "–"  # the reference: no speed-up of 1


def test_no_cell_is_blank():
    """A design with holes, failed cases and figures that not all runs leave."""
    results = study(
        {"ranks": [1, 2, 4], "threads": [1, 2], "history": ["memory", "disk"]},
        figures=ALL,
        keep=lambda settings: settings["ranks"] * settings["threads"] <= 4,
        runs=lambda settings, run: (
            replace(broken(settings, run), figures={"total": 1.0}) if settings["ranks"] == 1 else broken(settings, run)
        ),
        table=[
            {"rows": "ranks", "by": "threads", "relative_to": {"ranks": 1}},
            {"rows": "ranks", "by": "threads", "best_over": ["history"], "columns": ["memory", "kernel"]},
            {"rows": "ranks, threads", "relative_to": {"history": "disk"}},
        ],
    )
    shown, legend = views(results)
    assert len(shown) == 5
    for view in shown:
        for row in view.rows:
            assert len(row) == len(view.heads)
            for cell in row:
                assert cell.text
                assert cell.text != "–" or cell.note
                assert set(cell.signs) <= set(legend.texts)


def test_factors_that_no_key_names_are_rows():
    results = study({"ranks": [1, 2], "history": ["memory", "disk"]}, table=[{"rows": "ranks"}])
    (main,), _ = views(results)
    assert [head.text for head in main.heads] == ["ranks", "history", "total"]
    assert len(main.rows) == 4


def test_nested_factors_have_a_table_each():
    results = study({"ranks": [1, 2], "grid": ["small", "large"]}, nested=["grid"], table=[{"rows": "ranks"}])
    shown, _ = views(results)
    assert [view.title for view in shown] == ["By ranks: grid small", "By ranks: grid large"]


def test_wide_tables_are_cut_for_paper():
    results = study({"ranks": [1, 2], "threads": list(range(1, 25))}, table=[{"rows": "ranks", "by": "threads"}])
    shown, _ = views(results)
    assert len(shown) == 3
    assert all(len(view.heads) <= MOST_COLUMNS for view in shown)
    assert sum(len(view.heads) - 1 for view in shown) == 24


def test_ratios_stand_beside_their_values_where_there_is_room():
    keys = {"rows": "ranks", "by": "threads", "relative_to": {"ranks": 1}}
    (one,), _ = views(study({"ranks": [1, 2], "threads": [1, 2, 3]}, table=[keys]))
    assert [head.below or head.unit for head in one.heads[1:]] == [*3 * ["s"], *3 * ["speed-up"], *3 * ["efficiency"]]
    parts, _ = views(study({"ranks": [1, 2], "threads": [1, 2, 3, 4]}, table=[keys]))
    assert [view.title.partition(": ")[2] for view in parts] == ["total", "speed-up of total", "efficiency of total"]


@pytest.mark.parametrize(
    ("repetitions", "level"),
    [(12, 0.95), ({"least": 12, "most": 12}, 0.95), ({"least": 6, "most": 30}, LEVEL_LOOKED_AT)],
)
def test_intervals_are_at_the_level_of_the_rule(repetitions, level):
    results = replace(study(RANKS), definition={"runs": {"repetitions": repetitions}})
    assert level_of(results) == level
    (main,), _ = views(results)
    estimate = cells(main, "total")["1", "1"].estimate
    values = list(next(iter(results.cases.values())).values("total").values())
    assert estimate == interval(values, level)


@pytest.mark.parametrize(
    ("definition", "told"),
    [
        ({"table": [{"rows": "rank"}]}, "[[table]] 1: rows: unknown factor rank; known: ranks, threads"),
        ({"table": [{"rows": "ranks", "by": "ranks"}]}, "[[table]] 1: by: found ranks in rows and by"),
        (
            {"table": [{"rows": "ranks", "columns": ["totl"]}]},
            "[[table]] 1: columns: unknown figure totl; known: total",
        ),
        ({"table": [{"rows": "ranks", "relative_to": {"ranks": 3}}]}, "relative_to.ranks: found 3; allowed: 1, 2"),
        ({"table": [{"rows": "ranks"}, {"rows": "ranks", "design": "x"}]}, "[[table]] 2: design: unknown design x"),
        (
            {"table": [{"rows": "ranks", "best_over": ["threads"], "relative_to": {"threads": 1}}]},
            "relative_to: found threads, a factor of best_over",
        ),
        ({"nested": ["grid"]}, "nested: unknown factor grid"),
        ({"plot": [{"x": "ranks", "figure": "total", "kind": "heat map"}]}, 'y: found none with kind = "heat map"'),
        (
            {"plot": [{"x": "ranks", "lines": "ranks", "figure": "total"}]},
            "[[plot]] 1: lines: found ranks in x and lines",
        ),
        ({"gate": {"figures": ["speed"]}}, "[gate]: figures: unknown figure speed"),
        ({"table": [{"rows": "ranks", "colums": ["total"]}]}, "[table] 1: "),
    ],
)
def test_wrong_names_are_one_line(definition, told):
    with pytest.raises(InputError) as error:
        views(study(RANKS, rounds=1, **definition))
    assert told in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("value", "low", "high", "unit", "shown"),
    [
        (1.12345, 1.08, 1.153, "seconds", ("1.12", "1.08 to 1.15", "s")),
        (1.12345, 1.1231, 1.1238, "seconds", ("1.1235", "1.1231 to 1.1238", "s")),
        (1.5e-6, 1.4e-6, 1.61e-6, "seconds", ("1.50", "1.40 to 1.61", "µs")),
        (3.4e9, 3.1e9, 3.6e9, "bytes_per_second", ("3.40", "3.10 to 3.60", "GB/s")),
        (0.0, 0.0, 0.0, "seconds", ("0", "no spread", "s")),
        (12345.0, 12000.0, 13000.0, "jobs_per_day", (f"12{THIN}345", f"12{THIN}000 to 13{THIN}000", "jobs/day")),
        (2.5e8, 2.4e8, 2.6e8, "points_per_second", ("0.250", "0.240 to 0.260", "· 10⁹ points/s")),
    ],
)
def test_medians_and_intervals_as_text(value, low, high, unit, shown):
    assert spread_text(value, low, high, unit) == shown


def test_ratios_values_and_stretches_as_text():
    assert ratio_text(1.12, 1.08, 1.15) == ("1.12", "1.08 to 1.15")
    assert ratio_text(1.006, 1.002, 1.0081) == ("1.006", "1.002 to 1.008")
    assert ratio_text(25.31, 25.0, 26.0) == ("25.3", "25.0 to 26.0")
    assert value_text(0.0123, "seconds") == f"0.0123{THIN}s"
    assert [duration_text(seconds) for seconds in (40, 720, 12600, 400000)] == [
        f"40{THIN}s",
        f"12{THIN}min",
        f"3.5{THIN}h",
        f"4.6{THIN}days",
    ]


def test_a_cell_without_a_choice_is_measured_again_too():
    """It is what the winners are compared with: the rounds by which they were chosen would flatter the ratio."""
    keys = [{"rows": "ranks", "best_over": ["history"], "relative_to": {"ranks": 1}}]
    factors = {"ranks": [1, 2], "history": ["memory", "disk"]}
    results = study(factors, table=keys, keep=lambda settings: settings["ranks"] > 1 or settings["history"] == "memory")
    again = [results.cases[name].case.settings["ranks"] for name in winners(results, answer_of(results))]
    assert sorted(again) == [1, 2]
    alone = study(factors, table=keys, keep=lambda settings: settings["history"] == "memory")
    assert not winners(alone, answer_of(alone))


def test_without_a_plot_scaling_is_drawn_from_three_values_on():
    for ranks, kind in (([1, 2], "bars"), ([1, 2, 4], "scaling")):
        assert [plot.kind for plot in answer_of(study({"ranks": ranks}, rounds=1)).plots] == [kind]


@pytest.mark.parametrize("missing", [1, 2])
def test_cells_beside_a_hole_of_the_design_say_so_when_the_others_were_measured_again(missing):
    """The hole is the reference, or what is compared with it."""
    results = study(
        {"ranks": [1, 2], "threads": [1, 2], "history": ["memory", "disk"]},
        keep=lambda settings: (settings["ranks"], settings["threads"]) != (missing, 2),
        winners=lambda settings: True,
        table=[{"rows": "ranks", "by": "threads", "relative_to": {"ranks": 1}, "best_over": ["history"]}],
    )
    (main,), _ = views(results)
    ratios = {
        (row[0].text, head.text): cell
        for row in main.rows
        for head, cell in zip(main.heads, row, strict=True)
        if head.below == "speed-up"
    }
    assert ratios["2", "1 thread"].kind == "ratio"
    assert ratios["2", "2 threads"].note == ("reference not in the design" if missing == 1 else "no value")


def test_enough_rounds_of_sessions_that_differ_are_not_called_too_few():
    """Six, which are those that are needed."""
    by = (1.5, 1.0, 0.7)

    def runs(settings, run):
        session = (run.number - 1) // 2 % 3
        slow = by[session] if settings["ranks"] == 2 else 1.0
        return replace(run, session=session + 1, figures={"total": run.seconds / slow})

    keys = [{"rows": "ranks", "relative_to": {"ranks": 1}}]
    _, legend = views(study({"ranks": [1, 2]}, lambda _: 1.0, rounds=6, noise=0.001, runs=runs, table=keys))
    assert legend.texts["?"].startswith("sessions, or rounds that depend on each other, differ too much")
