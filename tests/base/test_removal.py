"""What is removed is this program's: its mark, its place, its owner, and nothing that is mounted or linked there."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from fathometer.base import removal
from fathometer.base.errors import FathometerError
from fathometer.base.removal import Mark, remove_empty, remove_file, remove_tree

MARK = Mark("made.json", b'{"made": ')


def made(folder):
    """A folder of this program with something in it."""
    (folder / "deep" / "deeper").mkdir(parents=True)
    (folder / "deep" / "file").write_text("data")
    (folder / MARK.name).write_bytes(MARK.begins + b"1}")
    return folder


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def refused(reason, *given):
    before = everything(given[1])
    with pytest.raises(FathometerError, match=rf"^\S+: is not removed: {reason}") as caught:
        remove_tree(*given)
    assert "\n" not in str(caught.value)
    assert everything(given[1]) == before


def test_a_folder_with_the_mark_goes(tmp_path):
    remove_tree(made(tmp_path / "own"), tmp_path, MARK)
    remove_tree(tmp_path / "own", tmp_path, MARK)
    assert everything(tmp_path) == []


def test_a_mark_of_a_folder_around_it_counts_up_to_the_root(tmp_path):
    root = made(tmp_path / "root")
    remove_tree(root / "deep", root, MARK)
    assert everything(root) == ["made.json"]
    (root / "inner" / "run").mkdir(parents=True)
    (root / "inner" / "run" / "file").touch()
    refused("it holds no made.json of this program", root / "inner" / "run", root / "inner", MARK)


@pytest.mark.parametrize("content", [None, b"", b'{"another": ', b"{"])
def test_a_folder_without_the_mark_stays(tmp_path, content):
    made(tmp_path / "foreign")
    remove_file(tmp_path / "foreign" / MARK.name)
    if content is not None:
        (tmp_path / "foreign" / MARK.name).write_bytes(content)
    refused("it holds no made.json of this program", tmp_path / "foreign", tmp_path, MARK)


def test_a_link_is_no_mark(tmp_path):
    own = made(tmp_path / "own")
    (own / MARK.name).rename(tmp_path / "elsewhere")
    (own / MARK.name).symlink_to(tmp_path / "elsewhere")
    refused("it holds no made.json of this program", own, tmp_path, MARK)


def test_an_empty_folder_needs_no_mark(tmp_path):
    (tmp_path / "begun").mkdir()
    remove_tree(tmp_path / "begun", tmp_path, MARK)
    assert everything(tmp_path) == []


def test_the_name_may_be_the_mark(tmp_path):
    made(tmp_path / ".image.zarr.abcdefgh.part")
    made(tmp_path / "image.zarr")
    names = re.compile(r"\.(.+)\.[a-z0-9_]{8}\.part")
    remove_tree(tmp_path / ".image.zarr.abcdefgh.part", tmp_path, names)
    refused("its name is none that this program gives", tmp_path / "image.zarr", tmp_path, names)


@pytest.mark.parametrize("way", [".", "inner/..", "../beside", "link/folder"])
def test_what_lies_elsewhere_stays(tmp_path, way):
    root = made(tmp_path / "root")
    (root / "inner").mkdir()
    made(tmp_path / "beside")
    made(tmp_path / "away" / "folder")
    (root / "link").symlink_to(tmp_path / "away")
    before = everything(tmp_path)
    with pytest.raises(FathometerError, match="is not removed: it does not lie in "):
        remove_tree(root / way, root, MARK)
    assert everything(tmp_path) == before


def test_links_go_and_not_what_they_lead_to(tmp_path):
    own, other = made(tmp_path / "own"), made(tmp_path / "other")
    (own / "folder").symlink_to(other)
    (own / "deep" / "file link").symlink_to(other / MARK.name)
    (own / "to nothing").symlink_to(tmp_path / "missing")
    remove_tree(own, tmp_path, MARK)
    (tmp_path / "link").symlink_to(other)
    remove_tree(tmp_path / "link", tmp_path, MARK)  # in place of the folder
    assert everything(tmp_path) == ["other", *(f"other/{name}" for name in everything(other))]
    assert len(everything(other)) == 4


def test_some_files_are_kept(tmp_path):
    root = made(tmp_path / "root")
    run = made(root / "run")
    (run / "deep" / "stdout").touch()
    (run / "stdout").touch()
    remove_tree(run, root, MARK, keep={"stdout"})
    assert [name for name in everything(run) if name != MARK.name] == ["deep", "deep/stdout", "stdout"]


def test_the_mark_goes_last(tmp_path, monkeypatch):
    """A removal that is broken off can be taken up again."""
    own = made(tmp_path / "own")
    unlink = os.unlink
    calls = []

    def broken_off(name, **given):
        calls.append(name)
        if len(calls) > 1:
            raise KeyboardInterrupt
        unlink(name, **given)

    for number in range(10):
        (own / f"z{number}").touch()
    monkeypatch.setattr(removal.os, "unlink", broken_off)
    with pytest.raises(KeyboardInterrupt):
        remove_tree(own, tmp_path, MARK)
    monkeypatch.undo()
    assert MARK.on(own)
    remove_tree(own, tmp_path, MARK)
    assert everything(tmp_path) == []


def test_another_users_folder_stays(tmp_path, monkeypatch):
    own = made(tmp_path / "own")
    monkeypatch.setattr(removal.os, "geteuid", lambda: own.stat().st_uid + 1)
    refused(r"it belongs to another user \(number \d+\)", own, tmp_path, MARK)


def test_a_place_of_a_mount_is_read_from_the_kernels_list(tmp_path, monkeypatch):
    """Also where the mounted folder is of the same device, as with mount --bind, and its name has a blank."""
    own = made(tmp_path / "own")
    listed = tmp_path / "mounts"
    point = str(own / "deep") + r"\040of\040mine"
    rest = "rw - ext4 /dev/sda rw\n"
    listed.write_text(f"22 1 8:1 /a /{tmp_path.name} {rest}23 1 8:1 /a {point} {rest}")
    monkeypatch.setattr(removal, "_MOUNTS", listed)
    refused(r".*own/deep of mine is mounted in it", own, tmp_path, MARK)
    listed.write_text(f"22 1 8:1 / {tmp_path} {rest}23 1 8:1 / {own}er {rest}")
    remove_tree(own, tmp_path, MARK)
    assert not own.exists()


MOUNTED = """
import sys
from pathlib import Path
from fathometer.base import removal
from fathometer.base.errors import FathometerError
own = Path(sys.argv[1])
if sys.argv[2] == "no list":
    removal._MOUNTS = Path("/nowhere")
