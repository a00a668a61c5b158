"""One module a command, each with its `COMMAND`; their order is that of `fathometer --help`."""

NAMES = (
    "model",
    "migrate",
    "submit",
    "info",
    "prepare",
    "survey_build",
    "demo",
    "report",
    "stencil",
    "plan",
    "calibrate",
    "io",
    "study_plan",
    "study_run",
    "study_show",
    "study_report",
    "study_compare",
    "study_export",
    "study_query",
)
