"""Kirchhoff prestack time migration: the driver, blocks of traces, the operator, products."""
