"""Every store and encoding of the wavefield history in whole migrations, in two and three dimensions, on ranks."""

from __future__ import annotations

import json
import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from card_support import on_card
from cli_support import MIGRATE, call, finish, inputs, mpirun, nothing_left, start, survey
from disk_support import small_disk
from histories_program import CASES, LOSSLESS, LOSSY, TRACES, tried
from paths import SUPPORT

from fathometer.base.errors import FathometerError, InputError
from fathometer.seismic.history.choice import HistoryShare, Rates
from fathometer.seismic.history.encoding import encoding_of
from fathometer.seismic.history.store import StackedHistory
from fathometer.seismic.history.strategies import choose_history
from fathometer.seismic.survey import HistoryTable
from fathometer.storage.scratch.stack import MemoryStack

ON_RANKS = ("memory", "disk", "little memory", *TRACES, *({"zfp checkpoints"} & set(LOSSY)))


def migrations(folder: Path, ranks: int, *histories: str):
    """Images by "case|history", and what became of the history."""
    words = [*mpirun(ranks), sys.executable, SUPPORT / "histories_program.py", folder, *histories]
    done = finish(start(*words))
    assert done.code == 0, done.err
    told = json.loads((folder / "told.json").read_text())
    return {key: np.load(folder / f"{key}.npy") for key in told}, told


@pytest.fixture(scope="module")
def on_one(tmp_path_factory):
    return migrations(tmp_path_factory.mktemp("one"), 1)


@pytest.fixture(scope="module")
def on_three(tmp_path_factory):
    return migrations(tmp_path_factory.mktemp("three"), 3, *ON_RANKS)


@pytest.mark.parametrize(("case", "history"), [(c, h) for c in CASES for h in tried(c) if h in LOSSLESS])
def test_what_loses_nothing_gives_the_same_image_bit_by_bit(on_one, case, history):
    images, told = on_one
    image = images[f"{case}|{history}"]
    assert np.isfinite(image).all()
    assert image.any()
    assert np.array_equal(image, images[f"{case}|memory"])
    one = told[f"{case}|{history}"]
    assert one["store"] == LOSSLESS[history].get("store", "card" if on_card() else "memory")
    if one["store"] == "checkpoint":
        assert one["most_snapshots_kept"] < one["snapshots"]
        assert one["recomputed_imaging_steps"] or one["most_states_saved"]


def test_states_are_saved_where_they_help(on_one):
    """In two dimensions, with a fifth of the memory, in memory; with a tenth, on disk."""
    _, told = on_one
    assert told["2D|little memory"]["most_states_saved"] >= 1
    assert told["2D|states on disk"]["most_states_saved"] > 3
    assert told["2D|states on disk"]["predicted_disk_bytes"] > 0


@pytest.mark.parametrize("history", ON_RANKS)
@pytest.mark.parametrize("case", list(CASES))
def test_ranks_give_the_same_image(on_one, on_three, case, history):
    """Bit by bit where nothing is lost; else within the bound."""
    (one, _), (three, told) = on_one, on_three
    image, expected = three[f"{case}|{history}"], one[f"{case}|memory"]
    if told[f"{case}|{history}"]["encoding"] == "float32":
        assert np.array_equal(image, expected)
    else:
        assert np.linalg.norm(image - expected) <= 0.01 * np.linalg.norm(expected)
    assert len(told[f"{case}|{history}"]["ranks"]) == 3


@pytest.mark.parametrize(("case", "history"), [(c, h) for c in CASES for h in tried(c) if h in LOSSY])
def test_what_loses_something_stays_within_its_bound(on_one, case, history):
    """Image relative L2 error at most 1 %, and in fact some; the record tells what was lost and saved."""
    images, told = on_one
    image, expected = images[f"{case}|{history}"], images[f"{case}|memory"]
    error = np.linalg.norm(image - expected) / np.linalg.norm(expected)
    assert 0 < error <= 0.01
    one = told[f"{case}|{history}"]
    [rank] = one["ranks"]
    assert 0 < rank["relative_l2_error"] < 0.05
    tolerance = {"float16": 2**-12, "int8": 1 / 254}.get(one["encoding"], 1e-3)
    assert 0 < rank["largest_error_of_peak"] <= 1.01 * tolerance
    itemsize = {"2D": 4, "3D": 8}[case]
    most = {"float16": 2 / itemsize, "int8": 1 / itemsize, "zfp": 0.2, "wavelet": 0.1}[one["encoding"]]
    assert rank["stored_bytes"] < 1.1 * most * rank["logical_bytes"]  # flat blocks in 2D have more scales


