"""Options of `fathometer survey wavelet`."""

from __future__ import annotations

from dataclasses import dataclass

from fathometer.base.option_types import number_above
from fathometer.base.options import option


@dataclass(frozen=True)
class WaveletRequest:
    """What is asked for: ghosts as wavelet_file.py names them, None: what fits the survey's top; velocity of the water,
    m/s; the surface's coefficient; length of the wavelet, s; t0 of the sea floor, s, and largest offset, m, or None:
    found; highest frequency, Hz, or None: where amplitudes become negligible."""

    ghosts: str | None = option(
        "in the wavelet; none: the traces have none (what fits the survey's top and conditioning)",
        default=None,
        choices=("kept", "removed", "none"),
    )
    velocity: float = option("of the water (1500 m/s)", type=number_above(100, 20_000, "m/s"), default=1500.0)
    reflection: float = option(
        "of the surface, without its sign (0.95)", type=number_above(0, 1), default=0.95, metavar="R"
    )
    length: float = option("of the wavelet (0.2 s)", type=number_above(0, 10, "s"), default=0.2, metavar="S")
    sea_floor: float | None = option(
        "its time at zero offset (looked for)", type=number_above(0, 100, "s"), default=None, metavar="S"
    )
    offset: float | None = option(
        "largest that is looked at (the nearest quarter)", type=number_above(0, 1e6, "m"), default=None, metavar="M"
    )
    highest: float | None = option(
        "of [wavelet] maximum_frequency (where amplitudes fall below 3 %%)",
        "--max-frequency",
        type=number_above(0, 1e6, "Hz"),
        default=None,
        metavar="HZ",
    )
