"""Jobs at the same time: their cpus, folders and inputs, what they are compared with, and what is left of their
speed."""

import os
import sys
from pathlib import Path
from statistics import median

import pytest
from cli_support import here

from fathometer.base.errors import InputError
from fathometer.lab.studies.cpu_order import CpuPlace
from fathometer.lab.studies.design import Case
from fathometer.lab.studies.mixes import ALONE, THROUGHPUT, Mix, alone_cases, with_throughput
from fathometer.lab.studies.results import CaseRuns, Run
from fathometer.lab.studies.store import read_results
from fathometer.lab.studies.study import parts_of, ready
from fathometer.lab.studies.study_file import load_study

FOUR = {0: CpuPlace(0), 1: CpuPlace(0), 2: CpuPlace(1), 3: CpuPlace(1)}  # two sockets of two cores
RECIPE = """
name = "copy"
title = "Copies a file"
tried = true
command = ["sh", "-c", "cat {data} {other} > out-$(basename {data})"]
launch = "serial"
parameter = [
  {name = "data", type = "file", meaning = "is copied"},
  {name = "other", type = "file", meaning = "is copied too"},
  {name = "options", type = "words", meaning = "which no study has to say", default = []},
]
"""


def study(folder, jobs, factors="", more=""):
    (folder / "study.toml").write_text(f'title = "a mix"\n{more}\n{jobs}\n[factors]\n{factors}\n')
    return load_study(folder / "study.toml")


def job(name, *lines, command='["true"]'):
    return "\n".join(["[[job]]", f'name = "{name}"', *([f"command = {command}"] if command else []), *lines])


def mix_of(folder, jobs, factors="", places=None):
    made = parts_of(study(folder, jobs, factors))
    assert isinstance(made, Mix)
    return Mix(made.jobs, places or FOUR, {"cores": 4, "study": str(folder / "study.study")})


def placed(mix, folder, **settings):
    """(job, cpus) of the parts of a case."""
    return [(part.job, part.placement.cpus) for part in mix.of(Case(settings), folder, 1)]


@pytest.mark.parametrize(
    ("cpus", "counts", "wanted"),
    [
        ("compact", (2, 1), [("a 1", (0,)), ("a 2", (1,)), ("b 1", (2, 3))]),
        ("compact", (0, 2), [("b 1", (0, 1)), ("b 2", (2, 3))]),
        ("compact", (1, 2), [("a 1", (0,)), ("b 1", (1, 2)), ("b 2", (3, 0))]),  # the first ones again
        ("distributed", (2, 1), [("a 1", (0,)), ("a 2", (2,)), ("b 1", (1, 3))]),
        ("shared", (2, 1), [("a 1", ()), ("a 2", ()), ("b 1", ())]),
        ("1-2", (2, 1), [("a 1", (1, 2)), ("a 2", (1, 2)), ("b 1", (1, 2))]),
        (3, (1, 0), [("a 1", (3,))]),
    ],
)
def test_cpus(tmp_path, cpus, counts, wanted):
    jobs = job("a", 'cpus = "{where}"', 'count = "{na}"')
    jobs += "\n" + job("b", 'cpus = "{where}"', 'count = "{nb}"', "threads = 2")
    mix = mix_of(tmp_path, jobs, f"where = [{cpus!r}]\nna = [0, 1, 2]\nnb = [0, 1, 2]")
    assert placed(mix, tmp_path, where=cpus, na=counts[0], nb=counts[1]) == wanted


def test_jobs_with_different_choices_do_not_get_the_same_cpus(tmp_path):
    jobs = [job("near", "count = 2"), job("far", 'cpus = "distributed"'), job("named", 'cpus = "1"')]
    mix = mix_of(tmp_path, "\n".join(jobs))
    assert placed(mix, tmp_path) == [("near 1", (0,)), ("near 2", (2,)), ("far 1", (3,)), ("named 1", (1,))]


def test_alone_is_one_job_on_the_first_cpus(tmp_path):
    jobs = job("a", "count = 3", 'cpus = "shared"') + "\n" + job("b", "count = 2", 'cpus = "3"', "ranks = 2")
    mix = mix_of(tmp_path, jobs.replace('["true"]', '["true"]\nlaunch = "mpi"'))
    assert placed(mix, tmp_path, **{ALONE: "a"}) == [("a 1", (0,))]
    assert placed(mix, tmp_path, **{ALONE: "b"}) == [("b 1", (0, 1))]


