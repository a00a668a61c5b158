"""Where a volume lies in the world: written into every format, read by other libraries, and read back."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
import segyio
import zarr
from mpi4py import MPI
from place_support import AZIMUTH, ORIGIN, SUFFIXES, Frame, attributes, cdp, segy_model, text
from segy_support import Bytes

from fathometer.base.errors import InputError
from fathometer.storage.describe import describe
from fathometer.storage.traces.reference_system import crs_of_text, short_crs
from fathometer.storage.volumes.formats.segy_place import lines_of_gathers
from fathometer.storage.volumes.place import Place, World
from fathometer.storage.volumes.volume import VolumeInfo, open_volume, write_volume

SHAPE, SPACING, FIRST = (7, 5, 4), (12.5, 20.0, 5.0), (-25.0, 40.0, 10.0)
CRS = "EPSG:25832"
WKT = 'PROJCS["ETRS89 / UTM zone 32N",GEOGCS["ETRS89",AUTHORITY["EPSG","4258"]],AUTHORITY["EPSG","25832"]]'


def write(path: Path, place: Place, axes: str = "xyz") -> Path:
    chosen = [("xyz".index(axis)) for axis in axes]
    shape, spacing, origin = (tuple(numbers[axis] for axis in chosen) for numbers in (SHAPE, SPACING, FIRST))
    values = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
    info = VolumeInfo(shape, values.dtype, spacing, origin, tuple(axes), "m/s", place=place)
    write_volume(path, info, values, (0,) * len(shape), MPI.COMM_SELF)
    return path


def local_places(axes: str = "xyz") -> tuple[np.ndarray, np.ndarray]:
    x = FIRST[0] + SPACING[0] * np.arange(SHAPE[0])
    y = FIRST[1] + SPACING[1] * np.arange(SHAPE[1]) if "y" in axes else np.zeros(1)
    grid = np.meshgrid(x, y, indexing="ij")
    return grid[0].reshape(-1), grid[1].reshape(-1)


@pytest.mark.parametrize("axes", ["xyz", "xz"])
@pytest.mark.parametrize("azimuth", [AZIMUTH, 90.0, 0.0, 180.0, 270.0, -37.25, 301.5])
def test_segy_has_world_coordinates_to_the_step_of_its_scalar(tmp_path: Path, azimuth: float, axes: str) -> None:
    path = write(tmp_path / "a.segy", Place(World(ORIGIN, azimuth), CRS), axes)
    x, y, step = cdp(path)
    expected = Frame(ORIGIN, azimuth).world(*local_places(axes))
    assert step <= 0.01
    np.testing.assert_allclose((x, y), expected, rtol=0, atol=0.5 * step + 1e-6)
    if azimuth % 90 == 0:  # the origin has quarters of a metre: exact in hundredths
        np.testing.assert_allclose((x, y), expected, rtol=0, atol=1e-8)
    with segyio.open(path, ignore_geometry=True) as file:
        for bytes_of in (73, 81):
            np.testing.assert_array_equal(file.attributes(bytes_of)[:], file.attributes(181)[:])
            np.testing.assert_array_equal(file.attributes(bytes_of + 4)[:], file.attributes(185)[:])
        inlines = file.attributes(189)[:]
    assert inlines.tolist() == np.repeat(np.arange(1, 8), 5 if axes == "xyz" else 1).tolist()
    said = text(path)
    assert f"azimuth of x: {azimuth:.10g} degrees" in said
    assert f"CRS: {CRS}" in said
    assert "local" not in said.replace("from local x and y", "")
    corners = [line for line in said.splitlines() if line.startswith("Corner")]
    assert len(corners) == (4 if axes == "xyz" else 2)
    assert corners[0].endswith(f"X {expected[0][0]:.4f}, Y {expected[1][0]:.4f} m")
    assert corners[-1].endswith(f"X {expected[0][-1]:.4f}, Y {expected[1][-1]:.4f} m")
    a, b, c, d, e, f = World(ORIGIN, azimuth).transform
    assert f"X = {c:.10g} {a:+.12g} x {b:+.12g} y" in said
    assert f"Y = {f:.10g} {d:+.12g} x {e:+.12g} y" in said
    place = describe("a.segy", tmp_path)
    assert place.place == Place(crs=CRS)
    assert place.survey.azimuths[0] == pytest.approx(azimuth % 360, abs=0.05)


def test_the_scalar_is_the_coarsest_that_is_exact(tmp_path: Path) -> None:
    for azimuth in (90.0, 180.0):
        assert cdp(write(tmp_path / f"{azimuth:g}.segy", Place(World((1000.0, 2000.0), azimuth))))[2] == 0.1
        assert cdp(write(tmp_path / f"{azimuth:g}.segy", Place(World((1000.25, 2000.0), azimuth))))[2] == 0.01


def test_a_volume_without_a_place_says_that_it_is_local(tmp_path: Path) -> None:
    """Its headers are those of its own x and y, as ever."""
    path = write(tmp_path / "a.segy", Place())
    x, y, step = cdp(path)
    np.testing.assert_array_equal((x, y), local_places())
    assert step == 0.1
    assert "Coordinates are local: x and y of the model's grid" in text(path)
    assert describe("a.segy", tmp_path).place == Place(local=True)
    for suffix in SUFFIXES:
        found = attributes(write(tmp_path / f"a{suffix}", Place()))
        assert not {"world_origin", "azimuth", "world_transform", "crs"} & found.keys()


@pytest.mark.parametrize("axes", ["xyz", "xz"])
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("crs", [CRS, WKT, ""])
def test_attributes_by_other_libraries_and_read_back(tmp_path: Path, suffix: str, axes: str, crs: str) -> None:
    place = Place(World(ORIGIN, AZIMUTH), crs)
    path = write(tmp_path / f"a{suffix}", place, axes)
    found = attributes(path)
    assert (found["world_origin"], found["azimuth"]) == (list(ORIGIN), [AZIMUTH])
    sine, cosine = math.sin(math.radians(AZIMUTH)), math.cos(math.radians(AZIMUTH))
    assert found["world_transform"] == [sine, -cosine, ORIGIN[0], cosine, sine, ORIGIN[1]]
    assert found.get("crs", "") == crs
    with open_volume(path.name, tmp_path) as volume:
        assert volume.info.place == place
        assert volume.info.origin == tuple(FIRST["xyz".index(axis)] for axis in axes)
    rows = dict(describe(path.name, tmp_path).rows())
    assert rows["world"] == "(0, 0) at (451234.5, 6202345.25) m, x towards azimuth 60 degrees"
    assert rows.get("CRS", "") == crs
    assert describe(path.name, tmp_path).as_dict()["place"]["azimuth_degrees"] == AZIMUTH


def test_a_transform_that_contradicts_its_origin_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.h5", Place(World(ORIGIN, AZIMUTH)))
    with h5py.File(path, "r+") as file:
        file["values"].attrs["azimuth"] = 61.0
    with pytest.raises(InputError, match=r"a\.h5:values: world_transform .* contradicts world_origin .* azimuth 61"):
        open_volume("a.h5", tmp_path)
    rsf = write(tmp_path / "a.rsf", Place(World(ORIGIN, AZIMUTH)))
    rsf.write_text(rsf.read_text() + "world_origin=1,2,3\n")
    with pytest.raises(InputError, match=r"a\.rsf: world_origin: found 1,2,3; needed: 2 numbers"):
        open_volume("a.rsf", tmp_path)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("world_origin=here,there\nazimuth=60", "world_origin: found here,there; needed: 2 numbers"),
        ("world_origin=1,2\nazimuth=nan", "azimuth: found nan; needed: 1 number$"),
        ("world_origin=1,2", "world_origin: found without azimuth; needed: both"),
        ("world_origin=1e30,2\nazimuth=60", "world_origin: found 1e.30, 2; allowed"),
        ("world_transform=2,0,5,0,2,7", "world_transform .* allowed: a shift and a turn"),
    ],
)
def test_attributes_that_say_no_place_are_refused(tmp_path: Path, lines: str, words: str) -> None:
    path = write(tmp_path / "a.rsf", Place())
    path.write_text(f"{path.read_text()}{lines}\n")
    with pytest.raises(InputError, match=rf"a\.rsf: {words}"):
        open_volume("a.rsf", tmp_path)


def test_the_transform_alone_will_do(tmp_path: Path) -> None:
    path = write(tmp_path / "a.rsf", Place())
    numbers = ",".join(map(repr, World(ORIGIN, 210.5).transform))
    path.write_text(f"{path.read_text()}world_transform={numbers}\n")
    with open_volume("a.rsf", tmp_path) as volume:
        world = volume.info.place.world
    assert world.origin == ORIGIN
    assert world.azimuth == pytest.approx(210.5, abs=1e-9)


def test_azimuth_alone_is_somebody_elses_word(tmp_path: Path) -> None:
    path = write(tmp_path / "a.rsf", Place())
    path.write_text(path.read_text() + "azimuth=north\n")
    assert describe("a.rsf", tmp_path).place == Place()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("CRS: EPSG:25832", "EPSG:25832"),
        ("Coordinate reference system: ETRS89 / UTM zone 32N", "ETRS89 / UTM zone 32N"),
        ("MAP PROJECTION UTM 32N (EPSG 23032) UNITS M", "EPSG:23032"),
        ("CRS: unknown", ""),
        ("UNITS METRES", ""),
    ],
)
@pytest.mark.parametrize("code", ["cp037", "ascii"])
def test_a_system_named_in_a_textual_header(line: str, name: str, code: str) -> None:
    lines = [f"C{n:2d} {line if n == 7 else ''}".ljust(80) for n in range(1, 41)]
    assert crs_of_text("".join(lines).encode(code)) == name


def test_a_segy_with_a_named_system(tmp_path: Path) -> None:
    segy_model(tmp_path / "a.segy", np.ones((4, 3, 5)), (10.0, 10.0), Frame(), lines={12: f"CRS: {CRS}"})
    assert describe("a.segy", tmp_path).place == Place(crs=CRS)


def test_a_system_named_in_an_extended_textual_header(tmp_path: Path) -> None:
    trace = [{189: 1 + k // 2, 193: 1 + k % 2} for k in range(4)]
    stanza = "((SEG: Location Data ver 1.0))".ljust(80) + "Coordinate reference system code: EPSG:25832".ljust(80)
    Bytes(np.ones((4, 5)), extended=["other".ljust(80), stanza], trace=trace).write(tmp_path / "a.segy")
    assert describe("a.segy", tmp_path).place == Place(crs=CRS)


def test_long_names_are_shortened_for_a_line_of_segy(tmp_path: Path) -> None:
    assert short_crs(WKT, 71) == CRS
    assert short_crs('PROJCS["A local grid",' + "x" * 100, 71) == "A local grid"
    assert len(short_crs("x" * 100, 71)) == 71
    assert f"CRS: {CRS}" in text(write(tmp_path / "a.segy", Place(World(ORIGIN), WKT)))


@pytest.mark.parametrize("kind", ["NETCDF3_CLASSIC", "NETCDF4"])
def test_the_grid_mapping_of_cf_names_the_system(tmp_path: Path, kind: str) -> None:
    with netCDF4.Dataset(tmp_path / "a.nc", "w", format=kind) as file:
        for name, length in zip("xyz", SHAPE, strict=True):
            file.createDimension(name, length)
        values = file.createVariable("vp", "f4", ("x", "y", "z"))
        values[:] = 2000.0
        values.grid_mapping = "utm"
        file.createVariable("utm", "i4").setncatts({"grid_mapping_name": "transverse_mercator", "crs_wkt": WKT})
    assert describe("a.nc:vp", tmp_path).place == Place(crs=WKT)


AXES = ("northing", "easting", "z")
STANDARD = {"easting": "projection_x_coordinate", "northing": "projection_y_coordinate"}
MERCATOR = {"grid_mapping_name": "transverse_mercator", "crs_wkt": WKT}


def cf_file(path: Path, kind: str, mapping: str = "utm", names: dict[str, str] = STANDARD, wkt: str = WKT) -> Path:
    """A volume of others with coordinates of a projection, stated as CF has it."""
    lengths = dict(zip(AXES, (SHAPE[1], SHAPE[0], SHAPE[2]), strict=True))
    along = {name: 20.0 * np.arange(cells) + 1000.0 * (name != "z") for name, cells in lengths.items()}
    own = {name: {"units": "m"} | ({"standard_name": names[name]} if name in names else {}) for name in AXES}
    system = MERCATOR | {"crs_wkt": wkt}
    if kind == "zarr":
        group = zarr.create_group(path)
        group.create_array("vp", data=np.ones((*lengths.values(),), np.float32), dimension_names=AXES,
                           attributes={"grid_mapping": mapping} if mapping else {})  # fmt: skip
        for name in AXES:
            group.create_array(name, data=along[name], dimension_names=(name,), attributes=own[name])
        group.create_array("utm", data=np.zeros(1), attributes=system)
        return path
    with netCDF4.Dataset(path, "w", format=kind) as file:
        for name in AXES:
            file.createDimension(name, lengths[name])
            line = file.createVariable(name, "f8", (name,))
            line[:] = along[name]
            line.setncatts(own[name])
        values = file.createVariable("vp", "f4", AXES)
        values[:] = 2000.0
        if mapping:
            values.grid_mapping = mapping
        file.createVariable("utm", "i4").setncatts(system)
    return path


@pytest.mark.parametrize("kind", ["NETCDF3_CLASSIC", "NETCDF4", "zarr"])
def test_coordinates_of_a_projection_beside_a_grid_mapping_are_the_worlds(tmp_path: Path, kind: str) -> None:
    name = f"a{'.zarr' if kind == 'zarr' else '.nc'}"
    cf_file(tmp_path / name, kind)
    found = describe(f"{name}:vp", tmp_path)
    assert found.place == Place(World(), WKT)
    assert (found.spacing, found.origin) == ((20.0,) * 3, (1000.0, 1000.0, 0.0))


@pytest.mark.parametrize(
    "stated",
    [
        {"mapping": ""},
        {"mapping": "other"},
        {"mapping": "utm: lat lon"},
        {"names": {}},
        {"names": {"easting": "projection_x_coordinate"}},
        {"names": {"easting": "projection_y_coordinate", "northing": "projection_x_coordinate"}},
        {"wkt": 'LOCAL_CS["a mine"]'},
        {"wkt": 'GEOGCRS["WGS 84"]'},
    ],
)
def test_coordinates_are_the_worlds_only_where_the_file_states_it(tmp_path: Path, stated: dict[str, Any]) -> None:
    cf_file(tmp_path / "a.nc", "NETCDF4", **stated)
    assert describe("a.nc:vp", tmp_path).place.world is None


def test_the_extended_grid_mapping_of_cf(tmp_path: Path) -> None:
    cf_file(tmp_path / "a.nc", "NETCDF4", "utm: easting northing other: lat lon")
    assert describe("a.nc:vp", tmp_path).place == Place(World(), WKT)


def test_a_system_without_a_place_is_told_as_it_is(tmp_path: Path) -> None:
    """Neither local, nor in the system: read back, the coordinates give no place."""
    path = write(tmp_path / "a.segy", Place(crs=CRS))
    said = text(path)
    assert "Coordinates are those of the model's grid; not known whether of the CRS\nCRS: EPSG:25832" in said
    assert "local" not in said
    assert "no place" not in said
    found = describe("a.segy", tmp_path)
    assert found.place == Place(crs=CRS, local=True)
    assert dict(found.rows())["coordinates"] == "not known to be in the CRS, by the textual header"
    assert lines_of_gathers(Place(crs=CRS)) == [
        "Coordinates are those of the model's grid; not known whether of the CRS", "CRS: EPSG:25832"
    ]  # fmt: skip


def test_systems_in_hdf5_and_zarr_by_others(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["vp"] = np.ones(SHAPE, np.float32)
        file["spatial_ref"] = 0
        file["spatial_ref"].attrs["spatial_ref"] = WKT
        file["vp"].attrs["grid_mapping"] = b"spatial_ref"
    group = zarr.create_group(tmp_path / "a.zarr")
    group.create_array("vp", data=np.ones(SHAPE, np.float32), attributes={"epsg": 25832})
    assert describe("a.h5:vp", tmp_path).place == Place(crs=WKT)
    assert describe("a.zarr:vp", tmp_path).place == Place(crs=CRS)
