"""What runs in one run of a case: one program, or several jobs at the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from fathometer.lab.recipes.template import Value, Values
from fathometer.lab.studies.design import Case
from fathometer.lab.studies.placement import Placement, placement_of
from fathometer.lab.studies.program import Program, filled
from fathometer.lab.studies.results import FigureInfo
from fathometer.lab.studies.study_cluster import StudyCluster


@dataclass(frozen=True)
class Part:
    """One of the programs of a run.

    Attributes:
        job: its name among the study's jobs; "" of the only program. program, placement: what, and where.
        values: of all names in braces. folder: of its output. place: where it runs.
        copies: of inputs that are made before: from where, to where.
    """

    job: str
    program: Program
    placement: Placement
    values: Values
    folder: Path
    place: Path
    copies: Mapping[Path, Path] = field(default_factory=dict)


class Parts(Protocol):
    """Interface of what a study runs."""

    @property
    def programs(self) -> Sequence[Program]:
        """All programs that it may run."""
        ...

    def of(self, case: Case, folder: Path, number: int) -> list[Part]:
        """The parts of a run of a case, in the run's folder. Raises InputError that says what does not fit."""
        ...

    def infos(self) -> list[FigureInfo]:
        """The figures of the runs."""
        ...

    def figures(self, case: Case, parts: Sequence[Part], of_parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
        """The figures of a run, from those of its parts."""
        ...


class OneProgram:
    """A study of one program.

    Args:
        placement: the table [placement]. known: further names with their values. place: the cluster; None: on hosts.
    """

    def __init__(
        self,
        program: Program,
        placement: Mapping[str, Any],
        known: Mapping[str, Value],
        place: StudyCluster | None = None,
    ) -> None:
        self._program, self._placement, self._known, self._place = program, placement, known, place

    @property
    def programs(self) -> Sequence[Program]:
        """All programs that it may run."""
        return [self._program]

    def of(self, case: Case, folder: Path, number: int) -> list[Part]:
        """The parts of a run of a case, in the run's folder."""
        given = {name: filled(value, case.settings) for name, value in self._placement.items() if value is not None}
        placement = placement_of(given, case.settings)
        if self._place is not None:
            placement = self._place.on_cluster(placement, case.settings)
        values = self._program.values(known_values(case, placement, folder, number, self._known, self._program))
        return [Part("", self._program, placement, values, folder, folder)]

    def infos(self) -> list[FigureInfo]:
        """The figures of the runs."""
        return self._program.infos()

    def figures(self, case: Case, parts: Sequence[Part], of_parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
        """The figures of a run, from those of its parts."""
        [figures] = of_parts
        return dict(figures)


def known_values(
    case: Case, placement: Placement, folder: Path, number: int, known: Mapping[str, Value], program: Program
) -> dict[str, Value]:
    """The settings of a case, and what each run has besides (recipe.KNOWN). known: those that all runs have."""
    cores = int(known["cores"])
    return {
        **known,
        **case.settings,
        "ranks": placement.ranks,
        "threads": placement.threads or max(1, cores * placement.nodes // placement.ranks),
        "nodes": placement.nodes,
        "ranks_per_node": placement.ranks_per_node or -(-placement.ranks // placement.nodes),
        "folder": str(folder),
        "recipe": program.recipe_folder,
        "round": number,
        "job": 1,
    }
