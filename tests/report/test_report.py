"""The page of a run and the tables of several: records read, the sentence, tables, escaping, sizes, the command."""

from __future__ import annotations

import copy
import html.parser
import json
import re

import jsonschema
import numpy as np
import pytest
from plotly.offline import get_plotlyjs

from fathometer.base import formatting
from fathometer.base.errors import InputError
from fathometer.record.schema import SCHEMA
from fathometer.report import tables
from fathometer.report.decimation import averaged, factors_for
from fathometer.report.figures import roofline
from fathometer.report.page import PagePanels, check, comparison_tables, labels, render, run_tables
from fathometer.report.records import Run, read_record
from fathometer.report.template import safe_json
from fathometer.report.verdict import verdict
from fathometer.runs.application import Heading
from tests.support.cli_support import MIGRATE, MODEL, call, inputs, run, survey
from tests.support.report_support import SECONDS, a_record

MOST_BYTES = 3_000_000  # of a page, apart from the plotting library


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


# --- reading ---------------------------------------------------------------------------------------------------------


def test_a_record_is_read_from_its_file_and_its_folder(tmp_path):
    path = write(tmp_path / "run.json", a_record())
    assert read_record(path) == read_record(tmp_path) == Run(path, a_record())
    unfinished = write(tmp_path / "b" / "run-unfinished.json", a_record(reasons=["interrupted"], finished=False))
    assert read_record(tmp_path / "b").path == unfinished
    assert not read_record(tmp_path / "b").finished


def broken(*place, value):
    """A record in which the entry at `place` is `value`."""
    changed = copy.deepcopy(a_record())
    inner = changed
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty: 0 bytes"),
        (json.dumps(a_record())[:-100], "damaged or no record: not valid JSON"),
        ("[1, 2]", "not a record of Fathometer: found no object; allowed: a run.json"),
        (
            '{"schema_version": 2, "name": "x"}',
            "not a record of Fathometer: found an object without application, ledger",
        ),
        ("[" * 100_000, "damaged or no record"),
        (json.dumps(a_record()).replace("10.0", "NaN", 1), "NaN is no number of JSON"),
        (broken("ledger", "ranks", 0, "wall_seconds", value=10**39), "is beyond an integer of 64 bits"),
        (json.dumps(a_record()).replace("10.0", "1e400", 1), "1e400 is beyond a number of 64 bits"),
        (broken("schema_version", value=3), "found schema_version 3, newer than this program's; allowed: 2"),
        (broken("schema_version", value=1), "found schema_version 1, older than this program's; allowed: 2"),
        (broken("schema_version", value="2"), "damaged: schema_version: found '2'; allowed: 2"),
        (broken("ledger", "ranks", value=[]), "damaged: ledger.ranks: [] should be non-empty"),
        (
            broken("ledger", "ranks", 1, "wall_seconds", value="long"),
            "damaged: ledger.ranks[1].wall_seconds: 'long' is not of type 'number'",
        ),
        (broken("figures", 0, "direction", value="up"), "damaged: figures[0].direction: 'up' is not one of ['higher'"),
        (broken("machine", "host", value=None), "damaged: machine.host: None is not of type 'string'"),
        (
            {k: v for k, v in a_record().items() if k != "results"},
            "damaged: the whole: 'results' is a required",
        ),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(tmp_path, content, says):
    path = write(tmp_path / "run.json", content)
    with pytest.raises(InputError) as caught:
        read_record(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_file_is_told(tmp_path):
    for place, says in ((tmp_path / "no.json", "no such file"), (tmp_path, "a folder without a record")):
        with pytest.raises(InputError, match=says):
            read_record(place)
    (tmp_path / "run.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(InputError, match="not text in UTF-8"):
        read_record(tmp_path)


def every_change(value, place=()):
    """The value with one entry after another replaced, removed or added."""
    if isinstance(value, dict):
        for key in value:
            yield value | {key: "changed"}
            yield value | {key: -1}
            yield {k: v for k, v in value.items() if k != key}
            yield from (value | {key: inner} for inner in every_change(value[key]))
        yield value | {"surprise": 1}
    elif isinstance(value, list) and value:
        yield []
        yield from ([inner, *value[1:]] for inner in every_change(value[0]))


def test_odd_values_are_damage_and_never_a_crash(monkeypatch, tmp_path):
    """What fits the schema, but is not what a run writes, is refused or shown."""
    monkeypatch.setattr("plotly.offline.get_plotlyjs", lambda: "")
    fits = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    told = a_record()
    told["machine"]["binding"] = [{"rank": 0, "host": "a", "threads": 1, "cpus": [0], "pinned": True}]
    refused = shown = 0
    for part in ("machine", "results", "input"):
        for value in every_change(told[part]):
            one = Run(tmp_path / "run.json", told | {part: value})
            if not fits.is_valid(one.record):
                continue
            try:
                check(one)
            except InputError:
                refused += 1
            else:
                render([one], PagePanels())
                shown += 1
    assert refused > 10
    assert shown > 50


# --- the sentence ----------------------------------------------------------------------------------------------------

OVERLAPPED = {
    "phase": "history push",
    "category": "io",
    "seconds": {"min": 1.0, "mean": 1.0, "max": 1.0, "max_rank": 0, "imbalance": 1.0},
    "total_bytes": 1_900_000_000,
}


def beside(waited):
    """A record whose snapshots go on beside the main line, which waits some seconds for them."""
    told = a_record({("history push", "idle"): (waited, waited)})
    told["ledger"]["overlapped"] = [OVERLAPPED]
    return told


HEAD = "80 % of 10.0 s in the kernel, 15 % in “draw”; halos took up to 10 % of a rank's time"
TAIL = "the image was written at 4.00 GB/s, 5.0 % of the time"


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (a_record(), f"{HEAD}; {TAIL}"),
        (
            a_record(ranks=1),
            "80 % of 10.0 s in the kernel, 15 % in “draw”; the image was written at 2.00 GB/s, 5.0 % of the time",
        ),
        (
            a_record(reasons=["interrupted"], finished=False, figures=[], ranks=1),
            "unfinished after 10.0 s, as far as rank 0 knew: 80 % of 10.0 s in the kernel, 15 % in “draw”; "
            "the image was written at 2.00 GB/s, 5.0 % of the time",
        ),
        (beside(0.0), f"{HEAD}; “history push” moved 1.90 GB/s beside the computation, fully hidden; {TAIL}"),
    ],
)
def test_verdict(told, sentence):
    assert verdict(told).replace(formatting.THIN, " ") == sentence


