"""Limits of the numeric keys of all input files: none is without, and what no physics has is refused in one line."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from annotated_types import Ge, Gt, Le, Lt
from cli_support import MIGRATE, MODEL
from extreme_program import nested
from ocean_inputs import BASE as OCEAN
from ocean_inputs import ocean_values
from paths import ROOT
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from reactive_flows import BASE as FLOW
from reactive_flows import values as flow_values
from time_survey_support import PATCH

from fathometer.apps.atmosphere.atmosphere_file import AtmosphereFile
from fathometer.apps.farm.farm_file import FarmFile
from fathometer.apps.flow.flow_file import IncompressibleFile
from fathometer.apps.ocean.ocean_file import OceanFile
from fathometer.apps.plasma.plasma_file import PlasmaFile
from fathometer.apps.reactive.chemistry.keys import ChemistryFile
from fathometer.apps.reactive.flow_file import FlowFile
from fathometer.base.errors import InputError
from fathometer.base.option_types import velocities
from fathometer.config.input_file import validated
from fathometer.lab.recipes.recipe import Recipe
from fathometer.lab.studies.study_file import Study
from fathometer.seismic.survey import Survey, survey_of

PHYSICAL = (
    *(Survey, OceanFile, FlowFile, ChemistryFile),
    *(PlasmaFile, AtmosphereFile, IncompressibleFile, FarmFile),
)
OF_PROGRAMS = (Recipe, Study)  # most of their numbers are of any program, and have no unit here
# Without an upper limit: what they may be is not for this program to say.
FREE = {
    "ShotChoiceTable.ffid": "numbers that field records bear",
    "GridTasks.values": "parameters of whatever program a farm runs",
}
SI = ("s", "m", "Hz", "bytes")


def tables(annotation: Any) -> Iterator[type[BaseModel]]:
    """All tables that a type can hold, those within them too."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from tables(field.annotation)
    for argument in get_args(annotation):
        yield from tables(argument)


def numbers(annotation: Any, metadata: list[Any]) -> Iterator[tuple[type, list[Any]]]:
    """The numbers that a type can hold, each with its constraints."""
    if annotation in (int, float):
        yield annotation, metadata
    elif hasattr(annotation, "__metadata__"):
        yield from numbers(get_args(annotation)[0], [*annotation.__metadata__, *metadata])
    elif get_origin(annotation) is dict:
        yield from numbers(get_args(annotation)[1], [])
    else:
        for argument in get_args(annotation):
            yield from numbers(argument, [])


def has(constraints: list[Any], *kinds: type) -> bool:
    return any(isinstance(one, kinds) for one in constraints)


def keys(files: tuple[type[BaseModel], ...]) -> Iterator[tuple[str, FieldInfo]]:
    for table in dict.fromkeys(table for file in files for table in (file, *tables(file))):
        for name, field in table.model_fields.items():
            yield f"{table.__name__}.{name}", field


def limited(field: FieldInfo) -> bool:
    """Whether all numbers have both limits. Counts need no upper one: memory, cores and cells that there are limit
    them."""
    return all(
        has(constraints, Gt, Ge) and (kind is int or has(constraints, Lt, Le))
        for kind, constraints in numbers(field.annotation, list(field.metadata))
    )


def test_all_input_files_are_looked_at() -> None:
    written = [
        re.findall(r"^class (\w+)\(InputFile\)", path.read_text(), re.M) for path in (ROOT / "src").rglob("*.py")
    ]
    assert sorted(name for names in written for name in names) == sorted(
        file.__name__ for file in (*PHYSICAL, *OF_PROGRAMS)
    )


def test_every_number_has_a_lower_and_an_upper_limit() -> None:
    physical = dict(keys(PHYSICAL))
    assert sum(bool([*numbers(field.annotation, [])]) for field in physical.values()) > 150  # the walk reaches them
    assert {name for name, field in physical.items() if not limited(field)} == FREE.keys()
    units = {name: (field.json_schema_extra or {}).get("unit") for name, field in keys(OF_PROGRAMS)}
    assert not [name for name, field in keys(OF_PROGRAMS) if units[name] in SI and not limited(field)]


