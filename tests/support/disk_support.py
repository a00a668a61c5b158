"""Small disks for tests."""

import subprocess
from pathlib import Path

import pytest


def small_disk(folder: Path) -> None:
    """A file system of 1 MB at `folder`, or a skip."""
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no small file system can be mounted: {done.stderr.strip()}")
