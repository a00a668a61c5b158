"""The section [imaging]: imaging condition, aperture and gathers."""

from itertools import pairwise
from typing import Any, Literal, Self

from pydantic import field_validator, model_validator

from fathometer.config.quantities import Distance
from fathometer.config.table import Table, key
from fathometer.config.types import Count
from fathometer.seismic.survey.types import Edges


class ImagingTable(Table):
    """Imaging condition, aperture and gathers."""

    method: Literal["rtm"] = key("reverse time migration", "", "rtm")
    condition: Literal["cross-correlation", "source-normalised"] = key("imaging condition", "", "cross-correlation")
    every: Literal["auto"] | Count = key(
        "imaging step; auto: from the Nyquist rate of the highest frequency", "time steps", "auto"
    )
    aperture: Distance | None = key(
        "extent of a shot's image beyond its source and receivers in x and y; left out: the whole model",
        "m",
        None,
    )
    gathers: Literal["none", "offset"] = key(
        "also an image of each offset bin; each costs a receiver propagation, and a source propagation where the "
        "history is not in memory",
        "",
        "none",
    )
    offset_bins: Edges | None = key(
        "smallest offset of each bin, then the end of the last bin; needed with gathers", "m", None
    )
    laplacian: bool = key("also write the Laplacian-filtered image", "", True)

    @field_validator("condition", mode="before")
    @classmethod
    def _gone(cls, condition: Any) -> Any:
        """A name that surveys may still have."""
        if condition == "inverse-scattering":
            raise ValueError(
                'found "inverse-scattering", which was half the Laplacian-filtered image; use "cross-correlation", '
                "whose image-laplacian (laplacian = true, the default) is that image, times 2"
            )
        return condition

    @model_validator(mode="after")
    def _bins(self) -> Self:
        if (self.gathers == "offset") != (self.offset_bins is not None):
            found = "missing; needed" if self.offset_bins is None else "found; allowed only"
            raise ValueError(f'offset_bins: {found} with gathers = "offset"')
        edges = self.offset_bins or ()
        if any(a >= b for a, b in pairwise(edges)):
            raise ValueError("offset_bins: allowed: ascending offsets")
        return self
