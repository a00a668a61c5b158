"""Synthetic studies with known truth: results as a study keeps them, of values drawn with a seed."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fathometer.lab.studies import store
from fathometer.lab.studies.builds import BASELINE, BUILD, with_baseline
from fathometer.lab.studies.design import Case
from fathometer.lab.studies.results import CaseRuns, FigureInfo, Results, Run

Settings = Mapping[str, Any]
TOTAL = FigureInfo("total", "seconds", "lower")
KERNEL = FigureInfo("kernel", "points_per_second", "higher")
MEMORY = FigureInfo("memory", "bytes", "lower", "context")
RANKS = {"ranks": [1, 2], "threads": [1, 2]}
MACHINE = {
    "host": "node1",
    "cpu": "A processor",
    "architecture": "x86_64",
    "logical_cpus": 2,
    "processor": {"model": "A processor", "sockets": 1, "caches": {"L2": 1048576}, "lscpu": "CPU(s): 2"},
    "memory_bytes": 8 * 2**30,
    "os": "An operating system",
    "kernel": "6.1",
    "python": "3.11",
    "packages": {"numpy": "2.0"},
    "launcher": None,
    "mpi": "An MPI",
    "kernels": "native",
    "commit": None,
    "networks": [{"name": "eth0", "bits_per_second": 1e9}],
    "file_systems": [],
    "environment": {"OMP_NUM_THREADS": "1"},
}


def speed(settings: Settings) -> float:
    """Seconds of a code of which a tenth is not parallel; the history makes no difference."""
    workers = settings.get("ranks", 1) * settings.get("threads", 1)
    return 2.0 * (0.1 + 0.9 / workers) * (0.97 if settings.get("ranks", 1) > 1 else 1.0)


def study(
    factors: Mapping[str, Sequence[Any]],
    truth: Callable[[Settings], float] = speed,
    rounds: int = 12,
    noise: float = 0.01,
    seed: int = 1,
    figures: Sequence[FigureInfo] = (TOTAL,),
    keep: Callable[[Settings], bool] = lambda settings: True,
    drift: float = 0.0,
    winners: Callable[[Settings], bool] | None = None,
    ended: str = "precision",
    runs: Callable[[Settings, Run], Run] = lambda settings, run: run,
    **definition: Any,
) -> Results:
    """Results of a study of every combination: `truth` times log-normal noise, and a part common to each round.

    figures: times are the truth, rates and bytes what they are of a cell's work. drift: relative, over the whole study.
    winners: the cases that are measured again. runs: changes a run of a case. definition: of the study file.
    """
    source = random.Random(seed)
    names = list(factors)
    cases = [Case(dict(zip(names, values, strict=True))) for values in itertools.product(*factors.values())]
    cases = [case for case in cases if keep(case.settings)]
    made: dict[str, list[Run]] = {case.name: [] for case in cases}
    begin = 1_700_000_000.0
    for kind, number in [
        ("warm-up", 1),
        *(("round", n) for n in range(1, rounds + 1)),
        *(("winner", n) for n in range(1, rounds + 1)),
    ]:
        common = math.exp(source.gauss(0, noise))
        common *= 1 + drift * (number - 1) / max(1, rounds - 1) if kind == "round" else 1
        for case in cases:
            if kind == "winner" and not (winners is not None and winners(case.settings)):
                continue
            seconds = truth(case.settings) * common * math.exp(source.gauss(0, noise))
            values = {info.name: value_of(info, seconds) for info in figures}
            run = Run(kind, number, begin, seconds, values)  # type: ignore[arg-type]
            made[case.name].append(runs(case.settings, run))
            begin += seconds
    return Results(
        title=definition.pop("title", "Ranks against threads"),
        question=definition.pop("question", "Which choice is the fastest?"),
        definition={"runs": {"repetitions": rounds, "seed": 1}} | definition,
        designs={"all": [case.name for case in cases]},
        factors=factors,
        figures={info.name: info for info in figures},
        cases={case.name: CaseRuns(case, made[case.name]) for case in cases},
        machine=MACHINE,
        command=("fathometer", "study", "run", "ranks.toml"),
        ended=ended,
        versions={"fathometer": "0.1.0"},
    )


def builds(
    truth: Callable[[Settings], float] = speed,
    base: Callable[[Settings], float] = speed,
    rounds: int = 10,
    seed: int = 1,
    runs: Callable[[Settings, Run], Run] = lambda settings, run: run,
    noise: float = 0.01,
    **more: Any,
) -> Results:
    """Results of a study of both builds in turns, on RANKS. truth, base: of this build and of the baseline."""

    def both(settings: Settings) -> float:
        plain = {name: value for name, value in settings.items() if name != BUILD}
        return (base if settings[BUILD] == BASELINE else truth)(plain)

    gate = {"gate": {"figures": ["total"], "tolerance": 0.02, "baseline": "old"}}
    made = study(RANKS | {BUILD: [BASELINE, "this"]}, both, rounds, noise, seed, runs=runs, **(gate | more))
    cases = {}
    for case in made.cases.values():
        plain = Case({name: value for name, value in case.case.settings.items() if name != BUILD})
        own = with_baseline(plain) if case.case.settings[BUILD] == BASELINE else plain
        cases[own.name] = CaseRuns(own, case.runs)
    return replace(made, cases=cases, factors=RANKS, designs={"all": list(cases)})


def value_of(info: FigureInfo, seconds: float) -> float:
    """A figure of a run that took so long: rates and bytes are of a fixed amount of work."""
    if info.unit == "seconds":
        return seconds
    return 1e9 / seconds if info.direction == "higher" else 3e9


def keep(results: Results, folder: Path) -> Path:
    """Write a study's folder, as its run leaves it; the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [name for name in store.Header.__dataclass_fields__ if name not in ("settings", "inputs")]
    settings = {name: case.case.settings for name, case in results.cases.items()}
    values = {name: getattr(results, name) for name in names}
    store.write_header(folder, store.Header(settings=settings, inputs={}, **values))
    for case in results.cases.values():
        store.write_case(folder, case.case, case.runs)
    return folder
