"""Commands that start no ranks take volumes of every format, each in a process in which nothing else has begun MPI."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import h5py
import numpy as np
import pytest
from cli_support import MIGRATE, MODEL, inputs, run, survey, velocity
from machine_support import MACHINE
from mpi4py import MPI
from scipy.io import netcdf_file

from fathometer.cli.commands import NAMES
from fathometer.plan.machine_file import save_machine
from fathometer.storage.volumes.volume import VolumeInfo, write_volume

PROGRAM = Path(__file__).parents[1] / "support" / "without_mpi_program.py"
VOLUMES = {"info", "new", "prepare", "plan", "submit", "report"}  # commands on volumes, or inputs that name them
OTHERS = {"survey build", "survey wavelet", "profile", "farm extract"}  # and the groups study and cluster
INFO = VolumeInfo((40, 30), np.dtype(np.float32), (10.0, 10.0), (0.0, 0.0), ("x", "z"), "m/s")


def classic(path):
    with netcdf_file(path, "w", version=2) as file:
        for name, n in (("x", 40), ("z", 30)):
            file.createDimension(name, n)
        file.createVariable("vp", "f4", ("x", "z"))[:] = velocity()


def volumes(folder):
    """Of every format, by others' writers where there are some: references."""
    vp, references = velocity(), []
    for suffix in (".rsf", ".segy", ".blocks", ".npy"):
        write_volume(folder / f"own{suffix}", INFO, vp, (0, 0), MPI.COMM_SELF)
        references.append(f"own{suffix}")
    np.savez(folder / "v.npz", vp=vp)
    classic(folder / "classic.nc")
    references += ["v.npz:vp", "classic.nc"]
    with h5py.File(folder / "v.h5", "w") as file:
        file["vp"] = vp
    with h5py.File(folder / "four.nc", "w") as file:  # as NetCDF-4
        for name, n in (("x", 40), ("z", 30)):
            file[name] = 10.0 * np.arange(n)
            file[name].make_scale(name)
        file["vp"] = vp
    references += ["v.h5", "four.nc:vp"]
    try:
        import zarr
    except ImportError:
        return references
    for version in (2, 3):
        zarr.create_array(folder / f"v{version}.zarr", data=vp, chunks=(20, 30), zarr_format=version)
        references.append(f"v{version}.zarr")
    return references


def test_each_command_without_ranks_is_tried_here():
    commands = [import_module(f"fathometer.cli.commands.{name}").COMMAND for name in NAMES]
    known = {command.name for command in commands if command.run is not None}
    assert {name for name in known if not name.startswith(("study ", "cluster "))} == VOLUMES | OTHERS


def pages(folder, capsys):
    """Folders of a run, its image in each format that is written."""
    inputs(folder)
    survey(folder, MIGRATE, "run.toml")
    assert run(capsys, "migrate", folder / "run.toml", "--quiet").code == 0
    record = json.loads((folder / "out" / "run.json").read_text())
    for suffix in (".npy", ".segy", ".nc", ".h5", ".zarr", ".blocks"):
        place = folder / f"page{suffix[1:]}"
        place.mkdir()
        image = place / f"image{suffix}"
        try:
            write_volume(image, INFO, velocity(), (0, 0), MPI.COMM_SELF)
        except Exception:  # a library is missing here
            continue
        files = {name: str(image) if name == "image" else path for name, path in record["results"]["files"].items()}
        results = record["results"] | {"files": files}
        (place / "run.json").write_text(json.dumps(record | {"results": results}))
        yield place


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.trials)])
def test_every_format(tmp_path, capsys, every):
    """every: all commands; else those that read a model before a run, and plan it."""
    commands, needed = [], []
    save_machine(tmp_path / "machine.json", MACHINE)
    for place in pages(tmp_path, capsys) if every else ():
        commands.append(["report", str(place)])
        needed.append("report.html")
    inputs(tmp_path)
    for number, reference in enumerate(volumes(tmp_path)):
        survey(tmp_path, MODEL | {"model.vp": reference}, f"{number}.toml")
        commands += [["info", reference], ["plan", f"{number}.toml", "--on", "machine.json"]]
        needed += ["2000 to 2500", "time step"]
        commands.append(["new", "survey", f"vp={reference}", "-o", f"new{number}.toml"])
        needed.append("written, with")
        if not every:
            continue
        survey(tmp_path, MIGRATE | {"model.vp": reference}, f"migrate{number}.toml")
        output = f"o{number}" + (".nc", ".h5", ".rsf", ".npy", ".zarr")[number % 5]
        spacing = ["--input-spacing", "10,10"] if not reference.startswith(("own.rsf", "own.blocks")) else []
        commands += [
            ["info", reference, "--picture", f"{number}.png"],
            ["prepare", reference, *spacing, "--smooth", "20", "-o", output],
            ["submit", f"migrate{number}.toml", "--time", "1h", "--print"],
        ]
        needed += ["2000 to 2500", "40 x 30 cells", "#SBATCH"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_"))}
    done = subprocess.run(
        [sys.executable, PROGRAM],
        input=json.dumps(commands),
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    for words, need, (code, said) in zip(commands, needed, json.loads(done.stdout), strict=True):
        assert code == 0, (words, code, said)
        assert need in said, (words, said)
