"""How a run chooses its tiling: the survey's word, the cache, the search, the model of the caches."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from cli_support import clean_environment, mpirun
from hypothesis import given
from hypothesis import strategies as st
from paths import SUPPORT
from patience import PATIENCE
from support import Medium

from fathometer.base.errors import InputError
from fathometer.base.host import Caches, caches
from fathometer.config.sections import TuningTable
from fathometer.grid import tuning, tuning_cache
from fathometer.grid.tiling import DIAMONDS, PLAIN, Stepping, Tiling
from fathometer.grid.tuning_cache import SCHEMA, Kept, key_of, recall, remember

STEPPING = Stepping((320, 320, 320), 4, 2, 4, 5, 2, 1, 7)
HERE = Caches(1 << 20, 24 << 20, 2)
FOUND = tuning.Tuned(Tiling(2, 4, 6, 1), "search", 1.5)


def quiet(shape=(24, 20, 18)):
    return Medium(shape, 12.5, 2000.0, 0.2, 0.1, dtype=np.float32).propagator


def tune(wanted, folder, wavefield=None, steps=5, threads=2, said=None, total=100):
    wavefield = wavefield or quiet()
    said = [] if said is None else said
    tuned = tuning.tune(wavefield, wanted, steps, total, threads, said.append, folder)
    assert wavefield.tiling == tuned.tiling
    assert wavefield.step == 0
    assert not any(field.any() for field in wavefield.fields()[0])
    return tuned


def test_a_search_is_made_once_and_kept(tmp_path, monkeypatch):
    first = tune(TuningTable(search="always"), tmp_path)
    assert first.source == "search"
    assert first.gain > 0
    monkeypatch.setattr(tuning, "search", lambda *_: pytest.fail("searched again"))
    for again in (
        tune(TuningTable(), tmp_path),
        tune(TuningTable(search="never"), tmp_path),
        tuning.best_tiling(quiet(), TuningTable(), 5, 2, print, tmp_path),
    ):
        assert again == tuning.Tuned(first.tiling, "cache", first.gain)


def test_a_benchmark_searches_where_no_search_was_made(tmp_path, monkeypatch):
    monkeypatch.setattr(tuning, "search", lambda *_: FOUND)
    wavefield = quiet()
    stepping = tuning.stepping_of(wavefield, 5, 2)
    remember(stepping, Kept(Tiling(3, 4, 6, 1), 20, True, None, {"source": 1e8}), print, tmp_path)
    found = tuning.best_tiling(wavefield, TuningTable(), 5, 2, print, tmp_path)
    assert (found.source, found.tiling, wavefield.tiling) == ("search", Tiling(2, 4, 6, 1), Tiling(2, 4, 6, 1))


@pytest.mark.parametrize("change", ["cpu", "caches", "shape", "order", "physics", "threads", "steps"])
def test_what_was_found_elsewhere_is_not_used(change, tmp_path, monkeypatch):
    kept = Kept(Tiling(5, 4, 30, 1), 20, True, None, {"source": 1e8})
    remember(STEPPING, kept, print, tmp_path)
    assert recall(STEPPING, print, tmp_path) == kept
    other = STEPPING
    match change:
        case "cpu":
            monkeypatch.setattr(tuning_cache, "cpu_model", lambda: "another")
        case "caches":
            monkeypatch.setattr(tuning_cache, "caches", lambda: HERE)
        case "shape":
            other = replace(STEPPING, shape=(320, 320, 321))
        case "order":
            other = replace(STEPPING, radius=5)
        case "physics":
            other = replace(STEPPING, fields=1)
        case "threads":
            other = replace(STEPPING, threads=4)
        case "steps":
            other = replace(STEPPING, steps=6)
    assert recall(other, print, tmp_path) is None


def write_entry(path, changes):
    """A cache file with one choice."""
    entry = {"tiling": [5, 4, 30, 1], "trials": 20, "settled": True, "gain": None, "rates": {"source": 1e8}} | changes
    path.write_text(json.dumps({"schema_version": SCHEMA, "choices": {key_of(STEPPING): entry}}))


def test_a_kept_choice_that_does_not_fit_is_not_used(tmp_path):
    path = tmp_path / "tuning.json"
    for tiling in ([6, 4, 30, 1], [5, 0, 30, 1], [5, 4, 321, 1], [5, 4, 30, 3], [5, 4, 30], "x"):
        write_entry(path, {"tiling": tiling})
        assert recall(STEPPING, print, tmp_path) is None


@pytest.fixture
def seeded(monkeypatch):
    """There is something to try on a small grid too."""
    monkeypatch.setattr(tuning, "seeds", lambda *_: [Tiling(2, 4, 6, 1)])


@pytest.mark.parametrize("content", ["", "not json", "[1, 2]", '{"choices": 3}', '{"schema_version": 2, "choices": 3}'])
def test_a_corrupt_cache_is_ignored_with_one_warning_and_rewritten(content, tmp_path, seeded):
    path = tmp_path / "tuning.json"
    path.write_text(content)
    said = []
    wavefield = quiet()
    assert tune(TuningTable(), tmp_path, wavefield, said=said, total=10**9).source == "model"
    assert len(said) == 1
    assert str(path) in said[0]
    learn(wavefield, said, tmp_path)
    found = tune(TuningTable(), tmp_path, said=said)
    assert (found.source, found.tiling) == ("cache", wavefield.trials.tiling)
    assert len(said) == 1


def learn(wavefield, said, folder):
    """Some advances, which take the same time with all tilings."""
    wavefield.trials.expect(1000)
    for _ in range(60):
        wavefield.trials.tiling_for(5, "source")
        wavefield.trials.took(0.05)
    return tuning.learned(wavefield.trials, said.append, folder)


def test_a_cache_of_an_older_schema_is_replaced_in_silence(tmp_path, seeded):
    path, said = tmp_path / "tuning.json", []
    path.write_text('{"schema_version": 1, "choices": {"another": {"tiling": [2, 8, 8, 1], "gain": 1.2}}}')
    wavefield = quiet()
    assert tune(TuningTable(), tmp_path, wavefield, said=said, total=10**9).source == "model"
    learn(wavefield, said, tmp_path)
    assert not said
    content = json.loads(path.read_text())
    assert (content["schema_version"], len(content["choices"])) == (SCHEMA, 1)
    [entry] = content["choices"].values()
    assert set(entry) == {"tiling", "trials", "settled", "gain", "rates", "date"}


def test_what_comes_from_more_trials_stays(tmp_path):
    few, more = (Kept(Tiling(5, 4, tile, 1), trials, True, None, {}) for tile, trials in ((20, 10), (30, 20)))
    for kept in (few, more, few):
        remember(STEPPING, kept, print, tmp_path)
    assert recall(STEPPING, print, tmp_path) == more
    remember(STEPPING, few, print, tmp_path, always=True)  # a search that was asked for
    assert recall(STEPPING, print, tmp_path) == few


def test_two_writers_lose_nothing(tmp_path):
    def write(first):
        for x in range(first, first + 20):
            remember(replace(STEPPING, shape=(x, 50, 50)), Kept(PLAIN, x, True), print, tmp_path)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, (100, 200)))
    choices = json.loads((tmp_path / "tuning.json").read_text())["choices"]
    assert sorted(entry["trials"] for entry in choices.values()) == [*range(100, 120), *range(200, 220)]
    assert [path.name for path in tmp_path.iterdir()] == ["tuning.json"]


def test_a_cache_that_cannot_be_written_is_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr(tuning, "search", lambda *_: FOUND)
    (tmp_path / "file").write_text("")
    said = []
    assert tune(TuningTable(search="always"), tmp_path / "file" / "below", said=said).source == "search"
    assert len(said) == 1


def test_which_runs_have_trials(tmp_path, monkeypatch):
    monkeypatch.setattr(tuning, "search", lambda *_: FOUND)

    def trials(total=10**9, **wanted):
        wavefield = quiet()
        tune(TuningTable(**wanted), tmp_path, wavefield, total=total)
        return wavefield.trials is not None

    assert trials()
    assert trials(time_depth=3)
    assert not trials(total=100)
    assert not trials(search="never")
    assert not trials(time_depth=3, block=5, tile=7, team=2)
    assert not list(tmp_path.iterdir())
    assert not trials(search="always")


def test_another_wavefield_of_the_run_goes_on_with_its_trials(tmp_path):
    first, second, other = quiet(), quiet(), quiet((24, 20, 22))
    tune(TuningTable(), tmp_path, first, total=10**9)
    first.trials.tiling, first.trials.trials, first.trials.changes = Tiling(2, 4, 6, 1), 7, 1
    again = tuning.tune(second, TuningTable(), 5, 10**9, 2, print, tmp_path, first.trials)
    assert second.trials is first.trials
    assert (second.tiling, again.source, again.trials) == (Tiling(2, 4, 6, 1), "trials", 7)
    there = tuning.tune(other, TuningTable(), 5, 10**9, 2, print, tmp_path, first.trials)
    assert other.trials is not first.trials
    assert (other.tiling, there.source) == (Tiling(2, 4, 6, 1), "trials")
    assert (other.trials.outcome.trials, other.trials.outcome.changes) == (7, 1)  # of the run


def test_the_survey_has_the_last_word(tmp_path):
    whole = TuningTable(time_depth=3, block=5, tile=7, team=2)
    assert tune(whole, tmp_path).tiling == Tiling(3, 5, 7, 2)
    assert tune(TuningTable(time_depth=1), tmp_path).tiling.depth == 1
    searched = tune(TuningTable(time_depth=3, search="always"), tmp_path)
    assert searched.tiling.depth == 3
    assert not list(tmp_path.iterdir())  # a search under conditions is not kept


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"time_depth": 6}, "[tuning] time_depth: found 6; allowed: 1 to 5"),
        ({"block": 41}, "[tuning] block: found 41; allowed: 1 to 40"),
        ({"tile": 37}, "[tuning] tile: found 37; allowed: 1 to 36"),
        ({"team": 3}, "[tuning] team: found 3; allowed: 1 to 2"),
    ],
)
def test_a_choice_that_does_not_fit_is_an_error_with_the_range(wanted, words, tmp_path):
    with pytest.raises(InputError) as error:
        tune(TuningTable(**wanted), tmp_path)
    assert words in str(error.value)


def test_threads_make_whole_teams(tmp_path):
    with pytest.raises(InputError, match=r"team: found 2; allowed: 1, 3, since a rank has 3 threads"):
        tune(TuningTable(team=2), tmp_path, threads=3)


MANY = replace(STEPPING, steps=40)


def test_many_steps_at_a_time_are_taken_in_diamonds():
    """As high as fit a thread's share, where one rank has a grid of three dimensions."""
    tiling = MANY.expected(HERE)
    assert tiling.tile == DIAMONDS
    assert MANY.bytes_in_flight(tiling) <= HERE.of_thread(2)
    assert MANY.bytes_in_flight(replace(tiling, depth=tiling.depth + 1)) > HERE.of_thread(2)
    assert STEPPING.expected(HERE).tile != DIAMONDS
    for other in (
        replace(MANY, cut=(True, True, False), reach=4),
        replace(MANY, cut=(False, False, True), reach=4),
        replace(MANY, shape=(900, 1, 900)),
    ):
        assert other.expected(HERE).tile != DIAMONDS
        assert not other.fits(tiling)
        assert not any(t.tile == DIAMONDS for t in tuning.candidates(other, HERE))
    assert not MANY.fits(replace(tiling, team=2))
    near = tuning.around(MANY, tiling)
    assert {"higher", "lower", "wider blocks", "narrower blocks"} == set(near)
    assert all(t.tile == DIAMONDS and MANY.fits(t) for t in near.values())


