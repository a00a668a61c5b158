"""`fathometer study run` as a user has it: results, what is refused before the first run, kills and changes between."""

import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest
from cli_support import MIGRATE, heed_signals, here, inputs, survey
from patience import PATIENCE

from fathometer.lab.io.page_cache import drop
from fathometer.lab.studies.results import Run, seconds_of_runs
from fathometer.lab.studies.store import read_results
from fathometer.lab.studies.study import ready
from fathometer.lab.studies.study_file import load_study

# Says a value that follows from the case and the round, and notes in a log when it begins and when it has ended.
PROGRAM = """
import pathlib, sys, time
log, a, b, number, seconds = pathlib.Path(sys.argv[1]), *sys.argv[2:6]
with log.open("a") as file:
    file.write(f"begin {a} {b} {number}\\n")
time.sleep(float(seconds))
if a == "0":
    print("no can do", file=sys.stderr)
    sys.exit(3)
print(f"value {10 * int(a) + int(number)}.5 of {b}")
with log.open("a") as file:
    file.write(f"end {a} {b} {number}\\n")
"""
STUDY = """
title = "a test"
[application]
command = ["{python}", "{program}", "{log}", "{{a}}", "{{b}}", "{{round}}", "{seconds}"]
figure = [{{name = "said", unit = "seconds", direction = "lower", pattern = 'value ([0-9.]+)'}}]
[factors]
a = {a}
b = ["x", "y"]
[runs]
repetitions = {rounds}
warm_up = 1
{more}
"""


def study(folder, a="[1, 2]", rounds=4, seconds=0.0, more="", name="study.toml"):
    (folder / "program.py").write_text(PROGRAM)
    text = STUDY.format(
        python=sys.executable, program=folder / "program.py", log=folder / "log", a=a, rounds=rounds, seconds=seconds,
        more=more,
    )  # fmt: skip
    (folder / name).write_text(text)
    return folder / name


def runs(folder, name="study.study"):
    """(kind, round, a, b) of all runs that are kept, and their figures."""
    results = read_results(folder / name)
    return results, {
        (run.kind, run.number, *case.case.settings.values()): run
        for case in results.cases.values()
        for run in case.runs
    }


def begun(folder):
    return Counter((folder / "log").read_text().splitlines())


def test_all_runs_are_kept_with_their_figures(tmp_path):
    path = study(tmp_path)
    done = here("study", "run", path)
    assert done.code == 0, done.err
    results, kept = runs(tmp_path)
    wanted = {("warm-up", 1), *(("round", number) for number in range(1, 5))}
    assert set(kept) == {(*one, a, b) for one in wanted for a in (1, 2) for b in "xy"}
    for (_, number, a, _), run in kept.items():
        assert run.figures["said"] == 10 * a + number + 0.5
        assert run.figures["elapsed"] == run.seconds > 0
    assert results.ended == "repetitions"
    assert results.rounds() == 4
    assert results.machine["logical_cpus"] == os.cpu_count()
    assert results.text == path.read_text()
    assert [f.name for f in results.figures.values()] == ["said", "elapsed"]
    before = begun(tmp_path)
    assert here("study", "run", path).code == 0
    assert begun(tmp_path) == before  # it is complete: nothing is measured again


def test_more_repetitions_go_on_where_it_ended(tmp_path):
    assert here("study", "run", study(tmp_path)).code == 0
    assert here("study", "run", study(tmp_path, rounds=6)).code == 0
    assert len(runs(tmp_path)[1]) == 4 * 7
    assert sum(begun(tmp_path).values()) == 2 * 4 * 7


def test_a_case_that_fails_is_a_result(tmp_path):
    done = here("study", "run", study(tmp_path, a="[0, 1]"))
    assert done.code == 0, done.err
    _, kept = runs(tmp_path)
    failed = [run for (_, _, a, _), run in kept.items() if a == 0]
    assert len(failed) == 4  # warm-up and one round of each b; then it is given up
    assert all("ended with exit code 3" in run.failed and "no can do" in run.failed for run in failed)
    assert not any(run.figures for run in failed)
    assert len([1 for (_, _, a, _), run in kept.items() if a == 1 and not run.failed]) == 10


