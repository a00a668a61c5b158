"""A study whose runs are profiled: their figures, and where time in MPI passes the time outside."""

import csv
import json
from dataclasses import replace

from cli_support import call
from profile_support import compiled, run_environment
from study_support import study

from fathometer.lab.profile.study_figures import RATIO, UNITS
from fathometer.lab.studies.report import profiles
from fathometer.lab.studies.report.crossing import crossings
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


def test_a_study_keeps_its_profiles(tmp_path):
    program = compiled(tmp_path, "cg.c")
    (tmp_path / "study.toml").write_text(STUDY.format(program=program))
    environment = {name: value for name, value in run_environment().items() if name.startswith("OMPI_")}
    assert call("study", "run", tmp_path / "study.toml", "--quiet", environment=environment).code == 0
    folder = tmp_path / "study.study"
    pages = sorted(folder.rglob("profile.html"))
    assert len(pages) == 2
    text = (folder / "study.html").read_text()
    for page in pages:
        assert f'href="{page.relative_to(folder)}"' in text
        record = json.loads(page.with_name("profile.json").read_text())
        assert record["command"][-3:] == [str(program), "2000", "50"]
        assert sorted(path.name for path in page.parent.iterdir()) == ["profile.html", "profile.json"]
    assert call("study", "report", folder, "-o", tmp_path / "elsewhere.html").code == 0
    assert f'href="study.study/{pages[0].relative_to(folder)}"' in (tmp_path / "elsewhere.html").read_text()


def test_a_run_whose_profile_was_kept_before_a_kill_is_taken(tmp_path):
    """Killed after the files of the ranks had become a record, and before the run was kept in its case."""
    program = compiled(tmp_path, "cg.c")
    (tmp_path / "study.toml").write_text(STUDY.format(program=program))
    environment = {name: value for name, value in run_environment().items() if name.startswith("OMPI_")}
    run = ("study", "run", tmp_path / "study.toml", "--quiet")
    assert call(*run, environment=environment).code == 0
    file = next((tmp_path / "study.study" / "cases").iterdir())
    before = json.loads(file.read_text())
    file.write_text(json.dumps(before | {"runs": []}))
    assert call(*run, environment=environment).code == 0
    [again] = json.loads(file.read_text())["runs"]
    assert again["failed"] == ""
    assert again["figures"] == before["runs"][0]["figures"]


INFO = FigureInfo(RATIO, "seconds", "none", "context")  # seconds: takes the value as it is


def of_nodes(*nodes, by=8, **more):
    return crossings(
        study({"nodes": nodes}, lambda settings: settings["nodes"] / by, figures=(INFO,), **{"noise": 0.01} | more)
    )


def test_a_study_says_where_time_in_mpi_passes_the_rest():
    assert of_nodes(1, 4, 16) == [
        "time in MPI is less than the time outside of it at 4 nodes, and more at 16."  # and nothing of 8
    ]
    assert of_nodes(1, 4) == ["time in MPI is less than the time outside of it at all nodes measured, 1 to 4."]
    assert of_nodes(16, 32) == ["time in MPI is more than the time outside of it at all nodes measured, 16 to 32."]
    other = study({"nodes": (1, 4)}, figures=(FigureInfo("total", "seconds", "lower"),))
    assert crossings(other) == []


def test_two_rounds_do_not_say_where():
    assert of_nodes(1, 4, 16, rounds=2) == [
        "2 rounds do not tell whether time in MPI is more than the time outside of it at 1 to 16 nodes."
    ]


def test_what_is_about_as_much_is_not_decided():
    [said] = of_nodes(2, 8, noise=0.05)
    assert said.startswith("whether time in MPI is more than the time outside of it is not decided at 8 nodes")


def test_of_many_profiles_those_nearest_to_the_median_are_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(profiles, "records_of", lambda folder, run: [(run.number, run.seconds)] * (run.number > 1))
    monkeypatch.setattr(profiles, "MOST_PAGES", 8)

    def runs(settings, run):
        return replace(run, seconds=(5.0, 9.0, 2.0, 4.0)[run.number - 1])

    def shown(*nodes):
        made = study(
            {"nodes": nodes}, lambda _: 1.0, rounds=4, figures=(INFO,), runs=runs, application={"profile": True}
        )
        cases = {
            name: replace(case, runs=[run for run in case.runs if run.kind == "round"])
            for name, case in made.cases.items()
        }
        return list(profiles.to_be_shown(tmp_path, replace(made, cases=cases)))

    assert shown(1, 2) == [(2, 9.0), (3, 2.0), (4, 4.0)] * 2
    assert shown(1, 2, 3) == [(4, 4.0)] * 3
