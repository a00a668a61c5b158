"""The baroclinic part and the time step are computed here, from arrays and numbers only."""
