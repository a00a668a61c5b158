"""Where a run on one host listens, as the system tells it, and what it leaves in shared folders when it is killed."""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from cli_support import MIGRATE, finish, mpirun, program, start
from kill_support import SLOW, gone, kill, ranks_of, shots_into, survey_into, wait_for_shots

from fathometer.base import owned_folder
from fathometer.launch import one_host


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return shots_into(tmp_path_factory.mktemp("recorded"), 60)


def begun(recorded, folder, *words, before=(), environment=None):
    """A migration in the midst of its shots, and its survey."""
    output = folder / "out"
    path = survey_into(recorded, output, MIGRATE)
    command = (*before, *program(), "migrate", path, "--quiet", "--threads", 1, *words)
    process = start(*command, environment=SLOW | (environment or {}))
    wait_for_shots(output, 1, process)
    return path, process


def family(process):
    """The numbers of a process and of all that it has started."""
    parents = {}
    for one in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = one.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(one.parent.name))
    found, todo = set(), [process.pid]
    while todo:
        found.add(one := todo.pop())
        todo += parents.get(one, [])
    return found


def listeners(pids):
    """Addresses at which processes listen."""
    done = subprocess.run(["ss", "-ltnpH"], capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    return [words[3] for words in lines if any(f"pid={pid}," in words[-1] for pid in pids)]


needs_ss = pytest.mark.skipif(shutil.which("ss") is None, reason="ss (iproute2) is not installed")


def eventpolls(pids):
    """Files of processes by which epoll waits for events."""
    files = [file for pid in pids for file in Path(f"/proc/{pid}/fd").iterdir()]
    return [file for file in files if file.is_symlink() and "eventpoll" in str(file.readlink())]


def outside(addresses):
    """Those of the addresses that other hosts can reach."""
    return [one for one in addresses if not one.startswith(("127.0.0.1:", "[::1]:"))]


@needs_ss
@pytest.mark.parametrize(
    "before", [(), pytest.param(mpirun(2), marks=pytest.mark.trials)], ids=["one process", "mpirun"]
)
def test_ranks_of_one_host_do_not_listen(recorded, tmp_path, before):
    """What a user's own mpirun does is his: of its ranks nobody listens."""
    path, process = begun(recorded, tmp_path, before=before)
    found = listeners(ranks_of(path) if before else family(process))
    kill(process.pid, signal.SIGUSR1 if before else signal.SIGTERM)
    done = finish(process)
    assert done.code == 75, done.err
    assert found == []


@needs_ss
@pytest.mark.parametrize(
    "victim", ["a rank", *(pytest.param(one, marks=pytest.mark.trials) for one in ("all ranks", "mpirun"))]
)
def test_a_run_listens_on_loopback_and_what_killed_ranks_leave_is_removed(recorded, tmp_path, victim):
    path, process = begun(recorded, tmp_path, "--ranks", 2, environment={"TMPDIR": str(tmp_path)})
    ranks = ranks_of(path)
    found = listeners(family(process))
    waiting = eventpolls(family(process))
    environ = Path(f"/proc/{ranks[0]}/environ").read_text().split("\0")
    [shared] = [word.partition("=")[2] for word in environ if "_backing_directory=" in word]
    [session] = tmp_path.glob(f"{one_host.PREFIX}*")
    assert len(list(Path(shared).glob("vader_segment.*"))) == 2
    foreign = Path(shared).with_name("vader_segment.fathometer-test.0.0.0")
    foreign.write_bytes(b"another program's")
    try:
        launcher = family(process) - {process.pid, *ranks}
        for one in {"a rank": ranks[:1], "all ranks": ranks, "mpirun": launcher}[victim]:
            kill(one)
        assert finish(process).code == 137
        assert gone(path)
        assert not Path(shared).exists()
        assert not session.exists()
        assert foreign.exists()
    finally:
        foreign.unlink()
    assert len(found) >= 2  # mpirun's own
    assert outside(found) == []
    assert waiting == []


def test_what_a_killed_supervisor_left_goes_with_the_next_run(tmp_path, monkeypatch):
    monkeypatch.setattr(one_host, "SHARED_MEMORY", tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    left = tmp_path / f"{one_host.PREFIX}left"
    (left / "within").mkdir(parents=True)
    owned_folder.mark_temporary(left)
    (tmp_path / f"{one_host.PREFIX}link").symlink_to(tmp_path / "other")
    (tmp_path / "other").mkdir()
    with one_host.own_folders({}, 4) as first:
        assert left.exists()  # too young: it may not be locked yet
        monkeypatch.setattr(owned_folder, "STALE_SECONDS", -1.0)
        with one_host.own_folders({}, 5) as second:
            assert not left.exists()
            assert (tmp_path / "other").exists()
            assert all(Path(folder).is_dir() for folder in (*first.values(), *second.values()))
    assert not any(Path(folder).exists() for folder in (*first.values(), *second.values()))
    assert set(first) == {"OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_orte_tmpdir_base"}
    assert set(second) == {"OMPI_MCA_btl_sm_backing_directory", "PRTE_MCA_prte_tmpdir_base"}


def test_open_mpi_5_keeps_its_only_way_to_wait():
    assert one_host.events(4) == {"EVENT_NOEPOLL": "1"}
    assert one_host.events(5) == {}


def test_without_a_folder_for_temporary_files_open_mpi_has_the_choice(tmp_path, monkeypatch):
    def none():
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(one_host, "SHARED_MEMORY", tmp_path)
    monkeypatch.setattr("tempfile.gettempdir", none)
    with one_host.own_folders({}, 4) as settings:
        assert set(settings) == {"OMPI_MCA_btl_vader_backing_directory"}


def test_settings_of_the_user_stay(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert one_host.transport({}, 4) == {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader"}
    assert one_host.transport({}, 5)["OMPI_MCA_btl"] == "self,sm"
    assert one_host.transport({"OMPI_MCA_btl": "self,tcp"}, 4) == {}
    (tmp_path / ".openmpi").mkdir()
    (tmp_path / ".openmpi" / "mca-params.conf").write_text("# mine\n pml = ucx\n")
    assert one_host.transport({}, 4) == {}
    assert one_host.loopback_library({}) is not None
    assert one_host.loopback_library({"OMPI_MCA_oob_tcp_if_include": "eth0"}) is None


@pytest.mark.parametrize(
    ("environ", "here"),
    [
        ({}, True),
        ({"SLURM_JOB_ID": "1", "SLURM_JOB_NUM_NODES": "1"}, True),
        ({"SLURM_JOB_ID": "1", "SLURM_JOB_NUM_NODES": "4"}, False),
        ({"PBS_NODEFILE": "/var/spool/nodes"}, False),
        ({"OMPI_MCA_orte_default_hostfile": "hosts"}, False),
    ],
)
def test_where_mpirun_starts_ranks(environ, here):
    assert one_host.mpirun_stays_here(environ) is here
