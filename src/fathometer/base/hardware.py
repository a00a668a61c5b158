"""Hardware and environment of a host, for the record of a run: processor, networks, file systems (Linux)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

# Prefixes of environment variables that influence a run: MPI, OpenMP, networks, Slurm, libraries.
RECORDED_PREFIXES = (
    *("FATHOMETER_", "OMP_", "GOMP_", "KMP_", "OMPI_", "PMIX_", "PMI_", "PRTE_", "ORTE_", "MPICH_", "MPI_", "I_MPI_"),
    *("HYDRA_", "UCX_", "FI_", "PSM2_", "PSM3_", "MKL_", "OPENBLAS_", "SLURM_", "MALLOC_", "LD_PRELOAD"),
    *("LD_LIBRARY_PATH", "HDF5_", "ROMIO_", "TMPDIR", "XDG_CACHE_HOME"),
)
SECRET_WORDS = ("TOKEN", "JWT", "SECRET", "PASSWORD", "CREDENTIAL", "AUTH", "_KEY", "COOKIE", "_ARGV")
MAX_VALUE_LENGTH = 1000  # characters


@cache
def processor() -> dict[str, Any]:
    """Sockets, cores, hardware threads, caches and NUMA nodes from lscpu, with its text; {} without lscpu.

    Cached in the process: starting another program takes time.
    """
    try:
        done = subprocess.run(
            ["lscpu"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20,
            check=True,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    return parse_lscpu(done.stdout) | {"lscpu": done.stdout}


def parse_lscpu(text: str) -> dict[str, Any]:
    """The entries of lscpu's `text` that a record holds; None for an entry that is missing."""
    entries = [line.split(":", 1) for line in text.splitlines() if ":" in line]
    words = {key.strip(): value.strip() for key, value in entries}

    def number(key: str) -> int | None:
        value = words.get(key, "")
        return int(value) if value.isdecimal() else None

    cores, sockets = number("Core(s) per socket"), number("Socket(s)")
    return {
        "model": words.get("Model name"),
        "sockets": sockets,
        "cores": cores * sockets if cores and sockets else None,
        "threads_per_core": number("Thread(s) per core"),
        "numa_nodes": number("NUMA node(s)"),
        "caches": {key: words[key] for key in ("L1d", "L1i", "L2", "L3") if key in words}
        or {key.removesuffix(" cache"): value for key, value in words.items() if key.endswith(" cache")},
        "hypervisor": words.get("Hypervisor vendor"),
    }


def networks(root: Path = Path("/sys/class/net")) -> list[dict[str, Any]]:
    """Network interfaces that are up, with their rate (bits_per_second or, of InfiniBand ports, its text as "rate")."""
    interfaces: list[dict[str, Any]] = []
    for folder in sorted(root.glob("*")):
        state, speed = (_line(folder / name) for name in ("operstate", "speed"))
        if state in ("up", "unknown"):
            rate = int(speed) * 1e6 if speed.isdecimal() else None
            interfaces.append({"name": folder.name, "bits_per_second": rate})
    for rate_file in sorted(root.parent.glob("infiniband/*/ports/*/rate")):
        interfaces.append({"name": str(rate_file.relative_to(root.parent).parent), "rate": _line(rate_file)})
    return interfaces


def file_systems(paths: Iterable[Path], mounts: Path = Path("/proc/self/mountinfo")) -> list[dict[str, str]]:
    """Mount point and file system type of each path: path, mount, type; [] where the mounts cannot be read."""
    mounted = []
    try:
        for line in mounts.read_text(errors="surrogateescape").splitlines():
            left, _, right = line.partition(" - ")
            mounted.append((_unescaped(left.split()[4]), right.split()[0]))
    except (OSError, IndexError):
        return []
    found = []
    for path in dict.fromkeys(os.path.realpath(name) for name in paths):
        above = [(len(point), n) for n, (point, _) in enumerate(mounted) if Path(path).is_relative_to(point)]
        if above:
            point, kind = mounted[max(above)[1]]  # the deepest; of several mounts at a point the last covers the others
            found.append({"path": path, "mount": point, "type": kind})
    return found


def environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Environment variables that influence a run; secrets are left out, very long values cut."""
    return {
        name: value if len(value) <= MAX_VALUE_LENGTH else f"{value[:MAX_VALUE_LENGTH]}…"
        for name, value in sorted(environ.items())
        if name.startswith(RECORDED_PREFIXES) and not any(word in name.upper() for word in SECRET_WORDS)
    }


def _line(path: Path) -> str:
    """Text of a file of one line; "" where it cannot be read."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _unescaped(text: str) -> str:
    """Resolve escapes of mountinfo, such as \\040 for a space."""
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape") if "\\" in text else text
