"""Programs in which nothing can be counted are told why; those that open an MPI by themselves are counted."""

import ctypes
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from profile_support import MPIS, PROGRAMS, by_rank, compiled, counted, launcher, require, run_environment

from fathometer.base.errors import FathometerError, InputError
from fathometer.base.host import built_library
from fathometer.lab.profile import programs, study_figures
from fathometer.lab.profile.options import ProfileOptions
from fathometer.lab.profile.profile import make_profile
from fathometer.lab.profile.uncounted import SEEN, what_was_seen

LIBRARIES = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}
NOBODY = 65534


def library(mpi):
    """The name of an MPI's shared library; the test is skipped where there is none of that version."""
    require(mpi)
    name = LIBRARIES[mpi]
    found = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    if name not in found:
        pytest.skip(f"no {name}")
    return name


@pytest.fixture
def refusal(tmp_path, monkeypatch):
    """What is said of a command of which nothing can be counted."""
    for name, value in run_environment().items():
        monkeypatch.setenv(name, value)

    def told(*words, kind=InputError, mpi=None):
        command = tuple(map(str, words))
        with pytest.raises(kind) as caught:
            make_profile(ProfileOptions(command, tmp_path / "profile", mpi=mpi, overwrite=True), ["profile"])
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return told


def plain(folder, source="opened.c", *options):
    """A program of PROGRAMS that is linked with no MPI."""
    path = folder / Path(source).stem
    subprocess.run(["cc", "-w", "-o", path, PROGRAMS / source, "-ldl", *options], check=True)
    return path


@pytest.mark.parametrize("mpi", MPIS)
def test_calls_of_an_mpi_that_the_program_opens_itself_are_counted(tmp_path, mpi):
    (job,) = counted(tmp_path / "profile", [plain(tmp_path), library(mpi)], mpi)
    expected = {"MPI_Init": (1, 0, 0), "MPI_Barrier": (3, 0, 0), "MPI_Finalize": (1, 0, 0)}
    assert by_rank(job) == [expected, expected]
    assert not (tmp_path / "profile" / SEEN).exists()


def test_calls_of_python_without_mpi4py_are_counted(tmp_path):
    words = f"import ctypes; m = ctypes.CDLL('{library('openmpi')}'); m.MPI_Init(None, None); m.MPI_Finalize()"
    (job,) = counted(tmp_path / "profile", [sys.executable, "-c", words], ranks=1)
    assert by_rank(job) == [{"MPI_Init": (1, 0, 0), "MPI_Finalize": (1, 0, 0)}]


def test_who_asks_for_the_next_symbol_still_gets_the_next(tmp_path):
    """As if the preloaded library were not there, which has a dlsym of its own."""
    plain(tmp_path, "next_symbol.c", "-shared", "-fPIC")
    (tmp_path / "ask.c").write_text("#include <unistd.h>\nint main(void) { return getppid() == PARENT + 1 ? 0 : 3; }\n")
    words = ["cc", f"-DPARENT={os.getpid()}", "-o", tmp_path / "ask", tmp_path / "ask.c", tmp_path / "next_symbol"]
    subprocess.run(words, check=True)
    done = subprocess.run([tmp_path / "ask"], env={"LD_PRELOAD": str(built_library("profile"))}, check=False)
    assert done.returncode == 0


def test_an_mpi_that_was_opened_and_not_begun_is_named(tmp_path, refusal):
    program, words = plain(tmp_path), launcher("openmpi", 2)
    told = refusal(*words, program, library("openmpi"), "unused")
    assert told.startswith(f"{words[0]}: nothing to profile: {program} has no MPI linked to it, loaded /")
    assert told.endswith(f"/{LIBRARIES['openmpi']} later, but never started it by MPI_Init")
    with pytest.raises(FathometerError, match=r"profile: \S+/opened has no MPI linked to it"):
        study_figures.figures_in(tmp_path)
    assert "/opened" not in refusal("true")  # what was left before is gone


def test_a_plugin_that_binds_past_the_library_is_named(tmp_path, refusal):
    plugin = compiled(tmp_path, "plugin.c", "openmpi", "-shared", "-fPIC")
    told = refusal(plain(tmp_path), library("openmpi"), plugin)
    assert "called MPI_Init past the library that counts, as plugins do" in told


def test_sessions_without_a_world_are_named(tmp_path, refusal):
    require("mpich")
    program = tmp_path / "session"
    built = subprocess.run(["mpicc.mpich", "-w", "-o", program, PROGRAMS / "session.c"], check=False)
    if built.returncode:
        pytest.skip("this MPICH has no sessions")
    told = refusal(*launcher("mpich", 1), program)
    assert f"{program} is linked with /" in told
    assert "started it by sessions alone (MPI_Session_init): they have no world" in told
    told = refusal(*launcher("mpich", 1), program, mpi=3)
    assert "never started it by MPI_Init; sessions were not listened to (--mpi 4 does)" in told


