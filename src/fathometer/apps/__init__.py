"""Applications that are not seismic, a folder each."""
