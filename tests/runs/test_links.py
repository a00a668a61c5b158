"""Links and foreign files where the journal of a run should be: nothing but its own files is written or removed."""

import os

import pytest
from cli_support import MIGRATE, here, inputs, survey
from test_partial import contributions

from fathometer.apps.ocean.cases import gyre_text
from fathometer.apps.reactive.demo import flow_text
from fathometer.base.errors import FathometerError, InputError
from fathometer.runs import journal_folder
from fathometer.runs.folder_lock import FolderLock, SharedFolderLock
from fathometer.runs.journal_folder import clear, erase, require_own

LOCKS = [FolderLock, lambda folder: SharedFolderLock(folder, "x")]


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_lock_that_is_a_link_is_refused_and_its_target_kept(tmp_path, lock, link):
    (tmp_path / "journal").mkdir()
    (tmp_path / "mine").write_text("mine")
    link(tmp_path / "mine", tmp_path / "journal" / "lock")
    with pytest.raises(FathometerError, match="journal/lock: cannot be written: it is "):
        lock(tmp_path / "journal")
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize("lock", LOCKS)
def test_a_journal_that_is_a_link_or_anothers_is_refused(tmp_path, lock, monkeypatch):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "journal").symlink_to("theirs")
    with pytest.raises(InputError, match="journal: is a link to 'theirs'; allowed: a folder of this user's"):
        lock(tmp_path / "journal")
    assert list((tmp_path / "theirs").iterdir()) == []
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="file: is no folder"):
        lock(tmp_path / "file")
    monkeypatch.setattr(journal_folder.os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(InputError, match=r"theirs: belongs to another user \(number "):
        lock(tmp_path / "theirs")
    assert list((tmp_path / "theirs").iterdir()) == []
    require_own(tmp_path / "none")


FOREIGN = ("figure.npy", "123.npy", "notes.jsonl", "a.sum", "b.claim", ".c.part", "finished.txt", "000001-x.npy~")


def test_only_files_of_the_journal_are_removed(tmp_path):
    journal, _ = contributions(tmp_path, 2)
    folder = journal.folder
    own = {path.name for path in folder.iterdir()} | {"finished", "000007.claim", "run-0000-1.sum", "image.npy"}
    own |= {".survey.json.ab12_c.part", ".000001-image.npy.x.part", "000001-offset-0-1e+06.npy", "r-host.b-0001.jsonl"}
    for name in (*own, *FOREIGN):
        (folder / name).touch()
    (folder / "000009-image.npy").mkdir()
    (folder / "000009-image.npy" / "mine").touch()
    (folder / "000008-image.npy").symlink_to(tmp_path / "mine")
    (tmp_path / "mine").touch()
    clear(folder)
    erase(folder)
    assert {path.name for path in folder.iterdir()} == {*FOREIGN, "000009-image.npy"}
    assert (tmp_path / "mine").exists()


@pytest.mark.parametrize("text", ["{}", '{"version": "0.1.0"}', "", '{\n "journal": 2}', None])
def test_a_folder_whose_fingerprint_is_not_the_programs_is_left_alone(tmp_path, text):
    """Whatever the command line says; a link to a true one is none either."""
    inputs(tmp_path)
    foreign = tmp_path / "out" / "journal"
    foreign.mkdir(parents=True)
    if text is None:
        (tmp_path / "true.json").write_text('{\n  "journal": 2\n}\n')
        (foreign / "survey.json").symlink_to(tmp_path / "true.json")
    else:
        (foreign / "survey.json").write_text(text)
    for name in ("000001-image.npy", "finished"):
        (foreign / name).write_text("mine")
    path = survey(tmp_path, MIGRATE)
    for words in ([], ["--overwrite"], ["--resume"]):
        done = here("migrate", path, "--quiet", *words)
        assert done.code == 2
        assert "journal: holds 000001-image.npy, but no survey.json of this program's" in done.err
        assert sorted(one.name for one in foreign.iterdir()) == ["000001-image.npy", "finished", "survey.json"]


def test_a_linked_journal_is_refused_by_the_command(tmp_path):
    inputs(tmp_path)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "figure.npy").write_text("mine")
    (tmp_path / "theirs" / "survey.json").write_text("{}")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "journal").symlink_to(tmp_path / "theirs")
    done = here("migrate", survey(tmp_path, MIGRATE), "--quiet", "--overwrite")
    assert done.code == 2
    assert "out/journal: is a link to" in done.err
    assert done.err.count("\n") == 1
    assert sorted(one.name for one in (tmp_path / "theirs").iterdir()) == ["figure.npy", "survey.json"]


def ocean(folder):
    return "ocean", write_text(folder / "ocean.toml", gyre_text((24, 16, 4), 2, "out"))


def reactive(folder):
    return "reactive", write_text(folder / "flow.toml", flow_text(6, 2, "out"))


def migrate_time(folder):
    keys = {"time_migration.velocity": 2000.0, "time_migration.x": [100.0, 300.0, 50.0]}
    return "migrate-time", survey(folder, {"acquisition.gathers": "recorded.segy"} | keys)


def write_text(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("application", "name"),
    [(ocean, "fields"), (ocean, "restart"), (reactive, "fields"), (reactive, "restart"), (migrate_time, "time")],
)
def test_folders_within_the_results_that_are_links_are_refused(application, name, tmp_path):
    """Where results lie in a folder of all users, another one can have put a link to anywhere there."""
    inputs(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "restart.json").touch()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).symlink_to(tmp_path / "mine")
    done = here(*application(tmp_path), "--quiet", "--overwrite")
    assert done.code == 2
    assert f"out/{name}: is a link to" in done.err
    assert [one.name for one in (tmp_path / "mine").iterdir()] == ["restart.json"]
    assert (tmp_path / "mine" / "restart.json").stat().st_size == 0
