"""Which files a result was made of: enough of their bytes to tell another file apart, however large they are."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path

from fathometer.storage.reading import reading

SAMPLES, SAMPLE_BYTES = 64, 1 << 16


def files_of(path: Path) -> list[Path]:
    """The files of a volume: all in its folder, or the file and what an RSF header names."""
    if path.is_dir():
        return [one for one in sorted(path.rglob("*")) if one.is_file()]
    beside = path.with_name(path.name + "@")
    return [one for one in (path, beside) if one.exists()]


def parts_of(path: Path) -> list[Path]:
    """What a volume that this program writes consists of, there or not: its folder or file, and an RSF's values."""
    return [path, path.with_name(path.name + "@")] if path.suffix == ".rsf" else [path]


def fingerprint(paths: Iterable[Path]) -> str:
    """Bytes and CRC-32 of files and volumes: of their sizes and of 64 pieces of 64 KiB, spread evenly over each.

    InputError where one cannot be read.
    """
    total, crc = 0, 0
    for path in paths:
        for one in files_of(path):
            with reading(one), one.open("rb") as file:
                size = one.stat().st_size
                total += size
                crc = zlib.crc32(size.to_bytes(8, "little"), crc)
                last = max(0, size - SAMPLE_BYTES)
                for n in range(SAMPLES if last else 1):
                    file.seek(last * n // (SAMPLES - 1))
                    crc = zlib.crc32(file.read(SAMPLE_BYTES), crc)
    return f"{total} bytes, CRC-32 {crc:08x}"
