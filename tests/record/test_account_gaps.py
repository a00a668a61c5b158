"""The account has no gap where a run may wait: no file is opened, made or removed and nothing is imported outside of a
phase. No clock takes part: the system reports each such event."""

import sys
from pathlib import Path

import account_gaps_program
import time_survey_support
from account_gaps_program import GAP
from cli_support import MIGRATE, MODEL, finish, inputs, start, survey
from elastic_surveys import elastic_survey


def gaps(*words):
    """Of a command in a process of its own."""
    done = finish(start(sys.executable, account_gaps_program.__file__, *words))
    assert done.code == 0, done.err
    return [line for line in done.out.splitlines() if line.startswith(GAP)]


def test_a_gap_is_seen(tmp_path):
    program = Path(account_gaps_program.__file__).read_text().replace("main(sys.argv[1:])", "work()")
    work = f"""
def work():
    folder = Path({str(tmp_path)!r})
    with ledger.Ledger():
        with ledger.phase("some work"):
            (folder / "in a phase").write_text("")
            import wave
        (folder / "in none").write_text("")
        import colorsys
    return 0
"""
    (tmp_path / "program.py").write_text(
        program.replace('if __name__ == "__main__":', work + '\nif __name__ == "__main__":')
    )
    done = finish(start(sys.executable, "-W", "ignore", tmp_path / "program.py"))
    seen = [line for line in done.out.splitlines() if line.startswith(GAP)]
    assert "in none" in seen[0]
    assert "colorsys" in seen[1]
    assert not [line for line in seen if "in a phase" in line or "import wave" in line]


def test_model(tmp_path):
    inputs(tmp_path)
    assert gaps("model", survey(tmp_path, MODEL), "--trace", tmp_path / "trace.json") == []


def test_migrate(tmp_path):
    inputs(tmp_path)
    path = survey(tmp_path, MIGRATE)
    assert gaps("migrate", path) == []
    assert gaps("migrate", path, "--resume") == []
    assert gaps("migrate", path, "--overwrite", "--json") == []


def test_elastic_waves(tmp_path):
    assert gaps("model", elastic_survey(tmp_path)) == []


def test_migrate_time(tmp_path):
    time_survey_support.record_noise(tmp_path)
    path = survey(tmp_path, time_survey_support.PATCH)
    assert gaps("migrate-time", path) == []


def test_ocean(tmp_path):
    assert gaps("ocean", "--demo", "--quick", "--output", tmp_path) == []
    assert gaps("ocean", tmp_path / "demo.toml", "--resume") == []


def test_reactive(tmp_path):
    assert gaps("reactive", "--demo", "--quick", "--output", tmp_path) == []
