"""Runs in time steps, and elastic modellings, that are killed or told to end at random moments: what is resumed in the
end has, bit by bit, the undisturbed results, and nothing unfinished is left.

New seeds each time, printed. FATHOMETER_KILLS=60 is the long form.
"""

import os
import random
import signal
import time

import pytest
from atmosphere_support import wave_values
from cli_support import finish, partial, program, start
from elastic_surveys import IN_2D, elastic_survey
from flow_inputs import CHANNEL, box_values
from input_values import text_of
from kill_support import gone, kill
from ocean_inputs import ocean_values
from plasma_inputs import box_values as plasma_values
from reactive_flows import values
from test_kills import victims

KILLS = int(os.environ.get("FATHOMETER_KILLS", "24")) // 3
ENDS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)  # drawn from
OCEAN = ocean_values(
    grid__cells=[24, 16],
    initial={"noise": {"amplitude": 0.1}},
    forcing={"wind": {"kind": "double-gyre", "amplitude": 0.2}},
    rotation={"f": 1e-4, "beta": 2e-11},
    barotropic={"tile": 4, "sums": "exact"},
    time__steps=600,
    output={"every_steps": 40, "restart_steps": 25},
)
FLOW = values(time__end=60000.0, output={"every": 4000.0, "restart_steps": 7, "fields": ["pH", "minerals"]})
CHANNELS = box_values(
    **CHANNEL
    | {"grid__cells": [24, 20, 16], "time__end": 3.0}
    | {"output": {"every": 0.2, "restart_steps": 7, "tecplot": {"series": "file"}}}
)
AIR = wave_values(
    physics={"forcing": "radiation", "layout": "blocks", "balance": "all"},
    time={"end": 5.0},
    output={"every": 0.5, "restart_steps": 11},
)
PLASMA = plasma_values(time={"end": 8.0})
CASES = {
    "atmosphere": (lambda folder: toml(folder, AIR), 2, ("fields/*", "restart/*/*")),
    "plasma": (lambda folder: toml(folder, PLASMA), 2, ("fields/*", "restart/*/*")),
    "flow": (lambda folder: toml(folder, CHANNELS), 2, ("fields/*", "restart/*/*")),
    "ocean": (lambda folder: toml(folder, OCEAN), 2, ("fields/*", "restart/00000600/*")),
    "reactive": (lambda folder: toml(folder, FLOW), 1, ("fields/*", "flow.xdmf", "restart/*/*")),
    "model": (lambda folder: elastic_survey(folder, **IN_2D, propagation__dt=6e-5), 2, ("*.segy", "*.rsf*")),
}


def toml(folder, of):
    path = folder / "input.toml"
    path.write_text(text_of(of))
    return path


def results(output, patterns):
    """The bytes of the results; of states those of the last one alone."""
    found = {path.relative_to(output): path for pattern in patterns for path in output.glob(pattern) if path.is_file()}
    last = max((name.parts[1] for name in found if name.parts[0] == "restart" and name.parts[1].isdigit()), default="")
    return {name: path.read_bytes() for name, path in found.items() if name.parts[0] != "restart" or last in name.parts}


@pytest.mark.trials
@pytest.mark.parametrize("command", CASES)
def test_many_kills(tmp_path, command):
    if command == "reactive":
        pytest.importorskip("petsc4py", reason="PETSc is not installed")
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    chance, (make, most_ranks, patterns) = random.Random(seed), CASES[command]
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    whole, path = make(tmp_path / "whole"), make(tmp_path / "killed")
    words = (*program(), command, "--quiet", "--threads", 1)
    begin = time.monotonic()
    assert finish(start(*words, whole)).code == 0
    longest = time.monotonic() - begin
    met, how = 0, "--resume"
    while met < KILLS:
        ranks, number = chance.randint(1, most_ranks), chance.choice(ENDS)
        process = start(*words, path, how, *(("--ranks", ranks) if ranks > 1 else ()))
        end = time.monotonic() + chance.uniform(0.0, longest)
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        met += process.poll() is None
        for one in victims(path, process, chance) if number == signal.SIGKILL else [process.pid]:
            kill(one, number)
        done = finish(process)
        assert gone(path)
        # By the signal itself where it came before the program takes it, or after the command, while Python ends.
        assert done.code in (0, 1, 75, 130, 137, -number), done.err
        assert not any(word in done.err for word in ("Traceback", "defect", "damaged", "missing")), done.err
        how = "--resume"
        if done.code == 0:
            assert right(path, whole, patterns)
            how = "--overwrite"
    assert finish(start(*words, path, "--resume")).code == 0
    assert right(path, whole, patterns)


def right(path, whole, patterns):
    """Whether a run has the results of another, and left nothing else."""
    found, wanted = (results(one.parent / "out", patterns) for one in (path, whole))
    assert found.keys() == wanted.keys()
    assert [name for name in wanted if found[name] != wanted[name]] == []
    assert partial(path.parent) == []
    return True
