"""Whether the sections of a survey are for the physics that [propagation] names."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from fathometer.seismic.survey.acquisition import AcquisitionTable
from fathometer.seismic.survey.model import ModelTable
from fathometer.seismic.survey.parallel import ParallelTable
from fathometer.seismic.survey.snapshots import SnapshotsTable
from fathometer.seismic.survey.source import SourceTable

ELASTIC_MODEL = ("vs", "density", "qp", "qs", "reference_frequency")
ONLY = "allowed only with [propagation] physics = elastic"


def check_acoustic(
    model: ModelTable | None,
    acquisition: AcquisitionTable,
    source: SourceTable | None,
    snapshots: SnapshotsTable | None,
    parallel: ParallelTable,
) -> None:
    """Raises ValueError for a key of an acoustic survey that only elastic runs have."""
    for name in ELASTIC_MODEL:
        if getattr(model, name, None) is not None:
            raise ValueError(f"[model] {name}: found with physics = acoustic; {ONLY}")
    if model is not None and model.on_weak_epsilon != "refuse" and model.epsilon == 0 == model.delta:
        raise ValueError("[model] on_weak_epsilon: found without epsilon and delta; allowed: only with them")
    for name, table in (("source", source), ("snapshots", snapshots)):
        if table is not None:
            raise ValueError(f"[{name}]: found with physics = acoustic; {ONLY}")
    components = acquisition.components
    if components is not None and components != ("pressure",):
        other = next((name for name in components if name != "pressure"), "")
        raise ValueError(f'[acquisition] components: found "{other}" with physics = acoustic; {ONLY}')


def check_elastic(
    model: ModelTable | None,
    acquisition: AcquisitionTable,
    source: SourceTable | None,
    snapshots: SnapshotsTable | None,
    parallel: ParallelTable,
) -> None:
    """Raises ValueError for what an elastic survey lacks, and for what it cannot have."""
    if model is not None:
        for name in ("vs", "density"):
            if getattr(model, name) is None:
                raise ValueError(f"[model] {name}: missing; needed with [propagation] physics = elastic")
        for name in ("epsilon", "delta"):
            value = getattr(model, name)
            if isinstance(value, str) or value != 0:
                raise ValueError(
                    f"[model] {name}: found with physics = elastic, which is isotropic; allowed: 0, or left out"
                )
        if model.on_weak_epsilon != "refuse":
            raise ValueError(
                "[model] on_weak_epsilon: found with physics = elastic, which is isotropic; allowed only with acoustic"
            )
        for name, other in (("qp", "qs"), ("qs", "qp")):
            if getattr(model, name) is None and getattr(model, other) is not None:
                raise ValueError(f"[model] {name}: missing although {other} is given; allowed: both or neither")
        if model.reference_frequency is not None and model.qp is None:
            raise ValueError("[model] reference_frequency: found without qp and qs; allowed: only with them")
    if source is None:
        raise ValueError("[source]: missing; needed with [propagation] physics = elastic: a table {kind, …}")
    if acquisition.gathers is not None:
        raise ValueError(
            "[acquisition] gathers: found with physics = elastic; allowed: a geometry to model (sources, receivers)"
        )
    if parallel.processor == "gpu":
        raise ValueError('[parallel] processor: found "gpu" with physics = elastic; allowed: "auto" or "cpu"')


Check = Callable[[ModelTable | None, AcquisitionTable, SourceTable | None, SnapshotsTable | None, ParallelTable], None]
CHECKS: Mapping[str, Check] = MappingProxyType({"acoustic": check_acoustic, "elastic": check_elastic})
