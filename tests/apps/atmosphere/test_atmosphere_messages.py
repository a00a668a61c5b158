"""Messages of a step, as the program counts them beforehand, are those that a profile counts."""

import json

import pytest
from atmosphere_support import wave_values
from cli_support import call
from input_values import text_of
from profile_support import require, run_environment

STEPS = (2, 5)


DYE = {"name": "dye", "shape": "uniform"}


def functions(folder, steps, ranks, protocol, **more):
    path = folder / f"{steps}.toml"
    keys = {
        "time": {"end": 1.0, "most_steps": steps},
        "output": {"directory": f"out-{steps}", "course_steps": 1000},
        "parallel": {"protocol": protocol},
    } | more
    path.write_text(text_of(wave_values(**keys)))
    environment = {name: value for name, value in run_environment().items() if name.startswith("OMPI_")}
    words = ("--ranks", ranks, "--threads", 1, "--profile", folder / f"counted-{steps}", "--quiet")
    done = call("atmosphere", path, *words, environment=environment)
    assert done.code == 0, done.err
    found = json.loads((folder / f"counted-{steps}" / "profile.json").read_text())["results"]["functions"]
    return {row["name"]: (row["calls"], row["bytes_out"]) for row in found}, folder / f"out-{steps}" / "run.json"


@pytest.mark.parametrize(
    ("ranks", "protocol", "tracers"), [(3, "pairwise", []), (2, "alltoallw", []), (4, "alltoallv", [DYE])]
)
def test_they_are_what_a_profile_counts(ranks, protocol, tracers, tmp_path):
    require("openmpi")
    (before, _), (after, record) = (functions(tmp_path, steps, ranks, protocol, tracers=tracers) for steps in STEPS)
    rows = json.loads(record.read_text())["results"]["messages_of_a_step"]
    if tracers:
        halos = rows.pop()
        sent = [(STEPS[1] - STEPS[0]) * number for number in (halos["messages"], halos["bytes"])]
        assert sent == [after["MPI_Isend"][n] - before["MPI_Isend"][n] for n in (0, 1)]
        # Two pairs on either side of blocks of four, 64 longitudes, 6 levels: six halos, a neighbour each.
        assert (halos["what"], halos["messages"]) == ("halos of tracers", 6)
        assert halos["bytes"] == 6 * 2 * 2 * 64 * 8 * (3 * 6 - 1 + 6)
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


@pytest.mark.parametrize(
    ("layout", "balance", "exchange"),
    [("pairs", "all", "all-to-all"), ("blocks", "none", "point-to-point"), ("blocks", "partner", "point-to-point")],
)
def test_columns_that_move_are_what_a_profile_counts(layout, balance, exchange, tmp_path):
    require("openmpi")
    ranks, protocol = 4, "pairwise" if exchange == "all-to-all" else "alltoallv"
    physics = {"forcing": "held-suarez", "layout": layout, "balance": balance, "exchange": exchange}
    (before, _), (after, record) = (functions(tmp_path, steps, ranks, protocol, physics=physics) for steps in STEPS)
    there, back = json.loads(record.read_text())["results"]["messages_of_a_step"][2:]
    name = {"all-to-all": "MPI_Alltoallv", "point-to-point": "MPI_Isend"}[exchange]
    assert {there["function"], back["function"]} == {name}
    steps = STEPS[1] - STEPS[0]
    calls, sent = (after[name][n] - before[name][n] for n in (0, 1))
    assert calls == steps * ranks * (there["calls"] + back["calls"])
    # 6 levels: winds, temperature and surface pressure one way, forcing and four results the other.
    whole, moved = 32 * 64 * 8 * (19 + 22), there["bytes"] + back["bytes"]
    assert sent == steps * (whole if exchange == "all-to-all" else moved)
    if balance == "all":
        assert moved == pytest.approx(whole * 3 / 4, rel=0.01)
