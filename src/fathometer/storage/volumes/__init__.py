"""Volumes: all ranks write or read one together, by named strategies."""
