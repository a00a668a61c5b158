"""Atmosphere files made by code: the built-in case, and those of --write-case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

WAVE = """\
# {what}

[grid]
truncation = {truncation}

[levels]
{levels}

[start]
kind = "{kind}"
disturbed = {disturbed}

[time]
end = {end}                     # days
{more}
[output]
every = 1.0                   # days
directory = "{directory}"
"""

VISCOSITY = """
[numerics]
damping = 7e5                 # m²/s
damping_power = 2
"""

FORCED = """\
# {what}

[grid]
truncation = {truncation}

[levels]
{levels}

[start]
kind = "resting"

[physics]
forcing = "{forcing}"

[time]
end = {end}                     # days

[output]
every = {every}                   # days
"""

SHALLOW = """\
# {what}

[grid]
truncation = {truncation}

[start]
kind = "{kind}"               # of shallow water

[time]
end = {end}                     # days
step = {step}                  # s

[numerics]
damping = {damping}

[output]
every = 1.0                   # days
"""


def wave_text(
    what: str,
    truncation: int,
    end: float,
    directory: str = "out",
    more: str = "",
    disturbed: str = "true",
    kind: str = "baroclinic-wave",
    levels: str = 'table = "cam26"',
) -> str:
    """A baroclinic wave, with results of each day."""
    return WAVE.format(
        what=what, truncation=truncation, end=end, directory=directory, disturbed=disturbed, more=more, kind=kind,
        levels=levels,
    )  # fmt: skip


def demo_text(quick: bool) -> str:
    """The demo's input file; its results lie beside it."""
    what = "A storm develops. Made by `fathometer atmosphere --demo`."
    return wave_text(what, 21 if quick else 42, 3.0 if quick else 9.0, ".")


def probe_text(forcing: str) -> str:
    """What benchmarks of a machine run. forcing: keys of [physics], and tables after it."""
    return wave_text("A probe.", 42, 1.0, ".", f"most_steps = 20\n\n[physics]\n{forcing}")


BELL, CYLINDER, EVERYWHERE = (
    f"\n[[tracers]]\n{keys}"
    for keys in (
        'name = "bell"\nshape = "bell"\nradius = 20.0                 # degrees\nlatitude = 45.0\nlongitude = 90.0\n',
        'name = "cylinder"\nshape = "cylinder"\nradius = 15.0\nlatitude = -45.0\nlongitude = 90.0\n'
        "top = 0.7                     # over the surface pressure\n",
        'name = "everywhere"\nshape = "uniform"\n',
    )
)

CASES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "baroclinic-wave": lambda: wave_text(
            "A baroclinic wave (Jablonowski and Williamson 2006) at T85 with 26 levels.", 85, 9.0
        ),
        "steady-jet": lambda: wave_text(
            "The same without its disturbance: it stays as it is.", 42, 4.0, disturbed="false"
        ),
        "baroclinic-jet": lambda: wave_text(
            "A jet that breaks up, by viscosity the same at any truncation (Polvani, Scott and Thomas 2004).",
            85, 12.0, more=VISCOSITY, kind="baroclinic-jet", levels="count = 20",
        ),
        "held-suarez": lambda: FORCED.format(
            what="The climate of Held and Suarez (1994): means of the days from 200 on are compared.",
            truncation=42, levels="count = 20", forcing="held-suarez", end=1200.0, every=100.0,
        ),
        "day-night": lambda: FORCED.format(
            what="Grey radiation with day and night, and dry convection.",
            truncation=42, levels='table = "cam26"', forcing="radiation", end=30.0, every=1.0,
        ),
        "tracers": lambda: wave_text(
            "Tracers in the storm: a bell in the north, a cylinder near the ground in the south, and a uniform one.",
            42, 9.0,
        ) + BELL + CYLINDER + EVERYWHERE,
        "steady-zonal": lambda: SHALLOW.format(
            what="Shallow water that stays as it is (Williamson and others 1992, case 2).",
            kind="steady-zonal", truncation=42, end=5.0, step=1200.0, damping=0.0,
        ),
        "mountain": lambda: SHALLOW.format(
            what="A flow meets a mountain (Williamson and others 1992, case 5).",
            kind="zonal", truncation=42, end=15.0, step=1200.0, damping=1e15,
        ) + '\n[ground]\nheight = 2000.0               # m\nradius = 20.0                 # degrees\nshape = "cone"\n',
        "rossby-haurwitz": lambda: SHALLOW.format(
            what="A wave of four periods (Williamson and others 1992, case 6).",
            kind="rossby-haurwitz", truncation=42, end=14.0, step=900.0, damping=1e15,
        ),
        "jet": lambda: SHALLOW.format(
            what="A jet that rolls up (Galewsky and others 2004).",
            kind="jet", truncation=85, end=6.0, step=300.0, damping=1e14,
        ),
    }
)  # fmt: skip
