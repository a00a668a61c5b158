"""PETSc solves a reactive flow in time here; this knows arrays and numbers, no input files and no results."""
