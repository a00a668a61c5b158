"""A command that measures: its table on standard output, its record and its picture in files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError
from fathometer.cli.command import RankCall
from fathometer.cli.output import print_text, require_picture, require_writable

Record = dict[str, Any]


def two_ranks() -> int:
    """Two ranks, which exchange messages, where there are two cpus; as many as a launcher has started."""
    from fathometer.launch.mpirun import launched

    world = launched(os.environ)
    if world is not None:
        return world.size or 1
    return min(2, len(os.sched_getaffinity(0)))


def run_benchmark(
    call: RankCall,
    measure: Callable[[], Record],
    table_lines: Callable[[Record], Sequence[str]],
    draw: Callable[[Path, Record], None],
    *other_files: Path | None,
) -> Record:
    """Collective. Measure; print, write and draw the record as --quiet, --json and --picture say; the record (rank 0).

    other_files: that the command writes afterwards. Raises InputError, before anything is measured, where a file cannot
    be written or two are the same.
    """
    from fathometer.parallel.collectives import collective_errors
    from fathometer.record.envelope import write_record

    options, comm = call.options, call.comm
    require_picture(options.picture)
    paths = [path for path in (options.json, options.picture, *other_files) if path is not None]
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError(f"{options.command}: found {', '.join(map(str, paths))}; allowed: a file of its own for each")
    with collective_errors(comm):
        if comm.rank == 0:
            require_writable(*paths)
    record = measure()
    with collective_errors(comm):
        if comm.rank == 0:
            if not options.quiet:
                print_text("\n".join([*table_lines(record), *_disturbed(record)]))
            if options.json is not None:
                write_record(options.json, record)
            if options.picture is not None:
                draw(options.picture, record)
    return record


def _disturbed(record: Record) -> list[str]:
    """What the page says of a record whose times something disturbed."""
    times = record["validity"]["times"]
    return [f"warning: the times of this run are not to be trusted: {'; '.join(times)}"] if times else []
