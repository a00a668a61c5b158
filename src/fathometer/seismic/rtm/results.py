"""What a migration's record says of its shots and its history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fathometer.grid.tiling import Tuned
from fathometer.parallel.groups import Group
from fathometer.runs.journal import Journal
from fathometer.runs.tasks import GroupWork
from fathometer.seismic.history.choice import HistoryChoice
from fathometer.seismic.rtm.illumination import Illumination
from fathometer.seismic.setup.cone import Saved, record
from fathometer.seismic.setup.run_record import WorkDone
from fathometer.seismic.setup.setup import Setup


@dataclass
class MigrationFigures:
    """What a rank has counted of a migration.

    Attributes:
        history: figures of its snapshots. updates: of cells, by shot and loop. tuned, choice: how its time steps were
            tiled and its history was kept; None without a shot.
    """

    history: dict[str, Any] = field(default_factory=dict)
    updates: dict[int, dict[str, Saved]] = field(default_factory=dict)
    tuned: Tuned | None = None
    choice: HistoryChoice | None = None


def migration_results(
    setup: Setup, journal: Journal, work: Sequence[GroupWork], identity: Mapping[str, Any]
) -> tuple[Tuned | None, WorkDone, dict[str, Any], list[str]]:
    """Tiling, work done, further results and reasons why they are not complete, for the record.

    work: of all ranks. identity: what it cost to know the files (setup/fingerprint.py).
    """
    done = sorted(shot for rank in work for shot in rank.done)
    figures: list[MigrationFigures] = [rank.figures for rank in work]
    first = next((rank for rank in figures if rank.choice is not None), None)
    results: dict[str, Any] = {
        "migrated_shots": done,
        "earlier_shots": len(journal.done) - len(done),
        "failed_shots": [{"shot": shot, "reason": reason} for shot, reason in sorted(journal.failed.items())],
        "replaced_traces": journal.repaired,
        "identity": identity,
        "groups": Group.of(0, setup.comm.size, setup.ranks_per_shot).groups,
    }
    if first is not None and first.choice is not None:
        results["history"] = first.choice.as_dict() | {"ranks": [rank.history for rank in figures if rank.history]}
    shots = setup.acquisition.shots
    reasons = [f"{len(journal.failed)} of {len(shots)} shots are not in the image"] if journal.failed else []
    of_shots = {shot: loops for rank in figures for shot, loops in rank.updates.items()}
    loops = {"source": Saved(), "receiver": Saved()}
    for shot in done:
        for name, saved in of_shots[shot].items():
            loops[name].add(saved)
    results["cone"] = record(loops)
    updates = sum(saved.computed for saved in loops.values())
    tilings = [rank.tuned for rank in figures if rank.tuned is not None]
    tuned = max(tilings, key=lambda tuned: tuned.lost, default=None)  # of the group whose trials lost most
    return tuned, WorkDone(len(done), updates), results, reasons


def illumination_facts(level: Illumination | None, notes: Sequence[str]) -> dict[str, Any]:
    """For the record's results, which have `notes` besides; nothing where no image is divided by the illumination."""
    if level is None:
        return {}
    return {"illumination": level.as_dict()} | ({"notes": [*notes, level.note]} if level.note else {})


def failed_shots(setup: Setup, journal: Journal) -> dict[int, str]:
    """Why shots are not in the image, by their indices."""
    names = {shot.index: shot.name for shot in setup.acquisition.shots}
    return {shot: f"{names[shot]}: {reason}" for shot, reason in sorted(journal.failed.items())}
