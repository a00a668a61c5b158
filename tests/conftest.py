"""Fixtures shared by the tests."""

import os
import tempfile
from pathlib import Path

import pytest

from fathometer.parallel.launch import SPINS

os.environ.setdefault("GOMP_SPINCOUNT", SPINS)  # as the program itself does before the kernels are loaded
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="fathometer-test-cache-")  # never the user's own tunings


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real inputs; the test is skipped where it is absent."""
    default = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    folder = Path(os.environ.get("FATHOMETER_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no real inputs at {folder} (FATHOMETER_DATA)")
    return folder
