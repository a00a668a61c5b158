"""The machine of a study's runs, as records describe it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from fathometer.base.errors import FathometerError

_MACHINE = "import json; from fathometer.record.machine import machine; print(json.dumps(machine()))"


def machine_of_runs() -> dict[str, Any]:
    """Hardware and software of this host. Asked of another process: who has MPI in it can start no mpirun."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", _MACHINE],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        raise FathometerError(f"this machine cannot be described: {(done.stderr.strip().splitlines() or [''])[-1]}")
    described: dict[str, Any] = json.loads(done.stdout)
    return described
