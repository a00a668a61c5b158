"""The solution of a reactive flow in time, by PETSc: it knows arrays and numbers, no input files and no results."""
