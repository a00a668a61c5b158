"""The kernels' Python module holds all names of one of their compiled variants; `variant` says which one."""

from importlib import import_module

from fathometer._native import variants

_module = import_module(f"{__name__}.{variants.chosen()}")
globals().update({name: thing for name, thing in vars(_module).items() if not name.startswith("_")})
