"""The kernels' Python module loads one of their compiled variants: its names are all here, and `variant` says which one
it is."""

from importlib import import_module

from fathometer._native import variants

variant = variants.chosen()
_module = import_module(f"{__name__}.{variant}")
globals().update({name: thing for name, thing in vars(_module).items() if not name.startswith("_")})
