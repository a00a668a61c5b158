"""SEG-Y and SU files put together by hand, with whatever headers and samples a test wants."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SHORTS = {29, 69, 71, 89, 109, 115, 117, 215}  # first bytes of the 16-bit fields in use
TYPES = {2: "i4", 3: "i2", 5: "f4", 6: "f8", 8: "i1", 9: "i8", 10: "u4", 11: "u2", 12: "u8", 16: "u1"}
INT24 = {7: True, 15: False}  # 3-byte formats, and whether they are signed
MARK = 16909060  # of byte order, revision 2


@dataclass
class Bytes:
    """A SEG-Y put together by hand for the tests: fields by their first byte in a trace's header."""

    values: np.ndarray
    format: int = 5
    order: str = ">"
    samples: int | None = None  # in the binary header
    interval: int = 4000
    revision: tuple[int, int] = (1, 0)
    extended: list[str] | None = None
    announced: int | None = None  # extended headers announced; None: as many as there are
    feet: bool = False
    every: dict[int, int] = field(default_factory=dict)  # of all traces
    trace: list[dict[int, int]] | None = None  # of each trace

    additional: int = 0  # headers of each trace beside the first
    announced_additional: int | None = None  # None: as many as there are
    extension: list[dict[int, tuple[str, float]]] | None = None  # of each trace: code and value by first byte
    mark: bool = False  # revision 2's constant
    pairs: bool = False  # big-endian, with the bytes of all numbers swapped in pairs

    su: bool = False  # traces alone

    def head(self) -> bytes:
        text = "".join(f"C{i:2d}".ljust(80) for i in range(1, 41)).encode("cp037")
        binary = bytearray(400)
        samples = self.values.shape[1] if self.samples is None else self.samples
        extended = self.extended or []
        announced = len(extended) if self.announced is None else self.announced
        for first, code, value in [
            *((3217, "h", self.interval), (3221, "H", samples), (3225, "h", self.format)),
            *((3255, "h", 2 if self.feet else 1), (3505, "h", announced)),
        ]:
            struct.pack_into(self.order + code, binary, first - 3201, value)
        if self.revision[0] >= 2:
            most = self.additional if self.announced_additional is None else self.announced_additional
            struct.pack_into(self.order + "h", binary, 306, most)
        if self.mark or self.pairs:
            struct.pack_into(self.order + "i", binary, 96, MARK)
        binary[300:302] = bytes(self.revision)
        if self.pairs:
            binary = bytearray(swapped(binary))
        return text + bytes(binary) + b"".join(t.ljust(3200).encode("cp037") for t in extended)

    def samples_of(self, row) -> bytes:
        if self.format == 1:
            return b"".join(struct.pack(self.order + "I", to_ibm(float(v))) for v in row)
        if self.format in INT24:
            order = "big" if self.order == ">" else "little"
            return b"".join(int(v).to_bytes(3, order, signed=INT24[self.format]) for v in row)
        return row.astype(self.order + TYPES[self.format]).tobytes()

    def write(self, path: Path) -> Path:
        parts = [b"" if self.su else self.head()]
        for number, row in enumerate(self.values):
            head = bytearray(240)
            fields = {115: self.values.shape[1], **self.every, **(self.trace[number] if self.trace else {})}
            for first, value in fields.items():
                struct.pack_into(self.order + ("h" if first in SHORTS else "i"), head, first - 1, value)
            extension = bytearray(240 * self.additional)
            if self.extension is not None:
                extension[232:240] = b"SEG00001"
                for first, (code, value) in self.extension[number].items():
                    struct.pack_into(self.order + code, extension, first - 1, value)
            heads, samples = bytes(head) + bytes(extension), self.samples_of(row)
            if self.pairs:
                heads = swapped(heads)
                samples = samples if self.format in (8, 16) else swapped(samples)
            parts += [heads, samples]
        path.write_bytes(b"".join(parts))
        return path


def swapped(data: bytes) -> bytes:
    """The bytes of each pair in the other order."""
    return b"".join(data[i : i + 2][::-1] for i in range(0, len(data), 2))


def to_ibm(value: float) -> int:
    """The IBM float of a number that has one, by trying exponents."""
    if value == 0:
        return 0
    sign, size = (1, -value) if value < 0 else (0, value)
    for exponent in range(128):
        fraction = size / 16.0 ** (exponent - 64) * 2**24
        if 2**20 <= fraction < 2**24:
            return sign << 31 | exponent << 24 | int(fraction)
    raise ValueError(value)


def spoil(path: Path, trace: int, samples: int, value: float = np.nan) -> None:
    """Put a number into a trace of a GatherWriter's file, as that would not write it; samples: of each trace."""
    with path.open("r+b") as file:
        file.seek(3600 + trace * (240 + 4 * samples) + 240 + 4 * 5)
        file.write(np.array(value, ">f4").tobytes())