def test_no_job_at_all(tmp_path):
    mix = mix_of(tmp_path, job("a", 'count = "{n}"'), "n = [0, 1]")
    with pytest.raises(InputError, match="found no job at all"):
        mix.of(Case({"n": 0}), tmp_path, 1)


def test_folders_and_copied_inputs(tmp_path):
    (tmp_path / "copy.toml").write_text(RECIPE)
    (tmp_path / "in").mkdir()
    (tmp_path / "data.txt").write_text("1\n")
    (tmp_path / "in" / "data.txt").write_text("2\n")
    lines = ['recipe = "copy.toml"', 'data = "data.txt"', 'other = "in/data.txt"', "count = 2"]
    jobs = job("a", *lines, 'inputs = "{inputs}"', 'outputs = "{outputs}"', command="")
    mix = mix_of(tmp_path, jobs, 'inputs = ["copied", "shared"]\noutputs = ["shared", "own"]')
    run = tmp_path / "run"
    one, two = mix.of(Case({"inputs": "copied", "outputs": "shared"}), run, 1)
    assert (one.folder, two.folder) == (run / "a-1", run / "a-2")
    assert one.place == two.place == run / "a-shared"
    assert one.copies == {
        tmp_path / "data.txt": run / "a-1" / "inputs" / "data" / "data-1.txt",
        tmp_path / "in" / "data.txt": run / "a-1" / "inputs" / "other" / "data-1.txt",
    }
    assert two.values["data"] == str(run / "a-2" / "inputs" / "data" / "data-2.txt")
    one, two = mix.of(Case({"inputs": "shared", "outputs": "own"}), run, 1)
    assert (one.place, two.place) == (run / "a-1", run / "a-2")
    assert one.copies == {}
    assert one.values["data"] == two.values["data"] == str(tmp_path / "data.txt")
    # As they run: copies in one folder write files of their own, and each is a copy of both.
    text = (tmp_path / "study.toml").read_text() + '[runs]\nrepetitions = 1\nwarm_up = 0\nkeep = "all"\n'
    (tmp_path / "study.toml").write_text(text)
    done = here("study", "run", tmp_path / "study.toml", "--quiet")
    assert done.code == 0, done.err
    results = read_results(tmp_path / "study.study")
    for case in results.cases.values():
        [made] = case.runs
        assert not made.failed
        if ALONE in case.case.settings:
            continue
        inputs, outputs = case.case.settings["inputs"], case.case.settings["outputs"]
        folder = tmp_path / "study.study" / made.folder
        found = sorted(str(path.relative_to(folder)) for path in folder.rglob("out-*") if not path.is_symlink())
        names = ["out-data-1.txt", "out-data-2.txt"] if inputs == "copied" else ["out-data.txt"] * 2
        places = ["a-shared"] * 2 if outputs == "shared" else ["a-1", "a-2"]
        assert found == sorted({f"{place}/{name}" for place, name in zip(places, names, strict=True)})
        assert all((folder / name).read_text() == "1\n2\n" for name in found)


def test_what_jobs_are_compared_with(tmp_path):
    """A job alone is run once for each setting that it depends on itself, whatever the others do."""
    jobs = job("a", 'count = "{n}"', command='["true", "{size}"]') + "\n" + job("b", 'threads = "{threads}"')
    values = {"n": [0, 1], "size": [10, 20], "threads": [1, 2]}
    mix = mix_of(tmp_path, jobs, "\n".join(f"{name} = {some}" for name, some in values.items()))
    cases = [Case({"n": n, "size": size, "threads": t}) for n in (0, 1) for size in (10, 20) for t in (1, 2)]
    alone, baselines = alone_cases(mix.jobs, cases, values)
    first = {"n": 0, "size": 10, "threads": 1}
    wanted = [
        {ALONE: "a", "size": 10},
        {ALONE: "a", "size": 20},
        {ALONE: "b", "threads": 1},
        {ALONE: "b", "threads": 2},
    ]
    assert sorted(case.name for case in alone) == sorted(Case(first | one).name for one in wanted)
    mixed = Case({"n": 1, "size": 20, "threads": 2})
    assert baselines[mixed.name] == {
        "a": Case(first | {ALONE: "a", "size": 20}).name,
        "b": Case(first | {ALONE: "b", "threads": 2}).name,
    }
    assert list(baselines[Case({"n": 0, "size": 10, "threads": 1}).name]) == ["b"]  # no job a in it


