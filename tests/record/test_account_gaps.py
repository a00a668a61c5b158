"""The account has no gap where a run may wait: no file is opened, locked, made or removed, nothing is imported, and no
message is sent outside of a phase. No clock takes part: Python reports each such event."""

import sys
from pathlib import Path

import account_gaps_program
import time_survey_support
from account_gaps_program import GAP
from cli_support import MIGRATE, MODEL, NX, finish, inputs, mpirun, start, survey
from elastic_surveys import elastic_survey
from kill_support import SAMPLES, shots_into
from segy_support import spoil


def gaps(*words, ranks=1, code=0):
    """Of a command on so many ranks."""
    launcher = mpirun(ranks) if ranks > 1 else []
    done = finish(start(*launcher, sys.executable, account_gaps_program.__file__, *words))
    assert done.code == code, done.err
    return [line for line in done.out.splitlines() if GAP in line]


def test_a_gap_is_seen(tmp_path):
    work = f"""
def work():
    folder = Path({str(tmp_path)!r})
    with ledger.Ledger():
        with ledger.phase("some work"):
            (folder / "in a phase").write_text("")
            import wave
        (folder / "in none").write_text("")
        import colorsys
        with ledger.communication():
            pass
        with ledger.communication("messages"):
            pass
    return 0


if __name__ == "__main__":"""
    program = Path(account_gaps_program.__file__).read_text().replace("main(sys.argv[1:])", "work()")
    (tmp_path / "program.py").write_text(program.replace('if __name__ == "__main__":', work))
    seen = finish(start(sys.executable, tmp_path / "program.py")).out.splitlines()
    assert "in none" in seen[0]
    assert "colorsys" in seen[1]
    assert "communication" in seen[-1]
    assert "communication" not in seen[-2]
    assert not [line for line in seen if "in a phase" in line or "wave" in line]


def test_model(tmp_path):
    inputs(tmp_path)
    assert gaps("model", survey(tmp_path, MODEL), "--trace", tmp_path / "trace.json", ranks=2) == []


def test_migrate(tmp_path):
    inputs(tmp_path)
    path = survey(tmp_path, MIGRATE)
    assert gaps("migrate", path) == []
    assert gaps("migrate", path, "--resume") == []
    assert gaps("migrate", path, "--overwrite", "--json") == []


def test_a_shot_that_fails(tmp_path):
    shots_into(tmp_path, 3)
    spoil(tmp_path / "recorded.segy", NX, SAMPLES)  # the second one
    assert gaps("migrate", survey(tmp_path, MIGRATE), "--share", "job", ranks=2, code=1) == []


def test_elastic_waves(tmp_path):
    assert gaps("model", elastic_survey(tmp_path), ranks=2) == []


def test_migrate_time(tmp_path):
    time_survey_support.record_noise(tmp_path)
    path = survey(tmp_path, time_survey_support.PATCH)
    assert gaps("migrate-time", path, "--share", "job", ranks=2) == []


def test_demo(tmp_path):
    assert gaps("demo", "--quick", "--output", tmp_path) == []


def test_ocean(tmp_path):
    assert gaps("ocean", "--demo", "--quick", "--output", tmp_path) == []
    assert gaps("ocean", tmp_path / "demo.toml", "--resume", ranks=2) == []


def test_reactive(tmp_path):
    assert gaps("reactive", "--demo", "--quick", "--output", tmp_path) == []
