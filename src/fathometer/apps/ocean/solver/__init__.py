"""The baroclinic part and the time step: arrays and numbers only."""
