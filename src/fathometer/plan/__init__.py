"""A run's cost on a machine is predicted here: the machine file and what it is worth, phases, the search for a layout,
the table."""
