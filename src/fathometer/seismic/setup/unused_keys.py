"""Keys that a survey gives and no command that it is for takes: told, for whoever gives them expects something."""

from __future__ import annotations

from fathometer.seismic.survey import Survey

LOSSY = ("zfp", "wavelet")  # encodings with a tolerance
# Of `migrate` alone, and what they are where they are left out.
OF_DEPTH = (
    ("imaging", "aperture", None),
    ("imaging", "laplacian", True),
    ("imaging", "condition", "cross-correlation"),
    ("imaging", "every", "auto"),
    ("acquisition", "outside", "refuse"),
)


def unused_of_migration(survey: Survey) -> tuple[str, ...]:
    """Notes on keys of [history] and [output] that a migration in depth does not take."""
    keys, notes = survey.history, []
    default = type(keys).model_fields["tolerance"].default
    if keys.tolerance != default and keys.encoding not in LOSSY:
        notes.append(f'[history] tolerance: without effect with encoding = "{keys.encoding}"; it is of zfp and wavelet')
    if keys.states != "memory" and keys.store not in ("auto", "checkpoint"):
        notes.append(f'[history] states: without effect with store = "{keys.store}"; they are of checkpoint')
    if keys.direct and keys.store not in ("auto", "disk"):
        notes.append(f'[history] direct: without effect with store = "{keys.store}"; it is of disk')
    return tuple(notes)


def unused_of_modelling(survey: Survey) -> tuple[str, ...]:
    """A note on a vertical datum where a modelling writes traces alone, which hold none: of acoustic waves."""
    if survey.output.vertical_datum is None:
        return ()
    return ("[output] vertical_datum: without effect: a modelling writes no image",)


def unused_of_time_migration(survey: Survey) -> tuple[str, ...]:
    """Notes on keys that only `migrate` takes, for which the survey lacks something."""
    lacks = [f"[{name}]" for name in ("model", "wavelet") if getattr(survey, name) is None]
    given = [
        f"[{table}] {name}" for table, name, left_out in OF_DEPTH if getattr(getattr(survey, table), name) != left_out
    ]
    if not (lacks and given):
        return ()
    note = (
        f"{', '.join(given)}: without effect in `migrate-time`; `migrate` takes {'it' if len(given) == 1 else 'them'}, "
        f"and the survey has no {' and no '.join(lacks)} for it"
    )
    return (note,)
