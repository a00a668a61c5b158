"""Recipes within a study: names of figures, and patterns with a study's factors."""

import pytest

from fathometer.base.errors import InputError
from fathometer.lab.studies.program import program_of
from fathometer.lab.studies.study_file import ProgramTable

LATENCY = "# OSU MPI Latency Test v7.5\n8   1.50\n64   1.75\n"


def merits(program):
    return [info.name for info in program.infos() if info.role == "merit"]


@pytest.mark.parametrize(
    ("keys", "factors", "name"),
    [
        ({}, [], "latency of 8 bytes"),
        ({"size": 64}, [], "latency of 64 bytes"),
        ({}, ["size"], "latency of size bytes"),
        ({"size": "{bytes}"}, ["bytes"], "latency of size bytes"),
        ({"size": 64}, ["size"], "latency of 64 bytes"),
    ],
)
def test_names_of_figures_say_what_is_the_same_in_all_runs(tmp_path, keys, factors, name):
    program = program_of(ProgramTable(recipe="osu-latency", **keys), tmp_path, factors)
    assert merits(program) == [name]
    (tmp_path / "stdout").write_text(LATENCY)
    values = program.values(dict.fromkeys(factors, 64))
    size = 64 if factors or keys else 8
    figures, problems = program.outcome(tmp_path, values, 0, 1.0)
    assert (figures, problems) == ({name: pytest.approx(1.75e-6 if size == 64 else 1.5e-6)}, [])


def test_patterns_of_a_study_take_its_factors(tmp_path):
    table = ProgramTable(
        command=["./mine"],
        figure=[{"name": "time of {part}", "unit": "seconds", "pattern": "^{part}: ([0-9.]+)"}],
        validity={"must": ["^{part}:"], "must_not": ["{part} failed"]},
    )
    program = program_of(table, tmp_path, ["part"])
    assert program.names() == {"part"}
    assert merits(program) == ["time of part"]
    (tmp_path / "stdout").write_text("a.b: 1\naxb: 2\nc failed\n")
    assert program.outcome(tmp_path, {"part": "a.b"}, 0, 1.0) == ({"time of part": 1.0}, [])
    assert program.outcome(tmp_path, {"part": "c"}, 0, 1.0)[1][:2] == [
        "'^c:' is missing in stdout",
        "'c failed' found in stdout",
    ]
    with pytest.raises(InputError, match=r"unknown name \{part\}"):
        program_of(table, tmp_path, [])


def test_a_study_that_knows_the_cost_of_a_step_of_wrf_says_it(tmp_path):
    (tmp_path / "wrf.exe").touch()
    figure = {"name": "operations", "unit": "flops_per_second", "expression": "30e9 / step"}
    table = ProgramTable(recipe="wrf", program="wrf.exe", case=".", figure=[figure])
    program = program_of(table, tmp_path, [])
    line = "Timing for main: time 2011-03-04_06:0{}:00 on domain   1:    {:.5f} elapsed seconds\n"
    (tmp_path / "rsl.error.0000").write_text(line.format(1, 9) + line.format(2, 2) + "wrf: SUCCESS COMPLETE WRF\n")
    (tmp_path / "namelist.input").write_text("time_step = 60,\n")
    figures, problems = program.outcome(tmp_path, program.values({}), 0, 20.0)
    assert problems == []
    assert (figures["operations"], figures["simulation speed-up"]) == (15e9, 30.0)
