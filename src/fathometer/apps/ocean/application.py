"""Ocean circulation as the command line sees it: hydrostatic, with an implicit free surface."""

from __future__ import annotations

from fathometer.runs.application import Application, Identity
from fathometer.runs.time_application import TimeApplication

APPLICATION: Application = TimeApplication(
    Identity(
        name="ocean",
        commands={"ocean": ""},
        sections=frozenset({"grid", "bathymetry", "time"}),
        input="fathometer.apps.ocean.ocean_file:OceanFile",
        plan_options=frozenset({"ranks", "nodes", "iterations", "like"}),
        probes="fathometer.apps.ocean.probes:OceanProbes",
        draft="fathometer.apps.ocean.draft:draft",
        given={
            "bathymetry": "depths, or heights, over x and y",
            "mask": "1: water, 0: land",
            "temperature": "of the water, over x, y, z",
            "salinity": "over x, y, z",
            "height": "of the surface, over x and y",
            "tau_x": "stress of the wind along x",
            "tau_y": "stress of the wind along y",
            "heat_flux": "into the water",
        },
        reference="docs/guide/ocean-file.md",
    ),
    kind="ocean",
    noun="an ocean",
    results=("ocean.png",),
    case="fathometer.apps.ocean.case",
    model="fathometer.apps.ocean.simulation:OceanSimulation",
    demo="fathometer.apps.ocean.cases:demo_text",
    cost="fathometer.apps.ocean.cost:plan",
    shown="fathometer.apps.ocean.page",
)
