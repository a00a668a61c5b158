"""What shows that a run did its work."""

import pytest

from fathometer.lab.recipes.keys import ReferenceTable, ValidityTable
from fathometer.lab.recipes.validity import validity_problems


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "stdout").write_text("begin\nPASSED 3\nend of run\n")
    (tmp_path / "stderr").write_text("a warning\n")
    (tmp_path / "log").write_text("done\n")
    return tmp_path


def problems(folder, exit_code=0, figures=(), **keys):
    return validity_problems(ValidityTable(**keys), folder, {"name": "log", "three": 3}, exit_code, dict(figures))


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"must": ("^PASSED", "(end|stop) of run"), "must_not": ("ERROR", "^warning")},
        {"file": "{name}", "must": ("^done$",)},
        {"files": ("{name}", "stdout")},
        {"exit_codes": (0, 3)},
        {"must": ("^PASSED {three}$",), "must_not": ("^PASSED {name}",)},
    ],
)
def test_a_run_that_did_its_work(folder, keys):
    assert problems(folder, **keys) == []


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"exit_code": 3}, "ended with exit code 3; allowed: exit code 0"),
        ({"exit_code": -9}, "ended by SIGKILL; allowed: exit code 0"),
        ({"exit_code": 0, "exit_codes": (1, 2)}, "ended with exit code 0; allowed: exit code 1 or 2"),
        ({"must": ("^FINISHED",)}, "'^FINISHED' is missing in stdout"),
        ({"must_not": ("PASSED",)}, "'PASSED' found in stdout"),
        ({"must_not": ("PASSED {three}",)}, "'PASSED 3' found in stdout"),
        ({"must_not": ("a warning",)}, "'a warning' found in stderr"),
        ({"must": ("x",), "file": "absent"}, "no file absent, in which 'x' must occur"),
        ({"files": ("absent",)}, "no file absent"),
    ],
)
def test_one_that_did_not(folder, keys, told):
    assert problems(folder, **keys) == [told]


@pytest.mark.parametrize(
    ("value", "tolerance", "told"),
    [
        (10.0, 0.0, ""),
        (10.0001, 0.0, "x: found 10.0001; it must be 10"),
        (10.9, 0.1, ""),
        (11.1, 0.1, "x: found 11.1; it must be 10, to 0.1 of it"),
        (None, 0.1, "x: missing; it must be 10"),
    ],
)
def test_references(folder, value, tolerance, told):
    reference = (ReferenceTable(figure="x", value=10.0, tolerance=tolerance),)
    assert problems(folder, figures=[("x", value)] * (value is not None), reference=reference) == (
        [told] if told else []
    )
