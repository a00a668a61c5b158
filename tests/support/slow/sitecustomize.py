"""With this folder on PYTHONPATH (kill_support.SLOW) each shot of a migration takes some hundredths of a second
more, in all processes: on the fastest machine too, a test then meets a run in the middle."""

import importlib.util
import sys
import time
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

SECONDS = 0.03


class Slowing(MetaPathFinder):
    """Changes the class of the shots when a process imports it, and imports nothing itself."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != "fathometer.seismic.rtm.worker":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def slower(module: ModuleType) -> None:
            load(module)
            migrate = module.Worker.migrate

            def later(self: Any, *words: Any) -> Any:
                time.sleep(SECONDS)
                return migrate(self, *words)

            module.Worker.migrate = later

        spec.loader.exec_module = slower
        return spec


sys.meta_path.insert(0, Slowing())
