"""Parameters of the preparation of a model, as `fathometer prepare` takes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fathometer.seismic.model.prepare.extent import Extension, Span
from fathometer.seismic.model.prepare.thomsen import Given, Rule, SeaFloor


@dataclass(frozen=True)
class PreparationRequest:
    """Parameters of the preparation of a model.

    Lengths are in m, along x, y, z (2D: x, z); a tuple of one value is for all axes.

    Attributes:
        model: reference of a volume. output: file, whose suffix selects the format.
        units: of the values; "none": not a velocity; None: as in the file, else m/s.
        axes, input_spacing, input_origin: of the file, where it has none.
        crop, smooth (standard deviations), spacing, extend: None: step not done.
        epsilon, delta: rules, or volumes on the model's cells; None: 0, not written.
        sea_floor: above it rules are 0 and nothing is smoothed.
        mean: of what smoothing and new cells are the mean, one of means.MEANS; None: what suits the model.
    """

    model: str
    output: Path
    units: str | None = None
    axes: str | None = None
    input_spacing: tuple[float, ...] | None = None
    input_origin: tuple[float, ...] | None = None
    crop: tuple[Span, ...] | None = None
    smooth: tuple[float, ...] | None = None
    spacing: tuple[float, ...] | None = None
    extend: tuple[Extension, ...] | None = None
    epsilon: Rule | Given | None = None
    delta: Rule | Given | None = None
    sea_floor: SeaFloor | None = None
    mean: str | None = None

    @property
    def anisotropy_given(self) -> bool:
        """Whether epsilon or delta is a volume, which is averaged with the velocity."""
        return isinstance(self.epsilon, Given) or isinstance(self.delta, Given)
