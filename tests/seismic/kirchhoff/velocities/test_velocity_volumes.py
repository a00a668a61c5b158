"""Velocities and eta from volumes."""

import re

import numpy as np
import pytest
from velocity_support import CUBE, LINE, velocities, volume, whole

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.velocities.places import columns_of, times_of
from fathometer.seismic.shots.rotation import Rotation

KEY = r"\[time_migration\] velocity \(.*{}\): "


def linear(x, y, t):
    return 2000 + 0.5 * x + 0.25 * y + 300 * t


def nodes(nx, ny, nt, spacing, origin):
    x, y, t = (o + d * np.arange(n) for n, d, o in zip((nx, ny, nt), spacing, origin, strict=True))
    return linear(*np.meshgrid(x, y, t, indexing="ij"))


def expected(grid):
    x, y = columns_of(grid, (0, 0), grid.shape[:2])
    return linear(x[..., None], y[..., None], times_of(grid))


@pytest.mark.parametrize("suffix", [".rsf", ".h5", ".segy"])
def test_what_is_linear_is_interpolated_exactly(tmp_path, suffix):
    spacing, origin = (130.0, 70.0, 0.02), (-30.0, -10.0, 0.0)
    volume(tmp_path / f"v{suffix}", nodes(5, 4, 120, spacing, origin), spacing, origin)
    found = whole(velocities(tmp_path, CUBE, velocity=f"v{suffix}"))
    np.testing.assert_allclose(found.rms, expected(CUBE), rtol=1e-6)
    assert found.eta is None


def test_axes_in_another_order(tmp_path):
    spacing, origin = (130.0, 70.0, 0.02), (-30.0, -10.0, 0.0)
    values = nodes(5, 4, 120, spacing, origin).transpose(2, 1, 0)
    volume(tmp_path / "v.rsf", values, spacing[::-1], origin[::-1], ("t", "y", "x"))
    np.testing.assert_allclose(whole(velocities(tmp_path, CUBE, velocity="v.rsf")).rms, expected(CUBE), rtol=1e-6)


def test_last_values_hold_beyond_the_ends_in_time(tmp_path):
    values = np.broadcast_to(np.linspace(2000, 2500, 11), (5, 11))
    volume(tmp_path / "v.rsf", values, (100.0, 0.05), (0.0, 0.5))
    found = velocities(tmp_path, LINE, velocity="v.rsf")
    rms = whole(found).rms[3, 0]
    first, last = found.notes
    assert first.endswith("v.rsf begins at 0.5 s: its first values hold from 0 s on")
    assert last.endswith("v.rsf ends at 1 s: its last values hold to 2 s")
    assert (rms[:26] == 2000).all()
    assert (rms[50:] == 2500).all()
    np.testing.assert_allclose(rms[30], 2100)  # 0.6 s


def test_segy_lies_where_its_coordinates_say(tmp_path):
    # In the survey's coordinates, along which the image is turned by 30 degrees from east to azimuth 60.
    spacing, origin = (200.0, 100.0, 0.03), (900.0, 400.0, 0.0)
    volume(tmp_path / "v.segy", nodes(12, 12, 70, spacing, origin), spacing, origin)
    turned = Rotation((1500.0, 800.0), 60.0)
    found = velocities(tmp_path, CUBE, None, {"origin": [1500.0, 800.0], "azimuth": 60.0}, velocity="v.segy")
    x, y = columns_of(CUBE, (0, 0), CUBE.shape[:2])
    places = turned.to_survey(np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], axis=1))
    wanted = linear(places[:, 0, None], places[:, 1, None], times_of(CUBE)).reshape(CUBE.shape)
    np.testing.assert_allclose(whole(found).rms, wanted, rtol=1e-6)


def test_a_line_of_segy(tmp_path):
    values = nodes(6, 1, 101, (100.0, 1.0, 0.02), (-50.0, 0.0, 0.0))[:, 0]
    volume(tmp_path / "v.segy", values, (100.0, 0.02), (-50.0, 0.0))
    np.testing.assert_allclose(whole(velocities(tmp_path, LINE, velocity="v.segy")).rms, expected(LINE), rtol=1e-6)


def test_npy_has_the_shape_of_the_image(tmp_path):
    values = expected(LINE)[:, 0].astype(np.float32)
    np.save(tmp_path / "v.npy", values)
    assert (whole(velocities(tmp_path, LINE, velocity="v.npy")).rms[:, 0] == values).all()
    np.save(tmp_path / "v.npy", values[:, :-1])
    with pytest.raises(InputError, match=KEY.format("v.npy") + "carries no times and has 100 samples; needed: 101"):
        velocities(tmp_path, LINE, velocity="v.npy")
    np.save(tmp_path / "v.npy", values[:-1])
    with pytest.raises(InputError, match="carries no places and has 4 x 1 columns; needed: 5 x 1"):
        velocities(tmp_path, LINE, velocity="v.npy")


