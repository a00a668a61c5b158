"""Calls and bytes of programs whose calls are known, counted by hand: C, Fortran's three interfaces, mpi4py."""

import sys
from pathlib import Path

import pytest
from profile_support import MPIS, PROGRAMS, by_rank, compiled, counted, require

from fathometer.lab.profile.results import results_of

# What every rank of counted.c does on two ranks, and what only one of them does: calls, bytes out, bytes in.
BOTH = {
    "MPI_Isend": (1, 4000, 0),
    "MPI_Irecv": (1, 0, 4000),
    "MPI_Send_init": (1, 0, 0),
    "MPI_Recv_init": (1, 0, 0),
    "MPI_Startall": (5, 5 * 24, 5 * 24),
    "MPI_Waitall": (6, 0, 0),
    "MPI_Request_free": (2, 0, 0),
    "MPI_Allreduce": (7, 7 * 8, 7 * 8),
    "MPI_Allgather": (1, 16, 2 * 16),
    "MPI_Alltoall": (1, 2 * 12, 2 * 12),
    "MPI_Barrier": (2, 0, 0),
    "MPI_Comm_split": (1, 0, 0),
    "MPI_Comm_set_name": (1, 0, 0),
    "MPI_Comm_free": (1, 0, 0),
    "MPI_Comm_rank": (1, 0, 0),
    "MPI_Comm_size": (1, 0, 0),
    "MPI_Win_create": (1, 0, 0),
    "MPI_Win_fence": (3, 0, 0),
    "MPI_Win_free": (1, 0, 0),
    "MPI_Put": (1, 128, 0),
    "MPI_Get": (1, 0, 64),
    "MPI_File_open": (1, 0, 0),
    "MPI_File_write_at_all": (1, 256, 0),
    "MPI_File_read_at": (1, 0, 256),
    "MPI_File_close": (1, 0, 0),
    "MPI_Init": (1, 0, 0),
    "MPI_Finalize": (1, 0, 0),
}
FIRST = {
    "MPI_Send": (11, 10 * 800, 0),  # one of them to MPI_PROC_NULL
    "MPI_Recv": (1, 0, 64),
    "MPI_Bcast": (1, 4096, 0),
    "MPI_Gather": (1, 40, 2 * 40),
}
SECOND = {
    "MPI_Send": (2, 64, 0),
    "MPI_Recv": (10, 0, 10 * 800),
    "MPI_Bcast": (1, 0, 4096),
    "MPI_Gather": (1, 40, 0),
}


@pytest.fixture(scope="module", params=MPIS)
def c_job(request, tmp_path_factory):
    """counted.c on two ranks with everything that is counted on request, but for waiting."""
    folder = tmp_path_factory.mktemp("counted")
    program = compiled(folder, "counted.c", request.param)
    (job,) = counted(
        folder / "profile",
        [program, "finalize", folder / "file.bin"],
        request.param,
        options=("communicators", "sites", "counters"),
    )
    return job


def test_every_call_and_byte_of_a_program_in_c(c_job):
    assert by_rank(c_job) == [BOTH | FIRST, BOTH | SECOND]
    assert [rank.end for rank in c_job.ranks] == ["finalized"] * 2


def test_messages_between_ranks_are_those_of_the_world(c_job):
    # The message in the turned communicator goes to its rank 1, which is rank 0 of the world.
    matrix = results_of(c_job)["matrix"]
    assert matrix["messages"] == {
        "rank": [0, 1],
        "peer": [1, 0],
        "messages": [10 + 1 + 5, 1 + 5 + 1],
        "bytes": [8000 + 4000 + 5 * 24, 4000 + 5 * 24 + 64],
    }
    assert matrix["puts"] == {"rank": [0, 1], "peer": [1, 0], "messages": [1, 1], "bytes": [128, 128]}
    assert matrix["gets"] == {"rank": [0, 1], "peer": [1, 0], "messages": [1, 1], "bytes": [64, 64]}


