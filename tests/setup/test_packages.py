"""tools/packages.sh knows for every system package of packages*.txt what it is for, and tries that."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from paths import ROOT

LISTS = sorted(ROOT.glob("packages*.txt"))
WORKS, MISSING, UNKNOWN = 0, 1, 2


def names(path: Path) -> list[str]:
    """The packages of a list."""
    lines = (line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]


def packages(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """What tools/packages.sh says."""
    command = [str(ROOT / "tools/packages.sh"), *words]
    return subprocess.run(command, env=os.environ | environ, capture_output=True, text=True, timeout=300, check=False)


def probe(package: str, **environ: str) -> int:
    return packages("--probe", package, **environ).returncode


def script(folder: Path, name: str, text: str) -> None:
    """Put a program into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def first_in_path(folder: Path) -> str:
    return f"{folder}:{os.environ['PATH']}"


def test_every_line_has_a_probe_which_finds_what_is_installed():
    listed = [name for path in LISTS for name in names(path)]
    assert len(listed) == len(set(listed))
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(listed, pool.map(probe, listed), strict=True))
    assert set(found.values()) <= {WORKS, MISSING}, found
    for name, status in found.items():
        installed = subprocess.run(["dpkg-query", "-Wf", "${db:Status-Abbrev}", name], capture_output=True, text=True)
        if installed.stdout.startswith("ii"):
            assert status == WORKS, name


def test_a_line_without_a_probe_is_noticed():
    assert probe("libsomething-else") == UNKNOWN


@pytest.mark.parametrize(
    ("package", "program"),
    [
        ("openmpi-bin", "mpirun"),
        ("mpich", "mpirun.mpich"),
        ("chromium", "chromium"),
        ("chromium-driver", "chromedriver"),
        ("slurm-wlm", "sbatch"),
        ("munge", "munged"),
        ("libopm-simulators-bin", "flow"),
        ("ncbi-blast+", "makeblastdb"),
        ("netpipe-openmpi", "NPopenmpi"),
        ("hdf5-tools", "h5dump"),
        ("netcdf-bin", "ncdump"),
        ("iproute2", "tc"),
        ("gfortran", "gfortran"),
        ("lammps", "lmp"),
        ("hpcc", "hpcc"),
        ("glusterfs-server", "glusterd"),
    ],
)
def test_a_program_that_does_not_run_is_not_there(tmp_path, package, program):
    script(tmp_path, program, f"echo '{program}: error while loading shared libraries' >&2; exit 127")
    assert probe(package, PATH=first_in_path(tmp_path)) == MISSING


def test_a_program_that_ends_with_2_is_not_a_line_without_a_probe(tmp_path):
    script(tmp_path, "c++", "exit 2")
    assert probe("g++", CXX=str(tmp_path / "c++")) == MISSING


def test_programs_are_tried_where_none_can_be_run_in_tmp():
    mount = 'mount -t tmpfs -o noexec tmp /tmp && exec "$@"'
    noexec = ["unshare", "--mount", "--map-root-user", "sh", "-c", mount, "sh"]
    if subprocess.run([*noexec, "true"], capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    words = [*noexec, ROOT / "tools/packages.sh", "--probe", "g++"]
    assert subprocess.run(words, check=False).returncode == WORKS


def test_a_compiler_without_headers_is_not_mpi(tmp_path):
    # What openmpi-bin has without libopenmpi-dev: wrappers of a compiler that name a folder which is not there.
    for name in ("mpicc", "mpicxx", "mpicc.openmpi", "mpicxx.openmpi", "mpicc.mpich"):
        script(tmp_path, name, 'exec cc -I/nowhere/openmpi/include "$@"')
    for package in ("libopenmpi-dev", "libmpich-dev", "libpnetcdf-dev", "libhdf5-openmpi-dev", "libpetsc-real-dev"):
        assert probe(package, PATH=first_in_path(tmp_path)) == MISSING, package


def test_a_compiler_that_compiles_nothing_is_not_there():
    assert probe("g++", CXX="/bin/false") == MISSING
    assert probe("g++", CXX="/nowhere/c++") == MISSING


def test_without_root_the_one_line_says_what_to_install(tmp_path):
    script(tmp_path / "bin", "id", "echo 1000")
    stamp = tmp_path / "stamp"
    done = packages(str(stamp), "packages.txt", PATH=first_in_path(tmp_path / "bin"), CXX="/bin/false")
    assert done.returncode == 1
    assert done.stderr == "make: missing system packages; install them with: sudo apt-get install g++ \n"
    assert not stamp.exists()


def test_what_is_gone_without_is_said(tmp_path):
    script(tmp_path / "bin", "id", "echo 1000")
    script(tmp_path / "bin", "h5dump", "exit 127")
    (tmp_path / "list.txt").write_text("hdf5-tools # h5dump\niproute2\n", encoding="utf-8")
    stamp = tmp_path / "stamp"
    done = packages(str(stamp), str(tmp_path / "list.txt"), PATH=first_in_path(tmp_path / "bin"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "· going on without hdf5-tools (what needs them is left out)\n"
    assert stamp.exists()  # it is asked again when the system's packages have changed
