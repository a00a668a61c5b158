"""Reactive flow carries aqueous species with reactions by advection, diffusion and dispersion, implicit in time, on
PETSc."""
