"""The configuration of a page: hardware and software of a record's machine, and nested tables as pairs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fathometer.base import formatting

Part = dict[str, Any]  # title, rows of name and text, whether it is open; wide: in one column; text in place of rows


def hardware(machine: Mapping[str, Any]) -> Part:
    """Host, processor, memory, networks, file systems."""
    processor = {name: value for name, value in machine["processor"].items() if name not in ("lscpu", "caches")}
    rows = [
        ("host", machine["host"]),
        ("processor", machine["cpu"]),
        *((name.replace("_", " "), value) for name, value in processor.items() if name != "model"),
        *((f"cache {name}", value) for name, value in (machine["processor"].get("caches") or {}).items()),
        ("logical cpus", machine["logical_cpus"]),
        ("memory", formatting.scaled(machine["memory_bytes"], "B")),
        *((f"network {network['name']}", _network(network)) for network in machine["networks"]),
        *((f"cluster {cluster['name']}", _cluster(cluster)) for cluster in _clusters(machine)),
        *((system["path"], f"{system['type']} on {system['mount']}") for system in machine["file_systems"]),
    ]
    return {"title": "Hardware", "rows": texts(rows), "open": True}


def software(machine: Mapping[str, Any]) -> Part:
    """Operating system, Python, MPI, packages."""
    rows = [
        ("operating system", machine["os"]),
        ("kernel of the system", machine["kernel"]),
        ("Python", machine["python"]),
        ("MPI", machine["mpi"]),
        ("variant of the kernels", machine["kernels"]),
        ("commit", machine["commit"]),
        *machine["packages"].items(),
    ]
    return {"title": "Software", "rows": texts(rows), "open": True}


def environment(machine: Mapping[str, Any]) -> Part:
    """Variables of the environment that matter."""
    rows = texts(list(machine["environment"].items()))
    return {"title": "Environment", "wide": True, "rows": rows, "open": False}


def listing(machine: Mapping[str, Any]) -> Part:
    """What lscpu printed."""
    return {"title": "lscpu", "text": str(machine["processor"].get("lscpu") or "").rstrip(), "rows": [], "open": False}


def shown_parts(parts: Sequence[Part]) -> list[Part]:
    """Those in which there is something."""
    return [{"wide": False} | part for part in parts if part["rows"] or part.get("text")]


def texts(pairs: Sequence[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Pairs of name and value as texts."""
    return [(str(name), value_text(value)) for name, value in pairs]


def value_text(value: Any) -> str:
    """A value of the input or the machine, as JSON writes it but without quotes around a text."""
    if value is None:
        return formatting.NONE
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def flattened(values: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Nested tables as pairs: ("model.vp", …)."""
    pairs: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            pairs += flattened(value, f"{before}{name}.")
        else:
            pairs.append((f"{before}{name}", value))
    return pairs


def _clusters(machine: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Of one machine: those of a study, or that on which a run was."""
    own = machine.get("cluster")
    return [*(machine.get("clusters") or ()), *([own] if own else ())]


def _cluster(cluster: Mapping[str, Any]) -> str:
    """Nodes and links, as asked for and as measured."""
    what = f"{len(cluster['nodes'])} nodes on this machine, {cluster['link']} links, networks: {cluster['rails']}"
    links = cluster["links"]
    if not links:
        return what
    latencies = [link["latency_seconds"] for link in links]
    rates = [link["bytes_per_second"] for link in links]
    latency = f"{formatting.short_seconds(min(latencies))} to {formatting.short_seconds(max(latencies))}"
    return (
        f"{what}; measured: {latency}, {formatting.scaled(min(rates), 'B/s')} to {formatting.scaled(max(rates), 'B/s')}"
    )


def _network(network: Mapping[str, Any]) -> str:
    rate = network.get("bits_per_second")
    return formatting.scaled(rate, "bit/s") if rate else "speed unknown"
