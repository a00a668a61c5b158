"""Results of tasks that are kept until all are done."""

from contextlib import suppress

import numpy as np
import pytest
from mpi4py import MPI

from fathometer.base.errors import FathometerError, InputError
from fathometer.runs.finished_tasks import FOLDER, MARK, finished_tasks
from fathometer.runs.options import RunOptions

COMM, RESUME = MPI.COMM_WORLD, RunOptions(resume=True)
ARRAYS = {"traces": np.arange(6.0).reshape(2, 3), "peak": np.ones(2, np.float32)}


class Stop(Exception):
    pass


def interrupted(output, tasks=(3,), input=None):
    """A run that ends after so many tasks."""
    with suppress(Stop), finished_tasks(output, input or {"a": 1}, "shot", RunOptions(), COMM) as finished:
        for task in tasks:
            finished.keep(task, ARRAYS)
        raise Stop


def refused(output, message, options=RESUME, input=None, error=InputError):
    """The next run ends with this message before it begins."""
    run = finished_tasks(output, input or {"a": 1}, "shot", options, COMM)
    with pytest.raises(error, match=message):
        run.__enter__()


def test_what_is_kept_is_read_again_and_goes_at_the_end(tmp_path):
    interrupted(tmp_path, (3, 5))
    with finished_tasks(tmp_path, {"a": 1}, "shot", RESUME, COMM) as finished:
        assert finished.done == {3, 5}
        loaded = finished.load(3)
        finished.keep(4, ARRAYS)
        assert finished.done == {3, 4, 5}
    assert {name: value.tolist() for name, value in loaded.items()} == {n: v.tolist() for n, v in ARRAYS.items()}
    assert not list(tmp_path.iterdir())


def test_a_run_without_a_finished_task_leaves_nothing(tmp_path):
    interrupted(tmp_path, ())
    assert not list(tmp_path.iterdir())


class Interrupted(set):
    """A signal comes before a task is noted."""

    def add(self, task):
        raise Stop


def test_a_signal_right_after_a_file_is_complete_loses_nothing(tmp_path):
    with suppress(Stop), finished_tasks(tmp_path, {"a": 1}, "shot", RunOptions(), COMM) as finished:
        finished.done = Interrupted()
        finished.keep(3, ARRAYS)
    with finished_tasks(tmp_path, {"a": 1}, "shot", RESUME, COMM) as finished:
        assert finished.done == {3}


def test_an_unfinished_run_is_not_begun_anew_without_a_word(tmp_path):
    interrupted(tmp_path)
    refused(tmp_path, r"unfinished run; --resume goes on after its last shot, --overwrite", RunOptions())
    with finished_tasks(tmp_path, {"a": 1}, "shot", RESUME, COMM) as finished:  # it is still there
        assert finished.done == {3}


def test_overwrite_begins_anew_and_resume_without_a_run_begins(tmp_path):
    interrupted(tmp_path)
    with finished_tasks(tmp_path, {"a": 2}, "shot", RunOptions(overwrite=True), COMM) as finished:
        assert not finished.done
    with finished_tasks(tmp_path, {"a": 2}, "shot", RESUME, COMM) as finished:
        assert not finished.done


def test_a_changed_input_is_named(tmp_path):
    interrupted(tmp_path, input={"model": {"vp": "12 bytes"}})
    refused(
        tmp_path,
        r"another input: model\.vp: 12 bytes then, 13 bytes now; --overwrite",
        input={"model": {"vp": "13 bytes"}},
    )


def test_one_run_at_a_time(tmp_path):
    with finished_tasks(tmp_path, {}, "shot", RunOptions(), COMM):
        refused(tmp_path, "is in use by process")
        assert (tmp_path / FOLDER).is_dir()


