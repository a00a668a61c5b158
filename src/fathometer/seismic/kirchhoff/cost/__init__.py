"""What a time migration will cost: counts from its geometry, seconds and bytes on a machine, the layout to take."""
