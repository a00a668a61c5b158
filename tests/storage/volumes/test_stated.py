"""What files of others state of names, units, direction and packing of their arrays: obeyed, or refused in one line.

The files are made by other libraries; each is read by one rank and by every strategy.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cli_support import here
from mpi4py import MPI
from stated_volumes import WRITERS, Stated, Truth, array_of, lacking

from fathometer.base.errors import InputError
from fathometer.storage.volumes.axis_labels import axis_of
from fathometer.storage.volumes.reader import SharedVolume
from fathometer.storage.volumes.registry import format_to_read
from fathometer.storage.volumes.strategy import Strategy
from fathometer.storage.volumes.volume import open_volume, write_volume

NX, NZ = 7, 5
TRUTH = Truth(2000 + 10.0 * np.arange(NX)[:, None] + np.arange(NZ), (10.0, 12.5), (100.0, 0.0))
SOLID = Truth(
    2000 + 100.0 * np.arange(4)[:, None, None] + 10.0 * np.arange(3)[:, None] + np.arange(6),
    (10.0, 20.0, 5.0),
    (0.0,) * 3,
)
FORMS = [form for form in WRITERS if not lacking(form)]
ATTRIBUTES = [form for form in FORMS if form != "rsf"]


def in_order(volume, values):
    """A block of a volume as [x, (y,) z]."""
    axes = [axis_of(label) for label in volume.info.labels]
    return values.transpose([axes.index(axis) for axis in sorted(axes)])


def whole(volume):
    return volume.read([0] * len(volume.info.shape), volume.info.shape)


def compare(truth, how, form, folder, tolerance=1e-6):
    """The file means the truth, in its own units of values, read whole, in part, and by all strategies."""
    with open_volume(WRITERS[form](folder, truth, how), folder) as volume:
        info = volume.info
        wanted = array_of(truth, replace(how, axes=truth.axes, falling="", packed=False))[0]
        found = in_order(volume, whole(volume))
        np.testing.assert_allclose(found, wanted, rtol=tolerance)
        axes = [axis_of(label) for label in info.labels]
        for number, axis in enumerate(truth.axes):
            assert info.spacing[axes.index(axis)] == pytest.approx(truth.spacing[number], rel=1e-5)
            assert info.origin[axes.index(axis)] == pytest.approx(truth.origin[number], rel=1e-5, abs=1e-3)
        assert info.unit == how.unit
        hi = [n - 1 for n in info.shape]
        part = volume.read([1] * len(hi), hi)
        np.testing.assert_array_equal(part, whole(volume)[tuple(slice(1, n) for n in hi)])
        for name in format_to_read(volume.path).reads:
            if not format_to_read(volume.path).missing(name, 1):
                with SharedVolume(volume, MPI.COMM_SELF, Strategy.of(name)) as shared:
                    np.testing.assert_array_equal(shared.read([1] * len(hi), hi), part)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "how",
    [
        Stated("xz"),
        Stated("zx"),
        Stated("zx", {"x": "Distance", "z": "Depth"}),
        Stated("xz", falling="z"),
        Stated("zx", falling="x"),
        Stated("xz", length="km"),
        Stated("xz", length="ft", unit="ft/s"),
        Stated("xz", unit="km/s"),
    ],
)
def test_names_direction_and_units(tmp_path, form, how):
    compare(TRUTH, how, form, tmp_path)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("axes", ["xyz", "zyx", "yzx"])
def test_three_axes(tmp_path, form, axes):
    compare(SOLID, Stated(axes, {"y": "crossline", "x": "inline"}, falling="yz"), form, tmp_path)


@pytest.mark.parametrize("form", ATTRIBUTES)
@pytest.mark.parametrize("falling", ["", "z"])
def test_heights(tmp_path, form, falling):
    compare(TRUTH, Stated("xz", falling=falling, upward=True), form, tmp_path)


@pytest.mark.parametrize("form", ATTRIBUTES)
def test_packing(tmp_path, form):
    compare(TRUTH, Stated("zx", packed=True, falling="z"), form, tmp_path, 1e-5)
    with open_volume(
        WRITERS[form](_empty(tmp_path), TRUTH, Stated("xz", packed=True, missing=(3, 2))), _empty(tmp_path)
    ) as v:
        assert np.argwhere(np.isnan(whole(v))).tolist() == [[3, 2]]


def _empty(folder):
    (folder / "missing").mkdir(exist_ok=True)
    return folder / "missing"


@pytest.mark.parametrize("form", [form for form in ATTRIBUTES if form != "zarr"])
def test_coordinates_of_float32(tmp_path, form):
    compare(replace(TRUTH, origin=(451493.0, 0.0)), Stated("xz", coordinates="f4"), form, tmp_path)


def test_arrays_of_matlab_are_column_major(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "m.mat", "w") as file:
        file.create_dataset("vp", data=TRUTH.values.T).attrs["MATLAB_class"] = np.bytes_("double")
    with open_volume("m.mat:vp", tmp_path) as volume:
        assert volume.info.shape == (NX, NZ)
        np.testing.assert_array_equal(whole(volume), TRUTH.values)
        np.testing.assert_array_equal(volume.read((2, 1), (4, 5)), TRUTH.values[2:4, 1:5])
        for name in format_to_read(volume.path).reads:
            with SharedVolume(volume, MPI.COMM_SELF, Strategy.of(name)) as shared:
                np.testing.assert_array_equal(shared.read((2, 1), (4, 5)), TRUTH.values[2:4, 1:5])


def hdf5_with(folder, attributes, coordinates=None, of_z=None):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "v.h5", "w") as file:
        data = file.create_dataset("vp", data=TRUTH.values)
        data.attrs.update(attributes)
        for number, (axis, along) in enumerate((coordinates or {}).items()):
            scale = file.create_dataset(axis, data=along)
            scale.make_scale(axis)
            scale.attrs.update(of_z or {} if number == 1 else {})
            data.dims[number].attach_scale(scale)
    return "v.h5:vp"


X = 10.0 * np.arange(NX)


@pytest.mark.parametrize(
    ("attributes", "coordinates", "of_z", "words"),
    [
        ({"scale_factor": "half"}, None, {}, 'v.h5:vp: scale_factor: found "half"; allowed: one finite number'),
        ({"scale_factor": 0.0}, None, {}, "scale_factor: found 0"),
        ({"scale_factor": "2.0"}, None, {}, 'v.h5:vp: scale_factor: found "2.0"; allowed: one finite number'),
        ({"add_offset": 1.0 + 2.0j}, None, {}, "v.h5:vp: add_offset: found (1+2j); allowed: one finite number"),
        ({"add_offset": [1.0, 2.0]}, None, {}, "add_offset: found [1. 2.]"),
        ({"valid_range": [1.0]}, None, {}, "valid_range: found [1.]; allowed: 2 numbers"),
        ({"_Unsigned": "true"}, None, {}, "_Unsigned"),
        ({}, {"x": X, "z": -12.5 * np.arange(NZ)}, {}, 'the axis "z" runs from 0 to -50: are these depths?'),
        (
            {},
            {"x": X, "z": 12.5 * np.arange(NZ)},
            {"positive": "left"},
            'the axis "z": positive = "left"; allowed: "up"',
        ),
        ({}, {"x": X, "z": np.array([0.0, 2.0, 1.0, 3.0, 4.0])}, {}, "its coordinates neither rise nor fall"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path, attributes, coordinates, of_z, words):
    reference = hdf5_with(tmp_path, attributes, coordinates, of_z)
    with pytest.raises(InputError) as caught:
        open_volume(reference, tmp_path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("labels", "read"),
    [
        (np.array([b"x", b"z"]), ("x", "z")),  # of fixed length: the library's own reader ends the process
        (["x", "z"], ("x", "z")),
        ([b"\xff\xfez", b"x"], ("??z", "x")),
        (np.arange(2), None),
        ("far too long a text for a label", None),
        (["x"], None),
    ],
    ids=str,
)
def test_labels_of_any_type(tmp_path, labels, read):
    h5py = pytest.importorskip("h5py")
    reference = hdf5_with(tmp_path, {})
    with h5py.File(tmp_path / "v.h5", "r+") as file:
        kind = h5py.string_dtype("ascii") if isinstance(labels, list) else None
        file["vp"].attrs.create("DIMENSION_LABELS", labels, dtype=kind)
    with open_volume(reference, tmp_path) as volume:
        labels = volume.info.labels
        assert (labels and tuple(label.replace("\ufffd", "?") for label in labels)) == read
    done = here("info", tmp_path / "v.h5")
    assert done.code == 0, done.err
    done.out.encode("utf-8")


@pytest.mark.parametrize("value", ["abc", np.arange(2), np.array([b"z", b"x"]), None], ids=str)
def test_scales_of_another_type_are_none(tmp_path, value):
    """A text, or references that are no lists: the library's own reader ends the process."""
    h5py = pytest.importorskip("h5py")
    reference = hdf5_with(tmp_path, {})
    with h5py.File(tmp_path / "v.h5", "r+") as file:
        if value is None:
            file["vp"].attrs.create("DIMENSION_LIST", [file["vp"].ref] * 2, dtype=h5py.ref_dtype)
        else:
            file["vp"].attrs["DIMENSION_LIST"] = value
    with open_volume(reference, tmp_path) as volume:
        assert volume.info.spacing is None