try:
    removal.remove_tree(own, own.parent, removal.Mark("made.json", b"{"))
except FathometerError as error:
    print(error)
print(sorted(path.name for path in (own / "deep" / "deeper").iterdir()))
"""


@pytest.mark.parametrize("how", ["--bind", "tmpfs", "no list"])
def test_what_is_mounted_in_a_folder_stays(tmp_path, how):
    own = made(tmp_path / "own")
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "thesis").touch()
    place = own / "deep" / "deeper"
    if how == "--bind":
        mount = f"mount --bind {tmp_path / 'source'} {place}"
    else:
        mount = f"mount -t tmpfs tmpfs {place} && touch {place}/thesis"
    unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-r", "-m"]
    if shutil.which("unshare") is None or subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("this system allows no namespaces of mounts")
    script = f'{mount} && exec "$@"'
    words = ["sh", "-c", script, "sh", sys.executable, "-c", MOUNTED, own, how]
    done = subprocess.run([*unshare, *words], capture_output=True, text=True)
    assert "is not removed:" in done.stdout, done.stderr
    assert "mounted" in done.stdout
    assert done.stdout.splitlines()[-1] == "['thesis']"
    assert (own / "made.json").exists()


def test_single_files_and_empty_folders_go_and_nothing_else(tmp_path):
    full = made(tmp_path / "full")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(full)
    remove_file(tmp_path / "empty")
    remove_file(full)
    remove_empty(full)
    remove_file(tmp_path / "link")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "full"]
    remove_empty(tmp_path / "empty")
    remove_file(full / "made.json")
    remove_file(full / "missing")
    assert everything(tmp_path) == ["full", "full/deep", "full/deep/deeper", "full/deep/file"]
