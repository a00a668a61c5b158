"""Damaged and strange files for every reader: one line of error, no crash, no hang, no memory, nothing else touched.

Two dozen inputs for each in `make test`, a thousand in `make trials`. One input again, which stays in DIR/work/TARGET:
    PYTHONPATH=tests/support .venv/bin/python tests/support/fuzz_program.py DIR TARGET SEED 1
"""

from __future__ import annotations

import importlib.util
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import clean_environment
from fuzz_inputs import BASES
from paths import SUPPORT
from patience import PATIENCE

from fathometer.storage.volumes.registry import BY_SUFFIX

FEW, MANY = 24, 1000


def here(target: str) -> bool:
    """Whether this machine can read and write the format."""
    if target == "zarr":
        return importlib.util.find_spec("zarr") is not None
    return target != "netcdf" or not BY_SUFFIX[".nc"].missing("root-broadcast", 1)


def faults(folder: Path, targets: list[str], first: int, count: int) -> list[str]:
    """What is wrong with the readers, a line each; the inputs are kept in the folder `failed`."""
    left, found = [[target, first, count] for target in targets], []
    while left:
        words = [str(word) for batch in left for word in batch]
        done = subprocess.run(
            [sys.executable, str(SUPPORT / "fuzz_program.py"), str(folder), *words],
            env=clean_environment() | {"PYTHONPATH": str(SUPPORT), "XDG_CACHE_HOME": str(folder / "cache")},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            check=False,
        )
        last: list[str] = []
        for line in done.stdout.splitlines():
            if line.startswith("!"):
                found.append(f"{' '.join(last)}: {line[2:]}")
            else:
                last = line.split()
        if done.returncode == 0:
            break
        assert last, done.stderr[-2000:]
        target, seed = last[0], int(last[1])
        how = signal.Signals(-done.returncode).name if done.returncode < 0 else f"code {done.returncode}"
        found.append(f"{target} {seed}: ended by {how}: {done.stderr[-300:]}")
        keep(folder, target, seed)
        left = left[[batch[0] for batch in left].index(target) :]
        left[0] = [target, seed + 1, first + count - seed - 1]
    return found


def keep(folder: Path, target: str, seed: int) -> None:
    """Keep the input that ended the process."""
    shutil.copytree(folder / "work" / target, folder / "failed" / f"{target}-{seed}", dirs_exist_ok=True, symlinks=True)


def test_some_damaged_inputs_of_each_reader(tmp_path):
    assert faults(tmp_path, [target for target in BASES if here(target)], 0, FEW) == []


@pytest.mark.trials
@pytest.mark.parametrize("target", BASES)
def test_a_thousand_damaged_inputs(target, tmp_path):
    if not here(target):
        pytest.skip(f"{target} cannot be read here")
    first = random.randrange(FEW, 1 << 31)
    print(f"seeds from {first}")
    assert faults(tmp_path, [target], first, MANY) == []