def test_a_column_does_not_depend_on_the_box(tmp_path):
    spacing, origin = (173.0, 71.0, 0.03), (-30.0, -10.0, 0.0)
    volume(tmp_path / "v.rsf", nodes(4, 4, 90, spacing, origin), spacing, origin)
    reader = velocities(tmp_path, CUBE, velocity="v.rsf")
    found = whole(reader).rms
    for lo, hi in (((1, 2), (2, 3)), ((3, 0), (5, 2))):
        part = reader.read(lo, hi).rms
        assert part.tobytes() == np.ascontiguousarray(found[lo[0] : hi[0], lo[1] : hi[1]]).tobytes()


def test_eta_from_a_volume(tmp_path):
    volume(tmp_path / "eta.rsf", np.full((5, 101), 0.07), (100.0, 0.02), unit=None)
    found = velocities(tmp_path, LINE, velocity=2000.0, eta="eta.rsf")
    block = whole(found)
    assert (block.eta == np.float32(0.07)).all()
    assert [path.name for path in found.files()["eta"]] == ["eta.rsf", "eta.rsf@"]
    assert found.record()["largest_eta"] == pytest.approx(0.07)
    volume(tmp_path / "eta.rsf", np.full((5, 101), 7.0), (100.0, 0.02), unit=None)
    with pytest.raises(InputError, match=r"\[time_migration\] eta .*505 of 505 values lie outside -0.3 to 2"):
        whole(velocities(tmp_path, LINE, velocity=2000.0, eta="eta.rsf"))


def test_columns_outside(tmp_path):
    volume(tmp_path / "v.rsf", np.full((4, 101), 2000.0), (100.0, 0.02), (30.0, 0.0))
    words = r"the image's column at x = 400 m lies outside; allowed: x from 30 to 330 m"
    with pytest.raises(InputError, match=KEY.format("v.rsf") + words):
        velocities(tmp_path, LINE, velocity="v.rsf")
    volume(tmp_path / "v.rsf", np.full((5, 101), 2000.0), (100.0, 0.02), (50.0, 0.0))  # half a cell
    whole(velocities(tmp_path, LINE, velocity="v.rsf"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"values": np.full((5, 101), 2.0)},
            r"505 of 505 velocities lie outside .* found 2 to 2; these look like km/s",
        ),
        ({"values": np.full((5, 101), 25000.0)}, r".* found 25000 to 25000; are these ft/s\?; needed: m/s"),
        ({"unit": "km/s"}, r".* found 2e\+06 to 2e\+06; are these ft/s"),
        (
            {"values": np.full((5, 101), 250.0), "unit": ""},
            r".* to 9000 m/s, the first 250 at .* states no unit; needed",
        ),
        ({"labels": ("x", "z")}, "an axis is labelled z; needed: two-way time"),
    ],
)
def test_wrong_volumes(tmp_path, change, words):
    arguments = {"values": np.full((5, 101), 2000.0), "spacing": (100.0, 0.02), **change}
    volume(tmp_path / "v.rsf", **arguments)
    with pytest.raises(InputError, match=KEY.format("v.rsf") + words):
        whole(velocities(tmp_path, LINE, velocity="v.rsf"))


def test_dimensions(tmp_path):
    volume(tmp_path / "v.rsf", np.full((5, 101), 2000.0), (100.0, 0.02))
    with pytest.raises(InputError, match="has two axes; needed: x, y and time"):
        velocities(tmp_path, CUBE, velocity="v.rsf")
    volume(tmp_path / "v.rsf", np.full((5, 3, 101), 2000.0), (100.0, 10.0, 0.02))
    with pytest.raises(InputError, match="has 3 cells along y; needed: none"):
        velocities(tmp_path, LINE, velocity="v.rsf")


def test_a_line_across_the_image(tmp_path):
    volume(tmp_path / "v.segy", np.full((9, 101), 2000.0), (100.0, 0.02))
    with pytest.raises(InputError, match="its line runs across the image"):
        velocities(tmp_path, LINE, None, {"azimuth": 0.0}, velocity="v.segy")


def test_not_finite(tmp_path):
    values = np.full((5, 101), 2000.0)
    values[2, 7] = np.nan
    volume(tmp_path / "v.rsf", values, (100.0, 0.02))
    reader = velocities(tmp_path, LINE, velocity="v.rsf")
    reader.read((3, 0), (5, 1))  # does not need that column
    with pytest.raises(InputError, match=r"NaN or infinity in 1 of .* first nan at x = 200 m, t = 0.14 s"):
        whole(reader)


