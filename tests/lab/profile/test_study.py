"""A study whose runs are profiled: their figures, and where time in MPI passes the time outside."""

import csv

import pytest
from cli_support import call
from profile_support import compiled, run_environment
from study_support import study

from fathometer.lab.profile.study_figures import RATIO, UNITS
from fathometer.lab.studies.report.crossing import crossing, crossings
from fathometer.lab.studies.results import FigureInfo

STUDY = """
title = "A solver on one rank and on two"

[application]
command = ["{program}", "2000", "50"]
launch = "mpi"
profile = true

[factors]
ranks = [1, 2]

[placement]
ranks = "{{ranks}}"

[runs]
repetitions = 1
warm_up = 0
"""


def test_runs_of_a_study_are_counted(tmp_path):
    program = compiled(tmp_path, "cg.c")
    (tmp_path / "study.toml").write_text(STUDY.format(program=program))
    environment = {name: value for name, value in run_environment().items() if name.startswith("OMPI_")}
    done = call("study", "run", tmp_path / "study.toml", "--quiet", environment=environment)
    assert done.code == 0, done.err
    done = call("study", "export", tmp_path / "study.study", "--csv", tmp_path / "runs.csv")
    assert done.code == 0, done.err
    with (tmp_path / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = {(row["factor_ranks"], row["figure"]): float(row["value"]) for row in rows}
    # 101 sums of 8 B on each rank; beside them one value to the neighbour in each of 50 steps.
    assert found["1", "messages"] == 0
    assert found["2", "messages"] == 2 * 50
    assert found["2", "data a rank"] == 101 * 8 + 50 * 8
    assert found["2", "data of all ranks"] == 2 * found["2", "data a rank"]
    assert {name for _, name in found} >= set(UNITS)


def test_the_crossing_is_on_the_line_between_its_points():
    assert crossing([(1, 0.25), (4, 4.0)]) == pytest.approx(2.0)  # by the logarithms of both
    assert crossing([(1, 0.5), (2, 1.0), (4, 2.0)]) == pytest.approx(2.0)
    assert crossing([(1, 2.0), (2, 3.0)]) is None
    assert crossing([(1, 0.2), (2, 0.9)]) is None


def test_a_study_says_where_time_in_mpi_passes_the_rest():
    info = FigureInfo(RATIO, "seconds", "none", "context")  # seconds: takes the value as it is
    results = study({"nodes": (1, 4, 16)}, lambda settings: settings["nodes"] / 8, figures=(info,), noise=0.0)
    assert crossings(results) == [
        "time in MPI passes the time outside of it at 8.00 nodes (on a line between measured points)."
    ]
    never = study({"nodes": (1, 4)}, lambda settings: settings["nodes"] / 8, figures=(info,), noise=0.0)
    assert crossings(never) == ["time in MPI is less than the time outside of it at all nodes measured, 1.00 to 4.00."]
    other = study({"nodes": (1, 4)}, figures=(FigureInfo("total", "seconds", "lower"),))
    assert crossings(other) == []
