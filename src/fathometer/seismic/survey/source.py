"""The section [source]: what elastic sources do at their positions."""

from typing import Annotated, ClassVar, Literal, Self

from annotated_types import Ge, Le
from pydantic import Field, model_validator

from fathometer.config.table import Table, key
from fathometer.config.types import FileName, Loose

LARGEST_MOMENT = 1e25  # N m; the largest earthquakes have some 1e23
LEAST_MOMENT = 1e-12  # N m, or N of a force
TENSOR = ("mxx", "myy", "mzz", "mxy", "mxz", "myz")
Moment = Annotated[float, Ge(LEAST_MOMENT), Le(LARGEST_MOMENT)]
Component = Annotated[float, Ge(-LARGEST_MOMENT), Le(LARGEST_MOMENT)]


class _MomentTable(Table):
    largest: ClassVar[float] = LARGEST_MOMENT


class ExplosionTable(_MomentTable):
    """An explosion: the same moment along all axes, times the wavelet."""

    kind: Literal["explosion"] = key("the same moment along all axes")
    moment: Moment = key("moment; the wavelet is the moment rate over it", "N m", 1.0)


class ForceTable(_MomentTable):
    """A force, times the wavelet."""

    kind: Literal["force"] = key("a force")
    vector: Annotated[tuple[Component, Component, Component], Loose] = key(
        "force along x, y and z (down); 2D: the one along y is 0", "N"
    )

    @model_validator(mode="after")
    def _not_zero(self) -> Self:
        if max(map(abs, self.vector)) < LEAST_MOMENT:
            found = ", ".join(f"{value:g}" for value in self.vector)
            raise ValueError(f"vector: found [{found}]; allowed: one of them of at least {LEAST_MOMENT:g} N")
        return self


class MomentTensorTable(_MomentTable):
    """A moment tensor, symmetric, times the wavelet; x, y and z (down) are the grid's axes."""

    kind: Literal["moment-tensor"] = key("a moment tensor")
    mxx: Component = key("component xx", "N m", 0.0)
    myy: Component = key("component yy", "N m", 0.0)
    mzz: Component = key("component zz", "N m", 0.0)
    mxy: Component = key("component xy", "N m", 0.0)
    mxz: Component = key("component xz", "N m", 0.0)
    myz: Component = key("component yz", "N m", 0.0)

    @model_validator(mode="after")
    def _not_zero(self) -> Self:
        if max(abs(getattr(self, name)) for name in TENSOR) < LEAST_MOMENT:
            raise ValueError(
                f"mxx: found less than {LEAST_MOMENT:g} in all components; allowed: more than that in one of "
                f"{', '.join(TENSOR)}"
            )
        return self


class DoubleCoupleTable(_MomentTable):
    """A double couple, slip on a plane, times the wavelet (Aki & Richards 2002, box 4.4; x is their north, y their
    east)."""

    kind: Literal["double-couple"] = key("slip on a plane")
    strike: Annotated[float, Ge(-360), Le(360)] = key("of the plane, from the x axis towards y", "degrees")
    dip: Annotated[float, Ge(0), Le(90)] = key("of the plane, down from the horizontal", "degrees")
    rake: Annotated[float, Ge(-360), Le(360)] = key("of the slip in the plane, from the strike upwards", "degrees")
    moment: Moment = key("scalar moment", "N m", 1.0)


class SourceFileTable(Table):
    """Many point sources that act together as one extended source, such as those of a fault."""

    kind: Literal["table"] = key("point sources from a table")
    path: FileName = key(
        "the table (.csv or .parquet), with columns x, y, z (from the shot's source position, m), onset and rise_time "
        "(s), and either strike, dip, rake (degrees) and moment (N m) or mxx, myy, mzz, mxy, mxz, myz (N m)"
    )


SourceTable = Annotated[
    ExplosionTable | ForceTable | MomentTensorTable | DoubleCoupleTable | SourceFileTable, Field(discriminator="kind")
]
