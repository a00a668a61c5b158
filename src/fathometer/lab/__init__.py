"""Measurements of applications and machines."""
