"""File locks: exclusive and shared, between processes, and where the locked file is removed or cannot be locked."""

import errno
import fcntl
import json
import os
import subprocess
import sys
from contextlib import suppress

import pytest
from disk_support import small_disk

from fathometer.base.errors import FathometerError
from fathometer.runs.folder_lock import FolderLock, SharedFolderLock
from fathometer.runs.seal import with_seal
from fathometer.storage.lock import FileLock, this_process

HOLDER = """\
import sys
from pathlib import Path
from fathometer.runs.folder_lock import FolderLock, SharedFolderLock
from fathometer.storage.lock import FileLock, this_process

lock = FileLock(Path(sys.argv[1]))
assert lock.acquire(shared=sys.argv[2] == "shared")
if lock.held == "exclusive":
    lock.write(this_process())
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def holder():
    """Starts processes that hold a lock until a line is written to them, or they are killed."""
    processes = []

    def start(path, kind):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(path), kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        processes.append(process)
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("theirs", "ours", "taken"),
    [
        ("exclusive", "exclusive", False),
        ("exclusive", "shared", False),
        ("shared", "exclusive", False),
        ("shared", "shared", True),
    ],
)
def test_two_processes(tmp_path, holder, theirs, ours, taken):
    path = tmp_path / "lock"
    process = holder(path, theirs)
    with FileLock(path) as lock:
        assert lock.acquire(shared=ours == "shared") == taken
        assert lock.held == (ours if taken else None)
        named = f"process {process.pid} on "
        assert lock.read().startswith(named) == (theirs == "exclusive")


def test_a_killed_process_lets_go(tmp_path, holder):
    process = holder(tmp_path / "lock", "exclusive")
    with FileLock(tmp_path / "lock") as lock:
        assert not lock.acquire()
        process.kill()
        assert lock.acquire(wait=True)
        assert lock.held == "exclusive"


def test_waiting_for_the_holder_to_end(tmp_path, holder):
    process = holder(tmp_path / "lock", "exclusive")
    with FileLock(tmp_path / "lock") as lock:
        process.stdin.write("\n")
        process.stdin.flush()
        assert lock.acquire(wait=True)
        assert process.wait() == 0


def test_two_locks_of_one_process(tmp_path):
    with FileLock(tmp_path / "lock") as first, FileLock(tmp_path / "lock") as second:
        assert first.acquire()
        assert not second.acquire(shared=True)
        assert first.acquire(shared=True)
        assert second.acquire(shared=True)
        assert not first.acquire()
        assert first.held is None
        assert second.acquire(), "the first one let go"


def test_release_keeps_the_text(tmp_path):
    with FileLock(tmp_path / "lock") as lock, FileLock(tmp_path / "lock") as other:
        assert lock.acquire()
        lock.write("a long line of text")
        lock.write(this_process(), sync=True)
        lock.release()
        assert other.acquire()
        assert lock.read() == other.read() == this_process()
    assert (tmp_path / "lock").read_text() == f"{this_process()}\n"


@pytest.mark.parametrize("replaced", [False, True])
def test_a_removed_file_is_not_locked(tmp_path, replaced):
    """The holder removes its file at the end: who waited for it must not lock what nobody finds any more."""
    path = tmp_path / "journal" / "lock"
    with FileLock(path) as waiting:
        assert waiting.acquire()
        waiting.release()
        path.unlink()
        if replaced:
            path.write_text("another file\n")
        else:
            path.parent.rmdir()
        assert waiting.acquire()
        with FileLock(path) as other:
            assert not other.acquire()
        assert waiting.read() == ("another file" if replaced else "")


def test_a_folder_is_locked(tmp_path):
    with FileLock(tmp_path, create=False) as lock, FileLock(tmp_path, create=False) as other:
        assert lock.acquire(wait=True)
        assert not other.acquire()
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_lock(tmp_path):
    with (
        FileLock(tmp_path / "none", create=False) as lock,
        pytest.raises(FathometerError, match="none: cannot be locke"),
    ):
        lock.acquire()
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def refuse(file, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    lock = FileLock(tmp_path / "lock")
    with pytest.raises(FathometerError, match="lock: cannot be locked: No locks available"):
        lock.acquire()
    assert lock.held is None


@pytest.fixture
def full_disk(tmp_path):
    """A file system without a free byte, but room for names of files."""
    folder = tmp_path / "full"
    folder.mkdir()
    small_disk(folder)
    try:
        with suppress(OSError), (folder / "fill").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk(full_disk):
    """One line for the run that cannot write its name; nothing is left of it, and the folder is free again."""
    for lock_of in (FolderLock, lambda folder: SharedFolderLock(folder, "x")):
        with pytest.raises(FathometerError, match=r"journal/lock: cannot be written: No space left on device$"):
            lock_of(full_disk / "journal")
        assert [path.name for path in full_disk.iterdir()] == ["fill"]


def test_a_full_disk_keeps_what_an_earlier_run_left(full_disk):
    (full_disk / "fill").unlink()
    journal = full_disk / "journal"
    journal.mkdir()
    (journal / "survey.json").write_text(json.dumps(with_seal({"repaired": []}), indent=2))
    (journal / "1-0000.jsonl").write_text('{"shot": 3, "failed": "x"}\n')
    with FileLock(journal / "lock") as lock:
        assert lock.acquire()
        lock.write("process 1 on a host with a very long name")
    with suppress(OSError), (full_disk / "fill").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    before = {path: path.read_bytes() for path in journal.iterdir() if path.name != "lock"}
    lock = FolderLock(journal)  # its block is there
    assert (journal / "lock").read_text() == f"{this_process()}\n"
    lock.close()
    assert {path: path.read_bytes() for path in journal.iterdir() if path.name != "lock"} == before


@pytest.mark.parametrize("call", ["open", "pwrite", "ftruncate", "fsync", "close"])
@pytest.mark.parametrize("shared", [False, True])
def test_a_call_that_fails_for_want_of_space(tmp_path, monkeypatch, call, shared):
    journal = tmp_path / "journal"
    real = getattr(os, call)

    def refuse(*arguments):
        if call == "close":
            real(*arguments)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as failing:
        failing.setattr(os, call, refuse)
        refused = None
        try:
            lock = SharedFolderLock(journal, "x") if shared else FolderLock(journal)
            lock.close()
        except FathometerError as error:
            refused = str(error)
    # An exclusive lock is not flushed; what a close loses, nobody needs.
    taken = call == "close" or (call == "fsync" and not shared)
    assert refused == (None if taken else f"{journal}/lock: cannot be written: No space left on device")
    assert call in ("open", "close") or not journal.exists()
    FolderLock(journal).close()
    assert not journal.exists()
