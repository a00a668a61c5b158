"""The tilings that were found earlier: tuning.json in the user's cache folder."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fathometer import __version__, _native
from fathometer.base.errors import FathometerError
from fathometer.base.host import caches, cpu_model
from fathometer.grid.tiling import Stepping, Tiling
from fathometer.storage import atomic
from fathometer.storage.folder import cache_folder
from fathometer.storage.json_text import json_values
from fathometer.storage.lock import FileLock

SCHEMA = 2


@dataclass(frozen=True)
class Kept:
    """A tiling that was found.

    Attributes:
        trials: that it comes from, in all runs: those with fewer do not replace it. settled: whether it was compared
            with all around it. gain: over plain sweeps, from a search.
        rates: cell updates a second of all ranks that share the grid, by the work of an advance (trials.py).
    """

    tiling: Tiling
    trials: int
    settled: bool
    gain: float | None = None
    rates: dict[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The same for the file, with today's date."""
        date = datetime.now(UTC).isoformat(timespec="seconds")
        return asdict(self) | {"tiling": self.tiling.numbers, "date": date}

    @classmethod
    def of(cls, entry: Any) -> Kept:
        """What the file holds. Raises TypeError, ValueError, LookupError or OverflowError for anything else."""
        depth, block, tile, team = numbers = entry["tiling"]
        gain, trials = entry["gain"], entry["trials"]
        rates = {str(kind): float(rate) for kind, rate in dict(entry["rates"]).items()}
        if (
            not all(type(n) is int for n in (*numbers, trials))
            or trials < 0
            or any(not 0 < r < 1e18 for r in rates.values())
            or not (gain is None or 0 < float(gain) < 1e18)
        ):
            raise ValueError
        tiling = Tiling(depth, block, tile, team)
        return cls(tiling, trials, entry["settled"] is True, None if gain is None else float(gain), rates)


def cache_file(folder: Path | None) -> Path | None:
    """Where choices are kept; None where there is no home."""
    folder = folder or cache_folder()
    return folder / "tuning.json" if folder is not None else None


def key_of(stepping: Stepping) -> str:
    """All that a choice holds for: machine, grid, order, physics, threads, ranks."""
    here = {"cpu": cpu_model(), "cpus": os.cpu_count(), "caches": asdict(caches()), "kernels": _native.variant}
    here["version"] = __version__
    return json.dumps(here | asdict(stepping))


def recall(stepping: Stepping, say: Callable[[str], None], folder: Path | None = None) -> Kept | None:
    """The choice that was kept for this machine and these steps; None where there is none that fits."""
    path = cache_file(folder)
    entry = _read(path, say).get(key_of(stepping)) if path else None
    if entry is None:
        return None
    with contextlib.suppress(TypeError, ValueError, LookupError, OverflowError):
        kept = Kept.of(entry)
        if stepping.fits(kept.tiling):
            return kept
    say(f"note: {path}: found no tiling that fits where one was kept; it is chosen anew")
    return None


def remember(
    stepping: Stepping, kept: Kept, say: Callable[[str], None], folder: Path | None = None, always: bool = False
) -> None:
    """Keep a choice, unless one from more trials is there and `always` is not set. That it cannot be kept is said, and
    no reason to end."""
    path = cache_file(folder)
    if path is None:
        say("note: the tuning cannot be kept: there is no home folder, and XDG_CACHE_HOME names none")
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.parent, create=False) as lock:
            with contextlib.suppress(FathometerError):  # no locks there: what a run keeps at the same time may be lost
                lock.acquire(wait=True)
            entries, key = _read(path, lambda line: None), key_of(stepping)
            with contextlib.suppress(TypeError, ValueError, LookupError, OverflowError):
                there = Kept.of(entries[key])
                if not always and there.trials > kept.trials and stepping.fits(there.tiling):
                    return
            entries[key] = kept.as_dict()
            atomic.write(path, json.dumps({"schema_version": SCHEMA, "choices": entries}, indent=1).encode())
    except (OSError, FathometerError) as error:
        say(f"note: the tuning cannot be kept: {error}")


def _read(path: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """The choices of a cache file; none from an older one, and none, with one note, from a file that is not one."""
    try:
        content = json_values(path.read_text(encoding="utf-8"))
        if content["schema_version"] != SCHEMA:
            return {}
        choices: dict[str, Any] = dict(content["choices"])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError):
        say(f"note: {path}: not a tuning cache; it is ignored and will be written anew")
        return {}
    return choices
