"""Volumes are regular grids of values in files of several formats, which all ranks read and write by named
strategies."""