def test_diamonds_across_cuts_have_room_between_two_of_them():
    cut = replace(MANY, cut=(False, True, False), reach=4)
    assert cut.expected(HERE) == MANY.expected(HERE)
    narrow = replace(cut, shape=(320, 45, 320))
    assert narrow.highest == 5
    assert narrow.fits(Tiling(5, 8, DIAMONDS, 1))
    assert not narrow.fits(Tiling(6, 8, DIAMONDS, 1))
    assert replace(narrow, stages=2).highest == 2
    assert all(t.depth <= 5 for t in tuning.candidates(narrow, HERE) if t.tile == DIAMONDS)
    none = replace(cut, shape=(320, 15, 320))
    assert none.expected(HERE).tile != DIAMONDS
    tuning.check_choices(narrow, {"tile": DIAMONDS, "depth": 5})
    with pytest.raises(
        InputError, match="time_depth: found 6 with diamonds; allowed: up to 5, where a rank has 45 rows"
    ):
        tuning.check_choices(narrow, {"tile": DIAMONDS, "depth": 6})
    with pytest.raises(InputError, match='found "diamonds"; allowed where a rank has 15 rows between others: "auto"'):
        tuning.check_choices(none, {"tile": DIAMONDS})


def test_diamonds_by_name(tmp_path):
    assert tune(TuningTable(tile="diamonds"), tmp_path).tiling.tile == DIAMONDS
    assert tune(TuningTable(tile="diamonds", time_depth=3, block=5, team=1), tmp_path).tiling == Tiling(3, 5, 0, 1)
    assert tune(TuningTable(tile=9), tmp_path, steps=40).tiling.tile == 9
    assert tune(TuningTable(time_depth=1), tmp_path, steps=40).tiling.depth == 1
    with pytest.raises(InputError, match=r"team: found 2; allowed with diamonds: 1"):
        tune(TuningTable(tile="diamonds", team=2), tmp_path)
    flat = Medium((24, 1, 18), 12.5, 2000.0, dtype=np.float32).propagator
    with pytest.raises(InputError, match=r'tile: found "diamonds"; allowed in two dimensions: "auto" or a width'):
        tune(TuningTable(tile="diamonds"), tmp_path, flat)


