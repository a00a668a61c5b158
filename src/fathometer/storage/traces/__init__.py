"""Seismic traces in SEG-Y and SU files: layout, reading, writing."""
