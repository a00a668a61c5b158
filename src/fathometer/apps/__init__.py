"""Applications that are not seismic stand here, a folder each."""
