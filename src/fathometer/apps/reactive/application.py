"""Reactive flow as the command line sees it: advection, diffusion, dispersion and reactions of aqueous species."""

from __future__ import annotations

from fathometer.runs.application import Application, Identity
from fathometer.runs.time_application import TimeApplication

APPLICATION: Application = TimeApplication(
    Identity(
        name="reactive",
        commands={"reactive": ""},
        sections=frozenset({"grid", "chemistry", "water", "initial", "time"}),
        input="fathometer.apps.reactive.flow_file:FlowFile",
        plan_options=frozenset({"ranks", "nodes", "iterations", "like"}),
        probes="fathometer.apps.reactive.probes:ReactiveProbes",
        draft="fathometer.apps.reactive.draft:draft",
        given={"chemistry": "a chemistry file, TOML"},
        reference="docs/guide/flow-file.md",
    ),
    kind="flow",
    noun="a reactive flow",
    results=("flow.png", "flow.xdmf"),
    case="fathometer.apps.reactive.case",
    model="fathometer.apps.reactive.simulation:FlowSimulation",
    demo="fathometer.apps.reactive.demo:demo_text",
    cost="fathometer.apps.reactive.cost:plan",
    shown="fathometer.apps.reactive.page",
    needed="fathometer.apps.reactive.solver.petsc:require_petsc",
)
