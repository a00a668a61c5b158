"""What a study says in sentences: checked against the truth that its values were drawn from."""

import re
from collections import Counter
from dataclasses import replace

import pytest

from fathometer.lab.studies.levels import assumption
from fathometer.lab.studies.report.answer import answer_sentence
from fathometer.lab.studies.report.cells import LONGEST_REASON, MOST_SIGNS, Legend
from fathometer.lab.studies.report.progress import progress_line, progress_of
from fathometer.lab.studies.report.remarks import remarks
from fathometer.lab.studies.report.tables import views
from tests.support.study_support import KERNEL, MEMORY, TOTAL, speed, study

RANKS = {"ranks": [1, 2], "threads": [1, 2]}
HISTORY = RANKS | {"history": ["memory", "disk"]}
BEST = [{"rows": "ranks, threads", "relative_to": {"ranks": 1, "threads": 1}, "best_over": ["history"]}]
MOST_FALSE = 0.05 + 2.5 * (0.05 * 0.95 / 200) ** 0.5  # of 200 studies, 2.5 standard deviations above 5 %


def test_the_fastest_is_named_with_its_ratio():
    said = answer_sentence(study(RANKS, table=[{"rows": "ranks, threads", "relative_to": {"ranks": 1, "threads": 1}}]))
    assert said.startswith("2 ranks × 2 threads is the fastest of 4 choices: 3.1")
    assert said.endswith("times as fast as 1 rank × 1 thread.")


def test_counts_that_are_the_same_every_time_need_no_rounds():
    """Bytes of four choices, in two rounds: by intervals nothing could be told."""

    def said(truth, figure=MEMORY):
        def counted(settings, run):
            return replace(run, figures={figure.name: truth(settings)})

        return answer_sentence(study(RANKS, rounds=2, figures=(figure,), runs=counted))

    assert said(lambda settings: 1e6 * settings["ranks"] + settings["threads"] - 1).startswith(
        "1 rank × 1 thread is the one with the lowest memory of 4 choices: 1.00\u202fMB against 1.00\u202fMB to 2.00"
    )
    assert said(lambda settings: 1e6 * settings["ranks"]) == (
        "1 rank × 1 thread and 1 rank × 2 threads are those with the lowest memory of 4 choices: 1.00\u202fMB against "
        "2.00\u202fMB, the same in all 2 rounds."
    )
    assert said(lambda _: 3e6) == "The 4 choices have the same memory: 3.00\u202fMB, the same in all 2 rounds."
    assert "cannot tell 4 choices apart" in said(speed, TOTAL)  # seconds: chance, however alike


def test_ranks_against_threads_with_a_history_that_makes_no_difference():
    results = study({"ranks": [1, 2], "threads": [1, 2], "history": ["memory", "disk"]}, seed=5, table=BEST,
                    keep=lambda settings: settings["ranks"] * settings["threads"] <= 2)  # fmt: skip
    said = answer_sentence(results)
    assert said.startswith("2 ranks × 1 thread (history ")
    assert "is the fastest of 3 choices: 1.8" in said
    assert said.endswith("; history memory and disk do not differ beyond noise.")


def memory_over_disk(said):
    """The ratio that a sentence tells."""
    return float(said.partition("on average over all else, history memory is ")[2].split()[0])


def test_a_setting_that_matters_is_told_with_its_size():
    def truth(settings):
        return speed(settings) * (1.2 if settings["history"] == "disk" else 1.0)

    said = answer_sentence(study(HISTORY, truth, noise=0.001, table=BEST))
    assert memory_over_disk(said) == pytest.approx(1.2, rel=0.002)
    assert said.endswith("times as fast as disk.")
    rates = study(HISTORY, truth, noise=0.001, figures=(KERNEL,), table=BEST)
    assert memory_over_disk(answer_sentence(rates)) == pytest.approx(1.2, rel=0.002)
    other = study(RANKS | {"history": ["disk", "memory"]}, truth, noise=0.001, table=BEST)
    assert memory_over_disk(answer_sentence(other)) == pytest.approx(1.2, rel=0.002)


def test_rounds_in_which_cases_failed_do_not_shift_what_a_setting_does():
    """On two ranks the disk takes twice as long, else as long: an average over the rounds in which two ranks failed
    would be one of other cases."""

    def truth(settings):
        return 2.0 if settings == {"ranks": 2, "history": "disk"} else 1.0

    def runs(settings, run):
        return replace(run, failed="x") if settings["ranks"] == 2 and run.number <= 11 else run

    factors = {"ranks": [1, 2], "history": ["memory", "disk"]}
    table = [{"rows": "ranks", "best_over": ["history"]}]
    said = answer_sentence(study(factors, truth, rounds=20, noise=0.001, runs=runs, table=table))
    assert memory_over_disk(said) == pytest.approx(2**0.5, rel=0.002)


