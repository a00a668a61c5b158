"""A farm of tasks: what it takes, beside GNU parallel and mpi4py.futures, how it writes, where its masters saturate."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.command import clean, fathometer
from benchmarks.farm_simulation import Costs, simulated
from benchmarks.table import Table
from fathometer.apps.farm.demo import make_database, sequences
from fathometer.base.ledger import timed
from fathometer.lab.statistics.interval import Estimate, interval
from fathometer.lab.statistics.ratios import ratio
from fathometer.launch.mpirun import find_mpirun, mpirun_command

FUTURES = """
import subprocess, sys
from mpi4py.futures import MPIPoolExecutor

def do(words):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout

if __name__ == "__main__":
    tasks = [line.rstrip("\\n").split("\\t") for line in open("tasks.txt")]
    with MPIPoolExecutor() as pool, open("futures.out", "wb") as out:
        for result in pool.map(do, tasks):
            out.write(result)
"""
NODES, WORKERS = 2048, 12  # of the published farm


def _run(folder: Path, *settings: str, text: str = "", ranks: int = 1) -> dict[str, Any]:
    """The results in the record of a farm. text: of its file; left out: that which is there."""
    if text:
        (folder / "farm.toml").write_text(text)
    words = [word for setting in settings for word in ("--set", setting)]
    many = ["--ranks", ranks] if ranks > 1 else []
    fathometer("farm", folder / "farm.toml", "--overwrite", "--quiet", *words, *many)
    values: dict[str, Any] = json.loads((folder / "out/run.json").read_text())["results"]
    return values


def _built_in(count: int, seconds: float, spread: str = "constant", more: str = "") -> str:
    return f'[[tasks]]\nkind = "built-in"\ncount = {count}\nseconds = {seconds}\nspread = "{spread}"\n{more}'


def farm(threads: int, quick: bool) -> Table:
    """What the farm takes beside the tasks."""
    rounds = 2 if quick else 6
    rows: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        overhead, at_work = [], []
        for _ in range(rounds):
            told = _run(folder, "farm.workers=2", text=_built_in(1000 if quick else 10_000, 0.001))
            waited = told["waits"]["for_start_seconds"] + told["waits"]["at_end_seconds"]
            overhead.append(1e3 * ((2 * told["seconds"] - waited) / told["tasks"]["tasks"] - 0.001))
        rows.append(("beside a task of 1 ms, 2 workers, ms", _told(interval(overhead)), "0.3"))
        tails = []
        for _ in range(rounds):
            told = _run(folder, "farm.workers=2", text=_built_in(200 if quick else 2000, 0.01, "heavy-tailed"))
            at_work.append(told["use"]["up_to_last_task"])
            tails.append(1e3 * told["use"]["idle_tail_seconds"])
        heavy = "workers at heavy-tailed tasks of 10 ms, 1,000 each, up to their last ones"
        rows.append((heavy, _told(interval(at_work)), "0.97"))
        rows.append(("idle tail of these, ms", _told(interval(tails)), ""))
        counts = (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000)
        for count in counts:
            told = _run(folder, text=_built_in(count, 0.0))
            rows.append((f"{count} empty tasks, s", f"{told['seconds']:.3g}", "in proportion"))
    note = (
        "Built-in tasks, which sleep. Beside a task: the workers' time from their first look for a task to the end of "
        "their last one, over the tasks, less 1 ms. The start of their processes is not in it, nor the end, at which "
        f"one of them has no task; a sleep of 1 ms itself takes some 0.06 ms more. Medians of {rounds} runs with 95 % "
        "intervals; made by `python -m benchmarks --only farm`. The last column: what is wanted at most, of the use at "
        "least."
    )
    return Table("Farm: what it takes beside the tasks", note, ("what", "found", "wanted"), tuple(rows))


def _told(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return f"{estimate.median:.3g}"
    return f"{estimate.median:.3g} ({estimate.low:.3g} to {estimate.high:.3g})"


def farm_others(threads: int, quick: bool) -> Table:
    """Whole runs of the same commands, in turns."""
    title, columns = (
        "Farm: beside GNU parallel and mpi4py.futures",
        (*("tasks", "farm, s", "GNU parallel, s", "of these", "mpi4py.futures, s", "of these"),),
    )
    if shutil.which("parallel") is None:
        return Table(title, "Left out: found no parallel (Debian: apt-get install parallel).", columns, ())
    rounds, rows = (2 if quick else 8), []
    cases = {"2,000 times `sleep 0.01`": (_sleeps, 200 if quick else 2000)}
    if shutil.which("blastp") is not None:
        cases["blastp on 100 times 4 queries"] = (_searches, 12 if quick else 100)
    for case, (prepare, count) in cases.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            prepare(folder, count)
            ways: dict[str, Callable[[], float]] = {
                "farm": partial(fathometer, "farm", folder / "farm.toml", "--overwrite", "--quiet"),
                "parallel": partial(_parallel, folder),
                "futures": partial(_futures, folder),
            }
            found: dict[str, list[float]] = {way: [] for way in ways}
            for number in range(rounds):
                for way, measure in list(ways.items())[:: -1 if number % 2 else 1]:
                    found[way].append(measure())
        rows.append(
            (
                case,
                _told(interval(found["farm"])),
                _told(interval(found["parallel"])),
                _ratio(found["farm"], found["parallel"]),
                _told(interval(found["futures"])),
                _ratio(found["farm"], found["futures"]),
            )
        )
    note = (
        "Whole commands, from their start to their exit, on 2 workers: `fathometer farm`, which keeps all results, "
        "compressed, in one file; `parallel -j 2 --joblog`, whose results go to one file; `mpirun -n 3 python -m "
        f"mpi4py.futures`, a master and two workers that call subprocess.run. {rounds} rounds in turns; medians, and "
        "ratios in the same rounds, with 95 % intervals; made by `python -m benchmarks --only farm-others`. Wanted: "
        "not above 1."
    )
    return Table(title, note, columns, tuple(rows))


def _ratio(ours: list[float], theirs: list[float]) -> str:
    found = ratio(dict(enumerate(ours)), dict(enumerate(theirs)))
    assert found is not None, "seconds are above zero"
    return _told(found)


def _sleeps(folder: Path, count: int) -> None:
    (folder / "tasks.txt").write_text("sleep\t0.01\n" * count)
    (folder / "farm.toml").write_text(
        '[[tasks]]\nkind = "lines"\nfile = "tasks.txt"\ncommand = ["{1}", "{2}"]\n[farm]\nworkers = 2\n'
    )


def _searches(folder: Path, count: int) -> None:
    asked, known = sequences(4 * count, 3000)
    make_database(folder / "database", known)
    records = [f">{record}" for record in asked.split(">")[1:]]
    (folder / "queries.fasta").write_text(asked)
    lines = []
    for number in range(count):
        path = folder / f"part{number}.fasta"
        path.write_text("".join(records[4 * number : 4 * number + 4]))
        lines.append(f"blastp\t-query\t{path}\t-db\t{folder}/database/proteins\t-outfmt\t5\n")
    (folder / "tasks.txt").write_text("".join(lines))
    (folder / "farm.toml").write_text(
        '[[tasks]]\nkind = "fasta"\nfile = "queries.fasta"\ndatabase = "database/proteins"\nqueries = 4\n'
        "[farm]\nworkers = 2\n"
    )


def _parallel(folder: Path) -> float:
    command = "parallel --will-cite -j 2 --colsep '\\t' --joblog parallel.log -a tasks.txt {1} {2} {3} {4} {5} {6} {7}"
    with (folder / "parallel.out").open("wb") as out:
        run = partial(subprocess.run, command, shell=True, cwd=folder, check=True, stdout=out, env=clean())
        return timed(run)


def _futures(folder: Path) -> float:
    (folder / "futures.py").write_text(FUTURES)
    mpirun = find_mpirun(sys.prefix, os.environ.get("PATH", os.defpath))
    words = mpirun_command(mpirun, 3, [sys.executable, "-m", "mpi4py.futures", "futures.py"], 2, True)
    return timed(partial(subprocess.run, words, cwd=folder, check=True, stdout=subprocess.DEVNULL, env=clean()))


def farm_writing(threads: int, quick: bool) -> Table:
    """Results of blastp, written in each way."""
    title = "Farm: results on demand and by two buffers"
    columns = (
        *("buffers, compression", "block, KiB", "ratio", "writes"),
        *("compress, s", "write, s", "waits for the writer, s"),
    )
    if shutil.which("blastp") is None:
        return Table(title, "Left out: found no blastp (Debian: apt-get install ncbi-blast+).", columns, ())
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asked, known = sequences(40 if quick else 400, 3000)
        make_database(folder / "database", known)
        (folder / "queries.fasta").write_text(asked)
        text = '[[tasks]]\nkind = "fasta"\nfile = "queries.fasta"\ndatabase = "database/proteins"\nqueries = 1\n'
        (folder / "farm.toml").write_text(text)
        ways = [("on demand", "zstd", 1 << 20), *(("dual", "zstd", 1 << n) for n in (16, 18, 20, 22))]
        ways += [("dual", "none", 1 << 20), ("on demand", "none", 1 << 20)]
        for buffers, compression, block in ways:
            told = _run(
                folder, f"output.buffers={buffers}", f"output.compression={compression}", f"output.block={block}"
            )
            writing = told["writing"]
            rows.append(
                (
                    f"{buffers}, {compression}",
                    str(block >> 10) if buffers == "dual" else "a result",
                    f"{writing['ratio']:.3g}",
                    str(writing["writes"]),
                    f"{writing['compress_seconds']:.2g}",
                    f"{writing['write_seconds']:.2g}",
                    f"{told['waits']['for_writer_seconds']:.2g}",
                )
            )
    note = (
        "400 queries against 3,000 synthetic proteins, one a task, as XML; zstd at level 3; one run of each way. Made "
        "by `python -m benchmarks --only farm-writing`. Wanted: the ratio of two buffers at least 1.1 times that on "
        "demand."
    )
    return Table(title, note, columns, tuple(rows))


def measured_costs(folder: Path, count: int) -> Costs:
    """What messages and tasks cost the masters, from farms of empty tasks."""
    three = _run(folder, "farm.workers=2", text=_built_in(count, 0.0))
    flat = _run(folder, "farm.workers=2", 'farm.levels="flat"', text=_built_in(count // 10, 0.0))
    start = _run(folder, "farm.workers=2", text=_built_in(1, 0.0))["master"]["cpu_seconds"]
    node = three["nodes"][0]
    a_task = max(0.0, three["master"]["cpu_seconds"] - start) / count
    return Costs(
        a_report=max(0.0, flat["master"]["cpu_seconds"] - start) / flat["master"]["reports"],
        a_task=a_task,
        a_batch=node["master_cpu_seconds"] / node["batches"],
        a_result=node["writer_cpu_seconds"] / count,
    )


def farm_masters(threads: int, quick: bool) -> Table:
    """The protocol of the published farm's size, by simulation."""
    with tempfile.TemporaryDirectory() as name:
        costs = measured_costs(Path(name), 20_000 if quick else 300_000)
    rows = []
    for seconds in (10.0, 1.0, 0.1, 0.03, 0.01, 0.003):
        found: dict[str, Mapping[str, float]] = {
            levels: simulated(costs, NODES, WORKERS, seconds, 20 if quick else 100, levels == "flat")
            for levels in ("three", "flat")
        }
        wanted = NODES * WORKERS / seconds
        rows.append(
            (
                f"{seconds:g}",
                f"{wanted:.3g}",
                *(
                    text
                    for levels in ("three", "flat")
                    for text in (
                        f"{found[levels]['rate']:.3g}",
                        f"{found[levels]['rate'] / wanted:.2f}",
                        f"{found[levels]['master']:.2f}",
                    )
                ),
            )
        )
    master, batch = 1e6 * costs.a_report, 1e6 * costs.a_batch
    each, result = 1e6 * costs.a_task, 1e6 * costs.a_result
    note = (
        f"Discrete events (benchmarks/farm_simulation.py): {NODES:,} nodes of {WORKERS} workers, with what was "
        f"measured here: the application master takes {master:.3g} µs for a report and its hand-out and {each:.3g} µs "
        f"for each task of it, a node's master {batch:.3g} µs for a worker's batch, its writer {result:.3g} µs for an "
        f"empty result; a message takes {1e6 * costs.latency:g} µs on its way. Tasks of equal length, 100 for each "
        "worker, the idle end included; use: of the workers; master: the share of its time that the application master "
        "hands out tasks. Made by `python -m benchmarks --only farm-masters`."
    )
    columns = (
        *("task, s", "wanted, tasks/s", "three levels, tasks/s", "use", "master"),
        *("flat, tasks/s", "use", "master"),
    )
    return Table("Farm: where its masters saturate", note, columns, tuple(rows))
