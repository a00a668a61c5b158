"""The input of a farm of tasks (TOML), validated: which tasks, who does them, how their results are written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import gettempdir
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import AfterValidator, Field, model_validator

from fathometer.apps.farm.forms import names_in
from fathometer.base.meant import did_you_mean
from fathometer.config.constraints import Allowed
from fathometer.config.input_file import InputFile
from fathometer.config.table import Table, key, not_allowed, section
from fathometer.config.types import Count, FileName, FolderName, Loose
from fathometer.runs.restart_hint import DIRECTORY

MOST_TASKS = 100_000_000
MOST_BUFFER = 1 << 36  # bytes
MOST_OLD_BLOCK = 1 << 30  # bytes of a block with a length of 4 bytes before it
DATABASE = "database"
EVERYWHERE = ("task", "node", "worker", "input", "output", "scratch")  # names of forms that all tasks have
BLASTP = ("blastp", "-db", "{database}", "-outfmt", "5")

Words = Annotated[tuple[str, ...], Loose, MinLen(1), Allowed("a list of words, the program first")]
Seconds = Annotated[float, Ge(0), Le(1e8)]


def _plain(name: str) -> str:
    if not re.fullmatch(r"[\w.+-]+", name):
        raise not_allowed()
    return name


Name = Annotated[str, AfterValidator(_plain), Allowed("letters, digits, and . _ + - in a name")]
Limit = Annotated[float, Gt(0), Le(1e8)]  # s
Size = Annotated[int, Ge(0), Le(1 << 40)]
Value = str | int | float
Values = Annotated[tuple[Value, ...], Loose, MinLen(1), Allowed("a list of texts or numbers")]


class TasksTable(Table):
    """Some tasks."""

    name: Name = key("of these tasks, by which others name them", "", "tasks")
    priority: Annotated[int, Ge(-(10**9)), Le(10**9)] = key("those with a higher one are begun first", "", 0)
    after: Annotated[tuple[str, ...], Loose] = key("names of tasks that must all be done before these", "", ())
    tries: Count = key("a task that fails so often is set aside", "", 3)
    time_limit: Limit | None = key("of a task, after which it counts as failed; left out: none", "s", None)

    @property
    def words(self) -> tuple[str, ...]:
        """Of the command; (): there is none."""
        return ()

    def form_names(self) -> list[str] | None:
        """Names that the words may have in braces beside those of all tasks; None: numbers of fields, too."""
        return []

    def check(self) -> None:
        """Raises ValueError where the keys do not agree."""
        known = self.form_names()
        for name in names_in(self.words):
            fits = name in EVERYWHERE or (name in known if known is not None else name == "" or _is_field(name))
            if not fits:
                allowed = [*(known if known is not None else ["", "1", "2"]), *EVERYWHERE]
                words = ", ".join(f"{{{one}}}" for one in allowed)
                raise ValueError(f'command: found "{{{name}}}"; allowed: {words}{did_you_mean(name, allowed)}')
        if self.words and not self.words[0]:
            raise ValueError('command: found "" as the program; needed: its name')


def _is_field(name: str) -> bool:
    return name.isascii() and name.isdecimal() and int(name) > 0


class CommandTable(TasksTable):
    """A command for each task, which is run without a shell. `{input}` is a file that holds what the task reads, which
    else comes by standard input; `{output}` a file whose contents are the result, which else is standard output."""

    files: Annotated[tuple[FileName, ...], Loose] = key(
        "further files that the tasks read; a run that goes on notices where one has changed", "", ()
    )

    def input_files(self) -> Mapping[str, str]:
        """Files that hold the tasks, by their keys, as they stand in the input."""
        return {}


class FastaTasks(CommandTable):
    """Sequences of a FASTA file, some for each task, through a program that reads FASTA, such as those of BLAST+."""

    kind: Literal["fasta"] = key("sequences of a file")
    file: FileName = key("FASTA, plain")
    database: FileName | None = key(
        "of BLAST+, by its path without suffix: {database} in the command; relative to the input file", "", None
    )
    command: Words = key("the program and its arguments", "", BLASTP)
    queries: Count | None = key("sequences of a task; left out: by measurement of some samples", "", None)

    @property
    def words(self) -> tuple[str, ...]:
        """Of the command."""
        return self.command

    def form_names(self) -> list[str] | None:
        """The database."""
        return [DATABASE] if self.database is not None else []

    def input_files(self) -> Mapping[str, str]:
        """The sequences."""
        return {"file": self.file}


class LineTasks(CommandTable):
    """The lines of a file, a task each: `{}` is the line, `{1}`, `{2}`, … its fields between tabs. Empty lines, and
    those that begin with #, are none."""

    kind: Literal["lines"] = key("lines of a file")
    file: FileName = key("text in UTF-8")
    command: Words = key("the program and its arguments; without {} in it the line comes by standard input")
    priority_field: Count | None = key(
        "field with the priority of a task, an integer, in place of `priority`", "", None
    )
    after_field: Count | None = key(
        "field with the numbers of those lines, from 1 and with commas between, whose tasks must be done before",
        "",
        None,
    )

    @property
    def words(self) -> tuple[str, ...]:
        """Of the command."""
        return self.command

    def form_names(self) -> list[str] | None:
        """Fields."""
        return None

    def input_files(self) -> Mapping[str, str]:
        """The lines."""
        return {"file": self.file}


