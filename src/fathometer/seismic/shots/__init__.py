"""A shot has its acquisition geometry, recorded gathers, trace selection and conditioning, offset bins and
apertures."""
