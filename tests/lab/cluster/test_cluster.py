"""Clusters of namespaces as a user has them: what runs where, what its links give, and that nothing is left."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest
from cli_support import MIGRATE, call, inputs, program, start, survey
from cli_support import run as in_process
from cluster_support import cluster, cluster_names, nothing_left, require_clusters, run, status
from patience import PATIENCE

from fathometer.base.errors import InputError
from fathometer.lab.cluster import making, namespaces, state
from fathometer.lab.cluster.gluster import require_gluster
from fathometer.lab.cluster.processes import MARKER, Sleeper, members, start_of
from fathometer.lab.cluster.state import folder_of
from fathometer.record.schema import SCHEMA

GIGABIT = 1e9 / 8
WHERE = "echo $OMPI_COMM_WORLD_RANK $(hostname)"
SENDS = """
import sys
from mpi4py import MPI
comm, size = MPI.COMM_WORLD, int(sys.argv[1])
message = bytearray(size)
if comm.rank == 0:
    comm.Send(message, 1)
elif comm.rank == 1:
    comm.Recv(message, 0)
"""

DAEMON = """
import os, time
if os.fork():
    os._exit(0)
os.setsid()
print(os.getpid(), flush=True)
os.close(1)
os.close(2)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Four nodes at 1 Gbit/s; its record."""
    record = tmp_path_factory.mktemp("wide") / "wide.json"
    with cluster("wide", "--nodes", 4, "--link", "1gbit", "--json", record):
        yield json.loads(record.read_text())


@pytest.fixture(scope="module")
def rails():
    """Two nodes with two networks."""
    with cluster("rails", "--nodes", 2, "--rails", 2):
        yield "rails"


def received(name, number):
    """Bytes that the network devices of a node have received."""
    pid = state.read(name).nodes[number - 1].process.pid
    rows = [line.split() for line in Path(f"/proc/{pid}/net/dev").read_text().splitlines()[2:]]
    return {row[0].rstrip(":"): int(row[1]) for row in rows}


def wait_for(what):
    """Until it is so."""
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_every_link_is_measured(wide):
    jsonschema.validate(wide, json.loads(SCHEMA.read_text()))
    links = wide["results"]["links"]
    assert [(link["sender"], link["receiver"]) for link in links] == [
        ("node1", "node2"), ("node2", "node3"), ("node3", "node4"), ("node4", "node1")
    ]  # fmt: skip
    for link in links:
        assert 0 < link["bytes_per_second"] < GIGABIT  # headers take their part, and no frame is faster
        assert 0 < link["latency_seconds"] <= link["median_latency_seconds"]
        assert link["stream_bytes"] >= 1 << 20
    assert wide["figures"][1]["value"] == min(link["bytes_per_second"] for link in links)
    assert status("wide")["links"] == links


@pytest.mark.parametrize(
    ("options", "hosts"),
    [
        (("--ranks", 4), ["node1", "node2", "node3", "node4"]),
        (("--ranks", 4, "--ranks-per-node", 2), ["node1", "node1", "node2", "node2"]),
        (("--ranks", 4, "--ranks-per-node", 2, "--placement", "cyclic"), ["node1", "node2", "node1", "node2"]),
        (("--ranks", 6), ["node1", "node1", "node2", "node2", "node3", "node4"]),
    ],
)
def test_where_ranks_are(wide, options, hosts):
    done = run("wide", *options, "--", "sh", "-c", WHERE)
    assert done.code == 0, done.err
    assert sorted(done.out.split("\n")[:-1], key=lambda line: int(line.split()[0])) == [
        f"{rank} {host}" for rank, host in enumerate(hosts)
    ]


def test_cores_are_divided(wide):
    mask = "import os; print(sorted(os.sched_getaffinity(0)))"
    done = run("wide", "--node", "node2", "--", sys.executable, "-I", "-S", "-c", mask)
    nodes = status("wide")["nodes"]
    assert json.loads(done.out) == nodes[1]["cores"]
    assert {core for node in nodes for core in node["cores"]} <= os.sched_getaffinity(0)


def test_a_message_crosses_the_link(wide, tmp_path):
    size = 3_000_000
    (tmp_path / "sends.py").write_text(SENDS)
    before = [received("wide", number)["eth0"] for number in (1, 2, 3)]
    done = run("wide", "--ranks", 2, "--", sys.executable, "sends.py", size, cwd=tmp_path)
    assert done.code == 0, done.err
    sent = [received("wide", number)["eth0"] - old for number, old in zip((1, 2, 3), before, strict=True)]
    assert size <= sent[1] < 1.2 * size
    assert max(sent[0], sent[2]) < size / 4


def test_both_rails_carry_a_message(rails, tmp_path):
    size = 8_000_000
    (tmp_path / "sends.py").write_text(SENDS)
    before = received(rails, 2)
    done = run(rails, "--ranks", 2, "--", sys.executable, "sends.py", size, cwd=tmp_path)
    assert done.code == 0, done.err
    after = received(rails, 2)
    share = [(after[device] - before[device]) / size for device in ("eth0", "eth1")]
    assert 1 <= sum(share) < 1.2
    assert min(share) > 0.2


def test_our_own_ranks_are_on_the_nodes(rails, tmp_path, migrated):
    """The image is that of one host; the record knows the nodes and the cluster."""
    inputs(tmp_path)
    survey(tmp_path, MIGRATE | {"parallel.decomposition": [2, 1], "model.epsilon": 0.1})
    done = run(rails, "--", "fathometer", "migrate", "survey.toml", "--ranks", 2, "--quiet", cwd=tmp_path)
    assert done.code == 0, done.err
    image, other = (folder / "out" / "image.rsf@" for folder in (tmp_path, migrated((2, 1))))
    assert image.read_bytes() == other.read_bytes()
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    jsonschema.validate(record, json.loads(SCHEMA.read_text()))
    assert [rank["host"] for rank in record["machine"]["binding"]] == ["node1", "node2"]
    assert record["machine"]["cluster"]["rails"] == 2
    assert len(record["machine"]["cluster"]["links"]) == 4
    assert any("streams over unlimited links" in reason for reason in record["validity"]["reasons"])


def test_folders(rails, tmp_path):
    """/tmp, /dev/shm and the local folder are of each node; the shared one and the folder of the caller are of all."""
    folders = "/tmp /dev/shm /run/cluster/local /run/cluster/shared ."
    write = f"for folder in {folders}; do echo $(hostname) > $folder/file-$(hostname); done"
    done = run(rails, "--ranks", 2, "--", "sh", "-c", write, cwd=tmp_path)
    assert done.code == 0, done.err
    look = f"for folder in {folders}; do ls $folder | grep -c ^file-; done"
    assert run(rails, "--", "sh", "-c", look, cwd=tmp_path).out.split() == ["1", "1", "1", "2", "2"]
    assert not Path("/tmp/file-node1").exists()
    assert not Path("/dev/shm/file-node1").exists()


def test_exit_codes_and_signals_are_passed_on(rails):
    assert run(rails, "--", "sh", "-c", "exit 7").code == 7
    assert run(rails, "--ranks", 2, "--", "sh", "-c", "exit 9").code == 9
    process = start(
        *program(), "cluster", "run", "--name", rails, "--quiet", "--", "sh", "-c", "echo begun; exec sleep 600"
    )
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGTERM


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("run", "--name", "wide", "--", "no-such-program"), "no-such-program: no such program on node1"),
        (("run", "--name", "wide"), "found no command"),
        (("run", "--name", "wide", "--node", "node9", "--", "true"), 'node: found "node9"; allowed: node1, node2'),
        (("run", "--name", "wide", "--ranks", 9, "--ranks-per-node", 2, "--", "true"), "found 2 on 4 nodes for 9"),
        (("run", "--name", "wide", "--ranks", 2, "--placement", "x", "--", "true"), 'placement: found "x"'),
        (("run", "--name", "wide", "--placement", "block", "--", "true"), "--placement: found without --ranks"),
        (("run", "--name", "nobody", "--", "true"), 'cluster: found "nobody", which is not up; allowed: '),
        (("up", "--name", "wide"), '"wide" is up already (4 nodes, 1gbit)'),
        (("up", "--name", "new", "--link", "3 parsecs"), 'link: found "3 parsecs"'),
        (("up", "--name", "new", "--nodes", 0), "--nodes: found 0"),
        (("up", "--name", "new", "--rails", 3), "rails: found 3"),
        (("up", "--name", "new", "--share", "/dev/shm/x"), "/dev/shm/x: each node has its own"),
        (("up", "--name", "a/b"), 'cluster name: found "a/b"'),
        (("down", "--name", "nobody"), 'cluster: found "nobody", of which there is nothing; allowed: '),
        (("down", "--name", "wide", "--all"), "found --name wide and --all"),
        (("status", "--name", "nobody"), 'cluster: found "nobody"'),
    ],
)
def test_wrong_words(wide, capsys, words, error):
    before = cluster_names()
    done = in_process(capsys, "cluster", *words)
    assert done.code == 2
    assert error in done.err
    assert len(done.err.splitlines()) == 1
    assert cluster_names() == before


def test_a_cluster_in_a_cluster_is_refused(wide):
    done = run("wide", "--", "fathometer", "cluster", "up")
    assert done.code == 2
    assert "this process is in one" in done.err


def test_without_iproute2(monkeypatch, capsys):
    monkeypatch.setattr(namespaces, "_SYSTEM", ())
    monkeypatch.setenv("PATH", "/nowhere")
    done = in_process(capsys, "cluster", "up", "--name", "new")
    assert done.code == 2
    assert "needed: Debian's util-linux" in done.err


def test_where_the_kernel_allows_no_namespaces(monkeypatch, capsys, tmp_path):
    refusing = tmp_path / "unshare"
    refusing.write_text("#!/bin/sh\necho 'unshare: unshare failed: Operation not permitted' >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    done = in_process(capsys, "cluster", "up", "--name", "new")
    assert done.code == 1
    assert "unshare failed: Operation not permitted; needed: root, or user namespaces" in done.err
    assert nothing_left("new")


def test_a_kernel_without_the_bucket(monkeypatch, capsys, tmp_path):
    """Nothing is left of a cluster that cannot be finished."""
    require_clusters()
    refusing = tmp_path / "tc"
    refusing.write_text("#!/bin/sh\necho 'Error: Specified qdisc kind is unknown.' >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    done = in_process(capsys, "cluster", "up", "--name", "new", "--link", "1gbit")
    assert done.code == 1
    assert "Specified qdisc kind is unknown.; needed: a kernel with the token bucket filter" in done.err
    assert nothing_left("new")


def test_a_node_that_was_killed():
    """It is told, nothing runs on what is left, and the cluster can be taken down; the other one is not touched."""
    with cluster("broken", "--nodes", 2), cluster("whole", "--nodes", 1):
        victim = state.read("broken").nodes[1].process.pid
        os.kill(victim, signal.SIGKILL)
        while start_of(victim) is not None:
            time.sleep(0.01)
        found = status("broken")
        assert (found["up"], found["ended"]) == (False, ["node2"])
        done = run("broken", "--", "true")
        assert done.code == 2
        assert 'cluster "broken": node2 ended; allowed: `fathometer cluster down --name broken`' in done.err
        assert call("cluster", "down", "--name", "broken").code == 0
        assert nothing_left("broken")
        assert run("whole", "--", "hostname").out == "node1\n"


@pytest.mark.parametrize("after", [pytest.param("head", marks=pytest.mark.trials), "nodes"])
def test_up_was_killed(after):
    """What it had made by then is cleared by the next one."""
    require_clusters()
    process = subprocess.Popen(
        [*program(), "cluster", "up", "--name", "killed", "--nodes", "3", "--quiet"], stdin=subprocess.DEVNULL
    )
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        known = state.read("killed")
        if known is not None and getattr(known, after):
            break
    process.kill()
    process.wait()
    left = members(folder_of("killed"))
    assert left or state.read("killed").ready, "killed in the middle, or a moment late"
    with cluster("next", "--nodes", 1):
        if not (known := state.read("killed")) or not known.ready:
            assert nothing_left("killed")
    for name in cluster_names():
        if name == "killed":
            call("cluster", "down", "--name", "killed")
    assert nothing_left("killed")
    assert not any(start_of(pid) for pid in left)


def test_a_state_of_an_earlier_start_of_the_system_ends_nobody():
    """Its numbers of processes may be those of others now."""
    require_clusters()
    bystander = subprocess.Popen(["sleep", "600"])
    try:
        folder = folder_of("old")
        folder.mkdir(parents=True)
        process = Sleeper(bystander.pid, start_of(bystander.pid))
        old = state.Cluster("old", folder, making.ClusterSpec(1), "another", head=process, ready=True)
        state.write(old)
        assert call("cluster", "down", "--name", "old").code == 0
        assert nothing_left("old")
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_what_a_node_has_started_ends_with_it(tmp_path):
    """Also a daemon that has cleared its environment."""
    (tmp_path / "daemon.py").write_text(DAEMON)
    with cluster("daemons", "--nodes", 1):
        done = run("daemons", "--", "env", "-i", sys.executable, "-I", "-S", "daemon.py", cwd=tmp_path)
        assert done.code == 0, done.err
        pid = int(done.out)
        assert MARKER.encode() not in Path(f"/proc/{pid}/environ").read_bytes()
        assert start_of(pid) is not None
    assert start_of(pid) is None


def test_in_a_user_namespace():
    with cluster("plain", "--nodes", 2, "--link", "1gbit", "--user-namespace"):
        found = status("plain")
        assert found["user_namespace"]
        assert all(link["bytes_per_second"] < GIGABIT for link in found["links"])
        done = run("plain", "--ranks", 2, "--", "sh", "-c", WHERE)
        assert sorted(done.out.splitlines()) == ["0 node1", "1 node2"], done.err


@pytest.mark.parametrize("options", [(), pytest.param(("--user-namespace",), marks=pytest.mark.trials)])
def test_slurm(options):
    try:
        making.require_slurm(folder_of("batch"))
    except InputError as error:
        pytest.skip(str(error))
    with cluster("batch", "--nodes", 2, "--slurm", *options):
        done = run("batch", "--", "sinfo", "--noheader", "--format=%n %c %T")
        cores = [len(node["cores"]) for node in status("batch")["nodes"]]
        assert sorted(done.out.splitlines()) == [f"node{n} {count} idle" for n, count in enumerate(cores, 1)]
        ranks = "from mpi4py import MPI; print(MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size, MPI.Get_processor_name())"
        done = run("batch", "--", "srun", "-N", 2, "-n", 2, sys.executable, "-c", ranks)
        assert sorted(done.out.splitlines()) == ["0 2 node1", "1 2 node2"], done.err
        daemons = ["munged", "slurmctld", "slurmd of node1", "slurmd of node2"]
        assert status("batch")["ended"] == []
        for file in folder_of("batch").glob("slurm/*.pid"):
            os.kill(int(file.read_text()), signal.SIGKILL)
        wait_for(lambda: status("batch")["ended"] == daemons)
        done = run("batch", "--", "srun", "-n", 1, "true")
        assert (done.code, "munged, slurmctld, slurmd of node1, slurmd of node2 ended" in done.err) == (2, True)
        again = call("cluster", "up", "--name", "batch", "--nodes", 2, "--slurm", *options, "--quiet")
        assert again.code == 0, again.err
        assert run("batch", "--", "srun", "-N", 2, "-n", 2, "true").code == 0


def test_messages_between_nodes(wide, tmp_path):
    """Windows too: Open MPI's own choice would make none over TCP."""
    words = ["--ranks", 2, "--pattern", "swap", "--protocol", "send,put-fence,get-lock", "--length", "8,1M", "--quiet"]
    done = run("wide", "--", "fathometer", "messages", *words, "--repeat", 1, "--json", "m.json", cwd=tmp_path)
    assert done.code == 0, done.err
    record = json.loads((tmp_path / "m.json").read_text())
    rows = record["results"]["rows"]
    assert {(row["class"], row["protocol"], row["length_bytes"]) for row in rows} == {
        ("between", protocol, length) for protocol in ("send", "put-fence", "get-lock") for length in (8, 1 << 20)
    }
    assert record["results"]["hosts"] == ["node1", "node2"]
    for row in rows:
        assert row["wrong_bytes"] == 0
        if row["length_bytes"] > 1 << 16:  # more than a bucket: no faster than the link
            assert row["pair_bytes_per_second"] < 1.2 * GIGABIT


@pytest.mark.trials
def test_a_network_folder():
    """What one node writes the other one reads, over the link."""
    try:
        require_gluster(False)
    except InputError as error:
        pytest.skip(str(error))
    size = 2_000_000
    with cluster("files", "--nodes", 2, "--link", "1gbit", "--network-folder"):
        write = f"cd /run/cluster/network; for n in 1 2 3 4; do head -c {size} /dev/urandom > $n; done; cat * | md5sum"
        before = received("files", 1)["eth0"] + received("files", 2)["eth0"]
        written = run("files", "--", "sh", "-c", write)
        assert written.code == 0, written.err
        read = run("files", "--node", "node2", "--", "sh", "-c", "cd /run/cluster/network; cat * | md5sum")
        assert read.out == written.out
        crossed = received("files", 1)["eth0"] + received("files", 2)["eth0"] - before
        assert crossed >= 4 * size  # each file is written or read by a node that does not hold it
        words = ["/run/cluster/network", "--ranks", 2, "--grid", "24,20,16", "--repeat", 1, "--quiet"]
        done = run("files", "--", "fathometer", "io", *words)
        assert done.code == 0, done.err
