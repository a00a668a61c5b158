"""A migration that is profiled: its own account, and what was counted of it from outside."""

import json

import pytest
from cli_support import MIGRATE, call, inputs, survey
from profile_support import require, run_environment


@pytest.fixture(scope="module")
def migrated(tmp_path_factory):
    require("openmpi")
    folder = tmp_path_factory.mktemp("migrated")
    inputs(folder)
    path = survey(folder, MIGRATE)
    environment = {name: value for name, value in run_environment().items() if name.startswith("OMPI_")}
    words = ("--ranks", 2, "--threads", 1, "--profile", folder / "counted", "--quiet")
    done = call("migrate", path, *words, environment=environment)
    assert done.code == 0, done.err
    return folder


def test_bytes_of_halos_are_those_of_the_own_account(migrated):
    results = json.loads((migrated / "counted" / "profile.json").read_text())["results"]
    halos = results["own_account"]["halo_bytes"]
    ledger = json.loads((migrated / "out" / "run.json").read_text())["ledger"]
    assert halos == sum(entry["total_bytes"] for entry in ledger["phases"] if entry["phase"] == "halo exchange") > 0
    started = next(row for row in results["functions"] if row["name"] == "MPI_Startall")
    assert started["bytes_out"] == pytest.approx(halos, rel=0.01)
    # Beside halos little passes from rank to rank here: names and settings.
    assert sum(results["matrix"]["messages"]["bytes"]) == pytest.approx(halos, rel=0.01)


def test_both_accounts_are_on_one_page(migrated):
    page = (migrated / "counted" / "profile.html").read_text()
    assert "own account beside the profile" in page.replace("&#39;", "'")
    assert not list((migrated / "counted").glob("own-record.json"))


def test_ranks_that_are_started_already_are_told_how_to_be_counted(tmp_path):
    inputs(tmp_path)
    words = ("migrate", survey(tmp_path, MIGRATE), "--profile", tmp_path / "counted")
    done = call(*words, environment={"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"})
    assert done.code == 2
    assert "fathometer profile -- COMMAND around the launcher" in done.err
