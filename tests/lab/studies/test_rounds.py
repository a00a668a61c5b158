"""The course of a study on a clock of the test's own."""

import pytest

from fathometer.lab.studies.design import Case
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
