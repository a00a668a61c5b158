"""Reverse time migration: the driver, the two loops, imaging conditions, products."""
