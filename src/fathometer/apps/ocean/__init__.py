"""Ocean circulation solves the hydrostatic primitive equations with an implicit free surface."""
