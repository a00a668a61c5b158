"""Grids, their arrays, finite-difference stencils, and how time steps are tiled."""
