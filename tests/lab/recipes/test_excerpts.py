"""Recipes of programs that are not run here: figures of short excerpts, which have the form of published output and
numbers of their own."""

import textwrap
from pathlib import Path

import pytest

from fathometer.lab.recipes import figures as figures_module
from fathometer.lab.recipes import validity as validity_module
from fathometer.lab.recipes.figures import figures_of
from fathometer.lab.recipes.line_search import Watch, search
from fathometer.lab.recipes.recipe import load_recipe, named
from fathometer.lab.recipes.run_folder import place_files
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
IOR-{version}: MPI Coordinated Test of Parallel I/O
Results:

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
{warning}write     250.00     260.00     0.015000    65536      1024.00    0.001000   1.02       0.000100   1.02       0
read      800.00     810.00     0.004900    65536      1024.00    0.000500   0.320000   0.000100   0.320000   0
write     150.00     160.00     0.025000    65536      1024.00    0.001000   1.70       0.000100   1.70       1
read      600.00     610.00     0.006900    65536      1024.00    0.000500   0.420000   0.000100   0.420000   1
{best}Summary of all tests:
Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s)
write         250.00     150.00     200.00      50.00     250.00     150.00     200.00      50.00    1.36000
{read}Finished            : Fri Mar  4 09:30:00 2011
"""
IOR_BEST = "Max Write: 250.00 MiB/sec (262.14 MB/sec)\n{indent}Max Read:  800.00 MiB/sec (838.86 MB/sec)\n\n"
IOR_READ = (
    "read          800.00     600.00     700.50     100.00     800.00     600.00     700.50     100.00    0.37000\n"
)
LATENCY = """\
# OSU MPI Latency Test v5.9
# Size          Latency (us)
{zero}1                       1.50
2                       1.25
8                       1.75
1048576               120.00
"""
CHECKED_LATENCY = """\
# OSU MPI-CUDA Latency Test v7.5
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)        Validation
1                       1.50              Pass
8                       1.75              Pass
{last}
"""
BANDWIDTH = """\
# OSU MPI Bandwidth Test v7.5
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
1                       4.00
1048576             12000.50
4194304             13000.00
"""
NETPIPE = """\
       1  16.000000   0.00000048
       8 125.000000   0.00000049
      12 185.000000   0.00000049
 1048576 90000.000000   0.00008889
 1048579 95000.000000   0.00008421
"""
LAMMPS = """\
LAMMPS (29 Sep 2021 - Update 2)
Loop time of 40 on 2 procs for 1000 steps with 4000 atoms

Performance: 10800.000 tau/day, 25.000 timesteps/s
99.9% CPU use with 2 MPI tasks x 1 OpenMP threads

MPI task timing breakdown:
Section |  min time  |  avg time  |  max time  |%varavg| %total
---------------------------------------------------------------
Pair    | 28         | 30         | 32         |   0.9 | 75.00
Neigh   | 4          | 5          | 6          |   0.1 | 12.50
Comm    | 1          | 2          | 3          |   0.3 |  5.00
Other   |            | 3          |            |       |  7.50

{second}Total wall time: 0:00:55
"""
LAMMPS_SECOND = """\
Loop time of 8 on 2 procs for 400 steps with 3900 atoms

MPI task timing breakdown:
Section |  min time  |  avg time  |  max time  |%varavg|  %CPU | %total
-----------------------------------------------------------------------
Pair    | 5          | 6          | 7          |   0.9 |  99.0 | 75.00
Neigh   | 0.4        | 0.5        | 0.6        |   0.1 |  99.0 |  6.25

Thread timing breakdown (MPI rank 0):
Total threaded time 5.9 / 73.8%
Section |  min time  |  avg time  |  max time  |%varavg| %total
---------------------------------------------------------------
Pair    | 5.8        | 5.9        | 6.0        |   0.1 | 98.00

"""
LAMMPS_NONE = """\
Loop time of 1.5e-06 on 2 procs for 0 steps with 3900 atoms

