"""Fathometer: 3D VTI modelling and reverse time migration that accounts for what it spends."""

from importlib.metadata import version

__version__ = version("fathometer")
