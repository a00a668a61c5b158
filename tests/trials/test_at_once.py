"""Runs on one process each that begin at the same time: all end well, none says a word of MPI or is in another's way.

In `make trials`: every application with every format of its results, alone, two and ten at once.
"""

import random
import shutil
from importlib.util import find_spec

import pytest
from atmosphere_support import wave_values
from cli_support import MIGRATE, MODEL, finish, inputs, program, start, survey
from elastic_surveys import IN_2D, elastic_survey
from flow_inputs import box_values
from input_values import text_of
from plasma_inputs import box_values as plasma_values

from fathometer.apps.ocean.cases import gyre_text
from fathometer.apps.reactive.demo import flow_text
from fathometer.storage.volumes.registry import BY_SUFFIX, FORMATS

SUFFIXES = [form.suffixes[0] for form in FORMATS if form.writes]
STEPPED = [suffix for suffix in SUFFIXES if BY_SUFFIX[suffix].axes > 3]
TIME = {
    "acquisition.gathers": "recorded.segy",
    "time_migration.velocity": 2000.0,
    "time_migration.x": [100.0, 300.0, 50.0],
    "time_migration.aperture": 200.0,
}


def migrate(folder, suffix):
    return "migrate", survey(folder, MIGRATE | {"output.image": f"image{suffix}"})


def migrate_time(folder, suffix):
    return "migrate-time", survey(folder, TIME | {"output.image": f"image{suffix}"})


def model(folder, suffix):
    return "model", survey(folder, MODEL)


def elastic(folder, suffix):
    return "model", elastic_survey(folder, **IN_2D, snapshots__format=suffix[1:])


def prepare(folder, suffix):
    return "prepare", folder / "vp.npy", "--input-spacing", "10,10", "-o", folder / f"made{suffix}"


def ocean(folder, suffix):
    (folder / "ocean.toml").write_text(gyre_text((24, 16, 4), 400, "out"))
    return "ocean", folder / "ocean.toml"


def reactive(folder, suffix):
    (folder / "flow.toml").write_text(flow_text(6, 2, "out"))
    return "reactive", folder / "flow.toml"


def atmosphere(folder, suffix):
    (folder / "air.toml").write_text(text_of(wave_values()))
    return "atmosphere", folder / "air.toml"


def flow(folder, suffix):
    (folder / "box.toml").write_text(text_of(box_values()))
    return "flow", folder / "box.toml"


def plasma(folder, suffix):
    (folder / "plasma.toml").write_text(text_of(plasma_values()))
    return "plasma", folder / "plasma.toml"


CASES = [
    *((application, suffix) for application in (migrate, migrate_time, prepare) for suffix in SUFFIXES),
    *((elastic, suffix) for suffix in STEPPED),
    *((model, ".segy"), (ocean, ".nc"), (reactive, ".h5")),
    *((application, ".nc") for application in (atmosphere, flow, plasma)),
]


def possible(case):
    """Whether this machine has what writes the results."""
    application, suffix = case
    form = BY_SUFFIX[suffix]
    return not form.missing(form.writes[0], 1) and (application is not reactive or find_spec("petsc4py") is not None)


def begun(folder, case, temporary):
    """The run of a case in a folder of its own, where it has all that it needs."""
    application, suffix = case
    folder.mkdir()
    inputs(folder)
    words = application(folder, suffix)
    threads = () if application is prepare else ("--threads", 1)
    return start(*program(), *words, "--quiet", *threads, environment={"TMPDIR": str(temporary)})


def wrong(folder, cases):
    """What is wrong with runs that begin together, a line each; they share a folder for temporary files."""
    temporary = folder / "tmp"
    temporary.mkdir(parents=True)
    cases = list(cases)
    running = [begun(folder / str(number), case, temporary) for number, case in enumerate(cases)]
    ended = [finish(process) for process in running]
    told = [
        f"{application.__name__} {suffix}: exit code {done.code}: {done.out}{done.err}"
        for (application, suffix), done in zip(cases, ended, strict=True)
        if (done.code, done.out, done.err) != (0, "", "")
    ]
    return told + [f"left: {path.name}" for path in temporary.iterdir()]


@pytest.mark.trials
def test_a_run_that_ends_takes_nothing_from_another(tmp_path):
    cases = [(ocean, ".nc"), (model, ".segy"), (prepare, ".nc")]
    assert wrong(tmp_path / "runs", filter(possible, cases)) == []


@pytest.mark.trials
@pytest.mark.parametrize("together", [1, 2, 10])
def test_every_application_with_every_format_beside_others(together, tmp_path):
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    cases = [case for case in CASES if possible(case)]
    random.Random(seed).shuffle(cases)
    cases += cases[: -len(cases) % together]
    found = []
    for first in range(0, len(cases), together):
        folder = tmp_path / str(first)
        found += wrong(folder, cases[first : first + together])
        shutil.rmtree(folder)
    assert found == []
