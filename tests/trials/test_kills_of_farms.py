"""Farms whose processes are killed at random moments: every result is there exactly once in the end, and the same.

New seeds each time, printed. FATHOMETER_FARM_KILLS=20 of each kind is the long form.
"""

import os
import random
import signal
import time

import pytest
from cli_support import finish, program, start
from farm_support import chosen, copies, farm, processes, record, results

KILLS = int(os.environ.get("FATHOMETER_FARM_KILLS", "8"))
COUNT = 3000
TASKS = (
    {"name": "sleep", "kind": "built-in", "count": COUNT // 2, "seconds": 0.002, "bytes": 2000, "spread": "uniform"},
    {"name": "run", "kind": "grid", "command": ["sh", "-c", "sleep 0.00$2; echo $1$2; exit 0", "-", "{a}", "{b}"]}
    | {"values": {"a": list(range(COUNT // 20)), "b": list(range(10))}, "tries": 100},
)
OUTPUT = {"buffer": 20_000, "block": 4000, "flush": 0.3}
ENDS_THE_FARM = ("node master", "application master", "writer")


def undisturbed(folder):
    path = farm(folder, *TASKS, output=OUTPUT | {"directory": "whole"}, name="whole.toml")
    begin = time.monotonic()
    done = finish(start(*program(), "farm", path, "--quiet"))
    assert done.code == 0, done.err
    return results(folder / "whole"), time.monotonic() - begin


@pytest.mark.trials
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("kind", ["task", "worker", *ENDS_THE_FARM])
def test_kills(tmp_path, kind, ranks):
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    chance = random.Random(seed)
    whole, longest = undisturbed(tmp_path)
    path = farm(tmp_path, *TASKS, output=OUTPUT)
    how, met, runs, lost = "--overwrite", 0, 0, 0
    while True:
        words = ("farm", path, "--quiet", how, *(("--ranks", ranks) if ranks > 1 else ()))
        process = start(*program(), *words)
        runs += 1
        pause = chance.uniform(0.0, longest * (0.5 if kind in ENDS_THE_FARM else 2 / KILLS))
        end = time.monotonic() + pause
        while process.poll() is None and met < KILLS:
            if time.monotonic() > end and (victim := chosen(chance, kind, process.pid)) is not None:
                try:
                    os.kill(victim, signal.SIGKILL)
                except ProcessLookupError:  # a task that has just ended
                    continue
                met += 1
                if kind in ENDS_THE_FARM:
                    break
                end = time.monotonic() + chance.uniform(0.0, 2 * longest / KILLS)
            time.sleep(0.002)
        done = finish(process)
        assert "Traceback" not in done.err, done.err
        assert "defect" not in done.err, done.err
        if kind in ENDS_THE_FARM and done.code:
            assert done.code in (1, 75, 137, -signal.SIGKILL), done.err
            assert len([line for line in done.err.splitlines() if line.startswith("fathometer: error")]) <= 1, done.err
        else:
            assert done.code == 0, (done.code, done.err)
        how = "--resume"
        if done.code == 0:
            lost += record(tmp_path / "out")["computed_again"]
            found = results(tmp_path / "out")
            assert found == whole
            assert copies(tmp_path / "out") == COUNT
            if met >= KILLS:
                break
            how = "--overwrite"
    print(f"{kind}, {ranks} ranks: {met} kills in {runs} runs; {lost} tasks computed again in those that ended well")
    time.sleep(0.2)
    assert processes(os.getpid()).keys() <= {""}  # nothing is left of them
