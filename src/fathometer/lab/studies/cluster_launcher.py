"""From a program's words and its placement to the command that runs it on a cluster of namespaces.

    program              enter NODE, and there
    starts its own ranks the words; variables tell its mpirun on which nodes
    an MPI program       mpirun, the words
    one process          the words, on one node

The cluster need not be up: the words name a script that it has when it is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fathometer.base.errors import InputError
from fathometer.lab.cluster.launching import entered, mpirun_words, own_mpirun, ranks_of_nodes
from fathometer.lab.cluster.scripts import settings
from fathometer.lab.cluster.spec import cores_of_nodes, node_names
from fathometer.lab.cluster.state import folder_of
from fathometer.lab.studies.launching import Launch, Starts, memory_words, threads_variables
from fathometer.lab.studies.placement import Placement
from fathometer.lab.studies.study_cluster import cluster_name
from fathometer.launch.mpirun import MpiRun


@dataclass(frozen=True)
class ClusterLauncher:
    """On nodes of the study's clusters.

    Attributes:
        study: the folder of its results. cpus: logical cpus of this process. mpirun: None where there is none.
    """

    study: Path
    cpus: Sequence[int]
    mpirun: MpiRun | None
    name: str = "cluster"

    def launch(self, program: Sequence[str], starts: Starts, placement: Placement) -> Launch:
        """The command that starts a program there."""
        spec = placement.cluster
        assert spec is not None, "the study has a cluster"
        if placement.cpus or placement.bind != "none" or placement.threads_per_core is not None:
            raise InputError(
                "placement: found cpus, bind or threads_per_core on a cluster, whose nodes have their cores; allowed: "
                "nodes, ranks, ranks_per_node, threads, distribution"
            )
        if starts == "serial" and placement.ranks > 1:
            raise InputError(f"ranks: found {placement.ranks} for a program of one process; allowed: 1")
        names = placement.on or tuple(node_names(placement.nodes))
        slots = ranks_of_nodes(len(names), placement.ranks, placement.ranks_per_node)
        names = names[: len(slots)]
        words: list[str] = [*memory_words(placement)]
        own: Mapping[str, str] = {}
        if starts == "own":
            own = own_mpirun(slots, placement.distribution, names)
        elif starts == "mpi":
            if self.mpirun is None:
                raise InputError("no mpirun found; allowed: an installed one, such as Debian's openmpi-bin")
            options = [*placement.mpi, *words]  # where memory is, is said to each rank
            words = mpirun_words(self.mpirun, placement.ranks, slots, placement.distribution, names, options)
        folder = folder_of(cluster_name(self.study, spec))
        cores = len({core for node in cores_of_nodes(spec.nodes, list(self.cpus)) for core in node})
        environ = {**settings(folder, spec, cores, os.environ), **own, **threads_variables(placement)}
        return Launch(tuple(entered(folder, names[0], [*words, *program])), environ)
