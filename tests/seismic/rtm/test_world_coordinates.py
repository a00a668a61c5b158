"""Surveys in world coordinates: all that leaves the program says where it lies, and comes back as a model by that."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import segyio
from cli_support import call, run, survey
from mpi4py import MPI
from place_support import AZIMUTH, ORIGIN, SUFFIXES, Frame, attributes, cdp, gathers, segy_model, text

from fathometer import __version__
from fathometer.storage.describe import describe
from fathometer.storage.volumes.block import VolumeInfo
from fathometer.storage.volumes.place import Place
from fathometer.storage.volumes.writer import write_volume

FRAME = Frame()
SHAPE, SPACING, DZ = (16, 12, 14), (20.0, 15.0), 10.0
CRS = "EPSG:25832"
BASE = {
    "model.spacing": [DZ],
    "acquisition.gathers": "shots.segy",
    "wavelet.kind": "ricker",
    "wavelet.peak_frequency": 15.0,
    "propagation.boundary": {"kind": "pml", "width": 6},
    "propagation.duration": 0.1,
    "output.directory": "out",
}


def velocity(shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    vp = np.full(shape, 2000.0, np.float32)
    vp[..., shape[-1] // 2 :] = 2400.0
    return vp


def places(flat: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Local places of two sources and ten receivers."""
    y = 0.0 if flat else 80.0
    receivers = np.array([[30.0 * k + 10.0, y, 10.0] for k in range(10)])
    return np.array([[100.0, y, 10.0], [180.0, y, 10.0]]), receivers


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model by CDP coordinates and gathers in the world."""
    segy_model(tmp_path / "vp.segy", velocity(), SPACING, FRAME, lines={20: f"CRS: {CRS}"})
    gathers(tmp_path / "shots.segy", FRAME, *places())
    return tmp_path


def ran(capsys: Any, folder: Path, command: str, keys: dict[str, Any], *words: Any) -> str:
    path = survey(folder, BASE | {"model.vp": "vp.segy"} | keys)
    done = run(capsys, command, path, "--quiet", "--overwrite", *words)
    assert done.code == 0, done.err
    return done.err + done.out


def expected(shape: tuple[int, ...] = SHAPE, frame: Frame = FRAME) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(SPACING[0] * np.arange(shape[0]), SPACING[1] * np.arange(shape[1]), indexing="ij")
    return frame.world(x.reshape(-1), y.reshape(-1))


def in_world(path: Path, places: tuple[np.ndarray, np.ndarray] | None = None) -> bool:
    x, y, step = cdp(path)
    return np.allclose((x, y), places or expected(), rtol=0, atol=0.5 * step + 1e-5)


def placed(path: Path, crs: str = CRS) -> None:
    """The attributes are those of the frame."""
    found = attributes(path)
    np.testing.assert_allclose(found["world_origin"], ORIGIN, rtol=0, atol=1e-6)
    assert found["azimuth"] == pytest.approx([AZIMUTH])
    np.testing.assert_allclose(
        FRAME.world(*found["origin"][:2]) if "origin" in found else ORIGIN, ORIGIN, rtol=0, atol=30
    )
    a, b, c, d, e, f = found["world_transform"]
    np.testing.assert_allclose((a * 7 + b * 3 + c, d * 7 + e * 3 + f), FRAME.world(7.0, 3.0), rtol=0, atol=1e-6)
    assert found.get("crs", "") == crs


def test_an_image_of_a_rotated_survey_has_world_coordinates(folder: Path, capsys: Any) -> None:
    ran(capsys, folder, "migrate", {"output.image": "image.segy", "imaging.gathers": "offset",
                                    "imaging.offset_bins": [0.0, 100.0, 1000.0],
                                    "acquisition.mute": {"velocity": 1500.0, "taper": 0.02},
                                    "output.vertical_datum": "mean sea level"})  # fmt: skip
    files = sorted((folder / "out").glob("*.segy"))
    assert len(files) == 5  # image, two bins, illumination, laplacian
    for path in files:
        assert in_world(path), path
        assert f"CRS: {CRS}" in text(path)
        said = " ".join(text(path).split())
        assert "Coordinates are those of the world" in said
        assert f"Fathometer {__version__}: fathometer migrate survey.toml; record: run.json" in said
        assert "reverse time migration in 3D, isotropic, acoustic; cross-correlation imaging condition" in said
        assert "Velocity model: vp vp.segy Traces: shots.segy, 2 shots; filters: mute 1500 m/s 0.02 s" in said
        assert "Vertical datum: mean sea level" in said
        with segyio.open(path, strict=True) as file:
            assert segyio.tools.cube(file).shape == SHAPE
            np.testing.assert_allclose(file.samples, DZ * np.arange(SHAPE[2]))
    assert "Image after minus the Laplacian: reverse" in " ".join(text(folder / "out/image-laplacian.segy").split())
    place = json.loads((folder / "out" / "run.json").read_text())["results"]["place"]
    assert (place["azimuth_degrees"], place["crs"]) == (AZIMUTH, CRS)
    assert place["world_origin_metres"] == pytest.approx(ORIGIN, abs=0.01)
    printed = run(capsys, "info", folder / "out" / "image.segy").out
    assert "towards azimuth 60 degrees" in printed
    assert CRS in printed


def test_the_last_trace_of_an_example(tmp_path: Path, capsys: Any) -> None:
    """Local (2440, 1240) of a model turned to azimuth 60 degrees, the first cell of which is at (-40, -40)."""
    frame = Frame((450000.0, 6200000.0), 60.0)
    segy_model(tmp_path / "vp.segy", velocity((125, 65, 4)), (20.0, 20.0), frame, first=(-40.0, -40.0))
    words = ("prepare", tmp_path / "vp.segy", "--input-spacing", "20,20,20", "-o")
    assert run(capsys, *words, tmp_path / "own.segy").code == 0
    x, y, _ = cdp(tmp_path / "own.segy")
    np.testing.assert_allclose((x[-1], y[-1]), (451493.10, 6202293.87), rtol=0, atol=0.02)
    assert "Corner inline 125, crossline 65: X 451493.1" in text(tmp_path / "own.segy")


@pytest.mark.parametrize("suffix", [".rsf", ".h5", ".nc"])
def test_ranks_write_the_same_attributes(folder: Path, capsys: Any, suffix: str) -> None:
    ran(capsys, folder, "migrate", {"output.image": f"image{suffix}"})
    one = written(folder / "out", suffix)
    path = survey(folder, BASE | {"model.vp": "vp.segy", "output.image": f"image{suffix}"})
    done = call("migrate", path, "--quiet", "--overwrite", "--ranks", 2)
    assert done.code == 0, done.err
    assert written(folder / "out", suffix) == one


def written(folder: Path, suffix: str) -> dict[str, Any]:
    """The bytes of images; of HDF5, whose chunks lie in another order, the attributes."""
    files = [path for path in folder.glob("image*") if path.suffix.rstrip("@") == suffix]
    assert len(files) >= 3
    if suffix != ".h5":
        return {path.name: path.read_bytes() for path in files}
    return {path.name: {k: v for k, v in attributes(path).items() if k != "DIMENSION_LIST"} for path in files}


def test_an_origin_that_repeats_the_headers(tmp_path: Path, capsys: Any) -> None:
    """[model] origin at the CDP coordinates of the first cell: the grid's coordinates are the world's."""
    frame = Frame(ORIGIN, 90.0)
    segy_model(tmp_path / "vp.segy", velocity(), SPACING, frame)
    gathers(tmp_path / "shots.segy", frame, *places())
    ran(capsys, tmp_path, "migrate", {"model.origin": [*ORIGIN, 0.0], "output.image": "image.segy"})
    assert "Coordinates are those of the world" in text(tmp_path / "out" / "image.segy")
    assert in_world(tmp_path / "out" / "image.segy", expected(frame=frame))


def test_keys_of_the_survey_say_it_too(folder: Path, capsys: Any) -> None:
    """Of a model without coordinates; 2 ranks write the bytes of one."""
    np.save(folder / "vp.npy", velocity())
    keys = {
        "model.vp": "vp.npy",
        "model.spacing": [*SPACING, DZ],
        "acquisition.origin": list(ORIGIN),
        "acquisition.azimuth": AZIMUTH,
        "output.image": "image.segy",
    }
    ran(capsys, folder, "migrate", keys)
    one = {path.name: path.read_bytes() for path in (folder / "out").glob("*.segy")}
    assert in_world(folder / "out" / "image.segy")
    path = survey(folder, BASE | keys)
    done = call("migrate", path, "--quiet", "--overwrite", "--ranks", 2)
    assert done.code == 0, done.err
    assert {path.name: path.read_bytes() for path in (folder / "out").glob("*.segy")} == one


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_attributes_of_images_in_every_format(folder: Path, capsys: Any, suffix: str) -> None:
    ran(capsys, folder, "migrate", {"output.image": f"image{suffix}", "output.vertical_datum": "LAT 1987"})
    for name in ("image", "image-illumination", "image-laplacian"):
        path = folder / "out" / f"{name}{suffix}"
        placed(path)
        assert attributes(path)["vertical_datum"] == "LAT 1987"
        assert ("vertical datum", "LAT 1987") in describe(path.name, path.parent).rows()
    assert json.loads((folder / "out/run.json").read_text())["results"]["place"]["vertical_datum"] == "LAT 1987"


def test_npy_is_said_to_hold_no_place(folder: Path, capsys: Any) -> None:
    path = survey(folder, BASE | {"model.vp": "vp.segy", "output.image": "image.npy"})
    said = run(capsys, "migrate", path, "--overwrite").err
    assert said.count("image.npy holds no place: origin, azimuth and crs are not in it") == 1


def test_a_datum_beside_that_of_the_model(tmp_path: Path, capsys: Any) -> None:
    np.save(tmp_path / "vp.npy", velocity())
    gathers(tmp_path / "shots.segy", Frame((0.0, 0.0), 90.0), *places())
    info = VolumeInfo(SHAPE, np.dtype(np.float32), (*SPACING, DZ), (0.0, 0.0, 0.0), ("x", "y", "z"), "m/s")
    write_volume(tmp_path / "vp.h5", replace(info, place=Place(datum="MSL")), velocity(), (0, 0, 0), MPI.COMM_SELF)
    base = BASE | {"model.spacing": [*SPACING, DZ]}
    for keys, datum, notes in (
        ({"model.vp": "vp.h5"}, "MSL", 0),
        ({"model.vp": "vp.h5", "output.vertical_datum": "LAT"}, "LAT", 1),
        ({"model.vp": "vp.npy", "output.vertical_datum": "LAT"}, "LAT", 0),
    ):
        said = run(capsys, "migrate", survey(tmp_path, base | keys), "--overwrite")
        assert said.code == 0, said.err
        assert attributes(tmp_path / "out" / "image.rsf")["vertical_datum"] == datum
        assert said.err.count('vertical_datum: results name "LAT"; by the model\'s file it is "MSL"') == notes
    said = run(capsys, "migrate", survey(tmp_path, base | keys | {"output.image": "image.npy"}), "--overwrite")
    assert said.err.count("image.npy holds no place: vertical_datum is not in it") == 1


def test_an_image_without_a_place_says_that_it_is_local(tmp_path: Path, capsys: Any) -> None:
    local = Frame((0.0, 0.0), 90.0)
    np.save(tmp_path / "vp.npy", velocity())
    gathers(tmp_path / "shots.segy", local, *places())
    keys = {"model.vp": "vp.npy", "model.spacing": [*SPACING, DZ]}
    ran(capsys, tmp_path, "migrate", keys | {"output.image": "image.segy"})
    assert "Coordinates are local" in text(tmp_path / "out" / "image.segy")
    assert in_world(tmp_path / "out" / "image.segy", expected(frame=local))
    ran(capsys, tmp_path, "migrate", keys | {"output.image": "image.rsf"})
    assert "world_origin" not in attributes(tmp_path / "out" / "image.rsf")


@pytest.mark.parametrize("azimuth", [90.0, AZIMUTH])
@pytest.mark.parametrize("suffix", [".segy", ".nc"])
def test_a_line(tmp_path: Path, capsys: Any, azimuth: float, suffix: str) -> None:
    """Along X too, where the line's Y is known by its CDP coordinates alone."""
    frame = Frame(ORIGIN, azimuth)
    segy_model(tmp_path / "vp.segy", velocity((16, 14)), SPACING, frame)
    gathers(tmp_path / "shots.segy", frame, *places(flat=True))
    ran(capsys, tmp_path, "migrate", {"output.image": f"image{suffix}"})
    path = tmp_path / "out" / f"image{suffix}"
    if suffix == ".segy":
        assert in_world(path, frame.world(SPACING[0] * np.arange(16), np.zeros(16)))
        return
    found = attributes(path)
    a, _, c, d, _, f = found["world_transform"]
    x = found["origin"][0]
    np.testing.assert_allclose((a * x + c, d * x + f), ORIGIN, rtol=0, atol=0.01)


