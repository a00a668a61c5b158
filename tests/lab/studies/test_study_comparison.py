"""Two builds compared, in turns and by sessions: verdicts, what is learned of sessions, the gate and its exit codes."""

from dataclasses import replace

import numpy as np
import pytest
from cli_support import run
from laws import STUDIES

from fathometer.base.errors import InputError
from fathometer.lab.studies.asked import answer_of
from fathometer.lab.studies.builds import BASELINE, BUILD, baseline_words, to_repeat
from fathometer.lab.studies.comparison import (
    GateError,
    UndecidedError,
    compare,
    compare_builds,
    ratio_of_sessions,
    require_gate,
    verdict_text,
)
from fathometer.lab.studies.report.compared import answered, sentences, view
from fathometer.lab.studies.results import Run
from fathometer.lab.studies.watch import OTHERS
from tests.support.study_support import KERNEL, MEMORY, RANKS, TOTAL, builds, keep, speed, study

GATE = {"gate": {"figures": ["total"], "tolerance": 0.02}}


def slower(by):
    return lambda settings: speed(settings) * (by if settings["ranks"] == 2 else 1.0)


def settings_of(cells):
    return {tuple(cell.case.case.settings.values()) for cell in cells}


def test_in_turns_what_got_slower_is_worse_and_nothing_else():
    found = compare_builds(builds(slower(1.1)))
    assert settings_of(found.gated("worse")) == {(2, 1), (2, 2)}
    assert settings_of(found.gated("not worse")) == {(1, 1), (1, 2)}
    for cell in found.cells:
        truth = 1.1 if cell.case.case.settings["ranks"] == 2 else 1.0
        assert cell.ratio.low <= truth * 1.01
        assert cell.ratio.high >= truth * 0.99
    said = sentences(found)
    assert view(found)[1].texts["▼"] == (
        "worse beyond doubt, corrected for 4 comparisons; a figure of the gate by more than 2 %"
    )
    assert said[0] == "Gate: of 4 figures 2 worse, 0 undecided, 2 not worse, with a tolerance of 2 %."
    with pytest.raises(GateError, match=r"gate: total of ranks = 2, threads = 1 got worse by more than 2 %: 1\.1"):
        require_gate(found)


def test_identical_builds_are_hardly_ever_worse_and_mostly_decided():
    found = [compare_builds(builds(seed=n)) for n in range(100)]
    assert sum(bool(one.gated("worse")) for one in found) <= 5
    assert sum(len(one.gated("not worse")) for one in found) >= 320
    assert sum(any(cell.differs for cell in one.cells) for one in found) <= 10


def test_what_is_between_is_undecided():
    found = compare_builds(builds(slower(1.02), noise=0.005))
    assert {(2, 1), (2, 2)} <= settings_of(found.gated("undecided")) | settings_of(found.gated("worse"))
    undecided = compare_builds(builds(slower(1.02), noise=0.02, rounds=6))
    with pytest.raises(UndecidedError, match="may be worse by more than 2 %, or not"):
        require_gate(undecided)
    require_gate(undecided, "pass")
    with pytest.raises(GateError):
        require_gate(undecided, "fail")


def test_disturbed_runs_decide_nothing():
    """All runs of this build are slower, and all are disturbed: not worse, but not decided."""

    def disturbed(settings, run):
        return replace(run, marks=(OTHERS,)) if settings[BUILD] != BASELINE else run

    found = compare_builds(builds(slower(1.5), runs=disturbed))
    assert len(found.gated("undecided")) == 4
    said = verdict_text(found.cells[0], 0.02)
    assert "of 10 pairs of runs 10 disturbed, or of two sessions: nothing is decided" in said


def test_runs_of_two_sessions_are_no_pair():
    """This build ran in the same rounds as the baseline, but later, such as when its failed runs were made again."""

    def later(settings, run):
        return replace(run, session=1 if settings[BUILD] == BASELINE else 2)

    found = compare_builds(builds(slower(1.5), runs=later))
    assert len(found.gated("undecided")) == 4
    assert to_repeat([("a", "b")], {"a": [run_of(1)], "b": [replace(run_of(1), session=2)]}, 1) == ["a", "b"]


