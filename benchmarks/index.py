"""What an index of a survey costs: the rate of `fathometer survey build` over that of reading the files, and memory."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.command import clean
from benchmarks.table import Table
from fathometer.base.ledger import timed
from fathometer.lab.io.page_cache import drop
from fathometer.storage.index.build import build_index
from fathometer.storage.index.words import words_of
from fathometer.storage.traces.segy_writer import binary_header, textual_header, trace_type

PIECE = 1 << 22  # bytes: as the index reads
CHANNELS = 240
SAMPLES = (1500, 250)  # of a long and of a short trace
MEMORY = 400e6  # bytes: wanted at most for a million traces


def index(threads: int, quick: bool) -> Table:
    """Files of long and of short traces, from the device and from the page cache, in turns with plain reading."""
    size, rounds, traces = (64e6, 1, 50_000) if quick else (1e9, 7, 1_000_000)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for samples in SAMPLES:
            count = int(size / 4 / (240 + 4 * samples)) // CHANNELS * CHANNELS
            files = [write_shots(folder / f"{k}.segy", count, samples, k * count // CHANNELS) for k in range(4)]
            for where, before in (("device", forget), ("page cache", recall)):
                rows.append((f"{samples} samples, {where}", *rates(files, folder, threads, rounds, before)))
        million = [write_shots(folder / f"{k}.segy", traces // 4, 50, k * traces // 4 // CHANNELS) for k in range(4)]
        peak, seconds = peak_memory(million, folder / "survey.parquet")
    note = (
        f"4 files of {1e-6 * size / 4:.0f} MB of IEEE floats, {threads} threads, {rounds} rounds in turns, medians; "
        "wanted: at least 0.5 of the rate of reading the same bytes with as many threads in pieces of 4 MiB. And "
        f"`fathometer survey build` of {traces} traces in 4 files: at most {1e-6 * peak:.0f} MB of memory (wanted: "
        f"{1e-6 * MEMORY:.0f}), {seconds:.1f} s with the start of the program."
    )
    columns = ("files", "reading, MB/s", "index, MB/s", "ratio", "single rounds")
    return Table("The index of a survey", note, columns, tuple(rows))


def rates(
    files: list[Path], folder: Path, threads: int, rounds: int, before: Callable[[list[Path]], None]
) -> tuple[str, str, str, str]:
    """Rates of reading and of indexing, their ratio, and its range over the rounds."""
    total = sum(one.stat().st_size for one in files)
    build = partial(build_index, files, folder / "a.parquet", words_of([]), threads, False, lambda line: None)
    reading, indexing = [], []
    for _ in range(rounds):
        before(files)
        reading.append(timed(partial(read_all, files, threads)))
        before(files)
        indexing.append(timed(build))
    ratios = [mine / other for mine, other in zip(reading, indexing, strict=True)]
    return (
        f"{1e-6 * total / median(reading):.0f}",
        f"{1e-6 * total / median(indexing):.0f}",
        f"{median(ratios):.2f}",
        f"{min(ratios):.2f} to {max(ratios):.2f}",
    )


def forget(files: list[Path]) -> None:
    """Take them out of the page cache."""
    for one in files:
        drop(one)


def recall(files: list[Path]) -> None:
    """Have them in the page cache."""
    read_all(files, 1)


def read_all(files: list[Path], threads: int) -> None:
    """All bytes of some files, a piece at a time for each thread."""

    tasks = [(path, offset) for path in files for offset in range(0, path.stat().st_size, PIECE)]
    rooms = [np.ones(PIECE, np.uint8).data for _ in range(threads)]

    def lane(number: int) -> None:
        for path, offset in tasks[number::threads]:
            handle = os.open(path, os.O_RDONLY)
            try:
                os.preadv(handle, [rooms[number]], offset)
            finally:
                os.close(handle)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lane, range(threads)))


def write_shots(path: Path, traces: int, samples: int, first: int) -> Path:
    """A SEG-Y of shots along a line, CHANNELS traces each, of noise, numbered from `first`."""
    random = np.random.default_rng(first)
    block = np.zeros(CHANNELS, trace_type(samples))
    block["channel"] = np.arange(1, CHANNELS + 1)
    block["kind"], block["samples"], block["interval"], block["coordinate_scalar"] = 1, samples, 4000, -10
    with path.open("wb") as file:
        file.write(textual_header(samples, 4000) + binary_header(samples, 4000))
        for shot in range(first, first - (-traces // CHANNELS)):
            block["ffid"], block["source_x"], block["source_depth"] = shot, 500 * shot, 7
            block["group_x"] = 500 * shot - 1000 - 125 * np.arange(CHANNELS)
            block["data"] = random.standard_normal((CHANNELS, samples), np.float32)
            file.write(block.tobytes())
    return path


def peak_memory(files: list[Path], output: Path) -> tuple[int, float]:
    """Bytes that the command took at most, and its seconds."""
    command = [sys.executable, "-m", "fathometer", "survey", "build", *map(str, files), "-o", str(output), "--quiet"]
    used: list[int] = []

    def run() -> None:
        process = os.posix_spawn(sys.executable, command, clean())
        _, status, usage = os.wait4(process, 0)
        assert status == 0, f"{command} failed"
        used.append(1024 * usage.ru_maxrss)

    seconds = timed(run)
    return used[0], seconds