def test_time_migration(folder: Path, capsys: Any) -> None:
    keys = {"time_migration.velocity": 2000.0, "time_migration.depth": True, "time_migration.aperture": 200.0}
    ran(capsys, folder, "migrate-time", keys | {"output.image": "image.segy"})
    files = sorted((folder / "out" / "time").glob("*.segy"))
    assert {path.stem for path in files} == {"image", "image-fold", "image-velocity", "image-depth"}
    for path in files:
        assert in_world(path), path
        assert f"CRS: {CRS}" in text(path)
    record = json.loads((folder / "out" / "time" / "run.json").read_text())["results"]
    assert record["place"]["azimuth_degrees"] == AZIMUTH
    ran(capsys, folder, "migrate-time", keys | {"output.image": "image.h5"})
    for path in (folder / "out" / "time").glob("*.h5"):
        placed(path)


def test_velocities_of_a_time_migration_are_placed_by_their_attributes(folder: Path, capsys: Any) -> None:
    """Those of a survey turned otherwise, as images of its own coordinates: the same velocities as its SEG-Y's."""
    keys = {"time_migration.velocity": 2000.0, "time_migration.aperture": 200.0, "time_migration.end": 0.2}
    images = {}
    for suffix in (".segy", ".rsf"):
        ran(capsys, folder, "migrate-time", keys | {"output.image": f"image{suffix}", "output.directory": suffix[1:]})
    local = {
        "model.vp": None,
        "model.spacing": None,
        "acquisition.origin": [ORIGIN[0] + 60.0, ORIGIN[1] + 90.0],
        "acquisition.azimuth": 75.0,
        "time_migration.x": [40.0, 120.0, 20.0],
        "time_migration.y": [-10.0, 20.0, 15.0],
        "time_migration.aperture": 200.0,
        "time_migration.end": 0.2,
    }
    for suffix in (".segy", ".rsf"):
        name = f"{suffix[1:]}/time/image-velocity{suffix}"
        keys = local | {"time_migration.velocity": name, "output.directory": f"again{suffix[1:]}"}
        path = survey(folder, {k: v for k, v in (BASE | keys).items() if v is not None})
        done = run(capsys, "migrate-time", path, "--quiet")
        assert done.code == 0, done.err
        images[suffix] = np.fromfile(folder / f"again{suffix[1:]}" / "time" / "image.rsf@", np.float32)
    np.testing.assert_allclose(images[".segy"], images[".rsf"], rtol=1e-4, atol=1e-4 * np.abs(images[".rsf"]).max())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_model_with_attributes_is_placed_as_the_segy_is(folder: Path, capsys: Any, suffix: str) -> None:
    """prepare keeps the place; the image has the bits of that of the SEG-Y."""
    said = run(capsys, "prepare", folder / "vp.segy", "--input-spacing", "20,15,10", "-o", folder / f"own{suffix}").err
    assert "the result keeps them as its attributes world_origin and azimuth" in said
    placed(folder / f"own{suffix}")
    ran(capsys, folder, "migrate", {"output.image": "image.nc"})
    wanted = attributes(folder / "out" / "image.nc"), values(folder / "out" / "image.nc")
    ran(capsys, folder, "migrate", {"model.vp": f"own{suffix}", "output.image": "image.nc", "model.spacing": None})
    np.testing.assert_array_equal(values(folder / "out" / "image.nc"), wanted[1])
    assert attributes(folder / "out" / "image.nc") == wanted[0]


