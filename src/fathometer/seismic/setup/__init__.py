"""A survey is made ready to run here: all that is decided before the first step, layout, experiment, groups of
ranks."""
