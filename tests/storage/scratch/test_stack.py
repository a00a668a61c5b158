"""Stacks of records against a list, in memory and on disk."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from disk_support import small_disk
from hypothesis import given, settings
from hypothesis import strategies as st

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.ledger import Ledger
from fathometer.storage.scratch.slots import Slots
from fathometer.storage.scratch.stack import DiskStack, MemoryStack, slab_of

LARGEST = 300


def memory(folder, slab_bytes=1000):
    return MemoryStack(LARGEST, slab_bytes, partial(np.zeros, dtype=np.uint8))


def disk(folder, slab_bytes=1000, **options):
    return DiskStack(folder, LARGEST, slab_bytes, 0, ThreadPoolExecutor(1), **options)


@pytest.mark.parametrize("make", [memory, disk])
@settings(max_examples=150)
@given(
    moves=st.lists(st.one_of(st.just(-1), st.integers(0, LARGEST)), max_size=120),
    slab_bytes=st.sampled_from([1, 700, 9000]),
)
def test_records_come_back_in_reverse(make, moves, slab_bytes, tmp_path_factory):
    """Whatever the order of pushes (so many bytes) and pops (-1), across slabs and back."""
    stack = make(tmp_path_factory.getbasetemp(), slab_bytes)
    kept: list[bytes] = []
    pushed = 0
    for number, move in enumerate(moves):
        if move >= 0:
            record = bytes((number * 7 + k) % 251 for k in range(move))
            room = stack.room()
            assert len(room) >= LARGEST
            room[:move] = np.frombuffer(record, np.uint8)
            room[move:] = 255  # a record that is shorter leaves nothing behind
            stack.push(move)
            kept.append(record)
            pushed += move
        elif kept:
            assert stack.pop().tobytes() == kept.pop()
    while kept:
        assert stack.pop().tobytes() == kept.pop()
    assert stack.stored_bytes == pushed
    stack.close()


def test_a_long_way_there_and_back_goes_through_the_disk(tmp_path):
    """Only two slabs are in memory; nothing is to be seen in the folder; the file's account tells what moved."""
    with Ledger() as account:
        stack = disk(tmp_path, 4096, kind="history")
        for number in range(1000):
            stack.room()[:8] = np.frombuffer(np.int64(number).tobytes(), np.uint8)
            stack.push(LARGEST)
        assert os.listdir(tmp_path) == []
        for number in reversed(range(1000)):
            assert int(stack.pop()[:8].view(np.int64)[0]) == number
        stack.close()
    slabs = math.ceil(1000 / (4096 // 320))
    files = {(file["kind"], file["direction"]): file for file in account.as_dict()["files"]}
    assert files["history", "write"]["bytes"] == (slabs - 1) * 4096
    assert files["history", "read"]["bytes"] == (slabs - 2) * 4096
    overlapped = {(e["phase"], e["category"]): e for e in account.as_dict()["overlapped"]}
    assert overlapped["history push", "io"]["bytes"] == (slabs - 1) * 4096
    assert overlapped["history pop", "io"]["calls"] == slabs - 2


def test_direct(tmp_path):
    """Past the cache, where the file system can; else one line says so."""
    try:
        stack = disk(tmp_path, 1 << 16, direct=True)
    except InputError as error:
        pytest.skip(str(error))
    for number in range(900):
        stack.room()[:] = number % 251
        stack.push(LARGEST)
    assert all((stack.pop() == number % 251).all() for number in reversed(range(900)))
    stack.close()


def fill(stack, records):
    for _ in range(records):
        stack.room()
        stack.push(LARGEST)


def test_no_more_memory_than_allowed():
    stack = MemoryStack(LARGEST, 1000, partial(np.zeros, dtype=np.uint8), limit=2000)
    with pytest.raises(FathometerError, match=r"^not enough memory: 2 kB of records are held"):
        fill(stack, 100)


def test_small_records_share_slabs(tmp_path):
    """Records whose size is not known beforehand take what they need, in memory and on the way to the disk."""
    in_memory = MemoryStack(1 << 20, 1 << 20, partial(np.zeros, dtype=np.uint8))
    with Ledger() as account:
        on_disk = DiskStack(tmp_path, 1 << 20, 1 << 20, 0, ThreadPoolExecutor(1), kind="history")
        for stack in (in_memory, on_disk):
            for number in range(40):
                stack.room(100_000)[:] = number
                stack.push(100_000)
            assert stack.stored_bytes == 4_000_000
        assert in_memory.held_bytes <= 4_000_000 + (1 << 20)
        for stack in (in_memory, on_disk):
            assert all((stack.pop() == number).all() for number in reversed(range(40)))
            stack.close()
    files = {file["direction"]: file["bytes"] for file in account.as_dict()["files"]}
    assert max(files.values()) <= 4_100_000


def test_no_larger_file_than_allowed(tmp_path):
    stack = DiskStack(tmp_path, LARGEST, 4096, 0, ThreadPoolExecutor(1), kind="history", limit=20_000)
    with pytest.raises(FathometerError, match=r": the history would take more than the 20 kB that it may$"):
        fill(stack, 1000)
    stack.close()


@pytest.mark.parametrize("record", [0, 1, 64, 1 << 20, (8 << 20) + 64, (16 << 20) - 64, 100 << 20])
def test_slabs_hold_whole_records(record):
    slab = slab_of(record)
    assert slab >= 16 << 20
    assert slab % max(64, record) == 0
    assert slab < (16 << 20) + max(64, record)


def test_a_full_disk(tmp_path):
    small_disk(tmp_path)
    try:
        with pytest.raises(FathometerError, match=r"cannot be kept there: No space left on device$"):
            DiskStack(tmp_path, LARGEST, 1 << 16, 20, ThreadPoolExecutor(1), kind="history")
        stack = disk(tmp_path, 1 << 16, kind="history")
        with pytest.raises(FathometerError, match=rf"^{tmp_path}: the history cannot be kept there: No space left"):
            fill(stack, 20_000)
        stack.close()
        with pytest.raises(FathometerError, match="No space left"):
            Slots(tmp_path, 1 << 20, 2, "history")
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_no_such_folder(tmp_path):
    for make in (lambda: disk(tmp_path / "none"), lambda: Slots(tmp_path / "none", 1, 1, "history")):
        with pytest.raises(FathometerError, match=r"/none: no file can be made there: No such file or directory"):
            make()


def test_nothing_stays_of_a_process_that_is_killed(tmp_path):
    program = (
        "import os, signal, sys\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from pathlib import Path\n"
        "from fathometer.storage.scratch.stack import DiskStack\n"
        "stack = DiskStack(Path(sys.argv[1]), 1000, 4096, 1000, ThreadPoolExecutor(1))\n"
        "for _ in range(100): stack.room(); stack.push(1000)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, tmp_path]).returncode == -9
    assert os.listdir(tmp_path) == []


def test_slots_hold_lists_of_arrays(tmp_path):
    rng = np.random.default_rng(1)
    lists = [[rng.random((3, 4)), rng.random((2, 2, 5)).astype(np.float32), np.zeros((0, 3))] for _ in range(3)]
    slots = Slots(tmp_path, 3 * 4 * 8 + 20 * 4, 2, "history")
    first, second = (slots.put(one) for one in lists[:2])
    slots.drop(first)
    third = slots.put(lists[2])
    for slot, arrays in ((second, lists[1]), (third, lists[2]), (second, lists[1])):
        for found, array in zip(slots.get(slot), arrays, strict=True):
            assert found.dtype == array.dtype
            assert np.array_equal(found, array)
    slots.close()
    assert os.listdir(tmp_path) == []
