"""Fathometer: real parallel applications, from files to results, that account for every second and byte; and the
instruments to measure any other program and machine with the same rigour.

In Python: `open_volume`, `open_gathers`, `Survey`, `Input`, `run`, `record`; see docs/guide/python.md.
"""

TYPE_CHECKING = False  # as typing's, which takes longer to import than all else here: a signal may come meanwhile

# Where each public name is, imported when it is asked for. Their types are in __init__.pyi.
_PUBLIC = {
    "FathometerError": "fathometer.base.errors:FathometerError",
    "Input": "fathometer.python.inputs:Input",
    "InputError": "fathometer.base.errors:InputError",
    "Record": "fathometer.python.records:Record",
    "Run": "fathometer.python.running:Run",
    "Survey": "fathometer.python.inputs:Survey",
    "open_gathers": "fathometer.python.opening:open_gathers",
    "open_volume": "fathometer.python.opening:open_volume",
    "run": "fathometer.python.running:run",
}
__all__ = [*_PUBLIC, "__version__", "record"]


def __getattr__(name: str) -> object:
    """A public name; `__version__`, read from the installed package: importlib.metadata takes long to load."""
    if name in _PUBLIC:
        from fathometer.base.references import referred

        found: object = referred(_PUBLIC[name])
    elif name == "record":
        from importlib import import_module

        found = import_module("fathometer.record")
    elif name == "__version__":
        from importlib.metadata import version

        found = version("fathometer")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
