"""The words of the command line: commands and their options; option_values.py tells what is allowed in them.

Like cli.py it imports nothing heavy before that is needed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from fathometer.base.errors import InputError
from fathometer.cli.failures import complain, speaks
from fathometer.cli.option_values import (
    count,
    depth,
    duration,
    grid,
    job_time,
    lengths,
    operations,
    strategies,
    told,
    velocities,
    whole,
    word,
    words,
)

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction["Parser"]

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
        sys.exit(complain(InputError(f"{message} (see {self.prog} --help)")) if speaks() else InputError.exit_code)


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
    for add in (_model, _migrate, _submit, _info, _prepare, _survey, _demo, _report, _stencil, _plan, _calibrate, _io):
        add(commands)
    return main_parser


def _command(commands: Commands, name: str, summary: str, description: str, examples: str) -> argparse.ArgumentParser:
    """A command without options yet."""
    return commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog="examples:\n" + examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _of_survey(sub: argparse.ArgumentParser) -> None:
    """What all commands have that take a survey."""
    sub.add_argument("survey", type=Path, metavar="SURVEY.toml", help="the survey file")


def _on_ranks(sub: argparse.ArgumentParser) -> None:
    """What all commands have that run on ranks."""
    sub.add_argument("--ranks", type=int, metavar="N", help="start N MPI ranks (default: as launched, or 1)")
    sub.add_argument("--threads", type=int, metavar="T", help="threads a rank (default: all its cores)")
    sub.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _with_record(sub: argparse.ArgumentParser) -> None:
    """What those of them have that leave the record of a run."""
    sub.add_argument("--json", action="store_true", help="print the run's record as JSON on standard output")
    _on_ranks(sub)


def _of_run(sub: argparse.ArgumentParser) -> None:
    """What those of them have whose spans can be written."""
    sub.add_argument("--trace", type=Path, metavar="FILE", help="write all spans of all ranks, for Perfetto")
    _with_record(sub)


def _model(commands: Commands) -> None:
    """Forward modelling."""
    sub = _command(
        commands,
        "model",
        "synthetic shot gathers by forward modelling",
        "Model the shots of a geometry ([acquisition] sources and receivers) and write them as one SEG-Y file,\n"
        "shots.segy, into the survey's output directory, with the run's record (run.json).",
        "  fathometer model survey.toml\n"
        "  fathometer model survey.toml --ranks 2 --threads 8\n"
        "  srun -n 64 fathometer model survey.toml --quiet",
    )
    _of_survey(sub)
    _of_run(sub)


def _migrate(commands: Commands) -> None:
    """Migration."""
    sub = _command(
        commands,
        "migrate",
        "the depth image of recorded shots, by reverse time migration",
        "Migrate the shots of a survey ([acquisition] gathers). Writes the image, the Laplacian-filtered image, the\n"
        "source illumination, a picture (image.png) and the run's record (run.json) into the output directory.",
        "  fathometer migrate survey.toml\n"
        "  fathometer migrate survey.toml --ranks 4 --json > record.json\n"
        "  mpirun -n 8 fathometer migrate survey.toml",
    )
    _of_survey(sub)
    sub.add_argument("--resume", action="store_true", help="go on with what an earlier run left, if there is one")
    sub.add_argument("--overwrite", action="store_true", help="replace an earlier run's results and journal")
    sub.add_argument(
        "--retry-failed", action="store_true", help="as --resume, and once more those shots that were set aside"
    )
    sub.add_argument("--share", metavar="NAME", help="share the shots with the other runs that say this NAME; resumes")
    sub.add_argument(
        "--restarts",
        type=whole,
        default=0,
        metavar="N",
        help="start --ranks again, at most N times, if one is killed",
    )
    _of_run(sub)


def _submit(commands: Commands) -> None:
    """A migration as a batch job."""
    sub = _command(
        commands,
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
    _of_survey(sub)
    sub.add_argument("--nodes", type=count, default=1, metavar="N", help="nodes of the job, or of each of an array (1)")
    sub.add_argument("--time", type=job_time, required=True, metavar="TIME", help="30m, 8h, 2d, or 1-12:00:00")
    sub.add_argument("--ranks-per-node", type=count, default=1, metavar="R", help="MPI ranks on each node (1)")
    sub.add_argument("--threads", type=count, metavar="T", help="threads a rank (whole nodes, and all their cores)")
    sub.add_argument("--partition", type=word, metavar="NAME", help="where it runs (Slurm's default)")
    sub.add_argument("--account", type=word, metavar="NAME", help="who pays (Slurm's default)")
    sub.add_argument("--name", type=word, metavar="NAME", help="of the job (fathometer-SURVEY)")
    sub.add_argument("--array", type=count, metavar="K", help="K jobs that share the shots, without MPI between them")
    sub.add_argument("--print", action="store_true", help="print the script; submit nothing")


def _info(commands: Commands) -> None:
    """What files hold."""
    sub = _command(
        commands,
        "info",
        "what a file holds: kind, shape, spacing, units, range, geometry",
        "Say what files hold: .rsf, .npy, .npz:key, .h5:path, .nc:variable, .zarr, .segy, .su, .blocks, and the index\n"
        "of a survey, .parquet.",
        "  fathometer info vp.rsf models.npz:epsilon\n  fathometer info shots.segy --picture shots.png\n"
        "  fathometer info --formats",
    )
    sub.add_argument("files", nargs="*", metavar="FILE", help="a file, with the key of one array: models.npz:vp")
    sub.add_argument(
        "--formats", action="store_true", help="which formats are read and written here, how, and what is missing"
    )
    sub.add_argument("--picture", type=Path, metavar="OUT.png", help="draw it (one FILE)")
    sub.add_argument("--json", action="store_true", help="print JSON")


def _prepare(commands: Commands) -> None:
    """A model made ready."""
    sub = _command(
        commands,
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
    sub.add_argument("model", metavar="MODEL", help="a volume, with the key of one array: models.npz:vp")
    sub.add_argument("-o", "--output", type=Path, required=True, metavar="OUT", help="its suffix is the format")
    sub.add_argument(
        "--units",
        choices=("m/s", "km/s", "s2/km2", "none"),
        help="of MODEL; none: no velocity, taken as it is (as MODEL says, else m/s)",
    )
    sub.add_argument("--axes", metavar="XYZ", help="of MODEL, slowest first: zyx, xz ... (as MODEL says, else xyz)")
    sub.add_argument("--input-spacing", type=lengths, metavar="DX,..", help="of MODEL's cells, m, if it has none")
    sub.add_argument("--input-origin", type=lengths, metavar="X,..", help="of its first cell, m, if it has none")
    sub.add_argument("--smooth", type=lengths, metavar="M,..", help="standard deviations of a Gaussian, m")
    sub.add_argument("--spacing", type=lengths, metavar="DX,..", help="of new cells, m; low-passed where larger")
    sub.add_argument(
        "--crop",
        type=told("extent", "crop_of"),
        metavar="X0:X1,..",
        help="cells that stay, m; an end may be left out (--crop=-50:900,: where the first is negative)",
    )
    sub.add_argument(
        "--extend",
        type=told("extent", "extension_of"),
        metavar="B:A,..",
        help="m before and after, or cells: 20c; one number stands for both; edge values repeat",
    )
    sub.add_argument(
        "--epsilon",
        type=told("thomsen", "rule_of"),
        metavar="RULE",
        help="a number, or velocity:V=VALUE,V=VALUE,..",
    )
    sub.add_argument("--delta", type=told("thomsen", "rule_of"), metavar="RULE", help="the same")
    sub.add_argument(
        "--below-water",
        type=told("thomsen", "sea_floor_of"),
        metavar="V|depth:Z",
        help="epsilon and delta are 0 and nothing is smoothed above the first cell faster than V m/s, or above Z m",
    )
    sub.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _survey(commands: Commands) -> None:
    """An index of field data."""
    sub = _command(
        commands,
        "survey",
        "an index of the traces of many files",
        "Prepare field data for migration.",
        "  fathometer survey build line/*.segy -o line.parquet",
    )
    build = sub.add_subparsers(dest="action", metavar="ACTION", required=True).add_parser(
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
    build.add_argument("--jobs", type=count, metavar="N", help="threads that read (as many as this process has cores)")
    build.add_argument(
        "--shot-key",
        metavar="WORD",
        help="what tells shots apart: a header field, or BYTE:TYPE (FieldRecord, 9:i4); file+WORD: within a file",
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


def _demo(commands: Commands) -> None:
    """The built-in example."""
    sub = _command(
        commands,
        "demo",
        "the main job on a model built by code",
        "Build a 3D VTI model (layers, a fault, a VTI shale, a high-velocity body, water on top), model ten shots,\n"
        "smooth the model, migrate, and draw the image over the velocity.",
        "  fathometer demo\n  fathometer demo --quick --output /tmp/demo --ranks 2",
    )
    sub.add_argument("--output", type=Path, default=Path("demo"), metavar="DIR", help="folder of all files (demo)")
    sub.add_argument("--quick", action="store_true", help="smaller and sooner: under 40 s on two cores")
    _with_record(sub)


def _report(commands: Commands) -> None:
    """Pages and comparisons."""
    sub = _command(
        commands,
        "report",
        "the page of a run again, and comparisons of several",
        "Write the page (report.html) of a run from its record and the files that the record names, where they still\n"
        "are. Several records are compared with the first: seconds of each phase, figures of merit, speed-up.\n"
        "A folder stands for the record in it. A record that cannot be used is told, and the others are used.",
        "  fathometer report image/run.json\n"
        "  fathometer report two-ranks/ four-ranks/ -o scaling.html\n"
        "  fathometer report before/ after/ --markdown - --csv phases.csv",
    )
    sub.add_argument("records", nargs="+", type=Path, metavar="RUN.json", help="a record, or the folder of one")
    sub.add_argument("-o", "--output", type=Path, metavar="PAGE", help="the page (report.html beside the first record)")
    sub.add_argument("--markdown", metavar="FILE", help="write the tables as Markdown; - for standard output")
    sub.add_argument("--csv", metavar="FILE", help="write them as CSV in SI units; - for standard output")


def _stencil(commands: Commands) -> None:
    """The propagator's benchmark."""
    sub = _command(
        commands,
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
    sub.add_argument(
        "--grid",
        type=grid,
        default=(320, 320, 320),
        metavar="NX,NY,NZ",
        help="cells; NX,NZ in 2D (320,320,320)",
    )
    sub.add_argument("--order", type=int, default=8, choices=range(2, 17, 2), metavar="N", help="2, 4 ... 16 (8)")
    sub.add_argument("--physics", default="vti", choices=("vti", "isotropic"), help="equation (vti)")
    sub.add_argument("--steps", type=count, default=12, metavar="N", help="time steps of a measurement (12)")
    sub.add_argument(
        "--time-depth",
        type=depth,
        default=0,
        metavar="N|auto",
        help="time steps a sweep; auto: searched for (auto)",
    )
    sub.add_argument("--repeat", type=count, default=7, metavar="N", help="measurements of each kind (7)")
    sub.add_argument("--scaling", action="store_true", help="also measure with fewer threads and ranks")
    sub.add_argument("--json", type=Path, metavar="FILE", help="write the record")
    sub.add_argument("--picture", type=Path, metavar="OUT.png", help="draw the roofline")
    _on_ranks(sub)


def _plan(commands: Commands) -> None:
    """What a survey will cost."""
    sub = _command(
        commands,
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
    _of_survey(sub)
    sub.add_argument("--on", type=Path, metavar="MACHINE.json", help="the machine (as calibrate left it)")
    sub.add_argument("--ranks", type=count, metavar="N", help="ranks of the run (the recommended ones)")
    sub.add_argument("--nodes", type=count, metavar="N", help="nodes to run on (as few as serve)")
    sub.add_argument("--decomposition", type=grid, metavar="PX,PY,PZ", help="how ranks cut the grid; PX,PZ in 2D")
    sub.add_argument("--within", type=duration, metavar="TIME", help="the fewest nodes that need at most 30m, 8h")
    sub.add_argument(
        "--velocities",
        type=velocities,
        metavar="LOW,HIGH",
        help="m/s, assumed in place of the model's values",
    )
    sub.add_argument("--migrate", action="store_true", help="a geometry too: as if its shots had been recorded")
    sub.add_argument(
        "--history",
        choices=("memory", "disk", "checkpoint", "files"),
        help="where snapshots are assumed to be kept (as the survey says; files: on disk, the time steps waiting, as "
        "older codes do it)",
    )
    sub.add_argument("--json", type=Path, metavar="FILE", help="write the plan as JSON; -: print it")


def _calibrate(commands: Commands) -> None:
    """What plans need to know."""
    sub = _command(
        commands,
        "calibrate",
        "measure what plans need to know of this machine, under a minute",
        "Measure memory bandwidth, rates of the time steps, messages between two ranks, files, and what every run\n"
        "costs, and write them as a machine file for `fathometer plan --on`.",
        "  fathometer calibrate\n  fathometer calibrate -o laptop.json --files /scratch",
    )
    sub.add_argument("-o", "--output", type=Path, metavar="MACHINE.json", help="file (where `plan` looks for it)")
    sub.add_argument("--files", type=Path, default=Path(), metavar="DIR", help="where files are measured (.)")
    sub.add_argument("--name", default="", help="of the machine, for people")
    _on_ranks(sub)


def _io(commands: Commands) -> None:
    """The storage benchmark."""
    sub = _command(
        commands,
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
    sub.add_argument("folder", type=Path, metavar="DIRECTORY", help="where files are written and read")
    sub.add_argument(
        "--grid",
        type=grid,
        default=(256, 256, 256),
        metavar="NX,NY,NZ",
        help="cells; NX,NZ in 2D (256,256,256)",
    )
    sub.add_argument(
        "--strategy",
        type=strategies,
        default=(),
        metavar="S,S...|all",
        help="as in [storage]; all: with all data types too (each of the format once)",
    )
    sub.add_argument(
        "--format",
        type=words,
        default=("rsf",),
        metavar="F,F...|all",
        help="rsf, npy, nc, h5 ...; all (rsf)",
    )
    sub.add_argument("--operation", type=operations, default=("write", "read"), metavar="write,read", help="(both)")
    sub.add_argument("--repeat", type=count, default=5, metavar="N", help="measurements of each (5)")
    sub.add_argument("--halo", type=whole, default=0, metavar="R", help="cells read around a block (0)")
    sub.add_argument("--decomposition", type=grid, metavar="PX,PY,PZ", help="how ranks cut the grid; PX,PZ in 2D")
    sub.add_argument("--budget", type=duration, default=60.0, metavar="TIME", help="of the whole command (60s)")
    sub.add_argument("--seed", type=whole, default=1, metavar="N", help="of the values and of the order (1)")
    sub.add_argument(
        "--data", default="noise", choices=("noise", "wavefield"), help="noise cannot be compressed (noise)"
    )
    sub.add_argument("--json", type=Path, metavar="FILE", help="write the record")
    sub.add_argument("--picture", type=Path, metavar="OUT.png", help="draw the rates")
    sub.add_argument("-o", "--output", type=Path, metavar="PAGE", help="write the page, as of a run")
    sub.add_argument("--remember", action="store_true", help="make the winners what auto is on this file system")
    _on_ranks(sub)
