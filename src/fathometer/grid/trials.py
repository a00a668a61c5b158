"""Which tiling is fastest, found in the real time steps of a run, whose results do not depend on it.

    turns:    incumbent, candidate, incumbent, candidate, …; a turn is some advances in a row
    ratio:    the candidate's seconds over the mean of the incumbent's turns before and after, so that a machine that is
              busy for a while slows down both
    verdict:  out at once above DROP, or when the median is no gain; the new incumbent below BETTER, after some turns
    rest:     when all around the incumbent were tried; then one of them challenges it now and then, and all of them
              where the rate falls SHORT of what it was, in this run or in the one that it is known from

What trials lose, the candidates' seconds beyond the incumbent's, is bounded by a share of all time steps' seconds.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median

from mpi4py import MPI

from fathometer.grid.tiling import Stepping, Tiling, Tuned
from fathometer.grid.tuning_cache import Kept
from fathometer.parallel.collectives import allreduce

BUDGET = 0.02  # of the seconds of all time steps: the most that trials may lose
DROP, BETTER = 1.10, 0.97  # ratios
VOID = 1.15  # ratio of the incumbent's turns before and after, beyond which the machine was not the same
MOST_VOID = 3  # such turns of a candidate
FEWEST_TURNS, SURE_TURNS, MOST_TURNS = 3, 5, 7  # of a candidate, for a verdict in its favour; it goes after the most
TURN_SHARE, TURN_SECONDS = 1e-3, (0.02, 1.0)  # a turn's share of the run, and bounds of its seconds
PRIOR, LAST_LOSSES = 0.4, 5  # what a first turn may lose, in shares of it: at least this, or as the last ones did
SHORT, SHORT_LOOKS = 1 / 0.85, 2  # ratio of seconds to those known, and in how many looks, for trials to begin again
FIRST_LOOK, FEWEST_LOOK, LOOK_SECONDS = 3, 5, 2.0  # advances of the first look, of later ones, seconds of these
REST_SECONDS, LONGEST_REST = 10.0, 600.0  # before a challenge; twice as long after each that was in vain
LEAST_SHARE = 0.5  # of all cells: an advance that computes fewer is neither tried nor timed
AWAY = 8  # advances of other work, after which a comparison begins anew in that work


@dataclass
class _Work:
    """Advances that do the same beside the equation, and so can be compared.

    Attributes:
        kind: its name. known: what seconds a step should be. typical: what they were lately, of the incumbent on the
            slowest rank. quiet: this rank's since the last look. look: advances between looks. short: looks in
            succession that fell short. turns: of the incumbent, the last ones.
    """

    kind: str
    known: float | None
    typical: float | None = None
    quiet: list[float] = field(default_factory=list)
    look: int = FIRST_LOOK
    short: int = 0
    turns: deque[float] = field(default_factory=lambda: deque(maxlen=9))


class Trials:
    """Chooses the tiling of every advance. Collective: what it decides is the same on all ranks of `comm`, since it
    goes by counts, and by seconds of the slowest rank.

    Args:
        stepping: of advances with all their steps; shorter ones are neither tried nor timed.
        cells: of all ranks that share the grid.
        around: the tilings next to one, by the names of the directions in which they lie.
        seeds: tilings from elsewhere, the most promising first.
        kept: what is known of `start` from earlier runs. keep: whether what is found is to be kept.

    Attributes:
        tiling: the incumbent. trials: turns of candidates. lost: seconds by them. changes: of the incumbent. settled:
            whether it has been compared with all around it.
    """

    def __init__(
        self,
        stepping: Stepping,
        comm: MPI.Intracomm,
        cells: float,
        start: Tuned,
        around: Callable[[Tiling], Mapping[str, Tiling]],
        seeds: Sequence[Tiling] = (),
        kept: Kept | None = None,
        keep: bool = True,
    ) -> None:
        self.stepping, self.comm, self.tiling = stepping, comm, start.tiling
        self.trials, self.lost, self.changes = 0, 0.0, 0
        self.settled = kept is not None and kept.settled
        self._cells, self._start = cells, start
        self._around, self._seeds = around, seeds
        self._kept, self._keep = kept, keep
        self._rates = {} if kept is None else kept.rates
        self._works: dict[str, _Work] = {}
        self._done = self._advances = 0  # advances until now, and in all that are surely to come
        self._spent, self._least = 0.0, math.inf  # seconds until now, and the least seconds a step, on the slowest rank
        self._timed: _Work | None = None
        self._first_losses: deque[float] = deque([PRIOR], maxlen=LAST_LOSSES)
        # Of the trials that are under way, or wait for a larger budget:
        self._queue: list[tuple[str, Tiling]] = []
        self._judged: set[Tiling] = set()
        self._candidate: tuple[str, Tiling] | None = None
        self._ratios: list[float] = []
        self._voids = 0
        # Of the comparison that is under way, in advances of one work:
        self._kind = ""
        self._away = 0
        self._challenging = False
        self._turn: list[float] = []
        self._before: float | None = None
        self._middle: float | None = None
        self._middle_seconds, self._middle_advances, self._middle_share = 0.0, 0, 1.0
        self._share = 1.0  # of the cells that the advance computes; its seconds count as if it computed all
        # Of the rest between challenges:
        self._rest, self._next = REST_SECONDS, math.inf
        self._challenges: Counter[Tiling] = Counter()

    @property
    def to_keep(self) -> Kept | None:
        """What was learned, for later runs; None where it is nothing new."""
        measured = {work.kind: self._cells / work.typical for work in self._works.values() if work.typical}
        rates = (self._rates if not self.changes else {}) | measured
        news = self.trials or (self._kept is not None and set(rates) > set(self._rates))
        if not self._keep or not measured or not news:
            return None
        trials = self.trials + (self._kept.trials if self._kept is not None else 0)
        return Kept(self.tiling, trials, self.settled, self.outcome.gain, rates)

    @property
    def outcome(self) -> Tuned:
        """The incumbent, and what it took to find it."""
        found = Tuned(self.tiling, "trials") if self.changes else self._start
        return replace(
            found,
            trials=self._start.trials + self.trials,
            lost=self._start.lost + self.lost,
            changes=self._start.changes + self.changes,
        )

    def expect(self, advances: int) -> None:
        """So many more advances are surely to come."""
        self._advances = max(self._advances, self._done) + advances

    def tiling_for(self, steps: int, kind: str, share: float = 1.0) -> Tiling:
        """The tiling of the advance that begins now. kind: what it does beside the equation, share: of the cells of all
        ranks that it computes; both the same on all ranks."""
        self._timed, self._share = None, share
        if steps != self.stepping.steps:
            return self.tiling
        if share < LEAST_SHARE:
            self._done += 1
            return self.tiling
        if self._candidate is not None and kind != self._kind:
            self._away += 1
            if self._away <= AWAY:
                return self.tiling
            self._compare_in(kind)
        if kind not in self._works:
            rate = self._rates.get(kind)
            self._works[kind] = _Work(kind, self._cells / rate if rate and not self.changes else None)
        self._timed = self._works[kind]
        if self._candidate is not None and self._challenging:
            return self._candidate[1]
        return self.tiling

    def took(self, seconds: float) -> None:
        """Collective. The advance has ended well."""
        work, self._timed = self._timed, None
        if work is None:
            return
        seconds /= self._share
        self._done += 1
        if self._candidate is None:
            work.quiet.append(seconds / self.stepping.steps)
            if len(work.quiet) >= work.look:
                self._look(work)
            return
        self._away = 0
        self._turn.append(seconds)
        if len(self._turn) >= self._turn_advances(work):
            turn, self._turn = self._turn, []
            if self._challenging:
                self._candidate_turn(turn)
            else:
                self._incumbent_turn(work, turn)

    def _agreed(self, value: float) -> float:
        """The largest of all ranks."""
        if self.comm.size == 1:
            return value
        largest: float = allreduce(self.comm, value, "MAX")
        return largest

    def _spend(self, seconds: float, advances: int) -> None:
        """So many advances of the incumbent took these seconds a step."""
        self._spent += seconds * self.stepping.steps * advances
        self._least = min(self._least, seconds)

    def _typical(self, work: _Work) -> float:
        """Seconds of an advance; of other work where this one was not timed yet."""
        known = work.typical or next(w.typical for w in self._works.values() if w.typical)
        return known * self.stepping.steps

    def _turn_advances(self, work: _Work) -> int:
        shortest, longest = TURN_SECONDS
        advance = self._typical(work)
        seconds = min(max(TURN_SHARE * advance * self._advances, shortest), longest)
        return max(1, round(seconds / advance))

    def _affordable(self, work: _Work) -> bool:
        """Whether the budget allows for what the candidate's next turn is expected to lose."""
        share = median(self._ratios) - 1 if self._ratios else max(PRIOR, *self._first_losses)
        advance = self._typical(work)
        expected = max(0.0, share) * advance * self._turn_advances(work)
        to_come = max(0, self._advances - self._done) * self.stepping.steps * self._least
        return self.lost + expected <= BUDGET * (self._spent + to_come)

    def _look(self, work: _Work) -> None:
        """Between trials: compare the rate with what it should be."""
        work.typical = seconds = self._agreed(median(work.quiet))
        self._spend(seconds, len(work.quiet))
        work.quiet.clear()
        work.look = max(FEWEST_LOOK, math.ceil(LOOK_SECONDS / self._typical(work)))
        work.known = seconds if work.known is None else work.known
        work.short = work.short + 1 if seconds > SHORT * work.known else 0
        if seconds < work.known:
            work.known = (work.known + seconds) / 2
        if work.short >= SHORT_LOOKS:
            for other in self._works.values():
                other.known, other.short = None, 0
            self._try_all()
        elif not self.settled:
            self._next_candidate()
            if self._candidate is None:
                self._try_all()
        elif self._next == math.inf:
            self._rest_from_now(work)
        elif self._done >= self._next:
            self._try_one()
        self._compare_in(work.kind)
        if self._candidate is not None and not self._affordable(work):
            self._pause(work)

    def _try_all(self) -> None:
        """Begin trials of all seeds, and of all around the incumbent."""
        self._judged = {self.tiling}
        self._queue = self._others()
        self._next_candidate()
        self.settled = self._candidate is None

    def _others(self) -> list[tuple[str, Tiling]]:
        return [("", seed) for seed in self._seeds] + list(self._around(self.tiling).items())

    def _try_one(self) -> None:
        """A challenge, by the tiling that has had the fewest; those around the incumbent come first."""
        self._judged = {self.tiling}
        others = reversed([(name, tiling) for name, tiling in self._others() if tiling != self.tiling])
        self._queue = sorted(others, key=lambda pair: self._challenges[pair[1]])[:1]
        self._challenges.update(tiling for _, tiling in self._queue)
        self._next_candidate()

    def _next_candidate(self) -> None:
        self._ratios, self._voids, self._candidate = [], 0, None
        while self._queue and self._candidate is None:
            name, tiling = self._queue.pop(0)
            if tiling not in self._judged and tiling != self.tiling:
                self._candidate = name, tiling

    def _compare_in(self, kind: str) -> None:
        """Begin a comparison anew, in advances of this work."""
        if self._middle is not None and self._before is not None:
            self._account(self._before)
        self._kind, self._away, self._challenging = kind, 0, False
        self._turn, self._before, self._middle = [], None, None

    def _account(self, incumbent: float) -> None:
        """What the candidate's turn has lost; incumbent: its seconds a step about that time."""
        would_take = incumbent * self.stepping.steps * self._middle_advances
        lost = max(0.0, self._middle_seconds - would_take)
        if not self._ratios and not self._voids:
            self._first_losses.append(lost / would_take)
        self.lost += lost * self._middle_share

    def _candidate_turn(self, turn: list[float]) -> None:
        self._middle = self._agreed(median(turn)) / self.stepping.steps
        self._spent += self._middle * self.stepping.steps * len(turn)
        self._middle_seconds, self._middle_advances = self._agreed(math.fsum(turn)), len(turn)
        self._middle_share = self._share
        self.trials += 1
        self._challenging = False

    def _incumbent_turn(self, work: _Work, turn: list[float]) -> None:
        before, after = self._before, self._agreed(median(turn)) / self.stepping.steps
        self._spend(after, len(turn))
        work.turns.append(after)
        work.typical, self._before = median(work.turns), after
        if self._middle is not None and before is not None:
            middle, self._middle = self._middle, None
            self._account(fmean((before, after)))
            if max(before, after) <= VOID * min(before, after):
                self._ratios.append(middle / fmean((before, after)))
                self._judge(work)
            else:
                self._voids += 1
                if self._voids >= MOST_VOID:
                    self._dismiss(work)
        if self._candidate is not None:
            if self._affordable(work):
                self._challenging = self._before is not None
            else:
                self._pause(work)

    def _judge(self, work: _Work) -> None:
        ratios, typical = self._ratios, median(self._ratios)
        turns = len(ratios)
        if (turns == 1 and typical > DROP) or (turns > 1 and typical >= 1) or turns >= MOST_TURNS:
            self._dismiss(work)
        elif typical < BETTER and (turns >= SURE_TURNS or (turns >= FEWEST_TURNS and max(ratios) < 1)):
            self._promote(typical)

    def _dismiss(self, work: _Work) -> None:
        assert self._candidate is not None
        self._judged.add(self._candidate[1])
        self._next_candidate()
        if self._candidate is None:
            self._settle(work)

    def _promote(self, ratio: float) -> None:
        assert self._candidate is not None
        name, self.tiling = self._candidate
        self._judged.add(self.tiling)
        self.changes += 1
        self._rest, self._next = REST_SECONDS, math.inf
        self._challenges.clear()
        for work in self._works.values():
            work.turns.clear()
            work.quiet.clear()
            work.known, work.short = None, 0
            if work.typical is not None:
                work.typical *= ratio
        near = sorted(self._around(self.tiling).items(), key=lambda pair: pair[0] != name)  # the same way on first
        self._queue = near + [(n, seed) for n, seed in self._queue if seed in self._seeds]
        self._next_candidate()
        self.settled = self._candidate is None
        self._compare_in(self._kind)

    def _settle(self, work: _Work) -> None:
        """All were tried: rest."""
        challenge = self.settled
        self.settled = True
        if challenge:
            self._rest = min(2 * self._rest, LONGEST_REST)
        self._rest_from_now(work)
        for other in self._works.values():
            other.quiet.clear()
            if other.typical is not None and other.turns:
                other.known = other.typical

    def _rest_from_now(self, work: _Work) -> None:
        self._next = self._done + math.ceil(self._rest / self._typical(work))

    def _pause(self, work: _Work) -> None:
        """The budget is used up: the candidate waits at the head of the queue."""
        if self._candidate is not None:
            self._queue.insert(0, self._candidate)
        self._candidate = None
        self._rest_from_now(work)
