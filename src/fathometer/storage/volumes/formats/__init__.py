"""Formats of volumes, a module each."""
