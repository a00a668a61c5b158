"""Small surveys with and without a graphics card."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from cli_support import MIGRATE, call, here, survey

RESULTS = ("*.rsf@", "*.segy")


def results(
    folder: Path,
    name: str,
    keys: dict[str, Any],
    base: dict[str, Any] = MIGRATE,
    command: str = "migrate",
    ranks: int = 0,
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Run a survey, base | keys, in a folder that has its inputs: the files that it writes into folder/name, and its
    record. ranks: 0: in this process."""
    path = survey(folder, base | keys | {"output.directory": name}, f"{name}.toml")
    words = [command, path, "--quiet", *(["--overwrite"] if command == "migrate" else [])]
    done = call(*words, "--ranks", ranks) if ranks else here(*words)
    assert done.code == 0, done.err
    files = {path.name: path.read_bytes() for kind in RESULTS for path in (folder / name).glob(kind)}
    assert files
    assert all(np.frombuffer(values, np.uint8).any() for values in files.values())
    return files, json.loads((folder / name / "run.json").read_text())


def processor_of(record: Any) -> str:
    """The kind of processor that a record tells of, wherever it stands there."""
    if isinstance(record, dict):
        found = record.get("processor")
        if isinstance(found, dict) and "kind" in found:
            return str(found["kind"])
        return next((kind for kind in map(processor_of, record.values()) if kind), "")
    return ""
