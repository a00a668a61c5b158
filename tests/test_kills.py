"""Migrations that are killed at random moments: what is resumed in the end has, bit by bit, the undisturbed image.

Three kills in `make test`, thirty and more in `make stress`.
"""

import random
import signal
import time

import pytest
from cli_support import MIGRATE, finish
from kill_support import MANY, gone, kill, migration, ranks_of, record, record_many, same_image, survey_into

LONGEST_SECONDS = 2.0  # after which a run is killed; a run takes about two more than that
RANKS = 3


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return record(tmp_path_factory.mktemp("kills"))


def survive(recorded, folder, chance, kills, ranks, keys=MIGRATE):
    """Run, kill, resume until it is through; how many kills met a run. Anew when it is through before all kills."""
    met, survey = 0, 0
    while True:
        output = folder / f"out{survey}"
        path = survey_into(recorded, output, keys)
        while True:
            process = migration(path, *(("--ranks", ranks) if ranks > 1 else ()))
            if met < kills:
                end = time.monotonic() + 0.5 + chance.uniform(0.0, LONGEST_SECONDS)
                while time.monotonic() < end and process.poll() is None:
                    time.sleep(0.01)
                met += process.poll() is None
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
            return
        survey += 1


def test_three_kills(recorded, tmp_path):
    survive(recorded, tmp_path, random.Random(6), 3, 2)


@pytest.mark.stress
@pytest.mark.parametrize("ranks", range(1, RANKS + 1))
def test_many_kills(recorded, tmp_path, ranks):
    survive(recorded, tmp_path, random.Random(60 + ranks), 12, ranks)


@pytest.mark.stress
def test_many_kills_of_a_survey_of_200_shots(tmp_path_factory, tmp_path):
    survive(record_many(tmp_path_factory.mktemp("many")), tmp_path, random.Random(7), 30, 2, MANY)
