"""The study file: which question, of which application, over which factors, how often, and which tables answer it.

The tables of this module are the only definition of the keys; names in braces in words, such as "{threads}", stand for
the values of a case (template.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le
from pydantic import ConfigDict

from fathometer.config.input_file import InputFile, read_toml, validated
from fathometer.config.table import Table, key, section
from fathometer.config.types import Count, FileName, FolderName, Loose, Positive
from fathometer.lab.recipes.expression import Value
from fathometer.lab.recipes.keys import FigureTable, Time, ValidityTable, Words
from fathometer.lab.studies.design import Kind

Values = Annotated[tuple[Value, ...], Loose]
Names = Annotated[tuple[str, ...], Loose]
Share = Annotated[float, Ge(0), Le(1)]
Clock = Annotated[float, Ge(1e6), Le(1e12)]  # Hz


class ProgramTable(Table):
    """Which program is run, and with what: by a recipe, whose parameters are further keys here, or by a command."""

    model_config = ConfigDict(extra="allow")  # parameters of the recipe; checked against it

    recipe: str | None = key("a recipe's name, or the path of its file", default=None)
    command: Words | None = key("the words of the command, in place of a recipe", default=None)
    launch: Literal["own", "mpi", "serial"] | None = key(
        "of a command: own: it starts its ranks itself; mpi: by a launcher; serial: it has none", default=None
    )
    set: dict[str, Value] = key(
        "keys of the program's input file and their values, as the recipe sets them", default={}
    )
    figure: Annotated[tuple[FigureTable, ...], Loose] = key("numbers in what the program leaves", default=())
    profile: bool = key(
        "count what its ranks do with MPI, as fathometer profile does: time in MPI and outside, data and messages "
        "become figures",
        default=False,
    )
    validity: ValidityTable = section("what shows that a run did its work", ValidityTable)
    copy_files: Words = key("files and folders copied into each run's folder", default=())
    link_files: Words = key("files and folders linked there", default=())
    fill_files: Words = key("text files that are copied there with names in braces filled in", default=())

    @property
    def parameters(self) -> dict[str, Any]:
        """Of the recipe: the further keys."""
        return dict(self.model_extra or {})


class JobTable(ProgramTable):
    """A program of a mix, which runs at the same time as the others."""

    name: str = key("by which tables ask for it")
    count: int | str = key("how many run at a time", "jobs", 1)
    cpus: str = key(
        "compact: each on the next free cpus; distributed: on those of the sockets in turn; shared: all on all; "
        'or cpus, "0-3,8"',
        "",
        "compact",
    )
    inputs: str = key("shared: all read the same files; copied: each reads copies of its own", "", "shared")
    outputs: str = key("own: each runs in a folder of its own; shared: those of a name in one", "", "own")
    ranks: int | str = key("of each job", "ranks", 1)
    threads: int | str = key("of each rank", "threads", 1)


class PrepareTable(Table):
    """What makes an input of the runs, once, before the first one."""

    command: Words = key("its words; {study} is the folder of the results")
    makes: Words = key("the files that it makes; where all are there it is not run")


class ConstraintsTable(Table):
    """Which combinations are cases."""

    keep: str | Names = key("expressions that are true for a case; cores: those of this machine", default=())


class DesignTable(Table):
    """A part of the product of all factors."""

    name: str = key("by which tables ask for it")
    kind: Kind = key("how combinations are taken", "", "product")
    factors: Names = key("that vary; all: left out", "", ())
    base: dict[str, Value] = key("values of the other factors; a factor's first value where it is left out", default={})
    lists: dict[str, Values] = key("values that are taken together, with paired", default={})
    samples: Annotated[int, Ge(0)] = key("combinations, with random and latin-hypercube", "cases", 0)


class PlacementTable(Table):
    """Where the ranks of a run are. Factors of these names set them too."""

    nodes: int | str = key("hosts", "hosts", 1)
    ranks: int | str = key("MPI ranks", "ranks", 1)
    ranks_per_node: int | str | None = key("ranks of a host", "ranks", None)
    threads: int | str | None = key("threads of a rank", "threads", None)
    threads_per_core: int | str | None = key("hardware threads of a core that are used", "threads", None)
    distribution: str = key("block: the next rank on the same host; cyclic: on the next one", "", "block")
    bind: str = key("none, core, hwthread, socket or numa", "", "none")
    cpus: Annotated[tuple[int, ...], Loose] | str | None = key("the logical cpus of the run", "", None)
    memory: str = key("local: on the node of its cpus; interleave: over all", "", "as it is")
    mpi: Words = key("further words for the launcher", "", ())


class ClusterTable(Table):
    """A cluster of namespaces on this machine. The factors link and rails set these keys too."""

    nodes: int | str | None = key("its nodes; as many as the run has: left out", "nodes", None)
    link: str = key('of each node: "1gbit", "250mbit" … or "unlimited"', "", "unlimited")
    rails: int | str = key("networks, 1 or 2; MPI uses all", "networks", 1)
    network_folder: bool = key("a GlusterFS over the links, as /run/cluster/network", "", False)


class PlaceTable(Table):
    """On which hosts runs are made."""

    cluster: ClusterTable | None = key(
        "on nodes of a cluster that the study makes here; left out: on this host", default=None
    )


class LaunchTable(Table):
    """How runs are started."""

    how: Literal["auto", "local", "srun", "sbatch"] = key(
        "local: on this host; srun: in the allocation of this job; sbatch: as jobs; auto: srun in an allocation",
        "",
        "auto",
    )
    job: Literal["case", "round"] = key("with sbatch: a job for each case, or for each round", "", "case")
    deadline: Time = key("with sbatch: how long a job may wait to start", "", "1h")
    at_once: Count = key("runs at the same time: only where they cannot disturb each other", "runs", 1)
    disturb: bool = key("with at_once above 1: also where runs are on the same cpus", "", False)
    options: Names = key("further options of sbatch, which come last", "", ())


class RepetitionsTable(Table):
    """How often each case is run."""

    least: Count = key("rounds at least", "rounds", 6)
    most: Count = key("rounds at most", "rounds", 30)
    interval: Positive = key("ends when each 95 % interval is at most so wide, over its median", "", 0.05)


class RunsTable(Table):
    """How often, how long, under which conditions."""

    repetitions: RepetitionsTable | Count = key("rounds; a number: so many", default=RepetitionsTable())
    warm_up: Annotated[int, Ge(0)] = key("runs of each case before, which do not count", "runs", 1)
    budget: Time | None = key("of the whole study; begins no run that would exceed it", "", None)
    time_limit: Time | None = key("of a run; one that takes longer has failed", "", None)
    page_cache: Literal["as it is", "warm", "cold"] = key(
        "cold: files of the inputs are dropped from it before each run; warm: they are read before", "", "as it is"
    )
    clock: Clock | str | None = key("of the cpus during a run, where the system allows to set it", "Hz", None)
    seed: Annotated[int, Ge(0)] = key("of the order of the runs and of drawn samples", "", 1)
    keep: Literal["output", "all", "nothing"] = key(
        "of each run's folder: its output and record, all of it, or nothing", "", "output"
    )


class AnswerTable(Table):
    """A table of the answer: a row a combination of some factors."""

    title: str = key("above it; made from the rows where it is left out", default="")
    rows: str | Names = key("factors, a row for each combination of their values")
    columns: Names = key("figures; all merits: left out", default=())
    by: str | None = key("a factor, each of whose values has a column of its own", default=None)
    relative_to: dict[str, Value] = key("the row that others are compared with", default={})
    best_over: Names = key("factors of which each row has its best values, by the first column's figure", default=())
    scaling: Literal["strong", "weak", "none"] = key(
        "with relative_to nodes, ranks, threads …: efficiency for a problem of one size; weak: of one that grows; "
        "none: not told",
        "",
        "strong",
    )
    design: str | None = key("the cases of this design only", default=None)
    apart: Names = key(
        "factors of the rows whose values are no choices, such as sizes of a problem: the answer's sentence is made "
        "for each of them",
        default=(),
    )


class PredictTable(Table):
    """What the program's own prediction says beyond what is measured."""

    factor: Literal["nodes", "ranks"] = key("that goes on")
    values: Annotated[tuple[Count, ...], Loose] = key("of it, besides those of the cases")
    machine: FileName = key("the machine file for `fathometer plan --on`")


