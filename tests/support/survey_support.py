"""Surveys in a folder, run in this process on one rank."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

from fathometer.parallel.threads import bind, unbind
from fathometer.runs.context import Context, Outcome
from fathometer.runs.options import RunOptions
from fathometer.seismic.kirchhoff.driver import run_migrate_time
from fathometer.seismic.modelling.driver import run_model
from fathometer.seismic.rtm.driver import run_migrate
from fathometer.seismic.survey import load_survey, survey_of
from fathometer.storage.traces.segy import GatherWriter, read_traces, scan
from fathometer.storage.volumes.volume import open_volume

OVERWRITE = RunOptions(overwrite=True)


def _run(work, survey, options=OVERWRITE) -> Outcome:
    binding = bind(MPI.COMM_SELF, None)
    context = Context(("test",), True, binding, lambda line: None, options=options)
    try:
        return work(survey, MPI.COMM_SELF, context)
    finally:
        unbind(binding)


def model(folder, values) -> Outcome:
    return _run(run_model, survey_of(values, folder / "survey.toml"))


def migrate(folder, values, options=OVERWRITE) -> Outcome:
    return _run(run_migrate, survey_of(values, folder / "survey.toml"), options)


def run_survey(path, in_time=False) -> Outcome:
    """Model or migrate a survey file, whichever it is for; in_time: migrate it in time."""
    survey = load_survey(path)
    if in_time:
        return _run(run_migrate_time, survey)
    return _run(run_migrate if survey.acquisition.gathers else run_model, survey)


def model_file(path) -> Outcome:
    """Model a survey file, also one with gathers; without the page that the command makes."""
    return _run(run_model, load_survey(path))


def load(path) -> np.ndarray:
    with open_volume(path.name, path.parent) as volume:
        return volume.read([0] * len(volume.info.shape), volume.info.shape)


def write_difference(first, second, out) -> None:
    """A SEG-Y with the traces of `first` less those of `second` (same geometry)."""
    table = scan(first)
    every = np.arange(len(table.ffid))
    data = read_traces(first, every) - read_traces(second, every)
    with GatherWriter(out, table.samples, table.interval, len(every)) as writer:
        for ffid in np.unique(table.ffid):
            own = np.flatnonzero(table.ffid == ffid)
            writer.write(own[0], ffid, table.source[own[0]], table.receiver[own], data[own], table.channel[own])
