"""Files and folders that get their names together, or not at all."""

import pytest

from fathometer.base.errors import FathometerError
from fathometer.base.removal import Mark
from fathometer.storage import atomic
from fathometer.storage.atomic import NewFile, Parts

MARK = Mark("old", b"old")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_files_and_folders_are_placed_together(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "old").write_text("old")
    with Parts() as parts:
        parts.create(NewFile(tmp_path / "values", b"head", size=4))
        folder = parts.create(NewFile(tmp_path / "folder", folder=MARK))
        (folder / "new").write_text("new")
        parts.drop(parts.create(NewFile(tmp_path / "dropped")))
        assert names(tmp_path / "folder") == ["old"]
        assert not (tmp_path / "values").exists()
    assert names(tmp_path) == ["folder", "values"]
    assert (tmp_path / "values").read_bytes() == b"head\0\0\0\0"
    assert names(tmp_path / "folder") == ["new"]


def test_nothing_is_left_of_a_block_that_fails(tmp_path):
    def interrupted():
        with Parts() as parts:
            parts.create(NewFile(tmp_path / "values"))
            parts.create(NewFile(tmp_path / "folder", folder=MARK))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert names(tmp_path) == []


def test_a_folder_without_the_mark_is_not_replaced(tmp_path):
    parts = Parts()
    parts.create(NewFile(tmp_path / "values"))
    folder = parts.create(NewFile(tmp_path / "folder", folder=MARK))
    (folder / "old").write_text("old")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis").touch()
    with pytest.raises(OSError, match=r"found a folder with other files, .*which is not replaced; allowed:"):
        parts.place()
    parts.discard()
    assert names(tmp_path) == ["folder"]
    assert names(tmp_path / "folder") == ["thesis"]
    with pytest.raises(OSError, match=r"which is not replaced"):
        Parts().create(NewFile(tmp_path / "folder", folder=MARK))


def test_what_was_placed_goes_where_the_next_cannot_be(tmp_path):
    (tmp_path / "header").mkdir()
    (tmp_path / "header" / "kept").touch()
    parts = Parts()
    parts.create(NewFile(tmp_path / "values"))
    parts.create(NewFile(tmp_path / "header"))
    with pytest.raises(IsADirectoryError):
        parts.place()
    parts.discard()
    assert names(tmp_path) == ["header"]
    assert names(tmp_path / "header") == ["kept"]


def test_a_small_file_replaces_the_old_one(tmp_path):
    (tmp_path / "record.json").write_text("old")
    atomic.write(tmp_path / "record.json", b"new")
    assert (tmp_path / "record.json").read_bytes() == b"new"
    with pytest.raises(FathometerError, match=r"none/record.json: cannot be written: No such file or directory"):
        atomic.write(tmp_path / "none" / "record.json", b"new")
    assert names(tmp_path) == ["record.json"]
