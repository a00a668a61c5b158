"""Migrations that are killed at random moments: what is resumed in the end has, bit by bit, the undisturbed image.

Three kills in `make test`, thirty and more in `make trials`.
"""

import random
import signal
import time

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
MOST = 12  # shots that a run has done when it is killed
RANKS = 3


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
                here = ranks_of(path) or [process.pid]
                for one in here if chance.random() < 0.5 else [chance.choice(here)]:  # all of them, or one
                    kill(one, signal.SIGKILL)
            done = finish(process)
            assert gone(path)
            if done.code == 0:
                break
            assert met <= kills, done.err
            assert done.code in (137, -signal.SIGKILL, 1), done.err
            assert "Traceback" not in done.err
        assert same_image(recorded, output)
        if met == kills:
            break
    assert met == kills
    assert resumable >= kills // 3


def wait_for_a_moment(output, shots, process, chance):
    """Somewhere in the start of a run, in its shots, or in what follows them; or until it has ended."""
    before = shots_told(output)
    more = chance.randint(0, min(MOST, shots - before))
    wait_until(lambda: shots_told(output) >= before + more, process)
    end = time.monotonic() + chance.uniform(0.0, SHOT_SECONDS if more else START_SECONDS)
    wait_until(lambda: time.monotonic() > end, process)


def test_three_kills(recorded, tmp_path):
    survive(recorded, tmp_path, SHOTS, random.Random(6), 3, 2)


@pytest.mark.trials
@pytest.mark.parametrize("ranks", range(1, RANKS + 1))
def test_many_kills(recorded, tmp_path, ranks):
    survive(recorded, tmp_path, SHOTS, random.Random(60 + ranks), 12, ranks)


@pytest.mark.trials
def test_many_kills_of_a_survey_of_200_shots(tmp_path_factory, tmp_path):
    survive(record_many(tmp_path_factory.mktemp("many")), tmp_path, 200, random.Random(7), 30, 2, MANY)