def test_sizes_are_by_powers_of_two(c_job):
    sizes = {(row["name"], row["least_bytes"]): row["calls"] for row in results_of(c_job)["sizes"]}
    assert sizes["MPI_Send", 512] == 10  # 800 B
    assert sum(calls for (name, _), calls in sizes.items() if name == "MPI_Send") == 11  # to MPI_PROC_NULL go no bytes
    assert sizes["MPI_Send", 64] == 1  # 64 B: from 64 to 127
    assert sizes["MPI_Bcast", 4096] == 2
    assert sizes["MPI_Isend", 2048] == 2  # 4000 B


def test_sums_over_time_are_those_of_the_matrix(c_job):
    results = results_of(c_job)
    windows, matrix = results["windows"], results["matrix"]
    moved = [sum(matrix[kind]["bytes"]) for kind in ("messages", "puts", "gets")]
    assert sum(windows["bytes"]) == pytest.approx(sum(moved))
    assert sum(windows["messages"]) == pytest.approx(sum(sum(one["messages"]) for one in matrix.values()))
    # No rank is in MPI for longer than a window lasts; MPI_Init and MPI_Finalize are outside.
    assert max(windows["mpi_seconds"]) <= 2 * windows["width_seconds"] * 1.001
    assert sum(windows["mpi_seconds"]) == pytest.approx(sum(rank["mpi_seconds"] for rank in results["ranks"]), rel=0.2)
    assert sum(windows["calls"]) == pytest.approx(sum(row["calls"] for row in results["functions"]))


def test_communicators_have_their_names_and_sizes(c_job):
    rows = {row["name"]: row for row in results_of(c_job)["communicators"]}
    assert {"MPI_COMM_WORLD", "turned"} <= rows.keys()
    # One message and its receive, and on both ranks the name; its end is a call for which it is none any more.
    assert rows["turned"]["calls"] == 2 + 2
    assert (rows["turned"]["size"], rows["turned"]["bytes_out"]) == (2, 64)


def test_call_sites_are_in_the_program(c_job):
    sites = results_of(c_job)["sites"]
    assert {Path(site["module"]).name for site in sites} == {f"counted-{_flavour(c_job)}"}
    # MPI_Send stands at three places in the program; optimisation may join none of them.
    assert sorted(site["calls"] for site in sites if site["name"] == "MPI_Send") == [1, 2, 10]


@pytest.mark.parametrize("mpi", MPIS)
def test_scattered_sums_between_groups_have_the_counts_of_the_own_group(mpi, tmp_path):
    program = compiled(tmp_path, "between.c", mpi)
    (job,) = counted(tmp_path / "profile", [program], mpi, ranks=3)
    rows = by_rank(job)
    assert [rank["MPI_Reduce_scatter"] for rank in rows] == [(1, 48, 48), (1, 48, 16), (1, 48, 32)]
    assert [rank["MPI_Reduce_scatter_block"] for rank in rows] == [(1, 48, 48), (1, 48, 24), (1, 48, 24)]


def _flavour(job):
    return "openmpi" if "Open MPI" in job.ranks[0].library else "mpich"


def test_files_of_mpi_io(c_job):
    (file,) = results_of(c_job)["files"]
    assert file["name"].endswith("file.bin")
    assert (file["calls"], file["written_bytes"], file["read_bytes"]) == (2 * 4, 2 * 256, 2 * 256)


def test_counters_are_there_or_refused_with_a_reason(c_job):
    for rank in results_of(c_job)["ranks"]:
        system = rank["system"]
        assert (system["counters"] is None) == (system["counters_refused"] != 0)
        assert system["counters"] is None or system["counters"]["instructions"] > 0


FORTRAN = {
    "MPI_Isend": (1, 40, 0),
    "MPI_Irecv": (1, 0, 40),
    "MPI_Waitall": (1, 0, 0),
    "MPI_Allreduce": (3, 3 * 16, 3 * 16),
    "MPI_Barrier": (1, 0, 0),
    "MPI_Comm_rank": (1, 0, 0),
    "MPI_Comm_size": (1, 0, 0),
    "MPI_Init": (1, 0, 0),
    "MPI_Finalize": (1, 0, 0),
}


