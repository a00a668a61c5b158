"""Traces: the layout of SEG-Y and SU files, reading, writing."""
