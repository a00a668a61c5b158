"""A survey made ready to run: layout, experiment, groups of ranks."""