def test_values_out_of_their_valid_range_are_missing(tmp_path):
    hdf5_with(tmp_path, {"valid_range": [2001.0, 2062.0]})
    with open_volume("v.h5:vp", tmp_path) as volume:
        wrong = (TRUTH.values < 2001) | (TRUTH.values > 2062)
        assert wrong.any()
        np.testing.assert_array_equal(np.isnan(whole(volume)), wrong)


def test_uneven_and_unknown_coordinates_give_no_spacing(tmp_path):
    hdf5_with(tmp_path, {}, {"x": X, "depth": np.array([0.0, 1.0, 3.0, 7.0, 15.0])})
    with open_volume("v.h5:vp", tmp_path) as volume:
        assert (volume.info.spacing, volume.info.uneven) == (
            (None, 'the axis "depth": its coordinates are not evenly spaced')
        )
    hdf5_with(tmp_path, {}, {"x": X, "depth": np.arange(NZ)}, {"units": "fathoms"})
    with open_volume("v.h5:vp", tmp_path) as volume:
        assert (volume.info.spacing, volume.info.unplaced) == (None, 'the axis "depth": its unit is "fathoms"')


def test_coordinates_that_somebody_has_turned_round_overrule_our_attributes(tmp_path):
    attributes = {"spacing": [10.0, 12.5], "origin": [0.0, 0.0], "labels": ["x", "z"]}
    hdf5_with(tmp_path, attributes, {"x": X, "z": 12.5 * np.arange(NZ)[::-1]})
    with open_volume("v.h5:vp", tmp_path) as volume:
        assert (volume.info.spacing, volume.info.origin) == ((10.0, 12.5), (0.0, 0.0))
        np.testing.assert_array_equal(whole(volume), TRUTH.values[:, ::-1])


