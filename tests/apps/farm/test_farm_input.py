"""Wrong input of a farm: one line that names the thing, its place, what was found and what is allowed."""

import pytest
from cli_support import run
from farm_support import BUILT_IN, farm

GRID = {"kind": "grid", "values": {"a": [1]}, "command": ["echo", "{a}"]}
LINES = {"kind": "lines", "file": "list.txt", "command": ["echo", "{}"]}
FASTA = {"kind": "fasta", "file": "s.fasta", "queries": 1, "command": ["cat"]}


@pytest.mark.parametrize(
    ("tasks", "keys", "words"),
    [
        ([GRID | {"command": ["echo", "{b}"]}], {}, '[[tasks]] 1 command: found "{b}"; allowed: {a}, {task}'),
        ([GRID | {"command": ["echo", "{a"]}], {}, '[[tasks]] 1 found "{a"; allowed: {name}, and {{ or }} for a brace'),
        ([GRID | {"command": [""]}], {}, 'found "" as the program; needed: its name'),
        ([GRID | {"command": []}], {}, "command: found []; allowed: a list of words, the program first"),
        ([GRID | {"values": {}}], {}, "values: found none"),
        ([GRID | {"values": {"task": [1]}}], {}, 'values: found "task"'),
        ([GRID | {"command": ["no-such-program", "{a}"]}], {}, 'found no program "no-such-program"; needed'),
        ([GRID | {"command": ["./list.txt", "{a}"]}], {}, 'found no program "./list.txt"'),
        ([GRID | {"after": ["grd"]}], {}, '[[tasks]] 1 after: found "grd"; allowed: names of other tasks'),
        ([GRID, GRID], {}, '[[tasks]] 2 name: found "tasks" twice; allowed: each name once'),
        (
            [GRID | {"name": "a", "after": ["b"]}, GRID | {"name": "b", "after": ["a"]}],
            {},
            "[[tasks]] after: found a, b, which wait for each other",
        ),
        ([BUILT_IN | {"count": 0}], {}, "[[tasks]] 1 count: found 0"),
        ([BUILT_IN | {"kind": "buil-in"}], {}, '[[tasks]] 1 kind: found "buil-in"; allowed: '),
        ([BUILT_IN | {"secnds": 1.0}], {}, "did you mean"),
        ([LINES | {"file": "missing.txt"}], {}, "found no file"),
        ([LINES | {"file": "empty.txt"}], {}, "empty.txt: holds no line that is a task"),
        ([LINES | {"file": "binary"}], {}, "binary: is no text in UTF-8"),
        ([LINES | {"command": ["echo", "{3}"]}], {}, "list.txt: line 1: found 2 fields; needed: 3, with tabs between"),
        ([LINES | {"after_field": 1}], {}, 'list.txt: line 1: tasks before: found "x"; needed: an integer'),
        ([LINES | {"after_field": 2}], {}, "list.txt: line 1: waits for tasks that wait for it; needed: an order"),
        ([LINES | {"file": "far.txt", "after_field": 1}], {}, "far.txt: line 1: found 9 as a task before"),
        ([FASTA | {"file": "list.txt"}], {}, 'list.txt: is no FASTA: found "x'),
        ([FASTA | {"file": "s.gz"}], {}, "is compressed by gzip; needed: plain FASTA"),
        ([FASTA | {"database": "db"}], {}, "[[tasks]] database: found no files "),
        ([FASTA | {"command": ["cat", "{database}"]}], {}, 'command: found "{database}"'),
        ([BUILT_IN], {"output__compression": "zlib"}, '[output] compression: found "zlib"; allowed: with framing'),
        ([BUILT_IN], {"output": {"compression": "zlib", "framing": "length", "level": 11}}, "level: found 11"),
        ([BUILT_IN], {"output__buffer": 0}, "[output] buffer: found 0"),
        ([BUILT_IN], {"farm__scratch": "nowhere"}, "[farm] scratch: "),
        ([], {}, None),
    ],
)
def test_one_line(tmp_path, capsys, tasks, keys, words):
    (tmp_path / "list.txt").write_text("x\t2\ny\t1\n")
    (tmp_path / "far.txt").write_text("9\n")
    (tmp_path / "empty.txt").write_text("# nothing\n \n")
    (tmp_path / "binary").write_bytes(b"a\xff\n")
    (tmp_path / "s.fasta").write_text(">s\nA\n")
    (tmp_path / "s.gz").write_bytes(b"\x1f\x8b\x08\x00")
    if words is None:
        (tmp_path / "farm.toml").write_text("tasks = []\n")
        path, words = tmp_path / "farm.toml", "[tasks]: found []"
    else:
        path = farm(tmp_path, *tasks, **keys)
    done = run(capsys, "farm", path)
    assert done.code == 2, done.err
    assert len(done.err.splitlines()) == 1, done.err
    assert words in done.err
    assert not (tmp_path / "out/results").exists()


def test_options_that_contradict(tmp_path, capsys):
    path = farm(tmp_path)
    assert "--demo: found both" in run(capsys, "farm", path, "--demo").err
    assert "--demo: found neither" in run(capsys, "farm").err
    assert "--resume: found together with --demo" in run(capsys, "farm", "--demo", "--resume").err
    assert "found together with --resume" in run(capsys, "farm", path, "--resume", "--overwrite").err


def test_extract_says_what_is_missing(tmp_path, capsys):
    assert "no farm has left results there" in run(capsys, "farm", "extract", tmp_path).err
    tasks = LINES | {"command": ["false"], "tries": 1, "name": "a"}
    (tmp_path / "list.txt").write_text("x\ny\n")
    path = farm(tmp_path, tasks, BUILT_IN | {"count": 3, "name": "b"})
    assert run(capsys, "farm", path).code == 1
    out = tmp_path / "out"
    assert "--of: missing; needed: one of a, b" in run(capsys, "farm", "extract", out).err
    assert 'found "c"; allowed: a, b' in run(capsys, "farm", "extract", out, "--of", "c").err
    assert "task 1 has no result" in run(capsys, "farm", "extract", out, "--task", 1).err
    assert "--task: found 6; allowed: 1 to 5" in run(capsys, "farm", "extract", out, "--task", 6).err
    assert "2 of 2 tasks have no result: 1, 2" in run(capsys, "farm", "extract", out, "--of", "a").err
    done = run(capsys, "farm", "extract", out, "--of", "b", "-o", tmp_path / "b")
    assert done.code == 0
    assert (tmp_path / "b").read_bytes().startswith(b"task 3 ")
    assert run(capsys, "farm", "extract", out, "--of", "b", "-o", tmp_path).code == 2
