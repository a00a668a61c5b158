"""The file of a node's results: what any reader of zstd makes of it, what one result costs, what damage does."""

import os
import random
import shutil
import subprocess

import pytest
import zstandard
from cli_support import program
from support import FULL

from fathometer.apps.farm import blocks, journal
from fathometer.apps.farm.blocks import Index, directory, entries_of, raw_frame
from fathometer.apps.farm.framing import Compression, LengthFraming, ZstdFraming
from fathometer.base.errors import FathometerError

FULL_SIZE = pytest.mark.skipif(not FULL, reason="a gigabyte (make verify)")
FRAMINGS = {
    "zstd": ZstdFraming(Compression("zstd", 3), 7),
    "none": ZstdFraming(Compression("none", 0), 7),
    "old zlib": LengthFraming(Compression("zlib", 6)),
    "old zstd": LengthFraming(Compression("zstd", 3)),
    "old none": LengthFraming(Compression("none", 0)),
}


def written(path, framing, groups, closed=True):
    """A file of some blocks; the place of each."""
    index, places = Index(), []
    with path.open("wb") as file:
        for results in groups:
            tasks, texts = list(results), list(results.values())
            block, entries = framing.block(tasks, texts)
            places.append(file.tell())
            index.add(file.tell(), entries)
            file.write(framing.placed(block, entries, file.tell()))
        if closed:
            file.writelines(framing.end(index))
    return places


def groups(count=5, seed=1):
    chance = random.Random(seed)
    return [{10 * n + k: chance.randbytes(chance.randrange(300)) for k in range(1, 5)} for n in range(count)]


@pytest.mark.parametrize("size", [0, 1, 1000, blocks.RAW_BLOCK, blocks.RAW_BLOCK + 1, 3 * blocks.RAW_BLOCK])
def test_frames_of_bytes_as_they_are(size):
    data = random.Random(size).randbytes(size)
    assert zstandard.ZstdDecompressor().decompress(raw_frame(data)) == data
    assert len(raw_frame(data)) - size < 40 + size // 10_000
    broken = bytearray(raw_frame(data + b"x"))
    broken[-6] ^= 1  # the last byte of the data
    with pytest.raises(zstandard.ZstdError):
        zstandard.ZstdDecompressor().decompress(bytes(broken))


@pytest.mark.parametrize("name", ["zstd", "none"])
def test_other_programs_read_it(tmp_path, name):
    path, parts = tmp_path / "a.zst", groups()
    written(path, FRAMINGS[name], parts)
    done = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True)
    assert done.stdout == b"".join(text for one in parts for text in one.values())


@pytest.mark.parametrize("framing", FRAMINGS.values(), ids=FRAMINGS)
@pytest.mark.parametrize("closed", [True, False])
def test_what_is_found(tmp_path, framing, closed):
    path, parts = tmp_path / "a", groups()
    places = written(path, framing, parts, closed)
    handle = os.open(path, os.O_RDWR)
    if (begin := blocks.index_begin(handle)) is not None:
        os.ftruncate(handle, begin)
    rows, end = framing.found(handle)
    assert [place for place, _ in rows] == places
    assert [list(entries[::3]) for _, entries in rows] == [list(one) for one in parts]
    assert [list(entries[1::3]) for _, entries in rows] == [[len(text) for text in one.values()] for one in parts]
    assert end == os.fstat(handle).st_size
    # Cut anywhere within the last block, all but that is found.
    for size in range(places[-1], end, 7):
        os.ftruncate(handle, size)
        rows, found = framing.found(handle)
        assert (len(rows), found) == (4, places[-1])
        os.ftruncate(handle, 0)
        written(path, framing, parts, closed=False)
    os.close(handle)


@pytest.mark.parametrize("closed", [True, False])
def test_one_result(tmp_path, closed):
    path, parts = tmp_path / "a.zst", groups(40)
    written(path, FRAMINGS["zstd"], parts, closed)
    handle = os.open(path, os.O_RDONLY)
    assert (blocks.index_begin(handle) is not None) == closed
    for results in parts:
        for task, text in results.items():
            assert dict(blocks.results_in(handle, blocks.find(handle, task), path))[task] == text
    for absent in (0, 5, 399, 10**12):
        assert blocks.find(handle, absent) is None
    os.close(handle)


