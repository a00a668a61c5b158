"""A farm of tasks: masters, workers, and a writer on each node."""
