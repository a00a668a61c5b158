"""Statistics of repeated measurements: medians, their intervals, and what follows from them."""