def test_a_study_of_which_no_run_succeeds_ends_with_1(tmp_path):
    done = here("study", "run", study(tmp_path, a="[0]"))
    assert done.code == 1
    assert "a test: no run has succeeded: all 4 failed, the last: ended with exit code 3" in done.err
    assert "No run has succeeded" in done.out
    assert (tmp_path / "study.study" / "study.html").exists()


def test_rounds_are_spread_over_sessions(tmp_path):
    path = study(tmp_path, rounds=6)
    done = here("study", "run", path, "--sessions", "3", "--pause", "0.01")
    assert done.code == 0, done.err
    assert "session 3 begins in" in done.err
    results, kept = runs(tmp_path)
    assert results.sessions() == {1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 6: 3}
    assert sum(kind == "warm-up" for kind, *_ in kept) == 3 * 4
    assert "3 sessions" in done.out
    refused = here("study", "run", path, "--sessions", "4", "--overwrite")
    assert refused.code == 2
    assert "--sessions: found 4 for 6 rounds; allowed: up to 3, two rounds each" in refused.err


@pytest.mark.parametrize(("old", "code"), [("new", (0, 4)), ("old", (3, 4))])
def test_a_gate_runs_both_builds_in_turns(tmp_path, old, code):
    """The earlier build is this one, or half as long; runs that others disturbed leave it undecided."""
    for name, seconds in (("old", 0.04), ("new", 0.08)):
        (tmp_path / f"{name}.py").write_text(f"import time\ntime.sleep({seconds})\nprint('value 1.5')\n")
    (tmp_path / "gate.toml").write_text(
        f"""
title = "a gate"
[application]
command = ["{sys.executable}", "{tmp_path}/new.py", "{{n}}"]
[factors]
n = [1, 2]
[runs]
repetitions = 8
[gate]
figures = ["elapsed"]
tolerance = 0.4
baseline = ["{sys.executable}", "{tmp_path}/{old}.py", "{{n}}"]
"""
    )
    done = here("study", "run", tmp_path / "gate.toml")
    assert done.code in code, done.out
    results = read_results(tmp_path / "gate.study")
    assert results.ended == "repetitions"
    assert len(results.cases) == 4
    begins = sorted(
        (run.begin, case.case.settings["n"]) for case in results.cases.values() for run in case.runs if run.number <= 8
    )
    order = [n for _, n in begins]
    assert all(order[at] == order[at + 1] for at in range(0, len(order), 2))  # one right after the other
    assert "Gate: of 2 figures" in done.out
    assert here("study", "compare", tmp_path / "gate.study").code == done.code
    assert "build" not in done.out.partition("By n")[2].splitlines()[2]


def test_a_baseline_that_changed_between_sessions_is_refused(tmp_path):
    """Also where it is a later word, and where it is another one."""
    script = tmp_path / "old.sh"
    script.write_text("#!/bin/sh\necho value 1.5\n")
    script.chmod(0o755)
    gate = f"[gate]\nfigures = ['said']\ntolerance = 0.5\nbaseline = 'env A=1 {script}'"
    assert here("study", "run", study(tmp_path, rounds=2, more=gate), "--undecided", "pass").code in (0, 3)
    script.write_text("#!/bin/sh\necho value 17.5\n")
    done = here("study", "run", study(tmp_path, rounds=4, more=gate))
    assert done.code == 2
    assert "was begun with other programs" in done.err
    done = here("study", "run", study(tmp_path, rounds=4, more=gate.replace("A=1", "A=2")))
    assert (done.code, "was begun with another [gate]" in done.err) == (2, True)
    tolerant = gate.replace("tolerance = 0.5", "tolerance = 0.9")
    assert "another [gate]" not in here("study", "run", study(tmp_path, rounds=2, more=tolerant)).err
    table = (tmp_path / "runs.csv", "study", "export", tmp_path / "study.study", "--csv")
    assert here(*table[1:], table[0]).code == 0
    rows = list(csv.DictReader(table[0].read_text().splitlines()))
    assert {row["factor_build"] for row in rows} == {"", "baseline"}
    assert {row["session"] for row in rows} == {"1"}


