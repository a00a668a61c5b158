"""The page of a study: one HTML file that loads nothing from elsewhere, for the screen and for paper."""

from __future__ import annotations

import time
from pathlib import Path

from fathometer.lab.studies.report.asked import answer_of
from fathometer.lab.studies.report.compared import answered
from fathometer.lab.studies.report.description import command, configuration, description, facts, keys
from fathometer.lab.studies.report.levels import assumption
from fathometer.lab.studies.report.plots import plots
from fathometer.lab.studies.report.progress import progress_line
from fathometer.lab.studies.report.published import published
from fathometer.lab.studies.report.remarks import remarks
from fathometer.lab.studies.results import Results
from fathometer.report.template import render_page
from fathometer.storage import atomic

HERE = Path(__file__).parent  # of study.html and study.css


def write_page(path: Path, results: Results, folder: Path | None = None) -> None:
    """Write the page; it appears whole or not at all.

    folder: of the study, beside which files of published tables are looked for. Raises InputError as `answer_of` and
    `published`, FathometerError where the page cannot be written.
    """
    atomic.write(path, render(results, folder).encode(errors="backslashreplace"))


def render(results: Results, folder: Path | None = None) -> str:
    """The page's text."""
    answer = answer_of(results)
    said, shown, legend = answered(results, answer)
    drawn = plots(results, answer)
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
        remarks=remarks(results, answer),
        description=description(results),
        command=command(results),
        text=results.text,
        keys=keys(results),
        configuration=configuration(results),
    )
