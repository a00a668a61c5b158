"""What a command on clusters may remove and show: the folders of clusters, and folders that are there."""

import os

import pytest
from cli_support import run
from cluster_support import require_clusters

from fathometer.base.errors import InputError
from fathometer.lab.cluster import making, state
from fathometer.lab.cluster.spec import ClusterSpec
from fathometer.lab.cluster.state import Cluster, clusters_folder, folder_of

NAMES = ("..", ".", "../x", "a/b", "", "-x", "x" * 41, "a.lock")


@pytest.fixture(autouse=True)
def clusters(tmp_path, monkeypatch):
    """The folder of clusters, with one in it that is up by its words, and one that is a folder of somebody else."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder_of("own").mkdir(parents=True)
    state.write(Cluster("own", folder_of("own"), ClusterSpec(1), "another start of the system", ready=True))
    (folder_of("own") / "shared").mkdir()
    folder_of("foreign").mkdir()
    (folder_of("foreign") / "thesis").touch()
    return clusters_folder()


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def refused(capsys, *words):
    done = run(capsys, "cluster", *words)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    return done.err


@pytest.mark.parametrize("command", ["down", "status", "run", "up"])
@pytest.mark.parametrize("name", [*NAMES, "/any/folder"])
def test_a_name_is_no_path(clusters, tmp_path, capsys, command, name):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis").touch()
    before = files(tmp_path)
    words = ["--", "true"] if command == "run" else []
    name = name.replace("/any/folder", str(mine))
    error = refused(capsys, command, f"--name={name}", *words)
    assert f'cluster name: found "{name}"; allowed: up to 40 letters, digits and "-"' in error
    assert files(tmp_path) == before


def test_a_folder_without_a_state_is_not_removed(clusters, capsys):
    before = files(clusters)
    words = "holds no cluster.json of a cluster, and stays as it is; allowed: another --name"
    for command in ("down", "up"):
        assert f"{folder_of('foreign')}: {words}" in refused(capsys, command, "--name", "foreign")
    (clusters / "link").symlink_to(clusters / "own")
    assert words in refused(capsys, "down", "--name", "link")
    (clusters / "link").unlink()
    assert files(clusters) == before
    done = run(capsys, "cluster", "down", "--all")
    assert done.code == 0, done.err
    assert files(clusters) == ["foreign", "foreign/thesis"]


def test_what_was_broken_off_before_its_state_was_written_is_cleared(clusters, capsys):
    folder_of("empty").mkdir()
    folder_of("begun").mkdir()
    (folder_of("begun") / ".cluster.json.abcdefgh.part").touch()
    assert state.names() == ["begun", "empty", "own"]
    making.clear_abandoned(lambda line: None)
    assert files(clusters) == ["foreign", "foreign/thesis"]


def test_the_state_is_the_first_file(clusters, monkeypatch):
    """Whatever is broken off later leaves a folder that is known as a cluster's."""

    def broken_off(folder, nodes):
        raise KeyboardInterrupt

    monkeypatch.setattr(making, "write_hosts", broken_off)
    with pytest.raises(KeyboardInterrupt):
        making._made("new", ClusterSpec(1), [], None, False, lambda line: None)
    assert state.MARK.on(folder_of("new"))
    state.remove("new")
    assert not folder_of("new").exists()


def test_no_folder_at_all_is_not_the_working_directory(capsys):
    error = refused(capsys, "up", "--name", "new", "--share", "")
    assert "--share: found an empty name; allowed: the path of a folder" in error


@pytest.mark.parametrize(
    ("way", "found"), [("file", "no folder"), ("missing", "nothing"), ("/etc/passwd", "no folder")]
)
def test_only_folders_are_shown(clusters, tmp_path, capsys, way, found):
    require_clusters()
    (tmp_path / "file").touch()
    path = tmp_path / way
    error = refused(capsys, "up", "--name", "new", "--share", path)
    assert f"{path}: found {found}; allowed: a folder of this host, for the nodes to see" in error
    assert not folder_of("new").exists()
    assert not os.path.exists(f"{folder_of('new')}.lock")
    with pytest.raises(InputError, match=f"{path}: found {found}"):
        making.hidden_folders([path])
