"""Migrations that are killed at random moments: what is resumed in the end has, bit by bit, the undisturbed image.

Killed are one rank, several, all, mpirun, or the process that started it; while they start, in their shots, and while
the images are summed. Three kills in `make test`, some dozens in `make trials`, FATHOMETER_KILLS=200 in its long form.
"""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from cli_support import MIGRATE, finish
from kill_support import (
    MANY,
    SHOTS,
    gone,
    kill,
    migration,
    ranks_of,
    record,
    record_many,
    same_image,
    shots_told,
    survey_into,
    wait_until,
)

START_SECONDS, SHOT_SECONDS = 2.0, 0.2  # that a start, and a shot, take and more; where they are killed is drawn
SUM_SECONDS = 0.7  # from the last shot to the end
MOST = 12  # shots that a run has done when it is killed
KILLS = int(os.environ.get("FATHOMETER_KILLS", "24"))

CASES = {
    "one rank": (1, {}),
    "one rank, checkpoint": (1, {"history.store": "checkpoint"}),
    "two ranks a shot": (2, {"parallel.ranks_per_shot": "all"}),
    "two groups, disk": (2, {"parallel.ranks_per_shot": 1, "history.store": "disk"}),
    "three ranks a shot, states on disk": (
        3,
        {"parallel.ranks_per_shot": "all", "history.store": "checkpoint", "history.states": "disk"},
    ),
    "three groups": (3, {"parallel.ranks_per_shot": 1}),
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return record(tmp_path_factory.mktemp("kills"))


def survive(recorded, folder, shots, chance, kills, ranks, keys=MIGRATE):
    """Run, kill, resume until all is through. Anew, at most as often as there are kills, until that many have met a
    run; some of them one that had done shots, or went on with what others had."""
    met = resumable = 0
    for survey in range(1 + kills):
        output = folder / f"out{survey}"
        path = survey_into(recorded, output, keys)
        while True:
            process = migration(path, *(("--ranks", ranks) if ranks > 1 else ()))
            if met < kills:
                wait_for_a_moment(output, shots, process, chance)
                met += process.poll() is None
                resumable += process.poll() is None and shots_told(output) > 0
                for one in victims(path, process, chance):
                    kill(one, signal.SIGKILL)
            done = finish(process)
            assert gone(path)
            if done.code == 0:
                break
            assert met <= kills, done.err
            assert done.code in (137, -signal.SIGKILL, 1), done.err
            assert "Traceback" not in done.err
            assert "defect" not in done.err
        assert same_image(recorded, output)
        if met == kills:
            break
    assert met == kills
    assert resumable >= kills // 3


def wait_for_a_moment(output, shots, process, chance):
    """Somewhere in the start of a run, in its shots, or in what follows them; or until it has ended."""
    before = shots_told(output)
    last = chance.random() < 0.2  # a run that has no shots left: it sums
    more = shots - before if last else chance.randint(0, min(MOST, shots - before))
    wait_until(lambda: shots_told(output) >= before + more, process)
    longest = SUM_SECONDS if last and more else SHOT_SECONDS if more else START_SECONDS
    end = time.monotonic() + chance.uniform(0.0, longest)
    wait_until(lambda: time.monotonic() > end, process)


def victims(path, process, chance):
    """Whom to kill of a run: ranks, mpirun, or the process that has started it."""
    ranks = ranks_of(path)
    kinds = [[process.pid], children(process.pid)]
    if ranks:
        kinds += [[chance.choice(ranks)], chance.sample(ranks, chance.randint(1, len(ranks))), ranks]
    return chance.choice([kind for kind in kinds if kind])


def children(pid):
    """The processes that one has started."""
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def test_three_kills(recorded, tmp_path):
    survive(recorded, tmp_path, SHOTS, random.Random(6), 3, 2)


@pytest.mark.trials
@pytest.mark.parametrize("case", CASES)
def test_many_kills(recorded, tmp_path, case):
    ranks, keys = CASES[case]
    chance = random.Random(f"{KILLS} {case}")
    survive(recorded, tmp_path, SHOTS, chance, max(1, KILLS // len(CASES)), ranks, MIGRATE | keys)


@pytest.mark.trials
def test_many_kills_of_a_survey_of_200_shots(tmp_path_factory, tmp_path):
    survive(record_many(tmp_path_factory.mktemp("many")), tmp_path, 200, random.Random(7), max(1, KILLS // 6), 2, MANY)
