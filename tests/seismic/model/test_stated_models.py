"""Models and what their files state: axes, units, feet are obeyed, contradictions refused; what is assumed is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI
from segy_support import Bytes
from stated_volumes import VELOCITIES, WRITERS, Stated, Truth, array_of, lacking

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.parallel.decomposition import Decomposition
from fathometer.seismic.model.earth import EarthFiles
from fathometer.seismic.model.prepare.driver import prepare_volume
from fathometer.seismic.model.prepare.request import PreparationRequest
from fathometer.seismic.model.prepare.thomsen import Given
from fathometer.seismic.setup.survey_layout import survey_layout
from fathometer.seismic.survey import Survey, survey_of
from fathometer.storage.describe import describe
from fathometer.storage.volumes.volume import open_volume

NX, NZ = 40, 30
VALUES = (2000 + 10.0 * np.arange(NX)[:, None] + np.arange(NZ)).astype(np.float32)
TRUTH = Truth(VALUES, (10.0, 10.0), (0.0, 0.0))
SEA = np.broadcast_to(np.where(np.arange(NZ) < 8, 1500.0, 2500.0), (NX, NZ)).astype(np.float32)


def survey(folder: Path, source: tuple[float, float] = (200.0, 20.0), **model: Any) -> Survey:
    place = {"x": source[0], "z": source[1]}
    acquisition = {"sources": place, "receivers": place, "sample_interval": 0.002}
    values = {"model": model, "acquisition": acquisition, "wavelet": {"kind": "ricker", "peak_frequency": 15.0}}
    values["propagation"] = {"duration": 0.2}
    return survey_of(values, folder / "survey.toml")


def earth(files: EarthFiles) -> Any:
    """The model of a survey as one rank reads it."""
    grid: Grid = files.grid
    return files.read(grid, Decomposition(grid.full_shape, (1, 1, 1), 0), 4, MPI.COMM_SELF)


def vp(folder: Path, **model: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    """vp (nx, nz), m/s, and all notes."""
    files = EarthFiles(survey(folder, **model))
    found = earth(files)
    return found.vp[:, 0], files.notes + found.notes


def prepared(folder: Path, reference: str, **keys: Any) -> tuple[np.ndarray, list[str]]:
    lines: list[str] = []
    prepare_volume(PreparationRequest(str(folder / reference), folder / "out.rsf", **keys), lines.append)
    with open_volume("out.rsf", folder) as volume:
        assert volume.info.unit == "m/s"
        return volume.read((0, 0), volume.info.shape), lines


@pytest.mark.parametrize("form", [form for form in WRITERS if not lacking(form)])
@pytest.mark.parametrize("how", [Stated("zx"), Stated("xz", falling="z"), Stated("zx", unit="ft/s", length="ft")])
def test_a_model_is_what_its_file_says(tmp_path, form, how):
    reference = WRITERS[form](tmp_path, TRUTH, how)
    found, notes = vp(tmp_path, vp=reference)
    np.testing.assert_allclose(found, VALUES, rtol=1e-6)
    assert not notes
    found, lines = prepared(tmp_path, reference)
    np.testing.assert_allclose(found, VALUES, rtol=1e-6)
    assert not any("note" in line for line in lines)


@pytest.mark.parametrize("unit", VELOCITIES)
def test_units_of_the_survey(tmp_path, unit):
    np.save(tmp_path / "vp.npy", VELOCITIES[unit](VALUES.astype(np.float64)))
    found, _ = vp(tmp_path, vp="vp.npy", spacing=[10.0, 10.0], axes="xz", units=unit)
    np.testing.assert_allclose(found, VALUES, rtol=1e-6)
    found, _ = prepared(tmp_path, "vp.npy", input_spacing=(10.0,), axes="xz", units=unit)
    np.testing.assert_allclose(found, VALUES, rtol=1e-6)


def test_units_that_contradict_or_are_unknown(tmp_path):
    reference = WRITERS["rsf"](tmp_path, TRUTH, Stated("xz", unit="km/s"))
    with pytest.raises(InputError, match=r"\[model\] units: found m/s, but .*v.rsf says km/s; allowed: the same"):
        vp(tmp_path, vp=reference, units="m/s")
    text = (tmp_path / "v.rsf").read_text()
    (tmp_path / "v.rsf").write_text(text.replace('"km/s"', '"furlongs"'))
    with pytest.raises(
        InputError, match=r"\[model\] units: missing; needed, since .*v.rsf says furlongs; known: m/s, km"
    ):
        vp(tmp_path, vp=reference)
    np.testing.assert_allclose(vp(tmp_path, vp=reference, units="km/s")[0], VALUES, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-3, 10.0])
def test_what_no_rock_has_is_refused_until_units_are_given(tmp_path, scale):
    np.save(tmp_path / "vp.npy", scale * VALUES)
    for read in (
        lambda: vp(tmp_path, vp="vp.npy", spacing=[10.0, 10.0]),
        lambda: prepared(tmp_path, "vp.npy", input_spacing=(10.0,)),
    ):
        with pytest.raises(InputError) as caught:
            read()
        assert all(words in str(caught.value) for words in ("300 to 9000", "ft/s", "km/s", "slowness", "s2/km2"))


def test_a_model_of_hard_rock_may_be_in_feet(tmp_path):
    np.save(tmp_path / "vp.npy", VALUES / 0.3048)
    keys = {"vp": "vp.npy", "spacing": [10.0, 10.0], "axes": "xz"}
    note = 'no velocity below 6561.68 m/s, and no unit: if its values are in feet, [model] units is "ft/s"'
    _, notes = vp(tmp_path, **keys)
    assert len(notes) == 1
    assert note in notes[0]
    assert not vp(tmp_path, **keys, units="m/s")[1]
    _, lines = prepared(tmp_path, "vp.npy", input_spacing=(10.0,), axes="xz")
    assert any('--units is "ft/s"' in line for line in lines)


def feet(folder: Path) -> str:
    """A SEG-Y of 40 traces every 10 m, whose header says feet."""
    trace = [{181: round(10 * n / 0.3048 * 100), 71: -100, 189: 1, 193: n + 1} for n in range(NX)]
    Bytes(VALUES / np.float32(0.3048), trace=trace, feet=True, every={117: 4000}).write(folder / "vp.segy")
    return "vp.segy"


def test_feet_of_the_binary_header_hold_for_values(tmp_path):
    keys = {"vp": feet(tmp_path), "spacing": [10.0, 10.0]}
    found, notes = vp(tmp_path, **keys)
    np.testing.assert_allclose(found, VALUES, rtol=1e-6)
    assert any("is in feet by its binary header: its values are taken as ft/s" in note for note in notes)
    found, notes = vp(tmp_path, **keys, units="m/s")
    np.testing.assert_allclose(found, VALUES / 0.3048, rtol=1e-6)
    assert not any("ft/s" in note for note in notes)
    np.testing.assert_allclose(prepared(tmp_path, "vp.segy", input_spacing=(10.0,))[0], VALUES, rtol=1e-6)
    assert any("feet" in note for note in describe("vp.segy", tmp_path).notes)


def test_axes_that_shape_alone_decides_are_told(tmp_path):
    np.save(tmp_path / "vp.npy", VALUES)
    note = "does not name its axes: 40 x 30 cells are taken as x, z, slowest first"
    _, notes = vp(tmp_path, vp="vp.npy", spacing=[10.0, 10.0])
    assert len(notes) == 1
    assert note in notes[0]
    assert not vp(tmp_path, vp="vp.npy", spacing=[10.0, 10.0], axes="xz")[1]
    assert any(note in line for line in prepared(tmp_path, "vp.npy", input_spacing=(10.0,))[1])


@pytest.mark.parametrize(
    ("names", "axes", "words"),
    [
        ({"x": "foo", "z": "bar"}, None, r'\[model\] axes: left out, but .* labels its axes "foo", "bar"'),
        ({"x": "x", "z": "Distance"}, None, r'labels its axes "x", "Distance"'),
        ({"x": "x", "z": "Depth"}, "zx", r'found "zx", but .* labels its axes "xz"'),
        ({"x": "x", "z": "t"}, None, "has an axis of time"),
    ],
)
def test_labels_that_are_unknown_or_contradict(tmp_path, names, axes, words):
    reference = WRITERS["rsf"](tmp_path, TRUTH, Stated("xz", names))
    text = (tmp_path / "v.rsf").read_text()
    (tmp_path / "v.rsf").write_text(text.replace('unit1="m"', 'unit1="s"') if names["z"] == "t" else text)
    with pytest.raises(InputError, match=words):
        EarthFiles(survey(tmp_path, vp=reference, axes=axes))
    if axes is None:
        with pytest.raises(InputError, match=words.replace(r"\[model\] axes", "--axes")):
            prepared(tmp_path, reference)


def test_one_label_that_is_known_tells_the_other_axis(tmp_path):
    reference = WRITERS["rsf"](tmp_path, TRUTH, Stated("zx", {"x": "", "z": "Depth"}))
    np.testing.assert_allclose(vp(tmp_path, vp=reference)[0], VALUES, rtol=1e-6)


def test_uneven_coordinates_are_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "v.h5", "w") as file:
        data = file.create_dataset("vp", data=VALUES)
        for number, (axis, along) in enumerate((("x", 10.0 * np.arange(NX)), ("z", np.arange(NZ) ** 1.5))):
            scale = file.create_dataset(axis, data=along)
            scale.make_scale(axis)
            data.dims[number].attach_scale(scale)
    with pytest.raises(InputError, match=r'v.h5: the axis "z": its coordinates are not evenly spaced'):
        EarthFiles(survey(tmp_path, vp="v.h5:vp", spacing=[10.0, 10.0]))
    with pytest.raises(InputError, match=r'v.h5:vp: the axis "z": its coordinates are not evenly spaced'):
        prepared(tmp_path, "v.h5:vp", input_spacing=(10.0,))


def test_sources_outside_tell_that_depth_is_the_first_axis(tmp_path):
    np.save(tmp_path / "vp.npy", VALUES.T)
    keys = {"vp": "vp.npy", "spacing": [10.0, 10.0]}
    with pytest.raises(InputError, match=r'all of them lie inside with depth as the first axis: \[model\] axes = "zx"'):
        survey_layout(survey(tmp_path, (380.0, 20.0), **keys), imaging=False)
    survey_layout(survey(tmp_path, (380.0, 20.0), **keys, axes="zx"), imaging=False)
    with pytest.raises(InputError) as caught:  # nowhere inside
        survey_layout(survey(tmp_path, (900.0, 20.0), **keys), imaging=False)
    assert "all of them" not in str(caught.value)


@pytest.mark.parametrize("three", [False, True])
def test_water_tells_that_depth_is_the_first_axis(tmp_path, three):
    sea = np.broadcast_to(SEA[:, None], (NX, 6, NZ)) if three else SEA
    np.save(tmp_path / "right.npy", sea)
    np.save(tmp_path / "wrong.npy", np.ascontiguousarray(sea.T))
    given = "zyx" if three else "zx"
    prepare_volume(PreparationRequest(str(tmp_path / "right.npy"), tmp_path / "o.rsf", input_spacing=(10.0,)), print)
    request = PreparationRequest(str(tmp_path / "wrong.npy"), tmp_path / "o.rsf", input_spacing=(10.0,))
    with pytest.raises(InputError, match=r"--axes: left out, which means .* are all water, as if that were depth"):
        prepare_volume(request, print)
    prepare_volume(replace(request, axes=given), print)
    if not three:
        with pytest.raises(InputError, match=r'\[model\] axes: left out, .* all water, .*; needed: axes = "zx"'):
            vp(tmp_path, vp="wrong.npy", spacing=[10.0, 10.0])
        np.testing.assert_array_equal(vp(tmp_path, vp="wrong.npy", spacing=[10.0, 10.0], axes="zx")[0], SEA)
        np.testing.assert_array_equal(vp(tmp_path, vp="right.npy", spacing=[10.0, 10.0])[0], SEA)


def test_units_of_other_properties(tmp_path):
    WRITERS["rsf"](tmp_path, TRUTH, Stated("xz"))
    text = (tmp_path / "v.rsf").read_text()
    for name, unit, values in (("epsilon", "%", 0 * VALUES + 10), ("delta", "furlongs", 0 * VALUES)):
        values.tofile(tmp_path / f"{name}.bin")
        changed = text.replace("v.bin", f"{name}.bin").replace('unit="m/s"', f'unit="{unit}"')
        (tmp_path / f"{name}.rsf").write_text(changed)
    found = earth(EarthFiles(survey(tmp_path, vp="v.rsf", epsilon="epsilon.rsf")))
    np.testing.assert_allclose(found.epsilon, 0.1, rtol=1e-6)
    with pytest.raises(
        InputError, match=r"\[model\] delta: .*delta.rsf says that its values are in furlongs; known: none"
    ):
        EarthFiles(survey(tmp_path, vp="v.rsf", epsilon=0.1, delta="delta.rsf"))


@pytest.mark.parametrize(
    ("epsilon", "delta", "files"),
    [
        (0.0, 0.0, "{0}/epsilon.rsf and {0}/delta.rsf"),
        (0.0, None, "{0}/epsilon.rsf"),
        (0.1, 0.0, ""),
        (0.1, None, ""),
    ],
)
def test_files_of_zeros_are_told(tmp_path, epsilon, delta, files):
    """By their headers the run is VTI; delta = None: the number 0."""
    WRITERS["rsf"](tmp_path, TRUTH, Stated("xz"))
    text = (tmp_path / "v.rsf").read_text()
    keys = {}
    for name, value in {"epsilon": epsilon, "delta": delta}.items():
        if value is not None:
            (0 * VALUES + value).tofile(tmp_path / f"{name}.bin")
            (tmp_path / f"{name}.rsf").write_text(text.replace("v.bin", f"{name}.bin").replace('unit="m/s"', 'unit=""'))
            keys[name] = f"{name}.rsf"
    opened = EarthFiles(survey(tmp_path, vp="v.rsf", **keys))
    assert not opened.isotropic
    words = (
        f"[model] epsilon, delta: all values of {files.format(tmp_path)} are 0: the equation of VTI media is computed"
    )
    assert [words in note for note in earth(opened).notes if "VTI" in note] == [True] * bool(files)
    assert not any("VTI" in note for note in earth(EarthFiles(survey(tmp_path, vp="v.rsf", epsilon=0))).notes)


def test_epsilon_that_may_be_in_per_cent(tmp_path):
    WRITERS["rsf"](tmp_path, TRUTH, Stated("xz"))
    text = (tmp_path / "v.rsf").read_text()
    for name, values in (("epsilon", 0 * VALUES + 1.5), ("delta", 0 * VALUES + 1.0)):
        values.tofile(tmp_path / f"{name}.bin")
    keys = {"vp": "v.rsf", "epsilon": "epsilon.rsf", "delta": "delta.rsf"}
    for unit, told in (("", True), ("fraction", False), ("%", False)):
        for name in ("epsilon", "delta"):
            changed = text.replace("v.bin", f"{name}.bin").replace('unit="m/s"', f'unit="{unit}"')
            (tmp_path / f"{name}.rsf").write_text(changed)
        notes = " ".join(earth(EarthFiles(survey(tmp_path, **keys))).notes)
        for name, largest in (("epsilon", "1.5"), ("delta", "1")):
            words = f"[model] {name}: {tmp_path / name}.rsf has values up to {largest} in magnitude, and no unit"
            assert (words in notes) == told
        given = {name: Given(str(tmp_path / f"{name}.rsf")) for name in ("epsilon", "delta")}
        lines = " ".join(prepared(tmp_path, "v.rsf", **given)[1])
        assert (f"--epsilon: {tmp_path / 'epsilon.rsf'} has values up to 1.5 in magnitude" in lines) == told


def test_a_spacing_of_one_axis_alone_must_not_be_contradicted(tmp_path):
    reference = WRITERS["rsf"](tmp_path, TRUTH, Stated("xz"))
    text = (tmp_path / "v.rsf").read_text()
    kept = [line for line in text.splitlines() if not line.startswith("d2")]
    (tmp_path / "v.rsf").write_text("\n".join(kept) + "\n")
    np.testing.assert_allclose(vp(tmp_path, vp=reference, spacing=[20.0, 10.0])[0], VALUES, rtol=1e-6)
    with pytest.raises(InputError, match=r"v.rsf says 10 m along z, the survey says 20 m"):
        EarthFiles(survey(tmp_path, vp=reference, spacing=[20.0, 20.0]))
    with pytest.raises(InputError, match=r"--input-spacing: found 20 m along z, but .*v.rsf says 10"):
        prepared(tmp_path, reference, input_spacing=(20.0, 20.0))
    with pytest.raises(InputError, match=r"\[model\] spacing: missing"):
        EarthFiles(survey(tmp_path, vp=reference))


SQUARE = Truth(VALUES[:NZ], (10.0, 10.0), (0.0, 0.0))


def epsilon(folder: Path, values: np.ndarray) -> str:
    np.save(folder / "eps.npy", np.full(values.shape, 0.1, np.float32))
    return "eps.npy"


def test_a_file_without_names_beside_one_with_them_is_told(tmp_path):
    for how in (Stated("xz"), Stated("zx")):
        keys = {"vp": WRITERS["rsf"](tmp_path, TRUTH, how), "epsilon": epsilon(tmp_path, array_of(TRUTH, how)[0])}
        (note,) = vp(tmp_path, **keys)[1]
        order = ", ".join(how.axes)
        assert f"eps.npy does not name its axes: {'40 x 30' if how.axes == 'xz' else '30 x 40'} cells" in note
        assert f"taken as {order}, slowest first, as " in note
        assert "v.rsf has them" in note
        assert not vp(tmp_path, **keys, axes=how.axes)[1]


def test_a_file_without_names_beside_one_that_is_turned_or_transposed_is_refused(tmp_path):
    for truth, how, words in (
        (
            TRUTH,
            Stated("xz", falling="z"),
            r"eps.npy does not name its axes, and .*v.rsf is turned round along z; need",
        ),
        (SQUARE, Stated("zx"), r'eps.npy does not name its axes: "zx", as .*v.rsf, or "xz"\? needed: names'),
    ):
        keys = {"vp": WRITERS["rsf"](tmp_path, truth, how), "epsilon": epsilon(tmp_path, array_of(truth, how)[0])}
        with pytest.raises(InputError, match=words):
            vp(tmp_path, **keys)
        assert len(vp(tmp_path, **keys, axes=how.axes)[1]) == len(how.falling)


def test_units_that_are_given_allow_what_the_key_does(tmp_path):
    for low, fits in ((150.0, True), (15000.0, True), (90.0, False), (20050.0, False)):
        np.save(tmp_path / "vp.npy", low + VALUES / 1000)
        for units in ("m/s", None):
            for read in (
                lambda units=units: vp(tmp_path, vp="vp.npy", spacing=[10.0, 10.0], axes="xz", units=units)[0],
                lambda units=units: prepared(tmp_path, "vp.npy", input_spacing=(10.0,), axes="xz", units=units)[0],
            ):
                if fits and units:
                    np.testing.assert_allclose(read(), low + VALUES / 1000, rtol=1e-6)
                else:
                    with pytest.raises(InputError, match="100 to 20000" if units else "300 to 9000"):
                        read()


def test_lines_that_are_counted_need_a_spacing_and_leave_the_depths_as_they_are(tmp_path):
    VALUES.tofile(tmp_path / "v.bin")
    text = 'in="v.bin" data_format="native_float" n1=30 n2=40 o1=50 d1=10 o2=1200 d2=1 label1="z" label2="inline"\n'
    (tmp_path / "v.rsf").write_text(text)
    with pytest.raises(InputError, match=r'v.rsf: the axis "inline" counts lines .*, or \[model\] spacing'):
        EarthFiles(survey(tmp_path, vp="v.rsf"))
    with pytest.raises(InputError, match=r'v.rsf: the axis "inline" counts lines .*, or --input-spacing'):
        prepared(tmp_path, "v.rsf")
    files = EarthFiles(survey(tmp_path, vp="v.rsf", spacing=[25.0, 10.0]))
    assert sum("its coordinates are not used" in note for note in files.notes) == 1
    grid = files.grid
    assert (grid.spacing[::2], grid.origin) == ((25.0, 10.0), (0.0, 0.0, 50.0))
    _, lines = prepared(tmp_path, "v.rsf", input_spacing=(25.0, 10.0))
    assert sum("its coordinates are not used" in line for line in lines) == 1
    assert (describe("out.rsf", tmp_path).spacing, describe("out.rsf", tmp_path).origin) == ((25.0, 10.0), (0.0, 50.0))


def test_coordinates_that_are_not_used_are_told(tmp_path):
    h5py = pytest.importorskip("h5py")
    for unit, coordinates in (("degrees_east", ""), ("m", "easting northing time")):
        with h5py.File(tmp_path / "v.h5", "w") as file:
            file["vp"] = VALUES
            file["vp"].attrs["units"] = "m/s"
            for axis, (name, cells) in enumerate((("lon", NX), ("z", NZ))):
                file[name] = 10.0 * np.arange(cells)
                file[name].make_scale(name)
                file[name].attrs["units"] = unit if name == "lon" else "m"
                file["vp"].dims[axis].attach_scale(file[name])
            if coordinates:
                file["vp"].attrs["coordinates"] = coordinates
        words = (
            'auxiliary coordinates "easting", "northing" are not used'
            if coordinates
            else 'the axis "lon": its unit is "degrees_east": its coordinates are not used'
        )
        told = EarthFiles(survey(tmp_path, vp="v.h5", spacing=[10.0, 10.0])).notes
        _, lines = prepared(tmp_path, "v.h5", input_spacing=(10.0, 10.0))
        for notes in (told, lines):
            assert sum(words in note for note in notes) == 1


def test_what_stands_for_missing_data_is_told_where_it_matters(tmp_path):
    h5py = pytest.importorskip("h5py")
    for bad, words in ((-999.0, "in 1 of 1200 cells, where -999 stands for missing data, first"), (99999.0, "outside")):
        values = VALUES.copy()
        values[3, 4] = bad
        with h5py.File(tmp_path / "v.h5", "w") as file:
            file["vp"] = values
            file["vp"].attrs["_FillValue"] = np.float32(-999)
        with pytest.raises(InputError, match=words) as error:
            vp(tmp_path, vp="v.h5", spacing=[10.0, 10.0])
        assert ("stands for missing" in str(error.value)) == (bad < 0)
        with pytest.raises(InputError) as error:
            prepared(tmp_path, "v.h5", input_spacing=(10.0, 10.0))
        assert ("stands for missing" in str(error.value)) == (bad < 0)


def test_all_units_that_fit_are_named(tmp_path):
    np.save(tmp_path / "v.npy", (1000 / (VALUES * 2)).astype(np.float32))
    with pytest.raises(InputError, match=r'as "s/km" they are 4000 .*; as "s2/km2" they are 2000'):
        vp(tmp_path, vp="v.npy", spacing=[10.0, 10.0], axes="xz")
