"""Samples that are hardly of the format which a file declares: told from the words of some of its traces.

All 4-byte formats have words of the same size, so that a wrong code shows in no length. Only different words that are
not 0 count, and FEWEST of them are needed.

    IEEE or IBM   The first digit of a normalised IBM float, bits 20 to 23, is never 0. Of an IEEE float these bits
                  are 0 from 2^n to 1.125 2^n, n odd; they are 15 just below that, and 1 just above: three intervals
                  of magnitudes beside each other. Let b, a and c be the numbers of words in them, for each n. Where
                  amplitudes are spread smoothly, a is expected to be at least the lesser of b and c, so that the
                  middle is empty everywhere by chance with odds below exp(-sum(min(b, c))): 2e-9 at CROSSINGS.
                  Amplitudes that do not cross such places, or only few of which do, tell nothing.
    integers      As floats of either kind small integers are next to nothing where they are positive, and no numbers
                  or beyond all others where they are negative: floats are not both. As integers, floats are beyond
                  2^23, of either sign.
    byte order    The exponents of swapped floats are the last digits of true ones: magnitudes spread over all decades.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fathometer.base import ledger
from fathometer.base.errors import InputError
from fathometer.storage.traces.file_layout import Layout
from fathometer.storage.traces.headers import swap_pairs
from fathometer.storage.traces.notches import spread
from fathometer.storage.traces.sample_formats import IBM, SAMPLE_FORMATS

IEEE, INT32 = 5, 2
MOST_WORDS, MOST_TRACES = 1 << 16, 64  # that are looked at
FEWEST = 1000  # different words
CROSSINGS = 20  # least sum(min(b, c)) that tells IEEE from IBM
SHARE = 0.01  # of IEEE floats at least so many are in the middle intervals
SMALLEST_FLOAT = 1 << 23  # as integers, floats of usual sizes are farther from 0
LARGEST_INTEGER = 1 << 27  # integers are nearer to 0: as IEEE floats below 4e-34, or beyond -1e34, or no numbers
BOTH = 0.05  # of the words have either sign
MOSTLY = 0.99  # of all words
USUAL = 20.0  # decades around 1 in which the median of floats lies
WIDE, NARROW = 40.0, 20.0  # decades from the 5th to the 95th percentile of swapped floats, and of floats

Words = NDArray[np.uint32]


def format_doubts(layout: Layout) -> list[str]:
    """A note where samples look like another format than the file declares, in which they are read nevertheless.

    InputError where as declared they are no numbers at all, and where the file cannot be read.
    """
    if layout.format not in (IBM, INT32, IEEE):
        return []
    words = _words_of(layout)
    if len(words) < FEWEST:
        return []
    kind = _kind(words)
    if layout.format == INT32:
        far = bool((_distances(words) > SMALLEST_FLOAT).all())
        negative = np.count_nonzero(words >> np.uint32(31)) / len(words)
        # Integers about one that is not 0 are all far from it, too, but of one sign.
        return [_told(layout, kind)] if far and kind and BOTH <= negative <= 1 - BOTH else []
    swapped = words.byteswap()
    nearly_all_small = np.count_nonzero(_distances(words) < LARGEST_INTEGER) >= MOSTLY * len(words)
    own, other = (_decades(some, layout.format) for some in (words, swapped))
    if (nearly_all_small or own > WIDE) and other < NARROW and _usual(swapped, layout.format):
        looks = f"{_named(_kind(swapped) or layout.format)} with their bytes in the other order"
        raise InputError(f"{layout.path}: {_declared(layout)}, but the samples look like {looks}: swap them")
    if nearly_all_small:
        what = "which as floats are no numbers, or next to nothing"
        raise InputError(
            f"{layout.path}: {_declared(layout)}, but the samples look like {_named(INT32)}, {what}: correct the code"
        )
    return [_told(layout, kind)] if kind is not None and kind != layout.format else []


def _declared(layout: Layout) -> str:
    where = "as of all SU" if layout.kind == "SU" else "bytes 3225-3226"
    return f"the sample format is {layout.format} ({SAMPLE_FORMATS[layout.format][1]}), {where}"


def _named(code: int) -> str:
    return f"{SAMPLE_FORMATS[code][1]}s (code {code})"


def _told(layout: Layout, code: int) -> str:
    return (
        f"{_declared(layout)}, but the samples look like {_named(code)}: they are read as declared, which is hardly "
        "meant; correct the code"
    )


def _words_of(layout: Layout) -> Words:
    """Different words, none of 0, of traces that are spread over the file."""
    most = min(MOST_TRACES, max(1, MOST_WORDS // layout.samples))
    chosen = spread(layout.traces, most)
    with ledger.io(bytes=len(chosen) * layout.trace_bytes):
        stored = layout.stored(chosen)[:, layout.header_bytes :]
    stored = swap_pairs(stored) if layout.pairs else np.ascontiguousarray(stored)
    every = -(-len(chosen) * layout.samples // MOST_WORDS)
    words = np.unique(stored.view(layout.order + "u4")[:, ::every].astype(np.uint32))
    return np.asarray(words[words & np.uint32(0x7FFFFFFF) != 0])


def _distances(words: Words) -> NDArray[np.int64]:
    """From 0, of words as integers with a sign."""
    return np.abs(words.view(np.int32).astype(np.int64))


def _kind(words: Words) -> int | None:
    """IEEE or IBM, whichever the words are as floats; None where they do not tell."""
    places = np.bincount((words >> np.uint32(20)).astype(np.int64) & 0x7FF, minlength=0x800).reshape(128, 16)
    below, middle, above = places[:-1, 15], places[1:, 0], places[1:, 1]
    beside = np.minimum(below, above)
    if not places[:, 0].any():
        return IBM if beside.sum() >= CROSSINGS else None
    crossings = np.minimum(beside, middle).sum()
    return IEEE if crossings >= CROSSINGS and places[:, 0].sum() > SHARE * len(words) else None


def _logarithms(words: Words, code: int) -> NDArray[np.float64]:
    """Decimal logarithms of the magnitudes of those words that as floats are finite and not 0."""
    if code == IBM:
        fraction, exponent = words & np.uint32(0xFFFFFF), (words >> np.uint32(24)).astype(np.int64) & 0x7F
        some = fraction > 0
        return np.asarray(np.log10(fraction[some] / 2.0**24) + (exponent[some] - 64) * np.log10(16.0))
    values = words.view(np.float32)
    sizes = np.abs(values[np.isfinite(values)].astype(np.float64))
    return np.asarray(np.log10(sizes[sizes > 0]))


def _decades(words: Words, code: int) -> float:
    """From the 5th to the 95th percentile of magnitudes; 0 where there are none."""
    sizes = _logarithms(words, code)
    return float(np.ptp(np.percentile(sizes, (5, 95)))) if len(sizes) else 0.0


def _usual(words: Words, code: int) -> bool:
    """Whether the words are nearly all numbers, and the median of their magnitudes is of a usual size."""
    sizes = _logarithms(words, code)
    return len(sizes) >= MOSTLY * len(words) and abs(float(np.median(sizes))) <= USUAL
