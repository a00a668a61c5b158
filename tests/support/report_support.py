"""Records for the tests of the page: ledgers made from the ranks' own accounts, as a run makes them."""

from __future__ import annotations

from typing import Any

from fathometer.record.envelope import Figure, record
from fathometer.record.ranks import account

# Seconds of phase and category, rank by rank.
SECONDS: dict[tuple[str, str], tuple[float, float]] = {
    ("source propagation", "compute"): (4.0, 5.0),
    ("receiver propagation", "compute"): (3.0, 2.0),
    ("halo exchange", "communication"): (0.5, 1.0),
    ("halo exchange", "idle"): (0.5, 0.0),
    ("draw", "compute"): (1.5, 0.0),
    ("draw", "idle"): (0.0, 1.5),
    ("write image", "io"): (0.5, 0.5),
}
POINTS = {"source propagation": 2e9, "receiver propagation": 1e9}  # of each rank
YARDSTICK = {
    "triad_bytes_per_second": 20e9,
    "multiply_add_flops_per_second": 200e9,
    "bytes_per_point": 36,
    "source": "Measured.",
}
MACHINE = {
    "host": "node1",
    "cpu": "A processor",
    "logical_cpus": 8,
    "memory_bytes": 16 << 30,
    "os": "Linux",
    "kernel": "6.1",
    "python": "3.11",
    "packages": {"numpy": "2.0"},
    "mpi": "MPI",
    "kernels": "native",
    "commit": None,
    "processor": {"sockets": 1, "caches": {"L2": "1 MiB"}, "lscpu": "Architecture: x86_64\n"},
    "networks": [{"name": "eth0", "bits_per_second": None}],
    "file_systems": [{"path": "/data", "mount": "/", "type": "ext4"}],
    "launcher": None,
    "environment": {"OMP_NUM_THREADS": "1"},
}


def rank_account(rank: int, seconds: dict[tuple[str, str], tuple[float, float]], **changes: Any) -> dict[str, Any]:
    """What a rank tells the others."""
    entries = [
        {
            "phase": phase,
            "category": category,
            "seconds": spent[rank],
            "calls": 2,
            "bytes": 10**9 if phase == "halo exchange" and category == "communication" else 0,
            "points": POINTS.get(phase, 0.0),
            "flops": 50 * POINTS.get(phase, 0.0),
        }
        for (phase, category), spent in seconds.items()
    ]
    categories = {
        name: sum(entry["seconds"] for entry in entries if entry["category"] == name)
        for name in ("compute", "communication", "io", "idle")
    }
    timeline = {
        "name": "shot 1 (FFID 1)",
        "bin_seconds": 0.5,
        "rows": [
            {"phase": "source propagation", "category": "compute", "seconds": [0.5, 0.4]},
            {"phase": "halo exchange", "category": "communication", "seconds": [0.0, 0.1]},
        ],
    }
    return {
        "rank": rank,
        "host": f"node{rank + 1}",
        "wall_seconds": sum(categories.values()),
        "categories": categories,
        "entries": entries,
        "overlapped": [],
        "files": [
            {
                "kind": "image",
                "direction": "write",
                "calls": 1,
                "bytes": 10**9,
                "overlap_bytes": 0,
                "seconds": 0.5,
                "flush_seconds": 0.1,
            }
        ],
        "waited_seconds": {"1": 0.5} if rank == 0 else {},
        "timeline": timeline,
        "usage": {"peak_memory_bytes": 10**9 + rank, "cpu_user_seconds": 9.0},
    } | changes


def a_record(seconds: Any = None, ranks: int = 2, **changes: Any) -> dict[str, Any]:
    """A whole record of a run of the application "other"; `changes` replace parts of the envelope's arguments."""
    seconds = SECONDS | (seconds or {})
    told = account([rank_account(rank, seconds) for rank in range(ranks)])
    parts: dict[str, Any] = {
        "application": "other",
        "command": ["fathometer", "migrate", "survey.toml"],
        "input": {"model": {"vp": "vp.npy"}, "order": 8, "survey": "survey.toml"},
        "machine": MACHINE | {"ranks": ranks, "binding": []},
        "account": told,
        "figures": [
            Figure("total", 10.0, "seconds", "lower"),
            Figure("kernel share", 0.8, "1", "higher"),
            Figure("grid point updates", 0.75e9, "points_per_second", "higher"),
            Figure("steps", 100.0, "1", "none", "context"),
        ],
        "results": {"files": {}, "notes": [], "yardstick": YARDSTICK},
    }
    return record(**(parts | changes))
