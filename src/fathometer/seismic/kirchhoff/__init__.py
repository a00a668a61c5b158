"""Kirchhoff prestack time migration sums traces along diffraction curves: the driver, blocks of traces, the operator,
products."""
