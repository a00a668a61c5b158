"""`fathometer farm extract`: results of a farm out of its files."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.meant import did_you_mean
from fathometer.base.option_types import count
from fathometer.cli.command import Command, Options
from fathometer.cli.output import require_writable

DESCRIPTION = """\
Take results out of the files of a farm: that of one task or of one sequence, reading little else, or all of
them in the order of the tasks. Documents of BLAST+ in XML (-outfmt 5) become one valid document, as one run
over all queries writes it."""

EXAMPLES = """\
  fathometer farm extract out/ --task 17
  fathometer farm extract out/ --query sp|P12345 -o one.xml
  fathometer farm extract out/ -o all.xml"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fathometer farm extract`."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of the farm's results: its [output] directory")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--task", type=count, metavar="N", help="the result of this task, counted from 1")
    one.add_argument("--query", metavar="NAME", help="the result of the sequence of this name")
    parser.add_argument("--of", metavar="TASKS", help="the name of the tasks, where a farm file has several [[tasks]]")
    parser.add_argument("--partial", action="store_true", help="what is there, although results are missing")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where it goes (standard output)")


def run(options: Options) -> None:
    """Write what is asked for."""
    from fathometer.apps.farm.extract import Results, merged, of_query

    if options.query is not None or options.task is not None:
        for name, value in (("--of", options.of), ("--partial", options.partial)):
            if value:
                raise InputError(f"{name}: found together with one result; allowed: with all of them")
    require_writable(options.output)
    with Results(options.folder) as results:
        if options.output is not None and options.output.resolve().parent == results.folder.resolve():
            raise InputError(f"--output: found {options.output}, among the farm's own files; allowed: another folder")
        if options.query is not None:
            _write(options.output, [of_query(results, options.query)])
            return
        if options.task is not None:
            if options.task > results.count:
                raise InputError(f"--task: found {options.task}; allowed: 1 to {results.count}")
            result = results.of_task(options.task)
            if result is None:
                raise FathometerError(f"{results.folder}: task {options.task} has no result")
            _write(options.output, [result])
            return
        names = [group["name"] for group in results.farm["tasks"]]
        if options.of is None and len(names) > 1:
            raise InputError(f"--of: missing; needed: one of {', '.join(names)}")
        name = options.of if options.of is not None else names[0]
        if name not in names:
            raise InputError(f'--of: found "{name}"; allowed: {", ".join(names)}{did_you_mean(name, names)}')
        _write(options.output, merged(results, results.farm["tasks"][names.index(name)], options.partial))


def _write(path: Path | None, parts: Iterable[bytes]) -> None:
    from fathometer.storage import atomic

    if path is None:
        for part in parts:
            sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()
        return
    if path.exists() and not path.is_file():  # such as a device or a pipe
        with atomic.writing(path), path.open("wb") as file:
            file.writelines(parts)
        return
    with atomic.writing(path), atomic.Parts() as all_parts:
        part_path = all_parts.create(atomic.NewFile(path.resolve()))
        with part_path.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())


COMMAND = Command(
    "farm extract",
    "results of a farm out of its files",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
