"""Run by test_histories.py under mpirun: migrates every case with some or all histories, and saves the images and
what the records tell. `python histories_program.py FOLDER [HISTORY …]`
"""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from mpi4py import MPI
from survey_support import load

from fathometer.base.ledger import Ledger
from fathometer.parallel.threads import bind, unbind
from fathometer.runs.context import Context
from fathometer.seismic.modelling.driver import run_model
from fathometer.seismic.rtm.driver import run_migrate
from fathometer.seismic.survey import survey_of

# name: (cells of the model, cell size in m, cells that waves travel, further sections)
CASES = {
    "2D": ((90, 50), 10.0, 120, {"propagation": {"boundary": {"kind": "pml", "width": 8}}}),
    "3D": (
        (30, 28, 26),
        20.0,
        40,
        {"propagation": {"boundary": {"kind": "sponge", "width": 8}, "top": "free-surface", "precision": "float64"}},
    ),
}
LOSSLESS = {
    "memory": {"store": "memory"},
    "auto": {},
    "disk": {"store": "disk"},
    "direct": {"store": "disk", "direct": True},
    "checkpoint": {"store": "checkpoint", "memory_budget": 0.45},
    "little memory": {"store": "checkpoint", "memory_budget": 0.2},
    "states on disk": {"store": "checkpoint", "memory_budget": 0.1, "states": "disk"},
}
# Ways of the traces, which go with any history.
TRACES = {"time slices": "slices", "slices of rank 0": "root-broadcast"}
LOSSLESS |= {name: {"store": "memory"} for name in TRACES}
LOSSY = {
    "float16": {"store": "memory", "encoding": "float16"},
    "int8": {"store": "memory", "encoding": "int8"},
    "int8 on disk": {"store": "disk", "encoding": "int8"},
    "zfp": {"store": "memory", "encoding": "zfp"},
    "zfp on disk": {"store": "disk", "encoding": "zfp"},
    "int8 checkpoints": {"store": "checkpoint", "encoding": "int8", "memory_budget": 0.2},
    "zfp checkpoints": {"store": "checkpoint", "encoding": "zfp", "memory_budget": 0.3},
    "wavelet": {"store": "memory", "encoding": "wavelet"},
}
SOLID = ("memory", "disk", "states on disk", "time slices", "int8", "zfp checkpoints")  # of those, in three dimensions
if find_spec("hdf5plugin") is None:
    LOSSY = {name: keys for name, keys in LOSSY.items() if keys["encoding"] not in ("zfp", "wavelet")}


def prepare(folder, cells, spacing):
    """The model's files and the survey's common keys."""
    x, z = np.linspace(0, 1, cells[0]), np.linspace(0, 1, cells[-1])
    vp = 1800 + 900 * z + 200 * np.sin(6 * x)[:, None] * z
    if len(cells) == 3:
        vp = np.repeat(vp[:, None], cells[1], axis=1)
    np.save(folder / "vp.npy", vp.astype(np.float32))
    model = {"vp": "vp.npy", "epsilon": 0.12, "delta": 0.05, "spacing": [spacing] * len(cells)}
    far = (cells[0] - 1) * spacing
    places = {"x": [0.0, far, spacing], "z": 2 * spacing}
    source = {"x": [0.3 * far, 0.7 * far, 0.4 * far], "z": 3.3 * spacing}
    if len(cells) == 3:
        places["y"] = source["y"] = (cells[1] // 2) * spacing
    wavelet = {"kind": "ricker", "peak_frequency": 500 / spacing / 4}
    return {"model": model, "wavelet": wavelet}, {"sources": source, "receivers": places}


def tried(case, histories=()):
    """The histories that a case is migrated with."""
    return [one for one in histories or (*LOSSLESS, *LOSSY) if case == "2D" or histories or one in SOLID]


def main(name, *histories):
    comm, folder = MPI.COMM_WORLD, Path(name)
    binding = bind(comm, None)
    context = Context(("test",), True, binding, lambda line: None)
    told = {}
    for case, (cells, spacing, travelled, more) in CASES.items():
        here = folder / case
        if comm.rank == 0:
            here.mkdir()
            prepare(here, cells, spacing)
        comm.Barrier()
        common, acquisition = prepare(here, cells, spacing) if comm.rank == 0 else (None, None)
        common, acquisition = comm.bcast((common, acquisition))
        common |= more
        shots = common | {"acquisition": acquisition, "output": {"directory": "shots"}}
        shots["propagation"] = shots["propagation"] | {"duration": travelled * spacing / 1800}
        with Ledger():
            run_model(survey_of(shots, here / "shots.toml"), comm, context)
        plain = None
        for history in tried(case, histories):
            keys = dict((LOSSLESS | LOSSY)[history])
            if "memory_budget" in keys:  # a share of all snapshots
                keys["memory_budget"] *= plain
            survey = common | {"acquisition": {"gathers": "shots/shots.segy"}, "history": keys}
            survey["storage"] = {"traces": TRACES.get(history, "whole")}
            survey |= {"output": {"directory": history.replace(" ", "-")}}
            key = f"{case}|{history}"
            with Ledger():
                outcome = run_migrate(survey_of(survey, here / "image.toml"), comm, context)
            if comm.rank == 0:
                found = outcome.record["results"]["history"]
                told[key] = found
                if plain is None:
                    plain = sum(rank["logical_bytes"] for rank in found["ranks"]) / outcome.record["results"]["shots"]
                np.save(folder / f"{key}.npy", load(outcome.files["image"]))
            plain = comm.bcast(plain)
    if comm.rank == 0:
        (folder / "told.json").write_text(json.dumps(told))
    unbind(binding)


if __name__ == "__main__":
    main(*sys.argv[1:])