def test_what_the_result_cannot_keep_is_not_said_to_be_kept(folder: Path, capsys: Any) -> None:
    said = run(capsys, "prepare", folder / "vp.segy", "--input-spacing", "20,15,10", "-o", folder / "own.npy").err
    assert "holds no place: origin, azimuth and crs are not in it" in said
    assert "the result keeps" not in said
    place = Place(datum="MSL")
    info = VolumeInfo(SHAPE, np.dtype(np.float32), (*SPACING, DZ), (0.0, 0.0, 0.0), ("x", "y", "z"), "m/s", place=place)
    write_volume(folder / "vp.h5", info, velocity(), (0, 0, 0), MPI.COMM_SELF)
    said = run(capsys, "prepare", folder / "vp.h5", "-o", folder / "own.npy").err
    assert "own.npy holds no place: vertical_datum is not in it" in said


@pytest.mark.parametrize("stated", [True, False])
def test_a_model_in_projected_coordinates_by_cf(tmp_path: Path, capsys: Any, stated: bool) -> None:
    """What lies at the gathers' X and Y is in the world where the file states it; else nobody knows."""
    import netCDF4

    frame = Frame((451000.0, 6202000.0), 90.0)
    gathers(tmp_path / "shots.segy", frame, *places())
    with netCDF4.Dataset(tmp_path / "vp.nc", "w") as file:
        for name, axis, cells, first, step in zip(
            ("easting", "northing", "depth"), "xyz", SHAPE, (*frame.origin, 0.0), (*SPACING, DZ), strict=True
        ):
            file.createDimension(name, cells)
            line = file.createVariable(name, "f8", (name,))
            line[:] = first + step * np.arange(cells)
            line.units = "m"
            if stated and axis != "z":
                line.standard_name = f"projection_{axis}_coordinate"
        model = file.createVariable("vp", "f4", ("easting", "northing", "depth"))
        model[:] = velocity()
        model.setncatts({"units": "m/s", "grid_mapping": "utm"})
        file.createVariable("utm", "i4").setncatts({"grid_mapping_name": "transverse_mercator", "crs_wkt": CRS})
    keys = {"model.vp": "vp.nc:vp", "model.spacing": None}
    ran(capsys, tmp_path, "migrate", keys | {"output.image": "image.rsf"})
    found = attributes(tmp_path / "out" / "image.rsf")
    assert (found.get("world_origin"), found.get("azimuth")) == (([0.0, 0.0], [90.0]) if stated else (None, None))
    assert found["crs"] == CRS
    ran(capsys, tmp_path, "model", GEOMETRY | keys | {
        "output.directory": "made",
        "acquisition.sources": {"x": 451100.0, "y": 6202080.0, "z": 10.0},
        "acquisition.receivers": {"x": [451050.0, 451200.0, 50.0], "y": 6202080.0, "z": 10.0},
    })  # fmt: skip
    run(capsys, "prepare", tmp_path / "vp.nc:vp", "-o", tmp_path / "own.segy")
    for path in (tmp_path / "own.segy", tmp_path / "made" / "shots.segy"):
        said = text(path)
        assert f"CRS: {CRS}" in said
        assert ("Coordinates are those of the world" in said) == stated
        assert ("not known whether of the CRS" in said) != stated
        assert "local" not in said.replace("from local x and y", "")
    assert in_world(tmp_path / "own.segy", expected(frame=frame))