@given(
    st.tuples(*[st.integers(1, 700)] * 3),
    st.integers(1, 8),
    st.sampled_from([1, 2]),
    st.sampled_from([4, 8]),
    st.integers(1, 40),
    st.integers(1, 24),
    st.integers(1, 8),
    st.integers(1, 2),
)
def test_whatever_is_suggested_fits(shape, radius, fields, itemsize, steps, threads, ranks, stages):
    arrays = 2 * fields + (1 if fields == 1 else 3)
    stepping = Stepping(shape, radius, fields, itemsize, steps, threads, ranks, arrays, stages=stages)
    assert stepping.fits(stepping.expected(HERE))
    tried = tuning.candidates(stepping, HERE)
    assert PLAIN in tried
    assert all(stepping.fits(tiling) for tiling in tried)


def test_the_model_fills_the_cache_and_no_more():
    tiling = STEPPING.expected(HERE)
    assert tiling.depth > 2
    assert 0.7 * HERE.of_thread(2) < STEPPING.bytes_in_flight(tiling) <= HERE.of_thread(2)
    assert replace(STEPPING, shape=(32, 32, 32)).expected(HERE) == PLAIN  # stays in the cache by itself


def test_steps_of_stages_are_fewer_and_as_deep():
    """A step of two stages reaches as far as two steps of one."""
    diamonds = replace(STEPPING, steps=40)
    twice = replace(diamonds, stages=2)
    assert [stepping.expected(HERE).depth for stepping in (diamonds, twice)] == [4, 2]
    for tiling in (Tiling(6, 4, DIAMONDS, 1), Tiling(6, 4, 16, 1)):
        half = replace(tiling, depth=3)
        assert twice.bytes_in_flight(half) == diamonds.bytes_in_flight(tiling)


