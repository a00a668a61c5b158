"""`fathometer profile` as a user meets it."""

import json
import os
import shutil
import subprocess
import sys
import time

import pytest
from jsonschema import Draft202012Validator
from kill_support import wait_until
from patience import PATIENCE
from profile_support import cli, compiled, launcher, run_environment

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.hardware import environment
from fathometer.base.marked_processes import marked_processes
from fathometer.cli.commands.profile import write_profile
from fathometer.lab.profile.options import ProfileOptions
from fathometer.lab.profile.profile import make_profile
from fathometer.record import envelope
from fathometer.record.profiled import leave_record
from fathometer.record.schema import SCHEMA
from fathometer.report import page


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("command"), "counted.c")


@pytest.fixture(scope="module")
def profiled(tmp_path_factory, program):
    folder = tmp_path_factory.mktemp("profiled")
    done = cli(folder, "--communicators", "--sites", "--counters", "--", *launcher("openmpi", 2), program)
    assert done.returncode == 0, done.stderr
    return folder / "profile", done


def test_record_and_page_are_left_and_nothing_else(profiled):
    folder, done = profiled
    assert sorted(path.name for path in folder.iterdir()) == ["profile.html", "profile.json"]
    record = json.loads((folder / "profile.json").read_text())
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(record)
    assert record["validity"] == {"valid": True, "finished": True, "reasons": [], "times": []}
    assert "MPI_Allreduce" in done.stdout
    assert "…" not in done.stdout  # a number that is cut off is none


def test_arguments_are_hidden_everywhere(tmp_path, program):
    """In the record, the page, and the files of the ranks."""
    words = [*launcher("openmpi", 2), program, "finalize", "opened", "--password", "geheim-17"]
    done = cli(tmp_path, "--hide-arguments", "--keep", "--", *words)
    assert done.returncode == 0, done.stderr
    files = {path.name: path.read_bytes() for path in (tmp_path / "profile").iterdir()}
    assert len(files) == 4
    assert [name for name, content in files.items() if b"geheim" in content] == []
    assert all(str(program).encode() in content for name, content in files.items() if name.startswith("rank"))
    record = json.loads(files["profile.json"])
    assert record["command"][-4:] == ["--hide-arguments", "--keep", "--", words[0]]
    assert record["input"]["command"] == words[:1]
    assert record["results"]["program"] == str(program)
    assert f"{words[0]} (its arguments are hidden)".encode() in files["profile.html"]


def test_the_record_that_a_profiled_run_leaves_hides_its_command_too(tmp_path, monkeypatch):
    monkeypatch.setenv("FATHOMETER_PROFILE", str(tmp_path))
    for options, kept in (("wait,hide-arguments", ["fathometer"]), ("wait", ["fathometer", "migrate", "x"])):
        monkeypatch.setenv("FATHOMETER_PROFILE_OPTIONS", options)
        leave_record({"command": ["fathometer", "migrate", "x"]})
        assert json.loads((tmp_path / "own-record.json").read_text())["command"] == kept
    environ = {"OMPI_ARGV": "--password geheim", "OMPI_MCA_btl": "self"}
    assert environment(environ) == {"OMPI_MCA_btl": "self"}


def test_the_variables_of_a_batch_script_say_it(tmp_path):
    done = cli(tmp_path, "--environment", "--wait", "--hide-arguments")
    assert "export FATHOMETER_PROFILE_OPTIONS=wait,hide-arguments\n" in done.stdout


def test_overwrite_removes_what_a_profile_has_left_and_nothing_else(tmp_path, profiled, program):
    mine = tmp_path / "profile"
    shutil.copytree(profiled[0], mine)
    own = ["rank-000000.host.7.profile", "monitoring.3.prof", "own-record.json", "problem.txt"]
    foreign = ["rank-list.profile", "rank-000000.profile", "monitoring-notes.prof", "monitoring.3.prof.txt", "run.json"]
    for name in (*own, *foreign):
        (mine / name).write_text("mine")
    done = cli(tmp_path, "--overwrite", "--", *launcher("openmpi", 2), program)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in mine.iterdir()) == sorted([*foreign, "profile.html", "profile.json"])
    assert json.loads((mine / "profile.json").read_text())["validity"]["valid"]
    (mine / "profile.json").write_text('{"users": ["me"]}')
    for words in ([], ["--overwrite"]):
        done = cli(tmp_path, *words, "--", *launcher("openmpi", 1), program)
        told = "profile: holds profile.json, which is no record of this program's, and stays; allowed: another folder"
        assert (done.returncode, told in done.stderr) == (2, True)
    assert (mine / "profile.json").read_text() == '{"users": ["me"]}'


def test_what_ranks_left_stays_where_the_record_cannot_be_written(tmp_path, monkeypatch, program):
    def full(path, _record):
        raise FathometerError(f"{path}: cannot be written: No space left on device")

    for name, value in run_environment().items():
        monkeypatch.setenv(name, value)
    made, _ = make_profile(ProfileOptions((*launcher("openmpi", 2), str(program)), tmp_path), ["profile"])
    monkeypatch.setattr(envelope, "write_record", full)
    with pytest.raises(FathometerError, match="No space left"):
        write_profile(tmp_path, made, quiet=True)
    done = cli(tmp_path, "--gather", "-o", ".", "--quiet")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["profile.html", "profile.json"]


