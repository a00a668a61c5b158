"""Field files: what xarray makes of them, whichever ranks wrote them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli_support import under_mpirun
from mpi4py import MPI
from sea import DY, blocked, input_of, layouts, sea, whole_state

from fathometer.apps.ocean.field_kinds import KINDS
from fathometer.apps.ocean.fields import OceanFields
from fathometer.apps.ocean.grid import OceanGrid
from fathometer.apps.ocean.streamfunction import streamfunction
from fathometer.base import ledger
from fathometer.runs.field_series import FOLDER

xarray = pytest.importorskip("xarray")
pytest.importorskip("netCDF4")
PROGRAM = Path(__file__).with_name("fields_program.py")
CODER = xarray.coders.CFDatetimeCoder(use_cftime=True)


def written(folder, grid, times=(0.0, 86400.0)):
    layout = layouts(grid, 1)[0]
    files = OceanFields(input_of(folder, KINDS), grid, layout, MPI.COMM_SELF)
    files.begin()
    for number, time in enumerate(times):
        files.write_state(60 * number, time, blocked(layout, whole_state(grid, time)))
    return files


def opened(files):
    """The files, joined as open_mfdataset does it."""
    parts = []
    for path in files.files(files.written):
        with xarray.open_dataset(path, decode_times=CODER) as part:
            parts.append(part.load())
    return xarray.combine_by_coords(parts, data_vars="minimal", coords="minimal", compat="override")


def test_values_coordinates_and_names(tmp_path):
    grid = sea()
    files = written(tmp_path, grid)
    assert files.written == [0, 60]
    found = opened(files)
    assert [str(time) for time in found.time.values] == ["0001-01-01 00:00:00", "0001-01-02 00:00:00"]
    assert found.attrs["Conventions"] == "CF-1.8"
    state = whole_state(grid, 86400.0)
    water = (np.arange(4) < grid.levels[..., None]).T
    corner = (np.arange(4) < grid.levels_u[..., None]).T
    for name, mask, standard, units in (
        ("temperature", water, "sea_water_potential_temperature", "degC"),
        ("salinity", water, "sea_water_practical_salinity", "1"),
        ("u", corner, "sea_water_x_velocity", "m s-1"),
        ("v", corner, "sea_water_y_velocity", "m s-1"),
        ("w", water, "upward_sea_water_velocity", "m s-1"),
    ):
        values = found[name].values[1]
        assert np.array_equal(np.isnan(values), ~mask), name
        assert np.array_equal(values[mask], state[name].T[mask].astype(np.float32)), name
        assert found[name].attrs["standard_name"] == standard
        assert found[name].attrs["units"] == units
    eta = found.surface_height
    assert eta.attrs["standard_name"] == "sea_surface_height_above_geoid"
    assert np.array_equal(np.isnan(eta.values[0]), grid.levels.T == 0)
    assert found.u.dims == ("time", "depth", "y_u", "x_u")
    assert found.w.dims == ("time", "depth_w", "y", "x")
    assert found.depth.values.tolist() == [5.0, 20.0, 50.0, 110.0]
    assert found.depth_w.values.tolist() == [0.0, 10.0, 30.0, 70.0]
    assert found.depth.attrs["positive"] == "down"
    assert found.depth_bounds.values.tolist() == [[0, 10], [10, 30], [30, 70], [70, 150]]
    assert found.x_u.values[:2].tolist() == [1000.0, 2000.0]
    assert np.array_equal(found.levels.values, grid.levels.T)
    assert np.array_equal(np.isnan(found.sea_floor_depth.values), grid.levels.T == 0)


def test_on_a_sphere(tmp_path):
    found = opened(written(tmp_path, sea(spherical=True), times=(0.0,)))
    assert found.u.dims == ("time", "depth", "latitude_u", "longitude_u")
    assert found.u.attrs["standard_name"] == "eastward_sea_water_velocity"
    assert found.latitude.attrs["units"] == "degrees_north"
    assert found.longitude_u.attrs["standard_name"] == "longitude"
    assert found.longitude.values[0] == 5.0
    assert found.latitude_u.values[-1] == -0.25


def test_the_streamfunction_of_known_gyres():
    """Of a flow given by differences of a streamfunction: it comes back, to the sum's rounding."""
    nx, ny = 30, 21
    levels = np.full((nx, ny), 1, np.int32)
    ones = np.ones(ny)
    grid = OceanGrid(np.arange(nx) + 0.5, np.arange(ny) + 0.5, ones, ones, DY, ones, ones, np.array([100.0]), levels)
    i, j = np.meshgrid(np.arange(1, nx + 1) / nx, np.arange(1, ny + 1) / ny, indexing="ij")
    psi = 3e7 * np.sin(np.pi * i) * np.sin(np.pi * j) ** 2
    face = -np.diff(psi, axis=1, prepend=0.0) / DY  # mean of a face's two corners: solved for the corners
    u = np.zeros_like(psi)
    for row in range(ny):
        u[:, row] = 2.0 * face[:, row] - (u[:, row - 1] if row else 0.0)
    np.testing.assert_allclose(streamfunction(grid, u), psi, rtol=0, atol=1e-6)
    assert psi.max() > 0  # u is northern eastward: clockwise


