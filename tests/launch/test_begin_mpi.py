"""What other users of the host have put in the way of MPI beforehand, and what its beginning leaves: nothing of theirs
is followed, waited for or spoken of, and nothing stays."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from cli_support import MODEL, call, finish, here, inputs, program, start, survey

from fathometer.launch import one_host
from fathometer.storage.volumes.formats import pnetcdf

OTHER = 65534  # nobody
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user for a while")


def as_another(action):
    """Call this in a process of another user."""
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(OTHER)
            os.setuid(OTHER)
            action()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture
def temporary():
    """A folder for temporary files of all users, as /tmp is."""
    folder = Path(tempfile.mkdtemp(prefix="fathometer-test-", dir="/tmp"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def words(tmp_path, request):
    """A command on one rank, or one that needs no rank but MPI, as NetCDF is read by it."""
    inputs(tmp_path)
    if request.param == "model":
        return "model", survey(tmp_path, MODEL), "--quiet"
    if reason := pnetcdf.missing():
        pytest.skip(reason)
    assert here("prepare", tmp_path / "vp.npy", "--input-spacing", "10,10", "-o", tmp_path / "vp.nc").code == 0
    return "info", tmp_path / "vp.nc"


@as_root
@pytest.mark.parametrize(("words", "planted"), [("model", "link"), ("info", "file")], indirect=["words"])
def test_what_another_user_has_put_there_is_not_followed(words, planted, temporary, tmp_path):
    """A link once led MPI's clean-up to the files that it names; a file had lines of its daemon printed."""
    victim = tmp_path / "mine"
    victim.mkdir()
    (victim / "file").touch()
    names = {f"ompi.{name}.{os.geteuid()}" for name in (socket.gethostname(), socket.gethostname().partition(".")[0])}

    def plant():
        os.umask(0)
        for name in names:
            if planted == "file":
                (temporary / name).touch()
            else:
                (temporary / name / "jf.0" / "1").mkdir(parents=True)
                (temporary / name / "jf.0" / "1" / "0").symlink_to(victim)

    as_another(plant)
    done = call(*words, environment={"TMPDIR": str(temporary)})
    assert (done.code, done.err) == (0, "")
    assert (victim / "file").exists()
    assert {path.name for path in temporary.iterdir()} == names


# The sockets are of another user's, and the program is started beside them.
DISPLAYS = """
import socket, subprocess, sys
taken = []
for number in range(10):
    taken.append(socket.socket(socket.AF_UNIX))
    taken[-1].bind(f"\\0/tmp/.X11-unix/X{number}")
    taken[-1].listen(100)
sys.exit(subprocess.call(sys.argv[1:]))
"""


@as_root
@pytest.mark.parametrize(
    ("words", "ranks"),
    [("info", ()), pytest.param("model", ("--ranks", 2), marks=pytest.mark.trials)],
    indirect=["words"],
)
def test_displays_are_not_asked(words, ranks):
    """hwloc asked those of all numbers, and waited for whoever does not answer; here in a network of its own."""
    network = ("unshare", "-n", "sh", "-c", 'ip link set lo up; exec "$@"', "sh")
    if subprocess.run([*network, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespace can be made here")
    done = finish(start(*network, sys.executable, "-c", DISPLAYS, *program(), *words, *ranks), timeout=120)
    assert (done.code, done.err) == (0, "")


BEGINNING = """
import os, sys, mpi4py
from pathlib import Path
mpi4py.rc.initialize = False
from fathometer.launch.begin_mpi import begin_mpi
before = os.environ["TMPDIR"]
begin_mpi()
begin_mpi()
from mpi4py import MPI
assert MPI.Is_initialized() and MPI.COMM_WORLD.size == 1
assert os.environ["TMPDIR"] == before
assert not list(Path(before).iterdir())
"""


@pytest.mark.parametrize("isolated", ["1", pytest.param("0", marks=pytest.mark.trials)])
def test_mpi_begins_once_and_leaves_no_folder(isolated, tmp_path):
    """isolated: what the user has set; with 0 Open MPI 4 starts its daemon, whose folder is there until the end."""
    own = {"TMPDIR": str(tmp_path), one_host.ISOLATED: isolated}
    code = BEGINNING if isolated == "1" else BEGINNING.rpartition("assert")[0]
    done = finish(start(sys.executable, "-c", code, environment=own))
    assert (done.code, done.err) == (0, "")


def test_without_a_folder_for_temporary_files_mpi_begins(tmp_path):
    code = BEGINNING.replace('before = os.environ["TMPDIR"]', "import tempfile; tempfile.gettempdir = lambda: 1 / 0")
    code = code.partition("assert os.environ")[0].replace("1 / 0", "(_ for _ in ()).throw(FileNotFoundError())")
    done = finish(start(sys.executable, "-c", code))
    assert (done.code, done.err) == (0, "")


def test_settings_of_the_user_stay(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert one_host.alone({}) == {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self", one_host.ISOLATED: "1"}
    assert one_host.alone({"OMPI_MCA_btl": "self,tcp", one_host.ISOLATED: "0"}) == {}
    assert one_host.without_display({}) == {"HWLOC_COMPONENTS": "-gl"}
    assert one_host.without_display({"HWLOC_COMPONENTS": "x86"}) == {}