def test_throughput_by_hand():
    def run(number, figures, failed=""):
        return Run("round", number, 0.0, 1.0, figures, failed)

    mix, a, b = (Case({"case": name}) for name in ("mix", "a", "b"))
    cases = {
        a.name: CaseRuns(a, [run(1, {"a elapsed": 4.0}), run(2, {"a elapsed": 6.0}), run(3, {}, "no")]),
        b.name: CaseRuns(b, [run(number, {"b elapsed": 10.0}) for number in (1, 2, 3)]),
        mix.name: CaseRuns(
            mix,
            [
                run(1, {"a 1 elapsed": 8.0, "a 2 elapsed": 5.0, "a elapsed": 6.5, "b 1 elapsed": 12.5}),
                run(2, {"a 1 elapsed": 6.0, "a 2 elapsed": 12.0, "a elapsed": 9.0, "b 1 elapsed": 10.0}),
                run(3, {"a 1 elapsed": 8.0, "a 2 elapsed": 8.0, "a elapsed": 8.0, "b 1 elapsed": 10.0}),
                run(4, {}, "failed"),
            ],
        ),
    }
    found = with_throughput(cases, {mix.name: {"a": a.name, "b": b.name}})[mix.name]
    # 4/8 and 4/5, 10/12.5; 6/6 and 6/12, 10/10; no job a alone in round 3, no mix in round 4.
    assert found.values(f"a {THROUGHPUT}") == pytest.approx({1: 0.65, 2: 0.75})
    assert found.values(f"b {THROUGHPUT}") == pytest.approx({1: 0.8, 2: 1.0})
    assert found.values(THROUGHPUT) == pytest.approx({1: 0.5 + 0.8 + 0.8, 2: 1.0 + 0.5 + 1.0})
    assert found.values("a elapsed") == {1: 6.5, 2: 9.0, 3: 8.0}


def test_figures_of_jobs(tmp_path):
    """The median over the jobs of a name, and the seconds of each."""
    mix = mix_of(tmp_path, job("a", "count = 3") + "\n" + job("b"))
    parts = mix.of(Case({}), tmp_path, 1)
    found = mix.figures(Case({}), parts, [{"elapsed": 1.0}, {"elapsed": 5.0}, {"elapsed": 2.0}, {"elapsed": 7.0}])
    assert found == {
        "a elapsed": 2.0, "a 1 elapsed": 1.0, "a 2 elapsed": 5.0, "a 3 elapsed": 2.0,
        "b elapsed": 7.0, "b 1 elapsed": 7.0,
    }  # fmt: skip


SPIN = "import time\nwhile time.process_time() < 0.3: pass"


