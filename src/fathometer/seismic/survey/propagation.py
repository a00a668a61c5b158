"""The section [propagation]: discretisation and boundaries of wave propagation."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Le, MultipleOf
from pydantic import Field, model_validator

from fathometer.config.quantities import TraceLength
from fathometer.config.table import Table, key

TimeStep = Annotated[float, Ge(1e-12), Le(100)]


class SpongeTable(Table):
    """Sponge layer: damping that increases towards the sides."""

    kind: Literal["sponge"] = key("damping that increases towards the sides")
    width: Annotated[int, Ge(1), Le(1_000_000)] = key("thickness of the layer", "cells", 40)


class PmlTable(Table):
    """Perfectly matched layer."""

    kind: Literal["pml"] = key("perfectly matched layer")
    width: Literal["auto"] | Annotated[int, Ge(4), Le(200)] = key(
        "thickness of the layer; auto: 8; elastic: 20, or 4/3 wavelengths of the slowest waves or 0.8 of sound in "
        "fluids, whichever is most; of elastic waves at most the cells of the model along its longest axis",
        "cells",
        "auto",
    )
    multiaxial: Annotated[float, Ge(0), Le(1)] | None = key(
        "elastic runs: share of the damping that acts along the layer too, so that nothing grows in it, for some more "
        "reflection; 0: none; left out: 0 in homogeneous models to 0.3 where velocities differ "
        "most",
        "",
        None,
    )


# What keys of other waves than acoustic ones have where they are left out.
DEFAULTS: Mapping[str, Mapping[str, Any]] = MappingProxyType({"elastic": {"order": 4}})

BoundaryTable = Literal["auto"] | Annotated[SpongeTable | PmlTable, Field(discriminator="kind")]


class PropagationTable(Table):
    """Discretisation and boundaries of wave propagation."""

    physics: Literal["acoustic", "elastic"] = key(
        "acoustic: pressure waves, isotropic or VTI; elastic: P and S waves in velocity and stress, isotropic, `model` "
        "only",
        "",
        "acoustic",
    )
    order: Annotated[int, Ge(2), Le(16), MultipleOf(2)] = key(
        "order of the finite differences in space; elastic: 4", default=8
    )
    space_weights: Literal["taylor", "optimised"] = key(
        "weights of the finite differences: from Taylor series, or of least dispersion down to short waves",
        "",
        "taylor",
    )
    duration: TraceLength | None = key(
        "time computed after t = 0; needed for a geometry, left out with gathers: as recorded", "s", None
    )
    dt: Literal["auto"] | Annotated[float, Ge(1e-12), Le(100)] = key(
        "time step; auto: from the stability limit", "s", "auto"
    )
    time_dispersion: Literal["corrected", "none"] = key(
        "time dispersion, the error of the time steps; corrected: by transforms of injected and recorded series; none: "
        "no correction",
        "",
        "corrected",
    )
    boundary: BoundaryTable = key("absorbing boundary at the sides; auto: the default kind and width", "", "auto")
    cone: Literal["auto", "off"] = key(
        "auto: where it pays, cells are left out of the time steps in which no wave can have reached them or none that "
        "matters can come from them; off: all cells are computed in all steps",
        "",
        "auto",
    )
    precision: Literal["float32", "float64"] = key("type of the wavefields", "", "float32")
    top: Literal["absorbing", "free-surface"] = key("the upper side of the model", "", "absorbing")

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, values: Any) -> Any:
        """With what the physics has where keys are left out."""
        if isinstance(values, dict) and isinstance(values.get("physics"), str):
            return dict(DEFAULTS.get(values["physics"], {})) | values
        return values

    @model_validator(mode="after")
    def _agrees_with_physics(self) -> Self:
        CHECKS[self.physics](self)
        return self


def check_acoustic(table: PropagationTable) -> None:
    """Raises ValueError for a key that acoustic waves do not have."""
    if isinstance(table.boundary, PmlTable) and table.boundary.multiaxial is not None:
        raise ValueError("boundary.multiaxial: found with physics = acoustic; allowed only with elastic")


def check_elastic(table: PropagationTable) -> None:
    """Raises ValueError for a value that elastic waves cannot have."""
    order = DEFAULTS["elastic"]["order"]
    if table.order != order:
        raise ValueError(f"order: found {table.order}; allowed with physics = elastic: {order}, or left out")
    if table.space_weights != "taylor":
        raise ValueError(
            f'space_weights: found "{table.space_weights}"; allowed with physics = elastic: "taylor", or left out'
        )
    if isinstance(table.boundary, SpongeTable):
        raise ValueError('boundary.kind: found "sponge"; allowed with physics = elastic: "pml", or boundary = "auto"')


CHECKS: Mapping[str, Callable[[PropagationTable], None]] = MappingProxyType(
    {"acoustic": check_acoustic, "elastic": check_elastic}
)
