"""python -m examples.historical: published runs on a cluster of 2010, and what `fathometer plan` says of them.

The machine is examples/historical/cluster.json: 16 nodes of 2 x six-core 2.93 GHz and 48 GB, QDR InfiniBand, storage at
1.5 GB/s. Two of its numbers were not published, and are chosen such that the small grid on 8 nodes comes out right: the
rate of the time steps, and what one node moves to and from files. All others are predictions. That snapshots went to
files, every 32 steps, is an assumption; so are two image volumes. What cuts add to the time steps of this program is
what `calibrate` has measured with two ranks of one thread on two cores of today (CUTS).
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from fathometer.lab.landscape import landscape
from fathometer.parallel.decomposition import Index3
from fathometer.plan.machine_file import CutWork, Machine, load_machine
from fathometer.seismic.acoustic.plan import plan_acoustic
from fathometer.seismic.plan import Plan, PlanRequest
from fathometer.seismic.survey import load_survey

FOLDER = Path(__file__).parent / "historical"
SMALL, LARGE = 1243, 2486  # cells along x
OTHER_AXES = "1151x1231"
SPACING = 12.5
MORE_NODES = (
    (SMALL, 32),
    (SMALL, 64),
    (2 * LARGE, 32),
    (4 * LARGE, 64),
)  # strong and weak scaling beyond the published

CUTS = (
    CutWork(physics="vti", along="y", work=7.5),
    CutWork(physics="vti", along="x", work=18.9),
)

Seconds = tuple[float, float]  # in the kernel, and in all


def published() -> dict[tuple[int, int], Seconds]:
    """By cells along x and nodes."""
    rows = landscape("rtm-x6275m2-scaling").only(["grid", "nodes", "kernel time", "total time"]).rows
    return {(int(str(grid).split("x")[0]), int(nodes)): (float(a), float(b)) for grid, nodes, a, b in rows}


def survey_file(cells: int, folder: Path) -> Path:
    """The survey of a grid of so many cells along x. Longer ones than the published are written into a folder:
    the large one with other headers, and a plan needs no more."""
    if cells in (SMALL, LARGE):
        return FOLDER / ("small.toml" if cells == SMALL else "large.toml")
    new = {f"n3={LARGE}": f"n3={cells}", str(SPACING * (LARGE - 1)): str(SPACING * (cells - 1))}
    for path in FOLDER.glob("large*"):
        text = path.read_text(encoding="utf-8")
        for old, other in new.items():
            text = text.replace(old, other)
        (folder / path.name).write_text(text, encoding="utf-8")
    return folder / "large.toml"


def plan(cells: int, nodes: int, machine: Machine, ranks: Index3 | None) -> Plan:
    """Of a grid on some nodes, one rank each. ranks: along x, y, z; None: as this program cuts it."""
    with tempfile.TemporaryDirectory() as folder:
        request = PlanRequest(nodes, nodes, ranks, velocities=(1500.0, 4500.0), migrate=True, history="files")
        return plan_acoustic(load_survey(survey_file(cells, Path(folder))), machine, request)


def table(known: Mapping[tuple[int, int], Seconds] | None = None) -> str:
    """Published and predicted, as Markdown: cut along x as that code did it, and as this program cuts it."""
    known = published() if known is None else known
    machine = load_machine(FOLDER / "cluster.json")
    ours = machine.model_copy(update={"nodes": 64, "cut_works": CUTS})
    rows = [
        "| grid | nodes | kernel, published | along x | ratio | as cut here | ratio "
        "| in all, published | along x | ratio | as cut here | ratio |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for cells, nodes in sorted({*known, *MORE_NODES}):
        there = known.get((cells, nodes))
        as_there = plan(cells, nodes, machine, (nodes, 1, 1)).asked if there else None
        here = plan(cells, nodes, ours, None).asked
        row = [f"{cells}x{OTHER_AXES}", str(nodes)]
        for place, name in enumerate(("kernel_seconds", "seconds")):
            told = there[place] if there else None
            row.append(f"{told:.0f} s" if told else "")
            for one in (as_there, here):
                seconds = getattr(one, name) if one else None
                row += [f"{seconds:.0f} s" if seconds else "", f"{seconds / told:.2f}" if seconds and told else ""]
        rows.append(f"| {' | '.join(row)} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
