"""seismic."""
