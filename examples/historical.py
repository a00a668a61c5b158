"""python -m examples.historical: published runs on a cluster of 2010, and what `fathometer plan` says of them.

The machine is examples/historical/cluster.json: 16 nodes of 2 x six-core 2.93 GHz and 48 GB, QDR InfiniBand, storage at
1.5 GB/s. Two of its numbers were not published, and are chosen such that the small grid on 8 nodes comes out right: the
rate of the time steps, and what one node moves to and from files. The other three runs are predictions. That snapshots
went to files, every 32 steps, is an assumption; so are two image volumes.
"""

from __future__ import annotations

from pathlib import Path

from fathometer.plan.machine_file import load_machine
from fathometer.seismic.acoustic.plan import plan_acoustic
from fathometer.seismic.cost.prediction import WavePrediction
from fathometer.seismic.plan import PlanRequest
from fathometer.seismic.survey import load_survey

FOLDER = Path(__file__).parent / "historical"
PUBLISHED = {  # grid, nodes: seconds in the kernel and in all
    ("small", 8): (555, 1058),
    ("small", 16): (242, 501),
    ("large", 8): (1193, 2085),
    ("large", 16): (576, 1060),
}


def predictions() -> dict[tuple[str, int], WavePrediction]:
    """The four runs, one rank a node, cut along x only."""
    machine = load_machine(FOLDER / "cluster.json")
    found = {}
    for grid, nodes in PUBLISHED:
        request = PlanRequest(nodes, nodes, (nodes, 1, 1), velocities=(1500.0, 4500.0), migrate=True, history="files")
        found[grid, nodes] = plan_acoustic(load_survey(FOLDER / f"{grid}.toml"), machine, request).asked
    return found


def table() -> str:
    """Published and predicted, as Markdown."""
    rows = [
        "| grid | nodes | kernel, published | predicted | ratio | in all, published | predicted | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (grid, nodes), one in predictions().items():
        kernel, total = PUBLISHED[grid, nodes]
        cells = "1243 x 1151 x 1231" if grid == "small" else "2486 x 1151 x 1231"
        rows.append(
            f"| {cells} | {nodes} | {kernel} s | {one.kernel_seconds:.0f} s | {one.kernel_seconds / kernel:.2f} "
            f"| {total} s | {one.seconds:.0f} s | {one.seconds / total:.2f} |"
        )
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
