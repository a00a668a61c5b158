"""Runs of an atmosphere as users start them: the same bits on any ranks and in parts, files, page, cases."""

import numpy as np
import pytest
from atmosphere_support import DAY, water_values, wave_values
from cli_support import run
from restartable_runs import begin, record, results, started

from fathometer.apps.atmosphere.application import APPLICATION
from fathometer.apps.atmosphere.case import case_of
from fathometer.apps.atmosphere.cases import CASES
from fathometer.apps.atmosphere.shown import field_panels
from fathometer.cli.commands import atmosphere


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return started("atmosphere", begin(tmp_path_factory.mktemp("atmosphere") / "whole", wave_values()))


@pytest.fixture(scope="module")
def water(tmp_path_factory):
    return started("atmosphere", begin(tmp_path_factory.mktemp("atmosphere") / "water", water_values()))


def test_what_is_written(whole):
    """Read by xarray, with the decoding of CF."""
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    found = record(whole)["results"]
    assert found["field_times_seconds"] == [0.0, 0.25 * DAY, 0.5 * DAY, 0.75 * DAY, DAY]
    assert [f"fields/{name}" for name in results(whole)] == found["field_files"]
    with xarray.open_dataset(whole / "out" / found["field_files"][-1]) as data:
        assert dict(data.sizes) == {"time": 1, "latitude": 32, "longitude": 64, "level": 6, "interface": 7}
        assert np.all(np.diff(data.latitude) > 0)
        assert float(data.latitude[0]) == pytest.approx(-85.7606, abs=1e-4)
        assert data.u.standard_name == "eastward_wind"
        assert data.surface_pressure.dims == ("time", "latitude", "longitude")
        # The disturbance is in the north.
        uneven = data.vorticity[0, -1].std("longitude")
        assert float(uneven.sel(latitude=40, method="nearest")) > 3 * float(uneven.sel(latitude=-40, method="nearest"))
        assert 25 < float(data.u.max()) < 40
        assert 200 < float(data.temperature.min()) < float(data.temperature.max()) < 320
        middle = (data.a + data.b * data.surface_pressure[0].mean()).values
        assert np.all(np.diff(middle) > 0)
    last = found["course"][-1]
    assert {"mean_pressure_Pa", "energy", "kinetic_energy", "largest_speed", "least_pressure_Pa"} <= last.keys()
    assert (whole / "out/atmosphere.png").stat().st_size > 10_000
    assert len(found["spectrum"]) == 6
    assert len(found["spectrum"][0]) == 22


def test_the_spectrum_is_the_kinetic_energy(water):
    """Of shallow water, half the mean square of the wind."""
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    found = record(water)["results"]
    with xarray.open_dataset(water / "out" / found["field_files"][-1]) as data:
        squares = 0.5 * (data.u.astype(float) ** 2 + data.v.astype(float) ** 2)[0]
        weights = np.polynomial.legendre.leggauss(32)[1]
        mean = float((squares.mean("longitude") * weights).sum() / 2)
    assert sum(found["spectrum"][0]) == pytest.approx(mean, rel=1e-6)


def test_mass_is_kept(whole, water):
    for folder, most in ((whole, 1e-8), (water, 1e-14)):
        mass, energy = record(folder)["results"]["balance"]
        assert mass["quantity"] == "mass"
        assert mass["error"] < most
        assert energy["error"] < 1e-3


def forced_values():
    return wave_values(physics={"forcing": "radiation", "columns": 10}, start={"kind": "resting"})


@pytest.fixture(scope="module")
def forced(tmp_path_factory):
    return started("atmosphere", begin(tmp_path_factory.mktemp("atmosphere") / "forced", forced_values()))


@pytest.mark.parametrize(
    ("values", "reference"), [(wave_values, "whole"), (water_values, "water"), (forced_values, "forced")]
)
def test_parts_on_other_ranks_have_the_bits_of_one(values, reference, request, tmp_path):
    before = request.getfixturevalue(reference)
    folder = begin(tmp_path / "parts", values())
    started("atmosphere", folder, "--ranks", "2", "--set", "time.most_steps=11")
    more = ["--set", "physics.columns=64"] if reference == "forced" else []
    started("atmosphere", folder, "--ranks", "3", "--resume", "--set", "parallel.protocol=alltoallw", *more)
    mine, theirs = results(folder), results(before)
    assert mine[list(mine)[-1]] == theirs[list(theirs)[-1]]
    last = [record(one)["results"]["course"][-1] for one in (folder, before)]
    assert last[0] == last[1]


def test_a_longer_run_goes_on(whole, tmp_path):
    folder = begin(tmp_path / "longer", wave_values(time={"end": 0.5}))
    started("atmosphere", folder)
    started("atmosphere", folder, "--resume", "--set", "time.end=1.0")
    assert results(folder) == results(whole)


def test_the_page_is_made_again(whole, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert run(capsys, "report", whole / "out/run.json", "--output", page).code == 0
    text = page.read_text()
    for words in ("Atmosphere", "Maps", "Zonal means", "Spectrum", "Time series", "Parts of a step", "energy"):
        assert words in text


def test_a_page_of_a_run_that_went_on_with_more_fields(tmp_path):
    """Maps are those of the times that have all of them."""
    folder = begin(tmp_path / "more", wave_values(time={"end": 0.5}))
    started("atmosphere", folder, "--set", "time.most_steps=9", "--set", 'output.fields=["wind"]')
    started("atmosphere", folder, "--resume")
    panels = field_panels(record(folder), folder / "out")
    assert [panel["title"] for panel in panels] == ["Maps at 12 h", "Zonal means at 12 h"]


@pytest.mark.parametrize("name", list(CASES))
def test_cases_are_read_and_take_a_step(name, tmp_path, capsys):
    assert set(CASES) == set(atmosphere.CASES)
    path = tmp_path / "run.toml"
    assert run(capsys, "atmosphere", path, "--write-case", name).code == 0
    again = run(capsys, "atmosphere", path, "--write-case", name)
    assert again.code == 2
    assert "exists" in again.err
    assert case_of(APPLICATION.load(path)).grid.truncation in (42, 85)
    started("atmosphere", tmp_path, "--set", "time.most_steps=1")
    assert record(tmp_path)["results"]["steps"] == 1


def test_what_radiation_leaves(forced):
    course = record(forced)["results"]["course"]
    for row in course:
        assert row["absorbed_shortwave"] == pytest.approx(1365 * (1 - 0.31) / np.pi / 1.2, rel=0.3)
        assert 100 < row["longwave_to_space"] < 400


def test_resting_air_stays_nearly_at_rest(tmp_path):
    """Its noise of temperature moves it by no more than some cm/s."""
    folder = started("atmosphere", begin(tmp_path / "rest", wave_values(start={"kind": "resting"})))
    last = record(folder)["results"]["course"][-1]
    assert 0 < last["largest_speed"] < 0.5
