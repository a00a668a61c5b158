"""Two states of a run: which one --resume goes on from, and what of them is refused."""

from __future__ import annotations

import errno
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

from fathometer.base.errors import FathometerError, InputError
from fathometer.runs import restart_folder
from fathometer.runs.checksum import checksum
from fathometer.runs.restart_folder import LINES, MARK, RestartFolder, require_own_states
from fathometer.runs.restart_hint import BEFORE, FILE, FOLDER, has_state
from fathometer.storage import atomic

KEYS = ("steps", "time", "done")


class Run:
    """A run whose state is an array of three numbers, each its number of steps."""

    def __init__(self, output, input=None):
        self.folder = output / FOLDER
        self._states = RestartFolder(output, input or {"a": 1.5}, KEYS, MPI.COMM_SELF)

    def write(self, steps):
        def save(folder):
            np.save(folder / "x.npy", np.full(3, float(steps)))
            return {"x.npy": checksum(np.full(3, float(steps)), (3,), (0,))}

        self._states.write({"steps": steps, "time": steps / 3, "done": [steps]}, save)

    def read(self, steps=None, missing=()):
        """The steps of the state that is read, and of its array."""

        def load(folder):
            found = np.load(folder / "x.npy")
            self.loaded = int(found[0])
            return {"x.npy": checksum(found, (3,), (0,))}

        def results(values):
            if values["steps"] in missing:
                raise FathometerError(f"out/fields-{values['steps']} is missing")

        values = self._states.read(load, results, steps)
        assert values is None or values == {"steps": self.loaded, "time": self.loaded / 3, "done": [self.loaded]}
        return None if values is None else self.loaded

    def remove(self):
        self._states.remove()

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture
def run(tmp_path):
    """After 10, 20 and 30 steps a state was written."""
    made = Run(tmp_path)
    for steps in (10, 20, 30):
        made.write(steps)
    return made


def test_two_states_are_kept(run, tmp_path):
    assert run.names() == ["00000020", "00000030", BEFORE, FILE, LINES]
    assert [json.loads(line)["steps"] for line in (run.folder / LINES).read_text().splitlines()] == [10, 20, 30]
    assert Run(tmp_path).read() == 30
    assert Run(tmp_path).read(20) == 20
    with pytest.raises(InputError, match=r"--resume-from 10: found no such state in .*restart; allowed: 20 or 30$"):
        Run(tmp_path).read(10)


def test_states_without_marks_are_known_by_the_list(run, tmp_path):
    """As runs have left them that wrote no marks."""
    for steps in (20, 30):
        (run.folder / f"{steps:08d}" / MARK.name).unlink()
    (run.folder / "12345678").mkdir()
    (run.folder / "12345678" / "mine").touch()
    again = Run(tmp_path)
    assert again.read() == 30
    for steps in (40, 50):
        again.write(steps)
    assert again.names() == ["00000040", "00000050", "12345678", BEFORE, FILE, LINES]
    again.remove()
    assert again.names() == ["12345678"]


def test_what_is_gone_on_from_is_the_one_before_the_next(run, tmp_path):
    for begin in (30, 20):
        again = Run(tmp_path)
        assert again.read(begin) == begin
        again.write(40)
        assert (Run(tmp_path).read(begin), Run(tmp_path).read()) == (begin, 40)
        run.remove()
        for steps in (10, 20, 30):
            run.write(steps)


def test_the_same_state_once_more(run, tmp_path, monkeypatch):
    """As at the end of a run that had no step to take: its arrays are not touched."""
    before = (run.folder / "00000030" / "x.npy").stat().st_mtime_ns
    again = Run(tmp_path)
    assert again.read() == 30
    again.write(30)
    assert (run.folder / "00000030" / "x.npy").stat().st_mtime_ns == before
    assert (Run(tmp_path).read(20), Run(tmp_path).read()) == (20, 30)


def test_nothing_to_go_on_from(tmp_path):
    assert Run(tmp_path).read() is None
    assert not has_state(tmp_path)
    with pytest.raises(InputError, match=r"--resume-from 3: found no such state in .*; allowed: none: there is no "):
        Run(tmp_path).read(3)


def other_state(folder):
    shutil.copy(folder / "00000020" / "x.npy", folder / "00000030" / "x.npy")


def flipped(path, bit):
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


