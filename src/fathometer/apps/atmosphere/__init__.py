"""The spectral atmosphere: a global model by spherical harmonics, with physics of columns of air."""
