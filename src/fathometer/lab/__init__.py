"""Measurements of the applications: statistics, benchmarks."""
