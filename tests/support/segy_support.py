"""SEG-Y and SU files put together by hand, with whatever headers and samples a test wants."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SHORTS = {29, 69, 71, 89, 109, 115, 117, 215}  # first bytes of the 16-bit fields in use
TYPES = {2: "i4", 3: "i2", 5: "f4", 6: "f8", 8: "i1", 9: "i8", 10: "u4", 11: "u2", 12: "u8", 16: "u1"}


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
        binary[300:302] = bytes(self.revision)
        return text + bytes(binary) + b"".join(t.ljust(3200).encode("cp037") for t in extended)

    def samples_of(self, row) -> bytes:
        if self.format == 1:
            return b"".join(struct.pack(self.order + "I", to_ibm(float(v))) for v in row)
        if self.format == 7:
            order = "big" if self.order == ">" else "little"
            return b"".join(int(v).to_bytes(3, order, signed=True) for v in row)
        return row.astype(self.order + TYPES[self.format]).tobytes()

    def write(self, path: Path) -> Path:
        parts = [b"" if self.su else self.head()]
        for number, row in enumerate(self.values):
            head = bytearray(240)
            fields = {115: self.values.shape[1], **self.every, **(self.trace[number] if self.trace else {})}
            for first, value in fields.items():
                struct.pack_into(self.order + ("h" if first in SHORTS else "i"), head, first - 1, value)
            parts += [bytes(head), self.samples_of(row)]
        path.write_bytes(b"".join(parts))
        return path


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
