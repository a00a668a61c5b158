"""What the ledger costs: shots of a grid of 128³ cells migrated with an account of them and without, in turns."""

from __future__ import annotations

import json
from statistics import median

from benchmarks.command import on_ranks
from benchmarks.table import Table


def ledger(threads: int, quick: bool) -> Table:
    """One rank with all threads, and as many ranks of one thread."""
    rows = []
    rounds = 3 if quick else 15
    for ranks in sorted({1, threads}):
        told = json.loads(on_ranks(ranks, "benchmarks.ledger_program", rounds, 64 if quick else 112, threads // ranks))
        ratios = [on / off for on, off in zip(told["on"], told["off"], strict=True)]
        share = told["spans"] * told["span_seconds"] / median(told["off"])
        rows.append(
            (
                f"{ranks} rank{'s' * (ranks > 1)} x {threads // ranks}",
                f"{median(told['on']):.3f}",
                f"{median(told['on']) / median(told['off']):.4f}",
                f"{min(ratios):.3f} to {max(ratios):.3f}",
                f"{told['spans']}",
                f"{1e6 * told['span_seconds']:.2f}",
                f"{100 * share:.3f} %",
                f"{told['growth_bytes']}",
            )
        )
    return Table(
        "The ledger's own cost",
        f"A shot migrated on {'80³' if quick else '128³'} cells with absorbing boundaries, float32, VTI, {rounds} "
        "times with a ledger open and as often without, and without the empty messages of its halo exchanges, in "
        "turns; at most 1.005 is wanted of the ratio of the medians. "
        "Single pairs differ by what else the machine does, so the same is also counted: spans of a shot times the "
        "measured seconds of one, over the time of the shot. Growth: of the account in memory between the first shot "
        "and the last.",
        ("run", "a shot, s", "on / off", "single pairs", "spans", "a span, µs", "counted", "growth, bytes"),
        tuple(rows),
    )
