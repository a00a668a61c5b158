"""Damaged files of ranks are left out of a profile, counted and named, and stay."""

import random
import shutil
import struct
from pathlib import Path

import pytest
from profile_support import cli, compiled, counted

from fathometer.base.errors import FathometerError, InputError
from fathometer.lab.profile import profile, study_figures
from fathometer.lab.profile.jobs import NAME
from fathometer.lab.profile.options import ProfileOptions
from fathometer.lab.profile.profile import make_profile
from fathometer.lab.profile.rank_file import read_rank

RANKS, LOST = 3, 1


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("damaged"), "counted.c")


@pytest.fixture(scope="module")
def whole(tmp_path_factory, program):
    folder = tmp_path_factory.mktemp("whole") / "profile"
    counted(folder, [program], ranks=RANKS)
    return folder


@pytest.fixture
def copy(tmp_path, whole):
    return Path(shutil.copytree(whole, tmp_path / "profile"))


def file_of(folder, rank):
    (path,) = folder.glob(f"rank-{rank:06d}.*")
    return path


@pytest.fixture
def profile_of(monkeypatch):
    """The record of a folder, without looking at the machine."""
    monkeypatch.setattr(profile, "machine_of_runs", dict)
    return lambda folder, **options: make_profile(ProfileOptions((), folder, **options), ["fathometer"])[0]


def emptied(path):
    path.write_bytes(b"")


def cut(path, length):
    path.write_bytes(path.read_bytes()[:length])


def flipped(path, bit):
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def older(path):
    data = bytearray(path.read_bytes())
    data[8:12] = struct.pack("<I", 1)
    path.write_bytes(data)


def a_folder(path):
    path.unlink()
    path.mkdir()
    (path / "kept").touch()


def a_link_to_nothing(path):
    path.unlink()
    path.symlink_to("nowhere")


