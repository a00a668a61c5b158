"""Cases of the storage benchmark: operations, formats and strategies as asked for and as this machine has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.base.meant import did_you_mean
from fathometer.storage.volumes.registry import BY_SUFFIX, Format
from fathometer.storage.volumes.strategy import AUTO, DATATYPES, NAMES, ROOT, SHARED, WAVELET, Strategy

OPERATIONS = ("write", "read")
ALL = "all"
RAW = ("RSF", "NPY", "SEG-Y")  # formats whose bytes MPI-IO itself moves
WRITABLE = {suffix.removeprefix("."): form for suffix, form in BY_SUFFIX.items() if form.writes}


@dataclass(frozen=True)
class StorageCase:
    """One thing to measure: an operation, a kind of file by its suffix (without the dot), a strategy; buffer: of files
    of steps, how many are written together, else 0; slabs: whether blocks are cut along the slowest axis alone, so that
    each is contiguous in a file."""

    operation: str
    format: str
    strategy: Strategy
    buffer: int = 0
    slabs: bool = False

    @property
    def form(self) -> Format:
        """The format of the file."""
        return WRITABLE[self.format]

    @property
    def lossy(self) -> bool:
        """Whether what is read back need not be what was written."""
        return self.strategy.lossy

    @property
    def compressed(self) -> bool:
        """Whether fewer bytes may be stored than there are."""
        return self.strategy.filter != "none"

    @property
    def listed(self) -> bool:
        """Whether MPI-IO gets a list of single elements."""
        return self.strategy.datatype == "hindexed"

    def __str__(self) -> str:
        return f"{self.operation} {self.format} {way(str(self.strategy), self.buffer)}{', slabs' * self.slabs}"


def way(strategy: str, buffer: int) -> str:
    """A strategy as tables name it, with the steps that are written together."""
    return strategy if not buffer else f"{strategy}, {buffer} step{'s'[: buffer - 1]} a write"


def strategy_names(text: str) -> tuple[str, ...]:
    """The strategies of a list, whose own options have commas too: a,b:x=1,y=2 are a and b:x=1,y=2.

    Raises InputError for what is no strategy.
    """
    words: list[str] = []
    for part in (piece.strip() for piece in text.split(",")):
        if words and "=" in part and part.partition(":")[0] not in NAMES:
            words[-1] += f",{part}"
        else:
            words.append(part)
    for word in words:
        if word == ALL:
            continue
        strategy = Strategy.of(word)
        if strategy.name == AUTO:
            raise InputError(f"{word}: is no strategy of its own (allowed: {ALL}, {', '.join(NAMES[1:])})")
        if strategy.sync == "none":
            raise InputError(f"{word}: sync=none: what is not flushed cannot be compared (allowed: fsync, o_dsync)")
    return tuple(dict.fromkeys(words))


def choose(
    operations: Sequence[str], strategies: Sequence[str], formats: Sequence[str], ranks: int
) -> tuple[list[StorageCase], list[str]]:
    """The cases, and notes on what this machine has not got.

    strategies: texts; ("all",): each of a format, and each data type of MPI-IO; (): each of a format as it usually is.
    formats: suffixes without the dot; ("all",): all that can be written here.
    Raises InputError: a format named that is not known, not written or not installed; nothing left to measure.
    """
    all_formats = ALL in formats
    cases: list[StorageCase] = []
    notes: list[str] = []
    for name in dict.fromkeys(_usual_suffixes() if all_formats else formats):
        if name not in WRITABLE:
            raise InputError(f"--format {name}: allowed: {ALL}, {', '.join(WRITABLE)}{did_you_mean(name, WRITABLE)}")
        form = WRITABLE[name]
        for operation in OPERATIONS:
            if operation not in operations:
                continue
            known = form.writes if operation == "write" else form.reads
            for strategy in _wanted(form, known, strategies, operation):
                lacking = form.lacking(strategy, ranks)
                if lacking and not all_formats:
                    raise InputError(f"--format {name}: {lacking}")
                if lacking:
                    notes.append(f"{name} is left out: {lacking}")
                else:
                    cases.append(StorageCase(operation, name, strategy))
    if not cases:
        raise InputError(
            f"--strategy {','.join(strategies) or ALL} with --format {','.join(formats)}: no format is written or read "
            f"so; allowed: see `fathometer info --formats`"
        )
    used = {replace(case.strategy, sync="fsync") for case in cases}
    for text in strategies:
        if text != ALL and replace(Strategy.of(text), sync="fsync") not in used:
            notes.append(f"{text} is left out: not for --format {','.join(formats)}")
    return cases, list(dict.fromkeys(notes))


def _usual_suffixes() -> list[str]:
    """One suffix for each format."""
    return [form.suffixes[0].removeprefix(".") for form in dict.fromkeys(WRITABLE.values())]


def _wanted(form: Format, known: Sequence[str], strategies: Sequence[str], operation: str) -> list[Strategy]:
    """Those of the wanted ones that a format has for an operation; what is of consequence for writing only is the same
    for reading."""
    named = [Strategy.of(text) for text in strategies if text != ALL]
    named = [
        strategy
        for strategy in named
        if (strategy.name in known or (operation == "write" and strategy.filter == WAVELET))
        and strategy.filter in form.filters
        and (form.levels or not strategy.levels)
    ]
    if operation == "write":
        for strategy in named:
            form.chosen(Path(f"--format {form.suffixes[0].removeprefix('.')}"), strategy, "write", 1)
    else:
        named = [replace(strategy, sync="fsync") for strategy in named]
    if strategies and ALL not in strategies:
        return list(dict.fromkeys(named))
    every_known = [Strategy.of(name) for name in known]
    if ALL in strategies and form.name in RAW:
        every_known += [
            Strategy.of(f"{name}:datatype={kind}")
            for kind in DATATYPES
            for name in known
            if name.startswith("mpiio") and kind != Strategy.of(name).datatype
        ]
        if operation == "write":
            every_known += [Strategy.of(f"{SHARED}:sync=o_dsync")]
    # Baselines last: where time is short, they are what is done without.
    return sorted(
        dict.fromkeys(every_known + named),
        key=lambda strategy: (strategy.datatype == "hindexed", strategy.name == ROOT),
    )


def usual_read(form: Format) -> Strategy:
    """How a volume is read back to be verified."""
    return Strategy.of(form.reads[0])


def source_of(case: StorageCase, ranks: int) -> Strategy:
    """How the volume that a case reads is written: as usual, or as this machine can."""
    name = next(name for name in case.form.writes if not case.form.missing(name, ranks))
    own = case.strategy
    if own.filter == WAVELET:
        name = SHARED
    return replace(Strategy.of(name), filter=own.filter, bits=own.bits, shares=own.shares, levels=own.levels)