def test_one_interruption_takes_no_interval_away():
    """Of two sessions nothing can be learned of how far sessions differ: pairs are taken as of one."""
    found = compare_builds(builds(runs=lambda settings, run: replace(run, session=1 + (run.number > 5))))
    assert all(cell.ratio.reaches(0.9) for cell in found.cells)


def test_six_pairs_cannot_tell_one_of_many_and_say_so():
    found = compare_builds(builds(slower(2.0), rounds=6, noise=0.001))
    slow = [cell for cell in found.cells if cell.case.case.settings["ranks"] == 2]
    assert {cell.verdict for cell in slow} == {"undecided"}
    assert {cell.why for cell in slow} == {"to tell it of one of 4 comparisons needs more pairs"}


@pytest.mark.parametrize(("before", "now", "verdict"), [(0, 0, "not worse"), (0, 5, "worse"), (5, 0, "not worse")])
def test_counts_of_zero_are_compared_as_they_are(before, now, verdict):
    def counts(settings, run):
        return replace(run, figures={"memory": float(before if settings[BUILD] == BASELINE else now)})

    gate = {"gate": {"figures": ["memory"], "baseline": "old"}, "figures": (replace(MEMORY, role="merit"),)}
    found = compare_builds(builds(runs=counts, rounds=2, **gate))
    assert len(found.gated(verdict)) == 4
    if before or now:
        assert found.cells[0].why == f"{before} before, {now} now"


def test_the_disturbed_pairs_alone_are_left_out():
    def disturbed(settings, run):
        slow = replace(run, marks=(OTHERS,), figures={"total": 3 * run.seconds})
        return slow if settings[BUILD] != BASELINE and run.number <= 4 and run.kind == "round" else run

    found = compare_builds(builds(runs=disturbed, rounds=12))
    assert not found.gated("worse")
    assert {len(cell.first) for cell in found.cells} == {8}


def test_rounds_in_which_one_build_has_no_such_figure_are_left_out():
    def without(settings, run):
        lost = run.number <= 3 and settings[BUILD] != BASELINE
        return replace(run, figures={"kernel": 1.0}) if lost else run

    found = compare_builds(builds(runs=without, rounds=12, figures=(TOTAL, KERNEL)))
    cells = [cell for cell in found.cells if cell.figure.name == "total"]
    assert len(cells) == 4
    assert {len(cell.first) for cell in cells} == {len(cell.second) for cell in cells} == {9}


def run_of(number, marks=(), failed=""):
    return Run("round", number, 0.0, 1.0, {} if failed else {"t": 1.0}, failed, marks)


def test_which_pairs_are_made_again():
    def wanted(base, own, rounds=2):
        return to_repeat([("a", "b")], {"a": base, "b": own}, rounds)

    sound, bad = [run_of(1), run_of(2)], [run_of(1, [OTHERS]), run_of(2)]
    assert wanted(sound, sound) == []
    assert wanted(sound, bad) == wanted(bad, sound) == ["a", "b"]
    assert wanted([*sound, run_of(3)], [*bad, run_of(3)]) == []
    assert wanted(sound, [run_of(1, failed="x"), run_of(2)]) == []  # failures are results
    assert wanted(sound, [run_of(1, ["cores shared: 4 threads on 2 cpus"]), run_of(2)]) == []  # would be so again


def test_the_words_of_a_baseline():
    assert baseline_words("/old/bin/p", ["p", "-n", "{n}"]) == ("/old/bin/p", "-n", "{n}")
    assert baseline_words("env X=1 'a b'", ["p", "q"]) == ("env", "X=1", "a b", "q")
    assert baseline_words(["old", "--all"], ["p", "q"]) == ("old", "--all")


