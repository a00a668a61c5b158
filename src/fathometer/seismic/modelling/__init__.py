"""Forward modelling: the driver, and the loop of one shot."""