class BesideTable(Table):
    """A study of the same design on another machine."""

    study: FolderName = key("its folder")


class PlotTable(Table):
    """A plot of the answer."""

    title: str = key("above it", default="")
    kind: Literal["bars", "lines", "scaling", "curves", "heat map"] = key(
        "how it is drawn; scaling: both axes logarithmic, with the ideal line; curves: without it", "", "bars"
    )
    x: str = key("the factor along it")
    y: str | None = key("with heat map: the other factor", default=None)
    figure: str = key("that is drawn")
    lines: str | None = key("a factor, a line or colour for each of its values", default=None)
    best_over: Names = key("factors of which each point has its best values", default=())
    design: str | None = key("the cases of this design only", default=None)


class GateTable(Table):
    """Figures that must not get worse. `fathometer study run`, with a baseline, and `study compare` end with exit code
    3 where one did, with 4 where that is not decided."""

    figures: Names = key("their names", default=())
    tolerance: Share = key("by which one may be worse, of its value", "", 0.03)
    baseline: str | Words | None = key(
        "the earlier build, run in turns with this one: what stands in place of the program in its command, or, as a "
        "list, the whole command",
        default=None,
    )


class LandscapeTable(Table):
    """A published table beside the study's own."""

    table: str = key("its id in the program's collection, or in the file")
    file: FileName | None = key("a file of such tables", default=None)
    columns: Names = key("those shown; all: left out", default=())


