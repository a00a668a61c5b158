"""Makes a study's runs on clusters of namespaces, which it brings up for them and takes down at the end.

Cases take turns in every round, and so do their clusters. All that the cases want stay up until the end: one at a time
would have to be made anew for almost every run, and a cluster that nobody uses does nothing. Each is measured once,
when it is made:

    STUDY/clusters/NAME.json     its nodes, and what its links gave

A study that is killed leaves its clusters; they name their owner, and the next `cluster up`, or this study when it goes
on, clears them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from fathometer.base.errors import FathometerError
from fathometer.base.process_stat import cpu_seconds
from fathometer.lab.cluster import state
from fathometer.lab.cluster.making import bring_up, take_down
from fathometer.lab.cluster.marks import marks_of
from fathometer.lab.cluster.namespaces import show_folders
from fathometer.lab.cluster.processes import members, sleeper
from fathometer.lab.cluster.spec import ClusterSpec
from fathometer.lab.cluster.state import Cluster, folder_of
from fathometer.lab.studies.runner import HostRunner, RunToBegin, Tell
from fathometer.lab.studies.single_run import Outcome, write_outcome
from fathometer.lab.studies.store import CLUSTERS
from fathometer.lab.studies.study_cluster import cluster_name, study_prefix
from fathometer.record.schema import problem_of
from fathometer.storage import atomic
from fathometer.storage.json_text import json_values

MOST_UP = 12  # clusters of a study at a time; one more ends the one that was made first


class ClusterRunner(HostRunner):
    """Makes the runs on clusters of this host.

    Args:
        folder: of the study. directory: of its file: the nodes see both.
    """

    def __init__(self, folder: Path, directory: Path) -> None:
        self._up: dict[str, Cluster] = {}
        super().__init__(folder)
        self._study, self._directory = folder.absolute(), directory.absolute()
        self._waiting: dict[Path, RunToBegin] = {}
        self._shown: dict[str, set[Path]] = {}  # by the cluster's name

    def recover(self) -> None:
        """What an interrupted session has left is ended, or will be found again by `begun`."""
        super().recover()
        self._take_down()

    def begin(self, runs: Sequence[RunToBegin]) -> None:
        """Begin runs, one after another where they are several."""
        super().begin(runs)
        self._waiting |= {one.run.folder: one for one in runs}

    def wait(self, folder: Path, tell: Tell) -> Outcome:
        """How the run in this folder ended. Raises FathometerError where the cluster cannot be made."""
        waiting = self._waiting.pop(folder)
        spec = waiting.placement.cluster
        assert spec is not None, "the study has a cluster"
        cluster = self._cluster(spec, tell)
        self._show(cluster, {path.absolute().parent for path in waiting.run.inputs})
        outcome = super().wait(folder, tell)
        marks = [*outcome.marks, *marks_of(cluster, waiting.run.cpus, waiting.nodes)]
        problem = f"{', '.join(cluster.gone)} ended meanwhile" if cluster.gone else outcome.problem
        outcome = replace(outcome, marks=list(dict.fromkeys(marks)), problem=problem)
        write_outcome(folder, outcome)
        return outcome

    def close(self) -> None:
        """The study's session ends, whether well or not: nothing that it has made for its runs stays."""
        self._up = {}
        self._take_down()

    def _cluster(self, spec: ClusterSpec, tell: Tell) -> Cluster:
        """The cluster, which is brought up where it is not."""
        name = cluster_name(self._study, spec)
        cluster = self._up.get(name)
        if cluster is None or cluster.gone:
            if len(self._up) >= MOST_UP:
                first = next(iter(self._up))
                self._up.pop(first)
                take_down(first)
            tell(f"brings up a cluster: {spec.text}")
            shown = {self._study, self._directory, Path.cwd()}
            cluster = bring_up(name, spec, lambda line: None, shown, sleeper(os.getpid()))
            self._up[name], self._shown[name] = cluster, shown
            with atomic.writing(self._study / CLUSTERS):
                (self._study / CLUSTERS).mkdir(parents=True, exist_ok=True)
            values = json.dumps(state.described(cluster), indent=1)
            atomic.write(self._study / CLUSTERS / f"{name}.json", values.encode())
        return cluster

    def _show(self, cluster: Cluster, folders: set[Path]) -> None:
        """Show folders of the inputs that nodes do not see yet."""
        shown = self._shown[cluster.name]
        show_folders(cluster, folders - shown)
        shown |= folders

    def _daemons(self) -> float:
        """Cpu seconds of what works for the runs besides their own processes: of Slurm and GlusterFS on the nodes."""
        return sum(cpu_seconds(members(folder_of(name))) for name in self._up)

    def _take_down(self) -> None:
        prefix = study_prefix(self._study)
        for name in state.names():
            if name.startswith(prefix):
                with suppress(FathometerError):  # it is cleared by the next cluster that is made
                    take_down(name)


def clusters_in(study: Path) -> list[dict[str, object]]:
    """What a study's folder says of its clusters."""
    found = []
    for path in sorted((study / CLUSTERS).glob("*.json")):
        with suppress(OSError, ValueError):
            cluster = json_values(path.read_bytes())
            found += [] if problem_of(cluster, "cluster") else [cluster]
    return found
