"""The built-in case: acid water enters a column with calcite in a sand with a block that lets less of it through."""

from __future__ import annotations

CELLS = {False: 32, True: 16}  # along each axis; quick
STEPS = {False: 20, True: 10}
SIDE = 0.32  # m, of the cube
STEP = 1800.0  # s

FLOW = """\
# Acid water flows through a cube of sand with calcite. Made by `fathometer reactive --demo`.

[grid]
cells = [{cells}, {cells}, {cells}]
spacing = [{spacing}, {spacing}, {spacing}]   # m

[chemistry]
primary = ["Ca+2", "H+", "HCO3-", "Tracer"]
secondary = ["OH-", "CO2(aq)", "CO3-2", "CaHCO3+", "CaCO3(aq)"]
minerals = ["Calcite"]
specific_area = {{Calcite = 20.0}}   # m²/mol

[medium]
porosity = 0.25
conductivity = 1e-4      # m/s
diffusivity = 1e-9       # m²/s
dispersivity = [2e-3, 2e-4]   # m, along and across the flow

[[region]]               # clay
name = "block"
x = [{low}, {high}]
y = [{low}, {high}]
z = [{low}, {high}]
conductivity = 1e-6

[[water]]
name = "resident"
[water.species]
"H+" = {{charge = true}}
"Ca+2" = {{mineral = "Calcite"}}
"HCO3-" = {{gas = "CO2(g)", pressure = 3.16e-4}}   # atm
Tracer = {{total = 1e-9}}   # mol/kg

[[water]]
name = "acid"
[water.species]
"H+" = {{charge = true}}
"Ca+2" = {{total = 1e-5}}
"HCO3-" = {{gas = "CO2(g)", pressure = 0.3}}
Tracer = {{total = 1e-3}}

[[initial]]
water = "resident"
minerals = {{Calcite = 1e-4}}   # of the volume

[[boundary]]
side = "x-"
kind = "fixed"
water = "acid"
head = 0.0064            # m

[[boundary]]
side = "x+"
kind = "open"
water = "resident"
head = 0.0

[time]
end = {end}            # s
step = {step}
adaptive = false

[output]
directory = "{directory}"
every = {every}
"""


def flow_text(cells: int, steps: int, directory: str = ".") -> str:
    """The flow file; cells: along each axis. directory: of the results."""
    return FLOW.format(
        cells=cells,
        spacing=SIDE / cells,
        low=0.375 * SIDE,
        high=0.625 * SIDE,
        end=steps * STEP,
        step=STEP,
        every=steps * STEP / 4,
        directory=directory,
    )


def demo_text(quick: bool) -> str:
    """The demo's flow file; its results lie beside it."""
    return flow_text(CELLS[quick], STEPS[quick])
