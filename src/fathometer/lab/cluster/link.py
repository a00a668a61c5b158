"""The links of a cluster: their rate, and what the kernel is told so that it is kept.

A token bucket (tc-tbf(8)) holds a link to its rate: it lets `burst` bytes pass at once, and the rest at the rate. A
message below the burst sees no limit, so that a burst is as small as the rate allows: the kernel fills the bucket at
ticks of a clock, and what it fills in one of them must fit. Frames of 9000 bytes: of 1500 a stream is limited by what
each frame costs rather than by the rate.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fathometer.base.errors import InputError

UNLIMITED = "unlimited"
UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
LEAST, MOST = 1e6, 100e9  # bits a second
FRAME_BYTES = 9000
SMALLEST_BURST = 32 * 1024
BURST_SECONDS = 100e-6  # at the rate: 125 kB at 10 Gbit/s
QUEUE_SECONDS = 0.02  # that a frame may wait, before it is dropped
_RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([kmg]bit)")


@dataclass(frozen=True)
class Link:
    """A link. bits_per_second: None: as fast as the machine is."""

    bits_per_second: float | None = None

    @property
    def bytes_per_second(self) -> float | None:
        """The rate; None: no limit."""
        return None if self.bits_per_second is None else self.bits_per_second / 8

    @property
    def burst(self) -> int:
        """Bytes that pass at once."""
        assert self.bytes_per_second is not None, "only a limited link has a bucket"
        return max(SMALLEST_BURST, int(self.bytes_per_second * BURST_SECONDS))

    @property
    def text(self) -> str:
        """As it is asked for: "1gbit".

        >>> Link(2.5e9).text, Link(1e8).text, Link().text
        ('2.5gbit', '100mbit', 'unlimited')
        """
        if self.bits_per_second is None:
            return UNLIMITED
        unit = max((unit for unit, size in UNITS.items() if size <= self.bits_per_second), key=UNITS.__getitem__)
        return f"{self.bits_per_second / UNITS[unit]:.10g}{unit}"

    def qdisc(self, device: str) -> str | None:
        """A line for `tc -batch` that limits what a device sends; None where nothing is limited."""
        if self.bits_per_second is None:
            return None
        return (
            f"qdisc replace dev {device} root tbf rate {self.bits_per_second:.0f}bit burst {self.burst} "
            f"latency {QUEUE_SECONDS * 1000:g}ms"
        )


def link_of(text: object) -> Link:
    """The link of a text such as "1gbit", "250mbit" or "unlimited". Raises InputError.

    >>> link_of("10gbit")
    Link(bits_per_second=10000000000.0)
    """
    if text == UNLIMITED:
        return Link()
    match = _RATE.fullmatch(text) if isinstance(text, str) else None
    if match is None or not LEAST <= float(match[1]) * UNITS[match[2]] <= MOST:
        found = f'"{text}"' if isinstance(text, str) else text
        raise InputError(f'link: found {found}; allowed: "unlimited", or a rate from 1mbit to 100gbit such as "10gbit"')
    return Link(float(match[1]) * UNITS[match[2]])