@pytest.mark.parametrize("label", ["z", ""])
def test_an_rsf_that_may_run_upward_is_refused(tmp_path, label):
    TRUTH.values.astype("f4").tofile(tmp_path / "v.bin")
    text = f'n1={NZ} n2={NX} d1=-10 d2=10 o1=0 label1="{label}" in="v.bin" data_format="native_float"\n'
    (tmp_path / "v.rsf").write_text(text)
    with pytest.raises(InputError, match="runs from 0 to -40: are these depths"):
        open_volume("v.rsf", tmp_path)


@pytest.mark.parametrize(
    ("label", "axis"),
    [
        ("x", "x"),
        ("Lateral distance (km)", "x"),
        ("Inline", "x"),
        ("Y-distance", "y"),
        ("xline", "y"),
        ("Depth [m]", "z"),
        ("ELEVATION", "z"),
        ("two-way time", "t"),
        ("twt", "t"),
        ("x z", ""),
        ("it's", ""),
        ("species", ""),
        ("", ""),
    ],
)
def test_labels(label, axis):
    assert axis_of(label) == axis


def rsf_with(folder, keys):
    """An RSF of TRUTH with d and o of x, and other keys."""
    TRUTH.values.astype("f4").tofile(folder / "v.bin")
    text = f'n1={NZ} n2={NX} d2=10 o2=-500 in="v.bin" data_format="native_float" {keys}\n'
    (folder / "v.rsf").write_text(text)
    return open_volume("v.rsf", folder)


@pytest.mark.parametrize("label", ["", 'label1="Z"', 'label1="Depth" label2="x"'])
def test_depths_of_an_rsf_that_are_all_negative_are_refused(tmp_path, label):
    with pytest.raises(InputError, match=r"runs from -290 to -250: are these depths.*positive1"):
        rsf_with(tmp_path, f"o1=-290 d1=10 {label}")
    for positive, first in (("down", -290.0), ("up", 250.0)):
        with rsf_with(tmp_path, f'o1=-290 d1=10 {label} positive1="{positive}"') as volume:
            assert volume.info.origin == (-500.0, first)
            np.testing.assert_array_equal(whole(volume), TRUTH.values[:, :: 1 if positive == "down" else -1])
            write_volume(tmp_path / "o.rsf", volume.info, whole(volume), [0, 0], MPI.COMM_SELF)
        with open_volume("o.rsf", tmp_path) as again:
            assert again.info.origin == (-500.0, first)


@pytest.mark.parametrize("keys", ["o1=0 d1=-0.1", "o1=-0.4 d1=0.1"])
def test_two_way_times_that_are_all_negative_are_refused(tmp_path, keys):
    label = 'label1="TWT" unit1="s" label2="x"'
    with pytest.raises(InputError, match=r"runs from .*: are these two-way times\? needed: .*positive1"):
        rsf_with(tmp_path, f"{keys} {label}")
    with rsf_with(tmp_path, f'{keys} {label} positive1="up"') as volume:
        assert (volume.info.origin[1], volume.info.axis_units[1]) == (0.0, "s")
        np.testing.assert_array_equal(whole(volume), TRUTH.values[:, :: -1 if "=-0.4" in keys else 1])