def test_the_lines_that_processes_leave_are_told_once_and_not_without_end(tmp_path):
    line = "linked\tsession\t/bin/program-{}\t/lib/libmpi.so\n"
    (tmp_path / SEEN).write_text("".join(line.format(n // 2) for n in range(10)) + "half a li")
    told = what_was_seen(tmp_path)
    assert told.count("is linked with /lib/libmpi.so") == 3
    assert told.endswith("; and 2 more")
    assert what_was_seen(tmp_path / "nowhere") == ""


def no_effect(folder):
    """Why set-uid has none here."""
    if os.getuid() != 0:
        return "only root can give a program to another user"
    if os.statvfs(folder).f_flag & os.ST_NOSUID or ctypes.CDLL(None).prctl(39, 0, 0, 0, 0) == 1:
        return "set-uid has no effect here"
    return ""


@pytest.mark.parametrize(("bit", "told"), [(stat.S_ISUID, "a set-uid program"), (stat.S_ISGID, "a set-gid program")])
def test_programs_with_privileges_of_others_are_refused(tmp_path, refusal, bit, told):
    if reason := no_effect(tmp_path):
        pytest.skip(reason)
    program = compiled(tmp_path, "late.c")
    other = Path(shutil.copy("/bin/cat", tmp_path / "other"))
    for path in (program, other):
        os.chown(path, NOBODY, NOBODY)
        path.chmod(0o755 | bit)
    assert refusal(*launcher("openmpi", 2), program).startswith(
        f"{program}: {told}: the loader preloads nothing into it; allowed: a copy"
    )
    assert refusal(other, "/dev/null").endswith(f"; {other}: {told}: the loader preloads nothing into it")
    # The loader does what is said of it.
    environ = {"LD_PRELOAD": str(built_library("profile"))}
    for mode, there in ((0o755 | bit, False), (0o755, True)):
        other.chmod(mode)
        maps = subprocess.run([other, "/proc/self/maps"], env=environ, capture_output=True, text=True, check=True)
        assert ("libprofile" in maps.stdout) == there
    assert programs.privileges(other) == ""


def test_file_capabilities_are_seen(tmp_path, monkeypatch):
    program = Path(shutil.copy("/bin/true", tmp_path / "able"))
    if shutil.which("setcap", path="/usr/sbin:/sbin:/usr/bin") is None or no_effect(tmp_path):
        pytest.skip("no file can be given capabilities here")
    done = subprocess.run(["/usr/sbin/setcap", "cap_net_raw+ep", program], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this file system keeps no capabilities")
    assert programs.obstacles([str(program)]) == []  # root has them all
    monkeypatch.setattr(os, "getuid", lambda: NOBODY)
    (told,) = programs.obstacles([str(program)])
    assert told == f"{program}: a program with file capabilities: the loader preloads nothing into it"


def test_what_keeps_scripts_and_programs_from_it_is_told(tmp_path, refusal):
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    for name, *options in (("static", "-static"), ("lost", "-Wl,--dynamic-linker=/nowhere/ld.so")):
        subprocess.run(["cc", *options, "-o", tmp_path / name, tmp_path / "main.c"], check=True)
    script = tmp_path / "script"

    def as_script(line):
        script.write_text(f"{line}\n")
        script.chmod(0o755)
        return script

    static = f"; {tmp_path}/static is a static program: nothing can be preloaded into it"
    assert refusal(as_script(f"#!{tmp_path}/static")).endswith(static)
    assert refusal(as_script(f"#!/usr/bin/env -S A=1 {tmp_path}/static -x")).endswith(static)
    told = refusal(as_script("#!/nowhere/interpreter -x"))
    assert told == f"{script}: cannot be run: its interpreter /nowhere/interpreter is not there"
    # By a launcher, whose exit code alone would tell nothing.
    told = refusal(*launcher("openmpi", 1), script, kind=FathometerError)
    assert told.endswith("; /nowhere/interpreter, by which a script is run, is not there")
    told = refusal(as_script("echo"))
    assert told == f"{script}: cannot be run: it is no program for this machine, and its first line names no " + (
        "interpreter (#!)"
    )
    assert refusal(tmp_path / "lost") == f"{tmp_path}/lost: cannot be run: its loader /nowhere/ld.so is not there"
    assert refusal(tmp_path / "none") == f"{tmp_path}/none: cannot be run: No such file or directory"
    (told,) = programs.obstacles([str(tmp_path / "lost")])
    assert told == f"{tmp_path}/lost needs the loader /nowhere/ld.so, which is not there"
    assert programs.obstacles(["/bin/true", "-x", str(tmp_path / "main.c")]) == []


def test_a_shared_library_among_the_words_is_no_static_program(tmp_path):
    plugin = compiled(tmp_path, "plugin.c", "openmpi", "-shared", "-fPIC")
    programs.refuse_static([str(plugin)])
    assert programs.obstacles([str(plugin)]) == []
