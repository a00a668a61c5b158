"""One run of one case: its folder, its command, its figures."""

from __future__ import annotations

import json
import math
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from fathometer.base.errors import FathometerError, InputError
from fathometer.lab.cluster.spec import node_names
from fathometer.lab.profile import study_figures
from fathometer.lab.profile.profile import PAGE as PROFILE_PAGE
from fathometer.lab.profile.profile import RECORD as PROFILE
from fathometer.lab.recipes.run_folder import LARGEST_TEXT, copy_inputs
from fathometer.lab.recipes.template import fill
from fathometer.lab.studies.batch_script import cpus_of_node
from fathometer.lab.studies.builds import BASELINE, BUILD
from fathometer.lab.studies.clock import STATE as CLOCK
from fathometer.lab.studies.clock import check_clock
from fathometer.lab.studies.design import Case
from fathometer.lab.studies.launching import Launch, Launcher
from fathometer.lab.studies.parts import Part, Parts
from fathometer.lab.studies.placement import Placement
from fathometer.lab.studies.placement_check import misplaced
from fathometer.lab.studies.processes import STDERR, STDOUT, Ended, Process, last_lines
from fathometer.lab.studies.program import ELAPSED, filled
from fathometer.lab.studies.results import MEASURED, Run, RunKind
from fathometer.lab.studies.runner import Runner, RunToBegin, Tell
from fathometer.lab.studies.single_run import RESULT, Cache, Outcome, SingleRun, outcome_in
from fathometer.lab.studies.store import remove_run, run_folder
from fathometer.record.envelope import RECORD
from fathometer.record.machine_of_runs import machine_of_runs
from fathometer.storage import atomic
from fathometer.storage.fingerprint import hash_of
from fathometer.storage.json_text import json_values

# What differs from run to run in the reasons of a record (record/ranks.py): a mark of a case is told once.
_RANK, _AMOUNT = re.compile(r"^rank \d+ on \S+: "), re.compile(r" ?\b\d+(?:\.\d+)? (?:% of the time|MB)")
Keep = Literal["output", "all", "nothing"]
ReadBy = Callable[[Path], Sequence[Path]]


@dataclass(frozen=True)
class Conditions:
    """How runs are made.

    Attributes:
        time_limit: s; None: none. page_cache: of the inputs, before a run. keep: what is kept of a run's folder.
        environment: variables, with names in braces.
        clock: of the cpus, Hz, or a text with names in braces; None: as it is.
        beside: whether other runs of the study may run at the same time.
    """

    time_limit: float | None = None
    page_cache: Cache = "as it is"
    keep: Keep = "output"
    environment: Mapping[str, str] = field(default_factory=dict)
    beside: bool = False
    clock: float | str | None = None


