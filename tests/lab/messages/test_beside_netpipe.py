"""The benchmark that compares `fathometer messages` with NetPIPE."""

import subprocess

import pytest

from benchmarks import messages


def test_without_netpipe_it_is_left_out_with_the_reason(monkeypatch):
    monkeypatch.setattr(messages, "NETPIPE", "no-such-program")
    table = messages.messages(2, True)
    assert table.rows == ()
    assert table.note == "Left out: found no no-such-program (Debian: apt-get install netpipe-openmpi)."


def test_its_seconds_come_from_its_rate(tmp_path, monkeypatch):
    """A megabit is 2^20 bits there; the seconds that it prints, in the last column, have two digits."""

    def run(command, **options):
        length = int(command[command.index("-l") + 1])
        (tmp_path / "np.out").write_text(f"{length:8d} {8 * length / 0.4199e-6 / 2**20:.6f}   0.00000042\n")

    monkeypatch.setattr(subprocess, "run", run)
    found = messages.netpipe(tmp_path)
    assert found == {length: pytest.approx(0.4199e-6, rel=1e-6) for length in messages.LENGTHS}


def test_medians_have_intervals_from_six_rounds_on():
    for rounds, ends in ((5, ""), (6, " (2.000 to 2.000)")):
        theirs, ours = dict.fromkeys(range(rounds), 1e-6), dict.fromkeys(range(rounds), 2e-6)
        assert messages._beside(theirs, ours)[1:] == (f"2.000{ends}", "2.000", f"2.000{ends}")
