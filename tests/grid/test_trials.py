"""Trials of tilings in a run's own time steps, on a simulated machine, on ranks, and in a real wavefield."""

import math
import subprocess
import sys

import numpy as np
import pytest
from cli_support import clean_environment, mpirun
from mpi4py import MPI
from paths import SUPPORT
from patience import PATIENCE
from support import Medium

from fathometer.base.host import Caches
from fathometer.config.sections import TuningTable
from fathometer.grid import trials as module
from fathometer.grid import tuning
from fathometer.grid.tiling import PLAIN, Stepping, Tiling, Tuned
from fathometer.grid.trials import Trials
from fathometer.grid.tuning_cache import Kept

STEPPING = Stepping((256, 256, 216), 4, 2, 4, 8, 2, 1, 7)
HERE = Caches(2 << 20, 260 << 20, 2)
CELLS = 1e7
A, B = Tiling(4, 4, 16, 1), Tiling(4, 4, 24, 1)


def seconds_of(tiling, depth=6, block=8, tile=24):
    """Seconds of an advance, in those of the best: a valley with its floor at these numbers."""
    if tiling.depth == 1:
        return 1.6
    away = (tiling.depth / depth, tiling.block / block, (tiling.tile / tile) ** 0.8)
    return 1 + 0.12 * sum(math.log2(ratio) ** 2 for ratio in away) + (0.15 if tiling.team > 1 else 0)


def trials_from(start=None, kept=None, around=None, seeds=None, comm=MPI.COMM_SELF, source="model"):
    return Trials(
        STEPPING,
        comm,
        CELLS,
        Tuned(start or STEPPING.expected(HERE), source),
        around or (lambda tiling: tuning.around(STEPPING, tiling)),
        tuning.seeds(STEPPING, HERE) if seeds is None else seeds,
        kept,
    )


class Machine:
    """Advances of `advance` seconds with the best tiling; log-normal noise and moments in which all takes 1.6 times as
    long. costs: of a tiling at a time."""

    def __init__(self, seed, advance=0.06, noise=0.05, moments=0.02, costs=lambda tiling, _: seconds_of(tiling)):
        self.rng = np.random.default_rng(seed)
        self.advance, self.noise, self.moments, self.costs = advance, noise, moments, costs
        self.clock, self.busy, self.used = 0.0, 0, []

    def take(self, trials, advances, kind="source"):
        for _ in range(advances):
            tiling = trials.tiling_for(STEPPING.steps, kind)
            self.busy = max(0, self.busy - 1) or (self.rng.random() < self.moments) * int(self.rng.integers(1, 8))
            seconds = self.advance * self.costs(tiling, self.clock) * math.exp(self.noise * self.rng.standard_normal())
            seconds *= 1.6 if self.busy else 1.0
            self.clock += seconds
            self.used.append(tiling)
            trials.took(seconds)
        return trials

    def run(self, trials, minutes=1.0):
        advances = round(60 * minutes / self.advance)
        trials.expect(advances)
        return self.take(trials, advances)


