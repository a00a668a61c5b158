"""Types of physical keys, each with a lower and an upper limit.

The limits are generous, so that no real case meets them: what lies beyond is a typing error or in another unit, and
would become an image of zeros or numbers that overflow, far from its key.
"""

from typing import Annotated

from annotated_types import Ge, Gt, Le
from pydantic import AfterValidator

from fathometer.config.constraints import Allowed
from fathometer.config.types import Loose, even_range

MOST_METRES = 1e9  # far beyond any place on earth; also what people write for "all offsets"
LONGEST_TRACE = 1e5  # s

Coordinate = Annotated[float, Ge(-MOST_METRES), Le(MOST_METRES)]  # m; depths too
Distance = Annotated[float, Ge(0), Le(MOST_METRES)]  # m
CellSize = Annotated[float, Ge(1e-9), Le(1e6)]  # m or degrees
Elevation = Annotated[float, Ge(-9000), Le(12_000)]  # m, as depth: from the highest mountain to the deepest trench
Velocity = Annotated[float, Ge(100), Le(20_000)]  # m/s, of P waves and what is stacked with them
Frequency = Annotated[float, Ge(1e-4), Le(1e7)]  # Hz
CornerFrequency = Annotated[float, Ge(0), Le(1e7)]  # Hz
Density = Annotated[float, Ge(0.1), Le(50_000)]  # kg/m³
Quality = Annotated[float, Ge(1), Le(1e9)]  # quality factor; 1e9: as good as none
TraceTime = Annotated[float, Ge(-LONGEST_TRACE), Le(LONGEST_TRACE)]  # s
TraceLength = Annotated[float, Ge(1e-6), Le(LONGEST_TRACE)]  # s
Ramp = Annotated[float, Ge(0), Le(LONGEST_TRACE)]  # s
Bytes = Annotated[float, Ge(1), Le(1e18)]
SimulatedTime = Annotated[float, Ge(1e-12), Le(1e18)]  # s, up to twice the age of the universe
Diffusivity = Annotated[float, Ge(0), Le(1e8)]  # m²/s
Tolerance = Annotated[float, Gt(0), Le(1)]  # relative
Range = Annotated[
    tuple[Coordinate, Coordinate, Coordinate],
    Loose,
    AfterValidator(even_range),
    Allowed(f"[first, last, step] up to {MOST_METRES:g} where the step divides last - first"),
]