def test_false_claims_are_rare():
    """Of 200 studies in which nothing makes a difference, few claim one."""
    said = Counter(
        "do not differ" in answer_sentence(study(RANKS, lambda _: 1.0, seed=seed, rounds=10)) for seed in range(200)
    )
    assert said[False] / 200 <= MOST_FALSE


def test_equal_choices_are_fastest_together():
    def truth(settings):
        return 1.0 if settings["ranks"] == 2 else 1.5

    said = answer_sentence(study(RANKS, truth, seed=3))
    assert "2 ranks × 1 thread" in said
    assert "2 ranks × 2 threads" in said
    assert "are the fastest of 4 choices, and do not differ beyond noise" in said


def test_values_that_are_not_above_zero_have_no_ratios():
    said = answer_sentence(study(RANKS, lambda settings: settings["ranks"] - 1.0))
    assert said.startswith("The choices are not compared, because ratios need values above zero: total is 0")


def test_too_few_rounds_tell_nothing():
    said = answer_sentence(study(RANKS, rounds=5))
    assert said.startswith("5 rounds in common cannot tell 4 choices apart, for which 8 are needed")


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (KERNEL, "2 ranks × 2 threads is the fastest of 4 choices"),
        (replace(MEMORY, role="merit"), "2 ranks × 2 threads is the one with the lowest memory of 4"),
        (
            replace(MEMORY, role="merit", direction="higher"),
            "1 rank × 1 thread is the one with the highest memory of 4",
        ),
    ],
)
def test_what_is_best_depends_on_the_figure(figure, words):
    def varied(settings, run):
        return replace(run, figures={figure.name: 1e9 / run.seconds if figure is KERNEL else 1e9 * run.seconds})

    assert words in answer_sentence(study(RANKS, figures=(figure,), runs=varied))


def test_figures_without_direction_are_not_compared():
    said = answer_sentence(study(RANKS, figures=(replace(TOTAL, direction="none"),)))
    assert said.startswith("Of total, neither higher nor lower values are better: they are 0.6")


def test_nested_studies_have_a_sentence_each():
    said = answer_sentence(
        study(RANKS | {"grid": ["small", "large"]}, nested=["grid"], table=[{"rows": "ranks, threads"}])
    )
    assert said.count("is the fastest of 4 choices") == 2
    assert said.startswith("With grid small, 2 ranks")


def test_how_it_ended_and_what_was_amiss():
    def runs(settings, run):
        if settings["ranks"] == 2 and run.number == 2:
            return replace(run, figures={}, failed="exit code 1: no space left\n…")
        if settings["ranks"] == 1 and run.number == 5 and settings["threads"] == 1:
            return replace(run, figures={"total": 50.0})
        return replace(run, marks=("swapped",)) if settings["threads"] == 2 else run

    told = remarks(study(RANKS, drift=0.3, rounds=16, runs=runs, ended="budget"))
    assert told[0].startswith("16 rounds of 4 cases, 64 runs in ")
    assert told[0].endswith("It ended because its budget was spent.")
    assert told[1].startswith("Total rose by ")
    assert 24 <= float(told[1].removeprefix("Total rose by ").split()[0].rstrip("%\u202f")) <= 38
    assert told[2].startswith("1 of 62 values of total are far from the others")
    assert (
        told[3]
        == "2 runs failed, of 2 cases (ranks = 2, threads = 1 and ranks = 2, threads = 2): exit code 1: no space left."
    )
    assert told[4] == "2 cases of 4 are marked: swapped (2)."


def test_what_the_numbers_do_not_show_is_said_first():
    told = remarks(study(RANKS, limits="One disk alone,\n  and one kernel."))
    assert told[0] == "One disk alone, and one kernel."
    assert remarks(study(RANKS)) == told[1:]


def test_a_quiet_study_has_no_drift():
    told = remarks(study(RANKS, seed=2))
    assert told[1:] == ["No drift of total over the rounds was found."]


def test_progress_says_what_is_left():
    results = study(RANKS, lambda _: 60.0, rounds=4, noise=0.0, ended="")
    results = replace(results, definition={"runs": {"repetitions": {"least": 6, "most": 30, "interval": 0.05}}})
    progress = progress_of(results)
    assert (progress.done, progress.least, progress.most) == (16, 24, 120)
    assert progress.left == pytest.approx((8 * 60.0, 104 * 60.0))
    line = progress_line(results, 0.0)
    assert line.startswith(
        "not complete: 4 of 6 to 30 rounds, 16 runs of 24 to 120; 8\u202fmin to 1.7\u202fh left, done by "
    )
    budget = replace(results, definition={"runs": {"repetitions": {"least": 6, "most": 30}, "budget": "30min"}})
    assert progress_of(budget).left == pytest.approx((8 * 60.0, 10 * 60.0))  # 20 of 30 minutes are spent
    done = replace(results, definition={"runs": {"repetitions": {"least": 3, "most": 4}}})
    assert progress_of(done).left == (0.0, 0.0)


