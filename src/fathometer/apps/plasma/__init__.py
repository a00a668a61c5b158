"""Plasma turbulence: local gyrokinetics in a flux tube, distributed as spectral codes are, by all-to-all transposes."""
