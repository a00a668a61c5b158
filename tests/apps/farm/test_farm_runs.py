"""Farms of tasks as users run them: each kind of task, failures, orders, and what a later run goes on with."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import zstandard
from cli_support import call, run
from farm_support import BUILT_IN, copies, farm, record, results, running

from fathometer.apps.farm.built_in import length_of, result_of


def lines(folder, *rows, name="list.txt"):
    (folder / name).write_text("\n".join(rows) + "\n")
    return {"kind": "lines", "file": name}


@pytest.mark.parametrize("levels", ["three", "flat"])
@pytest.mark.parametrize("output", [{}, {"buffers": "on demand"}, {"framing": "length", "compression": "zlib"}])
def test_built_in_tasks(tmp_path, capsys, levels, output):
    path = farm(tmp_path, farm={"levels": levels}, output=output)
    done = run(capsys, "farm", path)
    assert done.code == 0, done.err
    expected = {n: result_of(length_of(0.001, 500, "uniform", 1, n)[1], 1, n) for n in range(1, 61)}
    assert results(tmp_path / "out") == expected
    told = record(tmp_path / "out")
    assert told["tasks"] | {"done": 60, "done_now": 60, "failures": 0} == told["tasks"]
    assert told["writing"]["plain_bytes"] == sum(map(len, expected.values()))
    assert told["writing"]["writes"] == (60 if output.get("buffers") else 1)
    assert (tmp_path / "out/report.html").exists()


def test_results_are_read_by_any_reader_of_zstd(tmp_path, capsys):
    path = farm(tmp_path, farm={"workers": 1}, output={"block": 2000})
    assert run(capsys, "farm", path).code == 0
    [file] = (tmp_path / "out/results").glob("node-*.zst")
    with file.open("rb") as stream:
        plain = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True).read()
    assert plain == b"".join(results(tmp_path / "out").values())  # one worker does them in their order


def test_ranks_are_nodes(tmp_path):
    tasks = BUILT_IN | {"count": 400, "seconds": 0.002}
    done = call("farm", farm(tmp_path, tasks), "--ranks", 3)
    assert done.code == 0, done.err
    files = sorted(path.name for path in (tmp_path / "out/results").glob("node-*"))
    assert files == ["node-0000.zst", "node-0001.zst", "node-0002.zst"]
    assert None not in results(tmp_path / "out").values()
    nodes = record(tmp_path / "out")["nodes"]
    assert sum(node["tasks"] for node in nodes) == 400
    assert all(node["tasks"] > 40 for node in nodes)
    # Fewer nodes go on, and find what is in the files of those that are no more.
    assert call("farm", farm(tmp_path, tasks), "--resume").code == 0
    assert record(tmp_path / "out")["tasks"]["done_before"] == 400


def test_lines_without_a_shell(tmp_path, capsys):
    rows = ["one\ttwo words", "# no task", "", "$(touch hacked)\t;rm -rf .", "üñ\t'\""]
    tasks = lines(tmp_path, *rows) | {"command": ["printf", "%s|%s|{{}}", "{2}", "{}"]}
    assert run(capsys, "farm", farm(tmp_path, tasks)).code == 0
    wanted = [f"{row.split(chr(9))[1]}|{row}|{{}}" for row in rows if row and not row.startswith("#")]
    assert [one.decode() for one in results(tmp_path / "out").values()] == wanted
    assert not (tmp_path / "hacked").exists()


def test_lines_come_by_standard_input(tmp_path, capsys):
    tasks = lines(tmp_path, "b", "a") | {"command": ["tr", "ab", "xy"]}
    assert run(capsys, "farm", farm(tmp_path, tasks)).code == 0
    assert results(tmp_path / "out") == {1: b"y\n", 2: b"x\n"}


def test_points_of_a_grid(tmp_path, capsys):
    values = {"a": [1, 2.5], "b": ["x", "y z"]}
    tasks = {"kind": "grid", "values": values, "command": ["cp", "{input}", "{output}"]}
    script = "import sys; open(sys.argv[1], 'w').write(' '.join(sys.argv[2:]))"
    tasks["command"] = [sys.executable, "-c", script, "{output}", "{a}", "{b}", "{task}"]
    assert run(capsys, "farm", farm(tmp_path, tasks)).code == 0
    assert [*results(tmp_path / "out").values()] == [b"1 x 1", b"1 y z 2", b"2.5 x 3", b"2.5 y z 4"]


def test_sequences_in_slices(tmp_path, capsys):
    text = "".join(f">s{n} of mine\r\nACGT{n}\n" for n in range(7))
    (tmp_path / "s.fasta").write_text(text)
    tasks = {"kind": "fasta", "file": "s.fasta", "queries": 3, "command": ["cat", "{input}"]}
    assert run(capsys, "farm", farm(tmp_path, tasks)).code == 0
    found = [*results(tmp_path / "out").values()]
    assert b"".join(found) == text.encode()
    assert [one.count(b">") for one in found] == [3, 3, 1]
    done = run(capsys, "farm", "extract", tmp_path / "out", "--query", "s4", "-o", tmp_path / "s4")
    assert (done.code, (tmp_path / "s4").read_bytes()) == (0, found[1])
    done = run(capsys, "farm", "extract", tmp_path / "out", "--query", "s9", "-o", tmp_path / "s9")
    assert done.code == 2
    assert 'found "s9"' in done.err
    assert not (tmp_path / "s9").exists()


def test_what_fails_is_tried_again_then_set_aside(tmp_path, capsys):
    """Line 2 succeeds the second time, line 3 never; line 4 runs too long; line 5 kills itself."""
    (tmp_path / "task.sh").write_text(
        "case $1 in\n2) mkdir seen || { echo second; exit 0; }; echo first time >&2; exit 3;;\n"
        "3) echo wrong >&2; exit 4;;\n4) sleep 60 & sleep 60;;\n5) kill -9 $$;;\n*) echo fine;; esac\n"
    )
    tasks = lines(tmp_path, *"123456") | {"command": ["sh", "task.sh", "{}"], "tries": 2, "time_limit": 0.5}
    path = farm(tmp_path, tasks)
    done = run(capsys, "farm", path)
    assert done.code == 1
    last = done.err.splitlines()[-1]
    assert "3 tasks set aside: 3 (exit code 4: wrong); 4 (ran longer than 0.5 s); 5 (ended by signal 9)" in last
    found = results(tmp_path / "out")
    assert found == {1: b"fine\n", 2: b"second\n", 3: None, 4: None, 5: None, 6: b"fine\n"}
    told = record(tmp_path / "out")
    assert (told["tasks"]["failures"], told["tasks"]["tried_again"]) == (7, 4)
    assert json.loads((tmp_path / "out/run.json").read_text())["validity"]["valid"] is False
    assert not running("sleep 60")
    # They stay aside, until they are to be tried again.
    assert run(capsys, "farm", path, "--resume").code == 1
    assert record(tmp_path / "out")["tasks"]["failures"] == 0
    assert run(capsys, "farm", path, "--retry-failed").code == 1
    assert record(tmp_path / "out")["tasks"]["failures"] == 6


def test_a_task_that_ends_its_worker(tmp_path, capsys):
    """Whatever the signal, the farm goes on with another worker, and with the other tasks that it had."""
    tasks = lines(tmp_path, *map(str, range(30))) | {
        "command": ["sh", "-c", "test $1 = 7 && kill -9 $PPID; test $1 = 9 && kill -TERM $PPID; echo $1", "-", "{}"],
        "tries": 2,
    }
    done = run(capsys, "farm", farm(tmp_path, tasks))
    assert done.code == 1
    assert "2 tasks set aside: 8 (its worker has ended (signal 9)); 10 (its worker has ended (signal 15))" in done.err
    found = results(tmp_path / "out")
    assert [n for n, result in found.items() if result is None] == [8, 10]
    assert sum(node["workers_lost"] for node in record(tmp_path / "out")["nodes"]) == 4
    assert copies(tmp_path / "out") == 28


def test_orders_and_priorities(tmp_path, capsys):
    """Each task writes when it was begun into a file of all."""
    command = ["sh", "-c", "echo $1 >> order; test $1 != bad", "-", "{1}"]
    first = lines(tmp_path, "a\t1\t3", "b\t9\t", "c\t5\t2", name="first.txt") | {
        "name": "first",
        "command": command,
        "priority_field": 2,
        "after_field": 3,
    }
    second = lines(tmp_path, "x", "bad", "y", name="second.txt") | {
        "name": "second",
        "command": command,
        "after": ["first"],
        "priority": 10,
        "tries": 1,
    }
    third = lines(tmp_path, "z", name="third.txt") | {"name": "third", "command": command, "after": ["second"]}
    free = lines(tmp_path, "free", name="free.txt") | {"name": "free", "command": command, "priority": -1}
    done = run(capsys, "farm", farm(tmp_path, third, second, first, free, farm={"workers": 1}))
    order = (tmp_path / "order").read_text().split()
    assert [one for one in order if one != "free"] == ["b", "c", "a", "x", "bad", "y"]
    assert done.code == 1
    assert "1 task set aside: 3 (exit code 1), and 1 task not begun, which wait for these" in done.err


def test_others_that_a_task_leaves_are_ended(tmp_path, capsys):
    tasks = lines(tmp_path, "a") | {"command": ["sh", "-c", "sleep 77 & echo done"]}
    assert run(capsys, "farm", farm(tmp_path, tasks)).code == 0
    assert not running("sleep 77")
    assert results(tmp_path / "out") == {1: b"done\n"}


def test_large_results(tmp_path, capsys):
    """Results larger than the buffers, from all workers at a time."""
    tasks = lines(tmp_path, *"abcd") | {"command": ["sh", "-c", "yes $1 | head -c 20000001", "-", "{}"]}
    path = farm(tmp_path, tasks, farm={"workers": 4}, output={"buffer": 100_000, "compression": "none"})
    assert run(capsys, "farm", path).code == 0
    wanted = {number: letter * 10_000_001 for number, letter in enumerate((b"a\n", b"b\n", b"c\n", b"d\n"), 1)}
    assert results(tmp_path / "out") == {number: text[:20_000_001] for number, text in wanted.items()}
    told = record(tmp_path / "out")
    assert told["waits"]["buffers_full_seconds"] > 0
    assert told["writing"]["writes"] == 4


def test_writes_of_two_buffers(tmp_path, capsys):
    """As few as there are buffers full, and one at the end."""
    tasks = BUILT_IN | {"count": 400, "seconds": 0.0, "bytes": 5000}
    buffer = 100_000
    path = farm(tmp_path, tasks, output={"buffer": buffer, "block": 20_000})
    assert run(capsys, "farm", path).code == 0
    writing = record(tmp_path / "out")["writing"]
    stored = writing["stored_bytes"] + writing["directory_bytes"]
    assert 2 <= writing["writes"] <= stored / buffer + writing["timed_flushes"] + 1
    assert writing["timed_flushes"] == 0


def test_a_timed_flush_saves_what_was_done(tmp_path, capsys):
    tasks = lines(tmp_path, "0", "0", "1.5") | {"command": ["sleep", "{}"]}
    path = farm(tmp_path, tasks, output={"flush": 0.2})
    assert run(capsys, "farm", path).code == 0
    assert record(tmp_path / "out")["writing"]["timed_flushes"] >= 1


def test_going_on_after_a_torn_tail(tmp_path, capsys):
    path = farm(tmp_path, output={"block": 1000, "buffer": 4000})
    assert run(capsys, "farm", path).code == 0
    whole = results(tmp_path / "out")
    [file] = (tmp_path / "out/results").glob("node-*.zst")
    size = file.stat().st_size
    for cut in (1, 400, size // 2, size - 30, size):
        assert run(capsys, "farm", path, "--resume").code == 0
        os.truncate(file, file.stat().st_size - min(cut, file.stat().st_size))
        done = run(capsys, "farm", path, "--resume")
        assert done.code == 0, done.err
        assert results(tmp_path / "out") == whole
        assert copies(tmp_path / "out") == 60
    assert run(capsys, "farm", path).code == 2  # neither --resume nor --overwrite


def test_damage_in_the_middle_loses_nothing(tmp_path, capsys):
    path = farm(tmp_path, output={"block": 1000, "buffer": 4000})
    assert run(capsys, "farm", path).code == 0
    [file] = (tmp_path / "out/results").glob("node-*.zst")
    data = bytearray(file.read_bytes())
    data[20] ^= 1
    file.write_bytes(data)
    done = run(capsys, "farm", path, "--resume")
    assert done.code == 1
    assert "it is damaged at byte 0, with results behind it" in done.err
    assert file.read_bytes() == data
    # What is no farm's is not touched either.
    file.write_bytes(b"somebody's notes\n")
    done = run(capsys, "farm", path, "--resume")
    assert done.code == 1
    assert "no block of a farm begins at byte 0" in done.err
    assert file.read_bytes() == b"somebody's notes\n"


def test_files_of_others_are_not_replaced(tmp_path, capsys):
    (tmp_path / "out/results").mkdir(parents=True)
    own = tmp_path / "out/results/node-0000.zst"
    own.write_bytes(b"mine")
    for words in ((), ("--overwrite",), ("--resume",)):
        done = run(capsys, "farm", farm(tmp_path), *words)
        assert done.code == 2
        assert len(done.err.splitlines()) == 1
        assert own.read_bytes() == b"mine"


@pytest.mark.parametrize("what", ["file", "script", "command", "more", "seed"])
def test_changes_between_runs_are_noticed(tmp_path, capsys, what):
    (tmp_path / "task.sh").write_text("cat more; echo $1\n")
    (tmp_path / "more").write_text("more\n")
    tasks = lines(tmp_path, "a", "b") | {"command": ["sh", "task.sh", "{}"], "files": ["more"], "name": "mine"}
    built_in = BUILT_IN | {"count": 5}
    assert run(capsys, "farm", farm(tmp_path, tasks, built_in)).code == 0
    before = results(tmp_path / "out")
    match what:
        case "file":
            lines(tmp_path, "a", "c")
        case "script":
            (tmp_path / "task.sh").write_text("cat more; echo new $1\n")
        case "command":
            tasks["command"] = ["sh", "task.sh", "{}", "x"]
        case "more":
            (tmp_path / "more").write_text("less\n")
        case "seed":
            built_in = built_in | {"seed": 2}
    path = farm(tmp_path, tasks, built_in)
    done = run(capsys, "farm", path, "--resume")
    assert done.code == 2
    assert "holds results of other tasks: tasks." in done.err
    assert len(done.err.splitlines()) == 1
    assert results(tmp_path / "out") == before
    assert run(capsys, "farm", path, "--overwrite").code == 0
    # What results do not depend on may change.
    tasks |= {"tries": 7, "time_limit": 5.0, "priority": 3}
    path = farm(tmp_path, tasks, built_in, farm={"workers": 3}, output={"level": 1, "buffers": "on demand"})
    assert run(capsys, "farm", path, "--resume").code == 0


def test_an_input_that_changes_during_the_run(tmp_path, capsys):
    tasks = lines(tmp_path, "a", "b") | {"command": ["sh", "-c", "echo c >> list.txt; echo {}"]}
    done = run(capsys, "farm", farm(tmp_path, tasks))
    assert done.code == 1
    assert "has changed" in done.err


def test_a_full_disk_ends_the_farm_with_one_line(tmp_path):
    """A file system of 1 MB: what is on it stays, and is gone on with when there is room."""
    if os.geteuid():
        pytest.skip("root mounts a small file system")
    place = tmp_path / "out"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", place], check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        tasks = BUILT_IN | {"count": 600, "bytes": 6000}
        path = farm(tmp_path, tasks, output={"buffer": 100_000, "block": 50_000, "compression": "none"})
        done = call("farm", path, "--quiet")
        assert done.code == 1
        assert len(done.err.splitlines()) == 1, done.err
        assert "node-0000.zst: cannot be written: No space left on device" in done.err
        subprocess.run(["mount", "-o", "remount,size=20m", place], check=True)
        done = call("farm", path, "--quiet", "--resume")
        assert done.code == 0, done.err
        told = record(place)
        assert told["tasks"]["done_before"] > 50
        assert None not in results(place).values()
        assert copies(place) == 600
    finally:
        subprocess.run(["umount", place], check=False)


def test_the_database_once_a_node(tmp_path, capsys):
    """Tasks find a copy of it elsewhere, which goes with the run."""
    (tmp_path / "s.fasta").write_text(">a\nA\n>b\nC\n")
    for suffix in ("pin", "phr"):
        (tmp_path / f"db.{suffix}").write_text(f"{suffix} data")
    tasks = {"kind": "fasta", "file": "s.fasta", "queries": 1, "database": "db"}
    tasks["command"] = ["sh", "-c", "echo $1; cat $1.pin", "-", "{database}"]
    for how in ("place", "read", "copied"):
        (tmp_path / "scratch").mkdir(exist_ok=True)
        path = farm(tmp_path, tasks, farm={"database_at": how, "scratch": "scratch"})
        assert run(capsys, "farm", path, "--overwrite").code == 0
        where, data = results(tmp_path / "out")[1].decode().splitlines()
        assert data == "pin data"
        assert (where == "db") == (how != "copied")
        assert list((tmp_path / "scratch").iterdir()) == []


def test_the_plan_of_a_farm(tmp_path, capsys):
    from machine_support import MACHINE

    from fathometer.plan.machine_file import save_machine

    save_machine(tmp_path / "machine.json", MACHINE)
    tasks = BUILT_IN | {"count": 100, "seconds": 0.02, "spread": "constant", "bytes": 4000}
    path = farm(tmp_path, tasks, farm={"workers": 2})
    done = run(capsys, "plan", path, "--on", tmp_path / "machine.json", "--json", tmp_path / "plan.json")
    assert done.code == 0, done.err
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert plan["tasks"] == 100
    at_work = next(one["seconds"] for one in plan["phases"] if one["phase"] == "do tasks")
    assert 1.0 < at_work < 1.3
    assert run(capsys, "farm", path).code == 0
    told = record(tmp_path / "out")
    assert at_work == pytest.approx(told["seconds"], rel=0.25)
    assert plan["stored_bytes"] == pytest.approx(told["writing"]["stored_bytes"], rel=0.1)


def test_use_of_workers_in_the_record(tmp_path, capsys):
    """The account adds up: workers are at tasks, or wait."""
    tasks = BUILT_IN | {"count": 200, "seconds": 0.004, "spread": "heavy-tailed"}
    assert run(capsys, "farm", farm(tmp_path, tasks, farm={"workers": 3})).code == 0
    told = record(tmp_path / "out")
    use, waits = told["use"], told["waits"]
    sleeping = sum(length_of(0.004, 500, "heavy-tailed", 1, n)[0] for n in range(1, 201))
    assert use["busy_seconds"] == pytest.approx(sleeping, rel=0.2)
    assert use["busy_seconds"] >= sleeping
    reasons = ("for_start", "for_tasks", "for_writer", "at_end")
    whole = use["busy_seconds"] + sum(waits[f"{one}_seconds"] for one in reasons)
    assert whole == pytest.approx(3 * told["seconds"], rel=0.1)
    course = use["course"]
    assert np.mean(course["values"]) * told["seconds"] * 3 == pytest.approx(use["busy_seconds"], rel=0.1)
    longest = max(range(1, 201), key=lambda n: length_of(0.004, 500, "heavy-tailed", 1, n)[0])
    assert told["longest"][0][0] == longest
    assert sum(count for _, _, count in told["hand_outs"]["times"]) == 200


@pytest.mark.parametrize("what", ["order of tables", "order of parameters", "another file of the same name"])
def test_changes_by_which_tasks_have_other_numbers(tmp_path, capsys, what):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text(name)
    grid = {"kind": "grid", "values": {"x": [1, 2], "y": [3, 4]}, "command": ["cat", "{x}{y}"]}
    grid["command"] = ["printf", "{x}{y}"]
    tables = [grid | {"name": "a"}, grid | {"name": "b", "files": ["a/x", "b/x"]}]
    assert run(capsys, "farm", farm(tmp_path, *tables)).code == 0
    if what == "order of tables":
        tables.reverse()
    elif what == "order of parameters":
        tables[0] = tables[0] | {"values": {"y": [3, 4], "x": [1, 2]}}
    else:
        (tmp_path / "a/x").write_text("other")
    done = run(capsys, "farm", farm(tmp_path, *tables), "--resume")
    assert done.code == 2
    assert "holds results of other tasks" in done.err


def test_files_of_another_farm_are_not_taken(tmp_path, capsys):
    for seed in (1, 2):
        path = farm(tmp_path, BUILT_IN | {"seed": seed}, output={"directory": f"{seed}"}, name=f"{seed}.toml")
        assert run(capsys, "farm", path).code == 0
    name = "results/node-0000.zst"
    (tmp_path / "1" / name).write_bytes((tmp_path / "2" / name).read_bytes())
    done = run(capsys, "farm", tmp_path / "1.toml", "--resume")
    assert done.code == 1
    assert "it holds results of another farm" in done.err
    done = run(capsys, "farm", "extract", tmp_path / "1", "--task", 3)
    assert done.code == 1
    assert "holds results of another farm" in done.err


@pytest.mark.parametrize("compression", ["zlib", "zstd", "none"])
def test_the_old_framing_goes_on(tmp_path, capsys, compression):
    output = {"framing": "length", "compression": compression, "block": 2000, "buffer": 6000}
    path = farm(tmp_path, output=output)
    assert run(capsys, "farm", path).code == 0
    whole = results(tmp_path / "out")
    [file] = (tmp_path / "out/results").glob("node-*.blocks")
    data = file.read_bytes()
    os.truncate(file, len(data) - 30)
    done = run(capsys, "farm", path, "--resume")
    assert done.code == 0, done.err
    assert results(tmp_path / "out") == whole
    assert copies(tmp_path / "out") == 60
    other = "zstd" if compression == "zlib" else "zlib"
    done = run(capsys, "farm", path, "--resume", "--set", f"output.compression={other}")
    assert done.code == 2
    assert f"compression: {compression} then, {other} now" in done.err
    if compression != "none":
        file.write_bytes(data[:300] + b"x" + data[301:])
        done = run(capsys, "farm", path, "--resume")
        assert done.code == 1
        assert "it is damaged at byte 0" in done.err
        assert file.stat().st_size == len(data)


def test_what_a_host_that_stopped_has_left_is_gone_on_with(tmp_path, capsys):
    """Zeros within one write of several blocks that was not flushed yet."""
    path = farm(tmp_path, output={"block": 3000, "compression": "none"})
    assert run(capsys, "farm", path).code == 0
    whole = results(tmp_path / "out")
    [file] = (tmp_path / "out/results").glob("node-*.zst")
    data = bytearray(file.read_bytes())
    data[4000:8096] = bytes(4096)
    file.write_bytes(data[:-2000])
    done = run(capsys, "farm", path, "--resume")
    assert done.code == 0, done.err
    assert results(tmp_path / "out") == whole
    assert copies(tmp_path / "out") == 60


def test_extract_does_no_harm(tmp_path, capsys):
    path = farm(tmp_path, output={"block": 3000})
    assert run(capsys, "farm", path).code == 0
    out = tmp_path / "out"
    whole = results(out)
    for name in ("node-0000.zst", "farm.json"):
        done = run(capsys, "farm", "extract", out, "--task", 3, "-o", out / "results" / name)
        assert done.code == 2
        assert "among the farm's own files" in done.err
    assert results(out) == whole
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    assert run(capsys, "farm", "extract", out, "--task", 3, "-o", tmp_path / "pipe").code == 0
    assert reader.communicate()[0] == whole[3]
    (tmp_path / "link").symlink_to(tmp_path / "target")
    (tmp_path / "target").write_text("old")
    assert run(capsys, "farm", "extract", out, "--task", 3, "-o", tmp_path / "link").code == 0
    assert ((tmp_path / "link").is_symlink(), (tmp_path / "target").read_bytes()) == (True, whole[3])


def test_damage_anywhere_is_one_line(tmp_path, capsys):
    """Bytes changed in directories, blocks and the index: never another result, never a traceback."""
    path = farm(tmp_path, output={"block": 3000, "compression": "none"})
    assert run(capsys, "farm", path).code == 0
    whole = results(tmp_path / "out")
    [file] = (tmp_path / "out/results").glob("node-*.zst")
    data = file.read_bytes()
    chance = np.random.default_rng(4)
    told = 0
    for place in (20, *chance.integers(0, len(data), 40).tolist(), *range(len(data) - 60, len(data), 7)):
        file.write_bytes(data[:place] + bytes([data[place] ^ 64]) + data[place + 1 :])
        task = int(chance.integers(1, 61))
        done = run(capsys, "farm", "extract", tmp_path / "out", "--task", task, "-o", tmp_path / "one")
        assert done.code in (0, 1)
        assert "defect" not in done.err
        if done.code == 0:
            assert (tmp_path / "one").read_bytes() == whole[task]
        else:
            assert "damaged" in done.err or "not what was written" in done.err, done.err
            told += 1
        done = run(capsys, "farm", "extract", tmp_path / "out", "-o", tmp_path / "all")
        assert done.code in (0, 1)
        assert "defect" not in done.err
        if done.code == 0:
            assert (tmp_path / "all").read_bytes() == b"".join(whole.values())
    assert told > 2


def test_a_task_that_leaves_its_group_is_ended_in_time(tmp_path, capsys):
    leaves = "import os,time; os.setpgid(0, os.getpgid(os.getppid())); time.sleep(311)"
    rows = [
        f"{sys.executable}\t-c\t{leaves}",
        "sh\t-c\ttimeout 312 sleep 313; true",
        "sh\t-c\tsetsid sleep 314 & sleep 0.2; echo fine",
    ]
    tasks = lines(tmp_path, *rows) | {"command": ["{1}", "{2}", "{3}"], "time_limit": 1.0, "tries": 1}
    done = run(capsys, "farm", farm(tmp_path, tasks))
    assert done.code == 1
    assert "2 tasks set aside: 1 (ran longer than 1 s); 2 (ran longer than 1 s)" in done.err
    assert results(tmp_path / "out")[3] == b"fine\n"
    assert not any(running(words) for words in ("sleep(311)", "sleep 313", "sleep 314"))


@pytest.mark.parametrize(
    ("kind", "words"), [("fifo", "it is no file"), ("folder", "it is no file"), ("none", "No such file")]
)
def test_outputs_that_are_no_files(tmp_path, capsys, kind, words):
    command = {"fifo": "mkfifo $1", "folder": "mkdir $1", "none": "true"}[kind]
    tasks = lines(tmp_path, "a") | {"command": ["sh", "-c", command, "-", "{output}"], "tries": 1, "time_limit": 5.0}
    done = run(capsys, "farm", farm(tmp_path, tasks))
    assert done.code == 1
    assert f"its {{output}} cannot be read: {words}" in done.err


def test_scratch_from_another_folder(tmp_path, capsys, monkeypatch):
    """A relative scratch is in the folder of the input file, from wherever the farm is started."""
    (tmp_path / "f/scratch").mkdir(parents=True)
    tasks = lines(tmp_path / "f", "a") | {"command": ["cp", "list.txt", "{output}"], "time_limit": 9e7}
    farm(tmp_path / "f", tasks, farm={"scratch": "scratch"})
    monkeypatch.chdir(tmp_path)
    done = run(capsys, "farm", "f/farm.toml")
    assert done.code == 0, done.err
    assert results(tmp_path / "f/out") == {1: b"a\n"}


def test_workers_that_cannot_start_end_the_farm(tmp_path):
    """No task is blamed for them."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(
        "import sys, os\n'farm.worker' in ' '.join(sys.orig_argv) and os._exit(3)\n"
    )
    done = call("farm", farm(tmp_path), "--quiet", environment={"PYTHONPATH": str(tmp_path / "site")})
    assert done.code == 1
    assert "5 workers have ended at their start (exit code 3)" in done.err
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "out/results/set-aside.jsonl").exists()


def test_few_open_files(tmp_path):
    path = farm(tmp_path, farm={"workers": 40})
    command = f"ulimit -Sn 100; ulimit -Hn 100; exec fathometer farm {path} --quiet"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"},
    )
    assert done.returncode == 1
    assert "[farm] workers: a process may open 100 files here" in done.stderr


def test_memory_of_a_writer_with_large_results(tmp_path):
    """Results of several workers at a time that are larger than the buffers: one of them is there at a time."""
    tasks = lines(tmp_path, *"abcdef") | {"command": ["head", "-c", "100000000", "/dev/zero"]}
    path = farm(tmp_path, tasks, farm={"workers": 6}, output={"buffer": 1_000_000, "compression": "none"})
    done = call("farm", path, "--quiet")
    assert done.code == 0, done.err
    peak = record(tmp_path / "out")["nodes"][0]["writer_peak_bytes"]
    assert peak < 4.5 * 100_000_000