@pytest.mark.parametrize("first", [0.0, 0.4])
def test_coordinates_of_time_that_are_all_negative_are_refused(tmp_path, first):
    times = -np.abs(first - 0.1 * np.arange(NZ))
    with pytest.raises(InputError, match=r'the axis "t" runs from .*: are these two-way times'):
        open_volume(hdf5_with(tmp_path, {}, {"x": X, "twt": times}, {"units": "s"}), tmp_path)
    reference = hdf5_with(tmp_path, {}, {"x": X, "twt": times}, {"units": "s", "positive": "up"})
    with open_volume(reference, tmp_path) as volume:
        assert volume.info.origin == (0.0, 0.0)
    with open_volume(hdf5_with(tmp_path, {}, {"x": X, "twt": times + 0.2}, {"units": "s"}), tmp_path) as volume:
        assert volume.info.spacing[1] == pytest.approx(0.1)


@pytest.mark.parametrize("label", ["Elev", "elevations", "Altitude (m)", "Height", "Z up"])
def test_a_name_of_something_that_rises_turns_z_round(tmp_path, label):
    with rsf_with(tmp_path, f'o1=100 d1=10 label1="{label}" label2="x"') as volume:
        assert volume.info.origin == (-500.0, -140.0)
        np.testing.assert_array_equal(whole(volume), TRUTH.values[:, ::-1])


def test_long_names_tell_the_direction_too(tmp_path):
    coordinates = {"x": X, "z": 12.5 * np.arange(NZ)}
    for words, turned in (
        ({"long_name": "elevation above mean sea level"}, True),
        ({"long_name": "depth below the surface elevation"}, False),
        ({"long_name": "elevation", "positive": "down"}, False),
    ):
        with open_volume(hdf5_with(tmp_path, {}, coordinates, words), tmp_path) as volume:
            np.testing.assert_array_equal(whole(volume), TRUTH.values[:, :: -1 if turned else 1])
    reference = hdf5_with(tmp_path, {}, coordinates, {"long_name": "elevation", "standard_name": "depth"})
    with pytest.raises(
        InputError, match='the axis "z": its names say both up and down; needed: the attribute positive'
    ):
        open_volume(reference, tmp_path)


@pytest.mark.parametrize(
    ("label", "metres"),
    [("Depth (km)", 1000.0), ("Depth(kft)", 304.8), ("Depth [m]", 1.0), ("Depth (TVD)", 1.0), ("Depth(s)", 1.0)],
)
def test_units_in_brackets_of_a_label(tmp_path, label, metres):
    with rsf_with(tmp_path, f'o1=2 d1=0.01 label1="{label}" label2="x"') as volume:
        assert volume.info.spacing == pytest.approx((10.0, 0.01 * metres))
        assert volume.info.origin == pytest.approx((-500.0, 2 * metres))
    with rsf_with(tmp_path, f'o1=2 d1=0.01 label1="{label}" unit1="ft" label2="x"') as volume:
        assert volume.info.spacing == pytest.approx((10.0, 0.003048))
    with open_volume(hdf5_with(tmp_path, {}, {"x": X, label: 12.5 * np.arange(NZ)}), tmp_path) as volume:
        assert volume.info.spacing == pytest.approx((10.0, 12.5 * metres))


@pytest.mark.parametrize(
    ("words", "step"),
    [
        ({"long_name": "Depth (km)"}, 12500.0),
        ({"long_name": "Depth [ft]"}, 12.5 * 0.3048),
        ({"long_name": "Depth (km)", "units": "m"}, 12.5),
        ({"long_name": "Depth (TVD)"}, 12.5),
    ],
)
def test_units_in_brackets_of_a_long_name(tmp_path, words, step):
    with open_volume(hdf5_with(tmp_path, {}, {"x": X, "z": 12.5 * np.arange(NZ)}, words), tmp_path) as volume:
        assert volume.info.spacing == (10.0, pytest.approx(step))
        assert volume.info.notes == ()


def test_steps_so_small_that_they_may_be_in_another_unit_are_told(tmp_path):
    note = 'the axis "z" has no unit, and its steps of 0.0125 are taken as m'
    with open_volume(hdf5_with(tmp_path, {}, {"x": X, "z": 0.0125 * np.arange(NZ)}), tmp_path) as volume:
        assert volume.info.notes == (note,)
    with rsf_with(tmp_path, 'd1=0.0125 label1="z" label2="x"') as volume:
        assert volume.info.notes == (note,)
    with rsf_with(tmp_path, 'd1=0.0125 label1="z" label2="x" unit1="m"') as volume:
        assert volume.info.notes == ()
    with rsf_with(tmp_path, 'd1=0.0125 label1="t" label2="x"') as volume:
        assert volume.info.notes == ()