DAMAGES = {
    "empty": (emptied, "is empty"),
    "cut in its magic": (lambda path: cut(path, 5), "never begun"),
    "cut in its header": (lambda path: cut(path, 700), "is cut short"),
    "cut behind its header": (lambda path: cut(path, 4096), "is cut short"),
    "cut by a byte": (lambda path: cut(path, path.stat().st_size - 1), "is cut short"),
    "zeros": (lambda path: path.write_bytes(bytes(path.stat().st_size)), "never begun"),
    "a number of its calls": (lambda path: flipped(path, 8 * (path.stat().st_size // 2)), "do not have its sum"),
    "another version": (older, "another version"),
    "a folder": (a_folder, "is not a file"),
    "a link": (a_link_to_nothing, "no such file"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_others_are_profiled_and_the_damaged_one_is_named(copy, profile_of, damage):
    change, problem = DAMAGES[damage]
    path = file_of(copy, LOST)
    change(path)
    record = profile_of(copy)
    reasons = record["validity"]["reasons"]
    assert len(reasons) == 2
    assert "1 file of ranks cannot be read" in reasons[0]
    assert path.name in reasons[0]
    assert problem in reasons[0]
    assert f"no number includes rank {LOST}" in reasons[1]
    assert [rank["rank"] for rank in record["results"]["ranks"]] == [0, 2]
    assert record["results"]["size"] == RANKS
    assert [each["file"] for each in record["results"]["damaged"]] == [path.name]
    assert all(figure["name"].endswith("(2 of 3 ranks)") for figure in record["figures"])


def test_any_flipped_bit_of_a_file_that_was_ended_is_seen(copy):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    draw = random.Random(seed)
    path = file_of(copy, LOST)
    good = path.read_bytes()
    read_rank(path)
    for bit in [*draw.sample(range(8 * 1024), 60), *(draw.randrange(8 * len(good)) for _ in range(60))]:
        flipped(path, bit)
        with pytest.raises(InputError):
            read_rank(path)
        path.write_bytes(good)


def test_a_file_of_another_run_is_another_job(copy, tmp_path, profile_of, program):
    counted(tmp_path / "other", [program], ranks=RANKS)
    path = file_of(copy, LOST)
    path.unlink()
    shutil.copy(file_of(tmp_path / "other", LOST), copy)
    record = profile_of(copy, job=1)  # the one that began first; on a busy machine one rank may take longer than two
    assert [rank["rank"] for rank in record["results"]["ranks"]] == [0, 2]
    assert "2 MPI jobs" in record["results"]["notes"][0]
    assert f"no number includes rank {LOST}" in record["validity"]["reasons"][-1]


def test_all_files_damaged_is_one_error(copy, tmp_path, profile_of):
    for path in [path for path in copy.iterdir() if NAME.fullmatch(path.name)]:
        cut(path, 4096)
    with pytest.raises(InputError, match=r"none of 3 files of ranks can be read: rank-000000\S+ is cut short; rank-"):
        profile_of(copy)
    with pytest.raises(FathometerError, match="files of ranks cannot be read"):
        study_figures.figures_in(tmp_path)


def test_damaged_files_stay_and_are_on_terminal_and_page(copy):
    path = file_of(copy, LOST)
    emptied(path)
    done = cli(copy.parent, "--gather", "-o", copy)
    assert done.returncode == 0, done.stderr
    assert f"{path.name} is empty" in " ".join(done.stdout.split())
    assert sorted(each.name for each in copy.iterdir()) == ["profile.html", "profile.json", path.name]
    page = (copy / "profile.html").read_text()
    assert f"{path.name} is empty" in page
    assert "all numbers are of the 2 whose files can be read" in page
    assert "What 1 rank sent is not known" in page


def test_the_own_account_is_missed_where_it_is_damaged(copy, profile_of):
    (copy / "own-record.json").write_text('{"schema_version": 2,')
    record = profile_of(copy)
    assert "own account is missing" in record["validity"]["reasons"][0]


MONITORING = """# POINT TO POINT
E\t{own}\t{other}\t80 bytes\t1 msgs sent\t0,0,0,0,0,0,0,1,0
# OSC
# COLLECTIVES
D\tMPI_COMM_WORLD\tprocs: 0,1,2
O2A\t{own}\t0 bytes\t0 msgs sent
A2O\t{own}\t0 bytes\t0 msgs sent
A2A\t{own}\t160 bytes\t1 msgs sent
"""  # of Open MPI 4.1
MONITORED = {
    "empty": (emptied, "is empty"),
    "cut": (lambda path: cut(path, 150), "is cut short"),
    "cut by a letter": (lambda path: cut(path, path.stat().st_size - 1), "is cut short"),
    "no such file": (lambda path: path.write_text("2 3\n"), "is no file of"),
    "of another rank": (lambda path: path.write_text(path.read_text().replace("E\t1", "E\t2")), "line 2: is damaged"),
    "of another run": (lambda path: path.write_text(path.read_text().replace("0,1,2\n", "0,1,2,3\n")), "another run"),
    "a foreign line": (lambda path: path.write_text(path.read_text().replace("# OSC", "OSC")), "line 3: is damaged"),
    "a folder": (a_folder, "is not a file"),
}


@pytest.mark.parametrize("damage", MONITORED)
def test_damaged_files_of_open_mpis_monitoring_are_left_out(tmp_path, profile_of, damage):
    for rank in range(RANKS):
        (tmp_path / f"monitoring.{rank}.prof").write_text(MONITORING.format(own=rank, other=(rank + 1) % RANKS))
    change, problem = MONITORED[damage]
    change(tmp_path / f"monitoring.{LOST}.prof")
    record = profile_of(tmp_path, profiler="ompi")
    (told,) = record["results"]["damaged"]
    assert told["file"] == f"monitoring.{LOST}.prof"
    assert problem in told["problem"]
    assert f"monitoring.{LOST}.prof {told['problem']}" in record["validity"]["reasons"][0]
    assert [rank["rank"] for rank in record["results"]["ranks"]] == [0, 2]
    assert sum(record["results"]["matrix"]["messages"]["bytes"]) == 2 * 80
