"""Strategies: how a volume's bytes move between ranks and files, by name and options.

    posix-shared                                   pwrite and pread at offsets of one file
    mpiio-collective:datatype=subarray,cb_nodes=2  MPI-IO, with a hint for its aggregators

The registry of formats says which of them each format can be read and written by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fathometer.base.errors import InputError
from fathometer.base.meant import did_you_mean

AUTO = "auto"  # the first strategy of the format
ROOT = "root-broadcast"
PER_RANK = "posix-per-rank"
SHARED = "posix-shared"
INDEPENDENT, COLLECTIVE, NONBLOCKING = "mpiio-independent", "mpiio-collective", "mpiio-nonblocking"

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        SHARED: "all ranks in one file, each its own runs of bytes at their offsets",
        PER_RANK: "one file a rank, and an index",
        COLLECTIVE: "MPI-IO, all ranks in one call: aggregators gather, then move few large pieces",
        INDEPENDENT: "MPI-IO, each rank for itself",
        NONBLOCKING: "MPI-IO, each rank for itself: all calls are begun, then waited for",
        ROOT: "the old way, kept as the baseline: rank 0 alone has the file open, and sends or gathers everything",
    }
)
NAMES = (AUTO, *MEANINGS)
DATATYPES = ("contiguous", "subarray", "hindexed")
SYNCS = ("none", "fsync", "o_dsync")
WAVELET = "wavelet"
FILTERS = ("none", "zfp", "sperr", "blosc2", WAVELET)
SHARES = (500, 100, 10, 1)
MOST_SHARE, MOST_LEVELS = 10**6, 30


@dataclass(frozen=True)
class Strategy:
    """A strategy with its options; `Strategy.of(text)` and `str(strategy)` are inverse to each other.

    Attributes:
        name: one of NAMES.
        datatype: how a block's bytes are described to MPI-IO. contiguous: a call for each contiguous run; subarray: one
            datatype for the block; hindexed: a list of single elements, kept as the baseline (some 160 B of memory an
            element). POSIX strategies move runs: contiguous.
        sync: how written bytes reach the device before the file gets its name. none: left to the system; fsync
            (MPI_File_sync under MPI-IO); o_dsync: with each write (POSIX strategies). No effect on reading.
        filter: compression (HDF5 only). zfp and blosc2 are lossless, sperr is not, nor is zfp with `bits`; wavelet
            rounds (to some 1e-6 of a block's largest value), and loses more where its last share is not 1.
        bits: fixed rate of zfp or sperr, bits a value; 0: lossless where the filter supports it (sperr: 8).
        shares: of wavelet, the levels of detail: 500 is the largest 1:500 of the coefficients.
        levels: of box means, stored beside the volume (HDF5 and Zarr).
        hints: MPI-IO hints, passed on unchanged, such as cb_nodes, cb_buffer_size, striping_factor, striping_unit.
    """

    name: str = AUTO
    datatype: str = "contiguous"
    sync: str = "fsync"
    filter: str = "none"
    bits: int = 0
    shares: tuple[int, ...] = SHARES
    levels: int = 0
    hints: tuple[tuple[str, str], ...] = ()

    @property
    def overlaps(self) -> bool:
        """Whether a cell that several ranks need is read from the file by each of them."""
        return self.name not in (ROOT, COLLECTIVE)

    @property
    def lossy(self) -> bool:
        """Whether what is read back need not be what was written."""
        return self.filter in ("sperr", WAVELET) or self.bits > 0

    @classmethod
    def of(cls, text: str) -> Strategy:
        """Parse NAME or NAME:option=value,…; InputError with what is allowed."""
        name, colon, rest = text.partition(":")
        if name not in NAMES:
            raise InputError(
                f"{text}: no storage strategy {name!r} (allowed: {', '.join(NAMES)}){did_you_mean(name, NAMES)}"
            )
        mpiio = name.startswith("mpiio")
        datatypes = DATATYPES if mpiio else DATATYPES[:1]
        syncs = SYNCS[:2] if mpiio else SYNCS
        counts = {"bits": 64, "levels": MOST_LEVELS}
        allowed = {"datatype": datatypes, "sync": syncs, "filter": FILTERS, "shares": ()} | {
            key: [str(n) for n in range(1, most + 1)] for key, most in counts.items()
        }
        options: dict[str, str] = {}
        for option in rest.split(",") if colon else ():
            key, equals, value = (part.strip() for part in option.partition("="))
            if not equals or not key or not value or key in options:
                raise InputError(f"{text}: found {option!r}; allowed: NAME:key=value,key=value, each key once")
            if key in allowed and key != "shares" and value not in allowed[key]:
                span = f"1 to {counts[key]}" if key in counts else ", ".join(allowed[key])
                raise InputError(
                    f"{text}: {key}={value} is not for {name} (allowed: {span}){did_you_mean(value, allowed[key])}"
                )
            if key not in allowed and not mpiio:
                raise InputError(
                    f"{text}: {key} is no option of {name} (allowed: {', '.join(allowed)}){did_you_mean(key, allowed)}"
                )
            options[key] = value
        own = options.get("filter", "none")
        if own not in ("zfp", "sperr") and "bits" in options:
            raise InputError(f"{text}: bits: found without filter=zfp or filter=sperr; allowed: only with them")
        if own != WAVELET and "shares" in options:
            raise InputError(f"{text}: shares: found without filter=wavelet; allowed: only with it")
        if own == WAVELET and "levels" in options:
            raise InputError(f"{text}: levels: found with filter=wavelet, which has levels of its own; allowed: one")
        return cls(
            name,
            options.get("datatype", "subarray" if mpiio else "contiguous"),
            options.get("sync", "fsync"),
            options.get("filter", "none"),
            int(options.get("bits", 0)),
            _shares(text, options["shares"]) if "shares" in options else SHARES,
            int(options.get("levels", 0)),
            tuple((key, value) for key, value in options.items() if key not in allowed),
        )

    def __str__(self) -> str:
        usual = Strategy.of(self.name)
        options = [
            f"{key}={getattr(self, key)}"
            for key in ("datatype", "sync", "filter", "bits", "levels")
            if getattr(self, key) != getattr(usual, key)
        ]
        options += [f"shares={'/'.join(map(str, self.shares))}"] if self.shares != SHARES else []
        options += [f"{key}={value}" for key, value in self.hints]
        return self.name + (":" + ",".join(options) if options else "")


def _shares(text: str, value: str) -> tuple[int, ...]:
    """The shares of an option, as 500/100/10/1."""
    words = value.split("/")
    shares = tuple(int(word) for word in words if word.isdecimal() and 1 <= int(word[:8]) <= MOST_SHARE)
    if len(shares) != len(words) or sorted(set(shares), reverse=True) != list(shares):
        raise InputError(
            f"{text}: shares={value}: allowed: falling numbers from {MOST_SHARE} to 1, as "
            f"{'/'.join(map(str, SHARES))}; 100 is the largest hundredth of the coefficients"
        )
    return shares
