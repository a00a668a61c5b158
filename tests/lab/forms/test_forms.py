"""Forms: each makes a study that can be run, for every input on every machine; its page is whole and says what its
tables say."""

import csv
import re
import shutil
from dataclasses import replace

import pytest
from cli_support import MODEL, call, inputs, run, survey
from cluster_support import require_clusters
from forms_support import ALLOCATION, BARE, LAPTOP, MACHINES, SERVER, all_choices, synthetic, wrf_logs, written
from study_support import keep, study

from fathometer.base.errors import InputError
from fathometer.lab.forms.applications import PROGRAMS
from fathometer.lab.forms.form import form_of, forms
from fathometer.lab.forms.making import nodes_of
from fathometer.lab.landscape import landscape
from fathometer.lab.recipes.recipe import load_recipe
from fathometer.lab.recipes.times import seconds_of
from fathometer.lab.studies.asked import answer_of
from fathometer.lab.studies.course import FREE
from fathometer.lab.studies.predictions import Predicted, Predictions, write_predictions
from fathometer.lab.studies.report.answer import answer_sentence
from fathometer.lab.studies.report.files import write_answer
from fathometer.lab.studies.report.page import render, write_page
from fathometer.lab.studies.report.practices import practices
from fathometer.lab.studies.report.tables import views
from fathometer.lab.studies.store import read_results
from fathometer.lab.studies.study import cases_and_designs, parts_of
from tests.support.browser_support import check_width, open_page, photograph

NAMES = [
    *("scaling", "generations", "threads", "read", "write", "old-and-new", "throughput", "message-profile", "links"),
    *("swap", "rate", "output-ways", "farm", "storage", "weather"),
]


def test_all_fifteen_are_listed(capsys):
    assert list(forms()) == NAMES
    done = run(capsys, "study", "forms")
    assert done.code == 0
    for name in NAMES:
        assert re.search(rf"^  {name} ", done.out, re.M), name


@pytest.mark.parametrize(("name", "kind", "machine", "quick"), all_choices())
def test_the_study_can_be_run(tmp_path, name, kind, machine, quick):
    """All that a study file says is checked, but for the inputs that are made first."""
    here = MACHINES[machine]
    source = {}
    if kind:
        path = tmp_path / f"input of $scale {{{kind}}}"
        path.mkdir() if kind == "folder" else path.write_text("")
        source = {"input": path, "kind": kind}
    if here is BARE and form_of(name).head.cluster:
        with pytest.raises(InputError, match=f"--form {name}: it needs nodes of its own: cluster: no ip here"):
            written(name, tmp_path, here, quick=quick, **source)
        return
    file, study = written(name, tmp_path, here, quick=quick, **source)
    cases = cases_and_designs(file)
    assert sum(map(len, cases.values())) > 0
    assert not re.search(r"\$[a-z_{]", study.text.replace("$scale {", ""))
    if kind:
        assert str(tmp_path / f"input of $scale {{{{{kind}}}}}") in study.text
    figures = {info.name for info in parts_of(file).infos()}
    for table in file.table:
        assert set(table.columns) <= figures
    for beside in file.landscape:
        landscape(beside.table)
    answer_of(synthetic(file, 2))
    assert seconds_of(file.runs.budget) <= (170 if quick else 5400)


def test_programs_are_the_recipes_own():
    for program in PROGRAMS.values():
        recipe = load_recipe(program.recipe, None)
        figures = [figure.name for figure in recipe.figure]
        assert program.parameter in [parameter.name for parameter in recipe.parameter]
        assert {program.rate, program.share} - {""} <= set(figures)


