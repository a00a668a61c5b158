"""Numbers on the pages of applications: see base/formatting.py."""

from fathometer.base.formatting import count, digits

__all__ = ["count", "digits"]
