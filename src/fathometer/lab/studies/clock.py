"""The clock of the cpus during a run, where the system lets this user set it (Linux cpufreq).

What it was before is kept in a file until it is so again: a study that is killed leaves the clock as it had set it, and
its next session, or `restore`, sets it back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.removal import remove_file
from fathometer.storage import atomic
from fathometer.storage.json_text import as_written, json_object

CPUS = Path("/sys/devices/system/cpu")
STATE = "clock.json"  # in the study's folder
_LEAST, _MOST = "scaling_min_freq", "scaling_max_freq"  # kHz, as their limits


Limits = dict[str, dict[str, str]]  # in the files of each processor


def check_clock(hertz: object, cpus: Path = CPUS) -> None:
    """Raises InputError, with the reason, where the clock cannot be set to so many hertz."""
    if isinstance(hertz, bool) or not isinstance(hertz, int | float) or not hertz > 0:
        found = f'"{hertz}"' if isinstance(hertz, str) else hertz
        raise InputError(f"[runs] clock: found {found}; allowed: a number of Hz, such as 2.4e9")
    folders = _folders(cpus)
    if not folders:
        raise InputError(
            f"[runs] clock: found {hertz:g} Hz, but {cpus}/cpu*/cpufreq is not there: this system lets nobody set the "
            "clock, as most virtual machines; allowed: a study without it"
        )
    for folder in folders:
        for name in (_LEAST, _MOST):
            if not os.access(folder / name, os.W_OK):
                raise InputError(f"[runs] clock: {folder / name} cannot be written; allowed: by root")
        low, high = _limits(folder)
        if not low <= hertz <= high:
            raise InputError(f"[runs] clock: found {hertz:g} Hz; allowed: {low:g} to {high:g}")


def clock_limits(cpus: Path = CPUS) -> tuple[float, float] | None:
    """Lowest and highest clock that this user can set, Hz; None where it cannot be set."""
    try:
        low, high = _limits(_folders(cpus)[0])
        check_clock(high, cpus)
    except (IndexError, OSError, ValueError, InputError):
        return None
    return low, high


@contextmanager
def clock_set(hertz: float | None, state: Path, cpus: Path = CPUS) -> Iterator[None]:
    """Within the block all cpus run at this clock; None: as they do. state: the file that holds what it was before.

    Raises InputError as `check_clock`, FathometerError where the system does not take it.
    """
    if hertz is None:
        yield
        return
    check_clock(hertz, cpus)
    before = {
        str(folder): {name: (folder / name).read_text().strip() for name in (_LEAST, _MOST)}
        for folder in _folders(cpus)
    }
    atomic.write(state, json.dumps(before).encode())
    try:
        wanted = str(round(hertz / 1000))
        _write({folder: {_LEAST: wanted, _MOST: wanted} for folder in before})
        yield
    finally:
        restore(state)


def restore(state: Path) -> None:
    """Set the clock back to what the file says, and remove it; nothing where there is none.

    Raises InputError where the file is damaged, FathometerError where the system does not take what it says.
    """
    if state.exists():
        try:
            before = as_written(Limits, json_object(state))
            if any(set(limits) != {_LEAST, _MOST} for limits in before.values()):
                raise ValueError(f"no {_LEAST} and {_MOST} of each processor")
        except ValueError as error:
            raise InputError(
                f"{state}: damaged: {error}; the clock of the processors is not set back: to be done by hand, and the "
                "file removed"
            ) from None
        _write(before)
        remove_file(state)


def _folders(cpus: Path) -> list[Path]:
    return sorted(cpus.glob("cpu[0-9]*/cpufreq"))


def _limits(folder: Path) -> tuple[float, float]:
    """Lowest and highest clock of a processor, Hz."""
    low, high = (1000.0 * int((folder / f"cpuinfo_{word}_freq").read_text()) for word in ("min", "max"))
    return low, high


def _write(values: Limits) -> None:
    for folder, names in values.items():
        # The lower limit may never be above the upper one, on the way neither: whichever goes first, one of them fits.
        for name in (_LEAST, _MOST, _LEAST):
            with suppress(OSError):
                (Path(folder) / name).write_text(names[name])
        for name, value in names.items():
            if (Path(folder) / name).read_text().strip() != value:
                raise FathometerError(f"{folder}/{name}: the system does not take {value} kHz")