def values(path: Path) -> np.ndarray:
    import netCDF4

    with netCDF4.Dataset(path) as file:
        return np.asarray(file[path.stem.replace("-", "_")][:])


def test_prepare_keeps_the_place_of_a_part(folder: Path, capsys: Any) -> None:
    """A crop begins elsewhere in the same local coordinates; as SEG-Y it has world coordinates."""
    words = ("prepare", folder / "vp.segy", "--input-spacing", "20,15,10", "--crop", "40:200,30:120,:")
    assert run(capsys, *words, "-o", folder / "part.rsf").code == 0
    found = attributes(folder / "part.rsf")
    assert (found["world_origin"], found["azimuth"], found["o3"], found["o2"]) == (list(ORIGIN), [60.0], "40.0", "30.0")
    for model in ("part.rsf", "part.segy"):
        run(capsys, "prepare", folder / model, *(["--input-spacing", "20,15,10"] * (model == "part.segy")), "-o",
            folder / "part.segy" if model == "part.rsf" else folder / "again.rsf")  # fmt: skip
    x, y = np.meshgrid(40.0 + 20.0 * np.arange(9), 30.0 + 15.0 * np.arange(7), indexing="ij")
    assert in_world(folder / "part.segy", FRAME.world(x.reshape(-1), y.reshape(-1)))
    assert attributes(folder / "again.rsf")["azimuth"] == [60.0]