def test_checkpoints_do_what_was_planned(on_one):
    _, told = on_one
    for key, one in told.items():
        if one["store"] == "checkpoint":
            for rank in one["ranks"]:
                shots = 2
                assert rank.get("recomputed_imaging_steps", 0) == shots * one["recomputed_imaging_steps"], key
                kept = rank["logical_bytes"] / np.prod(CASES[key.split("|")[0]][0]) / (4 if key[0] == "2" else 8)
                assert kept == shots * one["snapshots"]  # each is kept once


def test_the_account_of_a_history_on_disk(tmp_path):
    """What goes to the disk beside the time steps is overlapped; files and rates are told; nothing stays behind."""
    inputs(tmp_path)
    keys = {"history.store": "disk", "history.directory": "scratch", "model.spacing": [1.0, 1.0]}
    np.save(tmp_path / "vp.npy", np.full((600, 600), 2000.0, np.float32))
    (tmp_path / "scratch").mkdir()
    path = survey(tmp_path, MIGRATE | keys)
    done = call("migrate", path)
    assert done.code == 0, done.err
    assert "history: " in done.err
    assert " on disk as float32" in done.err
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    files = {(file["kind"], file["direction"]): file for file in record["ledger"]["files"]}
    history = record["results"]["history"]
    [rank] = history["ranks"]
    assert rank["stored_bytes"] == rank["logical_bytes"] == history["snapshots"] * 600 * 600 * 4
    written, read = files["history", "write"]["bytes"], files["history", "read"]["bytes"]
    assert 0 < read <= written <= rank["stored_bytes"] + 2**24
    bytes_of = {entry["phase"]: entry["total_bytes"] for entry in record["ledger"]["phases"]}
    assert bytes_of["history push"] == bytes_of["history pop"] == rank["logical_bytes"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert f"{history['snapshots']} snapshots a shot, on disk, as float32: 1 of the plain bytes" in page
    beside = {entry["phase"] for entry in record["ledger"]["overlapped"]}
    assert {"history push", "history pop"} <= beside
    assert {"write history", "read history"} <= {figure["name"] for figure in record["figures"]}
    assert os.listdir(tmp_path / "scratch") == []
    assert sum(record["ledger"]["ranks"][0]["categories"].values()) == pytest.approx(
        record["ledger"]["ranks"][0]["wall_seconds"], rel=0.01
    )


@pytest.mark.parametrize(
    ("keys", "words", "code"),
    [
        ({"history.store": "memory", "history.memory_budget": 1000.0}, "memory with float32 needs … B of memory", 2),
        ({"history.store": "disk", "history.disk_budget": 1000.0}, "disk with float32 needs … B of disk", 2),
        (
            {"history.memory_budget": 1000.0, "history.disk_budget": 1000.0, "parallel.processor": "cpu"},
            "memory with … disk with … checkpoint with",
            2,
        ),
        ({"history.store": "disk", "history.directory": "none"}, "[history] directory: … none is no folder", 2),
        ({"history.store": "tape"}, '[history] store: found "tape"; allowed: "auto" or "card" or "memory"', 2),
        ({"history.encoding": "int4"}, '[history] encoding: found "int4"', 2),
        ({"history.tolerance": 0.0}, "[history] tolerance: found 0", 2),
        ({"history.tolerance": 1.0}, "[history] tolerance: found 1.0; allowed: a number from 1e-15 to 0.5", 2),
        ({"history.memory_budget": -1.0}, "[history] memory_budget: found -1", 2),
    ],
)
def test_a_history_that_cannot_be(tmp_path, keys, words, code):
    inputs(tmp_path)
    path = survey(tmp_path, MIGRATE | keys)
    before = sorted(tmp_path.iterdir())
    done = call("migrate", path, "--quiet")
    assert done.code == code, done.err
    place = 0
    for part in words.split(" … "):
        place = done.err.find(part, place)
        assert place >= 0, (part, done.err)
    assert len(done.err.strip().splitlines()) == 1
    assert nothing_left(tmp_path, before, done.err)


SMALL_SLABS = """
import sys
from fathometer.cli.main import main
from fathometer.storage.scratch import stack
stack.SLAB_BYTES = 1 << 16
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("encoding", ["float32", "zfp"])
def test_a_disk_that_is_full(tmp_path, ranks, encoding):
    """Before the first step where the size is known, else on the way: one message, all ranks end, nothing is left."""
    if encoding == "zfp":
        pytest.importorskip("hdf5plugin")
    inputs(tmp_path)
    np.save(tmp_path / "vp.npy", np.random.default_rng(1).uniform(1500, 4000, (300, 300)).astype(np.float32))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    keys = {"history.store": "disk", "history.directory": "scratch", "history.disk_budget": 1e12}
    keys |= {"history.encoding": encoding, "history.tolerance": 1e-7, "model.spacing": [8.0, 4.0], "imaging.every": 2}
    path = survey(tmp_path, MIGRATE | keys)
    before = sorted(tmp_path.iterdir())
    small_disk(scratch)
    try:
        words = [*(mpirun(ranks) if ranks > 1 else []), sys.executable, "-c", SMALL_SLABS, "migrate", path, "--quiet"]
        done = finish(start(*words))
        assert done.code == 1, done.err
        assert done.err.count("the history cannot be kept there: No space left on device") == 1, done.err
        assert os.listdir(scratch) == []
    finally:
        os.system(f"umount {scratch}")
    assert nothing_left(tmp_path, before, done.err)


def test_a_rank_without_a_part_of_the_image(tmp_path):
    """It takes part in what is computed again, with states of its own and no snapshots."""
    inputs(tmp_path)
    keys = {"parallel.decomposition": [1, 2], "propagation.top": "free-surface", "imaging.every": 1}
    keys |= {"propagation.boundary": {"kind": "sponge", "width": 60}}
    images = []
    for history in ({}, {"history.store": "checkpoint", "history.memory_budget": 4e5}):
        path = survey(tmp_path, MIGRATE | keys | history)
        done = call("migrate", path, "--quiet", "--ranks", 2, "--overwrite")
        assert done.code == 0, done.err
        images.append((tmp_path / "out" / "image.rsf@").read_bytes())
    assert images[0] == images[1]
    history = json.loads((tmp_path / "out" / "run.json").read_text())["results"]["history"]
    assert history["most_states_saved"] > 0
    assert [rank["logical_bytes"] > 0 for rank in history["ranks"]] == [True, False]


def test_what_goes_wrong_beside_is_not_lost(tmp_path):
    """Also where it happens to the last snapshot, after which nothing is pushed."""
    pytest.importorskip("hdf5plugin")
    shape, dtype = (40, 30, 30), np.dtype(np.float32)
    noise = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    for allowed in range(2, 20):
        encoding = encoding_of("zfp", shape, dtype, 1e-6)
        stack = MemoryStack(encoding.largest, encoding.largest, lambda size: np.zeros(size, np.uint8))
        stack._limit = allowed * stack._at.slab_bytes
        history = StackedHistory(stack, encoding, 20, shape, dtype, ThreadPoolExecutor(1))
        with pytest.raises(FathometerError, match=r"^not enough memory"):
            push_and_pop(history, noise, 20)
        history.close()


def push_and_pop(history, noise, count):
    for number in range(1, count + 1):
        [room] = history.rooms(3)  # an encoding takes one at a time
        room[...] = number * noise
        history.push(1)
    for number in range(count, 0, -1):
        [snapshot] = history.pop(3)
        assert np.abs(snapshot - number * noise).max() < 1e-3 * number


def test_auto_without_a_disk_that_takes_anything(tmp_path):
    """What cannot be tried is not taken."""
    inputs(tmp_path)
    (tmp_path / "scratch").mkdir()
    keys = {"history.directory": "scratch", "history.memory_budget": 3e4, "history.disk_budget": 1e10}
    path = survey(tmp_path, MIGRATE | keys | {"imaging.every": 1})
    small_disk(tmp_path / "scratch")
    try:
        done = call("migrate", path)
    finally:
        os.system(f"umount {tmp_path / 'scratch'}")
    assert done.code == 0, done.err
    assert "computed again" in done.err


GB = 10**9


def share(**changes) -> HistoryShare:
    """Snapshots of 0.1 GB, states of 1 GB, and a second wavefield of 2 GB."""
    sizes = {"spare": 10 * GB, "budget": math.inf, "disk": 100 * GB, "snapshot": GB // 10, "state": GB, "twin": 2 * GB}
    sizes["records"] = {"float32": sizes["snapshot"], "int8": sizes["snapshot"] // 4}
    return HistoryShare(**(sizes | changes))


def choose(shares, rates=None, snapshots=50, **wanted):
    def measured():
        assert rates is not None, "nothing is measured where nothing depends on it"
        return Rates(*rates)

    return choose_history(HistoryTable(**wanted), snapshots, shares, measured, "survey.toml")


def test_auto_keeps_in_memory_what_fits():
    one = choose([share()])
    assert (one.store, one.encoding, one.kept, one.reason) == ("memory", "float32", 50, "all fit")
    assert one.memory_bytes == 5 * GB


@pytest.mark.parametrize(
    ("rates", "encoding", "expected"),
    [
        ((0.1, 0.01, 1e10), "float32", ("disk", "float32")),  # a fast disk hides behind the time steps
        ((0.1, 0.01, 1e6), "float32", ("checkpoint", "float32")),  # a slow one does not
        ((0.1, 0.01, 1e6), "auto", ("memory", "int8")),
        ((0.1, 1.0, 1e6), "auto", ("checkpoint", "float32")),  # encoding takes too long
    ],
)
def test_auto_takes_what_adds_the_least_time(rates, encoding, expected):
    one = choose([share(spare=4 * GB)], rates, encoding=encoding)
    assert (one.store, one.encoding) == expected
    assert "memory with float32 needs 5 GB of memory a rank, of 4 GB" in one.reason
    assert "adds" in one.reason


@pytest.mark.parametrize(
    ("store", "rates", "expected"),
    [
        ("disk", (0.1, 0.01, 1e10), "float32"),
        ("disk", (0.1, 0.01, 1e6), "int8"),  # a slow disk
        ("checkpoint", (0.1, 0.01, 1e10), "int8"),  # of float32 most is computed again
    ],
)
def test_an_encoding_is_chosen_for_a_store_that_is_named(store, rates, expected):
    one = choose([share(spare=4 * GB)], rates, store=store, encoding="auto")
    assert (one.store, one.encoding) == (store, expected)
    assert "adds" in one.reason


def test_the_poorest_rank_decides():
    rich, poor = share(spare=40 * GB), share(spare=4 * GB)
    assert choose([rich, poor], (0.1, 0.01, 1e10)).store == "disk"
    one = choose([rich, poor], store="checkpoint")
    assert one.schedule is not None
    assert one.memory_bytes <= 2 * GB  # beside its second wavefield
    assert one.kept > 10
    nothing = share(spare=0, snapshot=0, records={"float32": 0}, state=0, twin=0)  # a rank whose cells are all padding
    assert choose([rich, nothing]).store == "memory"


def test_a_budget_is_for_snapshots_and_states_alone():
    one = choose([share(budget=2.25 * GB)], store="checkpoint")
    assert 1.9 * GB < one.memory_bytes <= 2.25 * GB
    assert one.twin
    alone = choose([share(spare=4.25 * GB)], store="checkpoint")
    assert alone.memory_bytes == one.memory_bytes


def test_what_fits_nowhere_says_what_is_needed():
    lacks = "memory with float32 needs 5 GB .* disk with float32 needs 5 GB of disk a rank, of 1 GB; checkpoint with"
    with pytest.raises(InputError, match=rf"^survey.toml: \[history\]: {lacks} float32 needs 100 MB"):
        choose([share(spare=2 * GB, disk=GB)])
