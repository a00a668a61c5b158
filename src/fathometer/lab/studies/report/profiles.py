"""Where the profiles of a study's runs are, and which of them get a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from fathometer.lab.profile.profile import MARK, PAGE, RECORD
from fathometer.lab.profile.study_figures import FOLDER
from fathometer.lab.studies.results import CaseRuns, Results, Run

MOST_PAGES = 40  # of a study: each is 5 MB; beyond, of each case that of the run nearest to the median


def is_profiled(results: Results) -> bool:
    """Whether the study asks for profiles of its runs, or of some of its jobs."""
    programs = [results.definition.get("application"), *(results.definition.get("job") or ())]
    return any(program and program.get("profile") for program in programs)


def records_of(folder: Path, run: Run) -> list[Path]:
    """Records of profiles that a run of the study in the folder has left: one, or one for each of its jobs."""
    if not run.folder or run.kind == "warm-up":
        return []
    return sorted(path for path in (folder / run.folder).rglob(f"{FOLDER}/{RECORD}") if MARK.on(path.parent))


def pages_of(folder: Path, run: Run) -> list[Path]:
    """Their pages."""
    return [page for record in records_of(folder, run) if (page := record.with_name(PAGE)).exists()]


def to_be_shown(folder: Path, results: Results) -> Iterator[Path]:
    """Records of profiles that get a page."""
    if not is_profiled(results):
        return
    every = [record for case in results.cases.values() for run in case.runs for record in records_of(folder, run)]
    if len(every) <= MOST_PAGES:
        yield from every
        return
    for case in results.cases.values():
        if (typical := typical_run(case, folder)) is not None:
            yield from records_of(folder, typical)


def typical_run(case: CaseRuns, folder: Path) -> Run | None:
    """The profiled run whose time is nearest to the median."""
    runs = [run for run in case.runs if records_of(folder, run)]
    middle = median(run.seconds for run in runs) if runs else 0.0
    return min(runs, key=lambda run: abs(run.seconds - middle), default=None)
