"""Acoustic waves propagate here: the propagator, absorbing layers, points between cells."""
