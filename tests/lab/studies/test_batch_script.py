"""Batch scripts of studies, word by word."""

from dataclasses import replace
from pathlib import Path

import pytest

from fathometer.base.errors import InputError
from fathometer.lab.studies.batch_script import Batch, batch_script, resources, sbatch_options
from fathometer.lab.studies.placement import Placement

RUNS = (Path("/s/north sea/runs/c1/round-1"), Path("/s/north sea/runs/c2/round-1"))
BATCH = Batch(
    "fathometer-study-1",
    "/bin/python",
    Path("/s/north sea"),
    Path("/s/north sea/jobs/1%.out"),
    RUNS,
    [Placement(nodes=2, ranks=8, ranks_per_node=4, threads=2, threads_per_core=1)] * 2,
    480.0,
    ("--partition=long",),
)
SCRIPT = """\
#!/bin/bash
# Written by `fathometer study run`.
#SBATCH --job-name=fathometer-study-1
#SBATCH --nodes=2
#SBATCH --ntasks=8
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=2
#SBATCH --threads-per-core=1
#SBATCH --no-requeue
#SBATCH '--output=/s/north sea/jobs/1%%.out'
#SBATCH '--chdir=/s/north sea'
#SBATCH --exclusive
#SBATCH --time=0-00:10:00
#SBATCH --partition=long

exec /bin/python -P -m fathometer.lab.studies.job '/s/north sea' '/s/north sea/runs/c1/round-1' \
'/s/north sea/runs/c2/round-1'
"""


def test_the_script():
    assert batch_script(BATCH) == SCRIPT


@pytest.mark.parametrize(
    ("placements", "words"),
    [
        ([Placement()], "--nodes=1 --ntasks=1"),
        ([Placement(ranks=4)], "--nodes=1 --ntasks=4"),
        ([Placement(ranks=4), Placement(ranks=4, bind="core")], "--nodes=1 --ntasks=4"),
        ([Placement(threads=8)], "--nodes=1 --ntasks=1 --cpus-per-task=8"),
        ([Placement(ranks=4), Placement(threads=6)], "--nodes=1 --ntasks-per-node=6 --cpus-per-task=1"),
        (
            [Placement(nodes=2, ranks=5, threads=3, threads_per_core=1), Placement(ranks=4, threads_per_core=1)],
            "--nodes=2 --ntasks-per-node=9 --cpus-per-task=1 --threads-per-core=1",
        ),
        (
            [Placement(threads_per_core=1, ranks=2), Placement(threads_per_core=2, ranks=2)],
            "--nodes=1 --ntasks=2",
        ),
    ],
)
def test_what_a_job_asks_for(placements, words):
    assert " ".join(resources(placements)) == words


@pytest.mark.parametrize("option", ["--oversubscribe", "--exclusive=user", "-s"])
def test_who_shares_nodes_says_so(option):
    words = sbatch_options(replace(BATCH, options=(option,)))
    assert "--exclusive" not in words
    assert words[-1] == option
    assert "--exclusive" in sbatch_options(replace(BATCH, options=("--exclude=n1",)))


def test_without_a_time_limit_the_partition_has_its_own():
    assert not [word for word in sbatch_options(replace(BATCH, seconds=None)) if word.startswith("--time")]


@pytest.mark.parametrize(
    "change", [{"options": ("--comment=a\nrm",)}, {"log": Path("/s/a\nb")}, {"study": Path("/\r")}]
)
def test_a_control_character_never_reaches_the_script(change):
    with pytest.raises(InputError, match=r"control character U\+"):
        batch_script(replace(BATCH, **change))
