"""What a resumable run is, and what the command line says of an earlier one in the same folder."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RunOptions:
    """What is to become of an earlier run in the same folder.

    Attributes:
        resume: go on with it. overwrite: begin anew. retry_failed: tasks that were set aside are tried again.
        share: the name that all runs say which share the tasks at the same time; "": there are none.
    """

    resume: bool = False
    overwrite: bool = False
    retry_failed: bool = False
    share: str = ""


@dataclass(frozen=True)
class RunKind:
    """The words of an application for its run, for messages, and what its journal depends on.

    Attributes:
        name: of the run ("migration"). task: of one of its tasks ("shot"). input: of what it reads ("survey, files").
        contribution: of what a task adds to the results ("partial image"), volumes: of the results ("images"): phases
            and kinds of files in the account are named after them.
        repairable: entry of the fingerprint that may change where failed tasks are tried again ("traces").
        result: kind of the file by which a record tells a finished run of this kind.
        not_finite: what to look at where a contribution is not finite.
    """

    name: str = "run"
    task: str = "task"
    input: str = "input"
    contribution: str = "contribution"
    volumes: str = "volumes"
    repairable: str = ""
    result: str = ""
    not_finite: str = "look at the input"
