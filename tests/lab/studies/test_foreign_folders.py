"""A study replaces and removes what it has written, and nothing else that lies in its folder or beside."""

import shutil
from pathlib import Path

import pytest
from cli_support import here

from fathometer.lab.studies import store
from fathometer.lab.studies.store import MARK, erase

STUDY = """
title = "foreign"
{prepare}
[application]
command = ["sh", "-c", "echo 1; echo 2 > left"]
figure = [{{name = "said", unit = "1", direction = "lower", pattern = '^([0-9]+)$'}}]
[factors]
[runs]
repetitions = 1
warm_up = 0
"""
NAMES = ["study.json", "cases", "runs", "jobs", "clusters", "machine.json", "study.html", "study.md", "study.parquet"]


def study(folder, *words, prepare=""):
    (folder / "study.toml").write_text(STUDY.format(prepare=prepare))
    return here("study", "run", folder / "study.toml", "--output", folder / "mine", "--quiet", *words)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A study that was made."""
    folder = tmp_path_factory.mktemp("study")
    assert study(folder).code == 0
    return folder / "mine"


@pytest.fixture
def mine(tmp_path, made):
    """The same in a folder of its own."""
    return Path(shutil.copytree(made, tmp_path / "mine"))


def everything(folder):
    return {str(path.relative_to(folder)): path.is_file() and path.read_bytes() for path in folder.rglob("*")}


def foreign(*paths):
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("my thesis")


@pytest.mark.parametrize("words", [(), ("--overwrite",), ("--prepare",)])
def test_a_folder_without_a_study_is_left_alone(tmp_path, words):
    mine = tmp_path / "mine"
    foreign(mine / "cases" / "my.json", mine / "runs" / "results.txt")
    before = everything(mine)
    done = study(tmp_path, *words, prepare='[[prepare]]\ncommand = ["touch", "input"]\nmakes = ["input"]')
    assert done.code == 2
    assert f"{mine}: holds cases, runs, but no study.json of this program's" in done.err
    assert "allowed: another folder for the results (--output, or [output] directory)" in done.err
    assert "overwrite" not in done.err
    assert done.err.count("\n") == 1
    assert everything(mine) == before
    assert not (tmp_path / "input").exists()


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_a_study_counts(tmp_path, name):
    foreign(tmp_path / name)
    with pytest.raises(store.InputError, match=f"holds {name}, but no study.json of this program's"):
        store.require_own(tmp_path)


@pytest.mark.parametrize("name", ["study.json", "cases"])
def test_a_link_is_no_part_of_a_study(tmp_path, made, name):
    (tmp_path / name).symlink_to(made / name)
    with pytest.raises(store.InputError, match=f"holds {name}, but no study.json of this program's"):
        store.require_own(tmp_path)


def test_overwrite_removes_a_study_and_what_others_have_put_there_stays(tmp_path, mine):
    [case] = [path.stem for path in (mine / "cases").iterdir()]
    kept = [
        mine / "notes.txt", mine / "cases" / "my.json", mine / "cases" / "0123456789.json.bak", mine / "runs" / "notes",
        mine / "runs" / case / "notes", mine / "runs" / case / "round-1b" / "notes", mine / "jobs" / "my.json",
        mine / "runs" / "my-runs" / "round-1" / "notes", mine / "clusters" / "list.json",
    ]  # fmt: skip
    foreign(*kept, tmp_path / "away" / "thesis", mine / "runs" / case / "round-1" / "left behind")
    (mine / "runs" / case / "round-1" / "link").symlink_to(tmp_path / "away")
    foreign(mine / "jobs" / f"fathometer-study-{case}.out", mine / "runs" / case / "warm-up-1" / "stdout")
    erase(mine)
    left = [mine / name for name in ("lock", "study.html", "study.md", "study.parquet")]
    assert sorted(path for path in mine.rglob("*") if path.is_file()) == sorted([*kept, *left])
    assert (tmp_path / "away" / "thesis").exists()


def test_overwrite_begins_anew_also_where_the_study_is_damaged(tmp_path, mine):
    foreign(mine / "runs" / "notes")
    text = (mine / "study.json").read_text()
    (mine / "study.json").write_text(text.replace('"foreign"', '"foreign", damaged'))
    assert study(tmp_path).code == 2
    done = study(tmp_path, "--overwrite")
    assert done.code == 0, done.err
    assert (mine / "runs" / "notes").read_text() == "my thesis"


def test_runs_elsewhere_are_not_removed(tmp_path, mine):
    """Where somebody has put a link, what it leads to is not the study's folder."""
    (mine / "runs").rename(tmp_path / "away")
    (mine / "runs").symlink_to(tmp_path / "away")
    before = everything(tmp_path / "away")
    done = study(tmp_path, "--overwrite")
    assert done.code == 2
    assert f"{mine / 'runs'}: is a link to '{tmp_path / 'away'}', and --overwrite removes nothing there" in done.err
    assert "allowed: remove the link, or what lies there, yourself and repeat, or another folder" in done.err
    assert done.err.count("\n") == 1
    assert everything(tmp_path / "away") == before
    (mine / "runs").unlink()
    assert study(tmp_path, "--overwrite").code == 0


@pytest.mark.parametrize("place", ["cases", "jobs"])
def test_files_elsewhere_are_not_removed(tmp_path, mine, place):
    (tmp_path / "away").mkdir()
    if (mine / place).exists():
        (mine / place).rename(tmp_path / "away" / place)
    else:
        (tmp_path / "away" / place).mkdir()
        (tmp_path / "away" / place / "fathometer-study-0123456789.out").touch()
    (mine / place).symlink_to(tmp_path / "away" / place)
    before = everything(tmp_path / "away")
    done = study(tmp_path, "--overwrite")
    assert done.code == 2
    assert f"{mine / place}: is a link to" in done.err
    assert everything(tmp_path / "away") == before


def test_a_removal_that_is_broken_off_leaves_a_study(mine, monkeypatch):
    """At each of its steps: the next --overwrite goes on with it."""
    text = (mine / "study.json").read_bytes()
    for number in range(20):
        steps = iter(range(number))

        def step(name, *given, does, steps=steps):
            if next(steps, None) is None:
                raise KeyboardInterrupt
            does(name, *given)

        with monkeypatch.context() as patched:
            for name in ("remove_tree", "remove_file", "remove_empty"):
                does = getattr(store, name)
                patched.setattr(store, name, lambda *given, does=does: step(*given, does=does))
            try:
                erase(mine)
            except KeyboardInterrupt:
                assert MARK.on(mine)
                assert (mine / "study.json").read_bytes() == text
            else:
                break
    assert number > 5
    assert not MARK.on(mine)


@pytest.mark.parametrize(("place", "code"), [("{study}/inputs", 0), ("beside", 1)])
def test_a_prepared_folder_is_made_anew_only_where_the_results_are(tmp_path, place, code):
    def prepared(number):
        words = f'["sh", "-c", "mkdir -p $0; touch $0/{number}", "{place}"]'
        return study(tmp_path, "--prepare", prepare=f'[[prepare]]\ncommand = {words}\nmakes = ["{place}"]')

    folder = Path(place.format(study=tmp_path / "mine"))
    assert prepared(1).code == 0
    done = prepared(2)
    assert done.code == code
    left = [path.name for path in (tmp_path / folder).iterdir()]
    assert left == (["1"] if code else ["2"])
    if code:
        words = f"[[prepare]] 1: {tmp_path / 'beside'}: is not removed: it does not lie in {tmp_path / 'mine'};"
        assert words in done.err
