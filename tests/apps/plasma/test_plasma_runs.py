"""Runs of a plasma as users start them: the same bits on any ranks and in parts, files, page, cases."""

import numpy as np
import pytest
from cli_support import run
from plasma_inputs import box_values, linear_values
from restartable_runs import begin, record, results, started

from fathometer.apps.plasma.cases import CASES
from fathometer.storage.datasets.reader import DatasetFile


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return started("plasma", begin(tmp_path_factory.mktemp("plasma") / "whole", box_values()))


@pytest.fixture(scope="module")
def growing(tmp_path_factory):
    return started(
        "plasma", begin(tmp_path_factory.mktemp("plasma") / "linear", linear_values(output={"course_steps": 5}))
    )


def test_what_is_written(whole):
    found = record(whole)["results"]
    assert found["field_times_R_over_v"] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert [f"fields/{name}" for name in results(whole)] == found["field_files"]
    with DatasetFile(whole / "out" / found["field_files"][-1]) as file:
        phi = file.read("phi")
        assert phi.shape == (2, 4, 8, 9)
        assert np.isfinite(phi).all()
        assert np.abs(phi).max() > 0
        assert np.allclose(file.read("ky"), [0, 0.2, 0.4, 0.6])
    # Zonal modes are those of real values.
    zonal = phi[0, 0] + 1j * phi[1, 0]
    assert np.allclose(zonal, np.conj(zonal[:, ::-1]), atol=1e-12 * np.abs(phi).max())
    assert found["time_R_over_v"] == 1.0
    assert "time_seconds" not in found
    assert {"free_energy", "phi_zonal", "heat_flux_ions", "particle_flux_ions"} <= found["course"][-1].keys()
    assert (whole / "out/plasma.png").stat().st_size > 10_000


def test_the_free_energy_is_accounted_for(whole):
    [entry] = record(whole)["results"]["balance"]
    assert entry["quantity"] == "free energy"
    assert entry["error"] < 0.02
    assert entry["drive"] > 0 > entry["upwind"]


@pytest.mark.parametrize(("values", "reference"), [(box_values, "whole"), (linear_values, "growing")])
def test_parts_on_other_ranks_have_the_bits_of_one(values, reference, request, tmp_path):
    before = request.getfixturevalue(reference)
    changes = {} if values is box_values else {"output": {"course_steps": 5}}
    folder = begin(tmp_path / "parts", values(**changes))
    started("plasma", folder, "--ranks", "2", "--set", "time.most_steps=7", "--set", "parallel.overlap=true")
    started("plasma", folder, "--ranks", "3", "--resume", "--set", "parallel.protocol=alltoallw")
    mine, theirs = results(folder), results(before)
    assert mine[list(mine)[-1]] == theirs[list(theirs)[-1]]
    last = [record(one)["results"]["course"][-1] for one in (folder, before)]
    assert last[0] == last[1]


def test_growth_of_a_linear_run(growing):
    found = record(growing)["results"]
    assert [mode["ky"] for mode in found["modes"]] == [0.2, 0.3]
    assert all(np.isfinite(list(mode.values())).all() for mode in found["modes"])
    assert len(found["growth"]) == len(found["course"]) - 1


def test_a_linear_run_ends_when_its_rates_stay(tmp_path):
    folder = begin(tmp_path / "ends", linear_values(time={"end": 200.0, "tolerance": 0.01}))
    started("plasma", folder, "--ranks", "2")
    found = record(folder)["results"]
    assert found["time_R_over_v"] < 100
    assert max(mode["change"] for mode in found["modes"]) <= 0.01


def test_large_potentials_are_scaled(tmp_path, monkeypatch):
    """Rates are those of a run that scales nothing."""
    from fathometer.apps.plasma import simulation

    found = []
    for name, large in (("as it is", simulation.LARGE), ("scaled", 1e-3)):
        monkeypatch.setattr(simulation, "LARGE", large)
        folder = begin(tmp_path / name, linear_values(time={"end": 3.0}))
        assert run_here(folder) == 0
        found.append(record(folder)["results"]["modes"])
    assert found[0] == found[1]


def run_here(folder):
    from cli_support import here

    return here("plasma", folder / "run.toml", "--quiet", "--ranks", "1").code


def test_the_page_is_made_again(whole, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert run(capsys, "report", whole / "out/run.json", "--output", page).code == 0
    text = page.read_text()
    for words in ("Plasma turbulence", "Potential", "Spectrum", "Time series", "Parts of a step", "free energy"):
        assert words in text


@pytest.mark.parametrize("name", list(CASES))
def test_cases_are_read(name, tmp_path, capsys):
    path = tmp_path / "case.toml"
    assert run(capsys, "plasma", path, "--write-case", name).code == 0
    again = run(capsys, "plasma", path, "--write-case", name)
    assert again.code == 2
    assert "exists" in again.err
    from fathometer.apps.plasma.application import APPLICATION
    from fathometer.apps.plasma.case import case_of

    case = case_of(APPLICATION.load(path))
    modes = case.plasma.sizes[0]
    assert name not in ("standard-64", "standard-16") or modes == int(name[-2:])
    keys = case.file.time
    if name.startswith("standard"):
        assert (keys.most_steps, keys.end) == ((100, 3.0) if modes == 64 else (1000, 8.0))
        assert case.plasma.beta > 0 or modes == 64


@pytest.mark.parametrize("name", list(CASES))
def test_cases_take_a_step(name, tmp_path):
    """As they are, but for fewer modes of the largest one."""
    (tmp_path / "run.toml").write_text(CASES[name]())
    less = ["--set", "modes.ky_number=8"] if name == "standard-64" else []
    started("plasma", tmp_path, "--set", "time.most_steps=1", *less)
    assert record(tmp_path)["results"]["steps"] == 1


def test_growth_does_not_depend_on_rows(tmp_path):
    """With rows farther apart than half a turn of the phase."""
    found = []
    for steps in (10, 500):
        values = linear_values(
            modes__ky=[0.4],
            velocities={"energies": 4, "cosines": 6},
            time={"end": 12.0},
            output={"course_steps": steps, "every": 12.0},
        )
        folder = started("plasma", begin(tmp_path / f"{steps}", values))
        [mode] = record(folder)["results"]["modes"]
        found.append(mode)
    assert found[0] == found[1]
    assert found[0]["omega"] > 0.5


def test_the_middle_is_that_of_the_field_line(growing):
    found = record(growing)["results"]
    with DatasetFile(growing / "out" / found["field_files"][-1]) as file:
        phi = file.read("phi")[0, 0]
    assert found["course"][-1]["phi_middle"] == pytest.approx(phi[4, 1], rel=1e-12)


def test_noise_of_zonal_flows_is_something(tmp_path):
    values = linear_values(
        modes={"kind": "joined", "kx": [0.1], "theta": 8}, initial={"kind": "noise"}, time={"end": 0.2}
    )
    folder = started("plasma", begin(tmp_path / "zonal", values))
    assert record(folder)["results"]["course"][-1]["phi_zonal"] > 0