def test_failures_of_this_build_are_worse_or_undecided():
    def fails(rounds):
        def change(settings, run):
            failed = settings[BUILD] != BASELINE and settings["ranks"] == 2 and run.number in rounds
            return replace(run, figures={}, failed="exit code 1") if failed else run

        return change

    all_ = compare_builds(builds(runs=fails(range(1, 11))))
    assert settings_of(all_.gated("worse")) == {(2, 1), (2, 2)}
    with pytest.raises(GateError, match="got worse: 10 of 10 runs failed, of the earlier build 0: exit code 1"):
        require_gate(all_)
    most = compare_builds(builds(runs=fails(range(1, 8))))
    assert settings_of(most.gated("worse")) == {(2, 1), (2, 2)}
    one = compare_builds(builds(runs=fails([3])))
    assert settings_of(one.gated("undecided")) == {(2, 1), (2, 2)}


def test_rates_get_worse_by_falling():
    gate = {"gate": {"figures": ["kernel"], "baseline": "old"}, "figures": (KERNEL,)}
    found = compare_builds(builds(slower(1.1), **gate))
    assert settings_of(found.gated("worse")) == {(2, 1), (2, 2)}
    better = compare_builds(builds(slower(0.9), **gate))
    assert better.gated("worse") == []
    assert any(text.startswith("Better beyond doubt") for text in sentences(better))


def test_counts_that_are_the_same_every_time_need_no_rounds():
    size = replace(MEMORY, role="merit")

    def sizes(by):
        def change(settings, run):
            return replace(run, figures={"memory": 1e6 * (by if settings[BUILD] != BASELINE else 1)})

        return change

    gate = {"gate": {"figures": ["memory"], "baseline": "old", "tolerance": 0.0}, "figures": (size,), "rounds": 2}
    assert len(compare_builds(builds(runs=sizes(1.0), **gate)).gated("not worse")) == 4
    assert len(compare_builds(builds(runs=sizes(1.001), **gate)).gated("worse")) == 4


def test_the_answer_begins_with_the_gate():
    results = builds(slower(1.1))
    text, views, _ = answered(results, answer_of(results))
    assert text.startswith("Gate: of 4 figures 2 worse")
    assert views[0].title == "This build compared with baseline"
    assert all(BUILD not in [head.text for head in one.heads] for one in views)


def sessions(studies, spread, each, seed, by=1.0):
    """Studies of one session each, whose levels differ by a spread of their own."""
    levels = np.exp(np.random.default_rng(seed).normal(0, spread, studies))
    return [
        study(RANKS, lambda settings, level=level: by * level * speed(settings), each, 0.01, 100 * seed + n, **GATE)
        for n, level in enumerate(levels)
    ]


def test_two_sessions_decide_nothing():
    """The rounds of each agree to 1 %, the sessions do not: another time of one program, not another program."""
    earlier, later = sessions(2, 0.1, 10, 1)
    found = compare([earlier], later)
    assert len(found.gated("undecided")) == 4
    assert not any(cell.differs for cell in found.cells)
    with pytest.raises(UndecidedError, match="2 sessions of both do not tell how far sessions differ; 4 are needed"):
        require_gate(found)


def test_identical_programs_are_hardly_ever_worse_by_sessions():
    worse = 0
    for seed in range(100):
        *earlier, later = sessions(5, 0.1, 6, seed)
        worse += bool(compare(earlier, later).gated("worse"))
    assert worse <= 8


def test_a_difference_beyond_that_of_sessions_is_found():
    earlier, [later] = sessions(6, 0.01, 6, 3), sessions(1, 0.01, 6, 4, by=1.3)
    found = compare(earlier, later)
    assert len(found.gated("worse")) == 4
    assert found.sessions == (6, 1)
    assert "6 sessions compared with 1 session" in view(found, ("a", "b"))[0].notes[0]


def test_counts_need_no_sessions():
    def sizes(by):
        return {"runs": lambda settings, run: replace(run, figures={"memory": 1e6 * by}), "rounds": 2}

    gate = {"gate": {"figures": ["memory"]}, "figures": (replace(MEMORY, role="merit"),)}
    first = study(RANKS, **sizes(1.0), **gate)
    assert len(compare([first], study(RANKS, **sizes(1.1), **gate)).gated("worse")) == 4
    assert len(compare([first], study(RANKS, **sizes(1.0), **gate)).gated("not worse")) == 4


