"""What `fathometer model` says of itself."""

import json
from pathlib import Path

from cli_support import MIGRATE, MODEL, here, inputs, survey, under_mpirun
from mpi4py import MPI
from paths import SUPPORT

from fathometer.seismic.setup.setup import prepare
from fathometer.seismic.survey import load_survey


def test_modelling_speaks_of_no_images(tmp_path: Path) -> None:
    inputs(tmp_path)
    done = here("model", survey(tmp_path, MODEL))
    assert done.code == 0, done.err
    assert "an image every" not in done.out + done.err
    assert "cells per shortest wavelength" in done.out + done.err
    results = json.loads((tmp_path / "out" / "run.json").read_text())["results"]
    assert (results["imaging"], results["imaging_step"]) == (False, None)
    migration = prepare(load_survey(survey(tmp_path, MIGRATE)), MPI.COMM_SELF, True)
    assert "an image every" in " ".join(migration.summary())


def test_traces_are_not_taken_from_other_messages() -> None:
    done = under_mpirun(2, SUPPORT / "gather_program.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "True"