def test_rounds_of_one_kind_are_compared_where_only_the_best_was_measured_again():
    """A busy machine made the rounds slow, and was quiet when the winner was measured again."""

    def runs(settings, run):
        return replace(run, figures={"total": run.figures["total"] * (9.0 if run.kind == "round" else 1.0)})

    results = study(
        {"ranks": [1, 2], "history": ["memory", "disk"]},
        lambda settings: 2.0 / settings["ranks"] + (settings["history"] == "disk"),
        noise=0.001,
        winners=lambda settings: settings == {"ranks": 2, "history": "memory"},
        runs=runs,
        table=[{"rows": "ranks", "relative_to": {"ranks": 1}, "best_over": ["history"]}],
    )
    assert "2 ranks (history memory) is the fastest of 2 choices: 2.00" in answer_sentence(results)
    [cell] = [row[-2] for row in views(results)[0][0].rows if row[0].text == "2"]
    assert cell.estimate.median == pytest.approx(2.0, rel=0.01)


def failing(share, ranks=2):
    """Runs of so many ranks that fail in this share of the rounds."""

    def runs(settings, run):
        bad = settings["ranks"] == ranks and run.number % 10 < 10 * share
        return replace(run, figures={}, failed="exit code 9") if bad else run

    return runs


def test_who_fails_is_not_the_fastest_without_a_word():
    said = answer_sentence(study({"ranks": [1, 2]}, rounds=20, runs=failing(0.4)))
    assert said.startswith("2 ranks (8 of 20 runs failed) is the fastest of 2 choices")


def test_what_has_no_value_stands_in_the_answer():
    """A case that was given up after two runs."""

    def runs(settings, run):
        return replace(run, figures={}, failed="exit code 9") if settings["ranks"] == 4 else run

    results = study({"ranks": [1, 2, 4]}, runs=runs)
    [case] = [case for case in results.cases.values() if case.case.settings["ranks"] == 4]
    given_up = replace(case, runs=[run for run in case.runs if run.kind == "round"][:2])
    said = answer_sentence(replace(results, cases=results.cases | {case.case.name: given_up}))
    assert "is the fastest of 2 choices" in said
    assert said.endswith(" No value has 4 ranks (all 2 runs failed).")


def test_few_rounds_have_no_interval_in_the_answer():
    alone = {"keep": lambda settings: settings["ranks"] == 1}
    assert answer_sentence(study({"ranks": [1, 2]}, rounds=5, **alone)) == "Total is 1.99\u202fs (5 runs): 1 rank."
    assert " to " in answer_sentence(study({"ranks": [1, 2]}, rounds=6, **alone))


def test_rounds_that_are_needed_are_one_number():
    """Of four choices, six pairs; of the table, three ratios: fewer rounds would do for these, and it is not said."""
    results = study(RANKS, rounds=5, table=[{"rows": "ranks, threads", "relative_to": {"ranks": 1, "threads": 1}}])
    _, legend = views(results)
    texts = [answer_sentence(results), *legend.texts.values(), *remarks(results)]
    assert {word for text in texts for word in re.findall(r"(\d+) are needed", text)} == {"8"}


def test_the_interval_says_what_it_assumes():
    assert "Fewer than 6 rounds have no interval" in assumption(study(RANKS, rounds=5))
    assert "take rounds as independent" in assumption(study(RANKS, rounds=12))
    assert "allow for rounds that depend on those before" in assumption(study(RANKS, rounds=40))
    several = study(RANKS, rounds=12, runs=lambda settings, run: replace(run, session=1 + run.number % 3))
    assert "allow for how far the 3 sessions differ" in assumption(several)


def test_answers_use_the_sessions():
    """Three sessions in which two ranks are 1.5, 1.0 and 0.7 times as fast: their rounds agree, and tell nothing."""
    by = {0: 1.5, 1: 1.0, 2: 0.7}

    def runs(settings, run):
        session = (run.number - 1) // 8
        slow = by[session % 3] if settings["ranks"] == 2 else 1.0
        return replace(run, session=session + 1, figures={"total": run.seconds / slow})

    results = study({"ranks": [1, 2]}, lambda _: 1.0, rounds=24, noise=0.001, runs=runs)
    assert answer_sentence(results).startswith(
        "Sessions, or rounds that depend on each other, differ too much to tell 2"
    )
    [cell] = [row[-1] for row in views(results)[0][0].rows if row[0].text == "2"]
    assert cell.interval == ""


