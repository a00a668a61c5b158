"""Reactive flow: advection, diffusion and dispersion of aqueous species with reactions, implicit in time, on PETSc."""