DAMAGE = {
    "a bit of an array": (lambda folder: flipped(folder / "00000030" / "x.npy", 8 * 150), "x.npy"),
    "an array of another state": (other_state, "x.npy"),
    "no array": (lambda folder: (folder / "00000030" / "x.npy").unlink(), "x.npy"),
    "no folder": (lambda folder: shutil.rmtree(folder / "00000030"), "x.npy"),
    "a bit of the description": (lambda folder: flipped(folder / FILE, 300), FILE),
    "half a description": (lambda folder: (folder / FILE).write_bytes((folder / FILE).read_bytes()[:99]), FILE),
    "no description": (lambda folder: (folder / FILE).unlink(), FILE),
    "of an earlier version": (lambda folder: (folder / FILE).write_text('{"version": 1}'), FILE),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_named_and_the_state_before_offered(run, tmp_path, damage):
    make, name = DAMAGE[damage]
    make(run.folder)
    words = f"{re.escape(name)}.*; the state of step 20 before it is whole: --resume-from 20 goes on from there$"
    for _ in range(2):
        with pytest.raises(FathometerError, match=words) as error:
            Run(tmp_path).read()
        assert error.value.exit_code == 1
    again = Run(tmp_path)
    assert again.read(20) == 20
    again.write(30)
    assert Run(tmp_path).read() == 30
    assert again.names() == ["00000020", "00000030", BEFORE, FILE, LINES]


def test_every_bit_of_a_description_counts(run, tmp_path):
    whole = (run.folder / FILE).read_bytes()
    for bit in np.random.default_rng(1).choice(8 * len(whole), 200, replace=False):
        flipped(run.folder / FILE, bit)
        with pytest.raises(FathometerError, match=FILE):
            Run(tmp_path).read()
        (run.folder / FILE).write_bytes(whole)
    assert Run(tmp_path).read() == 30


def test_two_damaged_states(run, tmp_path):
    for steps in (20, 30):
        flipped(run.folder / f"{steps:08d}" / "x.npy", 8 * 140)
    words = (
        r"x\.npy: is damaged: its checksum is wrong; there is no other state that is whole; --overwrite begins anew$"
    )
    with pytest.raises(FathometerError, match=words):
        Run(tmp_path).read()
    assert run.names() == ["00000020", "00000030", BEFORE, FILE, LINES]


def test_a_state_whose_results_are_missing(run, tmp_path):
    words = r"fields-30 is missing; the state of step 20 before it is whole: --resume-from 20 goes on from there$"
    with pytest.raises(FathometerError, match=words):
        Run(tmp_path).read(missing=(30,))
    with pytest.raises(FathometerError, match=r"fields-30 is missing; there is no other state that is whole"):
        Run(tmp_path).read(missing=(20, 30))


def test_another_input(run, tmp_path):
    with pytest.raises(InputError, match=r"restart\.json: is of another input: a: 1\.5 then, 2 now; --overwrite"):
        Run(tmp_path, {"a": 2}).read()


class Killed(BaseException):
    """The process."""


def test_a_run_may_be_killed_at_any_call_that_changes_its_files(tmp_path, monkeypatch):
    """One of the states that were there, or the new one, is whole; what was begun goes with the next."""
    for at in range(1, 30):
        shutil.rmtree(tmp_path / FOLDER, ignore_errors=True)
        run, calls = Run(tmp_path), iter(range(at - 1, -1, -1))
        for steps in (10, 20):
            run.write(steps)

        def counted(call, left=calls):
            def count(*words, **options):
                if next(left, None) == 0:
                    raise Killed
                return call(*words, **options)

            return count

        with monkeypatch.context() as killing:
            removals = ((restart_folder, name) for name in ("remove_file", "remove_tree"))
            for module, name in ((atomic, "create_part"), (atomic, "place"), *removals):
                killing.setattr(module, name, counted(getattr(module, name)))
            killing.setattr(np, "save", counted(np.save))
            try:
                run.write(30)
            except Killed:
                pass
            else:
                assert at > 5
                break
        again = Run(tmp_path)
        newest = again.read()
        assert newest in (20, 30)
        before = json.loads((run.folder / BEFORE).read_text())["steps"]
        assert again.read(before) == before < newest
        again.write(40)
        assert again.names() == [f"{before:08d}", "00000040", BEFORE, FILE, LINES]
        assert [path.name for path in run.folder.glob(".*")] == []
    else:
        pytest.fail("calls without end")


def test_removing_states_leaves_what_is_not_one(run):
    mine = [run.folder / "mine.toml", run.folder / ".restart.toml.abcdefgh.part"]
    for path in mine:
        path.write_text("mine")
    (run.folder / f".{FILE}.abcd_123.part").write_text("half")
    run.remove()
    assert run.read() is None
    assert sorted(run.folder.iterdir()) == sorted(mine)


def test_what_a_killed_run_has_left_goes_when_its_state_is_read(run, tmp_path):
    (run.folder / f".{FILE}.abcd_123.part").write_text("half")
    assert Run(tmp_path).read() == 30
    assert [path.name for path in run.folder.glob(".*")] == []


def test_a_list_of_states_that_is_no_file_is_not_ours(tmp_path, monkeypatch):
    lines = tmp_path / FOLDER / LINES
    lines.parent.mkdir()
    require_own_states(tmp_path)
    lines.mkdir()
    with pytest.raises(InputError, match=r"steps\.jsonl: is none of the restart files of this program"):
        require_own_states(tmp_path)
    lines.rmdir()
    (tmp_path / "mine").write_bytes(b"")
    lines.symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match=r"steps\.jsonl: is none of the restart files of this program"):
        require_own_states(tmp_path)
    lines.unlink()
    lines.write_bytes(b"")
    require_own_states(tmp_path)

    def refuse(path, mode):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"steps\.jsonl: is none of the restart files of this program"):
        require_own_states(tmp_path)