def test_the_streamfunction_in_the_file(tmp_path):
    """Written independently: a sum over levels of the water's thickness there, with the surface's height."""
    grid = sea()
    files = written(tmp_path, grid, times=(0.0,))
    state = whole_state(grid)
    nx, ny, _ = grid.shape
    expected = np.zeros((nx, ny))
    for i in range(nx):
        for j in range(ny):
            below = expected[i, j - 1] if j else 0.0
            total = 0.0
            for row in (j, j - 1):
                if row < 0:
                    continue
                for k in range(grid.levels_u[i, row]):
                    height = state["eta"][i : i + 2, row : row + 2].mean() if k == 0 else 0.0
                    total += (grid.thickness[k] + height) * state["u"][i, row, k]
            expected[i, j] = below - 0.5 * DY * total
    values = opened(files).streamfunction.values[0].T
    land = np.zeros((nx + 1, ny + 1))
    land[:nx, :ny] = grid.levels
    dry = (land[:-1, :-1] + land[1:, :-1] + land[:-1, 1:] + land[1:, 1:]) == 0
    assert np.array_equal(np.isnan(values), dry)
    np.testing.assert_allclose(values[~dry], expected[~dry], rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    assert np.abs(expected).max() > 1e4


def test_files_of_an_earlier_run(tmp_path):
    """They go, but for those of a run that is resumed."""
    grid = sea()
    written(tmp_path, grid, times=(0.0, 1.0, 2.0))
    (tmp_path / FOLDER / "mine.nc").write_text("mine")
    layout = layouts(grid, 1)[0]
    files = OceanFields(input_of(tmp_path, KINDS), grid, layout, MPI.COMM_SELF)
    files.begin([0, 60])
    assert [path.name for path in files.files(files.written)] == ["ocean-00000000.nc", "ocean-00000060.nc"]
    assert all(path.is_file() for path in files.files(files.written))
    assert not (tmp_path / FOLDER / "ocean-00000120.nc").exists()
    files.begin()
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == ["mine.nc"]


def test_bytes_are_accounted(tmp_path):
    with ledger.Ledger() as account, ledger.phase("output"):
        written(tmp_path, sea(), times=(0.0,))
        (files,) = account.as_dict()["files"]
    assert (files["kind"], files["direction"]) == ("fields", "write")
    assert files["bytes"] > 24 * 20 * 4 * 4 * 6


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_write_the_same_bytes(tmp_path, ranks):
    """Left-out blocks of land are written too; on 3 ranks the grid has fewer blocks on some."""
    grid = sea()
    assert layouts(grid, ranks)[0].left_out
    written(tmp_path / "one", grid)
    done = under_mpirun(ranks, PROGRAM, tmp_path / "several")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    for name in ("ocean-00000000.nc", "ocean-00000060.nc"):
        one, several = (tmp_path / folder / FOLDER / name for folder in ("one", "several"))
        assert one.read_bytes() == several.read_bytes()
