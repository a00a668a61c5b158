"""The spectral atmosphere: a global model by spherical harmonics."""