def test_verdict_names_nothing_that_took_no_time():
    told = beside(0.0)
    told["ledger"]["overlapped"] = [OVERLAPPED | {"seconds": OVERLAPPED["seconds"] | {"max": 0.04}}]
    assert verdict(told).replace(formatting.THIN, " ") == f"{HEAD}; {TAIL}"


@pytest.mark.parametrize(("waited", "how"), [(0.01, "fully hidden"), (0.3, "70 % hidden"), (2.0, "not hidden")])
def test_verdict_of_what_is_partly_hidden(waited, how):
    assert f"beside the computation, {how};" in verdict(beside(waited)).replace(formatting.THIN, " ")


@pytest.mark.parametrize(("waited", "how"), [(0.01, "fully hidden"), (0.5, "75 % hidden"), (3.0, "not hidden")])
def test_verdict_of_work_that_is_waited_for_in_a_phase_of_its_own(waited, how):
    """Traces that are read and filtered beside the sums (2 s), and the wait for them."""
    told = a_record({("wait for traces", "idle"): (waited, waited)})
    read = OVERLAPPED | {"phase": "read traces"}
    told["ledger"]["overlapped"] = [
        read,
        OVERLAPPED | {"phase": "filter traces", "category": "compute", "total_bytes": 0},
    ]
    said = verdict(told).replace(formatting.THIN, " ")
    assert f"“read traces” moved 1.90 GB/s beside the computation, {how};" in said


def test_verdict_of_a_kernel_that_counts_no_flops():
    told = a_record()
    for entry in told["ledger"]["phases"]:
        entry["total_flops"] = 0
    assert verdict(told).replace(formatting.THIN, " ").startswith("80 % of 10.0 s in the kernel")
    assert roofline(told) is None


