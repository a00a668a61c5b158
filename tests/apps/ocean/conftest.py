"""For all tests of oceans in this process."""

import pytest

from fathometer import _native


@pytest.fixture(autouse=True)
def one_thread():
    """The oceans are too small for several, which wait for each other at every kernel where cores are busy."""
    before = _native.threads()
    _native.set_threads(1)
    yield
    _native.set_threads(before)
