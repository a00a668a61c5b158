"""`fathometer new`: what it finds in files, its gaps, and that what it writes runs."""

from __future__ import annotations

import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from cli_support import here, inputs, velocity, write_gathers
from scipy.io import netcdf_file

from fathometer.cli import registry
from fathometer.cli.commands.new import kinds
from fathometer.config.gaps import GAP, gaps_in

PETSC = find_spec("petsc4py") is not None


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """Each test in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)


def new(kind: str, *words: str, file: str = "") -> dict[str, Any]:
    """The values of a new input file."""
    target = file or f"{kind}.toml"
    done = here("new", kind, *words, *(["-o", file] if file else []))
    assert done.code == 0, done.err
    text = Path(target).read_text()
    assert max(map(len, text.splitlines())) <= 130
    return tomllib.loads(text)


def gaps(values: dict[str, Any]) -> list[str]:
    return [".".join(str(part + 1) if isinstance(part, int) else part for part in place) for place in gaps_in(values)]


def filled(command: str, file: str, **settings: Any) -> None:
    """Run a file with its gaps filled in; table__key = value."""
    words = [word for name, value in settings.items() for word in ("--set", f"{name.replace('__', '.')}={value}")]
    done = here(command, file, *words, "--quiet")
    assert done.code == 0, done.err


def refused(*words: str) -> str:
    done = here("new", *words)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert done.err.startswith("fathometer: error: ")
    return done.err


def rsf(name: str, values: np.ndarray, origin: float = 0.0, **keys: Any) -> str:
    """A model in z, x order by its labels, or in x, z order without."""
    nx, nz = values.shape
    header = {"n1": nz, "n2": nx, "d1": 10, "d2": 10, "o1": 0, "o2": origin, "label1": "Depth", "label2": "X"}
    header |= {"unit": "m/s", "in": f"{name}@"} | keys
    Path(name).write_text("\n".join(f'{key}="{value}"' for key, value in header.items()))
    values.astype(np.float32).tofile(f"{name}@")
    return name


def netcdf(name: str, variable: str, values: np.ndarray, unit: str, **axes: tuple[np.ndarray, str]) -> str:
    with netcdf_file(name, "w") as file:
        for axis, (coordinates, axis_unit) in axes.items():
            file.createDimension(axis, len(coordinates))
            made = file.createVariable(axis, "f8", (axis,))
            made[:] = coordinates
            made.units = axis_unit
        made = file.createVariable(variable, "f4", tuple(axes))
        made[:] = values
        made.units = unit
    return name


@pytest.mark.parametrize("kind", list(kinds()))
def test_without_files_all_that_is_needed_is_a_gap_that_a_run_lists(kind):
    if kind == "reactive" and not PETSC:
        pytest.skip("reactive flows need PETSc")
    values = new(kind)
    found = gaps(values)
    assert found
    command = next(iter(registry.application(kinds()[kind]).identity.commands))
    done = here(command, f"{kind}.toml")
    assert done.code == 2
    assert f"{kind}.toml: found {len(found)} gap" in done.err
    assert done.err.count("\n") == 1
    for place in found:
        assert place.split(".")[-1] in done.err
    # No key is described in other words than in the reference.
    assert "All keys with their units" in Path(f"{kind}.toml").read_text()


def test_a_migration():
    inputs(Path())
    rsf("vel.rsf", velocity())
    np.save("eps.npy", 0 * velocity() + 0.1)
    values = new("survey", "vel.rsf", "eps.npy", "recorded.segy", file="image.toml")
    assert values["model"] == {"vp": "vel.rsf", "epsilon": "eps.npy"}
    assert values["acquisition"] == {"gathers": "recorded.segy"}
    assert gaps(values) == ["wavelet.peak_frequency"]
    text = Path("image.toml").read_text()
    assert "RSF, 40 x 30 cells, 2000 to 2500 m/s" in text
    assert "1 shot, 40 traces of 51 samples every 0.004 s" in text
    assert "up to 32 Hz fits cells of 10 m and 2000 m/s" in text
    assert "vertical P velocity, in `units` (m/s): a file or a number from 100 to 20000" in text
    filled("migrate", "image.toml", wavelet__peak_frequency=15)
    assert Path("image/image.rsf").exists()


def test_a_geometry_to_model():
    np.save("vp.npy", velocity() / 1000)
    Path("src.csv").write_text("x,z\n100,20\n200,20\n")
    values = new("survey", "vp.npy", "src.csv", file="shots.toml")
    assert values["model"] == {"vp": "vp.npy", "units": "km/s", "axes": "xz", "spacing": GAP}
    wanted = ["acquisition.receivers.x", "acquisition.receivers.z", "model.spacing", "propagation.duration"]
    assert sorted(gaps(values)) == [*wanted, "wavelet.peak_frequency"]
    filled(
        "model", "shots.toml", model__spacing=[10, 10], propagation__duration=0.2, wavelet__peak_frequency=15,
        acquisition__receivers="{x = [0.0, 390.0, 10.0], z = 20.0}",
    )  # fmt: skip
    assert Path("shots/shots.segy").exists()


def test_depth_as_first_axis_is_known_by_the_water():
    values = np.full((30, 40), 2500.0, np.float32)
    values[:5] = 1500
    np.save("vp.npy", values)
    assert new("survey", "vp.npy")["model"]["axes"] == "zx"


def test_units_that_are_not_known_are_a_gap_and_no_text_of_a_file_ends_its_comment():
    values = new("survey", "vp=" + rsf("vel.rsf", velocity(), unit="furlongs\\n[x]"))
    assert "model.units" in gaps(values)
    assert "furlongs" in Path("survey.toml").read_text()
    filled(
        "model", "survey.toml", model__units="m/s", propagation__duration=0.1, wavelet__peak_frequency=15,
        acquisition__sources="{x = 200.0, z = 20.0}", acquisition__receivers="{x = 100.0, z = 20.0}",
    )  # fmt: skip


def test_elastic_waves():
    rsf("vp.rsf", velocity())
    rsf("vs.rsf", velocity() / 2)
    rsf("rho.rsf", velocity(), unit="kg/m3")
    values = new("survey", "vp.rsf", "vs.rsf", "rho.rsf")
    assert values["model"] == {"vp": "vp.rsf", "vs": "vs.rsf", "density": "rho.rsf"}
    assert values["propagation"]["physics"] == "elastic"
    assert "source.kind" in gaps(values)
    filled(
        "model", "survey.toml", source="{kind = \"explosion\"}", propagation__duration=0.1,
        wavelet__peak_frequency=10, acquisition__sources="{x = 200.0, z = 100.0}",
        acquisition__receivers="{x = [100.0, 300.0, 100.0], z = 20.0}",
    )  # fmt: skip


def test_a_migration_in_time():
    write_gathers(Path("shots.segy"))
    Path("picks.txt").write_text("0 0 2000\n0 0.2 2000\n390 0 2000\n390 0.2 2000\n")
    values = new("survey", "picks.txt", "shots.segy", file="time.toml")
    assert values["time_migration"] == {"velocity": "picks.txt", "x": [100.0, 295.0, 5.0]}
    assert not gaps(values)
    filled("migrate-time", "time.toml")


def test_files_in_another_folder_are_named_from_there():
    Path("data").mkdir()
    inputs(Path("data"))
    Path("surveys").mkdir()
    rsf("data/vel.rsf", velocity(), **{"in": "vel.rsf@"})
    values = new("survey", "data/vel.rsf", "data/recorded.segy", file="surveys/image.toml")
    assert values["model"]["vp"] == "../data/vel.rsf"
    filled("migrate", "surveys/image.toml", wavelet__peak_frequency=15)


def test_an_ocean_on_a_sphere():
    east, north = 5.0 + 10 * np.arange(36), -57.5 + 5 * np.arange(24)
    heights = np.full((24, 36), -3000.0)
    heights[10:14, 5:12] = 200.0
    axes = {"lat": (north[::-1], "degrees_north"), "lon": (east, "degrees_east")}
    netcdf("gebco.nc", "elevation", heights[::-1], "m", **axes)
    axes3 = {"depth": (500.0 * np.arange(6) + 250, "m"), **axes}
    netcdf("levitus.nc", "temp", np.full((6, 24, 36), 10.0), "degC", **axes3)
    values = new("ocean", "gebco.nc", "levitus.nc")
    assert values["grid"] == {
        "cells": [36, 24], "kind": "sphere", "spacing": [10.0, 5.0], "origin": [0.0, -60.0], "periodic": True,
        "levels": {"count": 6, "depth": 3000.0},
    }  # fmt: skip
    assert values["bathymetry"] == {"kind": "file", "file": "gebco.nc", "positive": "up"}
    assert values["initial"] == {"temperature": {"file": "levitus.nc"}}
    assert sorted(gaps(values)) == ["time.end", "time.step"]
    filled("ocean", "ocean.toml", time__step=600, time__end=1200)


def test_degrees_of_a_file_of_netcdf_4():
    with h5py.File("etopo.nc", "w") as file:
        array = file.create_dataset("Band1", data=np.full((6, 8), -100.0))
        for axis, (name, values) in enumerate({"lat": 10.0 + np.arange(6), "lon": 20.0 + np.arange(8)}.items()):
            scale = file.create_dataset(name, data=values)
            scale.attrs["units"] = "degrees_north" if name == "lat" else "degrees_east"
            scale.make_scale(name)
            array.dims[axis].attach_scale(scale)
    values = new("ocean", "bathymetry=etopo.nc")
    assert values["grid"]["kind"] == "sphere"
    assert (values["grid"]["cells"], values["grid"]["origin"]) == ([8, 6], [19.5, 9.5])


def test_an_ocean_on_a_plane():
    depths = np.full((12, 8), 500.0)
    depths[0] = 0
    np.save("bathymetry.npy", depths)
    np.save("tau_x.npy", np.full((12, 8), 0.1))
    values = new("ocean", "bathymetry.npy", "tau_x=tau_x.npy")
    assert values["grid"]["cells"] == [12, 8]
    assert values["bathymetry"]["positive"] == "down"
    assert sorted(gaps(values)) == ["grid.levels.count", "grid.spacing", "time.end", "time.step"]
    filled("ocean", "ocean.toml", grid__spacing=[10000, 10000], grid__levels__count=3, time__step=600, time__end=1200)


def test_a_flow_with_a_profile():
    np.save("profile.npy", np.full((8, 6), 0.5))
    values = new("flow", "profile.npy")
    assert [side["kind"] for side in values["side"]] == ["inflow", "outflow"]
    assert "[nx, 6, 8]" in Path("flow.toml").read_text()
    filled("flow", "flow.toml", grid__cells=[12, 6, 8], grid__size=[1, 1, 1], fluid__viscosity=0.01, time__end=0.05)


@pytest.mark.skipif(not PETSC, reason="reactive flows need PETSc")
def test_a_reactive_flow():
    new("reactive")
    filled(
        "reactive", "reactive.toml", grid__cells=[4, 1, 1], grid__spacing=[0.1, 0.1, 0.1], chemistry__primary=["H+"],
        water__1__species='{"H+" = {pH = 7.0}}', time__end=10, time__step=10,
    )  # fmt: skip


def test_a_plasma():
    new("plasma")
    filled("plasma", "plasma.toml", modes__kind="chain", modes__ky=[0.3], species__1__name="ions", time__end=0.5)


def test_an_atmosphere_over_mountains():
    latitudes = np.degrees(np.arcsin(np.polynomial.legendre.leggauss(32)[0]))
    axes = {"latitude": (latitudes, "degrees_north"), "longitude": (5.625 * np.arange(64), "degrees_east")}
    netcdf("orography.nc", "surface_altitude", np.full((32, 64), 10.0), "m", **axes)
    values = new("atmosphere", "orography.nc")
    assert values["grid"] == {"truncation": 21, "latitudes": 32, "longitudes": 64}
    assert values["ground"] == {"file": "orography.nc", "variable": "surface_altitude"}
    filled("atmosphere", "atmosphere.toml", start__kind="resting", time__end=0.1, time__step=2160)


def test_a_farm():
    Path("proteins.fasta").write_text(">a\nMKV\n>b\nMKL\n")
    values = new("farm", "proteins.fasta")
    assert values["tasks"] == [{"kind": "fasta", "file": "proteins.fasta", "database": GAP}]
    assert "2 sequences" in Path("farm.toml").read_text()
    Path("names.txt").write_text("# people\nada\tl\ncharles\tb\n")
    values = new("farm", "names.txt", file="names.toml")
    assert "2 tasks, up to 2 fields between tabs" in Path("names.toml").read_text()
    filled("farm", "names.toml", tasks__1__command='["echo", "{1}"]', farm__workers=1)


def test_nothing_is_overwritten_without_being_asked():
    new("plasma")
    Path("plasma.toml").write_text("mine")
    assert "plasma.toml: exists; allowed: another name (-o), or --overwrite" in refused("plasma")
    assert Path("plasma.toml").read_text() == "mine"
    assert here("new", "plasma", "--overwrite").code == 0
    Path("own.toml").write_text("title = 3")
    assert "is one of the files given" in refused("reactive", "own.toml", "-o", "own.toml", "--overwrite")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("surveys",), "did you mean survey?"),
        (("survey", "vp.npy", "-o", "a.txt"), "--output a.txt: allowed: the name of a .toml file"),
        (("survey", "vp.npy", "-o", "gone/a.toml"), "gone is no folder"),
        (("survey", "nope.npy"), "nope.npy: no such file"),
        (("survey", "vpp=vp.npy"), "vpp=vp.npy: found the name vpp; allowed for a new survey file: vp, epsilon"),
        (("survey", "other.npy"), "other.npy: what it is for is not told by its name or contents; needed: NAME=FILE"),
        (("survey", "vp.npy", "vel.rsf"), "vel.rsf: is taken for vp, and so is vp.npy"),
        (("survey", "vp=recorded.segy"), "recorded.segy: found for vp, but is no volume"),
        (("survey", "gathers=vp.npy"), "vp.npy: found for gathers, but is a volume; allowed: SEG-Y, SU"),
        (("survey", "vp.npy", "eps.npy"), "eps.npy has 3 x 30 cells, vp (vp.npy) has 40 x 30; allowed: the same shape"),
        (("survey", "vel.rsf", "delta.rsf"), "[model] spacing: delta.rsf says 20 m along x, vel.rsf says 10 m"),
        (("survey", "vp=km.npy", "vs=ms.rsf"), "[model] units: found km/s, but ms.rsf says m/s; allowed: the same"),
        (
            ("survey", "vp=quick.rsf"),
            "quick.rsf: says km/s, and holds values from 2e+06 to 2.5e+06 m/s then; allowed: 300 to 9000 m/s; as "
            '"m/s" they are 2000 to 2500 m/s',
        ),
        (("survey", "far.rsf", "recorded.segy"), "recorded.segy has sources and receivers at x from 0 to 390 m"),
        (("survey", "vel.rsf", "rec.csv"), "rec.csv: found receivers at x from 5000 to 6000 m, all outside the model"),
        (("survey", "nan.npy"), "nan.npy: found NaN or infinity in 1 cells"),
        (("survey", "empty.npy"), "empty.npy: "),
        (("survey", "vp.dat"), "vp.dat: unknown kind of file"),
        (("ocean", "recorded.segy"), "recorded.segy: what it is for is not told by its name"),
        (("ocean", "bathymetry=recorded.segy"), "recorded.segy: found gathers; allowed in a new ocean file: volumes"),
        (("ocean", "bathymetry=nan.npy"), "nan.npy: found NaN in 1 cells; needed: 0 on land"),
        (("ocean", "bathymetry=vp.npy", "tau_x=eps.npy"), "eps.npy: found 3 x 30 values (x, y); needed: 40 x 30"),
        (("ocean", "bathymetry=feet.rsf"), "feet.rsf: found the axes X, Depth; needed: x and y"),
        (("plasma", "vp.npy"), "vp.npy: found with plasma; allowed: no files"),
        (("flow", "profile=cube.npy"), "cube.npy: found 3 axes; needed: two, z and y"),
        (("atmosphere", "ground=vp.npy"), "vp.npy: "),
        (("reactive", "chemistry=bad.toml"), "bad.toml: "),
        (("farm", "fasta=rec.csv"), "rec.csv: is no FASTA"),
        (("farm", "proteins.fasta", "database=nothing"), "nothing: found no database of BLAST+"),
        (("farm", "empty.txt"), "empty.txt: is empty"),
    ],
)
def test_bad_input(words, told):
    inputs(Path())
    rsf("vel.rsf", velocity())
    rsf("delta.rsf", 0 * velocity(), d2=20, unit="")
    rsf("far.rsf", velocity(), origin=1e5)
    rsf("feet.rsf", velocity() * 3, unit="ft/s")
    rsf("ms.rsf", velocity() / 2, unit="m/s")
    rsf("quick.rsf", velocity(), unit="km/s")
    np.save("km.npy", velocity() / 1000)
    np.save("eps.npy", velocity()[:3] * 0)
    np.save("other.npy", velocity() * 100)
    np.save("cube.npy", np.zeros((3, 3, 3)))
    nan = velocity()
    nan[3, 4] = np.nan
    np.save("nan.npy", nan)
    for name in ("empty.npy", "empty.txt"):
        Path(name).write_bytes(b"")
    Path("vp.dat").write_bytes(b"\1\2\3")
    Path("rec.csv").write_text("x,z\n5000,20\n6000,20\n")
    Path("bad.toml").write_text("title = 3\n")
    Path("proteins.fasta").write_text(">a\nMKV\n")
    before = sorted(Path().iterdir())
    assert told in refused(*words)
    assert sorted(Path().iterdir()) == before
