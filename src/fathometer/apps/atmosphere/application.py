"""The atmosphere as the command line sees it."""

from __future__ import annotations

from fathometer.runs.application import Application, Identity
from fathometer.runs.time_application import TimeApplication

APPLICATION: Application = TimeApplication(
    Identity(
        name="atmosphere",
        commands={"atmosphere": ""},
        sections=frozenset({"grid", "start", "time"}),
        input="fathometer.apps.atmosphere.atmosphere_file:AtmosphereFile",
        plan_options=frozenset({"ranks", "nodes"}),
        probes="fathometer.apps.atmosphere.probes:AtmosphereProbes",
        draft="fathometer.apps.atmosphere.draft:draft",
        given={"ground": "NetCDF of heights on a Gaussian grid"},
        reference="docs/guide/atmosphere-file.md",
    ),
    kind="atmosphere",
    noun="an atmosphere",
    results=("atmosphere.png",),
    case="fathometer.apps.atmosphere.case",
    model="fathometer.apps.atmosphere.simulation:AtmosphereSimulation",
    demo="fathometer.apps.atmosphere.cases:demo_text",
    cost="fathometer.apps.atmosphere.cost:plan",
    shown="fathometer.apps.atmosphere.page",
)
