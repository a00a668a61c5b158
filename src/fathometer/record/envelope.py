"""The record that every run writes, run.json; its JSON schema is in schema.py."""

import dataclasses
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from fathometer.base import ledger
from fathometer.record.cluster import cluster_reasons
from fathometer.storage import atomic

SCHEMA_VERSION = 2
BEGINNING = b'{\n  "schema_version": '  # of the file of a record, in any version
RECORD, UNFINISHED, PAGE = "run.json", "run-unfinished.json", "report.html"  # file names in a run's output folder


@dataclasses.dataclass(frozen=True)
class Figure:
    """A figure of merit.

    Attributes:
        value: in `unit`, an SI base unit. direction: which values are better.
        role: "merit": for the comparison of runs; "context": explains the merits.
    """

    name: str
    value: float
    unit: str
    direction: Literal["higher", "lower", "none"]
    role: Literal["merit", "context"] = "merit"


def record(
    *,
    application: str,
    command: Sequence[str],
    input: Mapping[str, Any],
    machine: Mapping[str, Any],
    account: Mapping[str, Any],
    figures: Sequence[Figure],
    results: Mapping[str, Any],
    reasons: Sequence[str] = (),
    disturbed: Sequence[str] = (),
    finished: bool = True,
) -> dict[str, Any]:
    """The record as a dictionary of JSON's types.

    Args:
        command: its words. input: the validated input. machine: from record.machine. account: the ranks' ledgers, from
            record.ranks. results: of the application.
        reasons: why the results are not to be trusted. disturbed: why the times are not. A run without either is valid.
        finished: whether the run came to its end.

    Raises TypeError for a value that has no JSON type.
    """
    times = [*disturbed, *cluster_reasons(machine)]
    every = [*reasons, *times]
    envelope: dict[str, Any] = plain(
        {
            "schema_version": SCHEMA_VERSION,
            "application": application,
            "command": list(command),
            "input": input,
            "machine": machine,
            "ledger": account,
            "figures": list(figures),
            "results": results,
            "validity": {"valid": not every, "finished": finished, "reasons": every, "times": times},
        }
    )
    return envelope


def write_record(path: Path, envelope: Mapping[str, Any]) -> None:
    """Write a record as JSON to `path`, atomically.

    Raises FathometerError that names the file when it cannot be written.
    """
    text = json.dumps(plain(envelope), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    # File names that are not UTF-8 contain lone surrogates, which JSON can only hold as escapes.
    with ledger.file("record", "write"):
        atomic.write(path, text.encode(errors="backslashreplace"))


def plain(value: Any) -> Any:
    """`value` in JSON's types; NumPy numbers and arrays, paths, dataclasses, tuples and sets are converted.

    NaN and infinity, which JSON does not have, become null: a record must not be lost because of one figure.
    Raises TypeError for any other type.
    """
    import numpy as np  # not at the head: a plan of 10,000 cases is listed without it

    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, set | frozenset):
        return [plain(entry) for entry in sorted(value)]
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    raise TypeError(f"{value!r} of type {type(value).__name__} has no place in a record")
