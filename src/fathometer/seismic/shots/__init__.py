"""Shots: acquisition geometry, recorded gathers, trace selection and conditioning, offset bins, apertures."""
