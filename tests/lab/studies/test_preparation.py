"""Inputs that a study makes for itself: whole or made again, by the command that the study file has now."""

from cli_support import here

from fathometer.lab.studies.store import read_results

STUDY = """
title = "prepared"
[[prepare]]
command = ["sh", "-c", "{command}"]
makes = ["input"]
[application]
command = ["cat", "input"]
link_files = ["input"]
figure = [{{name = "said", unit = "1", direction = "lower", pattern = '^([0-9]+)$'}}]
[factors]
[runs]
repetitions = 1
"""
# Fails when it is run for the first time, and leaves a part of what it makes.
TWICE = "echo x >> tries; echo 1 > input; test $(wc -l < tries) = 2 && echo 2 > input"


def run(folder, command, *words):
    (folder / "study.toml").write_text(STUDY.format(command=command))
    return here("study", "run", folder / "study.toml", "--quiet", *words)


def said(folder):
    (case,) = read_results(folder / "study.study").cases.values()
    return list(case.values("said").values())


def test_what_a_command_that_failed_has_left_is_made_again(tmp_path):
    done = run(tmp_path, TWICE)
    assert done.code == 1, done.err
    assert "[[prepare]] 1: ended with exit code 1" in done.err
    plan = here("study", "plan", tmp_path / "study.toml")
    assert "is not there yet" in plan.err
    assert run(tmp_path, TWICE).code == 0
    assert said(tmp_path) == [2]


def test_another_command_makes_it_anew_where_the_study_begins_anew(tmp_path):
    assert run(tmp_path, "echo 1 > input", "--prepare").code == 0
    assert run(tmp_path, "echo 2 > input").code == 0  # nothing has been measured yet
    assert said(tmp_path) == [2]
    done = run(tmp_path, "echo 3 > input")
    assert "was begun with another [prepare]" in done.err
    assert (tmp_path / "input").read_text() == "2\n"
    assert run(tmp_path, "echo 3 > input", "--overwrite").code == 0
    assert said(tmp_path) == [3]


def test_a_file_that_was_there_is_left_alone(tmp_path):
    (tmp_path / "input").write_text("7\n")
    assert run(tmp_path, "echo 1 > input", "--overwrite").code == 0
    assert said(tmp_path) == [7]


def test_what_is_prepared_is_said(tmp_path):
    assert run(tmp_path, "echo 1 > input", "--prepare").err == ""
    (tmp_path / "input").unlink()
    done = here("study", "run", tmp_path / "study.toml", "--prepare")
    assert done.code == 0
    assert "prepares input: sh -c echo 1 > input" in done.err
