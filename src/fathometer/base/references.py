"""What lies in a module that is imported when it is asked for, named as "module:name"."""

from importlib import import_module
from typing import Any


def referred(reference: str) -> Any:
    """What a reference names. Raises ImportError or AttributeError where there is none."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