def test_a_slow_first_run_is_told():
    def runs(settings, run):
        slow = 1.5 if settings["ranks"] == 2 and (run.kind, run.number) == ("round", 1) else 1.0
        return replace(run, figures={"total": slow * run.seconds})

    told = remarks(study({"ranks": [1, 2]}, runs=runs))
    [said] = [text for text in told if text.startswith("The first run of")]
    assert "1 of 2 cases (ranks = 2) took up to 1.48 times as long as the others" in said
    assert not any("first run" in text for text in remarks(study({"ranks": [1, 2]})))


def test_two_levels_are_told():
    def runs(settings, run):
        return replace(run, figures={"total": run.seconds * (1.3 if run.number % 3 == 0 else 1.0)})

    told = remarks(study({"ranks": [1, 2]}, rounds=20, noise=0.002, runs=runs))
    assert any("is at two levels, 2.0" in text and "and of 1 case more" in text for text in told)


def test_values_close_to_each_other_are_not_far_out():
    def runs(settings, run):
        return replace(run, figures={"total": 1.0001 if run.number == 3 else 1.0})

    assert not any("far from" in text for text in remarks(study({"ranks": [1, 2]}, runs=runs)))


def test_levels_of_spread_are_told_where_there_are_sessions():
    def runs(settings, run):
        session = 1 + (run.number - 1) // 4
        return replace(run, session=session, figures={"total": run.seconds * (1 + 0.1 * (session % 2))})

    told = remarks(study({"ranks": [1, 2]}, rounds=24, noise=0.01, runs=runs))
    [said] = [text for text in told if "differs between" in text]
    assert said.startswith("Total differs between runs by 1.")
    assert "and sessions by 5." in said
    assert "6 sessions" in said


def test_a_clock_that_changed_is_told():
    def runs(settings, run):
        return replace(run, clock=2e9 if run.number < 5 else 3e9)

    assert "The clock of the fastest cpu was 2.00 to 3.00 GHz at the ends of the runs." in remarks(
        study(RANKS, runs=runs)
    )


def test_a_clock_that_hardly_changed_is_not_told():
    """By 4 %."""
    results = study(RANKS, runs=lambda settings, run: replace(run, clock=2.5e9 + 1e8 * (run.number % 2)))
    assert not any("clock" in text for text in remarks(results))


def test_remarks_are_on_the_figures_of_the_table():
    results = study(RANKS, figures=(TOTAL, KERNEL), seed=2, table=[{"rows": "ranks, threads", "columns": ["kernel"]}])
    assert remarks(results)[1:] == ["No drift of kernel over the rounds was found."]


def test_equal_choices_are_seldom_told_apart():
    """The best of six is one of fifteen pairs: at the level of a single one, six studies of 100 would find it."""
    choices = {"n": [1, 2, 3, 4, 5, 6]}
    studies = (study(choices, lambda _: 1.0, rounds=12, noise=0.02, seed=seed) for seed in range(100))
    told = [answer_sentence(one).startswith("The 6 choices do not differ") for one in studies]
    assert told.count(False) <= 3


def test_remarks_below_a_table_are_few_and_short():
    legend = Legend()
    signs = [legend.letter(f"remark {n}") for n in range(MOST_SIGNS + 3)]
    assert len(set(signs)) == len(legend.texts) == MOST_SIGNS + 1
    assert signs[25:28] == ["z", "aa", "ab"]
    assert signs[-1] == signs[-2]
    assert "there are more remarks than are listed here" in legend.texts[signs[-1]]

    def runs(settings, run):
        return replace(run, failed="x" * 500, figures={}) if settings["n"] == 2 else run

    results = study({"n": [1, 2]}, lambda _: 1.0, runs=runs)
    below = "\n".join(views(results)[1].texts.values())
    assert 100 < max(map(len, re.findall("x+…x+", below))) <= LONGEST_REASON


def test_a_value_of_zero_has_no_part_in_what_a_setting_does():
    def truth(settings):
        return speed(settings) * (1.2 if settings["history"] == "disk" else 1.0)

    def runs(settings, run):
        zero = settings == {"ranks": 1, "threads": 1, "history": "disk"} and (run.kind, run.number) == ("round", 3)
        return replace(run, figures={"total": 0.0}) if zero else run

    said = answer_sentence(study(HISTORY, truth, noise=0.001, table=BEST, runs=runs))
    assert memory_over_disk(said) == pytest.approx(1.2, rel=0.002)
