"""The command line: words in, a call to the application, an exit code out. No work of its own.

Nothing heavy is imported before it is known what is asked for: a process that has imported mpi4py can no longer start
mpirun, and `--help` should be quick.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathometer.errors import FathometerError, InputError

if TYPE_CHECKING:
    from mpi4py import MPI

    from fathometer.seismic.run import Outcome, Settings

INTERRUPTED = 130  # as shells count it: 128 + SIGINT
PATIENCE_SECONDS = 5.0  # that a failing rank waits for the others to fail too

DESCRIPTION = """\
Seismic depth imaging: 3D anisotropic (VTI) forward modelling and reverse time migration, run by MPI ranks with
OpenMP threads."""

EXAMPLES = """\
examples:
  fathometer demo --quick                   a first image within a minute
  fathometer model survey.toml --ranks 2    synthetic shots of a geometry
  fathometer migrate survey.toml            the image of recorded shots
  fathometer info shots.segy vp.rsf         what these files hold

exit codes: 0 done, 1 failed, 2 wrong input, 130 interrupted"""


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    from fathometer import __version__

    main_parser = argparse.ArgumentParser(
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
    info = command(
        "info",
        "what a file holds: kind, shape, spacing, units, range, geometry",
        "Say what files hold: .rsf, .npy, .npz:key, .h5:path, .segy.",
        "  fathometer info vp.rsf models.npz:epsilon\n  fathometer info shots.segy --picture shots.png",
    )
    info.add_argument("files", nargs="+", metavar="FILE", help="a file, with the key of one array: models.npz:vp")
    info.add_argument("--picture", type=Path, metavar="OUT.png", help="draw it (one FILE)")
    info.add_argument("--json", action="store_true", help="print JSON")
    demo = command(
        "demo",
        "the main job on a model built by code",
        "Build a 3D VTI model (layers, a fault, a VTI shale, a high-velocity body, water on top), model ten shots,\n"
        "smooth the model, migrate, and draw the image over the velocity.",
        "  fathometer demo\n  fathometer demo --quick --output /tmp/demo --ranks 2",
    )
    demo.add_argument("--output", type=Path, default=Path("demo"), metavar="DIR", help="folder of all files (demo)")
    demo.add_argument("--quick", action="store_true", help="smaller and sooner: under 40 s on two cores")
    for sub in (model, migrate, demo):
        sub.add_argument("--ranks", type=int, metavar="N", help="start N MPI ranks (default: as launched, or 1)")
        sub.add_argument("--threads", type=int, metavar="T", help="threads a rank (default: all its cores)")
        sub.add_argument("--quiet", action="store_true", help="print nothing but errors")
        sub.add_argument("--json", action="store_true", help="print the run's record as JSON on standard output")
    return main_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = parser().parse_args(words)
    if options.command == "info":
        return _alone(lambda: _info(options))
    from fathometer.parallel.launch import start_ranks

    try:
        start_ranks(options.ranks, options.threads, words)
    except FathometerError as error:
        return _complain(error)
    return _on_ranks(options, words)


def _complain(error: FathometerError) -> int:
    print(f"fathometer: error: {error}", file=sys.stderr)
    return error.exit_code


def _alone(work: Callable[[], None]) -> int:
    try:
        work()
    except FathometerError as error:
        return _complain(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _on_ranks(options: argparse.Namespace, words: list[str]) -> int:
    """Run a command on all ranks of this world; all ranks return the same code, or the world is ended."""
    import os

    from mpi4py import MPI

    from fathometer.parallel.launch import check_world

    comm = MPI.COMM_WORLD
    signal.signal(signal.SIGTERM, _interrupt)  # what mpirun passes on when it is interrupted itself
    try:
        check_world(comm.size, os.environ)
        _run(options, words, comm)
    except FathometerError as error:
        if _all_here(comm):
            return _complain(error) if comm.rank == 0 else error.exit_code
        _complain(error)
        comm.Abort(error.exit_code)
    except KeyboardInterrupt:
        if comm.rank == 0:
            print("fathometer: interrupted", file=sys.stderr)
        if comm.size > 1:
            comm.Abort(INTERRUPTED)
        return INTERRUPTED
    except MemoryError:
        _complain(FathometerError(f"rank {comm.rank} ran out of memory"))
        comm.Abort(1)
    except Exception:
        import traceback

        traceback.print_exc()
        if comm.size > 1:
            comm.Abort(1)  # the other ranks wait for this one
        return 1
    return 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _all_here(comm: MPI.Intracomm) -> bool:
    """Whether all ranks have come to the same end: an error that only some saw must not leave the others waiting."""
    import time

    request = comm.Ibarrier()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not request.Test():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True


def _run(options: argparse.Namespace, words: list[str], comm: MPI.Intracomm) -> None:
    from fathometer.parallel.threads import bind
    from fathometer.seismic.run import Settings

    def say(line: str) -> None:
        if comm.rank == 0 and not options.quiet:
            print(line, file=sys.stderr, flush=True)

    settings = Settings(("fathometer", *words), options.quiet, bind(comm, options.threads), say)
    if options.command == "demo":
        from fathometer.seismic.demo import run_demo

        outcome = run_demo(options.output, options.quick, comm, settings)
    else:
        from fathometer.seismic.run import run_migrate, run_model
        from fathometer.seismic.survey import load_survey

        work = run_model if options.command == "model" else run_migrate
        outcome = work(load_survey(options.survey), comm, settings)
    if comm.rank == 0:
        _tell(outcome, options, settings)


def _tell(outcome: Outcome, options: argparse.Namespace, settings: Settings) -> None:
    """The files and the cost, for people; the record, for programs."""
    for kind, path in outcome.files.items():
        settings.say(f"{kind:>13}  {path}")
    figures: dict[str, Any] = {figure["name"]: figure["value"] for figure in outcome.record["figures"]}
    settings.say(
        f"{figures['wall time']:.1f} s, of these {figures['propagation']:.1f} s propagation at "
        f"{figures['grid point updates'] / 1e6:.0f} million cells a second; "
        f"at most {figures['peak memory'] / 1e9:.2g} GB a rank"
    )
    if options.json:
        print(json.dumps(outcome.record, indent=2, ensure_ascii=False))


def _info(options: argparse.Namespace) -> None:
    from fathometer.storage.describe import describe

    if options.picture is not None and len(options.files) != 1:
        raise InputError(f"--picture {options.picture}: draws one FILE, found {len(options.files)}")
    descriptions = [describe(reference, Path()) for reference in options.files]
    if options.json:
        print(json.dumps([d.as_dict() for d in descriptions], indent=2, ensure_ascii=False))
    else:
        for reference, description in zip(options.files, descriptions, strict=True):
            print(reference)
            for label, text in description.rows():
                print(f"  {label:<18} {text}")
    if options.picture is not None:
        from fathometer.pictures.reference import picture_of

        picture_of(options.picture, options.files[0], Path())
