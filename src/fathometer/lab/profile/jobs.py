"""The MPI jobs whose ranks have left files in a folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.lab.profile.rank_file import RankProfile, read_rank

NAME = re.compile(r"rank-\d{6,}\..+\.\d+\.profile")  # of a rank's file: rank, host, process
MOST_NAMED = 4  # damaged files in a sentence
_BY_PARENT = "parent "  # job of a launcher that names none: processes of one host


@dataclass(frozen=True)
class Job:
    """Processes with one MPI_COMM_WORLD. ranks: those whose file can be read, in order; size: how many there were."""

    ranks: tuple[RankProfile, ...]
    size: int

    @property
    def missing(self) -> int:
        """Ranks without a file that can be read."""
        return self.size - len(self.ranks)

    @property
    def core_seconds(self) -> float:
        """Of all ranks, by which the main job of a command is known."""
        return sum(rank.wall_seconds for rank in self.ranks)


@dataclass(frozen=True)
class Damaged:
    """A file of a rank that cannot be read. problem: such as "is empty"."""

    path: Path
    problem: str


def told(damaged: Sequence[Damaged]) -> str:
    """The files and their damage, the first few by name."""
    shown = "; ".join(f"{each.path.name} {each.problem}" for each in damaged[:MOST_NAMED])
    return shown + (f"; and {len(damaged) - MOST_NAMED} more" if len(damaged) > MOST_NAMED else "")


def jobs_in(folder: Path) -> tuple[list[Job], list[Damaged]]:
    """The jobs of a folder in the order of their beginning, and the files that cannot be read; none of both where there
    are no files. Raises FathometerError where memory does not suffice."""
    groups: dict[str, list[RankProfile]] = {}
    damaged = []
    for path in sorted(path for path in folder.iterdir() if NAME.fullmatch(path.name)):
        try:
            rank = read_rank(path)
        except InputError as error:
            damaged.append(Damaged(path, str(error).removeprefix(f"{path}: ")))
            continue
        groups.setdefault(f"{rank.size} {rank.job} {rank.host if _unnamed(rank) else ''}", []).append(rank)
    worlds = [sorted(ranks, key=lambda each: each.rank) for ranks in _joined(groups)]
    jobs = [Job(tuple(ranks), ranks[0].size) for ranks in worlds]
    return sorted(jobs, key=lambda job: min(rank.begin for rank in job.ranks)), damaged


def chosen(jobs: Sequence[Job], number: int | None) -> Job:
    """The job of a number from 1, else the one with the most time of its ranks."""
    if number is None:
        return max(jobs, key=lambda job: job.core_seconds)
    if not 1 <= number <= len(jobs):
        raise InputError(f"--job {number}: allowed: 1 to {len(jobs)}, the MPI jobs that the command ran")
    return jobs[number - 1]


def _joined(groups: dict[str, list[RankProfile]]) -> list[list[RankProfile]]:
    """Parts of one world on several hosts, whose launcher names no job, are put together; ranks that come twice belong
    to two worlds."""
    worlds: list[list[RankProfile]] = []
    for ranks in groups.values():
        for rank in sorted(ranks, key=lambda each: each.begin):
            for world in worlds:
                ours = rank.job == world[0].job or (_unnamed(rank) and _unnamed(world[0]))
                if ours and rank.size == world[0].size and rank.rank not in {each.rank for each in world}:
                    world.append(rank)
                    break
            else:
                worlds.append([rank])
    return worlds


def _unnamed(rank: RankProfile) -> bool:
    return rank.job.startswith(_BY_PARENT)
