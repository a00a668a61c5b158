"""How values are shown: colours, gain, clip, as slices or as a cube."""

from __future__ import annotations

from dataclasses import dataclass

COLOURS = ("grey", "red-white-blue")  # of amplitudes of both signs
GAINS = ("none", "balance", "agc")


@dataclass(frozen=True)
class Display:
    """What a reader of a picture may choose.

    Attributes:
        colours: of amplitudes of both signs, one of COLOURS.
        gain: "none", "balance" (over depth or time), or of gathers "agc".
        clip: percentile of the magnitudes at which amplitudes are clipped; None: 99 of volumes, 98 of gathers.
        cube: whether a volume's slices are drawn as faces of a cube.
    """

    colours: str = "grey"
    gain: str = "none"
    clip: float | None = None
    cube: bool = False