def test_one_result_out_of_many_reads_little(tmp_path, monkeypatch):
    """The same number of bytes, but for the steps of a search in the index, whatever the size of the file."""
    read = []
    pread = os.pread

    def counted(handle, size, offset):
        data = pread(handle, size, offset)
        read.append(len(data))
        return data

    monkeypatch.setattr(os, "pread", counted)
    text = random.Random(1).randbytes(1 << 20)
    found = {}
    for count in (8, 64):
        path = tmp_path / f"{count}.zst"
        written(path, FRAMINGS["zstd"], [{n: text} for n in range(1, count + 1)])
        handle = os.open(path, os.O_RDONLY)
        read.clear()
        block = blocks.find(handle, count // 2)
        assert blocks.results_in(handle, block, path) == [(count // 2, text)]
        found[count] = sum(read)
        os.close(handle)
    assert found[64] < 2_000_000
    assert found[64] - found[8] <= 3 * 32


def test_what_was_not_flushed_is_read_before_it_counts(tmp_path):
    """A host that stops may leave a file with its length and zeros in it."""
    framing, path = FRAMINGS["zstd"], tmp_path / "a.zst"
    parts = [{n: random.Random(n).randbytes(500)} for n in range(3)]
    with path.open("wb") as file:
        flushed = 0
        for number, results in enumerate(parts):
            place = file.tell()
            block, entries = framing.block(list(results), list(results.values()))
            file.write(framing.placed(block, entries, flushed))
            flushed = file.tell() if number == 0 else flushed
    handle = os.open(path, os.O_RDWR)
    assert len(framing.found(handle)[0]) == 3
    os.pwrite(handle, bytes(100), os.fstat(handle).st_size - 200)  # of the last block, which was not flushed
    rows, end = framing.found(handle)
    assert (len(rows), end) == (2, place)
    os.close(handle)


def test_a_damaged_result_is_told(tmp_path):
    path = tmp_path / "a.zst"
    framing = FRAMINGS["none"]
    block, _ = framing.block([7, 8], [b"seven", b"eight"])
    wrong = entries_of([7, 8], [b"seven", b"night"])
    path.write_bytes(directory(wrong, block, 0, 7) + block)
    handle = os.open(path, os.O_RDONLY)
    with pytest.raises(FathometerError, match="the result of task 8, at byte"):
        blocks.results_in(handle, blocks.find(handle, 8), path)
    os.close(handle)


@pytest.mark.verify
@FULL_SIZE
@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace on PATH: it counts what is read")
def test_one_result_out_of_a_gigabyte(tmp_path):
    """At most 2 MB of the file are read, by the system's account; whether it was closed or not does not matter much."""
    folder = tmp_path / "results"
    folder.mkdir()
    text = random.Random(1).randbytes(1 << 20)
    count = 1 << 10
    path = folder / "node-0000.zst"
    written(path, FRAMINGS["none"], ({n: b"%d " % n + text} for n in range(1, count + 1)))
    assert path.stat().st_size > 1 << 30
    tasks = [{"name": "a", "kind": "lines", "first": 1, "count": count}]
    journal.write_farm(folder, {"fingerprint": {"framing": "zstd"}, "tasks": tasks, "compression": "none", "number": 7})
    words = [*program(), "farm", "extract", folder, "--task", "777", "-o", tmp_path / "one"]
    subprocess.run(["strace", "-f", "-e", "trace=pread64", "-o", tmp_path / "calls", *words], check=True)
    assert (tmp_path / "one").read_bytes() == b"777 " + text
    calls = (tmp_path / "calls").read_text().splitlines()
    found = [int(line.rpartition("= ")[2]) for line in calls if "pread64(" in line]
    print(f"{sum(found)} bytes read in {len(found)} calls")
    assert sum(found) <= 2_000_000
