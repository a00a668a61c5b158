"""The record of a run is put together here: envelope, ledgers of all ranks, machine, resource usage, trace,
roofline.

Called, the package is the public function `fathometer.record`, which reads one: its name is that of the package.
"""

import sys
from types import ModuleType


class _Record(ModuleType):
    """The package, called as python/records.py's `record`."""

    def __call__(self, path: object) -> object:
        from fathometer.base.references import referred

        return referred("fathometer.python.records:record")(path)


sys.modules[__name__].__class__ = _Record
