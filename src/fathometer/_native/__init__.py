"""The kernels: one of their compiled variants, whose names are all here. `variant` is the name of that variant."""

from importlib import import_module

from fathometer._native import variants

_module = import_module(f"{__name__}.{variants.chosen()}")
globals().update({name: thing for name, thing in vars(_module).items() if not name.startswith("_")})
