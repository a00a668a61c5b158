"""What a run will cost on a machine: the machine file, phases, the search for a layout."""