def test_what_the_machine_lacks_is_one_line(tmp_path):
    _, study = written("threads", tmp_path, LAPTOP)
    assert [note.partition(":")[0] for note in study.notes] == [
        "A core has one hardware thread here",
        "There is one memory domain here",
    ]
    file, study = written("threads", tmp_path, SERVER)
    assert study.notes == []
    assert list(file.factors["threads"]) == [32, 64, 128]
    assert list(file.factors["memory"]) == ["as it is", "local", "interleave"]
    _, study = written("links", tmp_path, LAPTOP)
    assert study.notes == ["The clock cannot be set here, and is not varied."]
    file, _ = written("links", tmp_path, SERVER)
    assert list(file.factors["clock"]) == [3.4e9, 1.2e9]  # the other designs are at the first
    file, study = written("scaling", tmp_path, BARE)
    assert "ranks" in file.factors
    assert "There are no nodes here (cluster: no ip here)" in study.notes[0]
    file, _ = written("scaling", tmp_path, ALLOCATION)
    assert list(file.factors["nodes"]) == [1, 2, 4, 6]
    assert file.place.cluster is None
    file, _ = written("scaling", tmp_path, LAPTOP, nodes=(4, 1, 2))
    assert list(file.factors["nodes"]) == [1, 2, 4]
    assert file.place.cluster.nodes == 4
    _, study = written("generations", tmp_path, LAPTOP)
    assert "--record" in study.notes[0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--form", "scalling"], "--form: found scalling; allowed: scaling, .*; did you mean scaling?"),
        (["--form", "weather"], "--form weather: found no input; needed: a folder of logs"),
        (["--form", "weather", "."], r"--form weather: .: found no folder whose name is a number; allowed"),
        (["--form", "farm", "."], r"--form farm: found ., a folder; allowed: a farm of tasks"),
        (["--form", "swap", "survey.toml"], "found survey.toml, a survey without gathers; allowed: no input"),
        (["--form", "read", "survey.toml"], "found survey.toml, a survey without gathers; allowed: a survey"),
        (["--form", "read", "vp.npy"], "found vp.npy, no input file of an application; allowed"),
        (["--form", "storage", "--nodes", "2"], "--nodes: found with --form storage, which does not use it"),
        (["--form", "generations", "--record", "none.study"], "none.study/study.json"),
        (["--form", "scaling", "--on", "none.json"], "--on: no file none.json; needed: one"),
        (["--form", "scaling", "--output", "."], "--output: found .; allowed: a folder with a name of its own"),
        (["--form", "scaling", "--output", "x.toml"], "--output: found x.toml; allowed"),
        (["--form", "scaling", "none.toml"], "--form scaling: no none.toml; needed: its input"),
        (["--form", "scaling", "--nodes", "1,0"], "--nodes: found 1,0; allowed: numbers of nodes, as in 1,2,4"),
        (["--quick", "survey.toml"], "--quick: found without --form; allowed: with it"),
        ([], "study run: found neither STUDY.toml nor --form; needed: one of them"),
    ],
)
def test_bad_input_is_one_line(tmp_path, monkeypatch, capsys, words, told):
    inputs(tmp_path)
    survey(tmp_path, MODEL)
    monkeypatch.chdir(tmp_path)
    done = run(capsys, "study", "run", *words)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert re.search(told, done.err), done.err
    assert not list(tmp_path.glob("*.study"))