def test_the_programs_of_a_baseline_are_watched(tmp_path):
    """And of its command no file that runs write: the study could not go on."""
    (tmp_path / "log").touch()
    (tmp_path / "old.sh").write_text("#!/bin/sh\necho value 1.5\n")
    (tmp_path / "old.sh").chmod(0o755)
    gate = f"[gate]\nfigures = ['said']\nbaseline = 'env A=1 {tmp_path}/old.sh'"
    versions = ready(load_study(study(tmp_path, more=gate))).runs.versions()
    assert versions.keys() == {"command", str(tmp_path / "old.sh"), shutil.which("env"), sys.executable}
    listed = f"[gate]\nfigures = ['said']\nbaseline = ['env', '{tmp_path}/old.sh', '{{a}}']"
    assert ready(load_study(study(tmp_path, more=listed))).runs.versions().keys() == versions.keys()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            "[gate]\nfigures = ['said']\nbaseline = 'sh'\n[launch]\nat_once = 2\ndisturb = true",
            "[gate] baseline: found with [launch] at_once = 2, where runs are not made in turns",
        ),
        (
            "[gate]\nfigures = ['said']\nbaseline = 'sh'\n[[design]]\nname = 'baseline'",
            '[[design]] name: found "baseline" with [gate] baseline; allowed: another name',
        ),
        ("[gate]\nbaseline = 'other'", "[gate] figures: found none with a baseline; allowed: said, elapsed"),
        (
            "[gate]\nfigures = ['said']\nbaseline = 'no-such-program'",
            "no-such-program: no such program on PATH",
        ),
        ("[gate]\nfigures = ['said']\nbaseline = ['x', '{what}']", "unknown name {what}"),
        ("[gate]\nfigures = ['said']\nbaseline = ''", "[gate]: baseline: found no word; allowed: a program"),
        ("[gate]\nfigures = ['said']\nbaseline = []", "[gate]: baseline: found no word; allowed: a program"),
        ("""[gate]\nfigures = ['said']\nbaseline = "a 'b" """, "[gate]: baseline: found a 'b: No closing quotation"),
    ],
)
def test_what_is_wrong_with_a_baseline_is_told_before_the_first_run(tmp_path, more, words):
    done = here("study", "run", study(tmp_path, more=more))
    assert done.code == 2, done.out
    assert words in done.err
    assert not (tmp_path / "log").exists()


def test_failed_runs_are_made_again_when_asked(tmp_path):
    path = study(tmp_path, a="[0, 1]", rounds=2)
    assert here("study", "run", path, "--quiet").code == 0
    (tmp_path / "program.py").write_text(PROGRAM.replace('if a == "0"', 'if a == "7"'))
    assert here("study", "run", path, "--quiet", "--retry-failed").code == 0
    _, kept = runs(tmp_path)
    assert len(kept) == 4 * 3
    assert not any(run.failed for run in kept.values())


def test_a_factor_may_stand_in_a_file_that_is_filled_in(tmp_path):
    path = study(tmp_path, rounds=1)
    (tmp_path / "deck").write_text("level {c}")
    text = path.read_text().replace("[factors]", "[factors]\nc = [1, 2]")
    path.write_text(text.replace("figure = [", 'fill_files = ["deck"]\nfigure = [', 1))
    assert here("study", "plan", path).code == 0


def test_a_run_that_takes_too_long_has_failed(tmp_path):
    done = here("study", "run", study(tmp_path, seconds=30.0, rounds=1, more='time_limit = "0.3s"'))
    assert done.code == 1, done.err  # none has succeeded
    assert {run.failed.partition(";")[0] for run in runs(tmp_path)[1].values()} == {"took longer than 0.3 s"}


def test_an_interrupt_ends_with_75_and_the_next_session_goes_on(tmp_path):
    path = study(tmp_path, seconds=0.2)
    process = started(path)
    until_line(tmp_path, 5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 75
    assert "interrupted; the same command goes on where it was" in err
    assert here("study", "run", path).code == 0
    once_each(tmp_path)


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.trials)])
def test_kills_lose_nothing_and_nothing_is_measured_twice(tmp_path, kills):
    path = study(tmp_path, seconds=0.15, rounds=kills)
    source = random.Random(kills)
    for number in range(kills):
        process = started(path)
        until_line(tmp_path, 5 * number + 1)
        time.sleep(0.4 * source.random())
        process.kill()
        process.communicate(timeout=PATIENCE)
    done = here("study", "run", path)
    assert done.code == 0, done.err
    once_each(tmp_path, kills, kills)


def started(path):
    words = [sys.executable, "-m", "fathometer", "study", "run", str(path), "--quiet"]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True, preexec_fn=heed_signals)