def test_jobs_that_sleep_keep_their_speed_and_jobs_on_one_cpu_half_of_it(tmp_path):
    cpu = min(os.sched_getaffinity(0))
    jobs = [
        job("sleeping", 'count = "{sleepers}"', command='["sleep", "0.3"]'),
        job(
            "spinning", 'count = "{spinners}"', f'cpus = "{cpu}"', command=f'["{sys.executable}", "-Sc", """{SPIN}"""]'
        ),
    ]
    factors = "sleepers = [0, 3]\nspinners = [0, 2]"
    keep = '[constraints]\nkeep = "sleepers + spinners > 0 and sleepers * spinners == 0"'
    study(tmp_path, "\n".join(jobs), factors, f"{keep}\n[runs]\nrepetitions = 3\nwarm_up = 0")
    done = here("study", "run", tmp_path / "study.toml", "--quiet")
    assert done.code == 0, done.err
    results = read_results(tmp_path / "study.study")
    units = {row["figure"]: row["unit"] for row in results.rows()}
    assert units["sleeping 2 elapsed"] == units["sleeping elapsed"] == "seconds"
    left = {
        name: median(values.values())
        for case in results.cases.values()
        for name in ("sleeping", "spinning")
        if (values := case.values(f"{name} {THROUGHPUT}"))
    }
    # 1 and 1/2 on a quiet machine. Where k others spin on this cpu too, the second is (k + 1)/(k + 2).
    assert 0.6 < left["sleeping"] < 1.6
    assert 0.25 < left["spinning"] < 0.9
    assert left["spinning"] < left["sleeping"]
    [sleeping] = [case for case in results.cases.values() if case.values(f"sleeping {THROUGHPUT}")]
    for number, total in sleeping.values(THROUGHPUT).items():  # three of them
        each = [sleeping.values(f"sleeping {n} elapsed")[number] for n in (1, 2, 3)]
        [alone] = [c for c in results.cases.values() if c.case.settings.get(ALONE) == "sleeping"]
        assert total == pytest.approx(sum(alone.values("sleeping elapsed")[number] / seconds for seconds in each))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "a"', 'name = "a b"', '[[job]] 1: name: found "a b"; allowed: letters, digits and _'),
        ('name = "b"', 'name = "a"', '[[job]] 2: name: found "a"'),
        ("count = 1", "count = 4097", "[[job]] a count: found 4097; allowed: an integer from 0 to 4096"),
        ("count = 1", "count = -1", "[[job]] a count: found -1; allowed: an integer from 0"),
        ("count = 1", 'count = "many"', "[[job]] a count: found many"),
        ("count = 1", 'count = "{m}"', "unknown name {m}; known: n, "),
        ("count = 1", "count = 1\nranks = 0", "[[job]] a ranks: found 0; allowed: an integer from 1"),
        ("count = 1", 'count = 1\ncpus = "here"', '[[job]] a cpus: found "here"; allowed: "compact", '),
        ("count = 1", 'count = 1\ncpus = ""', '[[job]] a cpus: found ""'),
        ("count = 1", 'count = 1\ncpus = "60000"', "cpus: found 60000; allowed: those of this process"),
        ("count = 1", 'count = 1\noutputs = "copied"', '[[job]] a outputs: found "copied"; allowed: "own", "shared"'),
        ("count = 1", 'count = 1\ninputs = "copied"', "no parameter of its recipe is a file or folder"),
        ("count = 1", "count = 1\nranks = 2", "ranks: found 2 for a program of one process; allowed: 1"),
        ("[factors]", "[application]\ncommand = ['true']\n[factors]", "[application], [[job]]: found both"),
        ("[factors]", "[placement]\nranks = 2\n[factors]", "[placement]: found with [[job]]"),
        ("[factors]", "[factors]\nalone = [1]", "[factors] alone: found the name of the cases in which"),
        ("[factors]", "[factors]\nother = [1]", "[factors] other: nothing uses it"),
        ("n = [1]", "n = [0]", "found no job at all in it"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, old, new, words):
    jobs = job("a", "count = 1") + "\n" + job("b", 'count = "{n}"')
    study(tmp_path, jobs, "n = [1]")
    text = (tmp_path / "study.toml").read_text()
    if "no job at all" in words:
        text = text.replace("count = 1", "count = 0")
    assert old in text
    (tmp_path / "study.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as error:
        ready(load_study(tmp_path / "study.toml"))
    assert words in str(error.value)
    assert str(Path(tmp_path / "study.toml")) in str(error.value)
    assert "\n" not in str(error.value)


def test_alone_is_in_the_same_environment(tmp_path):
    """Else a job that the environment makes slower would seem to be disturbed by the others."""
    text = job("a", 'count = "{n}"', command='["sh", "-c", "sleep $LONG"]') + '\n[environment]\nLONG = "{long}"'
    found = ready(study(tmp_path, text, "n = [1]\nlong = [0.1, 0.3]"))
    by_name = {case.name: case for case in found.cases}
    for name, jobs in found.baselines.items():
        assert by_name[jobs["a"]].settings["long"] == by_name[name].settings["long"]


def test_a_file_that_is_missing_is_told_before_the_first_run(tmp_path):
    jobs = job("a", 'copy_files = ["nowhere.txt"]')
    with pytest.raises(InputError, match=r"nowhere\.txt: no such file or folder; needed by command"):
        ready(study(tmp_path, jobs))
    (tmp_path / "nowhere.txt").touch()
    ready(study(tmp_path, jobs))
