"""Recipes of programs that are not run here: figures of short excerpts, which have the form of published output and
numbers of their own."""

from pathlib import Path

import pytest

from fathometer.lab.recipes.figures import figures_of
from fathometer.lab.recipes.recipe import load_recipe
from fathometer.lab.recipes.validity import validity_problems

WRF = """\
 starting wrf task            0  of            4
Timing for Writing wrfout_d01_2011-03-04_06:00:00 for domain        1:    3.50000 elapsed seconds
Timing for processing lateral boundary for domain        1:    0.25000 elapsed seconds
Timing for main: time 2011-03-04_06:01:12 on domain   1:    9.00000 elapsed seconds
Timing for main: time 2011-03-04_06:02:24 on domain   1:    2.00000 elapsed seconds
Timing for main: time 2011-03-04_06:03:36 on domain   2:    0.70000 elapsed seconds
Timing for main: time 2011-03-04_06:03:36 on domain   1:    2.50000 elapsed seconds
Timing for Writing wrfout_d01_2011-03-04_06:03:36 for domain        1:    4.50000 elapsed seconds
Timing for Writing restart for domain        1:    8.00000 elapsed seconds
Timing for main: time 2011-03-04_06:04:48 on domain   1:   15.00000 elapsed seconds
Timing for main: time 2011-03-04_06:06:00 on domain   1:    3.00000 elapsed seconds
Timing for Writing wrfout_d01_2011-03-04_06:06:00 for domain        1:    4.00000 elapsed seconds
d01 2011-03-04_06:06:00 wrf: SUCCESS COMPLETE WRF
"""
PETSC = """\
---------------------------------------------- PETSc Performance Summary: ----------------------------------------------

pflotran on a linux-opt named n17 with 8 processors, by nobody Fri Mar  4 09:30:00 2011

                         Max       Max/Min        Avg      Total
Time (sec):           4.000e+01      1.00100   3.990e+01
Objects:              3.100e+02      1.00000   3.100e+02
{flops}:                6.200e+09      1.30000   5.500e+09  4.400e+10
{flops}/sec:            1.550e+08      1.30000   1.375e+08  1.100e+09
{messages}   1.200e+04      1.50000   9.000e+03  7.200e+04

------------------------------------------------------------------------------------------------------------------------
Event                Count      Time (sec)     Flop
                   Max Ratio  Max     Ratio   Max  Ratio  Mess   AvgLen  Reduct
SNESSolve             25 1.0 3.6000e+01 1.0 6.20e+09 1.3 7.0e+04 2.1e+03 4.0e+03 90100 97 95 96  90100 97 95 96  1100
SNESFunctionEval      90 1.0 8.5000e+00 1.1 2.00e+08 1.2 1.1e+04 1.9e+03 0.0e+00 20  3 15 14  0  20  3 15 14  0   170
KSPSolve              65 1.0 1.2500e+01 1.0 5.10e+09 1.3 5.6e+04 2.2e+03 3.5e+03 31 82 78 80 84  31 82 78 80 84  2900
"""
IOR = """\
IOR-3.4.0: MPI Coordinated Test of Parallel I/O
Results:

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
write     250.00     260.00     0.015000    65536      1024.00    0.001000   1.02       0.000100   1.02       0
read      800.00     810.00     0.004900    65536      1024.00    0.000500   0.320000   0.000100   0.320000   0
Max Write: 250.00 MiB/sec (262.14 MB/sec)
{read}
Summary of all tests:
Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev
write         250.00     250.00     250.00       0.00
"""
LATENCY = """\
# OSU MPI Latency Test v5.9
# Size          Latency (us)
{zero}1                       1.50
2                       1.25
1048576               120.00
"""
BANDWIDTH = """\
# OSU MPI Bandwidth Test v7.5
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
1                       4.00
1048576             12000.50
4194304             11000.00
"""


def told(folder, name, file, text, **values):
    """Figures of a file, and what is wrong."""
    recipe = load_recipe(name, Path())
    (folder / file).write_text(text)
    figures, problems = figures_of(recipe.figure, folder, {"wall_seconds": 50.0} | values)
    return figures, [*problems, *validity_problems(recipe.validity, folder, values, 0, figures)]


@pytest.mark.parametrize(("model_step", "step_flops"), [(72, 30e9), (15.0, 412e9)])
def test_wrf(tmp_path, model_step, step_flops):
    values = {"model_step": model_step, "step_flops": step_flops}
    figures, problems = told(tmp_path, "wrf", "rsl.error.0000", WRF, **values)
    assert problems == []
    assert figures == {
        "step": pytest.approx((2.0 + 2.5 + 3.0) / 3),
        "simulation speed-up": pytest.approx(model_step / 2.5),
        "operations": pytest.approx(step_flops / 2.5),
        "all steps": pytest.approx(31.5),
        "output": pytest.approx(20.0),
        "total": 50.0,
    }


def test_wrf_that_did_not_end(tmp_path):
    figures, problems = told(
        tmp_path, "wrf", "rsl.error.0000", WRF.partition("d01 2011")[0], model_step=72, step_flops=30e9
    )
    assert figures["step"] == 2.5
    assert problems == ["'SUCCESS COMPLETE WRF' is missing in rsl.error.0000"]
    _, problems = told(tmp_path, "wrf", "rsl.error.0000", "nothing\n", model_step=72, step_flops=30e9)
    assert problems[0].startswith("step: no match of '^Timing for main")
    assert problems[1] == "simulation speed-up: no step, of which it is made"


@pytest.mark.parametrize(
    ("flops", "messages"),
    [("Flops", "MPI Messages:      "), ("Flop", "MPI Msg Count:     "), ("Flops", "MPI Msg Count: ")],
)
def test_pflotran(tmp_path, flops, messages):
    figures, problems = told(tmp_path, "pflotran", "stdout", PETSC.format(flops=flops, messages=messages))
    assert problems == []
    assert figures == {
        "total": 40.0,
        "operations": 1.1e9,
        "messages": 72000.0,
        "nonlinear solver": 36.0,
        "linear solver": 12.5,
        "residuals": 8.5,
    }


def test_ior(tmp_path):
    read = "Max Read:  800.50 MiB/sec (839.39 MB/sec)\n"
    figures, problems = told(tmp_path, "ior", "stdout", IOR.format(read=read))
    assert (figures, problems) == ({"write": 250.0 * 2**20, "read": 800.5 * 2**20}, [])
    figures, problems = told(tmp_path, "ior", "stdout", IOR.format(read=""))
    assert (figures, problems) == ({"write": 250.0 * 2**20}, [])
    figures, problems = told(tmp_path, "ior", "stdout", "ior ERROR: cannot open\n")
    assert problems == ["'^Max (Write|Read): ' is missing in stdout", "'^ior ERROR' found in stdout"]


def test_osu(tmp_path):
    zero = "0                       1.75\n"
    for text, least in ((LATENCY.format(zero=zero), 1.75e-6), (LATENCY.format(zero=""), 1.5e-6)):
        figures, problems = told(tmp_path, "osu-latency", "stdout", text)
        assert problems == []
        assert figures == {"latency": pytest.approx(least), "latency of the largest": pytest.approx(120e-6)}
    figures, problems = told(tmp_path, "osu-bandwidth", "stdout", BANDWIDTH)
    assert problems == []
    assert figures == {"bandwidth": 12000.5e6, "bandwidth of the largest": 11000e6}
    assert told(tmp_path, "osu-bandwidth", "stdout", LATENCY.format(zero=zero))[1]