def until_line(folder, number):
    """Wait until the log has so many lines."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if (folder / "log").exists() and len((folder / "log").read_text().splitlines()) >= number:
            return
        time.sleep(0.01)
    raise AssertionError("the study does not go on")


def once_each(folder, rounds=4, interruptions=1):
    """Every run is kept once, and none that had ended was made again."""
    results, kept = runs(folder)
    assert len(kept) == sum(len(case.runs) for case in results.cases.values()) == 4 * (rounds + 1)
    assert not any(run.failed for run in kept.values())
    ended = Counter((kind, number) for kind, number, *_ in kept)
    assert ended == {("warm-up", 1): 4} | {("round", number): 4 for number in range(1, rounds + 1)}
    # A kill or an interrupt costs the run under way, no more. Warm-up 1 and round 1 look the same to the program.
    begins = [line.split() for line in begun(folder).elements() if line.startswith("begin")]
    assert len(begins) <= 4 * (rounds + 1) + interruptions


def test_another_study_in_the_folder_is_refused(tmp_path):
    path = study(tmp_path, rounds=1)
    assert here("study", "run", path, "--quiet").code == 0
    text = path.read_text()
    for old, new, words in (
        ('b = ["x", "y"]', 'b = ["x", "z"]', "begun with another [factors]"),
        ("program.py", "./program.py", "begun with another [application]"),
        ("warm_up = 1", "warm_up = 2", "begun with another [runs]"),
    ):
        path.write_text(text.replace(old, new))
        done = here("study", "run", path)
        assert done.code == 2
        assert words in done.err
        assert "--overwrite" in done.err
        assert done.err.count("\n") == 1
    assert here("study", "run", path, "--overwrite", "--quiet").code == 0


def test_an_input_that_changed_between_sessions_is_refused(tmp_path):
    (tmp_path / "data").write_text("1")
    more = "[application.validity]\n"
    path = study(tmp_path, rounds=1, more=more)
    path.write_text(path.read_text().replace("figure = [", 'copy_files = ["data"]\nfigure = [', 1))
    assert here("study", "run", path, "--quiet").code == 0
    (tmp_path / "data").write_text("2!")
    done = here("study", "run", path)
    assert done.code == 2
    assert f"{tmp_path / 'data'} has changed since the study there was begun" in done.err


def test_a_file_that_an_input_names_changed_between_sessions(tmp_path):
    """The model of a survey: the study names only the survey."""
    inputs(tmp_path)
    survey(tmp_path, MIGRATE)
    path = study(tmp_path, rounds=1)
    path.write_text(path.read_text().replace("figure = [", 'link_files = ["survey.toml"]\nfigure = [', 1))
    assert here("study", "run", path, "--quiet").code == 0
    np.save(tmp_path / "vp.npy", 1.01 * np.load(tmp_path / "vp.npy"))
    done = here("study", "run", path)
    assert done.code == 2
    assert f"{tmp_path / 'vp.npy'} has changed since the study there was begun" in done.err


@pytest.mark.skipif(shutil.which("fincore") is None, reason="no program fincore: util-linux")
def test_what_a_survey_names_is_dropped_from_the_page_cache_or_read_into_it(tmp_path):
    inputs(tmp_path)
    survey(tmp_path, MIGRATE)
    vp = tmp_path / "vp.npy"
    text = f"""
        title = "a test"
        [application]
        command = ["fincore", "--bytes", "--noheadings", "--output", "RES", "{vp}"]
        link_files = ["survey.toml"]
        figure = [{{name = "cached", unit = "bytes", direction = "none", pattern = '([0-9]+)'}}]
        [factors]
        ranks = [1]
        [runs]
        repetitions = 2
        page_cache = """
    for wanted in ("cold", "warm"):
        (tmp_path / f"{wanted}.toml").write_text(f'{text}"{wanted}"\n')
        vp.read_bytes()
        done = here("study", "run", tmp_path / f"{wanted}.toml", "--quiet")
        assert done.code == 0, done.err
        found = runs(tmp_path, f"{wanted}.study")[1].values()
        cached = {run.figures["cached"] for run in found}
        marked = {any("page cache not cold" in mark for mark in run.marks) for run in found}
        if wanted == "cold" and drop(vp) == 0:
            assert (cached, marked) == ({0.0}, {False})
        else:  # warm, or on a file system that lives in memory: then the run says so
            assert min(cached) >= vp.stat().st_size
            assert marked == {wanted == "cold"}


def test_two_at_a_time_are_refused(tmp_path):
    path = study(tmp_path, seconds=0.3)
    process = started(path)
    until_line(tmp_path, 1)
    done = here("study", "run", path)
    shown = here("study", "show", tmp_path / "study.study").out
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert done.code == 2
    assert "in use by another `fathometer study run`" in done.err
    assert "`study run` is at work on it." in shown
    assert "No `study run` is at work on it on this host." in here("study", "show", tmp_path / "study.study").out


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[factors]", "[factors]\nc = [1]", "[factors] c: nothing uses it"),
        ("[factors]", "[factors]\nfolder = [1]", "[factors] folder: found a name that each run has"),
        ('["x", "y"]', "[]", "[factors] b: found no value"),
        ('["x", "y"]', '["x", "x"]', "[factors] b: found 'x' and 'x'"),
        ('["x", "y"]', "[1, true]", "[factors] b: found 1 and True"),
        ('["x", "y"]', "[2, 2.0]", "[factors] b: found 2 and 2.0"),
        ('["x", "y"]', '["x\\u0000"]', "[factors] b: found 'x\\x00'; allowed: texts without"),
        ('["x", "y"]', '[3, "3"]', "[factors] b: found 3 and '3'"),
        ("{b}", "{c}", "unknown name {c}"),
        ('unit = "seconds"', 'unit = "ms"', "ms"),
        ("([0-9.]+)", "[0-9.]+", "with 0 groups; allowed: one, the number"),
        ("([0-9.]+)", "([0-9", "not a regular expression"),
        ("([0-9.]+)", "\\n([0-9.]+)", "never matches"),
        ("pattern =", "file = '../../../etc/passwd', pattern =", "found '../../../etc/passwd', which leads out of the"),
        ("pattern =", "file = '/etc/passwd', pattern =", "found '/etc/passwd', which leads out of the run's folder"),
        ("[factors]", "[application.validity]\nfiles = ['a/..']\n[factors]", "found 'a/..', which leads"),
        ("pattern =", "file = '{study}/x', pattern =", "study.study/x', which leads out of the run's folder"),
        ("warm_up = 1", "warm_ups = 1", "[runs] warm_ups: unknown key; did you mean warm_up?"),
        ("[factors]", "[constraints]\nkeep = 'a > 9'\n[factors]", "no case is left of it"),
        ("[factors]", "[constraints]\nkeep = 'q > 9'\n[factors]", "[constraints] keep: q > 9: unknown name q"),
        ("[factors]", "[constraints]\nkeep = 'a +'\n[factors]", "not an expression"),
        ("[runs]", "[[table]]\nrows = 'a, q'\n[runs]", "[[table]] 1: rows: unknown factor q"),
        ("[runs]", "[[table]]\nrows = 'a'\ncolumns = ['sad']\n[runs]", "[[table]] 1: columns: unknown figure sad"),
        ("[runs]", "[[table]]\nrows = 'a'\nrelative_to = {a = 7}\n[runs]", "relative_to.a: found 7; allowed: 1, 2"),
        ("[runs]", "[gate]\nfigures = ['x']\n[runs]", "[gate]: figures: unknown figure x"),
        ("[runs]", "[[plot]]\nx = 'a'\nfigure = 'said'\nkind = 'heat map'\n[runs]", "[[plot]] 1: y: found none"),
        ("[runs]", "[[design]]\nkind = 'paired'\n[runs]", "[[design]] 1 name: missing"),
        ("[runs]", "[launch]\nhow = 'srun'\n[runs]", 'found "srun" outside an allocation'),
        ("repetitions = 4", "repetitions = {least = 9, most = 3}", "9 to 3"),
        ("title", "titel", "titel"),
        ("[factors]", "[placement]\nnodes = 2\nranks = 2\n[factors]", "nodes: found 2 on this host"),
        ("command = [", "command = ['nonesuch', ", "no program nonesuch on PATH"),
        ("command = [", "recipe = 'opm-flow'\ncommand = [", "recipe, command: found both"),
    ],
)
def test_what_is_wrong_is_told_before_the_first_run(tmp_path, old, new, words):
    path = study(tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    done = here("study", "run", path)
    assert done.code == 2, done.err
    assert words in done.err
    assert done.err.startswith("fathometer: error: ")
    assert done.err.count("\n") == 1
    assert not (tmp_path / "log").exists()
    assert not (tmp_path / "study.study").exists()


def test_a_damaged_folder_is_told(tmp_path):
    path = study(tmp_path, rounds=1)
    assert here("study", "run", path, "--quiet").code == 0
    [case, *_] = sorted((tmp_path / "study.study" / "cases").iterdir())
    case.write_text(case.read_text()[:50])
    done = here("study", "run", path)
    assert done.code == 2
    assert f"{case}: damaged" in done.err


def test_plan_lists_cases_and_what_they_will_take(tmp_path):
    path = study(tmp_path)
    done = here("study", "plan", path, "--commands")
    assert done.code == 0, done.err
    assert "4 cases of a, b; 1 warm-up, 4 rounds" in done.out
    assert done.out.count("program.py") == 4
    assert "how long is not known" in done.out
    assert not (tmp_path / "study.study").exists()
    assert here("study", "run", path, "--quiet").code == 0
    done = here("study", "plan", path)
    assert "from its runs so far" in done.out


def test_winners_are_run_again(tmp_path):
    path = study(tmp_path, more="[[table]]\nrows = 'b'\nbest_over = ['a']\ncolumns = ['said']")
    assert here("study", "run", path, "--quiet").code == 0
    _, kept = runs(tmp_path)
    again = {key for key in kept if key[0] == "winner"}
    assert again == {("winner", number, 1, b) for number in range(1, 5) for b in "xy"}  # a = 1 says less


def test_results_are_json_and_nothing_is_half_written(tmp_path):
    assert here("study", "run", study(tmp_path), "--quiet").code == 0
    folder = tmp_path / "study.study"
    for path in folder.rglob("*.json"):
        json.loads(path.read_text())
    assert not [path for path in folder.rglob("*") if path.name.startswith(".")]


def test_a_program_that_a_factor_names_must_stay_the_same(tmp_path):
    program = tmp_path / "built"
    program.write_text("#!/bin/sh\necho value 1\n")
    program.chmod(0o755)
    (tmp_path / "study.toml").write_text(
        f"""title = "builds"
