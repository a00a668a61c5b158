"""Verification 6: traces and wavefields are bitwise the same for any number of ranks, decomposition and threads."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ranks_program import CASES

PROGRAM = Path(__file__).with_name("ranks_program.py")


def under_mpirun(ranks, *arguments):
    """Run a Python program on some ranks, whatever launched these tests."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PMI_", "SLURM_"))}
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
    return subprocess.run(
        [*command, sys.executable, *map(str, arguments)],
        env={**clean, "OMP_WAIT_POLICY": "passive"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    return propagated(tmp_path_factory.mktemp("ranks"), 1, 1)


def propagated(folder, ranks, threads):
    out = folder / f"{ranks}x{threads}.npz"
    done = under_mpirun(ranks, PROGRAM, out, threads)
    assert done.returncode == 0, done.stderr
    with np.load(out) as results:
        return dict(results)


@pytest.mark.parametrize(("ranks", "threads"), [(1, 2), (2, 1), (2, 2), (3, 1), (4, 1), (4, 2)])
def test_bitwise_equal(reference, ranks, threads, tmp_path):
    results = propagated(tmp_path, ranks, threads)
    compared = set()
    for key, values in results.items():
        case, _, what = key.split("|")
        wanted = reference[f"{case}|(1, 1, 1)|{what}"]
        assert np.isfinite(wanted).all()
        assert np.abs(wanted).max() > 0
        assert values.tobytes() == wanted.tobytes(), key
        compared.add(case)
    assert compared == set(CASES)
