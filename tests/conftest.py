"""Fixtures shared by the tests."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from fathometer.launch.mpirun import SPINS

os.environ.setdefault("GOMP_SPINCOUNT", SPINS)  # as the program itself does before the kernels are loaded
CACHE = tempfile.TemporaryDirectory(prefix="fathometer-test-cache-")  # never the user's own tunings
os.environ["XDG_CACHE_HOME"] = CACHE.name

# Machines are slow at times, and the same examples each time tell a change of the program from bad luck.
settings.register_profile(
    "suite", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real inputs; the test is skipped where it is absent."""
    default = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    folder = Path(os.environ.get("FATHOMETER_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no real inputs at {folder} (FATHOMETER_DATA)")
    return folder