[application]
command = ["{{program}}"]
figure = [{{name = "said", unit = "1", direction = "lower", pattern = 'value ([0-9]+)'}}]
[factors]
program = ["{program}"]
[runs]
repetitions = 1
"""
    )
    assert here("study", "run", tmp_path / "study.toml").code == 0
    program.write_text("#!/bin/sh\necho value 22\n")
    done = here("study", "run", tmp_path / "study.toml")
    assert done.code == 2
    assert "was begun with other programs" in done.err


def test_runs_at_the_same_time_take_of_the_budget_once():
    runs = [Run("round", 1, begin, seconds) for begin, seconds in ((0, 4), (10, 2), (1, 2), (3, 3), (11, 1))]
    assert seconds_of_runs(runs) == 6 + 2


def test_a_name_with_a_star_links_all_that_it_fits(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("1")
    (tmp_path / "study.toml").write_text(
        """title = "links"
[application]
command = ["sh", "-c", "ls *.txt | wc -l"]
link_files = ["*.txt"]
figure = [{name = "said", unit = "1", direction = "lower", pattern = '([0-9]+)'}]
[factors]
[runs]
repetitions = 1
"""
    )
    done = here("study", "run", tmp_path / "study.toml")
    assert done.code == 0, done.err
    assert [run.figures["said"] for run in runs(tmp_path)[1].values()] == [2, 2]


def test_an_input_that_is_gone_has_changed(tmp_path):
    (tmp_path / "inputs").mkdir()
    for name in "ab":
        (tmp_path / "inputs" / name).write_text("1")
    (tmp_path / "study.toml").write_text(
        """title = "inputs"
[application]
command = ["sh", "-c", "ls inputs"]
link_files = ["inputs"]
[factors]
[runs]
repetitions = 1
"""
    )
    assert here("study", "run", tmp_path / "study.toml").code == 0
    (tmp_path / "inputs" / "b").unlink()
    done = here("study", "run", tmp_path / "study.toml")
    assert done.code == 2
    assert "inputs/b has changed since the study there was begun" in done.err
