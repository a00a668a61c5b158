"""Tecplot's binary files of ordered zones are written by all ranks together in several ways, and read."""
