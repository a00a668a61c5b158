"""The barotropic solver finds the surface: blocks of the grid, their halos, the elliptic operator, conjugate
gradients."""
