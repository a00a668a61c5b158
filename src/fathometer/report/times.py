"""Simulated times on the pages of applications: see base/formatting.py."""

from fathometer.base.formatting import simulated_unit as unit_of
from fathometer.base.formatting import time_text, times_text

__all__ = ["time_text", "times_text", "unit_of"]
