"""Prediction of what a run costs on a machine: the machine file."""
