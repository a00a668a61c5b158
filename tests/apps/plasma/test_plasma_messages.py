"""Messages of a stage, as the program counts them beforehand, are those that a profile counts."""

import json

import pytest
from cli_support import call
from input_values import text_of
from plasma_inputs import box_values
from profile_support import require, run_environment

STEPS = (2, 4)


def functions(folder, steps, ranks, protocol, overlap):
    path = folder / f"{steps}.toml"
    keys = {
        "time": {"end": 1.0, "step": 0.02, "most_steps": steps},
        "output": {"directory": f"out-{steps}", "course_steps": 1000},
        "parallel": {"mode_ranks": 2, "protocol": protocol, "overlap": overlap},
    }
    path.write_text(text_of(box_values(**keys)))
    environment = {name: value for name, value in run_environment().items() if name.startswith("OMPI_")}
    words = ("--ranks", ranks, "--threads", 1, "--profile", folder / f"counted-{steps}", "--quiet")
    done = call("plasma", path, *words, environment=environment)
    assert done.code == 0, done.err
    found = json.loads((folder / f"counted-{steps}" / "profile.json").read_text())["results"]["functions"]
    return {row["name"]: (row["calls"], row["bytes_out"]) for row in found}, folder / f"out-{steps}" / "run.json"


@pytest.mark.parametrize(
    ("ranks", "protocol", "overlap"),
    [(6, "pairwise", False), (4, "alltoallw", False), (4, "alltoallv", True)],
)
def test_they_are_what_a_profile_counts(ranks, protocol, overlap, tmp_path):
    require("openmpi")
    runs = [functions(tmp_path, steps, ranks, protocol, overlap) for steps in STEPS]
    results = json.loads(runs[1][1].read_text())["results"]
    stages = results["stages"] * (STEPS[1] - STEPS[0])
    rows = [row for row in results["messages_of_a_stage"] if row["what"].startswith("transposes")]
    assert len(rows) == 2
    [name] = {row["function"] for row in rows}
    counted = name.replace("MPI_A", "MPI_Ia") if overlap else name
    more = [runs[1][0][counted][n] - runs[0][0].get(counted, (0, 0))[n] for n in (0, 1)]
    assert more[0] == stages * ranks * sum(row["calls"] for row in rows)
    # Collective calls are handed what a rank keeps, too.
    kept = 0 if protocol == "pairwise" else 2 * 2 * 16 * 4 * 12 * 8 * 9 - sum(row["bytes"] for row in rows)
    assert more[1] == stages * (kept + sum(row["bytes"] for row in rows))
    gathers = [row for row in results["messages_of_a_stage"] if row["function"] == "MPI_Allgatherv"]
    assert sum(row["calls"] for row in gathers) == 2