def test_no_interval_velocity(tmp_path):
    values = np.full((5, 5), 2000.0)
    values[1, 3] = 1600.0
    volume(tmp_path / "v.rsf", values, (100.0, 0.5))
    words = (
        r"at x = 100 m RMS velocities fall from 2000 m/s at 1 s to 1600 m/s at 1.5 s, which no layer between can make "
        r".* at most 1959.5 m/s at the first or at least 1633.0 m/s at the second, or velocities smoothed over 1 s"
    )
    with pytest.raises(InputError, match=KEY.format("v.rsf") + words):
        whole(velocities(tmp_path, LINE, velocity="v.rsf"))


def test_a_slab_of_an_image_elsewhere(tmp_path):
    grid = Grid((3, 1, 11), (50.0, 50.0, 0.1), (150.0, 0.0, 0.3), vertical="time")
    volume(tmp_path / "v.rsf", nodes(6, 1, 41, (100.0, 1.0, 0.05), (0.0, 0.0, 0.0))[:, 0], (100.0, 0.05))
    np.testing.assert_allclose(whole(velocities(tmp_path, grid, velocity="v.rsf")).rms, expected(grid), rtol=1e-6)


def test_a_time_axis_in_milliseconds(tmp_path):
    volume(tmp_path / "v.rsf", np.full((5, 101), 2000.0), (100.0, 20.0))
    with pytest.raises(InputError, match=KEY.format("v.rsf") + "its last time is 2000 s; .* in milliseconds"):
        velocities(tmp_path, LINE, velocity="v.rsf")


@pytest.mark.parametrize(
    ("unit", "given", "factor"),
    [("km/s", None, 1e-3), ("ft/s", None, 1 / 0.3048), ("", "ft/s", 1 / 0.3048), ("", "km/s", 1e-3), ("", None, 1.0)],
)
def test_units_of_the_file_or_the_key(tmp_path, unit, given, factor):
    volume(tmp_path / "v.rsf", np.full((5, 101), 2000.0 * factor), (100.0, 0.02), unit=unit)
    found = velocities(tmp_path, LINE, velocity="v.rsf", **({} if given is None else {"units": given}))
    np.testing.assert_allclose(whole(found).rms, 2000.0, rtol=1e-6)
    assert found.notes + found.hard_notes() == ()


def test_units_that_contradict_or_are_not_needed(tmp_path):
    volume(tmp_path / "v.rsf", np.full((5, 101), 2000.0), (100.0, 0.02))
    with pytest.raises(
        InputError, match=r"\[time_migration\] units: found ft/s, but .*v.rsf says m/s; allowed: the same"
    ):
        velocities(tmp_path, LINE, velocity="v.rsf", units="ft/s")
    with pytest.raises(InputError, match=r"\[time_migration\] units: found ft/s without a volume of velocities"):
        velocities(tmp_path, LINE, velocity=2000.0, units="ft/s")
    volume(tmp_path / "v.rsf", np.full((5, 101), 2000.0), (100.0, 0.02), unit="furlongs")
    with pytest.raises(InputError, match=r"\[time_migration\] units: missing; needed, since .*v.rsf says furlongs"):
        velocities(tmp_path, LINE, velocity="v.rsf")


def test_fast_velocities_without_a_unit_may_be_in_feet(tmp_path):
    volume(tmp_path / "v.rsf", np.full((5, 101), 6000.0), (100.0, 0.02), unit="")
    [note] = velocities(tmp_path, LINE, velocity="v.rsf").hard_notes()
    assert note.endswith(
        'has no velocity below 6000 m/s, and no unit: if its values are in feet, [time_migration] units is "ft/s"'
    )
    (tmp_path / "picks.txt").write_text("0 0 6000\n0 2 7000\n1000 0 6000\n1000 2 7000\n")
    [note] = velocities(tmp_path, LINE, velocity="picks.txt").hard_notes()
    assert "are these ft/s?" in note
    (tmp_path / "picks.txt").write_text("0 0 1600\n0 2 7000\n1000 0 1600\n1000 2 7000\n")
    assert velocities(tmp_path, LINE, velocity="picks.txt").hard_notes() == ()


