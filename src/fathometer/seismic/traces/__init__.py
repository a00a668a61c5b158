"""Trace processing: conditioning steps, resampling, time-dispersion correction, wavelets, the time axis."""