@pytest.mark.parametrize("mpi", MPIS)
@pytest.mark.parametrize("interface", [1, 2, 3], ids=["mpif.h", "use mpi", "mpi_f08"])
def test_every_call_and_byte_of_a_program_in_fortran(tmp_path, mpi, interface):
    program = compiled(tmp_path, "counted.F90", mpi, f"-DINTERFACE={interface}")
    (job,) = counted(tmp_path / "profile", [program], mpi)
    assert by_rank(job) == [
        FORTRAN | {"MPI_Send": (4, 4 * 800, 0), "MPI_Bcast": (1, 8000, 0)},
        FORTRAN | {"MPI_Recv": (4, 0, 4 * 800), "MPI_Bcast": (1, 0, 8000)},
    ]


def test_every_call_and_byte_of_mpi4py(tmp_path):
    require("openmpi")
    (job,) = counted(tmp_path / "profile", [sys.executable, PROGRAMS / "counted.py"])
    first, second = by_rank(job)
    moving = ("MPI_Send", "MPI_Recv", "MPI_Mprobe", "MPI_Mrecv", "MPI_Allreduce", "MPI_Bcast", "MPI_Barrier")
    pickled = first["MPI_Send"][1] - 4 * 800
    assert 0 < pickled < 100
    assert {name: first[name] for name in moving if name in first} == {
        "MPI_Send": (5, 4 * 800 + pickled, 0),
        "MPI_Allreduce": (3, 48, 48),
        "MPI_Bcast": (1, 8000, 0),
        "MPI_Barrier": (1, 0, 0),
    }
    assert {name: second[name] for name in moving if name in second} == {
        "MPI_Recv": (4, 0, 4 * 800),
        "MPI_Mprobe": (1, 0, 0),
        "MPI_Mrecv": (1, 0, pickled),
        "MPI_Allreduce": (3, 48, 48),
        "MPI_Bcast": (1, 0, 8000),
        "MPI_Barrier": (1, 0, 0),
    }


@pytest.mark.parametrize(("threads", "generations"), [(6, 1), (3, 40)], ids=["at once", "one after the other"])
def test_threads_lose_no_call(tmp_path, threads, generations):
    program = compiled(tmp_path, "threads.c")
    (job,) = counted(tmp_path / "profile", [program, threads, generations, 50], ranks=1)
    total = threads * generations * 50
    (rank,) = by_rank(job)
    assert rank["MPI_Sendrecv"] == (total, 40 * total, 40 * total)
    assert job.ranks[0].threads <= threads + 1  # tables of threads that have ended serve those to come
    assert results_of(job)["matrix"]["messages"]["messages"] == [total]
    assert job.ranks[0].dropped == 0
    assert job.ranks[0].thread_level == "multiple"


def test_waiting_is_told_from_transfer_on_request(tmp_path):
    program = compiled(tmp_path, "counted.c")
    (job,) = counted(tmp_path / "profile", [program], options=("wait",))
    rows = {row["name"]: row for row in results_of(job)["functions"]}
    assert rows["MPI_Allreduce"]["waiting_seconds"] > 0
    assert rows["MPI_Send"]["waiting_seconds"] == 0
    assert rows["MPI_Barrier"]["calls"] == 4  # those before the calls are not the program's
    assert all(row["waiting_seconds"] < row["seconds"] for row in rows.values() if row["waiting_seconds"])


def test_a_solver_is_profiled_without_building_it_anew(tmp_path):
    program = compiled(tmp_path, "cg.c")
    (job,) = counted(tmp_path / "profile", [program, 1000, 30], ranks=3)
    for place, rank in enumerate(by_rank(job)):
        sides = 2 if place == 1 else 1
        assert rank["MPI_Allreduce"] == (61, 61 * 8, 61 * 8)
        assert rank["MPI_Sendrecv"] == (60, sides * 30 * 8, sides * 30 * 8)
    matrix = results_of(job)["matrix"]["messages"]
    pairs = list(zip(matrix["rank"], matrix["peer"], matrix["messages"], matrix["bytes"], strict=True))
    assert sorted(pairs) == [(0, 1, 30, 240), (1, 0, 30, 240), (1, 2, 30, 240), (2, 1, 30, 240)]
