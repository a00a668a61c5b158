"""Names in braces."""

import pytest

from fathometer.base.errors import InputError
from fathometer.lab.recipes.template import check_names, fill, fill_words, names_in, value_of

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