def test_low_diamonds_may_fill_the_cache_twice():
    """Elastic waves with receivers between points: plain sweeps of 240³ cells were 1.5 times as slow."""
    elastic = Stepping((240, 240, 240), 4, 9, 4, 24, 2, 1, 17, stages=2)
    tiling = elastic.expected(HERE)
    assert (tiling.depth, tiling.tile) == (2, DIAMONDS)
    assert HERE.of_thread(2) < elastic.bytes_in_flight(tiling) <= 2 * HERE.of_thread(2)


def test_caches_are_read_where_they_are_told(tmp_path):
    def tell(index, level, kind, size, cpus):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, value in {"level": level, "type": kind, "size": size, "shared_cpu_list": cpus}.items():
            (folder / name).write_text(f"{value}\n")

    assert caches(tmp_path) == Caches(1 << 20, 1 << 20, 1)  # nothing told
    tell(0, 1, "Data", "32K", "0,8")
    tell(1, 1, "Instruction", "32K", "0,8")
    tell(2, 2, "Unified", "512K", "0,8")
    tell(3, 3, "Unified", "16384K", "0-3,8-11")
    assert caches(tmp_path) == Caches(512 << 10, 16 << 20, 8)
    assert caches(tmp_path).of_thread(8) == (512 << 10) + (2 << 20)
    assert caches(tmp_path).of_thread(1) == (512 << 10) + (4 << 20)  # more is hardly one thread's


