"""Demo: modelling of shots in a synthetic model, and their migration in its smooth version; one in time can follow."""

from __future__ import annotations

import os.path
import shlex
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from fathometer.base import ledger
from fathometer.base.ledger import Ledger
from fathometer.base.names import visible_name
from fathometer.grid.grid import Grid
from fathometer.grid.volume_info import volume_info
from fathometer.parallel.collectives import collective_errors
from fathometer.parallel.decomposition import Index3
from fathometer.record.envelope import PAGE
from fathometer.record.usage import forget_peak, usage
from fathometer.runs.context import Context, Outcome
from fathometer.runs.foreign import require_own_demo
from fathometer.runs.options import RunOptions
from fathometer.runs.restart_hint import DEMO
from fathometer.seismic.model.synthetic import DemoModel, demo_model, smooth
from fathometer.seismic.modelling.driver import run_model
from fathometer.seismic.rtm.driver import run_migrate
from fathometer.seismic.survey import load_survey
from fathometer.storage import atomic
from fathometer.storage.folder import results_folder
from fathometer.storage.volumes.volume import write_volume


@dataclass(frozen=True)
class Size:
    """Size of the demo."""

    shape: Index3  # cells along x, y, z
    spacing: float  # m
    frequency: float  # Hz, peak frequency of the wavelet
    duration: float  # s, of the traces
    shots: tuple[int, int]  # along x and y
    receivers: float  # m, their spacing
    end: float  # s, of the image in time
    interval: float  # s, of that image
    aperture: float  # m, of the time migration


FULL = Size(
    shape=(121, 61, 81),
    spacing=20.0,
    frequency=7.5,
    duration=1.35,
    shots=(5, 2),
    receivers=40.0,
    end=1.3,
    interval=0.004,
    aperture=400.0,
)
QUICK = Size(
    shape=(73, 37, 53),
    spacing=30.0,
    frequency=5.0,
    duration=1.4,
    shots=(3, 2),
    receivers=60.0,
    end=1.3,
    interval=0.004,
    aperture=500.0,
)
VOLUMES = {"vp": "m/s", "epsilon": "", "delta": ""}  # with their units
PREFIXES = ("", "smooth-")  # of their names: of the true model, of the smooth one
SHOTS, SHOTS_FOLDER, IMAGE_FOLDER = "shots.toml", "shots", "image"

SURVEY = """\
# {title}. Made by `fathometer demo`.

[model]
vp = "{prefix}vp.rsf"
epsilon = "{prefix}epsilon.rsf"
delta = "{prefix}delta.rsf"

[acquisition]
{acquisition}

[wavelet]
kind = "ricker"
peak_frequency = {frequency}     # Hz

[propagation]
duration = {duration}           # s

[imaging]
condition = "source-normalised"

{more}[output]
directory = "{directory}"
"""

TIME_MIGRATION = """\
[time_migration]
end = {end}                # s
interval = {interval}          # s
aperture = {aperture}           # m
dip = 45.0               # degrees
replacement_velocity = 1500.0  # m/s, of the water on top, down to sources and receivers

"""


def run_demo(directory: Path, quick: bool, comm: MPI.Intracomm, context: Context) -> Outcome:
    """Collective. Build the model, model shots, smooth, migrate, all in `directory`.

    Returns the outcome of the migration, with the file of the modelled shots.
    """
    size = QUICK if quick else FULL
    with ledger.phase("build model"), results_folder(directory, comm), collective_errors(comm):
        if comm.rank == 0:
            _write_inputs(directory, size, context.say)
    context.say("\nmodelling the shots in the true model")
    with ledger.phase("set up"):
        survey = load_survey(directory / SHOTS)
    modelled = run_model(survey, comm, replace(context, options=RunOptions(overwrite=True)))
    context.say("\nmigrating them in the smooth model")
    with ledger.phase("set up"):
        forget_peak()
        used = usage()
    with Ledger(used_before=used):  # the record of the migration accounts for the migration alone
        with ledger.phase("set up"):
            survey = load_survey(directory / DEMO)
        migrated = run_migrate(survey, comm, replace(context, options=RunOptions(overwrite=True)))
    context.say("")
    files = {"shots": modelled.files["shots"], **migrated.files}
    return Outcome(files, migrated.record, words=closing_words(directory))


