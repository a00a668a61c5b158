"""What profiled runs of a study did with MPI: calls and time by function, sizes of messages, what to try."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fathometer.base.errors import FathometerError
from fathometer.base.formatting import count, percent, short_seconds
from fathometer.lab.profile.advice import findings
from fathometer.lab.studies.asked import cases_of
from fathometer.lab.studies.report.cells import NONE, Cell
from fathometer.lab.studies.report.profiles import is_profiled, records_of, typical_run
from fathometer.lab.studies.report.tables import Head, View
from fathometer.lab.studies.results import Results
from fathometer.lab.studies.selection import label
from fathometer.report.records import read_record

MOST_FUNCTIONS, MOST_CASES, MOST_FINDINGS = 10, 6, 3
# Ends of the classes of messages, bytes.
SIZES = {"64 B": 64, "1 KiB": 1 << 10, "4 KiB": 4 << 10, "64 KiB": 64 << 10, "1 MiB": 1 << 20}

Profile = Mapping[str, Any]


def profile_views(profiles: Mapping[str, Profile]) -> list[View]:
    """Of each case's most typical run: seconds of all ranks in each function, its calls, and calls by size."""
    seconds: dict[str, float] = {}
    for profile in profiles.values():
        for row in _functions(profile):
            seconds[row["name"]] = seconds.get(row["name"], 0.0) + row["seconds"]
    names = sorted(seconds, key=lambda name: -seconds[name])[:MOST_FUNCTIONS]
    if not names:
        return []
    classes = [*(f"below {size}" for size in SIZES), f"{[*SIZES][-1]} and more"]
    note = ["Of the run of each case whose time is nearest to the median; all ranks together, without begin and end."]
    return [
        *_views("Time by function of MPI", "function", names, profiles, _seconds, note),
        *_views("Calls by function of MPI", "function", names, profiles, _calls, note),
        *_views("Calls by bytes", "bytes of a call", classes, profiles, _by_size, note),
    ]


def suggestions(profiles: Mapping[str, Profile]) -> list[str]:
    """What the profiles suggest to try: of the case with the most time in MPI, costliest first."""
    if not profiles:
        return []
    case = max(profiles, key=lambda name: sum(row["seconds"] for row in _functions(profiles[name])))
    return [
        f"{case}: {finding.what}: {finding.means}. To try: {finding.attempt}."
        for finding in findings(profiles[case])[:MOST_FINDINGS]
    ]


def typical_profiles(results: Results, folder: Path | None) -> dict[str, Profile]:
    """Of each case the results of its most typical run's profile, by the labels of the cases; none of those that cannot
    be read."""
    found: dict[str, Profile] = {}
    if folder is None or not is_profiled(results):
        return found
    for name in cases_of(results, None):
        case = results.cases[name]
        run = typical_run(case, folder)
        for path in records_of(folder, run)[:1] if run is not None else ():
            try:
                found[label(tuple(case.case.settings.items()))] = read_record(path).record["results"]
            except FathometerError:
                continue  # somebody has damaged it; the table of figures is complete without
    return found


def _views(
    title: str,
    first: str,
    names: Sequence[str],
    profiles: Mapping[str, Profile],
    cells: Callable[[Profile, Sequence[str]], list[str]],
    notes: Sequence[str],
) -> Iterator[View]:
    """Tables of as many cases as fit beside each other."""
    cases = list(profiles)
    for begin in range(0, len(cases), MOST_CASES):
        shown = cases[begin : begin + MOST_CASES]
        columns = [cells(profiles[case], names) for case in shown]
        rows = [
            [Cell(name, "name"), *(Cell(column[place], "value") for column in columns)]
            for place, name in enumerate(names)
        ]
        heads = [Head(first, number=False), *(Head(case) for case in shown)]
        yield View(title + (" (continued)" if begin else ""), heads, rows, notes)


def _functions(profile: Profile) -> list[Mapping[str, Any]]:
    return [row for row in profile["functions"] if not row["outside"]]


def _seconds(profile: Profile, names: Sequence[str]) -> list[str]:
    known = {row["name"]: row["seconds"] for row in _functions(profile)}
    every = sum(known.values())
    return [
        f"{short_seconds(known[name])} · {percent(known[name] / every)}" if known.get(name) else NONE for name in names
    ]


def _calls(profile: Profile, names: Sequence[str]) -> list[str]:
    known = {row["name"]: row["calls"] for row in _functions(profile)}
    return [count(known[name]) if name in known else NONE for name in names]


def _by_size(profile: Profile, names: Sequence[str]) -> list[str]:
    sums = [0] * (len(SIZES) + 1)
    for row in profile["sizes"]:
        place = next((n for n, end in enumerate(SIZES.values()) if row["least_bytes"] < end), len(SIZES))
        sums[place] += row["calls"]
    return [count(number) if number else NONE for number in sums]