@pytest.mark.parametrize("key", ["unit", "units", "Units", "UNIT"])
def test_keys_of_the_unit_of_values(tmp_path, key):
    with rsf_with(tmp_path, f'o1=0 d1=10 {key}="km/s"') as volume:
        assert volume.info.unit == "km/s"
    with open_volume(hdf5_with(tmp_path, {key: "km/s"}), tmp_path) as volume:
        assert volume.info.unit == "km/s"


@pytest.mark.parametrize("label", ["inline", "ILINE", "Crossline number", "xline", "cdp", "trace"])
def test_numbers_of_lines_are_no_metres(tmp_path, label):
    line = f'the axis "{label}" counts lines or traces, and has no unit of length: its numbers are no metres'
    with rsf_with(tmp_path, f'o1=30 d1=10 label1="z" label2="{label}"') as volume:
        info = volume.info
        assert (info.spacing, info.partial, info.firsts, info.unplaced) == (None, (None, 10.0), (None, 30.0), line)
    with open_volume(hdf5_with(tmp_path, {}, {label: X, "z": 12.5 * np.arange(NZ)}), tmp_path) as volume:
        assert (volume.info.spacing, volume.info.unplaced) == (None, line)
    with rsf_with(tmp_path, f'o1=30 d1=10 label1="z" label2="{label}" unit2="m"') as volume:
        assert volume.info.spacing == (10.0, 10.0)


CELLS = 'the axis "{}" counts cells, and has no unit of length: its numbers are no metres'


@pytest.mark.parametrize("label", ["level", "k", "Row no.", "x index", "nx"])
def test_consecutive_numbers_of_cells_are_no_metres(tmp_path, label):
    for first in (0, 1, 30):
        cells = {label: first + np.arange(NX), "z": 12.5 * np.arange(NZ)}
        with open_volume(hdf5_with(tmp_path, {}, cells), tmp_path) as volume:
            assert (volume.info.spacing, volume.info.unplaced) == (None, CELLS.format(label))
    with rsf_with(tmp_path, f'd2=1 d1=10 o2=0 label1="z" label2="{label}"') as volume:
        assert volume.info.unplaced == CELLS.format(label)
    with rsf_with(tmp_path, f'd2=1 d1=10 o2=0 label1="z" label2="{label}" unit2="m"') as volume:
        assert volume.info.spacing == (1.0, 10.0)
    with open_volume(hdf5_with(tmp_path, {}, {label: X, "z": 12.5 * np.arange(NZ)}), tmp_path) as volume:
        assert volume.info.spacing == (10.0, 12.5)


@pytest.mark.parametrize("label", ["x", "distance", "Depth level", "elevation"])
def test_lengths_of_a_metre_stay_lengths(tmp_path, label):
    with open_volume(hdf5_with(tmp_path, {}, {"y": X, label: np.arange(NZ)}), tmp_path) as volume:
        assert (volume.info.spacing, volume.info.unplaced) == ((10.0, 1.0), "")


@pytest.mark.parametrize("label", ["CMP", "midpoint", "CMP number", "cdp"])
def test_midpoints_are_counts_like_cdps(tmp_path, label):
    with rsf_with(tmp_path, f'o1=0 d1=10 label1="Depth" label2="{label}"') as volume:
        assert "counts lines or traces" in volume.info.unplaced
    with rsf_with(tmp_path, f'o1=0 d1=10 label1="Depth" label2="{label}" unit2="m"') as volume:
        assert volume.info.spacing == (10.0, 10.0)


@pytest.mark.parametrize("keys", ["units1=km", 'Unit1="km"', 'unit1="(km)"', "UNITS1=[km]", "units1=m unit1=km"])
def test_keys_of_the_unit_of_an_axis(tmp_path, keys):
    with rsf_with(tmp_path, f"o1=2 d1=0.01 label1=Depth label2=x {keys}") as volume:
        assert volume.info.spacing == pytest.approx((10.0, 10.0))
        assert volume.info.origin == pytest.approx((-500.0, 2000.0))


