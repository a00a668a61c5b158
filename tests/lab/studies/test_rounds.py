"""The course of a study on a clock of the test's own."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from fathometer.lab.studies.design import Case
from fathometer.lab.studies.forecast import Forecast
from fathometer.lab.studies.results import Run
from fathometer.lab.studies.rounds import Limits, Rounds

CASES = [Case({"n": n}) for n in range(3)]
LIMITS = Limits(least=4, most=8, warm_up=1, seed=3, budget=None)


class Clock:
    def __init__(self):
        self.time = 100.0

    def __call__(self):
        return self.time


class Work:
    """Runs that take n + 1 seconds; `fails`: (n, kind, number) or n."""

    def __init__(self, clock, fails=(), kill_after=None):
        self.clock, self.fails, self.kill_after = clock, fails, kill_after
        self.made, self.tidied = [], []

    together = False

    def run(self, case, kind, number, tell):
        if len(self.made) == self.kill_after:
            raise KeyboardInterrupt
        n = case.settings["n"]
        self.made.append((kind, number, n))
        self.clock.time += n + 1.0
        failed = "broken" if n in self.fails or (n, kind, number) in self.fails else ""
        return Run(kind, number, 0.0, n + 1.0, {} if failed else {"t": n + 1.0}, failed)

    def tidy(self, case, run):
        self.tidied.append((run.kind, run.number, case.settings["n"]))

    def stop(self):
        pass


class Silent:
    def began(self, *_):
        pass

    def state(self, *_):
        pass

    def ended(self, *_):
        pass


class Study:
    """Sessions of one study: what is kept goes from one to the next."""

    def __init__(self, limits=LIMITS, **work):
        self.limits, self.kept, self.clock = limits, {}, Clock()
        self.work = Work(self.clock, **work)

    def session(self):
        spent = sum(run.seconds for runs in self.kept.values() for run in runs)

        def keep(case, runs):
            self.kept[case.name] = list(runs)

        return Rounds(CASES, self.kept, self.limits, self.work, keep, Silent(), self.clock, spent)


def never(runs):
    return False


def test_every_case_once_a_round_in_pairs_of_reverse_orders():
    study = Study()
    assert study.session().measure(never) == "repetitions"
    made = study.work.made
    assert made[:3] == [("warm-up", 1, made[n][2]) for n in range(3)]
    rounds = [made[3 * r + 3 : 3 * r + 6] for r in range(8)]
    orders = [[n for _, _, n in one] for one in rounds]
    for number, one in enumerate(rounds, 1):
        assert {(kind, at) for kind, at, _ in one} == {("round", number)}
        assert sorted(orders[number - 1]) == [0, 1, 2]
    for first, second in zip(orders[::2], orders[1::2], strict=True):
        assert first == second[::-1]
    assert len({tuple(one) for one in orders[::2]}) > 1  # drawn anew
    assert study.work.tidied == made


def test_precision_is_looked_at_after_pairs_from_the_least_on():
    study = Study()
    looked = []

    def enough(runs):
        looked.append(max(run.number for some in runs.values() for run in some))
        return len(looked) == 2

    assert study.session().measure(enough) == "precision"
    assert looked == [4, 6]


@pytest.mark.parametrize("after", range(27))
def test_an_interrupted_study_makes_each_run_once(after):
    whole = Study()
    whole.session().measure(never)
    study = Study(kill_after=after)
    with pytest.raises(KeyboardInterrupt):
        study.session().measure(never)
    study.work.kill_after = None
    assert study.session().measure(never) == "repetitions"
    assert study.work.made == whole.work.made


def test_a_budget_ends_it_before_a_run_that_would_exceed_it():
    study = Study(Limits(least=4, most=8, warm_up=0, seed=3, budget=15.5))
    assert study.session().measure(never) == "budget"
    assert study.clock.time - 100.0 <= 15.5
    assert len(study.work.made) >= 6
    assert study.session().measure(never) == "budget"  # it is the study's, not the session's


def test_a_budget_leaves_time_for_the_winners():
    study = Study(Limits(least=2, most=8, warm_up=0, seed=3, budget=30.0, winners=1))
    rounds = study.session()
    assert rounds.measure(never) == "budget"
    assert rounds.measure_again([CASES[1].name])
    assert study.clock.time - 100.0 <= 30.0


def test_a_case_that_always_fails_is_given_up_and_the_others_go_on():
    study = Study(fails=(1,))
    assert study.session().measure(never) == "repetitions"
    assert [one for one in study.work.made if one[2] == 1] == [("warm-up", 1, 1), ("round", 1, 1)]
    assert len([one for one in study.work.made if one[2] == 0]) == 9


def test_a_case_that_fails_at_times_stays():
    study = Study(fails=((2, "warm-up", 1), (2, "round", 3)))
    study.session().measure(never)
    assert len([one for one in study.work.made if one[2] == 2]) == 9


def test_winners_are_measured_again():
    study = Study()
    rounds = study.session()
    rounds.measure(never)
    assert rounds.measure_again([CASES[0].name, CASES[2].name])
    again = [one for one in study.work.made if one[0] == "winner"]
    assert [number for _, number, _ in again] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert {n for _, _, n in again} == {0, 2}
    before = len(study.work.made)
    study.session().measure_again([CASES[0].name, CASES[2].name])
    assert len(study.work.made) == before


def test_several_at_a_time_make_the_same_runs():
    study = Study(Limits(least=4, most=8, warm_up=1, seed=3, budget=None, at_once=3))
    assert study.session().measure(never) == "repetitions"
    whole = Study()
    whole.session().measure(never)
    assert sorted(study.work.made) == sorted(whole.work.made)


class Slept(Silent):
    """Progress that keeps the pauses, and the sleep that they are made with."""

    def __init__(self, clock):
        self.clock, self.pauses = clock, []

    def pausing(self, session, seconds):
        self.pauses.append((session, seconds))

    def sleep(self, seconds):
        self.clock.time += seconds


def in_sessions(study, sessions, **limits):
    """A session of the study's, over so many; with what it paused."""
    study.limits = replace(study.limits, sessions=sessions, pause=1000.0, **limits)
    slept = Slept(study.clock)
    rounds = study.session()
    rounds._progress, rounds._sleep = slept, slept.sleep
    return rounds, slept


