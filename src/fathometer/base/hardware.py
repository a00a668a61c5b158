"""What a host is made of, for the record of a run: processor, NUMA nodes, networks, file systems (Linux)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

# Variables that change how a run goes, by the beginnings of their names: MPI, OpenMP, networks, Slurm, libraries.
MATTERING = (
    *("FATHOMETER_", "OMP_", "GOMP_", "KMP_", "OMPI_", "PMIX_", "PMI_", "PRTE_", "ORTE_", "MPICH_", "MPI_", "I_MPI_"),
    *("HYDRA_", "UCX_", "FI_", "PSM2_", "PSM3_", "MKL_", "OPENBLAS_", "SLURM_", "MALLOC_", "LD_PRELOAD"),
    *("LD_LIBRARY_PATH", "HDF5_", "ROMIO_", "TMPDIR", "XDG_CACHE_HOME"),
)
SECRET = ("TOKEN", "JWT", "SECRET", "PASSWORD", "CREDENTIAL", "AUTH", "_KEY", "COOKIE")
LONGEST_VALUE = 1000  # letters


@cache
def processor() -> dict[str, Any]:
    """Sockets, cores, hardware threads, caches and NUMA nodes as lscpu tells them, its text kept; {} without it.

    Asked once in a process: starting another program takes time.
    """
    try:
        done = subprocess.run(["lscpu"], capture_output=True, text=True, timeout=20, check=True, env=_plain_english())
    except (OSError, subprocess.SubprocessError):
        return {}
    return described(done.stdout) | {"lscpu": done.stdout}


def described(text: str) -> dict[str, Any]:
    """What lscpu's `text` says, as numbers; None where it says nothing."""
    told = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    words = {key.strip(): value.strip() for key, value in told.items()}

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
    """The network interfaces that are up, with their rate where they tell it."""
    found = []
    for folder in sorted(root.glob("*")):
        state, speed = (_line(folder / name) for name in ("operstate", "speed"))
        if state in ("up", "unknown"):
            rate = int(speed) * 1e6 if speed.isdecimal() else None
            found.append({"name": folder.name, "bits_per_second": rate})
    for rate_file in sorted(root.parent.glob("infiniband/*/ports/*/rate")):
        found.append({"name": str(rate_file.relative_to(root.parent).parent), "rate": _line(rate_file)})
    return found


def file_systems(paths: Iterable[Path], mounts: Path = Path("/proc/self/mountinfo")) -> list[dict[str, str]]:
    """For each path the mount that it lies on and that one's type."""
    known = []
    try:
        for line in mounts.read_text(errors="surrogateescape").splitlines():
            left, _, right = line.partition(" - ")
            known.append((_unescaped(left.split()[4]), right.split()[0]))
    except (OSError, IndexError):
        return []
    found = []
    for path in dict.fromkeys(os.path.realpath(one) for one in paths):
        over = [(point, kind) for point, kind in known if Path(path).is_relative_to(point)]
        if over:
            point, kind = max(enumerate(over), key=lambda one: (len(one[1][0]), one[0]))[1]  # the last one covers
            found.append({"path": path, "mount": point, "type": kind})
    return found


def environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables that matter for a run, secrets and very long values left out."""
    return {
        name: value if len(value) <= LONGEST_VALUE else f"{value[:LONGEST_VALUE]}…"
        for name, value in sorted(environ.items())
        if name.startswith(MATTERING) and not any(word in name.upper() for word in SECRET)
    }


def _plain_english() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C"}


def _line(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _unescaped(text: str) -> str:
    """Blanks and the like are written as \\040 in mountinfo."""
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape") if "\\" in text else text