def test_defaults_are_within_their_limits() -> None:
    checked = 0
    for name, field in keys(PHYSICAL):
        of_key = [limits for kind, limits in numbers(field.annotation, list(field.metadata)) if kind is float]
        if isinstance(field.default, float):
            checked += 1
            for limits in of_key:
                assert all(one.ge <= field.default for one in limits if isinstance(one, Ge)), name
                assert all(field.default <= one.le for one in limits if isinstance(one, Le)), name
    assert checked > 25


MUTE = {"acquisition.mute.velocity": 3.0}
SURVEYS = [  # what images of zeros came from, and others of their kind
    (
        PATCH,
        {"time_migration.replacement_velocity": 7.3},
        "replacement_velocity: found 7.3; allowed: a number from",
    ),
    (PATCH, {"time_migration.replacement_velocity": 1e-300}, "replacement_velocity: found 1e-300; allowed"),
    (PATCH, {"time_migration.datum": -1e4}, "datum: found -10000.0; allowed: a number from -9000 to 12000 (m)"),
    (PATCH, {"time_migration.datum": 1e300}, "datum: found 1e+300; allowed"),
    (PATCH, {"time_migration.dip": 1e-300}, "dip: found 1e-300; allowed"),
    (PATCH, {"time_migration.dip": 1e-3}, "dip: found 0.001; allowed: a number from 0.1 to 90 (degrees)"),
    (PATCH, {"time_migration.velocity": 1.0}, "velocity: found 1.0; allowed: a file or a number from 100 to 20000"),
    (PATCH, {"time_migration.aperture": 1e-12}, "aperture: found 1e-12; allowed"),
    (PATCH, {"time_migration.end": 1e6}, "end: found 1000000.0; allowed: a number from 1e-06 to 100000 (s)"),
    (PATCH, {"time_migration.x": [0.0, 1e10, 1e8]}, "x: found [0.0, 10000000000.0, 100000000.0]; allowed: [first"),
    (MIGRATE, MUTE, "mute.velocity: found 3.0; allowed: a number from 100 to 20000 (m/s)"),
    (MIGRATE, {"acquisition.mute": {"velocity": 1500.0, "taper": 1e9}}, "mute.taper: found"),
    (MIGRATE, {"acquisition.source_depth": 1e12}, "source_depth: found"),
    (MIGRATE, {"acquisition.origin": [1e12, 0.0]}, "origin: found"),
    (MODEL, {"wavelet.peak_frequency": 1e12}, "peak_frequency: found"),
    (MODEL, {"propagation.duration": 1e-9}, "duration: found"),
    (MODEL, {"propagation.dt": 1e-30}, "dt: found"),
    (MODEL, {"model.vp": 2.0}, "vp: found 2; allowed: from 100 to 20000, in m/s, as `units` says"),
    (MODEL, {"model.vp": 2000.0, "model.units": "km/s"}, "vp: found 2000; allowed: from 0.1 to 20, in km/s"),
    (
        MODEL,
        {"model.vp": 2000.0, "model.delta": 30.0},
        "delta: found 30.0; allowed: a file or a number above -0.5",
    ),
    (MODEL, {"model.spacing": [1e-12, 1e-12]}, "spacing: found"),
]


