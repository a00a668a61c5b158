"""The command line: words in, a call to the application, an exit code out. No work of its own.

Nothing heavy is imported before it is known what is asked for: a process that has imported mpi4py can no longer start
mpirun, and `--help` should be quick.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any, NoReturn

from fathometer.errors import FathometerError, InputError
from fathometer.interrupt import INTERRUPTED, RESUMABLE, interruptible, prompt
from fathometer.ledger import Ledger, current, now, phase, process_start

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.lab.report.page import Exhibit
    from fathometer.lab.report.records import Run
    from fathometer.parallel.threads import Binding
    from fathometer.seismic.journal import Wish
    from fathometer.seismic.outcome import Outcome, Settings

HEAD_START_SECONDS = 1.0  # that the other ranks leave the first to say what is wrong

# What does the work of a command on ranks.
WORK = {
    "model": "fathometer.seismic.run",
    "migrate": "fathometer.seismic.run",
    "demo": "fathometer.seismic.demo",
    "stencil": "fathometer.lab.stencil",
    "calibrate": "fathometer.lab.calibrate",
    "io": "fathometer.lab.io.benchmark",
}

# What shows a run of an application on its page: heading(record) and panels_of_record(record, path).
EXHIBITS = {"seismic": "fathometer.seismic.exhibit", "io": "fathometer.lab.io.exhibit"}

DESCRIPTION = """\
Seismic depth imaging: 3D anisotropic (VTI) forward modelling and reverse time migration, run by MPI ranks with
OpenMP threads."""

EXAMPLES = """\
examples:
  fathometer demo --quick                   a first image within a minute
  fathometer model survey.toml --ranks 2    synthetic shots of a geometry
  fathometer migrate survey.toml            the image of recorded shots
  fathometer submit survey.toml --time 8h   the same as a batch job that goes on when it was interrupted
  fathometer info shots.segy vp.rsf         what these files hold
  fathometer prepare vp.segy -o smooth.rsf --smooth 100   a model to migrate in
  fathometer survey build line/*.segy       an index of field data, and what is wrong with them
  fathometer plan survey.toml               what it will cost, before it runs
  fathometer report one/ two/               the page of a run again, compared with another
  fathometer stencil                        how fast the time steps are here, and what limits them
  fathometer io /scratch                    which way of writing and reading volumes is the fastest there

exit codes: 0 done, 1 failed, 2 wrong input, 75 interrupted where --resume goes on, 130 interrupted"""


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the command line, like everything else that is wrong."""

    def error(self, message: str) -> NoReturn:
        """Print the line; exit code 2."""
        sys.exit(_complain(InputError(f"{message} (see {self.prog} --help)")) if _first() else InputError.exit_code)


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    from fathometer import __version__

    main_parser = Parser(
        prog="fathometer",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    main_parser.add_argument("--version", action="version", version=f"fathometer {__version__}")
    commands = main_parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, summary: str, description: str, examples: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name,
            help=summary,
            description=description,
            epilog="examples:\n" + examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    model = command(
        "model",
        "synthetic shot gathers by forward modelling",
        "Model the shots of a geometry ([acquisition] sources and receivers) and write them as one SEG-Y file,\n"
        "shots.segy, into the survey's output directory, with the run's record (run.json).",
        "  fathometer model survey.toml\n"
        "  fathometer model survey.toml --ranks 2 --threads 8\n"
        "  srun -n 64 fathometer model survey.toml --quiet",
    )
    migrate = command(
        "migrate",
        "the depth image of recorded shots, by reverse time migration",
        "Migrate the shots of a survey ([acquisition] gathers). Writes the image, the Laplacian-filtered image, the\n"
        "source illumination, a picture (image.png) and the run's record (run.json) into the output directory.",
        "  fathometer migrate survey.toml\n"
        "  fathometer migrate survey.toml --ranks 4 --json > record.json\n"
        "  mpirun -n 8 fathometer migrate survey.toml",
    )
    for sub in (model, migrate):
        sub.add_argument("survey", type=Path, metavar="SURVEY.toml", help="the survey file")
    migrate.add_argument("--resume", action="store_true", help="go on with what an earlier run left, if there is one")
    migrate.add_argument("--overwrite", action="store_true", help="replace an earlier run's results and journal")
    migrate.add_argument(
        "--retry-failed", action="store_true", help="as --resume, and once more those shots that were set aside"
    )
    migrate.add_argument(
        "--share", metavar="NAME", help="share the shots with the other runs that say this NAME; resumes"
    )
    migrate.add_argument(
        "--restarts", type=_whole, default=0, metavar="N", help="start --ranks again, at most N times, if one is killed"
    )
    batch = command(
        "submit",
        "a migration as a Slurm job that goes on when it was interrupted",
        "Write a batch script for `fathometer migrate SURVEY.toml --resume` and give it to Slurm. Before the job's\n"
        "time is over, or when it is pre-empted, the run drops the shots that it is at and ends with code 75; the\n"
        "script then puts the job back into the queue, as long as shots get done. Prints the job's number.",
        "  fathometer submit survey.toml --nodes 4 --time 8h --partition long\n"
        "  fathometer submit survey.toml --nodes 4 --ranks-per-node 2 --threads 32 --time 2d\n"
        "  fathometer submit survey.toml --array 16 --time 4h     16 jobs of one node share the shots\n"
        "  fathometer submit survey.toml --time 8h --print > job.sh",
    )
    batch.add_argument("survey", type=Path, metavar="SURVEY.toml", help="the survey file")
    batch.add_argument(
        "--nodes", type=_count, default=1, metavar="N", help="nodes of the job, or of each of an array (1)"
    )
    batch.add_argument("--time", type=_job_time, required=True, metavar="TIME", help="30m, 8h, 2d, or 1-12:00:00")
    batch.add_argument("--ranks-per-node", type=_count, default=1, metavar="R", help="MPI ranks on each node (1)")
    batch.add_argument("--threads", type=_count, metavar="T", help="threads a rank (whole nodes, and all their cores)")
    batch.add_argument("--partition", type=_word, metavar="NAME", help="where it runs (Slurm's default)")
    batch.add_argument("--account", type=_word, metavar="NAME", help="who pays (Slurm's default)")
    batch.add_argument("--name", type=_word, metavar="NAME", help="of the job (fathometer-SURVEY)")
    batch.add_argument(
        "--array", type=_count, metavar="K", help="K jobs that share the shots, without MPI between them"
    )
    batch.add_argument("--print", action="store_true", help="print the script; submit nothing")
    info = command(
        "info",
        "what a file holds: kind, shape, spacing, units, range, geometry",
        "Say what files hold: .rsf, .npy, .npz:key, .h5:path, .nc:variable, .zarr, .segy, .su, .blocks, and the index\n"
        "of a survey, .parquet.",
        "  fathometer info vp.rsf models.npz:epsilon\n  fathometer info shots.segy --picture shots.png\n"
        "  fathometer info --formats",
    )
    info.add_argument("files", nargs="*", metavar="FILE", help="a file, with the key of one array: models.npz:vp")
    info.add_argument(
        "--formats", action="store_true", help="which formats are read and written here, how, and what is missing"
    )
    info.add_argument("--picture", type=Path, metavar="OUT.png", help="draw it (one FILE)")
    info.add_argument("--json", action="store_true", help="print JSON")
    prepare = command(
        "prepare",
        "a model made ready: units, smoothing, cells, extent, epsilon and delta, format",
        "Read a volume, and write it as a model for `model` and `migrate`. In this order, as asked for: units to\n"
        "m/s and axes to x, y, z; smoothing and new cells (of slowness, where it is a velocity), which see what lies\n"
        "around a crop; crop; extension; epsilon and delta by rules, as OUT-epsilon and OUT-delta beside OUT. Lists\n"
        "of lengths are along x,y,z (x,z in 2D); one length stands for all axes. Prints the cells that come out.",
        "  fathometer prepare vp.segy --input-spacing 25,25,10 --units km/s -o vp.rsf\n"
        "  fathometer prepare vp.rsf --smooth 150,150,75 --below-water 1520 -o smooth.rsf\n"
        "  fathometer prepare models.npz:vp --input-spacing 12.5,12.5 --spacing 20,20 --crop 1000:8000,: -o vp.nc\n"
        "  fathometer prepare vp.rsf --extend 500,0:800 -o wide.rsf\n"
        "  fathometer prepare vp.rsf --epsilon velocity:1500=0,2500=0.1,4000=0.05 --delta 0.02 \\\n"
        "                     --below-water depth:330 -o vti.rsf        (and vti-epsilon.rsf, vti-delta.rsf)",
    )
    prepare.add_argument("model", metavar="MODEL", help="a volume, with the key of one array: models.npz:vp")
    prepare.add_argument("-o", "--output", type=Path, required=True, metavar="OUT", help="its suffix is the format")
    prepare.add_argument(
        "--units",
        choices=("m/s", "km/s", "s2/km2", "none"),
        help="of MODEL; none: no velocity, taken as it is (as MODEL says, else m/s)",
    )
    prepare.add_argument("--axes", metavar="XYZ", help="of MODEL, slowest first: zyx, xz ... (as MODEL says, else xyz)")
    prepare.add_argument("--input-spacing", type=_lengths, metavar="DX,..", help="of MODEL's cells, m, if it has none")
    prepare.add_argument("--input-origin", type=_lengths, metavar="X,..", help="of its first cell, m, if it has none")
    prepare.add_argument("--smooth", type=_lengths, metavar="M,..", help="standard deviations of a Gaussian, m")
    prepare.add_argument("--spacing", type=_lengths, metavar="DX,..", help="of new cells, m; low-passed where larger")
    prepare.add_argument(
        "--crop",
        type=_told("extent", "crop_of"),
        metavar="X0:X1,..",
        help="cells that stay, m; an end may be left out (--crop=-50:900,: where the first is negative)",
    )
    prepare.add_argument(
        "--extend",
        type=_told("extent", "extension_of"),
        metavar="B:A,..",
        help="m before and after, or cells: 20c; one number stands for both; edge values repeat",
    )
    prepare.add_argument(
        "--epsilon", type=_told("thomsen", "rule_of"), metavar="RULE", help="a number, or velocity:V=VALUE,V=VALUE,.."
    )
    prepare.add_argument("--delta", type=_told("thomsen", "rule_of"), metavar="RULE", help="the same")
    prepare.add_argument(
        "--below-water",
        type=_told("thomsen", "sea_floor_of"),
        metavar="V|depth:Z",
        help="epsilon and delta are 0 and nothing is smoothed above the first cell faster than V m/s, or above Z m",
    )
    prepare.add_argument("--quiet", action="store_true", help="print nothing but errors")
    survey = command(
        "survey",
        "an index of the traces of many files",
        "Prepare field data for migration.",
        "  fathometer survey build line/*.segy -o line.parquet",
    )
    build = survey.add_subparsers(dest="action", metavar="ACTION", required=True).add_parser(
        "build",
        help="scan the headers and samples of SEG-Y and SU files into an index",
        description="Read all traces of SEG-Y (revisions 0, 1, 2) and SU files once, and write an index of them: a\n"
        "Parquet table of file, trace, shot, channel, places (m), sampling and flags. [acquisition] gathers takes it\n"
        "in place of the files. What is wrong with traces is counted, listed and flagged; files that are no gathers\n"
        "are left out.",
        epilog="examples:\n"
        "  fathometer survey build line/*.segy -o line.parquet\n"
        "  fathometer survey build *.sgy --shot-key EnergySourcePoint --word receiver_depth=205:i4\n"
        "  fathometer survey build a.su b.su --strict",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    build.add_argument("files", nargs="+", type=Path, metavar="FILE", help="SEG-Y and SU files")
    build.add_argument(
        "-o", "--output", type=Path, default=Path("survey.parquet"), metavar="INDEX", help="(survey.parquet)"
    )
    build.add_argument("--jobs", type=_count, metavar="N", help="threads that read (as many as this process has cores)")
    build.add_argument(
        "--shot-key", metavar="WORD", help="what tells shots apart: a header field, or BYTE:TYPE (FieldRecord, 9:i4)"
    )
    build.add_argument("--channel", metavar="WORD", help="number of a trace within its shot (TraceNumber, 13:i4)")
    build.add_argument(
        "--word",
        action="append",
        default=[],
        metavar="NAME=WORD",
        help="another header word, or none: source_x=73:i4, coordinate_scalar=none ...; repeatable",
    )
    build.add_argument("--strict", action="store_true", help="the first anomaly is an error")
    build.add_argument("--quiet", action="store_true", help="print nothing but errors")
    demo = command(
        "demo",
        "the main job on a model built by code",
        "Build a 3D VTI model (layers, a fault, a VTI shale, a high-velocity body, water on top), model ten shots,\n"
        "smooth the model, migrate, and draw the image over the velocity.",
        "  fathometer demo\n  fathometer demo --quick --output /tmp/demo --ranks 2",
    )
    demo.add_argument("--output", type=Path, default=Path("demo"), metavar="DIR", help="folder of all files (demo)")
    demo.add_argument("--quick", action="store_true", help="smaller and sooner: under 40 s on two cores")
    report = command(
        "report",
        "the page of a run again, and comparisons of several",
        "Write the page (report.html) of a run from its record and the files that the record names, where they still\n"
        "are. Several records are compared with the first: seconds of each phase, figures of merit, speed-up.\n"
        "A folder stands for the record in it. A record that cannot be used is told, and the others are used.",
        "  fathometer report image/run.json\n"
        "  fathometer report two-ranks/ four-ranks/ -o scaling.html\n"
        "  fathometer report before/ after/ --markdown - --csv phases.csv",
    )
    report.add_argument("records", nargs="+", type=Path, metavar="RUN.json", help="a record, or the folder of one")
    report.add_argument(
        "-o", "--output", type=Path, metavar="PAGE", help="the page (report.html beside the first record)"
    )
    report.add_argument("--markdown", metavar="FILE", help="write the tables as Markdown; - for standard output")
    report.add_argument("--csv", metavar="FILE", help="write them as CSV in SI units; - for standard output")
    stencil = command(
        "stencil",
        "the propagator's benchmark: its rate against the memory's",
        "Measure the time steps of the propagator in a homogeneous model, in turns with the triad that tells what the\n"
        "memory gives, and with plain sweeps of one step each. Ratio to the streaming limit: the rate over what the\n"
        "triad's bandwidth would allow to a sweep that touches each array once.",
        "  fathometer stencil\n"
        "  fathometer stencil --grid 256,256,256 --order 16 --json stencil.json --picture roofline.png\n"
        "  fathometer stencil --physics isotropic --time-depth 1\n"
        "  fathometer stencil --ranks 2 --threads 1 --scaling",
    )
    stencil.add_argument(
        "--grid", type=_grid, default=(320, 320, 320), metavar="NX,NY,NZ", help="cells; NX,NZ in 2D (320,320,320)"
    )
    stencil.add_argument("--order", type=int, default=8, choices=range(2, 17, 2), metavar="N", help="2, 4 ... 16 (8)")
    stencil.add_argument("--physics", default="vti", choices=("vti", "isotropic"), help="equation (vti)")
    stencil.add_argument("--steps", type=_count, default=12, metavar="N", help="time steps of a measurement (12)")
    stencil.add_argument(
        "--time-depth", type=_depth, default=0, metavar="N|auto", help="time steps a sweep; auto: searched for (auto)"
    )
    stencil.add_argument("--repeat", type=_count, default=7, metavar="N", help="measurements of each kind (7)")
    stencil.add_argument("--scaling", action="store_true", help="also measure with fewer threads and ranks")
    stencil.add_argument("--json", type=Path, metavar="FILE", help="write the record")
    stencil.add_argument("--picture", type=Path, metavar="OUT.png", help="draw the roofline")
    plan = command(
        "plan",
        "what a survey will cost on a machine, before it runs",
        "Say what a run will cost: grid, steps, memory, bytes, seconds of each phase; and how it is best run. Reads\n"
        "headers, some rows of the model, no traces. The machine is this one as `fathometer calibrate` found it, or\n"
        "described by a file.",
        "  fathometer plan survey.toml\n"
        "  fathometer plan survey.toml --ranks 2 --json -\n"
        "  fathometer plan survey.toml --on cluster.json --within 8h\n"
        "  fathometer plan future.toml --on cluster.json --nodes 16 --velocities 1500,4500 --migrate",
    )
    plan.add_argument("survey", type=Path, metavar="SURVEY.toml", help="the survey file")
    plan.add_argument("--on", type=Path, metavar="MACHINE.json", help="the machine (as calibrate left it)")
    plan.add_argument("--ranks", type=_count, metavar="N", help="ranks of the run (the recommended ones)")
    plan.add_argument("--nodes", type=_count, metavar="N", help="nodes to run on (as few as serve)")
    plan.add_argument("--decomposition", type=_grid, metavar="PX,PY,PZ", help="how ranks cut the grid; PX,PZ in 2D")
    plan.add_argument("--within", type=_duration, metavar="TIME", help="the fewest nodes that need at most 30m, 8h")
    plan.add_argument(
        "--velocities", type=_velocities, metavar="LOW,HIGH", help="m/s, assumed in place of the model's values"
    )
    plan.add_argument("--migrate", action="store_true", help="a geometry too: as if its shots had been recorded")
    plan.add_argument(
        "--history",
        choices=("memory", "disk", "checkpoint", "files"),
        help="where snapshots are assumed to be kept (as the survey says; files: on disk, the time steps waiting, as "
        "older codes do it)",
    )
    plan.add_argument("--json", type=Path, metavar="FILE", help="write the plan as JSON; -: print it")
    calibrate = command(
        "calibrate",
        "measure what plans need to know of this machine, under a minute",
        "Measure memory bandwidth, rates of the time steps, messages between two ranks, files, and what every run\n"
        "costs, and write them as a machine file for `fathometer plan --on`.",
        "  fathometer calibrate\n  fathometer calibrate -o laptop.json --files /scratch",
    )
    calibrate.add_argument("-o", "--output", type=Path, metavar="MACHINE.json", help="file (where `plan` looks for it)")
    calibrate.add_argument("--files", type=Path, default=Path(), metavar="DIR", help="where files are measured (.)")
    calibrate.add_argument("--name", default="", help="of the machine, for people")
    storage = command(
        "io",
        "the storage benchmark: every way of writing and reading a volume, on this machine",
        "Write and read a volume made from a seed in a new folder in DIRECTORY, which is removed at the end, by each\n"
        "storage strategy, in turns with what the device gives to one process; verify every byte; rank them. Writes\n"
        "are flushed within their time; files are dropped from the page cache before they are read.",
        "  fathometer io /scratch --ranks 2\n"
        "  fathometer io . --grid 512,512,512 --strategy all --format rsf,nc --budget 10m --json io.json -o io.html\n"
        "  fathometer io . --strategy posix-shared,mpiio-collective:cb_nodes=1,cb_buffer_size=67108864\n"
        '  fathometer io . --remember            [storage] read, write = "auto" are the winners from now on',
    )
    storage.add_argument("folder", type=Path, metavar="DIRECTORY", help="where files are written and read")
    storage.add_argument(
        "--grid", type=_grid, default=(256, 256, 256), metavar="NX,NY,NZ", help="cells; NX,NZ in 2D (256,256,256)"
    )
    storage.add_argument(
        "--strategy",
        type=_strategies,
        default=(),
        metavar="S,S...|all",
        help="as in [storage]; all: with all data types too (each of the format once)",
    )
    storage.add_argument(
        "--format", type=_words, default=("rsf",), metavar="F,F...|all", help="rsf, npy, nc, h5 ...; all (rsf)"
    )
    storage.add_argument(
        "--operation", type=_operations, default=("write", "read"), metavar="write,read", help="(both)"
    )
    storage.add_argument("--repeat", type=_count, default=5, metavar="N", help="measurements of each (5)")
    storage.add_argument("--halo", type=_whole, default=0, metavar="R", help="cells read around a block (0)")
    storage.add_argument("--decomposition", type=_grid, metavar="PX,PY,PZ", help="how ranks cut the grid; PX,PZ in 2D")
    storage.add_argument("--budget", type=_duration, default=60.0, metavar="TIME", help="of the whole command (60s)")
    storage.add_argument("--seed", type=_whole, default=1, metavar="N", help="of the values and of the order (1)")
    storage.add_argument(
        "--data", default="noise", choices=("noise", "wavefield"), help="noise cannot be compressed (noise)"
    )
    storage.add_argument("--json", type=Path, metavar="FILE", help="write the record")
    storage.add_argument("--picture", type=Path, metavar="OUT.png", help="draw the rates")
    storage.add_argument("-o", "--output", type=Path, metavar="PAGE", help="write the page, as of a run")
    storage.add_argument("--remember", action="store_true", help="make the winners what auto is on this file system")
    for sub in (model, migrate):
        sub.add_argument("--trace", type=Path, metavar="FILE", help="write all spans of all ranks, for Perfetto")
    for sub in (model, migrate, demo):
        sub.add_argument("--json", action="store_true", help="print the run's record as JSON on standard output")
    for sub in (model, migrate, demo, stencil, calibrate, storage):
        sub.add_argument("--ranks", type=int, metavar="N", help="start N MPI ranks (default: as launched, or 1)")
        sub.add_argument("--threads", type=int, metavar="T", help="threads a rank (default: all its cores)")
        sub.add_argument("--quiet", action="store_true", help="print nothing but errors")
    return main_parser


def _count(text: str) -> int:
    """A number of at least 1, and below a thousand million."""
    if not (text.isascii() and text.isdecimal() and len(text) < 10) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: a whole number of at least 1, of up to nine digits")
    return int(text)


def _whole(text: str) -> int:
    """A number of at least 0, and below a thousand million."""
    return 0 if text == "0" else _count(text)


def _words(text: str) -> tuple[str, ...]:
    """Names with commas between."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",")))


def _operations(text: str) -> tuple[str, ...]:
    """write, read or both, in this order."""
    found = _words(text)
    if not set(found) <= {"write", "read"}:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: write, read, or both with a comma between")
    return tuple(name for name in ("write", "read") if name in found)


def _strategies(text: str) -> tuple[str, ...]:
    """Storage strategies with commas between."""
    from fathometer.lab.io.cases import strategy_words

    try:
        return strategy_words(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _depth(text: str) -> int:
    """A number of steps, 0 for auto."""
    return 0 if text == "auto" else _count(text)


def _duration(text: str) -> float:
    """Seconds of 90s, 30m, 8h, 2d or a number of seconds."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
    number, unit = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1.0)
    try:
        seconds = float(number) * unit
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 1e10:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: a time such as 90s, 30m, 8h or 2d")
    return seconds


def _job_time(text: str) -> float:
    """Seconds of 30m, 8h, 2d, or of Slurm's hours:minutes:seconds with days-; no bare numbers, which are minutes to
    Slurm."""
    if text[-1:] in ("m", "h", "d"):
        return _duration(text)
    found = re.fullmatch(r"(?:(\d{1,4})-)?(\d{1,4}):(\d\d):(\d\d)", text)
    seconds = 0.0
    if found:
        days, hours, minutes, rest = (int(part or 0) for part in found.groups())
        seconds = 86400.0 * days + 3600 * hours + 60 * minutes + rest
    if seconds <= 0:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: a time such as 30m, 8h, 2d, 08:00:00 or 1-12:00:00")
    return seconds


def _word(text: str) -> str:
    """A name that Slurm takes."""
    if not re.fullmatch(r"[\w.,+@:-]+", text):
        raise argparse.ArgumentTypeError(f"found {text!r}; allowed: letters, digits and any of _.,+@:-")
    return text


def _velocities(text: str) -> tuple[float, float]:
    """LOW,HIGH in m/s."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        low, high = 1.0, 0.0
    if not 0 < low <= high:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: LOWEST,HIGHEST in m/s")
    return low, high


def _lengths(text: str) -> tuple[float, ...]:
    """Numbers with commas between, in m."""
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(abs(one) < 1e9 for one in found):
        raise argparse.ArgumentTypeError(f"found {text}; allowed: numbers with commas between, in m")
    return found


def _told(module: str, function: str) -> Callable[[str], Any]:
    """What a function of seismic/ reads from an option's words."""

    def read(text: str) -> Any:
        try:
            return getattr(import_module(f"fathometer.seismic.{module}"), function)(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def _grid(text: str) -> tuple[int, int, int]:
    """NX,NY,NZ, or NX,NZ with one y plane."""
    numbers = [_count(part) for part in text.split(",")]
    if len(numbers) == 2:
        numbers.insert(1, 1)
    if len(numbers) != 3:
        raise argparse.ArgumentTypeError(f"found {text}; allowed: NX,NY,NZ, or NX,NZ in two dimensions")
    return numbers[0], numbers[1], numbers[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stderr is None:  # closed by whoever started us
        sys.stderr = io.StringIO()
    options = parser().parse_args(words)
    begin = process_start() if arguments is None else now()
    try:
        with interruptible(), Ledger(begin, "start-up", tracing=_trace(options) is not None):
            if options.command == "info":
                _info(options)
                return 0
            if options.command == "survey":
                _survey_build(options)
                return 0
            if options.command == "plan":
                _plan(options)
                return 0
            if options.command == "report":
                _report(options)
                return 0
            if options.command == "submit":
                _submit(options)
                return 0
            if options.command == "prepare":
                _prepare(options)
                return 0
            from fathometer.parallel.launch import start_ranks

            if options.command == "calibrate" and options.ranks is None:
                words += ["--ranks", str(_enough_to_exchange())]
                options = parser().parse_args(words)
            code = start_ranks(
                options.ranks, options.threads, words, _interrupted(options), getattr(options, "restarts", 0)
            )
            if code is not None:
                return code
            with prompt(lambda: _end_now(options)):
                return _on_ranks(options, words)
    except FathometerError as error:  # before MPI runs, or without it
        return _complain(error) if _first() else error.exit_code
    except MemoryError:
        return _complain(FathometerError("out of memory"))
    except KeyboardInterrupt:
        _say_interrupted(options)
        return _interrupted(options)


def _complain(error: FathometerError) -> int:
    print(f"fathometer: error: {' '.join(str(error).splitlines())}", file=sys.stderr, flush=True)
    return error.exit_code


def _first() -> bool:
    """Whether it is for this process to speak, while MPI does not run; the others give it time to, since the first rank
    that ends with an error ends all."""
    from fathometer.parallel.launch import is_first

    if is_first(os.environ):
        return True
    sleep(HEAD_START_SECONDS)
    return False


def _on_ranks(options: argparse.Namespace, words: list[str]) -> int:
    """Run a command on all ranks of this world; all ranks return the same code, or the world is ended."""
    from mpi4py import MPI

    from fathometer.parallel.agreement import all_here
    from fathometer.parallel.launch import check_world, is_first

    comm = MPI.COMM_WORLD
    try:
        check_world(comm.size, os.environ, options.ranks)
        # The work has messages of its own: none of them can be taken for what all_here asks the others.
        _run(options, words, comm.Dup())
    except FathometerError as error:
        if all_here(comm):
            return _complain(error) if comm.rank == 0 and is_first(os.environ) else error.exit_code
        return _end_all(comm, _complain(error))
    except KeyboardInterrupt:
        if comm.rank == 0:
            _say_interrupted(options)
        else:
            sleep(HEAD_START_SECONDS)
        return _end_all(comm, _interrupted(options))
    except MemoryError:
        return _end_all(comm, _complain(FathometerError(f"rank {comm.rank} ran out of memory")))
    except Exception:
        import traceback

        traceback.print_exc()
        return _end_all(comm, 1)
    return 0


def _interrupted(options: argparse.Namespace) -> int:
    """The exit code of a command that was told to end."""
    return RESUMABLE if options.command == "migrate" else INTERRUPTED


def _say_interrupted(options: argparse.Namespace) -> None:
    more = "; --resume goes on with the shots that are not done" * (options.command == "migrate")
    with suppress(OSError):
        print(f"fathometer: interrupted{more}", file=sys.stderr, flush=True)


def _end_now(options: argparse.Namespace) -> NoReturn:
    """End a process that was told to end and is still somewhere in a kernel or in MPI."""
    from fathometer.parallel.launch import is_first

    if is_first(os.environ):
        _say_interrupted(options)
    os._exit(_interrupted(options))


def _end_all(comm: MPI.Intracomm, code: int) -> int:
    """End the other ranks, which wait for this one; return the exit code where there are none."""
    if comm.size > 1:
        comm.Abort(code)
    return code


def _run(options: argparse.Namespace, words: list[str], comm: MPI.Intracomm) -> None:
    from fathometer import trace
    from fathometer.parallel.agreement import together
    from fathometer.parallel.threads import bind, unbind

    import_module(WORK[options.command])  # a part of the start-up

    def say(line: str) -> None:
        if comm.rank == 0 and not options.quiet:
            with suppress(OSError):  # that nobody reads is no reason to lose a run
                print(line, file=sys.stderr, flush=True)

    path = _trace(options)
    with together(comm):  # still a part of the start-up
        if comm.rank == 0:
            _require_folders(path)
    binding = bind(comm, options.threads)
    account = current()
    assert account is not None, "main has opened it"
    zero = trace.zero(comm) if path is not None else 0.0
    account.begin_ends()
    try:
        if options.command == "stencil":
            _stencil(options, words, comm, binding, say)
            return
        if options.command == "calibrate":
            _calibrate(options, comm, binding, say)
            return
        if options.command == "io":
            _io(options, words, comm, binding, say)
            return
        from fathometer.seismic.outcome import Settings

        settings = Settings(("fathometer", *words), options.quiet, binding, say, _publish, _wish(options))
        if options.command == "demo":
            from fathometer.seismic.demo import run_demo

            outcome = run_demo(options.output, options.quick, comm, settings)
        else:
            from fathometer.seismic.run import run_migrate, run_model, spare_inputs
            from fathometer.seismic.survey import load_survey

            work = run_model if options.command == "model" else run_migrate
            with phase("set up"):
                survey = load_survey(options.survey)
            if path is not None:
                spare_inputs(survey, [path])
            outcome = work(survey, comm, settings)
            if path is not None:
                trace.write_trace(path, account, zero, comm)
    finally:
        unbind(binding)
    with phase("finish"), together(comm):
        if comm.rank == 0:
            _tell(outcome, options, settings)
    if outcome.failed:
        reasons = "; ".join(outcome.failed.values())
        raise FathometerError(
            f"{len(outcome.failed)} shots are not in the image (--resume --retry-failed migrates them again): {reasons}"
        )


def _wish(options: argparse.Namespace) -> Wish:
    """What is to become of an earlier migration in the same folder."""
    from fathometer.seismic.journal import Wish

    if options.command != "migrate":
        return Wish()
    for name, found in (("--resume", options.resume), ("--share", options.share)):
        if found and options.overwrite:
            raise InputError(f"--overwrite: found together with {name}; allowed: one of them")
    share = " ".join((options.share or "").split())
    if options.share is not None and not share:
        raise InputError("--share: found an empty name; allowed: a name that all the runs say")
    resume = options.resume or options.retry_failed or bool(share)
    return Wish(resume, options.overwrite, options.retry_failed, share)


def _trace(options: argparse.Namespace) -> Path | None:
    """Where a trace is wanted, of the commands that can write one."""
    path: Path | None = getattr(options, "trace", None)
    return path


def _require_folders(*paths: Path | None) -> None:
    """That files can be written there is looked for before all the work, not after it."""
    for path in paths:
        if path is not None and path.is_dir():
            raise InputError(f"{path}: cannot be written: it is a folder")
        if path is not None and not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
            raise InputError(f"{path}: cannot be written: {path.parent} is no folder that can be written to")


def _require_png(picture: Path | None) -> None:
    if picture is not None and picture.suffix.lower() != ".png":
        raise InputError(f"--picture {picture}: allowed: the name of a .png file")


def _stencil(
    options: argparse.Namespace, words: list[str], comm: MPI.Intracomm, binding: Binding, say: Callable[[str], None]
) -> None:
    from fathometer.lab.stencil import Request, lines, run_stencil

    request = Request(
        options.grid, options.order, options.physics, options.steps, options.time_depth, options.repeat, options.scaling
    )

    def draw(path: Path, envelope: dict[str, Any]) -> None:
        from fathometer.pictures.roofline import draw_roofline

        draw_roofline(path, envelope)

    run = partial(run_stencil, request, comm, binding, ("fathometer", *words), say)
    _measured(options, comm, run, lines, draw)


def _io(
    options: argparse.Namespace, words: list[str], comm: MPI.Intracomm, binding: Binding, say: Callable[[str], None]
) -> None:
    from fathometer.lab.io.benchmark import Request, run_io
    from fathometer.lab.io.ranking import lines, require_all
    from fathometer.parallel.agreement import together

    request = Request(
        options.folder,
        options.grid,
        options.strategy,
        options.format,
        options.operation,
        options.repeat,
        options.halo,
        options.decomposition,
        options.budget,
        options.seed,
        options.data,
    )

    def draw(path: Path, envelope: dict[str, Any]) -> None:
        from fathometer.pictures.rates import draw_rates

        draw_rates(path, envelope)

    run = partial(run_io, request, comm, binding, ("fathometer", *words), say)
    envelope = _measured(options, comm, run, lines, draw, options.output)
    with together(comm):
        if comm.rank == 0:
            if options.output is not None:
                _page(options.output, options.json or options.output, envelope)
            if options.remember:
                say(_remember(envelope))
            require_all(envelope)


def _measured(
    options: argparse.Namespace,
    comm: MPI.Intracomm,
    run: Callable[[], dict[str, Any]],
    lines: Callable[[dict[str, Any]], list[str]],
    draw: Callable[[Path, dict[str, Any]], None],
    *more: Path | None,
) -> dict[str, Any]:
    """Collective. The record of a benchmark, which is told, written and drawn as wished; more: files to be written."""
    from fathometer.parallel.agreement import together
    from fathometer.record import write_record

    _require_png(options.picture)
    with together(comm):
        if comm.rank == 0:
            _require_folders(options.json, options.picture, *more)
    envelope = run()
    with together(comm):
        if comm.rank == 0:
            _write("\n".join(lines(envelope)))
            if options.json is not None:
                write_record(options.json, envelope)
            if options.picture is not None:
                draw(options.picture, envelope)
    return envelope


def _page(path: Path, record: Path, envelope: dict[str, Any]) -> None:
    """Write the page of a record just made."""
    from fathometer.lab.report.page import write_page
    from fathometer.lab.report.records import Run

    run = Run(record, envelope)
    write_page(path, [run], _exhibit(run))


def _remember(envelope: dict[str, Any]) -> str:
    """Make the winners of a benchmark the usual strategies of their file system."""
    from fathometer.lab.io.ranking import remembered_rows
    from fathometer.storage.remembered import remember

    return remember(Path(envelope["input"]["folder"]), remembered_rows(envelope["results"]["rows"]))


def _plan(options: argparse.Namespace) -> None:
    import mpi4py

    mpi4py.rc.initialize = False  # nothing here communicates
    from fathometer.record import plain, write_record
    from fathometer.seismic.capability import load_capability, usual_place
    from fathometer.seismic.plan import Wish, lines, plan
    from fathometer.seismic.run import spare_inputs
    from fathometer.seismic.survey import load_survey

    survey = load_survey(options.survey)
    if options.json is not None and str(options.json) != "-":
        _require_folders(options.json)
        spare_inputs(survey, [options.json])
    machine = options.on or usual_place()
    if options.on is None and not machine.exists():
        raise InputError(
            "--on: left out, and this machine has not been measured; run `fathometer calibrate`, or name a MACHINE.json"
        )
    wish = Wish(
        options.ranks,
        options.nodes,
        options.decomposition,
        options.within,
        options.velocities,
        options.migrate,
        options.history,
    )
    found = plan(survey, load_capability(machine), wish)
    if options.json is None or str(options.json) != "-":
        _write("\n".join(lines(found)))
    if options.json is not None:
        if str(options.json) == "-":
            _write(json.dumps(plain(found.as_dict()), indent=2, ensure_ascii=False))
        else:
            write_record(options.json, found.as_dict())


def _submit(options: argparse.Namespace) -> None:
    import mpi4py

    mpi4py.rc.initialize = False  # nothing here communicates
    from fathometer.parallel.submit import batch_script, submit
    from fathometer.seismic.batch import job_of
    from fathometer.seismic.survey import load_survey

    job = job_of(
        load_survey(options.survey),
        (sys.executable, "-m", "fathometer"),
        options.name,
        options.nodes,
        seconds=options.time,
        ranks_per_node=options.ranks_per_node,
        threads=options.threads,
        partition=options.partition,
        account=options.account,
        tasks=options.array,
    )
    if options.print:
        _write(batch_script(job).rstrip("\n"))
        return
    _write(submit(job))
    print(f"{'log':>13}  {job.output}/slurm-*.out", file=sys.stderr)


def _prepare(options: argparse.Namespace) -> None:
    from fathometer.parallel.launch import launched

    world = launched(os.environ)
    if world is not None and world.size != 1:
        raise InputError(f"prepare: started as {world.size} ranks by {world.launcher}; allowed: one rank")
    from fathometer.seismic.preparation import Request, prepare_model

    if not options.output.is_dir():  # some formats are folders; the others' writer says so
        _require_folders(options.output)
    if any(length < 0 for length in options.smooth or ()):
        raise InputError("--smooth: found a negative length; allowed: metres from 0")

    def say(line: str) -> None:
        if not options.quiet:
            print(line, file=sys.stderr, flush=True)

    request = Request(
        options.model,
        options.output,
        options.units,
        options.axes,
        options.input_spacing,
        options.input_origin,
        options.crop,
        options.smooth,
        options.spacing,
        options.extend,
        options.epsilon,
        options.delta,
        options.below_water,
    )
    prepare_model(request, say)


def _calibrate(options: argparse.Namespace, comm: MPI.Intracomm, binding: Binding, say: Callable[[str], None]) -> None:
    from fathometer.lab.calibrate import calibrate
    from fathometer.parallel.agreement import together
    from fathometer.seismic.capability import save_capability, usual_place

    path: Path = options.output or usual_place()
    with together(comm):
        if comm.rank == 0:
            if options.output is None:
                path.parent.mkdir(parents=True, exist_ok=True)
            _require_folders(path, options.files / "file")
    capability = calibrate(options.files, options.name, comm, binding, say)
    with together(comm):
        if capability is not None:
            save_capability(path, capability)
            say(f"written: {path}")


def _enough_to_exchange() -> int:
    """Two ranks where there are two cpus and no launcher has chosen."""
    from fathometer.parallel.launch import launched

    world = launched(os.environ)
    if world is not None:
        return world.size or 1
    return min(2, len(os.sched_getaffinity(0)))


def _tell(outcome: Outcome, options: argparse.Namespace, settings: Settings) -> None:
    """The files and the cost, for people; the record, for programs. Nothing where other runs make the image."""
    if not outcome.record:
        return
    for kind, path in outcome.files.items():
        settings.say(f"{kind:>13}  {path}")
    figures: dict[str, Any] = {figure["name"]: figure["value"] for figure in outcome.record["figures"]}
    settings.say(
        f"{figures['total']:.1f} s, of these {figures['kernel']:.1f} s time steps at "
        f"{figures['grid point updates'] / 1e6:.0f} million cells a second; "
        f"at most {figures['peak memory'] / 1e9:.2g} GB a rank"
    )
    if options.json:
        _write(json.dumps(outcome.record, indent=2, ensure_ascii=False))


def _write(text: str) -> None:
    """Print on standard output, now: what cannot be written is found here and not at the interpreter's end."""
    with suppress(AttributeError):  # for names that are not UTF-8, and terminals that are not
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        print(text, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still in the buffer
        if not isinstance(error, BrokenPipeError):  # whoever reads may have seen enough
            raise FathometerError(f"standard output: cannot be written: {error.strerror}") from None


def _publish(path: Path, envelope: dict[str, Any], panels: list[dict[str, Any]]) -> None:
    """Write the page of a run that ends."""
    from fathometer.lab.report.page import Exhibit, write_page
    from fathometer.lab.report.records import Run
    from fathometer.record import RECORD
    from fathometer.seismic.exhibit import heading

    write_page(path, [Run(path.with_name(RECORD), envelope)], Exhibit(panels=panels, **heading(envelope)))


def _report(options: argparse.Namespace) -> None:
    """Pages and tables from records; raises InputError where none of them can be used."""
    from fathometer.lab.report.page import check, comparison_tables, run_tables, write_page
    from fathometer.lab.report.records import read_record
    from fathometer.lab.report.tables import comma_separated, markdown
    from fathometer.record import PAGE
    from fathometer.storage import whole

    runs: list[Run] = []
    for place in options.records:
        try:
            run = read_record(place)
            check(run)
            _exhibit(run, panels=False)
            runs.append(run)
        except InputError as error:
            _complain(error)
    if not runs:
        raise InputError(f"report: none of the {len(options.records)} records can be used")
    page = options.output or runs[0].path.with_name(PAGE)
    outputs = [Path(name) for name in (options.markdown, options.csv) if name not in (None, "-")]
    _require_folders(page, *outputs)
    _spare((page, *outputs), [run.path for run in runs])
    write_page(page, runs, _exhibit(runs[0]))
    tables = comparison_tables(runs) if len(runs) > 1 else run_tables(runs[0])
    for name, made in ((options.markdown, markdown), (options.csv, comma_separated)):
        if name == "-":
            _write(made(tables).rstrip("\n"))
        elif name is not None:
            whole.write(Path(name), made(tables).encode(errors="backslashreplace"))
    print(f"{'report':>13}  {page}", file=sys.stderr)


def _exhibit(run: Run, panels: bool = True) -> Exhibit:
    """What the record's application shows of a run; nothing for an application that shows nothing.

    Raises InputError where the record is not one of that application.
    """
    from fathometer.lab.report.page import ODD, Exhibit, odd

    name = EXHIBITS.get(run.record["application"])
    if name is None:
        return Exhibit()
    shows = import_module(name)
    try:
        found = shows.panels_of_record(run.record, run.path) if panels else []
        return Exhibit(panels=found, **shows.heading(run.record))
    except ODD as error:
        raise InputError(f"{run.path}: damaged: {odd(error)}") from None


def _spare(outputs: Sequence[Path], inputs: Sequence[Path]) -> None:
    """Raises InputError where a page or a table would replace a record that it is made from."""
    from fathometer.storage import whole

    for path in outputs:
        if any(whole.replaces(path, one) for one in inputs):
            raise InputError(f"{path}: is a record that is read; allowed: another name")


def _survey_build(options: argparse.Namespace) -> None:
    """The only action there is of `survey`."""
    from fathometer.storage.index.build import build_index
    from fathometer.storage.index.summary import table_of
    from fathometer.storage.index.words import words_of

    said = [*options.word]
    for name, word in (("shot", options.shot_key), ("channel", options.channel)):
        if word is not None:
            said.append(f"{name}={word}")
    words = words_of(said)
    _require_folders(options.output)

    def say(line: str) -> None:
        if not options.quiet:
            print(line, file=sys.stderr, flush=True)

    jobs = options.jobs or len(os.sched_getaffinity(0))
    index = build_index(options.files, options.output, words, jobs, options.strict, say)
    if not options.quiet:
        _write(table_of(index))


def _formats(options: argparse.Namespace) -> None:
    from fathometer.storage.availability import availability

    if not options.formats:
        raise InputError("info: the following arguments are required: FILE, or --formats")
    if options.files or options.picture is not None:
        raise InputError("info: --formats: found with FILE or --picture; allowed: alone or with --json")
    found = availability()
    if options.json:
        _write(json.dumps([one.as_dict() for one in found], indent=2, ensure_ascii=False))
    else:
        for one in found:
            _write("\n".join([one.format, *(f"  {label:<10} {text}" for label, text in one.rows())]))


def _info(options: argparse.Namespace) -> None:
    from fathometer.storage.describe import describe

    if options.formats or not options.files:
        _formats(options)
        return
    if options.picture is not None and len(options.files) != 1:
        raise InputError(f"--picture {options.picture}: draws one FILE, found {len(options.files)}")
    _require_png(options.picture)
    descriptions = [describe(reference, Path()) for reference in options.files]
    if options.json:
        _write(json.dumps([d.as_dict() for d in descriptions], indent=2, ensure_ascii=False))
    else:
        for reference, description in zip(options.files, descriptions, strict=True):
            _write("\n".join([reference, *(f"  {label:<18} {text}" for label, text in description.rows())]))
    if options.picture is not None:
        from fathometer.pictures.reference import picture_of

        picture_of(options.picture, options.files[0], Path())