def test_verdict_without_a_kernel():
    told = a_record()
    for entry in told["ledger"]["phases"]:
        entry["total_flops"] = entry["total_points"] = 0
    assert (
        verdict(told).replace(formatting.THIN, " ").startswith("50 % of 10.0 s in “source propagation”; rank 1 waited")
    )


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (312.4, "seconds", "312 s"),
        (0.0123, "seconds", "0.0123 s"),
        (2e-6, "seconds", "< 0.0001 s"),
        (0.0, "seconds", "0 s"),
        (1.9e9, "bytes_per_second", "1.90 GB/s"),
        (512, "bytes", "512 B"),
        (0.394e9, "points_per_second", "0.394 · 10⁹ points/s"),
        (1625.0, "shots_per_hour", "1 625 shots/h"),
        (0.87, "share", "87 %"),
        (0.0004, "share", "< 0.1 %"),
        (1234567, "count", "1 234 567"),
        (None, "seconds", "–"),
    ],
)
def test_numbers_for_people(value, unit, expected):
    assert tables.text(value, unit).replace(formatting.THIN, " ") == expected


# --- tables ----------------------------------------------------------------------------------------------------------


def test_phase_table_is_the_ledger():
    table = tables.phases(a_record()["ledger"])
    assert table.rows[0] == ["source propagation", "compute", 4.5, 0.45, 5.0, 1, 5 / 4.5, 2, 0, None, 4e9 / 5]
    assert sum(row[3] for row in table.rows) == pytest.approx(1)
    halo = next(row for row in table.rows if row[:2] == ["halo exchange", "communication"])
    assert halo[8:10] == [2 * 10**9, 2 * 10**9 / 1.0]


def two_runs(tmp_path):
    """A base and a run with propagations in half the time, without drawing, at a better rate."""
    faster = {key: (a / 2, b / 2) for key, (a, b) in SECONDS.items() if "propagation" in key[0]}
    other = a_record(faster | {("draw", "compute"): (0.0, 0.0), ("draw", "idle"): (0.0, 0.0)})
    other["figures"][0]["value"] = 5.0
    other["figures"][2]["value"] = 1.5e9
    return [Run(tmp_path / "one" / "run.json", a_record()), Run(tmp_path / "two" / "run.json", other)]


def test_comparison_respects_directions_and_states_the_base(tmp_path):
    runs = two_runs(tmp_path)
    assert labels(runs) == ["A: one", "B: two"]
    phases, figures = comparison_tables(runs)
    rows = {row[0]: row[1:] for row in phases.rows}
    assert rows["wall time"] == [10.0, 5.0, 2.0]
    assert rows["source propagation"] == [5.0, 2.5, 2.0]
    assert rows["draw"] == [1.5, 0.0, None]
    assert {row[0]: row[1:] for row in figures.rows} == {
        "total": ["seconds", 10.0, 5.0, 2.0],
        "kernel share": ["1", 0.8, 0.8, 1.0],
        "grid point updates": ["points_per_second", 0.75e9, 1.5e9, 2.0],
        "steps": ["1", 100.0, 100.0, None],
    }


def test_markdown_and_csv_of_a_comparison(tmp_path):
    made = comparison_tables(two_runs(tmp_path))
    assert (
        tables.markdown(made).replace(formatting.THIN, " ")
        == """\
## Seconds of each phase, slowest rank

| phase | A: one (base) | B: two | speed-up, B: two |
|---|---:|---:|---:|
| wall time | 10.0 s | 5.00 s | 2.00 |
| source propagation | 5.00 s | 2.50 s | 2.00 |
| receiver propagation | 3.00 s | 1.50 s | 2.00 |
| draw | 1.50 s | 0 s | – |
| halo exchange | 1.00 s | 1.00 s | 1.00 |
| write image | 0.500 s | 0.500 s | 1.00 |

## Figures

| figure | A: one (base) | B: two | speed-up, B: two |
|---|---:|---:|---:|
| total | 10.0 s | 5.00 s | 2.00 |
| kernel share | 0.800 | 0.800 | 1.00 |
| grid point updates | 0.750 · 10⁹ points/s | 1.50 · 10⁹ points/s | 2.00 |
| steps | 100 | 100 | – |
"""
    )
    assert (
        tables.comma_separated(made)
        == """\
phase,A: one_seconds,B: two_seconds,B: two_speedup
wall time,10.0,5.0,2.0
source propagation,5.0,2.5,2.0
receiver propagation,3.0,1.5,2.0
draw,1.5,0.0,
halo exchange,1.0,1.0,1.0
write image,0.5,0.5,1.0

figure,unit,A: one_value,B: two_value,B: two_speedup
total,seconds,10.0,5.0,2.0
kernel share,1,0.8,0.8,1.0
grid point updates,points_per_second,750000000.0,1500000000.0,2.0
steps,1,100.0,100.0,
"""
    )


