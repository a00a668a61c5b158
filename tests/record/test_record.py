"""The record of a run: what it holds, that it appears whole or not at all, what it says of the machine."""

import errno
import json
import math
import os
import subprocess
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from ledger_support import rank

from fathometer.base.errors import FathometerError
from fathometer.record import machine
from fathometer.record.envelope import Figure, plain, record, write_record
from fathometer.record.ranks import account
from fathometer.record.schema import SCHEMA


@pytest.fixture(scope="module")
def schema():
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def envelope(**changes):
    parts = {
        "application": "migrate",
        "command": ["fathometer", "migrate", "survey.toml"],
        "input": {"model": {"vp": Path("vp.rsf")}, "spacing": (12.5, np.float32(0.5))},
        "machine": machine.machine(),
        "account": account([rank(0, 1.0)]),
        "figures": [
            Figure("updates", np.float64(1e9), "1/s", "higher"),
            Figure("dt", 1e-3, "s", "none", "context"),
        ],
        "results": {"cells": np.int64(2**40), "binding": {3, 1}},
    }
    return record(**(parts | changes))


def test_record_reads_back_and_fits_its_schema(tmp_path, schema):
    path = tmp_path / "run.json"
    write_record(path, envelope())
    found = json.loads(path.read_text(encoding="utf-8"))
    schema.validate(found)
    assert found["input"] == {"model": {"vp": "vp.rsf"}, "spacing": [12.5, 0.5]}
    assert found["results"] == {"cells": 2**40, "binding": [1, 3]}
    assert found["figures"][1] == {
        "name": "dt",
        "value": 1e-3,
        "unit": "s",
        "direction": "none",
        "role": "context",
    }
    assert found["validity"] == {"valid": True, "finished": True, "reasons": [], "times": []}
    assert os.listdir(tmp_path) == ["run.json"]


def test_reasons_make_a_run_invalid(schema):
    """Those that concern the times alone are told apart."""
    disturbed = "cores were shared with another program"
    found = envelope(reasons=["2 of 6 shots are not in the image"], disturbed=[disturbed])
    schema.validate(found)
    assert found["validity"] == {
        "valid": False,
        "finished": True,
        "reasons": ["2 of 6 shots are not in the image", disturbed],
        "times": [disturbed],
    }


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 3},
        {"command": []},
        {"machine": {}},
        {"figures": [{"name": "x", "value": 1, "unit": "s", "direction": "up", "role": "merit"}]},
        {"figures": [{"name": "x", "value": "1", "unit": "s", "direction": "none", "role": "merit"}]},
        {"validity": {"valid": True, "finished": True, "reasons": ["but"]}},
        {"validity": {"valid": False, "finished": True, "reasons": []}},
        {"validity": {"valid": True, "reasons": []}},
        {"surprise": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_schema_refuses(schema, change):
    assert not schema.is_valid(envelope() | change)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.arange(4, dtype=np.int16).reshape(2, 2), [[0, 1], [2, 3]]),
        (np.array([1.0, math.nan]), [1.0, None]),
        (np.float32(math.inf), None),
        (np.bool_(True), True),
        ({1: (None, "a", b"".decode())}, {"1": [None, "a", ""]}),
        (frozenset({"b", "a"}), ["a", "b"]),
    ],
)
def test_plain(value, expected):
    assert plain(value) == expected


def test_plain_refuses_what_json_cannot_hold():
    with pytest.raises(TypeError, match=r"1j\) of type complex has no place in a record|1j of type complex"):
        plain({"a": [1j]})


def test_a_record_that_fails_leaves_the_old_one(tmp_path):
    path = tmp_path / "run.json"
    path.write_text("old")
    with pytest.raises(TypeError):
        write_record(path, {"a": object()})
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["run.json"]


def test_a_record_that_cannot_be_written_is_one_line(tmp_path):
    path = tmp_path / "absent" / "run.json"
    with pytest.raises(FathometerError, match=r"run\.json: cannot be written: No such file or directory") as caught:
        write_record(path, envelope())
    assert "\n" not in str(caught.value)


def test_a_disk_that_fills_up_leaves_the_old_record(tmp_path, monkeypatch):
    path = tmp_path / "run.json"
    path.write_text("old")

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FathometerError, match=r"run\.json: cannot be written: No space left on device") as caught:
        write_record(path, envelope())
    assert caught.value.exit_code == 1
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["run.json"]


def test_machine_names_the_checkout_it_ran_from(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:  # as in a hook
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    package = tmp_path / "src" / "fathometer"
    package.mkdir(parents=True)
    assert machine.commit(package) is None
    (package / "a.py").write_text("1\n")

    def git(*words):
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        done = subprocess.run(["git", "-C", tmp_path, *who, *words], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "-q")
    assert machine.commit(package) is None
    git("add", ".")
    git("commit", "-qm", "first")
    head = git("rev-parse", "HEAD")
    assert machine.commit(package) == head
    (package / "a.py").write_text("2\n")
    assert machine.commit(package) == f"{head}-dirty"
    # installed into an environment that happens to lie in somebody's checkout
    installed = tmp_path / "env" / "fathometer"
    installed.mkdir(parents=True)
    assert machine.commit(installed) is None
