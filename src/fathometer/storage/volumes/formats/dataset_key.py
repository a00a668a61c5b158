"""Key of one array in a file that holds several: `file:key`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fathometer.base.errors import InputError, shortened
from fathometer.base.meant import did_you_mean


def choose_key(path: Path, key: str | None, names: Sequence[str]) -> str:
    """`key` if it is one of `names`, without a key the only name; otherwise InputError, which lists the names."""
    listed = shortened(", ".join(shortened(name) for name in sorted(names))) or "none"
    if key is None:
        if len(names) == 1:
            return names[0]
        raise InputError(f"{path}: needs a key, as in {path.name}:key (it holds: {listed})")
    if key.strip("/") not in names:
        meant = did_you_mean(key.strip("/"), names)
        raise InputError(f"{path}:{shortened(key)}: no such array in the file (it holds: {listed}){meant}")
    return key.strip("/")