def closing_words(folder: Path) -> list[str]:
    """What to open in the demo's folder, and what to try next: commands that run as they stand."""

    def path(*parts: str) -> str:
        return shlex.quote(visible_name(str(folder.joinpath(*parts))))

    survey, program = path(DEMO), shlex.quote(_program())
    return [
        "",
        f"open {path(IMAGE_FOLDER, PAGE)}: the image, with sliders, and where every second went",
        "",
        "what to try next:",
        f"  {program} migrate-time {survey}    the same gathers in time",
        f"  {program} info {path(SHOTS_FOLDER, 'shots.segy')} --picture {path('shot.png')}    a shot",
        f"  {program} calibrate --for migrate    how fast this machine is, once; then",
        f"  {program} plan {survey}    what a run costs, before it runs",
        f"  {program} model {path(SHOTS)} --set wavelet.peak_frequency=4    the shots again, of a lower frequency",
        f"  {program} new survey YOUR-MODEL YOUR-SHOTS    a survey file around files of your own",
    ]


def _program() -> str:
    """How the program is called here: by its name where that is on the path, else by its place."""
    script = Path(sys.executable).with_name("fathometer")
    return "fathometer" if shutil.which("fathometer") or not script.exists() else os.path.relpath(script)


def _write_inputs(directory: Path, size: Size, say: Any) -> None:
    """Write the two survey files, and the true and the smooth model. Raises InputError where the folder has files of
    these names, but no demo's."""
    true = demo_model(size.shape, (size.spacing,) * 3)
    say(f"the model: {true.description}")
    far_x, far_y = ((n - 1) * size.spacing for n in size.shape[:2])
    values = {"frequency": size.frequency, "duration": size.duration}
    modelling = SURVEY.format(
        title="Shots in the true model",
        prefix=PREFIXES[0],
        acquisition=_geometry(size, far_x, far_y),
        more="",
        directory=SHOTS_FOLDER,
        **values,
    )
    migration = SURVEY.format(
        title="Migration in the smooth model",
        prefix=PREFIXES[1],
        acquisition='gathers = "shots/shots.segy"\nmute = {velocity = 1500.0, taper = 0.1}',
        more=TIME_MIGRATION.format(end=size.end, interval=size.interval, aperture=size.aperture),
        directory=IMAGE_FOLDER,
        **values,
    )
    volumes = [f"{prefix}{name}.rsf{part}" for prefix in PREFIXES for name in VOLUMES for part in ("", "@")]
    require_own_demo(directory, migration, [SHOTS, SHOTS_FOLDER, IMAGE_FOLDER, *volumes])
    atomic.write(directory / DEMO, migration.encode())
    atomic.write(directory / SHOTS, modelling.encode())
    for prefix, model in zip(PREFIXES, (true, smooth(true, 4 * size.spacing)), strict=True):
        _write_model(directory, prefix, model)


def _write_model(directory: Path, prefix: str, model: DemoModel) -> None:
    grid = Grid(model.vp.shape, model.spacing)
    for name, unit in VOLUMES.items():
        values: np.ndarray = getattr(model, name)
        write_volume(
            directory / f"{prefix}{name}.rsf",
            volume_info(grid, values.dtype, unit),
            values,
            (0, 0, 0),
            MPI.COMM_SELF,
        )


def _geometry(size: Size, far_x: float, far_y: float) -> str:
    """Keys of the geometry: shots spread over the model, receivers on a fixed grid over all of it, one cell deep."""
    d, r = size.spacing, size.receivers
    first_x, first_y = 0.1 * far_x, 0.3 * far_y
    step_x, step_y = 0.8 * far_x / (size.shots[0] - 1), 0.4 * far_y / (size.shots[1] - 1)
    last_x, last_y = first_x + (size.shots[0] - 1) * step_x, first_y + (size.shots[1] - 1) * step_y
    end_x, end_y = (far // r * r for far in (far_x, far_y))
    return (
        f"sources = {{x = [{first_x:g}, {last_x:g}, {step_x:g}], "
        f"y = [{first_y:g}, {last_y:g}, {step_y:g}], z = {d:g}}}\n"
        f"receivers = {{x = [0.0, {end_x:g}, {r:g}], y = [0.0, {end_y:g}, {r:g}], z = {d:g}}}"
    )
