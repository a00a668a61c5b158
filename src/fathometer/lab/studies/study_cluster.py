"""The cluster of namespaces on which a study's runs are made: which one each case asks for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from fathometer.base.errors import InputError, naming
from fathometer.lab.cluster.spec import ClusterSpec, spec_of
from fathometer.lab.recipes.template import Value, names_in
from fathometer.lab.studies.placement import Placement
from fathometer.lab.studies.program import filled
from fathometer.lab.studies.study_file import ClusterTable, PlaceTable

FACTORS = ("link", "rails")  # that set keys of the cluster


class StudyCluster:
    """The table [place] of a study file, with a cluster."""

    def __init__(self, table: ClusterTable) -> None:
        self._table = table

    def names(self) -> set[str]:
        """Factors on which the cluster depends."""
        values = (self._table.nodes, self._table.link, self._table.rails)
        return {name for value in values if isinstance(value, str) for name in names_in(value)} | set(FACTORS)

    def spec(self, settings: Mapping[str, Value], nodes: int) -> ClusterSpec:
        """The cluster of a case; nodes: that its run has. Raises InputError that names the key."""
        given = {name: settings.get(name, getattr(self._table, name)) for name in FACTORS}
        asked = nodes if self._table.nodes is None else filled(self._table.nodes, settings)
        with naming("[place] cluster"):
            link, rails = (filled(given[name], settings) for name in FACTORS)
            spec = spec_of(asked, link, rails, network_folder=self._table.network_folder)
            if spec.nodes < nodes:
                raise InputError(f"nodes: found {spec.nodes} for a run on {nodes}; allowed: at least as many")
        return spec

    def on_cluster(self, placement: Placement, settings: Mapping[str, Value]) -> Placement:
        """The placement, on the cluster of a case. Raises InputError."""
        return replace(placement, cluster=self.spec(settings, placement.nodes))


def cluster_of(table: PlaceTable) -> StudyCluster | None:
    """The cluster of a study; None where it runs on hosts."""
    return None if table.cluster is None else StudyCluster(table.cluster)


def study_prefix(study: Path) -> str:
    """What the names of the clusters of a study begin with; study: the folder of its results."""
    return f"study-{hashlib.sha256(str(study.absolute()).encode()).hexdigest()[:10]}-"


def cluster_name(study: Path, spec: ClusterSpec) -> str:
    """The name of a study's cluster: each of its clusters has one of its own, and so has each study.

    >>> cluster_name(Path("/a.study"), spec_of(2, "2.5gbit"))
    'study-3fbd5ca0d9-2-2-5gbit-1'
    """
    return f"{study_prefix(study)}{spec.nodes}-{spec.link.text.replace('.', '-')}-{spec.rails}"