class StudyOutputTable(Table):
    """Where results go."""

    directory: FolderName | None = key("folder; NAME.study beside the study file where it is left out", default=None)


class Study(InputFile):
    """A study."""

    title: str = key("of the study")
    question: str = key("that it answers", default="")
    limits: str = key("what its numbers do not show; said beside the answer", default="")
    nested: Names = key("factors for each of whose values the study is made by itself", default=())
    prepare: Annotated[tuple[PrepareTable, ...], Loose] = key("what makes inputs, once", default=())
    application: ProgramTable | None = key("the program that is run", default=None)
    job: Annotated[tuple[JobTable, ...], Loose] = key("programs that run at the same time", default=())
    factors: dict[str, Values] = key("what varies, and its values", default={})
    constraints: ConstraintsTable = section("which combinations are cases", ConstraintsTable)
    design: Annotated[tuple[DesignTable, ...], Loose] = key("parts of the product; all of it: left out", default=())
    placement: PlacementTable = section("where ranks are", PlacementTable)
    place: PlaceTable = section("on which hosts", PlaceTable)
    launch: LaunchTable = section("how runs are started", LaunchTable)
    environment: dict[str, str] = key("variables of the runs", default={})
    runs: RunsTable = section("how often, how long", RunsTable)
    table: Annotated[tuple[AnswerTable, ...], Loose] = key("tables of the answer", default=())
    plot: Annotated[tuple[PlotTable, ...], Loose] = key("plots of the answer", default=())
    gate: GateTable = section("figures that must not get worse", GateTable)
    predict: PredictTable | None = key("what the program predicts beyond the measured cases", default=None)
    beside: BesideTable | None = key("a study of the same design on another machine", default=None)
    landscape: Annotated[tuple[LandscapeTable, ...], Loose] = key("published tables beside", default=())
    output: StudyOutputTable = section("where results go", StudyOutputTable)

    @property
    def folder(self) -> Path:
        """Where the results are."""
        if self.output.directory is not None:
            return self.directory / self.output.directory
        return self.path.with_suffix(".study")


def load_study(path: Path, results: Path | None = None) -> Study:
    """Read and validate a study file.

    results: the folder of the results, in place of that of the file. Raises InputError of one line with the file and
    the first wrong key.
    """
    values: dict[str, Any] = read_toml(path, "the study file")
    study = validated(Study, values, path)
    if study.beside is not None:
        other = study.beside.model_copy(update={"study": str((study.directory / study.beside.study).absolute())})
        study = study.model_copy(update={"beside": other})
    if results is None:
        return study
    output = study.output.model_copy(update={"directory": str(results.absolute())})
    return study.model_copy(update={"output": output})
