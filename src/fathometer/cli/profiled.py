"""--profile of commands that run on ranks: the command once more, with the library preloaded that counts its calls of
MPI."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.base.own_program import FATHOMETER, own_program
from fathometer.cli.command import Options


def under_profile() -> bool:
    """Whether this process is counted already."""
    from fathometer.record.profiled import FOLDER

    return FOLDER in os.environ


def run_profiled(options: Options, words: Sequence[str]) -> int:
    """Run the command line as a process of its own, in the folder that --profile names; its exit code.

    The profile is kept also of a run that fails. Raises InputError where ranks have been started already, and as
    `make_profile`.
    """
    from fathometer.cli.commands.profile import write_profile
    from fathometer.lab.profile.options import ProfileOptions
    from fathometer.lab.profile.profile import make_profile
    from fathometer.launch.mpirun import launched

    world = launched(os.environ)
    if world is not None:
        raise InputError(
            f"--profile: found ranks that {world.launcher} has started; allowed: --ranks N --profile DIR, or "
            "fathometer profile -- COMMAND around the launcher"
        )
    folder: Path = options.profile
    command = (*own_program(), *words)
    asked = ProfileOptions(command, folder, mpi=3, overwrite=getattr(options, "overwrite", False))
    record, ended = make_profile(asked, [FATHOMETER, *words])
    write_profile(folder, record, options.quiet or options.json)
    if ended.interrupted:
        raise KeyboardInterrupt
    return ended.code