def test_ratios_of_sessions_cover():
    source = np.random.default_rng(5)
    for m, n in ((3, 1), (5, 1), (4, 4)):
        held = [
            ratio_of_sessions(np.exp(source.normal(0, 0.1, m)), 1.3 * np.exp(source.normal(0, 0.1, n))).holds(1.3)
            for _ in range(STUDIES)
        ]
        assert np.mean(held) >= 0.92
    assert ratio_of_sessions([1.0, 1.1], [1.0]).coverage == 0.0


def test_failed_and_missing_cases_are_told():
    """A case that only the first has is told, and a figure of the gate is lost with it."""
    first = study(
        RANKS, runs=lambda settings, run: replace(run, failed="x") if settings == {"ranks": 1, "threads": 1} else run
    )
    second = study({"ranks": [1, 2], "threads": [2, 4]})
    found = compare([first], second)
    assert len(found.cells) == 2
    assert sentences(found)[-2:] == [
        "Only the first study has 1 rank × 1 thread and 2 ranks × 1 thread.",
        "Only the second study has 1 rank × 4 threads and 2 ranks × 4 threads.",
    ]
    assert not found.gated("worse")
    gated = compare([study(RANKS, **GATE)], second)
    assert settings_of(gated.gated("worse")) == {(1, 1), (2, 1)}
    assert {cell.why for cell in gated.gated("worse")} == {"not in the later study"}
    # An earlier study than the last may have it.
    assert "Only the second study" not in " ".join(sentences(compare([second, first], second)))
    shown, legend = view(compare([first], study(RANKS)), ("a", "b"))
    assert shown.rows[0][-1].text == "–"
    assert legend.texts[shown.rows[0][-1].signs[0]] == "failed in the earlier study"


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (
            study(RANKS | {"history": ["a"]}, rounds=1),
            "compare: found the factors ranks, threads and ranks, threads, history",
        ),
        (study({"ranks": [3], "threads": [1]}, rounds=1), "compare: found no case in common"),
        (
            study(RANKS, rounds=1, figures=(replace(TOTAL, unit="bytes"),)),
            "gate: figures: found total, which is not the same",
        ),
        (study(RANKS, rounds=1, figures=(MEMORY,)), "gate: figures: found total"),
    ],
)
def test_studies_that_cannot_be_compared_are_one_line(second, told):
    with pytest.raises(InputError) as error:
        compare([study(RANKS, rounds=1, **GATE)], second)
    assert told in str(error.value)


@pytest.mark.parametrize(("by", "code"), [(1.1, 3), (1.0, 0), (0.9, 0)])
def test_exit_codes(capsys, tmp_path, by, code):
    folder = keep(builds(slower(by)), tmp_path / "builds.study")
    done = run(capsys, "study", "compare", folder, "--markdown", tmp_path / "compared.md")
    assert done.code == code
    assert "This build compared with baseline" in done.out
    assert ("fathometer: error: gate: total" in done.err) == (code == 3)
    assert (tmp_path / "compared.md").read_text().count("| total |") == 4


def test_exit_codes_of_what_is_undecided(capsys, tmp_path):
    earlier, later = (keep(one, tmp_path / f"{n}.study") for n, one in enumerate(sessions(2, 0.1, 6, 1)))
    assert run(capsys, "study", "compare", earlier, later).code == 4
    assert run(capsys, "study", "compare", earlier, later, "--undecided", "pass").code == 0
    assert run(capsys, "study", "compare", earlier, later, "--undecided", "fail").code == 3
    assert run(capsys, "study", "compare", earlier, tmp_path).code == 2
    assert "without [gate] baseline" in run(capsys, "study", "compare", earlier).err
    again = run(capsys, "study", "compare", earlier, tmp_path / "x" / ".." / earlier.name, later)
    assert (again.code, "more than once; allowed: each study once" in again.err) == (2, True)
