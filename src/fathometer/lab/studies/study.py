"""A study made ready: its cases, the program that they run, and every check that can be made before the first run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fathometer.base.errors import InputError, naming
from fathometer.base.meant import did_you_mean
from fathometer.lab.recipes import expression
from fathometer.lab.recipes.recipe import KNOWN
from fathometer.lab.recipes.template import Value, names_in, text_of
from fathometer.lab.recipes.times import seconds_of
from fathometer.lab.statistics.stopping import StoppingRule
from fathometer.lab.studies.asked import Answer, check
from fathometer.lab.studies.builds import BASELINE, BUILD, baseline_words, with_baseline
from fathometer.lab.studies.cpu_order import places_of
from fathometer.lab.studies.design import Case, Design, Factors, cases_of
from fathometer.lab.studies.execution import CaseRunner, Conditions, ReadBy
from fathometer.lab.studies.launch_choice import check_at_once, cores_of, launcher_of, runner_of
from fathometer.lab.studies.mixes import ALONE, Baselines, Job, Mix, alone_cases
from fathometer.lab.studies.parts import OneProgram, Parts
from fathometer.lab.studies.placement import KEYS
from fathometer.lab.studies.program import program_of
from fathometer.lab.studies.published import published
from fathometer.lab.studies.results import FigureInfo
from fathometer.lab.studies.rounds import Limits
from fathometer.lab.studies.study_cluster import cluster_of
from fathometer.lab.studies.study_file import RepetitionsTable, Study

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
CORES = "cores"  # in constraints: logical cpus that a run may use on a host


@dataclass(frozen=True)
class ReadyStudy:
    """A study that can be run.

    Attributes:
        file: the study file. designs: cases by the designs' names. cases: of all of them, each once.
        runs: makes the runs. limits, rule: how often. figures: of its runs.
        inputs: files and folders that some case reads.
        baselines: of jobs at the same time, see mixes.py.
        pairs: names of the cases of both builds, with [gate] baseline.
    """

    file: Study
    designs: Mapping[str, Sequence[Case]]
    cases: Sequence[Case]
    runs: CaseRunner
    limits: Limits
    rule: StoppingRule
    figures: Mapping[str, FigureInfo]
    inputs: Sequence[Path]
    baselines: Baselines = field(default_factory=dict)
    pairs: Sequence[tuple[str, str]] = ()


def cases_and_designs(study: Study) -> dict[str, list[Case]]:
    """The cases of each design. Raises InputError that names the key of the study file."""
    factors = _factors(study)
    keep = study.constraints.keep
    kept = []
    for text in (keep,) if isinstance(keep, str) else keep:
        with naming(f"{study.path}: [constraints] keep"):
            kept.append(expression.read(text))
    known = {CORES: cores_of(study)}
    for read in kept:
        for name in read.names:
            if name not in factors and name not in known:
                listed = ", ".join([*factors, *known]) + did_you_mean(name, [*factors, *known])
                raise InputError(f"{study.path}: [constraints] keep: {read.text}: unknown name {name}; known: {listed}")
    designs: list[Design] = []
    for place, table in enumerate(study.design, 1):
        design = Design(table.name, table.kind, table.factors, table.base, table.lists, table.samples, study.runs.seed)
        with naming(f"{study.path}: [[design]] {place}"):
            design.check(factors)
            if any(other.name == design.name for other in designs):
                raise InputError(f'name: found "{design.name}" twice; allowed: names of which each is used once')
        designs.append(design)
    with naming(str(study.path)):
        return cases_of(factors, designs, kept, known)


def ready(study: Study, read_by: ReadBy = lambda _: ()) -> ReadyStudy:
    """Check all of a study that can be known before its first run; what it prepares is there.

    read_by: see CaseRunner.

    Raises InputError of one line that names the file, the key, what was found and what is allowed.
    """
    path = study.path
    designs = cases_and_designs(study)
    cases = list({case.name: case for some in designs.values() for case in some}.values())
    parts = parts_of(study)
    baselines: Baselines = {}
    if isinstance(parts, Mix):
        with naming(str(path)):
            shared = {name for text in study.environment.values() for name in names_in(text)}
            shared |= place.names() if (place := cluster_of(study.place)) is not None else set()
            alone, baselines = alone_cases(parts.jobs, cases, study.factors, shared)
        designs[ALONE] = alone
        cases += alone
    pairs: list[tuple[str, str]] = []
    if study.gate.baseline is not None:
        designs[BASELINE] = [with_baseline(case) for case in cases]
        pairs = [(base.name, case.name) for base, case in zip(designs[BASELINE], cases, strict=True)]
        cases += designs[BASELINE]
    figures = {info.name: info for info in parts.infos()}
    _check_baseline(study, figures)
    with naming(str(path)):
        answer = Answer(study.table, study.plot, study.gate, study.landscape, study.nested)
        check(answer, study.factors, list(designs), figures)
        published(study.landscape, study.directory)
    runs = CaseRunner(parts, launcher_of(study), runner_of(study), study.folder, _conditions(study), read_by)
    inputs: dict[Path, None] = {}
    for case in cases:
        try:
            inputs |= dict.fromkeys(runs.check(case))
        except Exception:
            with naming(f"{path}: {case}"):  # the texts of 10,000 cases would take a tenth of a second
                raise
    if study.runs.clock is not None and (study.launch.at_once > 1 or study.launch.how == "sbatch"):
        raise InputError(f"{path}: [runs] clock: found with at_once above 1 or sbatch; allowed: runs one by one, here")
    if study.launch.at_once > 1:
        check_at_once(study, [(case, runs.placements(case)) for case in cases])
    rule = rule_of(study)
    limits = Limits(
        rule.least,
        rule.most,
        study.runs.warm_up,
        study.runs.seed,
        None if study.runs.budget is None else seconds_of(study.runs.budget),
        study.launch.at_once,
        cells_of_winners(study, cases),
    )
    return ReadyStudy(
        file=study,
        designs=designs,
        cases=cases,
        runs=runs,
        limits=limits,
        rule=rule,
        figures=figures,
        inputs=list(inputs),
        baselines=baselines,
        pairs=pairs,
    )


def _check_baseline(study: Study, figures: Mapping[str, FigureInfo]) -> None:
    """Raises InputError where [gate] has a baseline that cannot be run in turns with the program, or for no figure."""
    gate, launch, path = study.gate, study.launch, study.path
    if gate.baseline is None:
        return
    with naming(f"{path}: [gate]"):
        baseline_words(gate.baseline, ())
    if launch.at_once > 1 or (launch.how == "sbatch" and launch.job == "case"):
        found = f"at_once = {launch.at_once}" if launch.at_once > 1 else 'sbatch and job = "case"'
        raise InputError(
            f"{path}: [gate] baseline: found with [launch] {found}, where runs are not made in turns; allowed: "
            'at_once = 1, and with sbatch job = "round"'
        )
    if BASELINE in [table.name for table in study.design]:
        raise InputError(f'{path}: [[design]] name: found "{BASELINE}" with [gate] baseline; allowed: another name')
    if not gate.figures:
        raise InputError(f"{path}: [gate] figures: found none with a baseline; allowed: {', '.join(figures)}")


def in_sessions(study: ReadyStudy, sessions: int, pause: float) -> ReadyStudy:
    """The study, whose rounds are spread over so many sessions. pause: s between them.

    Raises InputError for more sessions than there are pairs of rounds.
    """
    if sessions == 1:
        return study
    if sessions > (most := study.limits.least // 2):
        raise InputError(
            f"--sessions: found {sessions} for {study.limits.least} rounds; allowed: up to {most}, two rounds each"
        )
    return replace(study, limits=replace(study.limits, sessions=sessions, pause=pause))


def parts_of(study: Study) -> Parts:
    """What the study runs: one program, or jobs at the same time. Raises InputError."""
    path = study.path
    if (study.application is None) == (not study.job):
        found = "both" if study.job else "neither"
        raise InputError(f"{path}: [application], [[job]]: found {found}; allowed: one of them")
    names = list(study.factors)
    if study.application is not None:
        with naming(f"{path}: [application]"):
            program = program_of(study.application, study.directory, names, study.gate.baseline)
        _require_use(study, program.names() | set(KEYS))
        return OneProgram(program, study.placement.model_dump(), known_of(study), cluster_of(study.place))
    if study.placement.model_fields_set:
        raise InputError(f"{path}: [placement]: found with [[job]]; allowed: ranks, threads, cpus of each job")
    if study.gate.baseline is not None:
        raise InputError(f"{path}: [gate] baseline: found with [[job]]; allowed: with [application]")
    jobs: list[Job] = []
    for place, table in enumerate(study.job, 1):
        with naming(f"{path}: [[job]] {place}"):
            if not NAME.fullmatch(table.name) or table.name in [job.name for job in jobs]:
                raise InputError(f'name: found "{table.name}"; allowed: letters, digits and _, each name once')
            job = Job(table, program_of(table, study.directory, names))
            parameters = {parameter.name for parameter in job.program.recipe.parameter}
            for name in sorted(job.all_names() - {*names, *KNOWN, *parameters}):
                known = [*names, *KNOWN]
                raise InputError(f"unknown name {{{name}}}; known: {', '.join(known)}{did_you_mean(name, known)}")
            jobs.append(job)
    _require_use(study, {name for job in jobs for name in job.all_names()})
    return Mix(jobs, places_of(os.sched_getaffinity(0)), known_of(study), cluster_of(study.place))


def known_of(study: Study) -> dict[str, Value]:
    """Names that all runs have, with their values."""
    return {CORES: cores_of(study), "study": str(study.folder.absolute())}


def rule_of(study: Study) -> StoppingRule:
    """When the rounds of a study end."""
    repetitions = study.runs.repetitions
    if isinstance(repetitions, RepetitionsTable):
        with naming(f"{study.path}: [runs] repetitions"):
            return StoppingRule(repetitions.least, repetitions.most, repetitions.interval)
    return StoppingRule(repetitions, repetitions)


def cells_of_winners(study: Study, cases: Sequence[Case]) -> int:
    """Cells of tables whose winners are measured again, at most."""
    cells = 0
    for table in study.table:
        if table.best_over:
            others = [name for name in study.factors if name not in table.best_over]
            cells += len({tuple(case.settings[name] for name in others) for case in cases})
    return min(cells, len(cases))


def _factors(study: Study) -> Factors:
    for name, values in study.factors.items():
        where = f"{study.path}: [factors] {name}"
        if not NAME.fullmatch(name):
            raise InputError(f"{where}: found this name; allowed: letters, digits and _")
        if name in KNOWN and name not in KEYS:
            raise InputError(f"{where}: found a name that each run has ({KNOWN[name]}); allowed: another one")
        if name == ALONE and study.job:
            raise InputError(f"{where}: found the name of the cases in which a job is alone; allowed: another one")
        if name == BUILD and study.gate.baseline is not None:
            raise InputError(f"{where}: found this name with [gate] baseline, which has it; allowed: another one")
        if not values:
            raise InputError(f"{where}: found no value; allowed: one or more")
        # Tables find their cells by equal values, and 1, 1.0 and true are equal; "1" and 1 are the same in a command.
        seen: dict[Value, Value] = {}
        for value in values:
            if "\0" in str(value):
                raise InputError(f"{where}: found {value!r}; allowed: texts without the character 0")
            for form in dict.fromkeys((value, text_of(value))):
                if form in seen:
                    raise InputError(
                        f"{where}: found {seen[form]!r} and {value!r}; allowed: each value once, in one form"
                    )
                seen[form] = value
    return study.factors


def _require_use(study: Study, names: set[str]) -> None:
    """Raises InputError for a factor that changes nothing."""
    placed = {
        name for value in study.placement.model_dump().values() if isinstance(value, str) for name in names_in(value)
    }
    used = names | placed
    if (place := cluster_of(study.place)) is not None:
        used |= place.names()
    for text in (*study.environment.values(), str(study.runs.clock or "")):
        used |= set(names_in(text))
    for name in study.factors:
        if name not in used:
            raise InputError(
                f"{study.path}: [factors] {name}: nothing uses it; allowed: a parameter of the recipe, a key of "
                f"[placement], or {{{name}}} in [application] or [environment]"
            )


def _conditions(study: Study) -> Conditions:
    limit = study.runs.time_limit
    return Conditions(
        None if limit is None else seconds_of(limit),
        study.runs.page_cache,
        study.runs.keep,
        study.environment,
        study.launch.at_once > 1 and study.launch.how != "sbatch",
        study.runs.clock,
    )
