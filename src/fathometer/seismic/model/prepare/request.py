"""Parameters of the preparation of a model, as `fathometer prepare` takes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fathometer.base.option_types import lengths, read_by
from fathometer.base.options import option

if TYPE_CHECKING:
    from fathometer.seismic.model.prepare.extent import Extension, Span
    from fathometer.seismic.model.prepare.thomsen import Given, Rule, SeaFloor

_EXTENT, _THOMSEN = "fathometer.seismic.model.prepare.extent", "fathometer.seismic.model.prepare.thomsen"
_rule = read_by(_THOMSEN, "rule_of")


@dataclass(frozen=True)
class PreparationRequest:
    """Parameters of the preparation of a model.

    Lengths are in m, along x, y, z (2D: x, z); a tuple of one value is for all axes. None: not done, or as in the file.

    Attributes:
        model: reference of a volume. output: file, whose suffix selects the format.
        units: of the values; "none": not a velocity; None: as in the file, else m/s.
        smooth: standard deviations. epsilon, delta: rules, or volumes on the model's cells; None: 0, not written.
        mean: of what smoothing and new cells are the mean, one of means.MEANS; None: what suits the model.
        sea_floor: above it rules are 0 and nothing is smoothed.
        write: strategy (storage/volumes/strategy.py) of the files.
    """

    model: str = option("a volume (of one array: models.npz:vp), or picks (.txt, .csv)", "model", metavar="MODEL")
    output: Path = option("its suffix is the format", "-o", "--output", type=Path, metavar="OUT")
    units: str | None = option(
        "of MODEL; none: no velocity, taken as it is (as MODEL says, else m/s)",
        default=None,
        choices=("m/s", "km/s", "ft/s", "s/km", "s2/km2", "none"),
    )
    axes: str | None = option(
        "of MODEL, slowest first: zyx, xz ... (as MODEL says, else xyz)", default=None, metavar="XYZ"
    )
    input_spacing: tuple[float, ...] | None = option(
        "of MODEL's cells, m, if it has none", default=None, type=lengths, metavar="DX,.."
    )
    input_origin: tuple[float, ...] | None = option(
        "of its first cell, m, if it has none", default=None, type=lengths, metavar="X,.."
    )
    smooth: tuple[float, ...] | None = option(
        "standard deviations of a Gaussian, m", default=None, type=lengths, metavar="M,.."
    )
    mean: str | None = option(
        "what smoothing and new cells average: slowness-squared keeps waves' times through layers thin beside the "
        "wavelength, slowness those of rays (of picks slowness, else slowness-squared)",
        default=None,
        choices=("slowness-squared", "slowness", "velocity"),
    )
    spacing: tuple[float, ...] | None = option(
        "of new cells, m; low-passed where larger", default=None, type=lengths, metavar="DX,.."
    )
    crop: tuple[Span, ...] | None = option(
        "cells that stay, m; an end may be left out (--crop=-50:900,: where the first is negative)",
        default=None,
        type=read_by(_EXTENT, "crop_of"),
        metavar="X0:X1,..",
    )
    extend: tuple[Extension, ...] | None = option(
        "m before and after, or cells: 20c; one number stands for both; edge values repeat",
        default=None,
        type=read_by(_EXTENT, "extension_of"),
        metavar="B:A,..",
    )
    epsilon: Rule | Given | None = option(
        "a number, velocity:V=VALUE,V=VALUE,.. or a volume", default=None, type=_rule, metavar="RULE"
    )
    delta: Rule | Given | None = option("the same", default=None, type=_rule, metavar="RULE")
    sea_floor: SeaFloor | None = option(
        "rules are 0 and nothing is smoothed above the first cell faster than V m/s, or above Z m",
        "--below-water",
        default=None,
        type=read_by(_THOMSEN, "sea_floor_of"),
        metavar="V|depth:Z",
    )

    write: str = option(
        "how OUT is stored, as [storage] write: auto:levels=3, auto:filter=wavelet,shares=100/10 ... (auto)",
        default="auto",
        metavar="STRATEGY",
    )

    @property
    def anisotropy_given(self) -> bool:
        """Whether epsilon or delta is a volume, which is averaged with the velocity."""
        from fathometer.seismic.model.prepare.thomsen import Given

        return isinstance(self.epsilon, Given) or isinstance(self.delta, Given)
