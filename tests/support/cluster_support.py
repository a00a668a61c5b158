"""Clusters of namespaces that tests start and end, and what must not be left of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_support import Done, call

from fathometer.base.errors import FathometerError
from fathometer.lab.cluster.making import require_programs
from fathometer.lab.cluster.namespaces import needs_user_namespace
from fathometer.lab.cluster.processes import members
from fathometer.lab.cluster.state import clusters_folder, folder_of


def require_clusters(user_namespace: bool = False) -> None:
    """The test is skipped, with the system's reason, where there can be no cluster."""
    try:
        require_programs()
        needs_user_namespace(user_namespace)
    except FathometerError as error:
        pytest.skip(str(error))


@contextmanager
def cluster(name: str, *options: object) -> Iterator[str]:
    """A cluster that is up within the block; nothing is left of it afterwards."""
    require_clusters("--user-namespace" in options)
    before = outside()
    done = call("cluster", "up", "--name", name, *options)
    assert done.code == 0, done.err
    try:
        yield name
    finally:
        call("cluster", "down", "--name", name, "--quiet")
        assert nothing_left(name)
        assert outside() == before


def outside() -> tuple[list[str], list[str]]:
    """What a cluster must not change: this process's network devices and its mounts, but for those of other tests."""
    devices = [line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]]
    mounts = [line for line in Path("/proc/mounts").read_text().splitlines() if "/pytest-of-" not in line.split()[1]]
    return devices, mounts


def nothing_left(name: str) -> bool:
    """Whether there are no processes and no files of a cluster."""
    left = [entry.name for entry in clusters_folder().glob(f"{name}*")] if clusters_folder().is_dir() else []
    return members(folder_of(name)) == [] and not set(left) & {name, f"{name}.lock"}


def run(name: str, *words: object, **options: object) -> Done:
    """`fathometer cluster run` on it: options before "--", the command after it."""
    return call("cluster", "run", "--name", name, "--quiet", *words, **options)


def status(name: str) -> dict[str, Any]:
    """What `fathometer cluster status --json` says of it."""
    done = call("cluster", "status", "--name", name, "--json")
    assert done.code == 0, done.err
    [found] = json.loads(done.out)
    return dict(found)


def cluster_names() -> list[str]:
    """The folders of clusters that there are."""
    folder = clusters_folder()
    return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir()) if folder.is_dir() else []
