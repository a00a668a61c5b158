"""Threads of transforms run on all cpus of a rank, although its threads are pinned."""

import json
import os
import subprocess
import sys

import pytest
from cli_support import clean_environment

PROGRAM = """
import json, os
from pathlib import Path
from fathometer import _native
from fathometer.parallel.fft_threads import make_fft_threads
cpus = sorted(os.sched_getaffinity(0))[:2]
_native.set_threads(2)
_native.pin_threads(cpus)
before = set(os.listdir("/proc/self/task"))
make_fft_threads(2)
new = set(os.listdir("/proc/self/task")) - before
print(json.dumps([cpus, sorted(os.sched_getaffinity(0)), [sorted(os.sched_getaffinity(int(one))) for one in new]]))
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two cpus are needed")
def test_threads_of_transforms_are_on_all_cpus_of_the_rank():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True, env=clean_environment())
    cpus, own, new = json.loads(done.stdout)
    assert own == cpus[:1]
    assert new
    assert all(one == cpus for one in new)
