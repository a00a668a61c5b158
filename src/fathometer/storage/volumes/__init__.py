"""Volumes: regular grids of values in files of several formats, read and written by all ranks by named strategies."""