@pytest.mark.parametrize(("base", "changes", "words"), SURVEYS)
def test_surveys_that_no_physics_has(base: dict[str, Any], changes: dict[str, Any], words: str) -> None:
    complains(lambda: survey_of(nested({**base, **changes}), Path("survey.toml")), words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"initial__salinity": -1.0}, "[initial] salinity: found -1.0; allowed: a number from 0 to 500"),
        (
            {"initial__salinity": {"surface": {"south": 35.0, "north": -1.0}}},
            "[initial] salinity.surface.north: found -1; allowed: from 0 to 500",
        ),
        (
            {"initial__temperature": {"surface": 10.0, "deep": -300.0, "scale": 100.0}},
            "[initial] temperature.deep: found -300; allowed: from -60 to 150 °C",
        ),
        (
            {"forcing__salinity": {"timescale": 1e6, "target": -5.0}},
            "[forcing] salinity.target: found -5; allowed: from 0 to 500",
        ),
        ({"bathymetry": {"kind": "ridge", "height": 1e15}}, "height: found 1000000000000000.0; allowed"),
        ({"bathymetry": {"kind": "flat", "depth": 1e9}}, "depth: found 1000000000.0; allowed"),
        ({"water__gravity": 1e-9}, "gravity: found 1e-09; allowed"),
        ({"water__density": 1e9}, "density: found 1000000000.0; allowed"),
        ({"grid__levels": [10.0, 1e9]}, "levels: found [10.0, 1000000000.0]; allowed: a list of at least one"),
        ({"forcing__wind": {"kind": "constant", "stress": [1e6, 0.0]}}, "stress: found"),
        ({"rotation__f": 1e9}, "f: found 1000000000.0; allowed"),
    ],
)
def test_oceans_that_no_physics_has(changes: dict[str, Any], words: str) -> None:
    assert validated(OceanFile, OCEAN, Path("ocean.toml"))
    complains(lambda: validated(OceanFile, ocean_values(**changes), Path("ocean.toml")), words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"medium__conductivity": 1e12}, "conductivity: found 1000000000000.0; allowed"),
        ({"medium__diffusivity": 1e17}, "diffusivity: found 1e+17; allowed"),
        ({"medium__porosity": 1e-30}, "porosity: found 1e-30; allowed"),
        ({"flow__flux": [1e9, 0.0, 0.0]}, "flux: found"),
        ({"chemistry__specific_area": {"Calcite": 1e17}}, "specific_area.Calcite: found 1e+17; allowed"),
        ({"newton__tolerance": 1e9}, "tolerance: found 1000000000.0; allowed"),
    ],
)
def test_flows_that_no_physics_has(changes: dict[str, Any], words: str) -> None:
    assert validated(FlowFile, FLOW, Path("flow.toml"))
    complains(lambda: validated(FlowFile, flow_values(**changes), Path("flow.toml")), words)


def complains(read: Any, words: str) -> None:
    """One line that begins with the file and has the words."""
    with pytest.raises(InputError) as caught:
        read()
    line = str(caught.value)
    assert words in line, line
    assert "\n" not in line
    assert line.startswith(("survey.toml: [", "ocean.toml: [", "flow.toml: ["))


@pytest.mark.parametrize(
    ("units", "vs", "right"),
    [
        ("m/s", 30.0, True),
        ("m/s", 0.0, True),
        ("m/s", 0.3, False),
        ("km/s", 300.0, False),
        ("s2/km2", 1e4, True),  # 10 m/s
        ("s2/km2", 1e-4, False),
    ],
)
def test_shear_velocities_by_units(units: str, vs: float, right: bool) -> None:
    vp = {"m/s": 1500.0, "km/s": 1.5, "s2/km2": 0.44}[units]
    keys = {"model.vp": vp, "model.vs": vs, "model.density": 2000.0, "model.units": units, "source.kind": "explosion"}
    keys |= {"propagation.physics": "elastic", "propagation.boundary": "auto"}
    if right:
        assert survey_of(nested({**MODEL, **keys}), Path("survey.toml"))
    else:
        complains(lambda: survey_of(nested({**MODEL, **keys}), Path("survey.toml")), "[model] vs: found")


@pytest.mark.parametrize("text", ["0,2000", "1500,1e9", "1e-300,2", "nan,1", "2000,1000"])
def test_velocities_of_an_option_have_limits(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match=r"allowed: LOWEST,HIGHEST in m/s, from 1 to 20000"):
        velocities(text)
    assert velocities("1500,4500") == (1500.0, 4500.0)