@pytest.mark.parametrize(
    "changes",
    [
        {"tiling": [float("inf"), 1, 1, 1]},
        {"tiling": [2.9, 4, 30, 1]},
        {"tiling": [True, 4, 30, 1]},
        {"tiling": ["5", 4, 30, 1]},
        {"tiling": [5, 4, 30]},
        {"tiling": None},
        {"tiling": [5, 4, 999, 1]},
        {"trials": 1.5},
        {"trials": -1},
        {"gain": "x"},
        {"rates": [3]},
        {"rates": {"source": 0}},
        {"rates": {"source": "x"}},
    ],
)
def test_a_damaged_choice_is_a_note(changes, tmp_path):
    write_entry(tmp_path / "tuning.json", {})
    assert recall(STEPPING, print, tmp_path) is not None
    write_entry(tmp_path / "tuning.json", changes)
    said = []
    assert recall(STEPPING, said.append, tmp_path) is None
    assert len(said) == 1


def test_a_cache_of_endless_brackets_is_a_note(tmp_path):
    (tmp_path / "tuning.json").write_text("[" * 100_000)
    said = []
    assert recall(STEPPING, said.append, tmp_path) is None
    assert len(said) == 1


def test_where_the_cache_lies(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert tuning_cache.cache_file(None) == tmp_path / "fathometer" / "tuning.json"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for ignored in ("", "relative/folder"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert tuning_cache.cache_file(None) == tmp_path / "home" / ".cache" / "fathometer" / "tuning.json"

    def homeless():
        raise RuntimeError

    monkeypatch.setattr(tuning_cache.Path, "home", homeless)
    assert tuning_cache.cache_file(None) is None
    said = []
    assert recall(STEPPING, said.append) is None
    remember(STEPPING, Kept(PLAIN, 1, True), said.append)
    assert len(said) == 1


UNEVEN = """
import sys
from mpi4py import MPI
from support import Medium
from fathometer import _native
from fathometer.parallel.decomposition import Decomposition
from fathometer.grid import tuning
from fathometer.config.sections import TuningTable
comm = MPI.COMM_WORLD
threads = 3 - comm.rank
_native.set_threads(threads)
p = Medium((40, 30, 20), 10.0, 2000.0, block=Decomposition((56, 46, 36), (2, 1, 1), comm.rank), comm=comm,
           off_grid=False).propagator
tuned = tuning.tune(p, TuningTable(search="always"), 4, 8, threads, lambda line: None)
assert comm.allgather(tuned.tiling) == [tuned.tiling] * 2
try:
    tuning.tune(p, TuningTable(team=3), 4, 8, threads, lambda line: None)
except Exception as error:
    assert "found 3; allowed: 1 to 2" in str(error), error
else:
    raise AssertionError("team 3 of 2 threads")
p.close()
"""


def test_ranks_with_different_numbers_of_threads_try_the_same(tmp_path):
    program = tmp_path / "uneven.py"
    program.write_text(UNEVEN)
    environ = clean_environment() | {"PYTHONPATH": str(SUPPORT), "XDG_CACHE_HOME": str(tmp_path)}
    command = [*mpirun(2), sys.executable, str(program)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
