"""Incompressible flow as the command line sees it."""

from __future__ import annotations

from fathometer.runs.application import Application, Identity
from fathometer.runs.time_application import TimeApplication

APPLICATION: Application = TimeApplication(
    Identity(
        name="flow",
        commands={"flow": ""},
        sections=frozenset({"grid", "fluid", "time"}),
        input="fathometer.apps.flow.flow_file:IncompressibleFile",
        plan_options=frozenset({"ranks", "nodes"}),
        probes="fathometer.apps.flow.probes:FlowProbes",
        draft="fathometer.apps.flow.draft:draft",
        given={"profile": "NPY of the velocities of an inflow over z, y"},
        reference="docs/guide/incompressible-file.md",
    ),
    kind="flow",
    noun="an incompressible flow",
    results=("flow.png",),
    case="fathometer.apps.flow.case",
    model="fathometer.apps.flow.simulation:IncompressibleSimulation",
    demo="fathometer.apps.flow.demo:demo_text",
    cost="fathometer.apps.flow.cost:plan",
    shown="fathometer.apps.flow.page",
)
