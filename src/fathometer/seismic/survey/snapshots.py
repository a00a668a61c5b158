"""The section [snapshots]: the elastic wavefield on fewer nodes and at fewer times, in files."""

from typing import Annotated, Literal

from annotated_types import Len
from pydantic import AfterValidator

from fathometer.config.constraints import Allowed
from fathometer.config.table import Table, key, not_allowed
from fathometer.config.types import Count, Loose
from fathometer.storage.volumes.registry import stepped_suffixes

NAMES = ("vx", "vy", "vz", "sxx", "syy", "szz", "sxy", "sxz", "syz")


def _field_names(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names or len(set(names)) < len(names) or not set(names) <= set(NAMES):
        raise not_allowed()
    return names


def _suffix(name: str) -> str:
    if f".{name}" not in stepped_suffixes():
        raise not_allowed()
    return name


_QUOTED = [f'"{suffix.removeprefix(".")}"' for suffix in stepped_suffixes()]
FieldNames = Annotated[
    tuple[str, ...],
    Loose,
    AfterValidator(_field_names),
    Allowed(f"a list of {', '.join(NAMES)}, each once", tuple(NAMES)),
]
FormatName = Annotated[str, AfterValidator(_suffix), Allowed(f"{', '.join(_QUOTED[:-1])} or {_QUOTED[-1]}")]


class SnapshotsTable(Table):
    """The elastic wavefield on fewer nodes and at fewer times, in files."""

    every_nodes: Count | Annotated[tuple[Count, ...], Len(2, 3), Loose] = key(
        "of the model's nodes those whose indices are multiples of this are kept; one number, or one for each axis x, "
        "y, z (2D: x, z)",
        "nodes",
        2,
    )
    every_steps: Count = key("time steps between snapshots", "steps", 10)
    fields: Literal["velocities"] | FieldNames = key("what is kept, a file each", "", "velocities")
    region: Literal["volume", "surface"] = key("the whole model, or its uppermost plane", "", "volume")
    buffered_steps: Count = key("snapshots kept in memory before they are written together", "snapshots", 1)
    format: FormatName = key("suffix of the files", "", "rsf")
