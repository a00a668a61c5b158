"""Anomalies of the traces and files of a survey; those of traces are bits of the index's column `flags`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

from fathometer.storage.traces.intervals import ALLOWED as INTERVALS
from fathometer.storage.traces.intervals import LONGEST_SECONDS


class Flag(IntFlag):
    """Bits of `flags`, which are stored in index files."""

    DEAD = 1
    ZERO = 2
    NO_NUMBER = 4
    DUPLICATE = 8
    SAMPLES = 16
    INTERVAL = 32
    NO_INTERVAL = 64
    NO_COORDINATES = 128
    NO_PLACE = 256
    LOUD = 512


# Traces with one of these are not used.
UNUSABLE = (
    Flag.DEAD | Flag.ZERO | Flag.NO_NUMBER | Flag.DUPLICATE | Flag.NO_INTERVAL | Flag.NO_COORDINATES | Flag.NO_PLACE
)

DESCRIPTIONS = {
    Flag.DEAD: "marked as dead or as other than seismic data",
    Flag.ZERO: "all samples are zero",
    Flag.NO_NUMBER: "NaN, infinity, or values beyond float32",
    Flag.DUPLICATE: "the same shot, channel and places as another trace",
    Flag.SAMPLES: "another sample count than the file",
    Flag.INTERVAL: "another sample interval than the file",
    Flag.NO_INTERVAL: "no positive sample interval",
    Flag.NO_COORDINATES: "no coordinates in the whole file",
    Flag.LOUD: "a spike, or far louder than those beside them",
    Flag.NO_PLACE: "a header word that is no number, no whole one, or too large, where it must not be",
}

# Keys of anomalies of files and shots.
TRUNCATED, LEFT_OUT, MOVES, DECLARED, HEADERS = "truncated", "left out", "moves", "units", "headers"
VOLUME, FORMAT = "volume", "format"
FILE_DESCRIPTIONS = {
    TRUNCATED: "files that end within a trace",
    LEFT_OUT: "files that are no gathers",
    MOVES: "shots whose source moves",
    DECLARED: "files that declare lengths as angles",
    HEADERS: "files whose headers contradict each other",
    VOLUME: "files that look like a volume (a model, an image, a stack)",
    FORMAT: "files whose samples look like another format than declared",
}
TREATMENTS = {
    TRUNCATED: "the last trace is left out",
    LEFT_OUT: "left out",
    MOVES: "kept: one place is needed to migrate",
    DECLARED: "read as metres",
    HEADERS: "one of them is used",
    VOLUME: "kept: there is nothing to migrate in a volume",
    FORMAT: "read as declared",
    Flag.SAMPLES: "the file's count is used",
    Flag.INTERVAL: "the file's interval is used",
    Flag.LOUD: "kept: muted where they are migrated, or as [acquisition] conditioning.loud_traces says",
}


FARTHEST = 1e15  # m: coordinates of the standard's words with any scalar are less
# Least and largest value of a column in rows that can be used; no NaN is between them.
RANGES = {
    **{f"{what}_{axis}": (-FARTHEST, FARTHEST) for what in ("source", "receiver") for axis in "xyz"},
    "offset": (0.0, 4 * FARTHEST),
    "interval": INTERVALS,
    "delay": (-LONGEST_SECONDS, LONGEST_SECONDS),
    "samples": (1, 2**31 - 1),
    "trace": (0, 2**53),
}


@dataclass(frozen=True)
class Anomaly:
    """One kind of anomaly of a survey: how often it occurs, where first, and how it is treated."""

    key: str  # the flag's name in lower case, or one of FILE_DESCRIPTIONS
    count: int
    words: str  # description
    first: str  # first occurrence, with what was found there
    made: str  # treatment; the name is a key of JSON

    def as_dict(self) -> dict[str, str | int]:
        """For JSON."""
        return dict(vars(self))


def anomaly(key: Flag | str, count: int, first: str) -> Anomaly:
    """An anomaly with the description and treatment of its key."""
    if isinstance(key, Flag):
        return Anomaly(
            str(key.name).lower(), count, f"traces: {DESCRIPTIONS[key]}", first, TREATMENTS.get(key, "left out")
        )
    return Anomaly(key, count, FILE_DESCRIPTIONS[key], first, TREATMENTS[key])
