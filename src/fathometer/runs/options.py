"""Options of a resumable run, and the application's terms for it."""

from __future__ import annotations

from dataclasses import dataclass

from fathometer.base.option_types import whole_number
from fathometer.base.options import option


@dataclass(frozen=True)
class RunOptions:
    """What to do with an earlier run in the same folder, and whether other runs share the tasks.

    Attributes:
        resume: continue it. overwrite: start again. retry_failed: tasks that have failed are tried again.
        resume_from: of a run with restart files, the step of the state to go on from; None: the newest.
        share: the name, the same for all, of runs that share the tasks at the same time; None: a single run.
    """

    resume: bool = option("go on with what an earlier run left, if there is one", default=False)
    overwrite: bool = option("replace an earlier run's results and journal", default=False)
    retry_failed: bool = option("as --resume, and once more those shots that were set aside", default=False)
    share: str | None = option(
        "share the shots with the other runs that say this NAME; resumes", default=None, metavar="NAME"
    )
    resume_from: int | None = option(
        "go on from the state after so many steps: the newest or the one before it",
        type=whole_number,
        default=None,
        metavar="STEP",
    )


@dataclass(frozen=True)
class RunKind:
    """An application's terms for its run, for messages and the ledger, and what its journal depends on.

    Attributes:
        name: of the run, such as "simulation". task: of one of its tasks. input: of what it reads.
        contribution: of what a task adds to the results. volumes: of the results, where contributions are added up.
            Phases and kinds of files in the ledger are named after these two.
        repairable: entry of the fingerprint that may change where failed tasks are tried again.
        result: kind of file whose entry in a record shows that the folder holds results of this kind of run.
        not_finite: advice for the message where a contribution is not finite.
        partial: results without those of tasks that failed are worth having; else the first failure ends the run.
        lasting: the journal stays when the results are written, so that they are not replaced without --overwrite.
    """

    name: str = "run"
    task: str = "task"
    input: str = "input"
    contribution: str = "contribution"
    volumes: str = "volumes"
    repairable: str = ""
    result: str = ""
    not_finite: str = "look at the input"
    partial: bool = True
    lasting: bool = True
