"""Plasma files made by code: the built-in case, and those of --write-case.

standard-64 and standard-16 have as many modes, steps and fields, and the time, that are published of the benchmarks
GTC.n64.500 and BCY.n16.b.25 of GYRO (P. H. Worley, ScicomP 10, 2004). The other sizes are not public: these are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

CYCLONE_IONS = """\
[[species]]
name = "ions"
density_gradient = 2.22       # R/L_n
temperature_gradient = 6.92   # R/L_T
"""

GEOMETRY = """\
[geometry]                    # of the Cyclone base case (Dimits et al. 2000)
q = 1.4
shear = 0.786
epsilon = 0.18
"""

CYCLONE = f"""\
# Growth rates and frequencies of ion-temperature-gradient modes, Cyclone base case.

{GEOMETRY}
[velocities]
energies = 16
cosines = 12

[modes]
kind = "chain"
ky = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]   # 1/rho_i
turns = 5
theta = 24

{CYCLONE_IONS}
[time]
end = 100.0                   # R/v_i, or before that:
tolerance = 2e-3              # v_i/R
"""

ZONAL = f"""\
# A zonal flow: it oscillates (geodesic acoustic mode), and a residue stays.

{GEOMETRY}
[velocities]
energies = 8
cosines = 32

[modes]
kind = "joined"
kx = [0.05]                   # 1/rho_i

[[species]]
name = "ions"

[initial]
kind = "uniform"

[time]
end = 60.0                    # R/v_i
"""

ALFVEN = """\
# A kinetic Alfven wave in a slab.

[geometry]
kind = "slab"
q = 1.0                       # one wave around theta has the wave number 1/R along the field
shear = 0.0
epsilon = 0.0

[velocities]
energies = 16
cosines = 96
largest_energy = 10.0

[modes]
kind = "joined"
theta = 16
ky = [0.3]                    # 1/rho_i

[[species]]
name = "ions"

[[species]]
name = "electrons"
charge = -1.0
mass = 0.0025                 # 1/400

[fields]
adiabatic_electrons = false
beta = 0.02

[initial]
kind = "cosine"

[time]
end = 2.6                     # R/v_i

[output]
course_steps = 1
"""

BOX = """\
# {what}

{geometry}
[velocities]
energies = {energies}
cosines = {cosines}

[modes]
kind = "box"
theta = {theta}
ky_number = {ky_number}                # with ky = 0
ky_least = {ky_least}                # 1/rho_i
kx_number = {kx_number}
twist = {twist}

{species}
{fields}[initial]
kind = "noise"
amplitude = {amplitude}

[time]
end = {end}                  # R/v_i
{time}
[numerics]
damping = {damping}

[output]
directory = "{directory}"
every = {every}
"""

ELECTRONS = """\
[[species]]
name = "electrons"
charge = -1.0
mass = 0.0025                 # 1/400
density_gradient = 2.22
temperature_gradient = 6.92
collisions = 0.0005           # v_i/R
upwind = 0.0

[fields]
adiabatic_electrons = false
beta = 0.0025

"""


def _box(**changes: object) -> str:
    values: dict[str, object] = {
        "geometry": GEOMETRY,
        "energies": 8,
        "cosines": 8,
        "theta": 16,
        "twist": 4,
        "species": CYCLONE_IONS,
        "fields": "",
        "amplitude": 1e-2,
        "time": "",
        "damping": 0.1,
        "directory": "out",
    }
    return BOX.format(**(values | changes))


def demo_text(quick: bool) -> str:
    """The demo's input file; its results lie beside it."""
    return _box(
        what="Turbulence of ions in a small box. Made by `fathometer plasma --demo`.",
        energies=4,
        cosines=6,
        ky_number=6 if quick else 8,
        ky_least=0.12,
        kx_number=17 if quick else 25,
        amplitude=1.0,
        end=20.0 if quick else 32.0,
        every=2.0 if quick else 4.0,
        directory=".",
    )


def standard_64() -> str:
    """In the manner of GTC.n64.500: 64 modes, adiabatic electrons, 100 steps over 3 units of time."""
    return _box(
        what="In the manner of the benchmark GTC.n64.500 of GYRO: 64 modes, adiabatic electrons, 100 steps.\n"
        "# Its other sizes are not public: those here are ours. Ranks in multiples of 64 there (mode_ranks = 64).",
        energies=8,
        cosines=8,
        ky_number=64,
        ky_least=0.0133,
        kx_number=65,
        twist=1,
        end=3.0,
        time="step = 0.03\nmost_steps = 100",
        every=3.0,
    )


def standard_16() -> str:
    """In the manner of BCY.n16.b.25: 16 modes, electromagnetic, 1,000 steps over 8 units of time."""
    return _box(
        what="In the manner of the benchmark BCY.n16.b.25 of GYRO: 16 modes, electromagnetic, 1,000 steps.\n"
        "# Its other sizes are not public: those here are ours. Ranks in multiples of 16 there (mode_ranks = 16).",
        energies=8,
        cosines=8,
        ky_number=16,
        ky_least=0.05,
        kx_number=33,
        fields=ELECTRONS,
        end=8.0,
        time="step = 0.008\nmost_steps = 1000",
        every=8.0,
    )


def probe_text() -> str:
    """What benchmarks of a machine run: a box of some 200,000 points."""
    return _box(
        what="A probe.",
        energies=4,
        cosines=8,
        ky_number=8,
        ky_least=0.1,
        kx_number=33,
        end=10.0,
        time="most_steps = 20",
        every=10.0,
        directory=".",
    )


CASES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "cyclone": lambda: CYCLONE,
        "zonal": lambda: ZONAL,
        "alfven": lambda: ALFVEN,
        "standard-64": standard_64,
        "standard-16": standard_16,
    }
)
