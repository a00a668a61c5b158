"""Ocean circulation: hydrostatic primitive equations with an implicit free surface."""
