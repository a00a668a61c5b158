"""Traces are processed here: conditioning steps, resampling, time-dispersion correction, wavelets, the time axis."""