def test_a_study_that_is_there_stays(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "weather.toml"
    own.write_text("# mine\n")
    wrf_logs(tmp_path / "logs", {64: 1.0})
    for more in ([], ["--overwrite"]):
        done = run(capsys, "study", "run", "--form", "weather", "logs", *more)
        assert done.code == 2
        assert "weather.toml: holds something else than a form's study; allowed: --output" in done.err
    assert own.read_text() == "# mine\n"
    source = survey(tmp_path, MODEL, "scaling.toml")
    text = source.read_text()
    done = run(capsys, "study", "run", "--form", "scaling", "scaling.toml", "--overwrite")
    assert done.code == 2
    assert "scaling.toml: is the input, and would be the study file as well" in done.err
    assert source.read_text() == text


def test_what_lies_among_the_tables_stays(tmp_path):
    """A report replaces the tables of the one before, and nothing else; it writes into no link."""
    file, _ = written("scaling", tmp_path)
    results = synthetic(file)
    folder = tmp_path / "scaling.study"
    folder.mkdir()
    write_answer(folder, results)
    tables = folder / "tables"
    first = {path.name for path in tables.iterdir()}
    (tables / "09-mine.csv").write_text("mine")
    few = replace(results, definition={**results.definition, "table": [{"rows": "nodes", "scaling": "none"}]})
    write_answer(folder, few)
    assert (tables / "09-mine.csv").read_text() == "mine"
    assert first - {path.name for path in tables.iterdir()}
    shutil.rmtree(tables)
    (tmp_path / "elsewhere").mkdir()
    tables.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="tables: is a link"):
        write_answer(folder, results)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_another_machine_and_predictions(tmp_path):
    """A record and a machine file that come later are shown without a new measurement."""
    file, _ = written("generations", tmp_path)
    results = synthetic(file)
    other = keep(synthetic(file), tmp_path / "other.study")
    before, _ = written("scaling", tmp_path)
    (tmp_path / "m.json").write_text("{}")
    after, _ = written("scaling", tmp_path, machine=tmp_path / "m.json")
    assert after.predict.machine == str(tmp_path / "m.json")
    assert {**before.model_dump(), **dict.fromkeys(FREE)} == {**after.model_dump(), **dict.fromkeys(FREE)}
    with_record = replace(results, definition={**results.definition, "beside": {"study": str(other)}})
    told = render(with_record, tmp_path / "generations.study", tmp_path)
    assert "The two were not measured in turns" in told
    gone = replace(results, definition={**results.definition, "beside": {"study": str(tmp_path / "gone")}})
    assert "It cannot be compared" in render(gone, tmp_path / "generations.study", tmp_path)
    folder = tmp_path / "scaling.study"
    folder.mkdir()
    predicted = [Predicted(1, 2.0, 1.5), Predicted(64, 0.5, 0.25)]
    write_predictions(folder, Predictions("nodes", "m.json", predicted))
    assert "Measured and predicted" not in render(synthetic(before), folder, folder)
    asked = synthetic(after)
    asked = replace(asked, definition={**asked.definition, "predict": {"factor": "nodes"}})
    page = render(asked, folder, folder)
    assert "Measured and predicted, by nodes" in page
    assert re.search(r"0\.50+.s", page)
    (folder / "predicted.json").write_text("{")
    assert "It cannot be read" in render(asked, folder, folder)


def test_practices_say_no_more_than_the_data():
    """Efficiencies are told where their whole interval is on one side, effects for sizes by themselves."""
    table = [{"rows": "nodes", "relative_to": {"nodes": 1}}]
    few = study({"nodes": [1, 2]}, rounds=2, table=table)
    assert practices(few, answer_of(few)) == []
    many = study({"nodes": [1, 2]}, lambda settings: 1 / settings["nodes"] ** 0.9, 20, table=table)
    [told] = practices(many, answer_of(many))
    assert told.startswith("By total, each keeps at least 0.7 of its speed on 2 nodes (an efficiency of 0.9")

    def seconds(settings):
        return settings["length"] * (2.0 if (settings["way"] == "a") == (settings["length"] == 8) else 1.0)

    table = [{"rows": "length, way", "apart": ["length"]}]
    apart = study({"length": [8, 64], "way": ["a", "b"]}, seconds, 20, table=table)
    told = practices(apart, answer_of(apart))
    assert [re.sub(r" [0-9.]+ \(.*?\)", "", text) for text in told] == [
        "Total, length 8: on average over all else, way b is times as fast as a.",
        "Total, length 64: on average over all else, way a is times as fast as b.",
    ]


def test_numbers_of_nodes():
    assert nodes_of("4, 1,4") == (4, 1)