MPI task timing breakdown:
Section |  min time  |  avg time  |  max time  |%varavg| %total
---------------------------------------------------------------
Pair    | 0          | 0          | 0          |   0.0 |  0.00

"""
HPL_LINE = """\
T/V                N    NB     P     Q               Time                 Gflops
--------------------------------------------------------------------------------
{name}{n:12d}    80     1     2 {seconds:18.2f}    {rate:19.4e}
HPL_pdgesv() start time Fri Mar  4 09:30:00 2011

--------------------------------------------------------------------------------
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   4.20000000e-03 ...... {check}
"""
HPL_END = """\
Finished      {all} tests with the following results:
              {passed} tests completed and passed residual checks,
              {failed} tests completed and failed residual checks,
              {skipped} tests skipped because of illegal input values.
--------------------------------------------------------------------------------

End of Tests.
"""
NAMELIST = """\
 &time_control
 run_hours = 3,  ! time_step = 7
 /
 &domains
 {step}
 max_dom = 2,
 max_time_step = 240, -1,
 parent_time_step_ratio = 1, 3,
 time_step_sound = 4, 4,
 ! use_adaptive_time_step = .true.
 {adaptive}
 /
"""


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """A process for each file, as in studies, takes longer than these searches."""

    def found_in(path, searches, seconds):
        return search(path, searches, Watch())

    monkeypatch.setattr(figures_module, "found_in", found_in)
    monkeypatch.setattr(validity_module, "found_in", found_in)


def told(folder, name, file, text, exit_code=0, **values):
    """Figures of a file, and what is wrong."""
    recipe = load_recipe(name, Path())
    defaults = {each.name: each.default for each in recipe.parameter if each.default is not None}
    values = {"wall_seconds": 50.0} | defaults | values
    recipe = named(recipe, values)
    (folder / file).write_text(text)
    figures, problems = figures_of(recipe.figure, folder, values)
    return figures, [*problems, *validity_problems(recipe.validity, folder, values, exit_code, figures)]


def wrf(folder, text=WRF, step="time_step = 180,", adaptive="", log="rsl.error.0000"):
    """The same of WRF with an input."""
    (folder / "namelist.input").write_text(NAMELIST.format(step=step, adaptive=adaptive))
    return told(folder, "wrf", log, text, log=log)


@pytest.mark.parametrize("log", ["rsl.error.0000", "rsl.out.0000", "stderr"])
def test_wrf(tmp_path, log):
    figures, problems = wrf(tmp_path, log=log)
    assert problems == []
    assert figures == pytest.approx(
        {
            "step": (2.0 + 2.5 + 3.0) / 3,
            "adaptive": 0,
            "whole seconds": 180,
            "numerator": 0,
            "denominator": 1,
            "simulated step": 180,
            "simulation speed-up": 180 / 2.5,
            "steps": 5,
            "all steps": 31.5,
            "simulation speed-up with output": 5 * 180 / 31.5,
            "output": 20.0,
            "domains": 2,
            "total": 50.0,
        }
    )


@pytest.mark.parametrize(
    ("step", "seconds"),
    [
        ("time_step=72", 72),
        ("time_step                           = 15,   ! s, not 60", 15),
        ("TIME_STEP = 40,", 40),
        ("e_we = 100, 50, time_step = 20 time_step_fract_num = 1, time_step_fract_den = 4 /", 20.25),
        ("time_step = 0,\n time_step_fract_num\t= 3,\n Time_Step_Fract_Den = 10,", 0.3),
        ("! time_step = 99,\n\ttime_step\t=\t30,", 30),
    ],
)
def test_the_step_of_wrf_is_that_of_its_input(tmp_path, step, seconds):
    figures, problems = wrf(tmp_path, step=step)
    assert problems == []
    assert figures["simulated step"] == pytest.approx(seconds)
    assert figures["simulation speed-up"] == pytest.approx(seconds / 2.5)


@pytest.mark.parametrize("step", ["", "time_step = ****,"])
def test_wrf_without_a_step_says_no_speed_up(tmp_path, step):
    figures, problems = wrf(tmp_path, step=step)
    assert "simulation speed-up" not in figures
    assert "simulation speed-up: no simulated_step, of which it is made" in problems


@pytest.mark.parametrize("adaptive", ["use_adaptive_time_step = .true.,", "USE_ADAPTIVE_TIME_STEP=T"])
def test_adaptive_steps_of_wrf(tmp_path, adaptive):
    text = WRF
    for seconds in (72.0, 80.0, 24.0, 85.0, 90.0, 95.0):  # the third is that of the nest
        text = text.replace("Timing for main: ", f"Timing for main (dt={seconds:6.2f}): ", 1)
    figures, problems = wrf(tmp_path, text, adaptive=adaptive)
    assert problems == []
    assert figures["simulated step"] == pytest.approx((80 + 85 + 95) / 3)
    assert figures["simulation speed-up"] == pytest.approx((80 + 85 + 95) / 7.5)
    assert figures["simulation speed-up with output"] == pytest.approx((72 + 80 + 85 + 90 + 95) / 31.5)
    figures, problems = wrf(tmp_path, adaptive=adaptive)
    assert "simulation speed-up" not in figures
    assert "simulated step: no adaptive_step, of which it is made" in problems


def test_wrf_has_no_cost_and_no_step_of_its_own():
    parameters = {each.name: each.default for each in load_recipe("wrf", Path()).parameter}
    assert parameters == {"program": None, "case": None, "log": "rsl.error.0000"}


def test_wrf_that_did_not_end(tmp_path):
    figures, problems = wrf(tmp_path, WRF.partition("d01 2011")[0])
    assert figures["step"] == 2.5
    assert problems == ["'SUCCESS COMPLETE WRF' is missing in rsl.error.0000"]
    _, problems = wrf(tmp_path, "nothing\n")
    assert problems[0].startswith("step: no match of '^ *Timing for main")
    assert "simulation speed-up: no step, of which it is made" in problems


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


@pytest.mark.parametrize("indent", ["", "  "])
def test_ior(tmp_path, indent):
    def read(text):
        return told(tmp_path, "ior", "stdout", textwrap.indent(text, indent))

    best = IOR_BEST.format(indent=indent)
    for keys in ({"version": "3.0.1", "best": best}, {"version": "4.1.0+dev", "best": "\n"}):
        figures, problems = read(IOR.format(read=IOR_READ, warning="", **keys))
        assert (figures, problems) == ({"write": 200.0 * 2**20, "read": 700.5 * 2**20}, [])
        figures, problems = read(IOR.format(read="", warning="", **keys))
        assert (figures, problems) == ({"write": 200.0 * 2**20}, [])


@pytest.mark.parametrize(
    ("warning", "told_of"),
    [
        ("WARNING: Incorrect data on read (5242880 errors found).\n\n", "(?i)incorrect data on"),
        ("ior WARNING: incorrect data on write (3 errors found).\n", "(?i)incorrect data on"),
        ("ERROR: open64() failed, (aiori-POSIX.c:412)\n", r"\bERROR: "),
        ("ior ERROR: cannot open file, errno 2, No such file or directory (aiori-POSIX.c:223)\n", r"\bERROR: "),
    ],
)
def test_ior_that_found_wrong_data_has_failed_at_exit_code_0(tmp_path, warning, told_of):
    text = IOR.format(version="4.1.0+dev", best="", read="", warning=warning)
    assert told(tmp_path, "ior", "stdout", text)[1] == [f"'{told_of}' found in stdout"]
    (tmp_path / "stderr").write_text(warning)
    text = IOR.format(version="4.1.0+dev", best="", read="", warning="")
    assert told(tmp_path, "ior", "stdout", text)[1] == [f"'{told_of}' found in stderr"]


def test_ior_of_several_tests_does_not_choose(tmp_path):
    text = IOR.format(version="4.0.0", best="", read=IOR_READ + IOR_READ, warning="")
    figures, problems = told(tmp_path, "ior", "stdout", text)
    assert "read" not in figures
    assert problems == ["read: stdout: found 2 numbers; allowed: one"]
    assert told(tmp_path, "ior", "stdout", "IOR-4.0.0\n")[1][0] == "'Summary of all tests:' is missing in stdout"


def test_osu(tmp_path):
    for zero in ("0                       0.75\n", ""):
        text = LATENCY.format(zero=zero)
        figures, problems = told(tmp_path, "osu-latency", "stdout", text)
        assert (figures, problems) == ({"latency of 8 bytes": pytest.approx(1.75e-6)}, [])
        figures, problems = told(tmp_path, "osu-latency", "stdout", text, size=1)
        assert (figures, problems) == ({"latency of 1 bytes": pytest.approx(1.5e-6)}, [])
    _, problems = told(tmp_path, "osu-latency", "stdout", text, size=4)
    assert problems == ["latency of 4 bytes: no match of '^4 +([^ ]+)' in stdout"]
    figures, problems = told(tmp_path, "osu-bandwidth", "stdout", BANDWIDTH)
    assert problems == []
    assert figures == {"bandwidth of 1048576 bytes": 12000.5e6, "highest bandwidth": 13000e6}
    assert told(tmp_path, "osu-bandwidth", "stdout", LATENCY.format(zero=zero))[1]


@pytest.mark.parametrize(
    ("last", "problems"),
    [
        ("16                      1.80              Pass", 0),
        ("16                      1.80              Fail", 1),
        ("DATA VALIDATION ERROR: osu_latency exited with status 1 on message size 16.", 1),
    ],
)
def test_data_that_osu_found_wrong(tmp_path, last, problems):
    figures, found = told(tmp_path, "osu-latency", "stdout", CHECKED_LATENCY.format(last=last))
    assert figures == {"latency of 8 bytes": pytest.approx(1.75e-6)}
    assert len(found) == problems
    text = CHECKED_LATENCY.replace("Latency", "Bandwidth").format(last=last)
    assert len(told(tmp_path, "osu-bandwidth", "stdout", text, size=8)[1]) == problems


def test_netpipe(tmp_path):
    figures, problems = told(tmp_path, "netpipe", "np.out", NETPIPE)
    assert problems == []
    assert figures == {
        "rate of the small message": 125.0 * 2**17,
        "latency of 8 bytes": pytest.approx(8 / (125.0 * 2**17)),
        "bandwidth of 1048576 bytes": 90000.0 * 2**17,
        "highest bandwidth": 95000.0 * 2**17,
    }


def test_figures_of_lammps_are_of_one_run(tmp_path):
    one = {"total": 40, "atoms": 4000, "steps": 1000, "time steps": 25, "atom steps": 100_000}
    one |= {"pair": 30, "neighbours": 5, "communication": 2}
    figures, problems = told(tmp_path, "lammps", "stdout", LAMMPS.format(second=""))
    assert (figures, problems) == (one, [])
    for rest in ("", LAMMPS_NONE):
        figures, problems = told(tmp_path, "lammps", "stdout", LAMMPS.format(second=LAMMPS_SECOND + rest))
        two = {"total": 8, "atoms": 3900, "steps": 400, "time steps": 50, "atom steps": 195_000}
        assert (figures, problems) == (two | {"pair": 6, "neighbours": 0.5}, [])
    short = LAMMPS_SECOND.partition("MPI task")[0] + LAMMPS_NONE  # of "run 400 post no" and "run 0"
    assert told(tmp_path, "lammps", "stdout", LAMMPS.format(second=short)) == (two, [])
    broken = LAMMPS.format(second="ERROR: Lost atoms: original 4000 current 3900\n").partition("Total")[0]
    figures, problems = told(tmp_path, "lammps", "stdout", broken, exit_code=1)
    assert figures == one
    assert problems[1:] == ["'^Total wall time' is missing in stdout", "'^ERROR' found in stdout"]


def hpl(folder, tests, failed=0, skipped=0, output="stdout", **values):
    """The same of HPL: tests are names, sizes, seconds and Gflop/s."""
    checks = ["FAILED"] * failed + ["PASSED"] * (len(tests) - failed)
    lines = [
        HPL_LINE.format(name=name, n=n, seconds=seconds, rate=rate, check=check)
        for (name, n, seconds, rate), check in zip(tests, checks, strict=True)
    ]
    end = HPL_END.format(all=len(tests) + skipped, passed=len(tests) - failed, failed=failed, skipped=skipped)
    values = {"rows": 1, "columns": 2} | values
    return told(folder, "hpl", output, "".join(lines) + end, output=output, **values)


@pytest.mark.parametrize("output", ["stdout", "stderr", "HPL.out"])
def test_hpl(tmp_path, output):
    figures, problems = hpl(tmp_path, [("WR11C2R4", 1000, 0.05, 13.4)], output=output)
    assert (figures, problems) == ({"linpack": 13.4e9, "linpack time": 0.05, "tests": 1}, [])


def test_hpl_counts_the_test_that_is_named(tmp_path):
    tests = [("WR11C2R4", 1000, 0.05, 13.4), ("WR11C2R4", 100000, 900.0, 740.0), ("WC03L2L2", 100000, 800.0, 833.0)]
    figures, problems = hpl(tmp_path, tests)
    assert (figures, problems) == ({"linpack": 13.4e9, "linpack time": 0.05, "tests": 3}, [])
    figures, problems = hpl(tmp_path, tests, n=100000, variant="03L")
    assert (figures["linpack"], problems) == (833e9, [])
    figures, problems = hpl(tmp_path, tests, n=100000)
    assert figures == {"tests": 3}
    assert problems == [f"{name}: stdout: found 2 numbers; allowed: one" for name in ("linpack", "linpack time")]
    figures, problems = hpl(tmp_path, tests, n=2000)
    assert problems[0].startswith("linpack: no match of '^W[RC][^ ]* +2000 +80 +1 +2 +")


def test_hpl_that_did_not_do_its_work(tmp_path):
    one = ("WR11C2R4", 1000, 0.05, 13.4)
    _, problems = hpl(tmp_path, [one, ("WR11C2R4", 2000, 0.05, 13.4)], failed=1)
    failed, refused = r"'\.\. FAILED' found", "'^ *[1-9][0-9]* tests (completed and failed|skipped)' found"
    assert problems == [f"{failed} in stdout", f"{refused} in stdout"]
    assert hpl(tmp_path, [one], skipped=2)[1] == [f"{refused} in stdout"]
    unchecked = HPL_END.format(all=1, passed=1, failed=0, skipped=0).replace(
        "and passed residual checks", "without checking"
    )
    _, problems = told(tmp_path, "hpl", "stdout", unchecked, rows=1, columns=2)
    assert any("and passed residual checks' is missing in stdout" in problem for problem in problems)
    (tmp_path / "stderr").write_text(
        "HPL ERROR from process # 0, on line 419 of function HPL_pdinfo:\n>>> bad input <<<\n"
    )
    assert "'HPL ERROR' found in stderr" in hpl(tmp_path, [one])[1]


def test_the_input_of_hpl_has_one_test_of_its_parameters(tmp_path):
    recipe = load_recipe("hpl", Path())
    values = recipe.values({"n": 5000, "columns": 4}, tmp_path)
    place_files(tmp_path, recipe.directory, values, fill_files=recipe.fill_files)
    lines = (tmp_path / "HPL.dat").read_text().splitlines()
    assert len(lines) == 31
    assert [lines[place].split()[0] for place in (3, 4, 5, 6, 7, 9, 10, 11)] == [
        "6",
        "1",
        "5000",
        "1",
        "80",
        "1",
        "1",
        "4",
    ]