def test_eta_that_may_be_in_per_cent(tmp_path):
    for unit, told in (("", 1), ("1", 0), ("%", 0)):
        volume(tmp_path / "eta.rsf", np.full((5, 101), 1.2), (100.0, 0.02), unit=unit)
        notes = velocities(tmp_path, LINE, velocity=2000.0, eta="eta.rsf").hard_notes()
        assert len(notes) == told
        assert not told or "has values up to 1.2 in magnitude, and no unit: they are taken as fractions" in notes[0]


def test_axes_of_a_volume_of_velocities(tmp_path):
    nx, _, nt = LINE.shape
    np.save(tmp_path / "v.npy", np.full((nx, nt), 2000.0))
    [note] = velocities(tmp_path, LINE, velocity="v.npy").notes
    assert note.endswith(f"does not name its axes: {nx} x {nt} values are taken as x, t, slowest first")
    volume(tmp_path / "v.rsf", np.full((5, 101), 2000.0), (100.0, 0.02), labels=("foo", "bar"))
    with pytest.raises(InputError, match=r'its axes are labelled "foo", "bar", slowest first; needed: x, and t'):
        velocities(tmp_path, LINE, velocity="v.rsf")


@pytest.mark.parametrize("label", ["One-way time", "OWT", "one-way travel time (s)"])
def test_one_way_time_is_refused_by_name(tmp_path, label):
    volume(tmp_path / "v.rsf", np.full((5, 101), 2000.0), (100.0, 0.02))
    text = (tmp_path / "v.rsf").read_text()
    assert 'label1="t"' in text
    (tmp_path / "v.rsf").write_text(text.replace('label1="t"', f'label1="{label}"'))
    with pytest.raises(InputError) as caught:
        velocities(tmp_path, LINE, velocity="v.rsf")
    assert f'the axis "{label}" is of one-way time, which is half of two-way time; needed:' in str(caught.value)


def test_a_delay_that_makes_all_times_negative(tmp_path):
    volume(tmp_path / "v.segy", np.full((5, 101), 2000.0), (100.0, 0.02), (0.0, -2.0))
    with pytest.raises(InputError, match=KEY.format("v.segy") + "its times run from -2 to 0 s; needed: two-way times"):
        velocities(tmp_path, LINE, velocity="v.segy")


def hdf5(folder, name="vp", **attributes):
    """An HDF5 file of velocities over x and time, with its own attributes."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "v.h5", "w") as file:
        data = file.create_dataset(name, data=np.full((5, 101), 2000.0))
        data.attrs.update({"labels": ["x", "t"], "spacing": [100.0, 0.02], "units": "m/s", **attributes})
    return f"v.h5:{name}"


@pytest.mark.parametrize(
    ("name", "attributes", "says"),
    [
        ("vint", {}, "vint"),
        ("vp", {"long_name": "Interval velocity (m/s)"}, "Interval velocity (m/s)"),
        ("vp", {"standard_name": "interval_velocity"}, "interval_velocity"),
        ("vp", {"label": "Velocity, average"}, "Velocity, average"),
        ("vp", {"long_name": "RMS velocity, interval 20 ms"}, ""),
        ("vrms", {"long_name": "velocity"}, ""),
    ],
)
def test_interval_velocities_are_refused(tmp_path, name, attributes, says):
    reference = hdf5(tmp_path, name, **attributes)
    if says:
        with pytest.raises(InputError, match=re.escape(f'the file calls them "{says}"; needed: RMS (stacking)')):
            velocities(tmp_path, LINE, velocity=reference)
    else:
        assert velocities(tmp_path, LINE, velocity=reference).notes == ()


def test_names_of_interval_velocities_in_other_formats(tmp_path):
    volume(tmp_path / "v.rsf", np.full((5, 101), 2000.0), (100.0, 0.02))
    with (tmp_path / "v.rsf").open("a") as file:
        file.write('label="Interval velocity"\n')
    with pytest.raises(InputError, match="the file calls them"):
        velocities(tmp_path, LINE, velocity="v.rsf")
    np.savez(tmp_path / "v.npz", vint=np.full((5, 101), 2000.0))
    with pytest.raises(InputError, match="the file calls them"):
        velocities(tmp_path, LINE, velocity="v.npz")
    volume(tmp_path / "v.segy", np.full((5, 101), 2000.0), (100.0, 0.02))
    assert velocities(tmp_path, LINE, velocity="v.segy").notes == ()
    data = bytearray((tmp_path / "v.segy").read_bytes())
    data[:80] = "C 1 INTERVAL VELOCITIES IN TIME".ljust(80).encode("cp037")
    (tmp_path / "v.segy").write_bytes(data)
    (note,) = velocities(tmp_path, LINE, velocity="v.segy").notes
    assert '"C 1 INTERVAL VELOCITIES IN TIME" in its textual header' in note