class CaseRunner:
    """Makes the runs of a study (rounds.Work).

    Args:
        parts: what it runs. runner: what makes the runs. folder: of the study.
        read_by: the files that a run reads because an input file names them, given that.
    """

    def __init__(
        self,
        parts: Parts,
        launcher: Launcher,
        runner: Runner,
        folder: Path,
        conditions: Conditions,
        read_by: ReadBy = lambda _: (),
    ) -> None:
        self._parts, self._launcher, self._runner, self._conditions = parts, launcher, runner, conditions
        self._folder = folder.absolute()
        self._read_by = read_by
        self._read: dict[Path, Sequence[Path]] = {}
        self._found: set[str | Path] = set()  # programs and inputs that are there, looked for once
        self._programs: set[str] = set()  # of those, what the cases run, also where a factor names it

    def commands(self, case: Case) -> list[Launch]:
        """The commands of a case. Raises InputError where there is none."""
        return [self._launch(part) for part in self._first_parts(case)]

    def placements(self, case: Case) -> list[Placement]:
        """Where the programs of a case run."""
        return [part.placement for part in self._first_parts(case)]

    def check(self, case: Case) -> list[Path]:
        """The files and folders that a case reads, as far as recipe, study file and input files name them.

        Raises InputError where the case could not be run.
        """
        inputs = []
        for part in self._first_parts(case):
            words = part.program.words(part.values)
            if words[0] not in self._found:  # before what starts it: the message names its package
                part.program.recipe.require_program(part.values)
            launched = self._launched(words, part)
            for program in dict.fromkeys((words[0], launched.words[0])):
                if program not in self._found:
                    if program == words[0] and not part.program.recipe.ours:
                        self._programs.add(program)
                    if shutil.which(program) is None:
                        raise InputError(f"{program}: no such program on PATH; needed to start runs so")
                    self._found.add(program)
            if part.values.get(BUILD) == BASELINE:  # which may begin with env, sh, python
                own = part.program.words_of_baseline(part.values)
                self._programs |= {word for word in own if shutil.which(word) or Path(word).is_file()}
            for path in part.copies or part.program.inputs(part.values):
                if path not in self._found:
                    if not path.exists():
                        raise InputError(f"{path}: no such file or folder; needed by {part.program.recipe.name}")
                    self._found.add(path)
                inputs += [path, *self._files_read_by(path)]
            part.program.check_files(part.folder, part.values)
            for text in self._conditions.environment.values():
                fill(text, part.values)
            if self._conditions.clock is not None:
                check_clock(filled(self._conditions.clock, part.values))
        return inputs

    @property
    def together(self) -> bool:
        """Whether the runs of a round are begun all at once."""
        return self._runner.together

    def begin(self, cases: Sequence[Case], kind: RunKind, number: int) -> None:
        """Begin these runs, to be made in this order; where `together`, before the first of them is asked for."""
        folders = {run_folder(self._folder, case, kind, number): case for case in cases}
        left = {
            folder: case
            for folder, case in folders.items()
            if self._outcome_in(folder) is None and not self._runner.begun(folder)
        }
        if left:
            self._begin([(folder, self._parts.of(case, folder, number)) for folder, case in left.items()])

    def run(self, case: Case, kind: RunKind, number: int, tell: Tell) -> Run:
        """Run it, and say what came of it: a run that failed is a result. A run that had ended when the study was
        killed is not made again."""
        folder = run_folder(self._folder, case, kind, number)
        parts = self._parts.of(case, folder, number)
        outcome = self._outcome_in(folder, len(parts))
        if outcome is None:
            if not self._runner.begun(folder):
                self._begin([(folder, parts)])
            outcome = self._runner.wait(folder, tell)
        return self._result(case, kind, number, folder, parts, outcome)

    def recover(self) -> None:
        """What an interrupted session has left is ended, or found again."""
        self._runner.recover()

    def prediction(self, case: Case, factor: str = "", number: int = 0) -> tuple[list[str], str]:
        """The words of the command that predicts a case's seconds, and where in its JSON they stand.

        factor, number: so many nodes, with as many ranks on each as the case has, or so many ranks, in place of the
        case's. Raises InputError where there is none.
        """
        parts = self._first_parts(case)
        if len(parts) > 1:
            raise InputError("jobs at the same time: no prediction; allowed: a study without --predict")
        values = dict(parts[0].values)
        if factor == "nodes":
            values["ranks"] = number * max(1, int(str(values["ranks"])) // int(str(values["nodes"])))
        if factor:
            values[factor] = number
        return parts[0].program.prediction(values)

    def versions(self) -> dict[str, str]:
        """What tells programs and recipes from others: where they lie, with their time; a hash of each recipe.

        Of the cases that `check` has seen.
        """
        found = {}
        for program in self._parts.programs:
            recipe = program.recipe
            found[recipe.name] = hash_of(json.dumps(recipe.model_dump(mode="json")).encode())
        for name in sorted(self._programs):
            if (path := shutil.which(name) or (name if Path(name).is_file() else None)) is not None:
                state = Path(path).resolve().stat()
                found[path] = f"{state.st_size} bytes, {state.st_mtime_ns} ns"
        return found

    def stop(self) -> None:
        """End what runs in other threads: their results are not wanted."""
        self._runner.stop()

    def close(self) -> None:
        """The session ends."""
        self._runner.close()

    def tidy(self, case: Case, run: Run) -> None:
        """Remove what is not to be kept of a run, whose result is kept. Of a run that failed its output is always
        kept."""
        folder = run_folder(self._folder, case, run.kind, run.number)
        if self._conditions.keep == "all":
            return
        with suppress(FathometerError):  # what cannot be removed stays
            remove_run(
                self._folder, folder, {STDOUT, STDERR, RESULT, RECORD, PROFILE, PROFILE_PAGE} if run.folder else ()
            )

    def _first_parts(self, case: Case) -> list[Part]:
        """The parts of a case's first run: what can be said of it before there is one."""
        return self._parts.of(case, run_folder(self._folder, case, MEASURED, 1), 1)

    def _launch(self, part: Part) -> Launch:
        return self._launched(part.program.words(part.values), part)

    def _launched(self, words: Sequence[str], part: Part) -> Launch:
        return self._launcher.launch(words, part.program.recipe.launch, part.placement)

    def _outcome_in(self, folder: Path, parts: int | None = None) -> Outcome | None:
        return None if self._runner.discarded(folder) else outcome_in(folder, parts)

    def _begin(self, runs: Sequence[tuple[Path, Sequence[Part]]]) -> None:
        """Begin runs, given their folders and parts."""
        self._runner.begin(
            [RunToBegin(self._prepared(folder, parts), parts[0].placement, nodes_of(parts)) for folder, parts in runs]
        )

    def _prepared(self, folder: Path, parts: Sequence[Part]) -> SingleRun:
        """Make a run's folder, with its inputs in it; what is to be done there."""
        remove_run(self._folder, folder)
        places = dict.fromkeys(part.place for part in parts)
        with atomic.writing(folder):
            for path in (*places, *(part.folder for part in parts)):
                path.mkdir(parents=True, exist_ok=True)
        for part in parts:
            copy_inputs(part.copies)
        filled_places: set[Path] = set()
        for part in parts:
            if part.place not in filled_places:
                part.program.place_inputs(part.place, part.values)
                filled_places.add(part.place)
        launches = [self._launch(part) for part in parts]
        inputs = [path for part in parts for path in part.program.inputs(part.values)]
        return SingleRun(
            folder=folder,
            processes=[self._process(folder, part, launch) for part, launch in zip(parts, launches, strict=True)],
            time_limit=self._conditions.time_limit,
            inputs=list(dict.fromkeys(file for path in inputs for file in (path, *self._files_read_by(path)))),
            page_cache=self._conditions.page_cache,
            cpus=sum(cpus_here(part.placement) for part in parts),
            others=not self._conditions.beside and not any(launch.elsewhere for launch in launches),
            clock=self._clock(parts[0]),
            clock_state=self._folder / CLOCK,
        )

    def _files_read_by(self, path: Path) -> Sequence[Path]:
        if path not in self._read:
            self._read[path] = self._read_by(path)
        return self._read[path]

    def _clock(self, part: Part) -> float | None:
        """Hz of the cpus during a run."""
        asked = self._conditions.clock
        return None if asked is None else float(filled(asked, part.values))  # type: ignore[arg-type]

    def _process(self, folder: Path, part: Part, launch: Launch) -> Process:
        own = {name: fill(text, part.values) for name, text in self._conditions.environment.items()}
        environ = {**part.program.recipe.variables(part.values), **launch.environ, **own}
        if part.program.table.profile:
            with atomic.writing(part.folder):
                (part.folder / study_figures.FOLDER).mkdir(exist_ok=True)
            environ |= study_figures.variables(part.folder, launch.words)
        return Process(launch.words, part.place, environ, part.folder, folder)

    def _result(
        self,
        case: Case,
        kind: RunKind,
        number: int,
        folder: Path,
        parts: Sequence[Part],
        outcome: Outcome,
    ) -> Run:
        of_parts: list[Mapping[str, float]] = []
        problems = [outcome.problem] if outcome.problem else []
        marks = list(outcome.marks)
        for part, end in zip(parts, outcome.ended, strict=False):  # none where the run's end is not known
            figures, wrong = self._outcome(part, end)
            of_parts.append(figures | {ELAPSED.name: end.seconds})
            problems += [f"{part.job}: {problem}" if part.job else problem for problem in wrong]
            marks += own_marks(part.folder, part.placement)
        failed = "; ".join(dict.fromkeys(problems))
        return Run(
            kind=kind,
            number=number,
            begin=outcome.ended[0].begin if outcome.ended else time.time(),
            seconds=max((end.seconds for end in outcome.ended), default=0.0),
            figures={} if failed else self._parts.figures(case, parts, of_parts),
            failed=failed,
            marks=tuple(dict.fromkeys(marks)),
            folder="" if self._conditions.keep == "nothing" and not failed else str(folder.relative_to(self._folder)),
            clock=outcome.clock,
        )

    def _outcome(self, part: Part, end: Ended) -> tuple[dict[str, float], list[str]]:
        """Figures of a part, and what is wrong with it."""
        if end.timed_out:
            problems = [f"took longer than {self._conditions.time_limit:g} s"]
            return {}, [problems[0] + last_words(part.folder)]
        _link_results(part)
        figures, problems = part.program.outcome(part.folder, part.values, end.code, end.seconds)
        problems += [f"{name}: not a finite number" for name, value in figures.items() if not math.isfinite(value)]
        if problems:
            problems[-1] += last_words(part.folder)
        elif part.program.table.profile and self._conditions.keep != "nothing":
            study_figures.keep_record(part.folder, part.program.words(part.values), self._machine)
        return figures, problems

    @cached_property
    def _machine(self) -> dict[str, Any]:
        """Of records of profiles: asked once."""
        return machine_of_runs()


def cpus_here(placement: Placement) -> int:
    """Cpus of this host that a program asks for: of its first host, or of all its nodes where these are here."""
    return cpus_of_node(placement) if placement.cluster is None else placement.cores


def nodes_of(parts: Sequence[Part]) -> tuple[str, ...]:
    """The nodes of a cluster on which programs are, by name."""
    found: dict[str, None] = {}
    for part in parts:
        found |= dict.fromkeys(part.placement.on or node_names(part.placement.nodes))
    return tuple(found)


def _link_results(part: Part) -> None:
    """What a part has left where it ran is found in its own folder too, where figures are looked for."""
    if part.place != part.folder:
        for path in part.place.iterdir():
            with suppress(FileExistsError):
                (part.folder / path.name).symlink_to(path)


def own_marks(folder: Path, placement: Placement) -> list[str]:
    """Why records of this program, in a run's folder, are not to be trusted, and whether it was placed as asked."""
    marks = []
    for path in folder.rglob(RECORD):
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            if path.stat().st_size <= LARGEST_TEXT:
                record = json_values(path.read_bytes())
                marks += [_RANK.sub("", _AMOUNT.sub("", str(reason))) for reason in record["validity"]["reasons"]]
                marks += misplaced(record["machine"]["binding"], placement)
    return list(dict.fromkeys(marks))


def last_words(folder: Path) -> str:
    """The last lines that a run has printed, on standard error or else on standard output."""
    lines = last_lines(folder / STDERR) or last_lines(folder / STDOUT)
    return f"; its last words: {lines}" if lines else ""
