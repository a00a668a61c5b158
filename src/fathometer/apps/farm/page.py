"""A farm on its page, and in the lines at its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fathometer.base.formatting import bytes_in_words, digits, number_of, time_in_words
from fathometer.runs.application import Heading, Panel

MANY = 5  # tasks that a line names


def heading(record: Mapping[str, Any]) -> Heading:
    """The top of the page."""
    results, output = record["results"], record["input"]["output"]
    counts, use = results["tasks"], results["use"]
    facts = [
        ("tasks", f"{counts['done']} of {counts['tasks']}"),
        ("nodes", str(len(results["nodes"]))),
        ("workers", str(results["workers"])),
        ("writing", output["buffers"]),
        ("compression", output["compression"]),
    ]
    shares = use["up_to_last_task"]
    finding = ""
    if shares is not None:
        finding = (
            f"Workers were at tasks for {100 * shares:.1f} % of the time until each had done its last one; the end, at "
            f"which some had none, cost {time_in_words(use['idle_tail_seconds'])} of a worker's time"
        )
    subject = record["input"]["farm_file"].rpartition("/")[2].removesuffix(".toml")
    return Heading("Farm of tasks", subject, facts, kernel=False, finding=finding)


def panels_of(record: Mapping[str, Any]) -> list[Panel]:
    """What the page shows. Raises KeyError or the like for a record that no run has written."""
    results = record["results"]
    panels = [_course(results)] if len(results["use"]["course"]["times"]) > 1 else []
    panels += [_waits(results), _writing(results), _nodes(results)]
    if results["hand_outs"]["times"]:
        panels.append(_hand_outs(results))
    if results["longest"]:
        panels.append(_longest(results))
    if results["set_aside_reasons"]:
        panels.append(_set_aside(results))
    if results["measured_queries"]:
        panels.append(_measured(results))
    return panels


def _course(results: Mapping[str, Any]) -> Panel:
    course = results["use"]["course"]
    return {
        "kind": "course",
        "name": "use",
        "title": "Workers at tasks",
        "caption": f"Share of {results['workers']} workers that were at a task, by their own clocks. The last task was "
        f"begun at {digits(results['use']['last_begin_seconds'])} s; what follows is the tail.",
        "axis": "time (s)",
        "label": "of all workers",
        "times": course["times"],
        "values": course["values"],
    }


def _waits(results: Mapping[str, Any]) -> Panel:
    waits, use = results["waits"], results["use"]
    workers = results["workers"] * results["seconds"]
    rows = [
        ["at tasks", use["busy_seconds"]],
        ["start of their processes", waits["for_start_seconds"]],
        ["wait for a task", waits["for_tasks_seconds"]],
        ["wait for the writer to take a result", waits["for_writer_seconds"]],
        ["idle at the end", waits["at_end_seconds"]],
    ]
    return {
        "kind": "table",
        "title": "The workers' time, of all workers together",
        "columns": [["what", "", ""], ["seconds", "seconds", "seconds"], ["share", "of all", "share"]],
        "rows": [[name, seconds, seconds / workers if workers else None] for name, seconds in rows],
    }


def _writing(results: Mapping[str, Any]) -> Panel:
    writing = results["writing"]
    rows: list[list[Any]] = [
        ["results", f"{writing['results']}, {bytes_in_words(writing['plain_bytes'])}"],
        ["blocks", f"{writing['blocks']}, {bytes_in_words(writing['stored_bytes'])}"],
        ["directories", bytes_in_words(writing["directory_bytes"])],
        ["ratio", digits(writing["ratio"]) if writing["ratio"] else "none"],
        ["writes", f"{writing['writes']}, the largest {bytes_in_words(writing['largest_write_bytes'])}"],
        ["flushes", f"{writing['flushes']}, of which {writing['timed_flushes']} for their time"],
        ["compressing", f"{digits(writing['compress_seconds'])} s"],
        ["writing", f"{digits(writing['write_seconds'])} s"],
        ["flushing to the device", f"{digits(writing['flush_seconds'])} s"],
        ["both buffers full", f"{digits(results['waits']['buffers_full_seconds'])} s"],
    ]
    columns = [["what", "what the writers did", ""], ["found", "of this run, all nodes together", ""]]
    return {"kind": "table", "title": "Results on their way to the files", "columns": columns, "rows": rows}


def _nodes(results: Mapping[str, Any]) -> Panel:
    columns = [
        ["node", "node", ""],
        ["workers", "workers", ""],
        ["tasks", "tasks", ""],
        ["busy", "at tasks", "seconds"],
        ["for_tasks", "wait for tasks", "seconds"],
        ["for_writer", "wait for the writer", "seconds"],
        ["writes", "writes", ""],
        ["stored", "stored", "bytes"],
        ["lost", "workers that died", ""],
    ]
    keys = (
        *("workers", "tasks", "busy_seconds", "waited_for_tasks_seconds", "waited_for_writer_seconds"),
        *("writes", "stored_bytes", "workers_lost"),
    )
    whole = ("workers", "tasks", "writes", "workers_lost")
    rows = [
        [str(node["node"]), *(str(node[key]) if key in whole else node[key] for key in keys)]
        for node in results["nodes"]
    ]
    return {"kind": "table", "title": "Nodes", "columns": columns, "rows": rows}


def _hand_outs(results: Mapping[str, Any]) -> Panel:
    """How many tasks were handed out over time: few messages at first, small ones at the end."""
    times = results["hand_outs"]["times"]
    end = max(times[-1][0], 1e-9)
    bins = min(60, max(1, len(times)))
    counts, tasks = [0] * bins, [0] * bins
    for time, _, count in times:
        place = min(bins - 1, int(time / end * bins))
        counts[place] += 1
        tasks[place] += count
    columns = [
        ["from", "from", "seconds"],
        ["hand_outs", "hand-outs", ""],
        ["tasks", "tasks", ""],
        ["mean", "tasks of one", "1"],
    ]
    rows = [[end * n / bins, str(counts[n]), str(tasks[n]), tasks[n] / counts[n]] for n in range(bins) if counts[n]]
    title = f"Hand-outs of the application master: {results['hand_outs']['count']}"
    return {"kind": "table", "title": title, "columns": columns, "rows": rows}


def _longest(results: Mapping[str, Any]) -> Panel:
    columns = [["task", "task", ""], ["seconds", "seconds", "seconds"]]
    rows = [[str(number), seconds] for number, seconds in results["longest"]]
    return {"kind": "table", "title": "The longest tasks", "columns": columns, "rows": rows}


def _set_aside(results: Mapping[str, Any]) -> Panel:
    columns = [["task", "task", ""], ["reason", "why it failed last", ""]]
    rows = [[str(number), reason] for number, reason in results["set_aside_reasons"]]
    return {"kind": "table", "title": "Tasks that were set aside", "columns": columns, "rows": rows}


def _measured(results: Mapping[str, Any]) -> Panel:
    columns = [["name", "tasks", ""], ["size", "sequences of a task", ""], ["seconds", "for a sequence", "seconds"]]
    rows = [[name, str(size), each] for name, found in results["measured_queries"].items() for size, each in found]
    return {"kind": "table", "title": "How many sequences a task has: samples", "columns": columns, "rows": rows}


def lines(record: Mapping[str, Any]) -> list[str]:
    """For people, at the end of a run."""
    results = record["results"]
    counts, writing, use = results["tasks"], results["writing"], results["use"]
    found = []
    if counts["done_now"] and results["seconds"]:
        rate = digits(counts["done_now"] / results["seconds"])
        found.append(f"{counts['done_now']} tasks in {time_in_words(results['seconds'])}, {rate} a second")
    else:
        found.append(f"all {counts['done']} tasks were done before" if counts["done"] else "no task was done")
    if use["up_to_last_task"] is not None:
        found.append(
            f"workers at tasks {100 * use['up_to_last_task']:.1f} % of the time up to their last ones; idle tail "
            f"{time_in_words(use['idle_tail_seconds'])}"
        )
    if writing["ratio"]:
        found.append(
            f"{bytes_in_words(writing['plain_bytes'])} as {bytes_in_words(writing['stored_bytes'])}, 1 to "
            f"{digits(writing['ratio'])}, in {writing['writes']} writes"
        )
    if results["computed_again"]:
        found.append(f"{results['computed_again']} tasks that were finished, but not on the device, were done again")
    if results["waits"]["buffers_full_seconds"] > 0.01 * max(results["seconds"], 1e-9):
        found.append(f"note: both buffers were full for {time_in_words(results['waits']['buffers_full_seconds'])}")
    said = results["said"]
    if said["count"]:
        number, line = said["first"][0]
        found.append(f'note: {said["count"]} tasks wrote to standard error, such as {number}: "{line}"')
    return found


def missing(results: Mapping[str, Any]) -> str:
    """Which tasks have no result, in one line; "": all have one."""
    counts = results["tasks"]
    aside, not_begun = counts["set_aside_count"], counts["not_begun"]
    words = []
    if aside:
        shown = "; ".join(f"{number} ({reason})" for number, reason in results["set_aside_reasons"][:MANY])
        words.append(f"{number_of(aside, 'task')} set aside: {shown}{'; …' * (aside > MANY)}")
    if not_begun:
        words.append(f"{number_of(not_begun, 'task')} not begun, which wait for {'these' if aside else 'others'}")
    return f"{', and '.join(words)} (--resume --retry-failed tries again)" if words else ""