def test_what_was_kept_of_another_task_or_run_is_not_taken_for_this_one(tmp_path):
    interrupted(tmp_path, (3, 5, 7))
    (tmp_path / "other").mkdir()
    interrupted(tmp_path / "other", (3,), {"a": 2})
    folder, shapes = tmp_path / FOLDER, {name: array.shape for name, array in ARRAYS.items()}
    (folder / "00000003.npz").write_bytes((tmp_path / "other" / FOLDER / "00000003.npz").read_bytes())
    (folder / "00000005.npz").write_bytes((folder / "00000007.npz").read_bytes())
    np.savez(folder / "00000006.npz", **ARRAYS)  # without a hash
    with finished_tasks(tmp_path, {"a": 1}, "shot", RESUME, COMM) as finished:
        with pytest.raises(FathometerError, match=r"00000003\.npz: is damaged: its checksum is wrong"):
            finished.load(3)
        assert finished.drop_damaged(lambda task: shapes) == [3, 5, 6]
        assert finished.done == {7}
        assert finished.drop_damaged(lambda task: shapes | {"peak": (3,)}) == [7]


def test_any_bit_that_changes_is_found(tmp_path):
    interrupted(tmp_path)
    folder = tmp_path / FOLDER
    [path] = folder.glob("*.npz")
    whole, chance = path.read_bytes(), np.random.default_rng(5)
    with finished_tasks(tmp_path, {"a": 1}, "shot", RESUME, COMM) as finished:
        finished.load(3)
        for place in chance.choice(8 * len(whole), 400, replace=False):
            changed = bytearray(whole)
            changed[place // 8] ^= 1 << place % 8
            path.write_bytes(changed)
            with pytest.raises(FathometerError, match="is damaged: its checksum is wrong"):
                finished.load(3)
    interrupted(tmp_path)
    path, whole = folder / "input.json", (folder / "input.json").read_bytes()
    for place in range(8 * len(MARK.begins), 8 * len(whole)):
        changed = bytearray(whole)
        changed[place // 8] ^= 1 << place % 8
        path.write_bytes(changed)
        refused(tmp_path, r"input\.json: .*; --overwrite begins anew", error=FathometerError)
    path.write_bytes(b"[" + whole[1:])
    refused(tmp_path, r"input\.json: is none of the finished tasks of this program")


def test_unfinished_files_of_runs_that_were_killed_go(tmp_path):
    interrupted(tmp_path)
    folder = tmp_path / FOLDER
    ours = [folder / f".{name}.abc_1234.part" for name in ("00000003.npz", "00000012.npz", "input.json")]
    others = [folder / name for name in (".mine.npz.abc_1234.part", ".00000003.npz.part", "00000004.npz.part")]
    for path in (*ours, *others):
        path.write_bytes(b"half")
    with suppress(Stop), finished_tasks(tmp_path, {"a": 1}, "shot", RESUME, COMM):
        assert not any(path.exists() for path in ours)
        raise Stop
    with finished_tasks(tmp_path, {"a": 1}, "shot", RunOptions(overwrite=True), COMM):
        pass
    assert sorted(folder.iterdir()) == sorted(others)


def test_damage_is_an_error(tmp_path):
    interrupted(tmp_path)
    [path] = (tmp_path / FOLDER).glob("*.npz")
    path.write_bytes(path.read_bytes()[:-200])
    with (
        finished_tasks(tmp_path, {"a": 1}, "shot", RESUME, COMM) as finished,
        pytest.raises(FathometerError, match="dam"),
    ):
        finished.load(3)
    interrupted(tmp_path)
    (tmp_path / FOLDER / "input.json").write_bytes(MARK.begins)
    refused(tmp_path, r"input\.json: is damaged: it has no checksum; --overwrite begins anew", error=FathometerError)


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"input.json": '{"mine": 1}'}, "input.json"),
        ({"input.json": '{"mine": 1}', "00000003.npz": "mine"}, "input.json"),
        ({"12345678.npz": "mine"}, "12345678.npz"),
        ({"thesis.tex": "mine"}, "thesis.tex"),
        ({"lock": "the key is under the mat\n"}, "lock"),
    ],
)
def test_files_of_somebody_else_stay(tmp_path, files, named):
    (tmp_path / FOLDER).mkdir()
    for name, text in files.items():
        (tmp_path / FOLDER / name).write_text(text)
    for options in (RunOptions(), RESUME, RunOptions(overwrite=True)):
        with pytest.raises(InputError) as told:
            finished_tasks(tmp_path, {"a": 1}, "shot", options, COMM).__enter__()
        assert str(told.value).startswith(f"{tmp_path / FOLDER / named}: is no")
        assert "--overwrite" not in str(told.value)
        assert {path.name: path.read_text() for path in (tmp_path / FOLDER).iterdir()} == files
