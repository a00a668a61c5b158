"""Values far from the others, by Tukey's outer fences (Tukey 1977, Exploratory Data Analysis).

They are shown, never dropped: medians and order-statistic intervals do not mind them, and what was slow once may be
slow again.
"""

from __future__ import annotations

from collections.abc import Sequence

FENCE = 3.0  # times the distance of the quartiles, beyond them: Tukey's "far out"
LEAST_FAR = 0.01  # of the median: nearer ones are not far from the others, however close these are to each other
FEWEST = 6  # values: of fewer, one far away would move the quartiles themselves too much


def outliers(values: Sequence[float]) -> list[int]:
    """Places of the values that are far out, in order; none of fewer than FEWEST values."""
    import numpy as np

    if len(values) < FEWEST:
        return []
    lower, middle, upper = (float(value) for value in np.quantile(values, [0.25, 0.5, 0.75]))
    reach = max(FENCE * (upper - lower), LEAST_FAR * abs(middle))
    return [place for place, value in enumerate(values) if not lower - reach <= value <= upper + reach]
