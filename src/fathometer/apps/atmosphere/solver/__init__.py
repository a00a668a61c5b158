"""Spectral transforms, the equations of the atmosphere, and steps in time."""
