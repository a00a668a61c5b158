"""Jobs that run at the same time on one machine, and how much of their speed they keep.

A case of such a study is a mix: so many of each job, each on cpus of its own or on shared ones. Beside the mixes each
job is run alone, on the first cpus, in the same rounds. The relative throughput of a job in a mix is

    T(alone, compact) / T(in the mix),

1 where the others do not disturb it; that of the mix is the sum over its jobs: how much work it does in the time in
which one job alone would be done (the weighted speed-up of Snavely & Tullsen 2000, ASPLOS IX).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from fathometer.base.errors import InputError
from fathometer.lab.recipes.recipe import PATHS
from fathometer.lab.recipes.template import Value, Values, names_in
from fathometer.lab.studies.cpu_order import CpuPlace
from fathometer.lab.studies.design import Case, Factors, text_of
from fathometer.lab.studies.free_cpus import SHARED, FreeHostCpus, FreeNodeCpus
from fathometer.lab.studies.parts import Part, known_values
from fathometer.lab.studies.placement import MOST, Placement, cpus_of
from fathometer.lab.studies.program import ELAPSED, Program, filled
from fathometer.lab.studies.results import CaseRuns, FigureInfo, Run, RunKind
from fathometer.lab.studies.study_cluster import StudyCluster
from fathometer.lab.studies.study_file import JobTable

ALONE = "alone"  # the setting of a case in which a job runs by itself: its name; and the design of these cases
THROUGHPUT = "relative throughput"
MOST_JOBS = 4096  # at a time
CHOICES: Mapping[str, Sequence[str]] = {
    "cpus": ("compact", "distributed", SHARED),
    "inputs": ("shared", "copied"),
    "outputs": ("own", "shared"),
}
Baselines = Mapping[str, Mapping[str, str]]  # by case and job: the name of the case in which the job is alone


@dataclass(frozen=True)
class Job:
    """A job of the study file: its table and its program."""

    table: JobTable
    program: Program

    @property
    def name(self) -> str:
        """By which figures and tables name it."""
        return self.table.name

    def names(self) -> set[str]:
        """Names in braces on which the job depends when it is alone."""
        return self.program.names() | _names(self.table.ranks, self.table.threads, self.table.inputs)

    def all_names(self) -> set[str]:
        """All names in braces."""
        return self.names() | _names(self.table.count, self.table.cpus, self.table.outputs)

    def count(self, settings: Mapping[str, Value]) -> int:
        """How many run in a mix. Raises InputError."""
        if settings.get(ALONE) is not None:
            return int(settings[ALONE] == self.name)
        return self._number("count", self.table.count, settings, 0, MOST_JOBS)

    def placement(self, settings: Mapping[str, Value]) -> Placement:
        """Ranks and threads of one of them. Raises InputError."""
        ranks = self._number("ranks", self.table.ranks, settings, 1, MOST)
        return Placement(ranks=ranks, threads=self._number("threads", self.table.threads, settings, 1, MOST))

    def choice(self, name: str, settings: Mapping[str, Value]) -> str:
        """The value of a key with CHOICES, or a list of cpus as text. Raises InputError."""
        value = filled(getattr(self.table, name), settings)
        where = f"[[job]] {self.name} {name}"
        if value in CHOICES[name]:
            return str(value)
        allowed = ", ".join(f'"{choice}"' for choice in CHOICES[name])
        if name == "cpus":
            allowed += ', or cpus such as "0-3,8"'
            if isinstance(value, int | str) and not isinstance(value, bool):
                with suppress(InputError):
                    if cpus_of(str(value)):
                        return str(value)
        found = f'"{value}"' if isinstance(value, str) else value
        raise InputError(f"{where}: found {found}; allowed: {allowed}")

    def _number(self, key: str, value: int | str, settings: Mapping[str, Value], least: int, most: int) -> int:
        found = filled(value, settings)
        if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= most:
            shown = text_of(found) if isinstance(found, bool | int | float | str) else found
            raise InputError(f"[[job]] {self.name} {key}: found {shown}; allowed: an integer from {least} to {most}")
        return found


class Mix:
    """A study of jobs at the same time (parts.Parts).

    Args:
        places: the logical cpus of this process, and where each is. known: further names with their values.
        place: the cluster on whose nodes they run; None: on this host.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        places: Mapping[int, CpuPlace],
        known: Mapping[str, Value],
        place: StudyCluster | None = None,
    ) -> None:
        self.jobs, self._known, self._place = list(jobs), known, place
        self._places = places

    @property
    def programs(self) -> Sequence[Program]:
        """All programs that it may run."""
        return [job.program for job in self.jobs]

    def of(self, case: Case, folder: Path, number: int) -> list[Part]:
        """The parts of a run of a case, in the run's folder."""
        parts: list[Part] = []
        alone = case.settings.get(ALONE) is not None
        running = [(job, count) for job in self.jobs if (count := job.count(case.settings))]
        where = {job.name: "compact" if alone else job.choice("cpus", case.settings) for job, _ in running}
        spec = None if self._place is None else self._place.spec(case.settings, 1)
        free = FreeHostCpus(self._places, where.values()) if spec is None else FreeNodeCpus(spec, list(self._places))
        for job, count in running:
            placement = job.placement(case.settings)
            for instance in range(1, count + 1):
                placed = free.next_placement(placement, where[job.name])
                parts.append(self._part(job, instance, placed, case, folder, number))
        if not parts:
            raise InputError("[[job]]: found no job at all in it; allowed: a count of 1 for one of them at least")
        return parts

    def infos(self) -> list[FigureInfo]:
        """The figures of the runs."""
        infos = [FigureInfo(THROUGHPUT, "1", "higher")]
        for job in self.jobs:
            infos.append(FigureInfo(f"{job.name} {THROUGHPUT}", "1", "higher"))
            for info in job.program.infos():
                infos.append(replace(info, name=f"{job.name} {info.name}", role="context"))
        return infos

    def figures(self, case: Case, parts: Sequence[Part], of_parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
        """The figures of a run, from those of its parts: of each job the median over those of its name, and the
        seconds of each."""
        figures: dict[str, float] = {}
        for job in self.jobs:
            own = [of for part, of in zip(parts, of_parts, strict=True) if part.job.rpartition(" ")[0] == job.name]
            for name in dict.fromkeys(name for of in own for name in of):
                figures[f"{job.name} {name}"] = median(of[name] for of in own if name in of)
            figures |= {f"{job.name} {n} {ELAPSED.name}": of[ELAPSED.name] for n, of in enumerate(own, 1)}
        return figures

    def _part(self, job: Job, instance: int, placement: Placement, case: Case, folder: Path, number: int) -> Part:
        own = folder / f"{job.name}-{instance}"
        place = folder / f"{job.name}-shared" if job.choice("outputs", case.settings) == "shared" else own
        known = known_values(case, placement, place, number, self._known, job.program) | {"job": instance}
        values: Values = job.program.values(known)
        copies: dict[Path, Path] = {}
        if job.choice("inputs", case.settings) == "copied":
            values, copies = _copied(job, values, own / "inputs", instance)
        return Part(f"{job.name} {instance}", job.program, placement, values, own, place, copies)


def _copied(job: Job, values: Values, folder: Path, instance: int) -> tuple[Values, dict[Path, Path]]:
    """The values with paths of copies in place of the inputs', and from where to where these are made.

    The names of copies end with the job's number: programs name their outputs by their inputs, so that jobs in one
    folder write files of their own.
    """
    copies = {}
    changed = dict(values)
    for parameter in job.program.recipe.parameter:
        if parameter.type in PATHS and values[parameter.name] != "":
            source = Path(str(values[parameter.name]))
            # A folder for each parameter: files of different ones may have the same name.
            copies[source] = folder / parameter.name / f"{source.stem}-{instance}{source.suffix}"
            changed[parameter.name] = str(copies[source])
    if not copies:
        raise InputError(
            f'[[job]] {job.name} inputs: found "copied", but no parameter of its recipe is a file or folder; '
            'allowed: "shared"; copy_files are copied for each folder'
        )
    return changed, copies


def alone_cases(
    jobs: Sequence[Job], cases: Sequence[Case], factors: Factors, shared: Collection[str] = ()
) -> tuple[list[Case], Baselines]:
    """The cases in which each job is alone, as the mixes need them: they differ in what the job itself depends on, and
    have the first value of all other factors. And which of them are those of each mix.

    shared: factors on which all jobs depend, such as those of their environment.
    """
    found: dict[str, Case] = {}
    baselines: dict[str, dict[str, str]] = {}
    for case in cases:
        for job in jobs:
            if job.count(case.settings):
                own = job.names() | set(shared)
                settings = {name: value if name in own else factors[name][0] for name, value in case.settings.items()}
                alone = Case({**settings, ALONE: job.name})
                found.setdefault(alone.name, alone)
                baselines.setdefault(case.name, {})[job.name] = alone.name
    return list(found.values()), baselines


def with_throughput(cases: Mapping[str, CaseRuns], baselines: Baselines) -> dict[str, CaseRuns]:
    """The cases with the relative throughput of each mix and of its jobs, from runs of the same rounds."""
    found = dict(cases)
    for name, jobs in baselines.items():
        alone = {
            job: {(run.kind, run.number): run for run in cases[base].runs if not run.failed}
            for job, base in jobs.items()
        }
        found[name] = replace(cases[name], runs=[_run_with_throughput(run, alone) for run in cases[name].runs])
    return found


def _run_with_throughput(run: Run, alone: Mapping[str, Mapping[tuple[RunKind, int], Run]]) -> Run:
    """A run with its relative throughput, where each of its jobs was run alone in the same round."""
    figures = dict(run.figures)
    total = 0.0
    for job, runs in alone.items():
        base = runs.get((run.kind, run.number))
        if base is None or run.failed:
            return run
        reference = base.figures[f"{job} {ELAPSED.name}"]
        mine = _each(figures, job)
        if not mine:
            return run
        figures[f"{job} {THROUGHPUT}"] = median(reference / seconds for seconds in mine)
        total += sum(reference / seconds for seconds in mine)
    figures[THROUGHPUT] = total
    return replace(run, figures=figures)


def _each(figures: Mapping[str, float], job: str) -> list[float]:
    """Seconds of each of the jobs of a name."""
    found: list[float] = []
    while (seconds := figures.get(f"{job} {len(found) + 1} {ELAPSED.name}")) is not None:
        found.append(seconds)
    return found


def _names(*values: object) -> set[str]:
    return {name for value in values if isinstance(value, str) for name in names_in(value)}
