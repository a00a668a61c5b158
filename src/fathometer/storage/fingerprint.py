"""Fingerprints of input files and volumes: sizes, and a checksum of samples of their bytes."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path

from fathometer.storage.reading import reading

SAMPLES, SAMPLE_BYTES = 64, 1 << 16  # of each file, evenly spaced


def files_of(path: Path) -> list[Path]:
    """The existing files of a volume: all in its folder, or the file and an RSF's values beside it."""
    if path.is_dir():
        return [file for file in sorted(path.rglob("*")) if file.is_file()]
    values = path.with_name(path.name + "@")
    return [file for file in (path, values) if file.exists()]


def parts_of(path: Path) -> list[Path]:
    """Paths of a volume that this program writes, existing or not: its folder or file, and an RSF's values."""
    return [path, path.with_name(path.name + "@")] if path.suffix == ".rsf" else [path]


def fingerprint(paths: Iterable[Path]) -> str:
    """Total bytes of files and volumes, and the CRC-32 of their sizes and of 64 samples of 64 KiB of each.

    InputError where one cannot be read.
    """
    total, crc = 0, 0
    for path in paths:
        for name in files_of(path):
            with reading(name), name.open("rb") as file:
                size = name.stat().st_size
                total += size
                crc = zlib.crc32(size.to_bytes(8, "little"), crc)
                last = max(0, size - SAMPLE_BYTES)
                for n in range(SAMPLES if last else 1):
                    file.seek(last * n // (SAMPLES - 1))
                    crc = zlib.crc32(file.read(SAMPLE_BYTES), crc)
    return f"{total} bytes, CRC-32 {crc:08x}"