@pytest.mark.parametrize(
    ("attributes", "labels"),
    [
        ({"labels": "z,x"}, ("z", "x")),
        ({"labels": "z x"}, ("z", "x")),
        ({"dimensions": "z x"}, ("z", "x")),
        ({"_ARRAY_DIMENSIONS": "z x"}, ("z", "x")),
        ({"_ARRAY_DIMENSIONS": ["depth", "distance"]}, ("depth", "distance")),
        ({"DIMENSION_LABELS": "z, x"}, ("z", "x")),
        ({"labels": "z"}, None),
        ({"dimensions": "rock x"}, None),
        ({"dimensions": "z x", "labels": ["x", "z"]}, ("x", "z")),
    ],
    ids=str,
)
def test_names_as_one_text(tmp_path, attributes, labels):
    with open_volume(hdf5_with(tmp_path, attributes), tmp_path) as volume:
        assert volume.info.labels == labels
    zarr = pytest.importorskip("zarr")
    zarr.open_group(tmp_path / "v.zarr", mode="w").create_array("vp", data=TRUTH.values, attributes=attributes)
    with open_volume("v.zarr:vp", tmp_path) as volume:
        assert volume.info.labels == labels


@pytest.mark.parametrize(
    ("label", "unit"),
    [("Velocity (ft/s)", "ft/s"), ("vp [km/s]", "km/s"), ("Density (g/cc)", "g/cc"), ("Velocity (Vp)", None)],
)
def test_the_unit_in_the_label_of_the_values(tmp_path, label, unit):
    with rsf_with(tmp_path, f'o1=0 d1=10 label="{label}"') as volume:
        assert volume.info.unit == unit
    with rsf_with(tmp_path, f'o1=0 d1=10 label="{label}" unit="m/s"') as volume:
        assert volume.info.unit == "m/s"
    with open_volume(hdf5_with(tmp_path, {"long_name": label}), tmp_path) as volume:
        assert volume.info.unit == unit


@pytest.mark.parametrize(
    ("missing", "cells"),
    [(2000.0, 1), (np.float32(2000.0), 1), (np.int16(1000), 1), (-1e6, 0), (0.0, 0)],
    ids=str,
)
def test_a_missing_value_that_is_a_float_is_an_unpacked_one(tmp_path, missing, cells):
    h5py = pytest.importorskip("h5py")
    stored = np.round((TRUTH.values - 1500) / 0.5).astype("i2")
    with h5py.File(tmp_path / "v.h5", "w") as file:
        data = file.create_dataset("vp", data=stored)
        data.attrs.update({"scale_factor": 0.5, "add_offset": 1500.0, "missing_value": missing})
    with open_volume("v.h5:vp", tmp_path) as volume:
        found = whole(volume)
        assert np.count_nonzero(np.isnan(found)) == cells
        assert np.isnan(found[0, 0]) == bool(cells)