class GridTasks(CommandTable):
    """All points of a grid of parameters, a task each: `{name}` is the value of the parameter of that name; the last
    one varies fastest."""

    kind: Literal["grid"] = key("points of a grid")
    values: dict[str, Values] = key("of each parameter, by its name")
    command: Words = key("the program and its arguments")

    @property
    def words(self) -> tuple[str, ...]:
        """Of the command."""
        return self.command

    def form_names(self) -> list[str] | None:
        """The parameters."""
        return list(self.values)

    def check(self) -> None:
        """Raises ValueError where the keys do not agree."""
        if not self.values:
            raise ValueError("values: found none; needed: those of a parameter at least")
        for name in self.values:
            if name in EVERYWHERE or not name or "{" in name or "}" in name:
                raise ValueError(f'values: found "{name}"; allowed: other names than {", ".join(EVERYWHERE)}')
        super().check()


class BuiltInTasks(TasksTable):
    """Tasks that only take time and make results, of known length and size, for studies of the farm itself."""

    kind: Literal["built-in"] = key("of known length")
    count: Annotated[int, Ge(1), Le(MOST_TASKS)] = key("of tasks")
    seconds: Seconds = key("of a task, on average", "s", 0.001)
    bytes: Size = key("of a task's result, on average", "B", 0)
    spread: Literal["constant", "uniform", "heavy-tailed"] = key(
        "of both: constant; uniform: from 0 to twice the mean; heavy-tailed: Pareto's law with exponent 2, from half "
        "the mean to 100 times the mean",
        "",
        "constant",
    )
    busy: bool = key("a task computes; else it sleeps", "", False)
    seed: Annotated[int, Ge(0), Le(2**63 - 1)] = key("of lengths and results", "", 1)


Kinds = Annotated[FastaTasks | LineTasks | GridTasks | BuiltInTasks, Field(discriminator="kind")]


class FarmTable(Table):
    """Who does the tasks. Each rank is a node: its master, its workers and its writer."""

    workers: Count | None = key("of a node; left out: one for each of its cpus", "", None)
    levels: Literal["three", "flat"] = key(
        "three: the application master hands tasks to the masters of nodes, many at a time, and these to workers; "
        "flat: it hands each worker its next task",
        "",
        "three",
    )
    database_at: Literal["place", "read", "copied"] = key(
        "place: as it is; read: once a node, into memory that the system has free; copied: once a node, into `scratch`",
        "",
        "place",
    )
    scratch: FolderName | None = key("folder of each node's temporary files; left out: the system's", "", None)


