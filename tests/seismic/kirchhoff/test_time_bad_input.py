"""Bad input of a time migration: one line that names the thing, its place and what is allowed; exit code 2; nothing
left behind."""

import shutil
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from cli_support import MODEL, here, inputs, nothing_left, survey, under_mpirun
from paths import SUPPORT
from segy_support import Bytes
from time_survey_support import LINE, record_reflector, run

from fathometer.base.errors import InputError


@dataclass(frozen=True)
class Case:
    """What is wrong, and what the line must say, in this order ("…" stands for any words)."""

    name: str
    says: str
    keys: dict[str, Any] = field(default_factory=dict)
    depth: float = 0.0


CASES = [
    Case("no gathers", "[acquisition] gathers: missing", {"acquisition.gathers": None} | MODEL),
    Case(
        "no trace in reach",
        "[time_migration] aperture: found 100 m; the midpoint nearest to … is 500 m from it … allowed: more",
        {"time_migration.x": [2000.0, 2100.0, 25.0], "time_migration.aperture": 100.0},
    ),
    Case(
        "above the datum",
        "[time_migration] datum: found 50 m, below … at a depth of 30 m … allowed: up to 30 m",
        {"time_migration.datum": 50.0, "time_migration.replacement_velocity": 1500.0},
        30.0,
    ),
    Case(
        "a datum far above",
        "[time_migration] datum: found -9000 m, from 9000 m above sources and receivers on; shifted to it at 1500 m/s, "
        "the traces begin at 12 s, after the end of the image, 0.8 s; allowed: a nearer datum",
        {"time_migration.datum": -9000.0, "time_migration.replacement_velocity": 1500.0},
    ),
    Case(
        "a mute of everything",
        "[acquisition] mute.velocity: found 300; at the least offset, 500 m, the mute ends at 1.66667 s, after the "
        "last sample, 1.196 s, so that nothing is left of any trace; allowed: above 418.06 m/s",
        {"acquisition.conditioning": {"offsets": [500.0, 600.0]}, "acquisition.mute": {"velocity": 300.0}},
    ),
    Case("no places", "[time_migration] x: missing; needed where no [model]", {"time_migration.x": None}),
    Case(
        "one place", "[time_migration] x: found one place; allowed: two or more", {"time_migration.x": [0.0, 0.0, 25.0]}
    ),
    Case(
        "one line",
        "[time_migration] y: found one place; allowed: two or more, or",
        {"time_migration.y": [0.0, 0.0, 25.0]},
    ),
    Case("y alone", "x: missing; needed with y", {"time_migration.x": None, "time_migration.y": [0.0, 50.0, 25.0]}),
    Case("no time", "end: found 0.4; allowed: after start, 0.4 s", {"time_migration.end": 0.4}),
    Case(
        "after the traces",
        "[time_migration] start: found 2 s; allowed: before the end of the traces, 1.196 s",
        {"time_migration.start": 2.0, "time_migration.end": None},
    ),
    Case(
        "an end in ms",
        "[time_migration] end: found 800 s; the traces end at 1.196 s; allowed: up to 11.96 s, 10 times that; is the "
        "end in s?",
        {"time_migration.end": 800.0},
    ),
    Case(
        "an interval in no unit",
        "[time_migration] interval: 1e-06 s make 400001 samples from 0.4 to 0.8 s; allowed: at most 100000",
        {"time_migration.interval": 1e-6},
    ),
    Case("no velocity", "[time_migration] velocity: missing … [model]", {"time_migration.velocity": None}),
    Case("velocity in km/s", "velocity: … 2 … allowed: … 100", {"time_migration.velocity": 2.0}),
    Case("a dip too steep", "dip: found 95 … allowed: … 90", {"time_migration.dip": 95.0}),
    Case("an unknown key", "[time_migration] apertur", {"time_migration.apertur": 5.0}),
    Case(
        "bins without a trace",
        "[imaging] offset_bins: found no trace in any of them; allowed: … 0 to 600 m",
        {"imaging.gathers": "offset", "imaging.offset_bins": [5000.0, 6000.0]},
    ),
]


def told(err, says):
    """Whether one line says these words in this order."""
    rest = err
    for part in says.split("…"):
        at = rest.find(part.strip())
        if at < 0:
            return False
        rest = rest[at + len(part.strip()) :]
    return len(err.strip().splitlines()) == 1 and "defect" not in err


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Folders with the traces of a reflector, by the depth of sources and receivers."""
    folders = {depth: tmp_path_factory.mktemp("line") for depth in (0.0, 30.0)}
    for depth, folder in folders.items():
        record_reflector(folder, depth, 1500.0)
    return folders


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_line_and_nothing_left(recorded, tmp_path, case):
    shutil.copy(recorded[case.depth] / "recorded.segy", tmp_path)
    inputs(tmp_path) if "model.vp" in case.keys else None
    path = survey(tmp_path, LINE | case.keys)
    before = sorted(tmp_path.iterdir())
    done = here("migrate-time", path, "--quiet")
    assert (done.code, done.out) == (2, ""), done.err
    assert told(done.err, case.says), done.err
    assert nothing_left(tmp_path, before)


def test_delays_that_no_survey_has(tmp_path):
    trace = [{9: 1, 13: n + 1, 81: 25 * n, 73: 0, 109: 30000 * (n == 3)} for n in range(4)]
    Bytes(np.ones((4, 50), np.float32), trace=trace, every={71: 1}).write(tmp_path / "a.segy")
    done = here("migrate-time", survey(tmp_path, LINE | {"acquisition.gathers": "a.segy"}), "--quiet")
    assert done.code == 2
    assert told(done.err, "gathers: found traces that begin from 0 to 30 s … allowed: a spread"), done.err


def test_more_ranks_than_places(recorded, tmp_path):
    traces = str(recorded[0.0] / "recorded.segy")
    keys = {"acquisition.gathers": traces, "time_migration.work": "tiles", "time_migration.x": [0.0, 25.0, 25.0]}
    survey(tmp_path, LINE | keys | {"output.directory": "tiles-3-1"}, "tiles-3-1.toml")
    done = under_mpirun(3, SUPPORT / "time_program.py", tmp_path, 1, "tiles")
    assert done.returncode == 2
    assert "[time_migration] work: found 3 ranks for an image of 2 x 1 places" in done.stderr
    assert not (tmp_path / "tiles-3-1" / "time" / "image.rsf").exists()


@pytest.mark.parametrize("missing", ["model", "wavelet"])
@pytest.mark.parametrize("command", ["migrate", "model"])
def test_other_commands_need_model_and_wavelet(tmp_path, command, missing):
    inputs(tmp_path)
    keys = {key: value for key, value in MODEL.items() if not key.startswith(missing)}
    if command == "migrate":
        keys = {key: value for key, value in keys.items() if not key.startswith(("acquisition", "propagation"))}
        keys["acquisition.gathers"] = "recorded.segy"
    path = survey(tmp_path, keys)
    before = sorted(tmp_path.iterdir())
    done = here(command, path, "--quiet")
    assert (done.code, done.out) == (2, ""), done.err
    assert told(done.err, f"[{missing}]: missing"), done.err
    assert nothing_left(tmp_path, before)


def test_one_sample_cannot_be_stretched_to_depth(tmp_path):
    record_reflector(tmp_path)
    keys = {"time_migration.interval": 1.0, "time_migration.depth": True}
    with pytest.raises(InputError, match=r"interval: found 1 s, of which the image has one sample"):
        run(survey(tmp_path, LINE | keys))