def bare_hdf5(folder, values, attributes=None, of_group=None, of_file=None, beside=None, name="data/vp"):
    """An HDF5 file without names and scales of axes, with attributes and datasets beside the array: (values, unit)."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "v.h5", "w") as file:
        data = file.create_dataset(name, data=values)
        data.attrs.update(attributes or {})
        data.parent.attrs.update(of_group or {})
        file.attrs.update(of_file or {})
        for axis, (along, unit) in (beside or {}).items():
            data.parent[axis] = along
            data.parent[axis].attrs["units"] = unit
    return open_volume("v.h5", folder)


@pytest.mark.parametrize(
    ("key", "names"), [("axes", "zx"), ("axis_order", "z,x"), ("dims", "z:x"), ("dimensions", ["z", "x"])]
)
def test_attributes_of_an_array_name_its_axes(tmp_path, key, names):
    with bare_hdf5(tmp_path, TRUTH.values.T, {key: names}) as volume:
        assert volume.info.labels == ("z", "x")
        np.testing.assert_array_equal(whole(volume), TRUTH.values.T)


COORDINATES = {"x": (X / 1000, "km"), "z": (12.5 * np.arange(NZ), "m")}


def test_a_group_of_nexus_names_the_axes_of_its_signal(tmp_path):
    group = {"NX_class": "NXdata", "signal": "vp", "axes": ["z", "x"]}
    with bare_hdf5(tmp_path, TRUTH.values.T, {}, group, beside=COORDINATES) as volume:
        assert (volume.info.labels, volume.info.spacing, volume.info.origin) == (("z", "x"), (12.5, 10.0), (0.0, 0.0))
    falling = {**COORDINATES, "z": (-12.5 * np.arange(NZ), "m")}
    with pytest.raises(InputError, match="are these depths"):
        bare_hdf5(tmp_path, TRUTH.values.T, {}, group, beside=falling)
    with bare_hdf5(tmp_path, TRUTH.values.T, {}, {**group, "signal": "vs"}) as volume:
        assert volume.info.labels is None


@pytest.mark.parametrize("axes", ["xz", "zx"])
def test_datasets_beside_tell_the_axes_where_their_lengths_fit_one_order(tmp_path, axes):
    values = TRUTH.values if axes == "xz" else TRUTH.values.T
    with bare_hdf5(tmp_path, values, beside=COORDINATES) as volume:
        assert volume.info.labels == tuple(axes)
        assert dict(zip(axes, volume.info.spacing, strict=True)) == {"x": 10.0, "z": 12.5}
    with bare_hdf5(tmp_path, TRUTH.values[:NZ], beside={**COORDINATES, "x": (X[:NZ], "m")}) as volume:
        assert volume.info.labels is None
    with bare_hdf5(tmp_path, TRUTH.values[:NZ], {"axes": "zx"}, beside={**COORDINATES, "x": (X[:NZ], "m")}) as volume:
        assert (volume.info.labels, volume.info.spacing) == (("z", "x"), (12.5, 10.0))
    with bare_hdf5(tmp_path, values, beside={"x": COORDINATES["x"]}) as volume:
        assert volume.info.labels is None


@pytest.mark.parametrize("axes", ["xz", "zx"])
def test_members_of_an_archive_tell_the_axes_where_their_lengths_fit_one_order(tmp_path, axes):
    values, z = TRUTH.values if axes == "xz" else TRUTH.values.T, 12.5 * np.arange(NZ)

    def told(values, **beside):
        np.savez(tmp_path / "v.npz", vp=values, **beside)
        with open_volume("v.npz:vp", tmp_path) as volume:
            np.testing.assert_array_equal(whole(volume), values)
            return volume.info.labels, volume.info.spacing, volume.info.origin

    spacing = (10.0, 12.5) if axes == "xz" else (12.5, 10.0)
    origin = (100.0, 5.0) if axes == "xz" else (5.0, 100.0)
    assert told(values, x=X + 100, depth=z + 5, dt=0.1) == (
        tuple("x" if a == "x" else "depth" for a in axes),
        spacing,
        origin,
    )
    nothing = (None, None, None)
    assert told(TRUTH.values[:NZ], x=X[:NZ], z=z) == nothing
    assert told(values, x=X) == nothing
    assert told(values, x=X, z=z[:-1]) == nothing
    assert told(values, x=TRUTH.values, z=z) == nothing


def test_a_member_that_falls_turns_the_axis_round(tmp_path):
    np.savez(tmp_path / "v.npz", vp=TRUTH.values.T, x=X[::-1], z=12.5 * np.arange(NZ))
    with open_volume("v.npz:vp", tmp_path) as volume:
        np.testing.assert_array_equal(whole(volume), TRUTH.values.T[:, ::-1])
        np.testing.assert_array_equal(volume.read((1, 1), (3, 4)), TRUTH.values.T[1:3, ::-1][:, 1:4])
        for name in format_to_read(volume.path).reads:
            with SharedVolume(volume, MPI.COMM_SELF, Strategy.of(name)) as shared:
                np.testing.assert_array_equal(shared.read((1, 1), (3, 4)), volume.read((1, 1), (3, 4)))


def test_coordinates_that_are_not_one_for_each_cell_are_told(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file["vp"], file["x"], file["z"] = TRUTH.values, np.arange(NX + 1.0), np.arange(1.0 * NZ)  # sides of cells
        file.attrs.update({"signal": "vp", "axes": ["x", "z"]})
    with open_volume("v.h5:vp", tmp_path) as volume:
        assert volume.info.spacing is None
        wanted = 'its coordinates "x" are not used: found (8,) of float64; allowed: 7 numbers, one for each cell'
        assert [note for note in volume.info.notes if "coordinates" in note] == [wanted]


def test_coordinates_that_are_far_too_many_are_not_read(tmp_path):
    zarr = pytest.importorskip("zarr")
    group = zarr.create_group(tmp_path / "v.zarr", zarr_format=3)
    group.create_array("vp", data=TRUTH.values, dimension_names=("x", "z"))
    group.create_array("z", data=np.arange(1.0 * NZ), dimension_names=("z",))
    group.create_array("x", shape=(1 << 50,), chunks=(1 << 20,), dtype="f8", dimension_names=("x",))
    with open_volume("v.zarr:vp", tmp_path) as volume:
        assert sum('"x" are not used' in note for note in volume.info.notes) == 1


def test_an_attribute_says_that_an_array_is_column_major(tmp_path):
    with bare_hdf5(tmp_path, TRUTH.values.T, {"order": "F"}) as volume:
        np.testing.assert_array_equal(whole(volume), TRUTH.values)
    with bare_hdf5(tmp_path, TRUTH.values, {"order": "C"}) as volume:
        np.testing.assert_array_equal(whole(volume), TRUTH.values)
    with pytest.raises(InputError, match='order: found "F" beside names of axes'):
        bare_hdf5(tmp_path, TRUTH.values.T, {"order": "F", "axes": "zx"})


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"slope": 0.5, "intercept": 1500.0}, "slope = 0.5 and intercept = 1500"),
        ({"Scale": [0.5], "offset": 0.0}, "Scale = 0.5"),
        ({"gain": 2}, "gain = 2"),
    ],
)
def test_packing_by_other_names_is_refused_of_integers_and_told_of_floats(tmp_path, attributes, words):
    whole_numbers = TRUTH.values.astype("i2")
    with pytest.raises(InputError, match=rf"v.h5:data/vp: found {words}, of integers; needed: scale_factor and add"):
        bare_hdf5(tmp_path, whole_numbers, attributes)
    with bare_hdf5(tmp_path, TRUTH.values, attributes) as volume:
        assert f"{words}: not applied, values are taken as they are stored" in volume.info.notes
    for others in (
        {**attributes, "scale_factor": 1.0},
        {"slope": 1.0, "intercept": 0, "scale": "log", "offset": [1, 2]},
    ):
        with bare_hdf5(tmp_path, whole_numbers, others) as volume:
            assert not volume.info.notes
            np.testing.assert_array_equal(whole(volume), whole_numbers)


def test_packing_of_an_rsf_is_told(tmp_path):
    with rsf_with(tmp_path, "scale_factor=0.1 add_offset=3000 slope=1 offset=none") as volume:
        assert volume.info.notes == (
            "scale_factor = 0.1 and add_offset = 3000: not applied, values are taken as they are stored",
        )
    with rsf_with(tmp_path, "scale_factor=1 d1=10") as volume:
        assert not volume.info.notes


def test_the_unit_of_values_of_a_group_or_file(tmp_path):
    for keys in ({"of_group": {"units": "ft/s"}}, {"of_file": {"Units": "ft/s"}}):
        with bare_hdf5(tmp_path, TRUTH.values, **keys) as volume:
            assert volume.info.unit == "ft/s"
        with bare_hdf5(tmp_path, TRUTH.values, {"units": "km/s"}, **keys) as volume:
            assert volume.info.unit == "km/s"
        with bare_hdf5(tmp_path, TRUTH.values, **keys, name="data/epsilon") as volume:
            assert volume.info.unit is None
    with bare_hdf5(tmp_path, TRUTH.values, of_file={"units": "m"}) as volume:
        assert volume.info.unit is None


def test_the_unit_of_the_attribute_spacing(tmp_path):
    lengths = {"spacing": [0.01, 0.0125], "origin": [0.1, 0.0]}
    for units in ("km", ["km", "km"]):
        with bare_hdf5(tmp_path, TRUTH.values, {**lengths, "spacing_units": units}) as volume:
            assert (volume.info.spacing, volume.info.origin) == ((10.0, 12.5), (100.0, 0.0))
    with pytest.raises(InputError, match='spacing_units: found "fathoms"; known: m, km'):
        bare_hdf5(tmp_path, TRUTH.values, {**lengths, "spacing_units": "fathoms"})


def test_attributes_in_another_letter_case(tmp_path):
    packed = np.round((TRUTH.values - 1500) * 2).astype("i2")
    packed[2, 3] = -1
    attributes = {"Scale_Factor": 0.5, "Add_Offset": 1500.0, "UNITS": "m/s", "_fillvalue": np.int16(-1)}
    with bare_hdf5(tmp_path, packed, attributes) as volume:
        found = whole(volume)
        assert np.isnan(found[2, 3])
        assert volume.info.unit == "m/s"
        np.testing.assert_array_equal(found[:2], TRUTH.values[:2])
    with rsf_with(tmp_path, 'd1=10 Label1="Depth" LABEL2="x" Unit="m/s" Positive1="up"') as volume:
        assert (volume.info.labels, volume.info.unit, volume.stored.flipped) == (("x", "Depth"), "m/s", (False, True))


@pytest.mark.parametrize("name", ["time", "t"])
def test_one_step_of_time_is_left_out(tmp_path, name):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "v.h5", "w") as file:
        data = file.create_dataset("vp", data=TRUTH.values[None])
        file["crs"] = 7  # of a mapping by CF, beside the only array
        for axis, (label, along) in enumerate({name: [5.0], "x": X, "z": 12.5 * np.arange(NZ)}.items()):
            file[label] = along
            file[label].make_scale(label)
            data.dims[axis].attach_scale(file[label])
        file[name].attrs["units"] = "days since 2000-01-01"
    with open_volume("v.h5", tmp_path) as volume:
        assert (volume.info.labels, volume.info.spacing) == (("x", "z"), (10.0, 12.5))
        assert volume.info.notes == (f'its axis "{name}" of one step is left out',)
        np.testing.assert_array_equal(whole(volume), TRUTH.values)
        for way in format_to_read(volume.path).reads:
            with SharedVolume(volume, MPI.COMM_SELF, Strategy.of(way)) as shared:
                np.testing.assert_array_equal(shared.read((2, 1), (4, 5)), TRUTH.values[2:4, 1:5])
