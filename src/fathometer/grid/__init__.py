"""Grids have cells with padding, arrays, finite-difference stencils, and tiles of time steps, whose best size is
searched for."""
