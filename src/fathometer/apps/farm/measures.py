"""What a farm's record says of its run, from what its masters tell. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fathometer.record.envelope import Figure

MOST_LONGEST = 20


def results_of(master: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Results, JSON-ready. master: what the application master told at its end; nodes: NodeTold of each, in order.

    Times are in seconds since the workers were started; `tail` is what follows the last task's beginning; the use up to
    the last task is that from each worker's first look for one to the end of its last one.
    """
    workers = sum(node["workers"] for node in nodes)
    uses = [node["use"] for node in nodes]
    busy = sum(use["busy_seconds"] for use in uses)
    starting = sum(use["starting_seconds"] for use in uses)
    ends = [end for use in uses for end in use["last_end_seconds"].values()]
    last_end, last_begin = max(ends, default=0.0), max((use["last_begin_seconds"] for use in uses), default=0.0)
    latest = _latest(nodes)
    idle_tail = sum(last_end - end for end in latest)
    plain, stored = _sum(nodes, "plain_bytes"), _sum(nodes, "stored_bytes")
    done_now = master["done"] - master["done_before"]
    available = workers * last_end - starting - idle_tail
    until_last = min(1.0, busy / available) if available > 0 else None
    return {
        "tasks": {name: master[name] for name in ("tasks", "done", "done_before", "set_aside_count", "not_begun")}
        | {"done_now": done_now, "failures": master["failures"], "tried_again": master["tried_again"]},
        "set_aside": master["set_aside"],
        "failed": [{"task": number, "reason": reason} for number, reason in master["failed"]],
        "seconds": last_end,
        "use": {
            "of_workers": busy / (workers * last_end) if last_end else None,
            "up_to_last_task": until_last,
            "busy_seconds": busy,
            "cpu_seconds": sum(use["cpu_seconds"] for use in uses),
            "last_begin_seconds": last_begin,
            "tail_seconds": last_end - last_begin,
            "idle_tail_seconds": idle_tail,
            "course": _course(uses, workers, last_end),
        },
        "waits": {
            "for_start_seconds": starting,
            "for_tasks_seconds": sum(use["waited_for_tasks_seconds"] for use in uses),
            "for_writer_seconds": sum(use["waited_for_writer_seconds"] for use in uses),
            "buffers_full_seconds": sum(node["writer_seconds"].get("full", 0.0) for node in nodes),
            "at_end_seconds": idle_tail,
        },
        "overhead_seconds": (available - busy) / done_now if done_now else None,
        "writing": {
            name: _sum(nodes, name)
            for name in ("results", "plain_bytes", "blocks", "stored_bytes", "directory_bytes", "writes", "flushes")
        }
        | {
            "timed_flushes": _sum(nodes, "timed_flushes"),
            "largest_write_bytes": max((node["counts"].get("largest_write_bytes", 0) for node in nodes), default=0),
            "ratio": plain / stored if stored else None,
            "compress_seconds": sum(node["writer_seconds"].get("compress", 0.0) for node in nodes),
            "write_seconds": sum(node["writer_seconds"].get("write", 0.0) for node in nodes),
            "flush_seconds": sum(node["writer_seconds"].get("flush", 0.0) for node in nodes),
        },
        "hand_outs": {"count": master["hand_out_count"], "times": master["hand_outs"]},
        "master": {name: master[name] for name in ("seconds", "asleep_seconds", "cpu_seconds", "reports")},
        "longest": sorted((row for use in uses for row in use["longest"]), key=lambda row: -row[1])[:MOST_LONGEST],
        "said": {
            "count": sum(node["said_count"] for node in nodes),
            "first": [row for node in nodes for row in node["said"]][:MOST_LONGEST],
        },
        "workers": workers,
        "nodes": [
            {
                "node": number,
                "workers": node["workers"],
                "workers_lost": node["lost_workers"],
                "batches": node["batches"],
                "master_cpu_seconds": node["cpu_seconds"],
                "writer_peak_bytes": node["writer_peak_bytes"],
                "writer_cpu_seconds": node["writer_seconds"].get("cpu", 0.0),
                "torn_bytes": node["torn_bytes"],
                "tasks": node["use"]["tasks"],
                "busy_seconds": node["use"]["busy_seconds"],
                "waited_for_tasks_seconds": node["use"]["waited_for_tasks_seconds"],
                "waited_for_writer_seconds": node["use"]["waited_for_writer_seconds"],
                "writes": node["counts"].get("writes", 0),
                "stored_bytes": node["counts"].get("stored_bytes", 0),
            }
            for number, node in enumerate(nodes)
        ],
    }


def _sum(nodes: Sequence[Mapping[str, Any]], name: str) -> int:
    return int(sum(node["counts"].get(name, 0) for node in nodes))


def _latest(nodes: Sequence[Mapping[str, Any]]) -> list[float]:
    """When each worker that was there at the end had done its last task; 0 for one that did none."""
    found: list[float] = []
    for node in nodes:
        ends = sorted(node["use"]["last_end_seconds"].values())[-node["workers"] :]
        found += ends + [0.0] * (node["workers"] - len(ends))
    return found


def _course(uses: Sequence[Mapping[str, Any]], workers: int, end: float) -> dict[str, list[float]]:
    """The share of workers that were at tasks, over time: middles of bins, s, and shares."""
    width = max((use["bin_seconds"] for use in uses), default=1.0)
    count = int(end / width) + 1
    sums = [0.0] * count
    for use in uses:
        fold = round(width / use["bin_seconds"])
        for place, value in enumerate(use["busy_seconds_of_bins"]):
            if place // fold < count:
                sums[place // fold] += value
    widths = [min(width, end - place * width) for place in range(count)]
    kept = [(place, whole) for place, whole in enumerate(widths) if whole > 0]
    return {
        "times": [place * width + whole / 2 for place, whole in kept],
        "values": [min(1.0, sums[place] / (workers * whole)) for place, whole in kept],
    }


def figures_of(results: Mapping[str, Any], account: Mapping[str, Any]) -> list[Figure]:
    """Figures of merit. account: of all ranks."""
    done, seconds = results["tasks"]["done_now"], results["seconds"]
    writing = results["writing"]
    found = [Figure("total", account["wall_seconds"]["max"], "seconds", "lower")]
    found += [Figure("tasks", done / seconds, "tasks_per_second", "higher")] if seconds and done else []
    if results["use"]["up_to_last_task"] is not None:
        found.append(Figure("use of workers", results["use"]["of_workers"], "1", "higher"))
        found.append(Figure("use up to the tail", results["use"]["up_to_last_task"], "1", "higher"))
        found.append(Figure("idle tail", results["use"]["idle_tail_seconds"], "seconds", "lower", "context"))
    if results["overhead_seconds"] is not None:
        found.append(Figure("overhead of a task", results["overhead_seconds"], "seconds", "lower", "context"))
    if writing["ratio"] is not None:
        found.append(Figure("compression ratio", writing["ratio"], "1", "higher", "context"))
        found.append(Figure("compress", writing["compress_seconds"], "seconds", "lower", "context"))
        found.append(Figure("write", writing["write_seconds"], "seconds", "lower", "context"))
        found.append(Figure("writes", writing["writes"], "1", "lower", "context"))
    found.append(Figure("waits for the writer", results["waits"]["for_writer_seconds"], "seconds", "lower", "context"))
    found.append(Figure("waits for tasks", results["waits"]["for_tasks_seconds"], "seconds", "lower", "context"))
    return found
