"""However a program ends, what it had counted is there."""

import pytest
from profile_support import by_rank, compiled, counted
from support import FULL

ENDS = {
    "abort": "aborted",
    "exit": "left without MPI_Finalize",
    "_exit": "ended suddenly",
    "kill": "ended suddenly",
    "segv": "ended suddenly",
    "term": "ended suddenly",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("ends"), "counted.c")


FEW = ("abort", "exit", "kill")  # the others with the large sizes


@pytest.mark.parametrize("end", [pytest.param(end, marks=() if end in FEW else pytest.mark.verify) for end in ENDS])
def test_all_calls_before_the_end_are_counted(tmp_path, program, end):
    if end not in FEW and not FULL:
        pytest.skip("with make verify")
    (job,) = counted(tmp_path / "profile", [program, end], code=None)
    counts = by_rank(job)
    # The launcher may end the other rank a little earlier: after the barrier that comes last.
    ended = [place for place, rank in enumerate(job.ranks) if rank.end == ENDS[end]]
    assert ended
    for place in ended:
        assert counts[place]["MPI_Allreduce"] == (7, 56, 56)
        assert counts[place]["MPI_Win_free"] == (1, 0, 0)
    if end == "abort":
        assert job.ranks[ended[0]].code == 3


def test_a_call_that_never_ends_is_named(tmp_path, program):
    (job,) = counted(tmp_path / "profile", [program, "receive"], code=None)
    assert job.ranks[0].inside == "MPI_Recv"
    assert by_rank(job)[0]["MPI_Recv"] == (1, 0, 64)  # the one under way has not ended
