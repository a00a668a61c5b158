"""Reverse time migration makes the image: the driver, the two loops, imaging conditions, products."""
