"""What forms know of the applications: their recipe, a small input of their own, what tells their speed, tunings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from fathometer.lab.recipes.expression import Value

INPUTS = "{study}/inputs"


@dataclass(frozen=True)
class Program:
    """An application in forms.

    Attributes:
        recipe, parameter: of studies; the parameter is its input file. demo: the words that write a small input.
        short: settings with which that is run in some seconds. rate: its figure that counts work over time; share: of
        communication, "" where it tells none. tunings: keys of the input file that change its speed but not its
        results, with the values to try. quick: those of a quick run; the same where there are none.
    """

    recipe: str
    parameter: str
    demo: Sequence[str]
    made: str = f"{INPUTS}/demo.toml"
    short: Mapping[str, Value] = field(default_factory=dict)
    rate: str = ""
    share: str = ""
    tunings: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    quick: Mapping[str, Sequence[Value]] = field(default_factory=dict)


def _demo(*words: str) -> tuple[str, ...]:
    return ("fathometer", *words, "--quick", "--quiet", "--output", INPUTS)


_TRANSPOSES: Mapping[str, Sequence[Value]] = MappingProxyType(
    {"parallel.protocol": ("alltoallw", "alltoallv", "pairwise")}
)
_TWO: Mapping[str, Sequence[Value]] = MappingProxyType({"parallel.protocol": ("alltoallv", "pairwise")})

PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        "seismic": Program(
            "fathometer-migrate",
            "survey",
            _demo("demo"),
            short={"acquisition.conditioning.shots.every": 3},
        ),
        "modelling": Program("fathometer-model", "survey", ()),
        "reactive": Program("fathometer-reactive", "flow", _demo("reactive", "--demo")),
        "ocean": Program(
            "fathometer-ocean",
            "ocean",
            _demo("ocean", "--demo"),
            rate="simulated years a day",
            tunings={"barotropic.solver": ("chronopoulos-gear", "pcg")},
        ),
        "flow": Program("fathometer-flow", "flow", _demo("flow", "--demo")),
        "plasma": Program(
            "fathometer-plasma",
            "plasma",
            _demo("plasma", "--demo"),
            short={"time.end": 8.0},
            rate="rate",
            share="communication share",
            tunings={**_TRANSPOSES, "parallel.overlap": (False, True)},
            quick=_TWO,
        ),
        "atmosphere": Program(
            "fathometer-atmosphere",
            "atmosphere",
            _demo("atmosphere", "--demo"),
            rate="rate",
            share="communication share",
            tunings=_TRANSPOSES,
            quick=_TWO,
        ),
        "farm": Program("fathometer-farm", "farm", _demo("farm", "--demo")),
    }
)
