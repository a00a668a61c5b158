"""What is told of a text that is not TOML: the line, and what to change."""

import time
import tomllib

import pytest

from fathometer.config.toml_problems import toml_problem


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("duration = 0,2", "duration = 0,2; a number has a decimal point, not a comma"),
        ("duration = 2 s", "duration = 2 s; a number stands without its unit"),
        ("vp = vp.npy", "vp = vp.npy; a text stands in quotes"),
        ("direct = True", "direct = True; true and false are in lower case"),
        ("duration: 2", "duration: 2; a key and its value have = between them"),
        ("[model", "[model; a section's name ends with ]"),
        ("vp =", "vp =; a key needs a value, or leave it out"),
        ('vp = "C:\\models"', 'vp = "C:\\models"; between double quotes'),
        ("[model]\n[model]", "[model]; a section, and a key in it, stands once"),
        ("a = 1\na = 2", "a = 2; a section, and a key in it, stands once"),
        ("a = [1,\n2", "(at end of document): 2"),
    ],
)
def test_the_line_and_what_to_change(text, told):
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        tomllib.loads(text)
    problem = toml_problem(caught.value, text)
    assert told in problem
    assert problem.startswith(str(caught.value))


def test_a_line_of_megabytes_takes_no_longer_than_to_be_read():
    text = "z = 20." + "y" * 2_000_000
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        tomllib.loads(text)
    start = time.process_time()
    assert len(toml_problem(caught.value, text)) < 300
    assert time.process_time() - start < 5.0  # hours by patterns
