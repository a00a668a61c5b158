"""What a run of this program says of itself, beside what was counted of it from outside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fathometer.record.profiled import OWN_RECORD
from fathometer.report.records import read_record

HALO = "halo exchange"


def own_account(folder: Path, hide_arguments: bool = False) -> dict[str, Any] | None:
    """Seconds of each rank by category, and the halos, from the record that the run has left in the profile's folder;
    None where it left none: another program, or one that did not finish. Raises InputError where it is damaged."""
    path = folder / OWN_RECORD
    if not path.exists():
        return None
    record = read_record(path).record
    ledger = record["ledger"]
    halos = [entry for entry in ledger["phases"] if entry["phase"] == HALO]
    return {
        "command": record["command"][:1] if hide_arguments else record["command"],
        "ranks": [
            {"rank": rank["rank"], "wall_seconds": rank["wall_seconds"], **_named(rank["categories"])}
            for rank in ledger["ranks"]
        ],
        "halo_bytes": sum(entry["total_bytes"] for entry in halos),
    }


def _named(categories: Mapping[str, float]) -> dict[str, float]:
    return {f"{name}_seconds": seconds for name, seconds in categories.items()}
