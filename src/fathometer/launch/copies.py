"""Programs that run at the same time, each on cpus of its own: what machines are measured with."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

PATIENCE = 300.0  # s
FOREIGN = ("OMPI_", "PMIX_", "PMI_", "PRTE_", "SLURM_")  # of the launcher of this process


def run_copies(folders: Sequence[Path], cpus: Sequence[str], words: Sequence[str]) -> bool:
    """Start a program in each folder on cpus ("0" or "0,1"), all at the same time; whether all have succeeded."""
    # They would inherit the one cpu that this thread is bound to.
    bound = shutil.which("taskset")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    running = [
        subprocess.Popen(
            [bound, "-c", own, *words] if bound else words,
            cwd=folder,
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for folder, own in zip(folders, cpus, strict=True)
    ]
    try:
        return all([process.wait(PATIENCE) == 0 for process in running])
    except subprocess.TimeoutExpired:
        return False
    finally:
        for process in running:
            process.kill()
            process.wait()
