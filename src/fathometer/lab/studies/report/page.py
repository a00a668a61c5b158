"""The page of a study: one HTML file that loads nothing from elsewhere, for the screen and for paper."""

from __future__ import annotations

import os
import time
from pathlib import Path
from urllib.parse import quote

from fathometer.lab.studies.asked import answer_of
from fathometer.lab.studies.levels import assumption
from fathometer.lab.studies.published import published
from fathometer.lab.studies.report.compared import answered
from fathometer.lab.studies.report.description import command, configuration, description, facts, keys
from fathometer.lab.studies.report.further import further
from fathometer.lab.studies.report.plots import plots
from fathometer.lab.studies.report.profiles import is_profiled, pages_of
from fathometer.lab.studies.report.progress import progress_line
from fathometer.lab.studies.report.remarks import remarks
from fathometer.lab.studies.results import Results
from fathometer.lab.studies.selection import label
from fathometer.report.template import render_page
from fathometer.storage import atomic

HERE = Path(__file__).parent  # of study.html and study.css


def write_page(path: Path, results: Results, folder: Path | None = None) -> None:
    """Write the page; it appears whole or not at all.

    folder: of the study, beside which files of published tables are looked for, and in which pages of profiles are.
    Raises InputError as `answer_of` and
    `published`, FathometerError where the page cannot be written.
    """
    atomic.write(path, render(results, folder, path.absolute().parent).encode(errors="backslashreplace"))


def render(results: Results, folder: Path | None = None, where: Path | None = None) -> str:
    """The page's text. where: the folder of the page, from which it names pages of profiles."""
    answer = answer_of(results)
    said, shown, legend = answered(results, answer)
    drawn = plots(results, answer)
    parts = further(results, answer, folder, legend)
    return render_page(
        "study.html",
        {"figures": drawn, "volumes": []},
        folder=HERE,
        style=(HERE / "study.css").read_text(encoding="utf-8"),
        title=results.title,
        question=results.question,
        unfinished="" if results.ended else progress_line(results, time.time()).removeprefix("not complete: "),
        answer=said,
        facts=facts(results),
        views=shown,
        assumption=assumption(results),
        ratios=any(table.relative_to for table in answer.tables),
        legend=list(legend.texts.items()),
        figures=[{"figure": figure, "reason": ""} for figure in drawn],
        landscapes=published(answer.landscapes, folder),
        further=parts,
        remarks=remarks(results, answer),
        profiles=profile_links(results, folder, where),
        description=description(results),
        command=command(results),
        text=results.text,
        keys=keys(results),
        configuration=configuration(results),
    )


def profile_links(results: Results, folder: Path | None, where: Path | None) -> list[tuple[str, list[tuple[str, str]]]]:
    """Of each case with profiled runs its name, and of each of these its name and the address of its page."""
    if folder is None or where is None or not is_profiled(results):
        return []
    found = []
    for case in results.cases.values():
        pages = [
            (f"{run.kind} {run.number}", quote(os.path.relpath(page, where)))
            for run in case.runs
            for page in pages_of(folder, run)
        ]
        if pages:
            found.append((label(tuple(case.case.settings.items())), pages))
    return found
