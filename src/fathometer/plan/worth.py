"""What a machine file is worth: how old it is, of which host, what disturbed its measuring, what is not in it."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fathometer.base.formatting import seconds_in_words
from fathometer.base.host import cpu_model
from fathometer.plan.machine_file import Calibration, Machine

NOTEWORTHY = 0.05  # of a run's seconds
OLD_DAYS = 90  # from which on the age is a reason to measure again
# Of the figures that every plan takes; what an application needs besides, it asks for itself.
NEEDED = (
    *("process_bytes", "start_seconds", "finish_seconds", "runs", "fresh_bytes_per_second"),
    *("local_latency_seconds", "local_bytes_per_second"),
)
BETWEEN_NODES = ("network_latency_seconds", "network_bytes_per_second")


@dataclass(frozen=True)
class Worth:
    """What is known of a machine file.

    Attributes:
        days: since it was measured; None: not known. here: whether this host with this processor was.
        disturbed: figures that were measured while something disturbed it, with what that was. measured: how many were
        measured. defaults: keys that are not in the file.
    """

    days: float | None
    here: bool
    of: str
    disturbed: dict[str, tuple[str, ...]]
    measured: int
    defaults: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "age_days": self.days,
            "measured_here": self.here,
            "measured_on": self.of,
            "figures_measured": self.measured,
            "figures_disturbed": {name: list(marks) for name, marks in self.disturbed.items()},
            "figures_by_default": list(self.defaults),
        }

    def lines(self) -> list[str]:
        """For people: one on its measuring, one on what is not in it."""
        if self.days is None:
            text = ["machine file: does not say when and how its figures were measured"]
        else:
            age = "today" if self.days < 1 else f"{self.days:.0f} days ago"
            where = "" if self.here else f", on another machine ({self.of})"
            old = "; `fathometer calibrate` measures anew" if self.days > OLD_DAYS else ""
            text = [f"machine file: measured {age}{where}, {self._disturbance()}{old}"]
        if self.defaults:
            text.append(f"machine file: without {', '.join(self.defaults)}: nothing or a default is taken")
        return text

    def _disturbance(self) -> str:
        if not self.disturbed:
            return "undisturbed as far as was seen"
        marks = ", ".join(dict.fromkeys(mark for all_of in self.disturbed.values() for mark in all_of))
        share = f"{len(self.disturbed)} of {self.measured} figures while it was disturbed ({marks}):"
        if worth_little(len(self.disturbed), self.measured):
            return f"{share} this plan is worth little; calibrate again on a quiet machine"
        return f"{share} these may be too slow"


def worth_little(disturbed: int, measured: int) -> bool:
    """Whether so many of what was measured were disturbed that the others do not help."""
    return 2 * disturbed > measured


def worth_of(machine: Machine, now: datetime | None = None) -> Worth:
    """What the machine's file is worth on this host."""
    calibration = machine.calibration or Calibration(host="", cpu="", time="", measurements=())
    names = [name for one in calibration.measurements for name in one.figures]
    wrong = {name: one.disturbed for one in calibration.measurements if one.disturbed for name in one.figures}
    wanted = NEEDED + BETWEEN_NODES * (machine.nodes > 1)
    return Worth(
        _days(calibration.time, now or datetime.now(UTC)),
        (calibration.host, calibration.cpu) == (socket.gethostname(), cpu_model() or ""),
        f"{calibration.host}, {calibration.cpu}",
        wrong,
        len(names),
        tuple(name for name in wanted if name not in machine.model_fields_set),
    )


def first_use(machine: Machine, asked: Mapping[str, Any] | None) -> list[str]:
    """A line where a run may take longer because its node gives out memory that no process has used yet.

    asked: of a plan's record; None: it does not say what a node holds.
    """
    unused, fresh = machine.unused_bytes_per_second, machine.fresh_bytes_per_second
    if asked is None or unused is None or fresh is None or unused >= fresh:
        return []
    held = asked["memory_bytes_per_rank"] * asked["ranks_per_node"]
    more = held / unused - held / fresh
    if more < NOTEWORTHY * asked["total_seconds"]:
        return []
    return [f"set up: up to {seconds_in_words(more)} more where no process has used the memory since the machine began"]


def _days(time: str, now: datetime) -> float | None:
    """Since an ISO time; None where it is none, or one without its zone."""
    try:
        return max(0.0, (now - datetime.fromisoformat(time)).total_seconds() / 86400)
    except (ValueError, TypeError):
        return None
