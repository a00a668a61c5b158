"""Whether compression would make a planned run shorter: what nodes transform against what the disk takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fathometer.base.formatting import rate_in_words, seconds_in_words
from fathometer.plan.machine_file import Machine
from fathometer.plan.worth import NOTEWORTHY

WRITES = ("write image", "write snapshots")  # phases in which volumes are written
STRATEGY, STORED = "auto:filter=wavelet,shares=10", 0.12  # of the bytes


def compression_advice(machine: Machine, plan: Mapping[str, Any] | None) -> list[str]:
    """A line where writing volumes is a part of the planned run that is worth it: whether wavelet coefficients, a tenth
    of them, would be faster on this disk.

    plan: of a plan's record what was asked; None: it does not say so much.
    """
    rate = machine.wavelet_bytes_per_second
    if plan is None or rate is None or "phases" not in plan or "nodes" not in plan:
        return []
    writes = [phase for phase in plan["phases"] if phase["phase"] in WRITES]
    seconds, size = (sum(phase[key] for phase in writes) for key in ("seconds", "bytes"))
    if not seconds or seconds < NOTEWORTHY * plan["total_seconds"]:
        return []
    disk = min(machine.write_bytes_per_second * plan["nodes"], machine.storage_bytes_per_second or math.inf)
    packed = size / (rate * plan["nodes"]) + STORED * size / disk
    if packed < size / disk:
        return [
            f"storage: write = {STRATEGY!r} (.h5) would take {seconds_in_words(packed)} in place of "
            f"{seconds_in_words(seconds)}, and keep a tenth of the coefficients"
        ]
    return [
        f"storage: write = {STRATEGY!r} would not pay: the disk takes {rate_in_words(disk)}, the nodes transform "
        f"{rate_in_words(rate * plan['nodes'])}"
    ]
