"""`fathometer plan` of a farm: from a sample of its tasks, which are done here, to the cost of all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from fathometer.apps.farm.farm_file import FarmFile, FastaTasks
from fathometer.apps.farm.framing import framing_of
from fathometer.apps.farm.inputs import files_of
from fathometer.apps.farm.samples import Sample, measured_queries, sampler
from fathometer.apps.farm.sources import Group, Places, groups_of
from fathometer.base.errors import InputError
from fathometer.base.formatting import bytes_in_words, digits, number_of, time_in_words
from fathometer.plan.machine_file import Machine
from fathometer.runs.application import CostEstimate

MOST_SAMPLES = 16  # of each group of tasks
LONGEST = 20.0  # s of samples of a group, after which no more are done
HAND_OVER = 2e-4  # s of a task beside the task itself: its way from the queue to the writer's buffer
START = 0.35  # s until the processes of a node stand by, beside the start of a rank
PROCESS = 40e6  # bytes of a worker or the writer beside its buffers
TASK_BYTES = 25  # of the application master for each task


@dataclass(frozen=True)
class Cost:
    """Of a group's tasks. samples: those that were done. ratio: of their results, plain to stored."""

    group: Group
    samples: Sequence[Sample]
    ratio: float

    @property
    def seconds(self) -> float:
        """Of a task, on average."""
        return sum(sample.seconds for sample in self.samples) / len(self.samples)

    @property
    def plain_bytes(self) -> float:
        """Of all results."""
        return self.group.count * sum(len(sample.result) for sample in self.samples) / len(self.samples)

    @property
    def uncertain(self) -> float:
        """Half a 95 % interval of the mean, relative: of a normal law, which few samples do not show."""
        count, mean = len(self.samples), self.seconds
        if count < 2 or not mean:
            return math.inf
        variance = sum((sample.seconds - mean) ** 2 for sample in self.samples) / (count - 1)
        return 1.96 * math.sqrt(variance / count) / mean


