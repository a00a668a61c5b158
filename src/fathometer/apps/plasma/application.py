"""Plasma turbulence as the command line sees it."""

from __future__ import annotations

from fathometer.runs.application import Application, Identity
from fathometer.runs.time_application import TimeApplication

APPLICATION: Application = TimeApplication(
    Identity(
        name="plasma",
        commands={"plasma": ""},
        sections=frozenset({"velocities", "modes", "species", "time"}),
        input="fathometer.apps.plasma.plasma_file:PlasmaFile",
        plan_options=frozenset({"ranks", "nodes", "like"}),
        probes="fathometer.apps.plasma.probes:PlasmaProbes",
        reference="docs/guide/plasma-file.md",
    ),
    kind="plasma",
    noun="plasma turbulence",
    results=("plasma.png",),
    case="fathometer.apps.plasma.case",
    model="fathometer.apps.plasma.simulation:PlasmaSimulation",
    demo="fathometer.apps.plasma.cases:demo_text",
    cost="fathometer.apps.plasma.cost:plan",
    shown="fathometer.apps.plasma.page",
)
