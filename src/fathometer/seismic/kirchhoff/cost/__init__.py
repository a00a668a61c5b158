"""The cost of a time migration is counted from its geometry: seconds and bytes on a machine, the layout to take."""
