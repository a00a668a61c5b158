"""The barotropic solver: blocks of the grid, their halos, the elliptic operator, conjugate gradients."""