def test_markdown_keeps_text_in_its_cell():
    table = tables.Table("T", (tables.Column("a", "a"),), [["x|y\n<b>*z*"]])
    assert tables.markdown([table]).splitlines()[-1] == "| x\\|y \\<b\\>\\*z\\* |"


# --- the page --------------------------------------------------------------------------------------------------------


class Reader(html.parser.HTMLParser):
    """Counts tags and keeps the text outside scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.inside = {}, [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.inside = tag if tag in ("script", "style") else self.inside

    def handle_endtag(self, tag):
        self.inside = None if tag == self.inside else self.inside

    def handle_data(self, data):
        if self.inside is None:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split()).replace(formatting.THIN, " ")


EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&{{ 7 * 7 }}"


def test_every_text_is_escaped(tmp_path):
    told = a_record(
        input={"model": {"vp": EVIL}, EVIL: EVIL, "survey": EVIL},
        command=["fathometer", EVIL],
        reasons=[EVIL],
        results={"files": {}, "notes": [EVIL], "yardstick": {"source": EVIL}},
    )
    told["machine"] |= {"host": EVIL, "cpu": EVIL, "environment": {EVIL: EVIL}}
    told["ledger"]["ranks"][0]["host"] = EVIL
    told["ledger"]["timelines"][0]["name"] = EVIL
    told["ledger"]["phases"][0]["phase"] = EVIL
    told["figures"][0]["name"] = EVIL
    panels = [
        {"kind": "missing", "title": EVIL, "reason": EVIL},
        {"kind": "points", "title": EVIL, "caption": EVIL, "labels": [EVIL, EVIL], "equal": False}
        | {"groups": [{"name": EVIL, "x": [0, 1], "y": [0, 1]}]},
    ]
    page_panels = PagePanels(Heading(EVIL, EVIL, [(EVIL, EVIL)]), panels)
    for runs in ([Run(tmp_path / "run.json", told)], [Run(tmp_path / n / "run.json", told) for n in "ab"]):
        page = Reader(render(runs, page_panels))
        assert page.tags["script"] == 3  # data, library, the page's own
        assert "img" not in page.tags
        assert EVIL in page.text


def test_json_in_a_script_cannot_end_it():
    text = safe_json({"a": EVIL, "b": "<!--", "c": [1.5, None]})
    assert not re.search("[<>&]", text)
    assert json.loads(text) == {"a": EVIL, "b": "<!--", "c": [1.5, None]}


def test_a_page_asks_for_nothing_else(tmp_path):
    page = render([Run(tmp_path / "run.json", a_record())], PagePanels()).replace(get_plotlyjs(), "")
    assert not re.search(r"https?://|<link(?! rel=\"icon\" href=\"data:)|@import|\bsrc=", page)
    assert "default-src 'none'" in page
    assert len(page.encode()) < 200_000


def test_an_unfinished_run_says_so_at_the_top(tmp_path):
    told = a_record(reasons=["unfinished: interrupted"], finished=False, figures=[], ranks=1, results={"files": {}})
    text = Reader(render([Run(tmp_path / "run-unfinished.json", told)], PagePanels())).text
    start = text.index("This run did not finish. unfinished: interrupted.")
    assert start < text.index("The account") < text.index("Unfinished after 10.0 s")
    assert "The roofline is missing" in text


def test_doubts_about_times_stand_in_the_account_and_those_about_results_at_the_top(tmp_path):
    told = a_record(reasons=["a shot is missing"], disturbed=["cores were shared"])
    panel = {"kind": "missing", "title": "The image", "reason": "gone"}
    text = Reader(render([Run(tmp_path / "run.json", told)], PagePanels(panels=[panel]))).text
    words = [
        "Not everything in this run is to be trusted. a shot is missing. ",
        "The image: not shown.",
        "The run",
        "The account",
        "The times of this run are not to be trusted. cores were shared. ",
        "in the kernel",
    ]
    places = [text.index(word) for word in words]
    assert places == sorted(places)
    old = told | {"validity": {name: value for name, value in told["validity"].items() if name != "times"}}
    text = Reader(render([Run(tmp_path / "run.json", old)], PagePanels())).text
    assert "trusted. a shot is missing; cores were shared." in text


def test_a_comparison_shows_the_base_in_full_and_what_differs(tmp_path):
    runs = two_runs(tmp_path)
    runs[1].record["input"]["order"] = 16
    text = Reader(render(runs, PagePanels())).text
    assert "Comparison of 2 runs" in text
    assert "Against the base case A: one, 10.0 s." in text
    assert "input.order 8 16" in text
    assert "The base case, A: one" in text


@pytest.mark.parametrize(
    ("shape", "most", "expected"),
    [((10, 1, 10), 100, (1, 1, 1)), ((100, 1, 100), 2500, (3, 1, 2)), ((64, 64, 64), 32768, (2, 2, 2))],
)
def test_decimation_keeps_depth_finer(shape, most, expected):
    factors = factors_for(shape, most)
    assert np.prod([n // f for n, f in zip(shape, factors, strict=True)]) <= most
    assert factors[2] <= max(factors[:2])
    assert expected[1] == 1 or factors[1] > 1


def test_decimated_cells_are_means_of_blocks():
    values = np.random.default_rng(1).standard_normal((7, 6, 9))

    def read(lo, hi):
        return values[lo[0] : hi[0], lo[1] : hi[1], lo[2] : hi[2]]

    found = averaged(read, values.shape, (2, 3, 4))
    assert found.shape == (3, 2, 2)
    np.testing.assert_allclose(found[2, 1, 0], values[4:6, 3:6, 0:4].mean())


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def migrated(tmp_path_factory):
    """A tiny migration, in a folder with a name that is no harm."""
    folder = tmp_path_factory.mktemp("page") / "<script>alert(1)<"
    folder.mkdir()
    inputs(folder)
    path = survey(folder, MIGRATE | {"output.directory": "image"}, "<b>bold.toml")
    done = call("migrate", path)
    assert done.code == 0, done.err
    assert done.err.splitlines()[-2].split(None, 1) == ["report", str(folder / "image" / "report.html")]
    return folder


def test_a_migration_leaves_its_page(migrated):
    page = (migrated / "image" / "report.html").read_text()
    assert len(page.encode()) - len(get_plotlyjs().encode()) < MOST_BYTES
    reader = Reader(page)
    assert reader.tags["script"] == 3
    assert "Reverse time migration: <b>bold" in reader.text
    assert "not shown" not in reader.text
    record = json.loads((migrated / "image" / "run.json").read_text())
    jsonschema.validate(record, json.loads(SCHEMA.read_text()))
    yardstick = record["results"]["yardstick"]
    assert yardstick["triad_bytes_per_second"] > 1e8
    assert yardstick["multiply_add_flops_per_second"] > 1e8
    assert yardstick["bytes_per_point"] == 16
    phases = {entry["phase"] for entry in record["ledger"]["phases"]}
    assert {"report", "yardstick"} <= phases


def test_a_model_run_leaves_its_page(tmp_path, capsys):
    inputs(tmp_path)
    done = run(capsys, "model", survey(tmp_path, MODEL | {"output.directory": "shots"}))
    assert done.code == 0, done.err
    text = Reader((tmp_path / "shots" / "report.html").read_text()).text
    assert "The model: vertical P velocity" in text
    assert "Shot 1 (FFID 1), modelled" in text
    assert "not shown" not in text


def test_report_makes_the_same_page_again(migrated, capsys, tmp_path):
    again = tmp_path / "again.html"
    done = run(capsys, "report", migrated / "image", "-o", again)
    assert done.code == 0, done.err

    def data(path):
        return re.search(r'id="data">(.*?)</script>', path.read_text()).group(1)

    # Paths are told as they were found.
    first, second = (json.loads(data(path)) for path in (migrated / "image" / "report.html", again))
    assert first["figures"] == second["figures"]
    assert [v["image"] for v in first["volumes"]] == [v["image"] for v in second["volumes"]]
    assert [v["property"] for v in first["volumes"]] == [v["property"] for v in second["volumes"]]


def test_report_needs_no_mpi(migrated, tmp_path):
    code = (
        "import sys; from fathometer.cli.main import main; "
        f"code = main(['report', {str(migrated / 'image')!r}, '-o', {str(tmp_path / 'page.html')!r}]); "
        "sys.exit(code or ('mpi4py.MPI' in sys.modules or 'matplotlib' in sys.modules))"
    )
    import subprocess
    import sys

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_files_that_are_gone_are_told_in_their_place(migrated, capsys, tmp_path):
    record = migrated / "image" / "run.json"
    (tmp_path / "run.json").write_text(
        record.read_text().replace(str(migrated)[:20], "/nowhere").replace("image.rsf", "gone.rsf")
    )
    assert run(capsys, "report", tmp_path).code == 0
    text = Reader((tmp_path / "report.html").read_text()).text
    assert "The image: not shown." in text
    assert "One shot: not shown." in text
    assert "The account" in text


def test_unusable_records_are_told_and_the_others_used(tmp_path, capsys):
    good = write(tmp_path / "good" / "run.json", a_record())
    bad = write(tmp_path / "bad" / "run.json", "{")
    newer = write(tmp_path / "newer" / "run.json", broken("schema_version", value=9))
    done = run(capsys, "report", bad, good, newer)
    assert done.code == 0
    lines = done.err.splitlines()
    assert [line.split(": ")[2] for line in lines[:2]] == [str(bad), str(newer)]
    assert lines[2].split(None, 1) == ["report", str(tmp_path / "good" / "report.html")]
    assert sorted(path.name for path in (tmp_path / "good").iterdir()) == ["report.html", "run.json"]

    done = run(capsys, "report", bad, newer)
    assert done.code == 2
    assert len(done.err.splitlines()) == 3


def test_tables_to_standard_output_and_files(tmp_path, capsys):
    one = write(tmp_path / "one" / "run.json", a_record())
    two = write(tmp_path / "two" / "run.json", a_record())
    table = tmp_path / "table.csv"
    done = run(capsys, "report", one, two, "--markdown", "-", "--csv", table, "-o", tmp_path / "page.html")
    assert done.code == 0
    assert done.out.startswith("## Seconds of each phase, slowest rank\n\n| phase | A: one (base) | B: two |")
    assert table.read_text().startswith("phase,A: one_seconds,B: two_seconds,B: two_speedup\n")
    done = run(capsys, "report", one, "--csv", "-")
    assert done.out.startswith("figure,value,unit,direction,role\ntotal,10.0,seconds,lower,merit\n")
    assert [table.title for table in run_tables(read_record(one))] == ["Figures", "Phases", "Files"]


def test_a_page_never_replaces_a_record(tmp_path, capsys):
    one = write(tmp_path / "run.json", a_record())
    for words_ in (["-o", one], ["--csv", one]):
        done = run(capsys, "report", one, *words_)
        assert done.code == 2
        assert "is a record that is read" in done.err
    done = run(capsys, "report", one, "-o", tmp_path / "absent" / "page.html")
    assert done.code == 2
    assert "cannot be written" in done.err
    assert json.loads(one.read_text()) == a_record()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (4.52e-7, "452 ns"),
        (2.39e-6, "2.39 µs"),
        (9.99e-5, "99.9 µs"),
        (1e-4, "0.000100 s"),
        (0.0, "0 s"),
        (3e-12, "< 0.0001 s"),
    ],
)
def test_times_of_messages_for_people(value, expected):
    assert formatting.short_seconds(value).replace(formatting.THIN, " ") == expected


@pytest.mark.parametrize("value", [[], {"a": 1}, "text"])
def test_a_panel_of_odd_values_gives_its_reason(tmp_path, value):
    columns = [["event", "left"], ["seconds", "right"]]
    panel = {"kind": "table", "title": "A log", "columns": columns, "rows": [["a", value]]}
    monkey = {"kind": "volume", "title": "An image", "caption": "", "file": "", "image": value, "property": None}
    page = render([Run(tmp_path / "run.json", a_record())], PagePanels(Heading(), [panel, monkey]))
    assert "An image" in page
    assert "hold what no run writes" in page
