"""Machines and inputs for tests of forms."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

from study_support import study

from fathometer.lab.forms.form import forms
from fathometer.lab.forms.here import Here
from fathometer.lab.forms.making import Asked, Made, made
from fathometer.lab.studies.results import Results
from fathometer.lab.studies.study import cases_and_designs, parts_of
from fathometer.lab.studies.study_file import Study, load_study

LAPTOP = Here(
    allocated=0,
    no_cluster="",
    cores=2,
    hardware_threads=1,
    numa=1,
    clocks=None,
    shared_memory=True,
)
BARE = replace(LAPTOP, no_cluster="cluster: no ip here", shared_memory=False, cores=1)
SERVER = replace(LAPTOP, cores=64, hardware_threads=2, numa=8, clocks=(1.2e9, 3.4e9))
ALLOCATION = replace(SERVER, allocated=6)
MACHINES = {"laptop": LAPTOP, "bare": BARE, "server": SERVER, "allocation": ALLOCATION}
LOGS = Path(__file__).parent / "wrf_logs"


def wrf_logs(folder: Path, seconds: dict[int, float], cells: int = 1501) -> Path:
    """Logs of runs of WRF by processes, each of whose steps of 15 s took so long; cells: from west to east."""
    for count, each in seconds.items():
        place = folder / str(count)
        place.mkdir(parents=True)
        (place / "namelist.input").write_text(f" &domains\n time_step = 15,\n e_we = {cells}, 220,\n /\n")
        lines = [
            f"Timing for main: time 2005-06-04_03:00:{n:02} on domain   1: {each:.5f} elapsed seconds" for n in range(9)
        ]
        (place / "rsl.error.0000").write_text("\n".join([*lines, "wrf: SUCCESS COMPLETE WRF"]) + "\n")
    return folder


def given(name: str, folder: Path) -> Asked:
    """The form's own input, or one where it has none."""
    if name == "weather":
        logs = folder / "logs"
        return Asked(logs if logs.exists() else wrf_logs(logs, {64: 4.0, 128: 2.0}), "")
    return Asked()


def written(name: str, folder: Path, here: Here = LAPTOP, **asked: object) -> tuple[Study, Made]:
    """The study of a form, loaded from its file, and what was made."""
    form = forms()[name]
    study_made = made(form, replace(given(name, folder), **asked), here)
    path = folder / f"{name}.toml"
    path.write_text(study_made.text, encoding="utf-8")
    return load_study(path), study_made


def synthetic(file: Study, rounds: int = 30) -> Results:
    """Results of a study file without its runs: every case has its own seconds, far from those of all others."""
    designs = cases_and_designs(file)
    cases = {case.name: case for some in designs.values() for case in some}
    order = {name: place for place, name in enumerate(cases)}
    figures = parts_of(file).infos()
    kept = {repr(sorted(case.settings.items(), key=repr)) for case in cases.values()}

    def key(settings: object) -> str:
        return repr(sorted(settings.items(), key=repr))

    places = {key(case.settings): order[name] for name, case in cases.items()}
    results = study(
        {name: list(values) for name, values in file.factors.items()},
        truth=lambda settings: 1.0 + 0.5 * places[key(settings)],
        rounds=rounds,
        noise=0.001,
        figures=list(figures),
        keep=lambda settings: key(settings) in kept,
        winners=lambda settings: True,
        title=file.title,
        question=file.question,
        **{
            name: value
            for name, value in file.model_dump(mode="json", exclude_none=True).items()
            if name in ("table", "plot", "landscape", "limits", "application", "job", "nested", "constraints", "design")
        },
    )
    return replace(results, designs={name: [case.name for case in some] for name, some in designs.items()})


def all_choices() -> list[tuple[str, str, str, bool]]:
    """Each form with each kind of input on each machine, quick and not."""
    found = []
    for form, machine, quick in itertools.product(forms().values(), MACHINES, (False, True)):
        kinds = [kind for kind in form.head.inputs if kind not in ("logs", "none")]
        found += [(form.name, kind, machine, quick) for kind in kinds or [""]]
    return found