@pytest.mark.parametrize(("advance", "noise"), [(0.004, 0.05), (0.06, 0.02), (0.06, 0.05)])
def test_a_minute_finds_the_best_and_loses_little(advance, noise):
    assert seconds_of(STEPPING.expected(HERE)) > 1.15  # there is something to find
    found = []
    for seed in range(8):
        machine = Machine(seed, advance, noise)
        trials = machine.run(trials_from())
        found.append(seconds_of(trials.tiling))
        assert trials.changes
        assert trials.outcome.source == "trials"
        assert 0 < trials.lost <= 0.02 * machine.clock
        lost = sum(seconds_of(tiling) - seconds_of(trials.tiling) for tiling in machine.used[-len(machine.used) // 2 :])
        assert lost <= 0.02 * len(machine.used) / 2  # the second half of the minute is as good as its end
    assert np.median(found) < 1.02
    assert max(found) < 1.05


@pytest.mark.parametrize(("advance", "advances"), [(1.0, 60), (1.0, 12), (0.3, 10), (0.06, 40)])
def test_short_runs_and_long_advances_keep_to_the_budget(advance, advances):
    for seed in range(8):
        machine = Machine(seed, advance, 0.02, moments=0)
        trials = trials_from()
        trials.expect(advances)
        machine.take(trials, advances)
        assert trials.lost <= 0.02 * machine.clock


def chain(*tilings):
    """Each has its neighbours in this row."""
    return lambda tiling: {f"to {n}": t for n, t in enumerate(tilings) if abs(n - tilings.index(tiling)) == 1}


def test_a_burst_in_the_candidates_turn_does_not_decide_for_good():
    costs = {A: 1.2, B: 1.0}
    trials = trials_from(A, around=chain(A, B), seeds=[])
    hit = []

    def cost(tiling, clock):
        if tiling == B and clock < 8:
            hit.append(clock)
            return 3.0
        return costs[tiling]

    machine = Machine(1, 0.02, 0.02, 0, cost)
    trials.expect(3000)
    machine.take(trials, 400)
    assert hit
    assert (trials.tiling, trials.settled) == (A, True)  # out at once
    assert len(hit) <= 10
    machine.take(trials, 2600)
    assert trials.tiling == B


def test_a_burst_in_the_incumbents_turns_does_not_decide():
    """A candidate of 5 % more seconds, measured in turns with an incumbent that is slow in some of its own."""
    for seed in range(8):
        slow = np.random.default_rng(seed).random(3000) < 0.2
        machine = Machine(seed, 0.1, 0.01, 0)
        machine.costs = lambda tiling, _, machine=machine, slow=slow: (
            1.05 if tiling == B else 1.4 if slow[len(machine.used)] else 1.0
        )
        trials = trials_from(A, around=chain(A, B), seeds=[])
        trials.expect(600)
        machine.take(trials, 600)
        assert trials.trials
        assert trials.tiling == A


def test_a_machine_that_changes_is_noticed():
    def costs(tiling, clock):
        return seconds_of(tiling) if clock < 30 else 1.5 * seconds_of(tiling, 3, 8, 12)

    machine = Machine(3, 0.06, 0.03, costs=costs)
    trials = trials_from()
    trials.expect(1000)
    machine.take(trials, 400)
    before = trials.changes
    assert seconds_of(trials.tiling) < 1.05
    machine.take(trials, 600)
    assert trials.changes > before
    assert seconds_of(trials.tiling, 3, 8, 12) < 1.06
    assert trials.lost <= 0.02 * machine.clock


@pytest.mark.parametrize(("share", "again"), [(0.8, True), (0.95, False)])
def test_what_falls_short_of_its_known_rate_is_tried_again(share, again):
    best = Tiling(6, 8, 24, 1)
    start = Tiling(3, 8, 48, 1) if again else best
    rate = CELLS * STEPPING.steps / (0.06 * seconds_of(start)) / share
    kept = Kept(start, 40, settled=True, rates={"source": rate})
    trials = trials_from(start, kept, source="cache")
    trials.expect(1000)
    Machine(5, 0.06, 0.02, 0).take(trials, 100)  # some seconds: no challenge yet
    assert bool(trials.trials) == again
    assert (trials.to_keep is not None) == again
    if again:
        Machine(5, 0.06, 0.02, 0).take(trials, 500)
        assert seconds_of(trials.tiling) < 1.05
        kept = trials.to_keep
        assert kept.trials == 40 + trials.trials
        assert kept.rates["source"] == pytest.approx(CELLS * STEPPING.steps / 0.06, rel=0.1)
    else:
        assert trials.outcome == Tuned(best, "cache")


def test_only_advances_of_the_same_work_and_length_are_compared():
    """Without noise, a candidate of 5 % more seconds loses just these, whatever comes between its turns: receivers'
    advances, which take three times as long, and a few last steps."""
    trials = trials_from(A, around=chain(A, B), seeds=[])
    trials.expect(3000)
    slow, fast = (Machine(0, s, 0, 0, lambda tiling, _: 1.05 if tiling == B else 1.0) for s in (0.18, 0.06))
    order = np.random.default_rng(1).random(3000) < 0.5
    for n, receivers in enumerate(order):
        (slow if receivers else fast).take(trials, 1, "receivers" if receivers else "source")
        if n % 5 == 0:
            trials.tiling_for(3, "source")
            trials.took(1e9)
    tried = 0.18 * slow.used.count(B) + 0.06 * fast.used.count(B)
    assert trials.trials >= 4
    assert trials.tiling == A
    assert trials.lost == pytest.approx(0.05 * tried)
    rates = {kind: CELLS * STEPPING.steps / seconds for kind, seconds in (("source", 0.06), ("receivers", 0.18))}
    assert trials.to_keep.rates == pytest.approx(rates)


def test_shots_of_several_loops_find_the_best():
    """As in a migration with checkpoints: snapshots in every other advance, then receivers."""
    trials = trials_from()
    trials.expect(2400)
    source, receivers = Machine(2, 0.06, 0.02), Machine(3, 0.12, 0.02)
    for _ in range(4):
        for n in range(300):
            source.take(trials, 1, "source" if n % 2 else "source, snapshot")
        receivers.take(trials, 300, "receivers")
    assert seconds_of(trials.tiling) < 1.05
    assert trials.lost <= 0.02 * (source.clock + receivers.clock)
    assert set(trials.to_keep.rates) == {"source", "source, snapshot", "receivers"}


def test_an_advance_that_failed_counts_for_nothing():
    trials = trials_from()
    trials.expect(1000)
    machine = Machine(4, 0.06, 0.02, 0)
    for _ in range(300):
        trials.tiling_for(STEPPING.steps, "source")  # and fails
        trials.tiling_for(3, "source")
        trials.took(1e9)
        trials.took(1e9)  # none has begun
        machine.take(trials, 1)
        trials.took(1e9)
    assert seconds_of(trials.tiling) < 1.1
    assert trials.lost <= 0.02 * 60
    assert trials.to_keep.rates["source"] == pytest.approx(CELLS * STEPPING.steps / 0.06, rel=0.1)


def test_numbers_that_the_survey_sets_stay_as_they_are():
    wavefield = Medium((96, 96, 90), 12.5, 2000.0, 0.2, 0.1, dtype=np.float32).propagator
    tuned = tuning.tune(wavefield, TuningTable(time_depth=3, block=5), 6, 10**9, 2, print)
    trials = wavefield.trials
    assert tuned.source == "survey"
    used = set()
    trials.expect(10**6)
    for n in range(600):
        used.add(trials.tiling_for(6, "source"))
        trials.took(0.05 + 0.001 * (n % 7))
    assert len(used) > 3
    assert {(t.depth, t.block) for t in used} == {(3, 5)}
    assert trials.to_keep is None


def forced(monkeypatch):
    """Trials at every turn, and any number of them."""
    monkeypatch.setattr(tuning, "LEAST_UPDATES", 0)
    monkeypatch.setattr(module, "BUDGET", 1e9)
    monkeypatch.setattr(module, "TURN_SECONDS", (0.0, 0.0))
    monkeypatch.setattr(module, "VOID", 1e9)
    monkeypatch.setattr(tuning, "seeds", lambda *_: [Tiling(depth, 4, 9, 1) for depth in (2, 3, 4, 6)])


def test_trials_leave_every_bit_as_it_is(monkeypatch, tmp_path):
    forced(monkeypatch)
    medium = Medium((40, 36, 30), 12.5, 2000.0, 0.2, 0.1, dtype=np.float32)
    points = medium.points([[200.0, 210.0, 190.0], [215.0, 190.0, 160.0]])
    series = np.random.default_rng(1).standard_normal((240, 2)).astype(np.float32)
    results = []
    for search in ("never", "auto"):
        wave = medium.propagator
        wave.reset()
        tuning.tune(wave, TuningTable(search=search), 6, 240, 2, print, tmp_path)
        assert (wave.trials is None) == (search == "never")
        if wave.trials is not None:
            wave.trials.expect(40)
        source, receivers = wave.injectors(points), wave.samplers(points)
        recorded, used = np.zeros((240, 2), np.float32), set()
        for n in range(0, 240, 6):
            wave.advance(6, source, series[n : n + 6], receivers, recorded[n : n + 6])
            used.add(wave.tiling)
        results.append([a.tobytes() for level in wave.fields() for a in level] + [recorded.tobytes()])
    assert len(used) >= 4
    assert wave.trials.trials >= 4
    assert results[0] == results[1]


RANKS = """
import numpy as np
from mpi4py import MPI
from support import Medium
from fathometer.parallel.decomposition import Decomposition
from fathometer.config.sections import TuningTable
from fathometer.grid import trials, tuning
from fathometer.grid.tiling import Tiling
import test_trials as tests
comm = MPI.COMM_WORLD
machine = tests.Machine(comm.rank, 0.06, 0.05)  # each rank has noise of its own
found = machine.run(tests.trials_from(comm=comm), 0.5)
assert comm.allgather(machine.used) == [machine.used] * 2
assert found.trials and found.changes and tests.seconds_of(found.tiling) < 1.06, found.tiling
assert comm.allgather((found.lost, found.to_keep)) == [(found.lost, found.to_keep)] * 2

tuning.LEAST_UPDATES, trials.BUDGET, trials.TURN_SECONDS, trials.VOID = 0, 1e9, (0.0, 0.0), 1e9
tuning.seeds = lambda *_: [Tiling(depth, 4, 9, 1) for depth in (2, 3, 4, 6)]
ends = []
for search in ("never", "auto"):
    p = Medium((40, 30, 20), 10.0, 2000.0, block=Decomposition((56, 46, 36), (2, 1, 1), comm.rank), comm=comm,
               off_grid=False).propagator
    field = p.fields()[0][0]
    field[...] = np.random.default_rng(comm.rank).standard_normal(field.shape)
    tuning.tune(p, TuningTable(search=search), 6, 240, 1, print)
    used = []
    if p.trials is not None:
        p.trials.expect(40)
    for _ in range(40):
        p.advance(6)
        used.append(p.tiling)
    ends.append([a.tobytes() for level in p.fields() for a in level])
    assert comm.allgather(used) == [used] * 2
    p.close()
assert len({tiling.depth for tiling in used}) > 1  # which decides the order of exchanges
assert ends[0] == ends[1]
"""


def test_ranks_try_the_same_at_the_same_time(tmp_path):
    program = tmp_path / "ranks.py"
    program.write_text(RANKS)
    here = str(tuning.Path(__file__).parent)
    environ = clean_environment() | {"PYTHONPATH": f"{SUPPORT}:{here}", "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(
        [*mpirun(2), sys.executable, str(program)],
        env=environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_seeds_and_neighbours_fit():
    for stepping in (STEPPING, Stepping((900, 1, 400), 8, 1, 4, 24, 3, 2, 3), Stepping((5, 4, 3), 2, 2, 4, 1, 1, 1, 7)):
        start = [stepping.expected(HERE), *tuning.seeds(stepping, HERE)]
        for tiling in start:
            near = tuning.around(stepping, tiling)
            assert tiling not in near.values()
            assert all(stepping.fits(t) for t in (tiling, *near.values()))
    assert PLAIN in tuning.around(STEPPING, Tiling(2, 4, 16, 1)).values()
