"""Arrays that tasks keep in the journal until all tasks are done."""

from types import SimpleNamespace

import numpy as np
import pytest
from mpi4py import MPI

from fathometer.base.errors import FathometerError, InputError, NotFiniteError
from fathometer.base.progress import Progress
from fathometer.parallel.groups import Group
from fathometer.runs import task_loop
from fathometer.runs.contributions import Kept, contribute, flush, kept_array
from fathometer.runs.journal import FOLDER, read_journal
from fathometer.runs.journal_folder import check_options, conclude, earlier_files, open_journal, run_of
from fathometer.runs.options import RunKind, RunOptions
from fathometer.runs.run_input import RunInput

COMM, RESUME = MPI.COMM_SELF, RunOptions(resume=True)
KIND = RunKind("modelling", "shot", contribution="finished shot", partial=False, lasting=False)
ARRAYS = {"traces": np.arange(6.0).reshape(2, 3), "peaks": np.ones((2, 2, 1), np.float32)}


def opened(output, options=RESUME, fingerprint=None):
    return open_journal(output, RunInput(fingerprint or {"a": 1}), "run", options, KIND)


@pytest.fixture
def journal(tmp_path):
    """Of a run that has ended after the tasks 3 and 5."""
    (tmp_path / FOLDER).mkdir()
    journal = opened(tmp_path, RunOptions())
    for task in (3, 5):
        contribute(journal, 0, task, Kept(ARRAYS), 1.0, COMM)
    flush(journal, 0, list(journal.done.values()), COMM)
    return journal


def test_what_is_kept_is_read_again_and_goes_at_the_end(tmp_path, journal):
    again = opened(tmp_path)
    assert sorted(again.done) == [3, 5]
    assert not again.lost
    for name, values in ARRAYS.items():
        found = kept_array(again, 5, name)
        assert (found.dtype, found.shape) == (values.dtype, values.shape)
        assert (found == values).all()
    conclude(again)
    assert not list((tmp_path / FOLDER).iterdir())


def test_any_bit_that_changes_is_found(tmp_path, journal):
    path, chance = journal.contribution(3, "traces"), np.random.default_rng(5)
    whole = path.read_bytes()
    for place in chance.choice(8 * len(whole), 400, replace=False):
        changed = bytearray(whole)
        changed[place // 8] ^= 1 << place % 8
        path.write_bytes(changed)
        with pytest.raises(FathometerError, match=r"000003-traces\.npy: its values have changed"):
            kept_array(journal, 3, "traces")
    again = opened(tmp_path)
    assert (sorted(again.done), again.lost) == ([5], [3])
    assert not path.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda journal: journal.contribution(3, "peaks").unlink(),
        lambda journal: journal.contribution(3, "peaks").write_bytes(b""),
        lambda journal: np.save(journal.contribution(3, "peaks"), np.zeros((2, 2, 1), np.float32)),
        lambda journal: journal.contribution(3, "traces").replace(journal.contribution(3, "peaks")),
    ],
    ids=["gone", "empty", "another array", "that of another name"],
)
def test_a_task_of_which_something_is_missing_is_not_done(tmp_path, journal, damage):
    damage(journal)
    again = opened(tmp_path)
    assert (sorted(again.done), again.lost) == ([5], [3])
    contribute(again, 0, 3, Kept(ARRAYS), 1.0, COMM)
    assert sorted(opened(tmp_path).done) == [3, 5]


def test_values_that_are_not_finite_are_not_kept(tmp_path, journal):
    with pytest.raises(NotFiniteError, match="shot 8: the traces is not finite"):
        contribute(journal, 0, 7, Kept({"traces": np.array([1.0, np.nan])}), 1.0, COMM)
    assert sorted(read_journal(journal.folder).done) == [3, 5]


def test_a_run_of_another_kind_does_not_go_on_with_it(tmp_path, journal):
    assert run_of(tmp_path) == "modelling"
    other = RunKind("migration")
    for options in (RunOptions(), RESUME):
        with pytest.raises(InputError, match=r"holds an unfinished modelling; allowed: another \[output\] directory"):
            check_options(tmp_path, options, other)
    (tmp_path / FOLDER / "finished").touch()
    with pytest.raises(InputError, match=r"holds a finished modelling; allowed"):
        check_options(tmp_path, RESUME, other)
    (tmp_path / FOLDER / "finished").unlink()
    check_options(tmp_path, RunOptions(overwrite=True), other)
    check_options(tmp_path, RESUME, KIND)
    with pytest.raises(InputError, match=r"holds an unfinished modelling \(2 shots done\); --resume goes on with it"):
        check_options(tmp_path, RunOptions(), KIND)


def test_a_changed_input_is_named(tmp_path, journal):
    with pytest.raises(InputError, match="holds the journal of another modelling: a: 1 then, 2 now"):
        opened(tmp_path, fingerprint={"a": 2})


def test_a_run_of_another_kind_that_has_done_nothing_is_in_nobodys_way(tmp_path):
    (tmp_path / FOLDER).mkdir()
    opened(tmp_path, RunOptions())
    other = RunKind("migration")
    check_options(tmp_path, RESUME, other)
    assert not open_journal(tmp_path, RunInput({"b": 2}), "run", RESUME, other).done
    assert run_of(tmp_path) == "migration"


def test_files_of_an_earlier_run_are_known_where_it_is_gone_on_with(tmp_path):
    assert earlier_files(tmp_path, RESUME) == {}
    (tmp_path / FOLDER).mkdir()
    open_journal(tmp_path, RunInput({"a": 1}, {"model": [1, 2]}), "run", RunOptions(), KIND)
    assert earlier_files(tmp_path, RESUME) == {"model": [1, 2]}
    assert earlier_files(tmp_path, RunOptions()) == {}


def test_what_tasks_have_left_is_flushed_with_those_that_were_not(tmp_path, journal, monkeypatch):
    """A line that says so of more than was flushed would be believed after a crash of the host."""
    flushed, due = [], iter([True, False, False, True])

    def flush_some(journal, group, contributions, comm):
        flushed.append([contribution.task for contribution in contributions])

    monkeypatch.setattr(task_loop, "flush", flush_some)
    monkeypatch.setattr(task_loop, "FLUSH_PAUSE", 0.0)
    monkeypatch.setattr(task_loop, "now", lambda: 0.0 if next(due, True) else -1.0)
    worker = SimpleNamespace(
        prepare=lambda task, most: None,
        beside=None,
        work=lambda task, progress, written: Kept(ARRAYS),
        close=lambda: None,
        abandon=lambda: None,
        figures=lambda: None,
    )
    tasks = SimpleNamespace(numbers=range(6), steps=1, comm=COMM, volumes=None, held=None)
    progress, begun = Progress(6, now=lambda: 0.0, quiet=True), []
    monkeypatch.setattr(progress, "start_task", lambda before, steps: begun.append(before))
    with progress:
        done = task_loop.run_tasks(tasks, worker, journal, Group.of(0, 1, 1), COMM, progress)
    assert done.done == [0, 1, 2, 4]
    assert begun == [0, 1, 2, 3]
    assert [task for some in flushed for task in some] == [0, 1, 2, 4]