def test_weather_from_logs(tmp_path, monkeypatch):
    """The published arithmetic: 13.58 x 412 GFLOP a step of 15 s is 373.0 GFLOP/s."""
    monkeypatch.chdir(tmp_path)
    wrf_logs(tmp_path / "a {folder}", {16: 15 / 1.24, 192: 15 / 13.58})
    done = call("study", "run", "--form", "weather", "a {folder}", cwd=tmp_path)
    assert done.code == 0, done.err
    results = read_results(tmp_path / "weather.study")
    found = {case.case.settings["processes"]: case for case in results.cases.values()}
    [speed] = found[192].values("simulation speed-up").values()
    [rate] = found[192].values("rate of operations").values()
    assert speed == pytest.approx(13.58, rel=1e-4)
    assert rate == pytest.approx(373.0e9, rel=1e-4)
    with open(tmp_path / "weather.study" / "tables" / "01-speed-by-cores.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["processes"] for row in rows] == ["16", "192"]
    assert rows[1]["simulation speed-up: low"] == ""  # of one run there is no interval
    assert float(rows[1]["simulation speed-up: value"]) == pytest.approx(13.58, rel=1e-4)
    efficiency = (tmp_path / "weather.study" / "tables" / "02-speed-by-cores-scaling.md").read_text()
    assert "0.91" in efficiency  # as published: 91 %


def test_no_rate_of_operations_for_other_weather(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrf_logs(tmp_path / "logs", {8: 1.0}, cells=300)
    assert call("study", "run", "--form", "weather", "logs", cwd=tmp_path).code == 0
    [case] = read_results(tmp_path / "weather.study").cases.values()
    assert not case.values("rate of operations")
    said = (tmp_path / "weather.study" / "study.md").read_text()
    assert "Hardware, software and times of this page are of the machine that read the logs" in said


def test_practices_and_the_sentence_say_the_same():
    """Both are corrected for all factors together: neither tells a difference that the other one does not."""
    factors = {"ranks": [1, 2], "way": ["a", "b"], "size": [1, 2, 3], "bound": [True, False]}

    def seconds(settings):
        return 1.0 + 0.02 * (settings["way"] == "b")

    table = [{"rows": "ranks", "best_over": ["way", "size", "bound"]}]
    for rounds in (4, 6, 8, 12):
        results = study(factors, seconds, rounds, 0.01, table=table)
        answer = answer_of(results)
        sentence = answer_sentence(results, answer)
        for practice in practices(results, answer):
            assert practice.removeprefix("Total: ").rstrip(".") in sentence


def pages_of(folder):
    """A page of each form, of invented runs."""
    for name in NAMES:
        file, _ = written(name, folder)
        results = synthetic(file)
        path = folder / f"{name}.html"
        write_page(path, results)
        yield name, results, path


def test_pages_are_whole_and_sentences_true(tmp_path, browser):
    """On a screen and on a phone nothing is cut; what the sentence calls the best is the best of its table."""
    for name, results, path in pages_of(tmp_path):
        for width in (1200, 390):
            assert open_page(browser, path, width) == [], name
            check_width(browser, width)
            photograph(browser, f"form-{name}-{width}")
        answer = answer_of(results)
        table = answer.tables[0]
        if table.apart or answer.nested or table.by:
            continue
        sentence = answer_sentence(results, answer)
        first = views(results, answer)[0][0]
        figure = results.figures[table.columns[0]]
        place = next(n for n, head in enumerate(first.heads) if head.text == figure.name)
        known = [row for row in first.rows if row[place].estimate is not None]
        medians = [row[place].estimate.median for row in known]
        best = known[medians.index(min(medians) if figure.direction == "lower" else max(medians))]
        for cell in best:
            if cell.kind == "name":
                assert cell.text in sentence.partition(" the ")[0], (name, sentence)


@pytest.mark.verify
@pytest.mark.parametrize("name", [name for name in NAMES if name != "weather"])
def test_quick(tmp_path, name):
    """Each runs small, within three minutes, and all of its runs go well."""
    if form_of(name).head.cluster:
        require_clusters()
    if name == "farm" and shutil.which("blastp") is None:
        pytest.skip("no blastp here (packages-verify.txt)")
    done = call("study", "run", "--form", name, "--quick", cwd=tmp_path)
    assert done.code == 0, done.err
    results = read_results(tmp_path / f"{name}.study")
    assert results.ended
    assert [run.failed for case in results.cases.values() for run in case.runs if run.failed] == []
    for word in ("study.html", "study.md", "study.parquet"):
        assert (tmp_path / f"{name}.study" / word).exists()
    assert list((tmp_path / f"{name}.study" / "tables").glob("*.csv"))