def test_a_page_that_cannot_be_written_is_one_line_after_the_table(tmp_path, monkeypatch, capsys, profiled):
    def full(path, *_):
        raise FathometerError(f"{path}: cannot be written: No space left on device")

    monkeypatch.setattr(page, "write_page", full)
    record = json.loads((profiled[0] / "profile.json").read_text())
    with pytest.raises(FathometerError, match=r"profile\.html: cannot be written: No space left") as raised:
        write_profile(tmp_path, record, quiet=False)
    assert raised.value.exit_code == 1
    assert "MPI_Allreduce" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["profile.json"]


def test_a_folder_that_cannot_be_written_to_is_refused_before_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: not (mode & os.W_OK and str(path).endswith("read-only")))
    with pytest.raises(InputError, match="read-only: cannot be written to"):
        make_profile(ProfileOptions(("touch", str(tmp_path / "ran")), tmp_path / "read-only"), ["profile"])
    assert not (tmp_path / "ran").exists()


def test_kill_of_the_profiler_ends_the_command(tmp_path, program):
    """kill -9, which it cannot pass on: the kernel ends the launcher, which ends its ranks."""
    words = ["profile", "--", *launcher("openmpi", 2), program, "forever"]
    process = subprocess.Popen([sys.executable, "-P", "-m", "fathometer", *map(str, words)], cwd=tmp_path,
                               env=run_environment() | {"WHOSE": str(tmp_path)})  # fmt: skip

    def running():
        return marked_processes("WHOSE", lambda value: value == str(tmp_path)) - {process.pid}

    wait_until(lambda: len(list((tmp_path / "profile").glob("rank-*"))) == 2, process)
    assert len(running()) >= 3  # the launcher and its ranks
    process.kill()
    process.wait()
    deadline = time.monotonic() + PATIENCE
    while running():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_account_has_every_second_of_every_rank(profiled):
    record = json.loads((profiled[0] / "profile.json").read_text())
    for rank, own in zip(record["ledger"]["ranks"], record["results"]["ranks"], strict=True):
        assert sum(rank["categories"].values()) == pytest.approx(rank["wall_seconds"], rel=1e-6)
        assert rank["categories"]["compute"] == pytest.approx(own["user_seconds"], rel=1e-3, abs=1e-6)
        assert own["user_seconds"] + own["mpi_seconds"] == pytest.approx(own["wall_seconds"])


def test_the_page_has_all_parts(profiled):
    page = (profiled[0] / "profile.html").read_text()
    for text in (
        "What costs most",
        "Functions of MPI",
        "Calls by size",
        "Bytes between ranks: messages",
        "Messages over time",
        "Communicators",
        "turned",
        "Places of the program",
        "What the system counted",
    ):
        assert text in page, text
    assert 'src="' not in page.split("<script>")[0]


def test_an_exit_code_is_told_and_the_profile_is_there(tmp_path, program):
    done = cli(tmp_path, "--quiet", "--", *launcher("openmpi", 2), program, "abort")
    assert done.returncode == 1
    assert "ended with exit code 3; profile has its profile" in done.stderr
    record = json.loads((tmp_path / "profile" / "profile.json").read_text())
    assert not record["validity"]["valid"]
    assert any("aborted" in reason for reason in record["validity"]["reasons"])


def test_a_folder_with_a_profile_is_not_replaced_unasked(profiled):
    done = cli(profiled[0].parent, "--", "true")
    assert done.returncode == 2
    assert "has a profile already" in done.stderr


def test_files_of_a_batch_job_are_gathered(tmp_path, program):
    printed = cli(tmp_path, "--environment", "-o", "batch")
    assert printed.returncode == 0, printed.stderr
    (tmp_path / "batch").mkdir()
    words = " ".join(map(str, (*launcher("openmpi", 2), program)))
    subprocess.run(["sh", "-ec", f"{printed.stdout}\n{words}"], cwd=tmp_path, env=run_environment(), check=True)
    done = cli(tmp_path, "--gather", "--quiet", "-o", "batch")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "batch" / "profile.json").read_text())["results"]["size"] == 2


def test_several_jobs_of_a_command_are_told_apart(tmp_path, program):
    one, two = (" ".join(map(str, (*launcher("openmpi", n), program))) for n in (2, 3))
    done = cli(tmp_path, "--keep", "--", "sh", "-c", f"{one} && {two}")
    assert done.returncode == 0, done.stderr
    assert "ran 2 MPI jobs" in done.stdout
    done = cli(tmp_path, "--gather", "--quiet", "--job", 2)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "profile" / "profile.json").read_text())["results"]["size"] == 3


STATIC = '#include <stdio.h>\nconst char *name = "MPI_Init";\nint main(void) { return puts(name) < 0; }\n'


def test_what_cannot_be_profiled_is_one_line(tmp_path):
    (tmp_path / "static.c").write_text(STATIC)
    subprocess.run(["cc", "-static", "-o", tmp_path / "static", tmp_path / "static.c"], check=True)
    cases = {
        ("--", "true"): (2, "no process of it has called MPI_Init, or had an MPI library when it ended"),
        ("--", tmp_path / "static"): (2, "a static program: nothing can be preloaded into it"),
        ("--", tmp_path / "none"): (2, "cannot be run"),
        ("--", "false"): (1, "ended with exit code 1 before a process of it called MPI_Init"),
        (): (2, "allowed: -- COMMAND"),
        ("--gather",): (2, "no files of ranks"),
        ("--profiler", "ompi", "--", "true"): (2, "no Open MPI program"),
    }
    for words, (code, text) in cases.items():
        done = cli(tmp_path, "--overwrite", *words)
        assert done.returncode == code, (words, done.stderr)
        assert text in done.stderr, words
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
