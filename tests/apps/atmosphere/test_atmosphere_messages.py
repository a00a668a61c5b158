"""Messages of a step, as the program counts them beforehand, are those that a profile counts."""

import json

import pytest
from atmosphere_support import wave_values
from cli_support import call
from input_values import text_of
from profile_support import require, run_environment

STEPS = (2, 5)


def functions(folder, steps, ranks, protocol):
    path = folder / f"{steps}.toml"
    keys = {
        "time": {"end": 1.0, "most_steps": steps},
        "output": {"directory": f"out-{steps}", "course_steps": 1000},
        "parallel": {"protocol": protocol},
    }
    path.write_text(text_of(wave_values(**keys)))
    environment = {name: value for name, value in run_environment().items() if name.startswith("OMPI_")}
    words = ("--ranks", ranks, "--threads", 1, "--profile", folder / f"counted-{steps}", "--quiet")
    done = call("atmosphere", path, *words, environment=environment)
    assert done.code == 0, done.err
    found = json.loads((folder / f"counted-{steps}" / "profile.json").read_text())["results"]["functions"]
    return {row["name"]: (row["calls"], row["bytes_out"]) for row in found}, folder / f"out-{steps}" / "run.json"


@pytest.mark.parametrize(("ranks", "protocol"), [(3, "pairwise"), (2, "alltoallw"), (4, "alltoallv")])
def test_they_are_what_a_profile_counts(ranks, protocol, tmp_path):
    require("openmpi")
    (before, _), (after, record) = (functions(tmp_path, steps, ranks, protocol) for steps in STEPS)
    rows = json.loads(record.read_text())["results"]["messages_of_a_step"]
    assert [row["what"] for row in rows] == ["to latitudes", "to wavenumbers"]
    [name] = {row["function"] for row in rows}
    steps = STEPS[1] - STEPS[0]
    calls, sent = (after[name][n] - before[name][n] for n in (0, 1))
    assert calls == steps * ranks * sum(row["calls"] for row in rows)
    # Collective calls are handed what a rank keeps, too: all of T + 1 = 22 m, 32 latitudes, columns of 6 levels.
    whole = 16 * 22 * 32 * (5 * 6 + 3 + 6 * 6 + 1)
    moved = sum(row["bytes"] for row in rows)
    assert sent == steps * (moved if protocol == "pairwise" else whole)
    if 22 % ranks == 0 and 16 % ranks == 0:
        assert moved == whole * (1 - 1 / ranks)