def plan(input: FarmFile, machine: Machine, options: Mapping[str, Any]) -> CostEstimate:
    """What a run will cost. A node is a rank: --nodes, or --ranks here.

    Raises InputError for what is wrong with the input, FathometerError where a sample fails.
    """
    files_of(input)
    nodes = options["nodes"] or options["ranks"] or 1
    if nodes > machine.nodes and options["ranks"] is None:
        raise InputError(f"--nodes {nodes}: found; allowed: up to {machine.nodes}, of machine {machine.name}")
    share = max(1, machine.cores_per_node // (nodes if options["nodes"] is None else 1))
    workers = input.farm.workers or share
    queries: dict[str, int] = {}

    def queries_of(table: FastaTasks, begins: Places, ends: Places) -> int:
        queries[table.name] = measured_queries(input, table, begins, ends, workers * nodes)[0]
        return queries[table.name]

    groups = groups_of(input, queries_of)
    costs = [_sampled(input, group) for group in groups]
    busy = sum(cost.group.count * (cost.seconds + HAND_OVER) for cost in costs)
    tail = max(sample.seconds for cost in costs for sample in cost.samples) / 2
    start = machine.start_seconds + START
    at_work = busy / (workers * nodes) + tail * (workers * nodes > 1)
    stored = sum(cost.plain_bytes / cost.ratio for cost in costs)
    written = stored / (machine.write_bytes_per_second * nodes)
    seconds = start + max(at_work, written) + machine.finish_seconds
    output = input.output
    buffers = 2 * output.buffer if output.buffers == "dual" else output.block
    held = min(buffers, sum(cost.plain_bytes for cost in costs))
    count = sum(group.count for group in groups)
    memory = {
        "rank": int(machine.process_bytes),
        "workers and writer": int((workers + 1) * PROCESS),
        "buffers": int(held),
        "tasks": count * TASK_BYTES,
    }
    uncertain = _combined(costs)
    parts = {"start-up": start, "do tasks": at_work, "write": written, "finish": machine.finish_seconds}
    record = {
        "schema_version": 1,
        "application": "plan",
        "farm_file": str(input.path),
        "command": "farm",
        "machine": machine.name,
        "asked": {"nodes": nodes, "workers": workers},
        "tasks": count,
        "queries": queries,
        "samples": [
            {
                "name": cost.group.table.name,
                "tasks": cost.group.count,
                "samples": len(cost.samples),
                "seconds": cost.seconds,
                "ratio": cost.ratio,
                "plain_bytes": cost.plain_bytes,
            }
            for cost in costs
        ],
        "total_seconds": seconds,
        "uncertain": uncertain,
        "phases": [{"phase": name, "seconds": value} for name, value in parts.items()],
        "stored_bytes": stored,
        "memory_bytes_per_node": sum(memory.values()),
        "memory_bytes": memory,
    }
    return CostEstimate(record, _table(record, costs, machine))


def _sampled(input: FarmFile, group: Group) -> Cost:
    """Some tasks of a group, spread evenly, the first of them done twice: it finds nothing in memory."""
    count = min(MOST_SAMPLES, group.count)
    places = [(2 * n + 1) * group.count // (2 * count) for n in range(count)]
    found: list[Sample] = []
    with sampler(input, [group]) as own:
        begin = monotonic()
        for place in places[:1] + places:
            number = group.first + place
            low, high = (int(group.begins[place]), int(group.ends[place])) if len(group.begins) else (0, 0)
            found.append(own.do((number, low, high)))
            if monotonic() - begin > LONGEST and len(found) > 1:
                break
    found = found[1:]
    plain = sum(len(sample.result) for sample in found)
    output = input.output
    framing = framing_of(output.model_dump(), 0)
    size = sum(len(framing.block([1], [sample.result])[0]) for sample in found)
    if output.buffers == "dual":
        block, sizes, joined = output.block, 0, b""
        for sample in found:
            joined += sample.result
            if len(joined) >= block:
                sizes, joined = sizes + len(framing.block([1], [joined])[0]), b""
        size = sizes + (len(framing.block([1], [joined])[0]) if joined else 0)
    return Cost(group, found, plain / size if plain and size else 1.0)


def _combined(costs: Sequence[Cost]) -> float | None:
    """Half an interval of the whole, relative to it; None where it is not known."""
    weights = [cost.group.count * cost.seconds for cost in costs]
    if not sum(weights) or any(math.isinf(cost.uncertain) for cost in costs):
        return None
    return math.sqrt(sum((w * c.uncertain) ** 2 for w, c in zip(weights, costs, strict=True))) / sum(weights)


def _table(record: Mapping[str, Any], costs: Sequence[Cost], machine: Machine) -> list[str]:
    asked = record["asked"]
    found = [
        f"{record['tasks']} tasks on {machine.name}, {number_of(asked['nodes'], 'node')} with {asked['workers']} "
        "workers each",
        "",
    ]
    for cost in costs:
        group, samples = cost.group, number_of(len(cost.samples), "sample")
        each = f", {group.queries} sequences each" if group.queries else ""
        size = bytes_in_words(cost.plain_bytes / group.count)
        found.append(
            f"{group.table.name}: {number_of(group.count, 'task')}{each}; by {samples} {digits(cost.seconds)} s and "
            f"{size} each, 1 to {digits(cost.ratio)}"
        )
    found.append("")
    found += [f"{phase['phase']:<10}{time_in_words(phase['seconds']):>12}" for phase in record["phases"]]
    found.append(f"{'in all':<10}{time_in_words(record['total_seconds']):>12}")
    if record["uncertain"] is not None and record["uncertain"] > 0.1:
        found.append(
            f"note: the samples differ: the tasks' mean is known to {100 * record['uncertain']:.0f} %, if their "
            "lengths follow a normal law"
        )
    found += [
        "",
        f"memory of a node {bytes_in_words(record['memory_bytes_per_node'])}",
        f"results {bytes_in_words(record['stored_bytes'])}",
    ]
    return found
