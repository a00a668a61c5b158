"""The clock as a factor: set during a run, as it was afterwards, refused with a reason."""

import sys

import pytest
from cli_support import run as in_process

from fathometer.base.errors import InputError
from fathometer.lab.studies.clock import CPUS, check_clock, clock_set, restore


@pytest.fixture
def cpus(tmp_path):
    """Two cpus of 0.8 to 3 GHz."""
    for number in (0, 1):
        folder = tmp_path / "cpu" / f"cpu{number}" / "cpufreq"
        folder.mkdir(parents=True)
        values = {"cpuinfo_min": 800000, "cpuinfo_max": 3000000, "scaling_min": 800000, "scaling_max": 2900000}
        for name, value in values.items():
            (folder / f"{name}_freq").write_text(f"{value}\n")
    return tmp_path / "cpu"


def limits(cpus):
    return [
        tuple(int((cpus / f"cpu{number}" / "cpufreq" / f"scaling_{word}_freq").read_text()) for word in ("min", "max"))
        for number in (0, 1)
    ]


def test_it_is_set_and_set_back(cpus, tmp_path):
    state = tmp_path / "clock.json"
    with clock_set(2.4e9, state, cpus):
        assert limits(cpus) == [(2400000, 2400000)] * 2
        assert state.exists()
    assert limits(cpus) == [(800000, 2900000)] * 2
    assert not state.exists()
    with clock_set(None, state, cpus):
        assert limits(cpus) == [(800000, 2900000)] * 2


def test_what_a_killed_study_has_left_is_set_back(cpus, tmp_path):
    state = tmp_path / "clock.json"
    inside = clock_set(1e9, state, cpus)
    inside.__enter__()
    assert limits(cpus) == [(1000000, 1000000)] * 2
    restore(state)
    assert limits(cpus) == [(800000, 2900000)] * 2
    restore(state)  # nothing is left to do


@pytest.mark.parametrize(
    ("hertz", "words"),
    [(4e9, "found 4e.09 Hz; allowed: 8e.08 to 3e.09"), ("fast", 'found "fast"'), (0, "found 0"), (True, "found True")],
)
def test_what_no_clock_is(cpus, hertz, words):
    with pytest.raises(InputError, match=words):
        check_clock(hertz, cpus)


def test_where_there_is_no_clock_to_set(tmp_path):
    with pytest.raises(InputError, match="this system lets nobody set the clock"):
        check_clock(2e9, tmp_path)


@pytest.mark.skipif(bool(list(CPUS.glob("cpu[0-9]*/cpufreq"))), reason="this system's clock can be set")
def test_a_study_is_refused_before_its_first_run(tmp_path, capsys):
    path = tmp_path / "clock.toml"
    path.write_text(
        f'title = "t"\n[application]\ncommand = ["{sys.executable}", "-V"]\n[factors]\nclock = [1e9, 2e9]\n'
        '[runs]\nclock = "{clock}"\n'
    )
    done = in_process(capsys, "study", "run", path)
    assert done.code == 2
    assert "[runs] clock: found 1e+09 Hz" in done.err
    assert "lets nobody set the clock" in done.err
