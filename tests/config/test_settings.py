"""Keys of an input file that are set on the command line."""

import pytest

from fathometer.base.errors import InputError
from fathometer.config.settings import with_settings


@pytest.mark.parametrize(
    ("setting", "wanted"),
    [
        ("a.b=disk", "disk"),
        ("a.b=a b", "a b"),
        ('a.b="5"', "5"),
        ("a.b=5", 5),
        ("a.b=1e-6", 1e-6),
        ("a.b=true", True),
        ("a.b=[2, 1]", [2, 1]),
        ('a.b={kind = "pml"}', {"kind": "pml"}),
        ("a.b=/x=y/out", "/x=y/out"),
        ("a.b=2020-01-01", "2020-01-01"),
        ("a.b=1\nc = 2", "1\nc = 2"),
        ("a.b=", ""),
    ],
)
def test_values_are_those_of_toml_else_words(setting, wanted):
    assert with_settings({"a": {"c": 1}}, [setting]) == {"a": {"c": 1, "b": wanted}}


def test_tables_are_made_later_settings_count_and_the_file_stays():
    values = {"a": {"b": 1}}
    assert with_settings(values, ["a.b=2", "x.y.z=3", "a.b=4"]) == {"a": {"b": 4}, "x": {"y": {"z": 3}}}
    assert values == {"a": {"b": 1}}


def test_tables_of_a_list_are_counted_from_1():
    values = {"side": [{"kind": "wall"}, {"kind": "slip", "more": {"a": 1}}]}
    found = with_settings(values, ["side.2.kind=wall", "side.1.velocity=[1.0]", "side.2.more.a=2"])
    assert found == {"side": [{"kind": "wall", "velocity": [1.0]}, {"kind": "wall", "more": {"a": 2}}]}
    assert values["side"][1] == {"kind": "slip", "more": {"a": 1}}
    for number in ("0", "3", "x"):
        with pytest.raises(InputError, match=rf"side\.{number} is not a table"):
            with_settings(values, [f"side.{number}.kind=wall"])
    with pytest.raises(InputError, match="side is not a table"):
        with_settings(values, ["side.kind=wall"])


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("a.b", "--set: found a.b; allowed: KEY=VALUE"),
        ("=1", "--set: found =1; allowed: KEY=VALUE"),
        ("a..b=1", "--set: found a..b=1; allowed: KEY=VALUE"),
        ("a.b.c=1", "--set: found a.b.c=1; a.b is not a table"),
    ],
)
def test_what_is_no_setting(setting, told):
    with pytest.raises(InputError, match=told.replace(".", r"\.")):
        with_settings({"a": {"b": 1}}, [setting])
