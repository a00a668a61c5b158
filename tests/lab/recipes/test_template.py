"""Names in braces."""

import pytest

from fathometer.base.errors import InputError
from fathometer.lab.recipes.template import (
    check_names,
    check_pattern,
    fill,
    fill_pattern,
    fill_words,
    names_in,
    names_in_pattern,
    value_of,
)

VALUES = {
    "ranks": 4,
    "fast": True,
    "share": 0.1,
    "name": "a b",
    "history.store": "disk",
    "more": ("-x", "-y 1"),
    "no": (),
}


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("-n{ranks}", "-n4"),
        ("{fast} {share} {name}", "true 0.1 a b"),
        ("{history.store}", "disk"),
        ("{{{ranks}}}", "{4}"),
        ("{{ranks}}", "{ranks}"),
        ("{more}!", "-x -y 1!"),
        ("", ""),
    ],
)
def test_braces_are_filled_in(word, wanted):
    assert fill(word, VALUES) == wanted


def test_a_word_that_is_a_list_becomes_its_words_and_only_then():
    assert fill_words(["run", "{more}", "{no}", "{name}", "o={more}"], VALUES) == [
        "run",
        "-x",
        "-y 1",
        "a b",
        "o=-x -y 1",
    ]


@pytest.mark.parametrize(
    ("word", "wanted"), [("{ranks}", 4), ("{fast}", True), ("{ranks} ", "4 "), ("x", "x"), ("{more}", ("-x", "-y 1"))]
)
def test_a_word_that_is_a_name_has_the_type_of_its_value(word, wanted):
    value = value_of(word, VALUES)
    assert (type(value), value) == (type(wanted), wanted)
    with pytest.raises(InputError, match="unknown name"):
        value_of("{zzz}", VALUES)


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("^{ranks} +x{2,3}[^ ]{4} {}", "^4 +x{2,3}[^ ]{4} {}"),
        (r"{share}|{name}|{more}", r"0\.1|a\ b|\-x\ \-y\ 1"),
        (r"\{ranks\} \{ranks} \N{BULLET}", r"\{ranks\} \{ranks} \N{BULLET}"),
    ],
)
def test_of_braces_in_patterns_only_those_with_names_are_filled_in(pattern, wanted):
    assert fill_pattern(pattern, VALUES) == wanted
    check_pattern(pattern, list(VALUES))


def test_unknown_names_in_patterns():
    assert names_in_pattern("{b}{2}{a}") == ["b", "a"]
    with pytest.raises(InputError, match=r"x\{rank\}: unknown name \{rank\}; did you mean \{ranks\}\?"):
        check_pattern("x{rank}", list(VALUES))


def test_names_in_order():
    assert names_in("{b}{{c}}{a}{b}") == ["b", "a", "b"]


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("{rank}", r"\{rank\}: unknown name \{rank\}; did you mean \{ranks\}\?"),
        ("{zzz}", r"unknown name \{zzz\}; known: ranks, fast"),
        ("a{b", r"a\{b: found a \{ alone"),
        ("a}b", r"a\}b: found a \} alone"),
        ("{}", r"found a \{ alone"),
        ("{ ranks }", r"found a \{ alone"),
    ],
)
def test_what_has_no_value_is_an_error(word, told):
    with pytest.raises(InputError, match=told):
        fill(word, VALUES)
    with pytest.raises(InputError, match=told):
        check_names(word, list(VALUES))
