"""Incompressible flow is computed in a box: velocity, pressure and temperature, with Tecplot files written together."""