GEOMETRY = {
    "acquisition.gathers": None,
    "acquisition.sources": {"x": 100.0, "y": 80.0, "z": 10.0},
    "acquisition.receivers": {"x": [50.0, 200.0, 50.0], "y": 80.0, "z": 10.0},
}
ELASTIC = {
    "propagation.physics": "elastic",
    "model.vs": 1200.0,
    "wavelet.peak_frequency": 8.0,
    "model.density": 2000.0,
    "source.kind": "explosion",
    "snapshots.every_steps": 4,
    "snapshots.format": "h5",
    "snapshots.fields": ["vz"],
    "propagation.duration": 0.1,
}


def test_snapshots_and_peak_maps(folder: Path, capsys: Any) -> None:
    """Of positions in the grid's coordinates, which the model's headers place."""
    ran(capsys, folder, "model", GEOMETRY | ELASTIC)
    maps = sorted((folder / "out").glob("peak-velocity*.rsf"))
    snapshots = sorted((folder / "out").glob("snapshots*.h5"))
    assert maps
    assert snapshots
    for path in (*maps, *snapshots):
        placed(path)
    assert "in the world:" in text(folder / "out" / "shots-vz.segy")


def test_traces_of_a_geometry_say_what_they_are(folder: Path, capsys: Any) -> None:
    """Positions are given in the grid's coordinates, and stay so; the transform stands beside them."""
    ran(capsys, folder, "model", GEOMETRY)
    said = text(folder / "out" / "shots.segy")
    assert "Coordinates are local: x and y of the model's grid; in the world:" in said
    assert "X = 451234.5 +0.866025403784 x -0.5 y" in said
    assert f"CRS: {CRS}" in said
    np.save(folder / "vp.npy", velocity())
    ran(capsys, folder, "model", GEOMETRY | {"model.vp": "vp.npy", "model.spacing": [*SPACING, DZ]})
    assert "Coordinates are local: x and y of the model's grid, no place" in text(folder / "out" / "shots.segy")


