"""Fixtures of the tests of reactive flow."""

import pytest

from fathometer import _native


@pytest.fixture
def one_thread():
    """Kernels on one thread: on grids of some hundred cells more of them only wait for each other."""
    before = _native.threads()
    _native.set_threads(1)
    yield
    _native.set_threads(before)
