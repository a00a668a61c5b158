"""Forward modelling makes shots: the driver, and the loop of one shot."""