def test_traces_at_recorded_headers_keep_these(folder: Path, capsys: Any) -> None:
    ran(capsys, folder, "model", {})
    made, recorded = (np.frombuffer(path.read_bytes()[3600:], np.uint8).reshape(20, -1)[:, 72:88]
                      for path in (folder / "out" / "shots.segy", folder / "shots.segy"))  # fmt: skip
    np.testing.assert_array_equal(made, recorded)


def test_the_system_of_the_gathers_is_carried(folder: Path, capsys: Any) -> None:
    segy_model(folder / "vp.segy", velocity(), SPACING, FRAME)
    data = bytearray((folder / "shots.segy").read_bytes())
    data[80 * 25 : 80 * 26] = "C26 CRS: EPSG:23032".ljust(80).encode("cp037")
    (folder / "shots.segy").write_bytes(data)
    ran(capsys, folder, "migrate", {"output.image": "image.rsf"})
    placed(folder / "out" / "image.rsf", "EPSG:23032")
    segy_model(folder / "vp.segy", velocity(), SPACING, FRAME, lines={20: f"CRS: {CRS}"})
    path = survey(folder, BASE | {"model.vp": "vp.segy"})
    said = run(capsys, "migrate", path, "--overwrite").err
    assert said.count("the model's coordinates are in EPSG:25832, those of the gathers in EPSG:23032") == 1


def test_words_of_gathers_that_are_not_used_are_named_once(folder: Path, capsys: Any) -> None:
    data = bytearray((folder / "shots.segy").read_bytes())
    struct.pack_into(">h", data, 3256, 2)
    width = (len(data) - 3600) // 20
    for trace in range(20):
        for byte, value in ((103, -12), (157, 2019), (159, 40), (167, 2), (169, 3)):
            struct.pack_into(">h", data, 3600 + width * trace + byte - 1, value)
    (folder / "shots.segy").write_bytes(data)
    path = survey(folder, BASE | {"model.vp": "vp.segy"})
    said = run(capsys, "migrate", path, "--overwrite").err
    for words in (
        "the impulse polarity code is 2: an increase of pressure is a positive number",
        "the headers hold total statics -12 to 0 ms: they are not applied",
        "the headers hold trace weighting factors 2^-N, N from 0 to 3: they are not applied",
        "the headers hold years and times of day of recording: images do not carry them",
    ):
        assert said.count(words) == 1
    segy = folder / "plain.segy"
    gathers(segy, FRAME, *places())
    (folder / "shots.segy").write_bytes(segy.read_bytes())
    said = run(capsys, "migrate", path, "--overwrite").err
    assert "the headers hold" not in said
