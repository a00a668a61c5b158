"""The kernels: one of their compiled variants, whose names are all here, and `variant`, which says which it is."""

from importlib import import_module

from fathometer._native import variants

variant = variants.chosen()
_module = import_module(f"{__name__}.{variant}")
globals().update({name: thing for name, thing in vars(_module).items() if not name.startswith("_")})