class OutputTable(Table):
    """How results are written: a file for each node, in the folder "results" of the directory."""

    directory: FolderName = key("folder of the results; relative to the input file", "", DIRECTORY)
    buffers: Literal["dual", "on demand"] = key(
        "dual: results are gathered in one buffer, blocks of them compressed and gathered in another one, which is "
        "written when it is full; on demand: each result is compressed and written when it comes",
        "",
        "dual",
    )
    buffer: Annotated[int, Ge(1), Le(MOST_BUFFER)] = key("of each of the two buffers", "B", 64 << 20)
    block: Annotated[int, Ge(1), Le(1 << 30)] = key(
        "that is compressed as one, and read as one to have one result of it", "B", 1 << 20
    )
    flush: Annotated[float, Ge(0.01), Le(1e6)] = key("after which results are on the device at the latest", "s", 60.0)
    compression: Literal["zstd", "none", "zlib"] = key(
        'none: blocks of zstd that hold bytes as they are; zlib: with framing = "length"', "", "zstd"
    )
    level: Annotated[int, Ge(-7), Le(22)] = key("of the compression: zstd -7 to 22, zlib 0 to 9", "", 3)
    threads: Annotated[int, Ge(1), Le(64)] = key("that compress, on each node", "", 1)
    framing: Literal["zstd", "length"] = key(
        "zstd: frames with directories; length: as the published farm had it, blocks with their length in 4 bytes, "
        "kept to be compared with",
        "",
        "zstd",
    )


class FarmFile(InputFile):
    """The input of a farm of tasks."""

    tasks: Annotated[tuple[Kinds, ...], Loose, MinLen(1)] = key("what is to be done")
    farm: FarmTable = section("who does it", FarmTable)
    output: OutputTable = section("how results are written", OutputTable)

    @property
    def output_directory(self) -> Path:
        """Folder of the results."""
        return self.directory / self.output.directory

    @model_validator(mode="after")
    def _agree(self) -> Self:
        names = [table.name for table in self.tasks]
        for number, table in enumerate(self.tasks, 1):
            where = f"[[tasks]] {number}"
            if names.index(table.name) != number - 1:
                raise ValueError(f'{where} name: found "{table.name}" twice; allowed: each name once')
            for name in table.after:
                if name not in names or name == table.name:
                    raise ValueError(
                        f'{where} after: found "{name}"; allowed: names of other tasks{did_you_mean(name, names)}'
                    )
            try:
                table.check()
            except ValueError as error:
                raise ValueError(f"{where} {error}") from None
        self._check_order()
        self._check_output()
        return self

    def _check_order(self) -> None:
        """Tasks that wait for each other would never begin."""
        left = {table.name: set(table.after) for table in self.tasks}
        while ready := [name for name, after in left.items() if not after & set(left)]:
            for name in ready:
                del left[name]
        if left:
            raise ValueError(f"[[tasks]] after: found {', '.join(left)}, which wait for each other; allowed: an order")

    def _check_output(self) -> None:
        output = self.output
        old = output.framing == "length"
        if output.compression == "zlib" and not old:
            raise ValueError('[output] compression: found "zlib"; allowed: with framing = "length"')
        if output.compression == "zlib" and not 0 <= output.level <= 9:
            raise ValueError(f'[output] level: found {output.level}; allowed: 0 to 9, with compression = "zlib"')
        if old and output.block > MOST_OLD_BLOCK:
            raise ValueError(f"[output] block: found {output.block}; allowed: up to {MOST_OLD_BLOCK}")

    @property
    def scratch(self) -> Path:
        """Where nodes make their folders of temporary files."""
        return (self.place(self.farm.scratch) if self.farm.scratch else Path(gettempdir())).absolute()

    def place(self, name: str) -> Path:
        """A file that the input names."""
        return self.directory / name

    def spec(self) -> dict[str, Any]:
        """What the tasks are, JSON-ready: two runs with the same can go on with each other's results."""
        return {"tasks": self.resolved()["tasks"]}