def sessions_of(study, kind="round"):
    runs = [run for runs in study.kept.values() for run in runs if run.kind == kind]
    return {number: {run.session for run in runs if run.number == number} for number in {run.number for run in runs}}


def test_rounds_are_spread_over_sessions_in_pairs_each_with_a_warm_up():
    study = Study()
    rounds, slept = in_sessions(study, 3, least=8)
    assert rounds.measure(never) == "repetitions"
    assert sessions_of(study) == {1: {1}, 2: {1}, 3: {2}, 4: {2}, 5: {2}, 6: {2}, 7: {3}, 8: {3}}
    assert sessions_of(study, "warm-up") == {1: {1}, 2: {2}, 3: {3}}
    assert slept.pauses == [(2, 1000.0), (3, 1000.0)]


def test_sessions_that_are_over_begin_nothing():
    """More rounds than before, in more sessions: those whose rounds are there neither pause nor warm up."""
    study = Study(replace(LIMITS, least=4, most=4))
    study.session().measure(never)
    rounds, slept = in_sessions(study, 4, least=8, most=8)
    rounds.measure(never)
    assert sessions_of(study) == {1: {1}, 2: {1}, 3: {1}, 4: {1}, 5: {2}, 6: {2}, 7: {3}, 8: {3}}
    assert sessions_of(study, "warm-up") == {1: {1}, 3: {2}, 4: {3}}
    assert len(slept.pauses) == 1


def test_pauses_are_no_part_of_the_budget():
    study = Study()
    rounds, _ = in_sessions(study, 2, budget=1e3)
    assert rounds.measure(never) == "repetitions"
    assert rounds.seconds == sum(run.seconds for runs in study.kept.values() for run in runs)


def test_a_rule_is_looked_at_only_in_the_last_session():
    study = Study()
    rounds, slept = in_sessions(study, 2)
    assert rounds.measure(lambda runs: True) == "precision"
    assert sessions_of(study) == {1: {1}, 2: {1}, 3: {2}, 4: {2}}
    assert len(slept.pauses) == 1


def test_what_goes_on_is_another_session():
    study = Study(kill_after=8)
    with pytest.raises(KeyboardInterrupt):
        study.session().measure(never)
    study.work.kill_after = None
    study.session().measure(never)
    assert sessions_of(study)[1] == {1}
    assert sessions_of(study)[2] == {1, 2}
    assert sessions_of(study)[8] == {2}


def test_groups_follow_each_other_in_every_round():
    study = Study()
    names = [case.name for case in CASES]
    rounds = Rounds(
        CASES, {}, LIMITS, study.work, lambda *_: None, Silent(), study.clock, groups=[names[:2], names[2:]]
    )
    rounds.measure(never)
    orders = [[n for kind, number, n in study.work.made if (kind, number) == ("round", r)] for r in range(1, 9)]
    assert all(sorted(one) == [0, 1, 2] and abs(one.index(0) - one.index(1)) == 1 for one in orders)
    assert {tuple(n for n in one if n < 2) for one in orders} == {(0, 1), (1, 0)}
    assert all(first == second[::-1] for first, second in zip(orders[::2], orders[1::2], strict=True))


def test_repeats_are_rounds_of_some_cases_and_end():
    study = Study()
    rounds = study.session()
    rounds.measure(never)
    asked = []

    def wanted(runs):
        asked.append(len(runs[CASES[0].name]))
        return [CASES[0].name] if len(asked) < 4 else []

    assert rounds.repeat(wanted)
    again = [(number, n) for kind, number, n in study.work.made if number > 8]
    assert again == [(9, 0), (10, 0), (11, 0)]
    assert [run.number for run in study.kept[CASES[0].name] if run.again] == [9, 10, 11]
    assert rounds.measured == 8
    assert rounds.repeat(lambda runs: [CASES[1].name])  # never satisfied: as many rounds more as there were
    assert [number for _, number, n in study.work.made if n == 1 and number > 8] == list(range(9, 17))


def test_a_budget_that_is_short_makes_a_first_run():
    """Nothing is known of how long the winners' runs take."""
    study = Study(replace(LIMITS, warm_up=0, budget=0.5, winners=1))
    assert study.session().measure(never) == "budget"
    assert len(study.work.made) == 1


def test_a_forecast_is_what_the_study_takes():
    """Six rounds of 1, 2 and 3 seconds, two runs to warm up, and of one winner no more than `least`."""
    limits = replace(LIMITS, most=6, warm_up=2, winners=1)
    study = Study(limits)
    rounds = study.session()
    rounds.measure(never)
    rounds.measure_again([CASES[1].name])
    told = Forecast({case.name: case.settings["n"] + 1.0 for case in CASES})
    asked = SimpleNamespace(cases=CASES, limits=limits)
    assert told.of_rounds(asked, 6) == study.clock.time - 100.0 == 56.0
    assert replace(told, seconds={}).of_rounds(asked, 6) is None
