"""Names with control characters: refused where they are given, spelt out where they are shown."""

import json

import pytest
from cli_support import has_control

from fathometer.base.errors import InputError
from fathometer.base.names import check_name, check_script_name, visible, visible_name

CONTROLS = ["\0", "\n", "\r", "\t", "\x1b[2J", "\x7f", "\x85", "\x9b31m", "\u2028", "\u2029", "\u202e", "\u2066"]
SOUND = ["out", "north sea", "a\"b'c", "$(touch x)", "`x`;&|", "back\\slash", "\u00e9t\u00e9", "\u6d77", "\u200d\u200c"]


@pytest.mark.parametrize("control", CONTROLS)
def test_control_characters_are_refused_and_shown_as_escapes(control):
    name = f"out{control}touch"
    for check in (check_name, check_script_name):
        with pytest.raises(InputError) as caught:
            check(name, "[output] directory")
        assert str(caught.value).startswith('[output] directory: found "out\\')
        assert f"control character U+{ord(control[0]):04X}" in str(caught.value)
        assert not has_control(str(caught.value))
    assert not has_control(visible_name(name))
    assert visible(name) == (name if control == "\n" else visible_name(name))


@pytest.mark.parametrize("name", SOUND)
def test_other_characters_are_a_name(name):
    check_name(name, "x")
    check_script_name(name, "x")
    assert visible(name) == visible_name(name) == name


def test_json_that_is_shown_stays_json():
    values = {"name": "".join(map(chr, range(0x2070)))}
    shown = visible(json.dumps(values, ensure_ascii=False))
    assert not has_control(shown)
    assert json.loads(shown) == values


def test_a_script_holds_no_name_that_is_not_utf_8():
    name = b"mod\xe8le".decode("utf-8", "surrogateescape")
    check_name(name, "x")
    with pytest.raises(InputError, match="allowed: a name in UTF-8"):
        check_script_name(name, "x")
