"""What a wrong value is told of the choice that is near it, in every reader of tables and in options of commands."""

import argparse
from typing import Annotated, Literal

import pytest
from annotated_types import Len
from pydantic import Field

from fathometer.base.errors import InputError
from fathometer.base.meant import did_you_mean, file_meant, nearest
from fathometer.base.option_types import choices_of, operations
from fathometer.config.constraints import Allowed, choices
from fathometer.config.input_file import InputFile, validated
from fathometer.config.table import Table, key
from fathometer.config.types import Loose
from fathometer.lab.recipes.recipe import Recipe
from fathometer.lab.studies.placement import placement_of
from fathometer.lab.studies.study_file import Study
from fathometer.storage.volumes.strategy import Strategy


class Side(Table):
    """One kind of side."""

    kind: Literal["open", "periodic"] = key("of side")


class Wall(Table):
    """Another one."""

    kind: Literal["wall"] = key("of side")


class Domain(Table):
    """Keys with choices, of each form that types have."""

    boundary: Literal["periodic", "closed"] = key("at its ends", default="closed")
    depth: Literal["automatic"] | float = key("of it", default=1.0)
    kept: Annotated[tuple[Literal["height", "speed"], ...], Loose, Allowed("a list of height, speed")] = key(
        "what is kept", default=()
    )
    flags: Annotated[str, Allowed("north or south", ("north", "south"))] = key("of it", default="north")
    apart: Annotated[tuple[float, ...], Len(1, 2), Loose] | None = key("of traces", default=None)
    pair: Annotated[tuple[float, float], Loose] | None = key("of it", default=None)
    side: Annotated[Side | Wall, Field(discriminator="kind")] | None = key("of it", default=None)


class Domains(InputFile):
    """A file of them."""

    domain: Domain = key("a domain")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"boundary": "pereodic"}, '[domain] boundary: found "pereodic"; allowed: "periodic" or "closed"; did you mean '
        '"periodic"?'),
        ({"boundary": "wrong"}, '[domain] boundary: found "wrong"; allowed: "periodic" or "closed"'),
        ({"apart": 10.0}, "[domain] apart: found 10.0; allowed: a list of 1 or 2 numbers; a list of one stands in "
        "brackets: [10.0]"),
        ({"pair": 10.0}, "[domain] pair: found 10.0; allowed: a list of 2 numbers"),
        ({"boundary": 3}, '[domain] boundary: found 3; allowed: "periodic" or "closed"'),
        ({"depth": "automatc"}, '"automatic" or a number; did you mean "automatic"?'),
        ({"boundary": ["peri", "odic"]}, 'allowed: "periodic" or "closed"; did you mean "periodic"?'),
        ({"kept": ["height", "sped"]}, 'allowed: a list of height, speed; did you mean "speed"?'),
        ({"side": {"kind": "opne"}}, 'side.kind: found "opne"; allowed: "open" or "periodic" or "wall"; did you mean '
        '"open"?'),
    ],
)  # fmt: skip
def test_a_value_out_of_a_list(tmp_path, values, told):
    with pytest.raises(InputError) as caught:
        validated(Domains, {"domain": values}, tmp_path / "domain.toml")
    assert str(caught.value).endswith(told)


def test_choices_are_found_in_any_type():
    found = {name: choices(field.annotation, field.metadata) for name, field in Domain.model_fields.items()}
    assert found == {
        "boundary": ["periodic", "closed"],
        "depth": ["automatic"],
        "kept": ["height", "speed"],
        "flags": ["north", "south"],
        "apart": [],
        "pair": [],
        "side": [],
    }


@pytest.mark.parametrize(
    ("model", "values", "told"),
    [
        (Study, {"title": "of runs", "launch": {"how": "sbacth"}}, 'did you mean "sbatch"?'),
        (Recipe, {"name": "r", "title": "a run", "command": ["r"], "launch": "serail"}, 'did you mean "serial"?'),
    ],
)
def test_recipes_and_studies(tmp_path, model, values, told):
    with pytest.raises(InputError) as caught:
        validated(model, values, tmp_path / "file.toml")
    assert told in str(caught.value)


def test_values_that_a_reader_checks_itself():
    with pytest.raises(InputError, match=r'; did you mean "core"\?'):
        placement_of({"bind": "coers"}, {})
    with pytest.raises(InputError, match=r"did you mean posix-shared\?"):
        Strategy.of("posix-sharred")


@pytest.mark.parametrize(("read", "text"), [(choices_of("warm", "cold"), "warm,clod"), (operations, "read,wriet")])
def test_lists_on_the_command_line(read, text):
    with pytest.raises(argparse.ArgumentTypeError, match=r"; did you mean (cold|write)\?"):
        read(text)


def test_what_is_far_from_all_is_told_nothing():
    assert did_you_mean("xyz", ["north", "south"]) == ""
    assert did_you_mean("noth", ["north", "south"], "'") == "; did you mean 'north'?"


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("color", ["centre", "colour"], "colour"),
        ("colour", ["center", "color"], "color"),
        ("center", ["entry", "centre"], "centre"),
        ("source-normalized", ["cross-correlation", "source-normalised"], "source-normalised"),
        ("meters", ["metres", "feet"], "metres"),
        ("gray", ["green", "grey"], "grey"),
        ("optimized", ["taylor", "optimised"], "optimised"),
        ("modeling", ["model", "modelling"], "modelling"),
        ("analyze", ["analyse", "archive"], "analyse"),
        ("Peak Frequency", ["rise_time", "peak_frequency"], "peak_frequency"),
        ("time-migrate", ["migrate", "migrate-time"], "migrate-time"),
        ("f0", ["kind", "peak_frequency"], "peak_frequency"),
        ("nx", ["cells", "size"], "cells"),
        ("rtm", ["model", "migrate"], "migrate"),
        ("dx", ["vp", "origin"], None),
    ],
)
def test_other_spellings_and_words_of_other_programs(word, known, meant):
    assert nearest(word, known) == meant


def test_a_file_that_is_not_there(tmp_path):
    for name in ("survey.toml", "surveys.txt", "vp.npy"):
        (tmp_path / name).touch()
    assert file_meant(tmp_path / "Surveys.toml") == f"; did you mean {tmp_path / 'survey.toml'}?"
    assert file_meant(tmp_path / "density.npy") == ""
    assert file_meant(tmp_path / "none" / "vp.npy") == ""
