"""Seismic traces are read from SEG-Y and SU files and written to them, with their layouts and headers."""
