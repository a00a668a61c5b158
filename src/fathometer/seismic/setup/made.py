"""Lines on how a volume was made, which stand in the textual header of a SEG-Y.

They hold what the input says, so that ranks and repetitions change nothing in a file; the record beside it has all
else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fathometer import __version__
from fathometer.base.formatting import number_of
from fathometer.record.envelope import RECORD
from fathometer.seismic.shots.acquisition import Acquisition
from fathometer.seismic.survey import Survey

# Of the keys of a step's record, by their endings.
UNITS = (("_per_second", "m/s"), ("_seconds", "s"), ("_hertz", "Hz"), ("_metres", "m"))


def made_lines(survey: Survey, command: str, method: str, medium: Iterable[str], acquisition: Acquisition) -> list[str]:
    """Program, command, what was computed in which medium, from which traces.

    method: of this volume. medium: names and values of what waves travel through.
    """
    lines = [f"Fathometer {__version__}: fathometer {command} {survey.path.name}; record: {RECORD}"]
    lines += [method, f"Velocity model: {'; '.join(medium)}"]
    if survey.acquisition.gathers is not None:
        steps = [step_words(step) for step in acquisition.conditioning.record(acquisition.shots, ())]
        done = f"; filters: {', '.join(steps)}" if steps else "; no filters"
        gathers = Path(survey.acquisition.gathers).name
        lines.append(f"Traces: {gathers}, {number_of(len(acquisition.shots), 'shot')}{done}")
    return lines


def medium_of(survey: Survey) -> list[str]:
    """What the section [model] says of the medium, files by their names alone."""
    model = survey.model
    if model is None:
        return []
    values = {name: getattr(model, name) for name in ("vp", "epsilon", "delta")}
    shown = {name: value for name, value in values.items() if name == "vp" or value != 0.0}
    return [
        f"{name} {Path(value).name}" if isinstance(value, str) else f"{name} {value:g}" for name, value in shown.items()
    ]


def step_words(record: Mapping[str, Any]) -> str:
    """The record of a conditioning step in words.

    >>> step_words({"step": "mute", "metres_per_second": 1480.0, "taper_seconds": 0.15})
    'mute 1480 m/s 0.15 s'
    """
    words = [str(record["step"])]
    for key, value in record.items():
        unit = next((unit for ending, unit in UNITS if key.endswith(ending)), "")
        if unit and isinstance(value, int | float):
            words.append(f"{value:g} {unit}")
        elif unit and isinstance(value, Sequence) and not isinstance(value, str):
            words.append(f"{'-'.join(f'{one:g}' for one in value)} {unit}")
        elif key == "kind":
            words.append(str(value))
    return " ".join(words)
