"""tools/petsc.sh and tools/h5py.sh: a failed download is tried again by the next make, a failed build is not."""

import subprocess
from pathlib import Path

import pytest
from paths import ROOT

VERSION = "".join(f"#define PETSC_VERSION_{part} 3\n" for part in ("MAJOR", "MINOR", "SUBMINOR"))
DOWNLOAD = "ERROR: Could not find a version that satisfies the requirement (from versions: none)"
BUILD = "error: subprocess-exited-with-error\nerror: metadata-generation-failed"


@pytest.mark.parametrize(("error", "code"), [(DOWNLOAD, 1), (BUILD, 0)], ids=["download", "build"])
@pytest.mark.parametrize(("script", "left_out"), [("petsc.sh", "petsc4py"), ("h5py.sh", "parallel HDF5")])
def test_what_failed(tmp_path, script, left_out, error, code):
    if script == "h5py.sh" and not list(Path("/usr/lib").glob("*/hdf5/openmpi")):
        pytest.skip("no parallel HDF5: libhdf5-openmpi-dev")
    (tmp_path / "petscversion.h").write_text(VERSION)
    python = tmp_path / "python"  # with an MPI, without the packages, and with a pip that fails
    python.write_text(
        "#!/bin/sh\n"
        'case "$2" in compiler) echo cc ;; flavour) echo openmpi ;;\n'
        f"*) [ \"$1 $2\" = '-m pip' ] && echo '{error}' >&2; exit 1 ;; esac\n"
    )
    python.chmod(0o755)
    words, environ = [ROOT / "tools" / script, python], {"PETSC_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert f"· going on without {left_out}" in done.stdout
    assert done.stderr == f"{error}\n"
