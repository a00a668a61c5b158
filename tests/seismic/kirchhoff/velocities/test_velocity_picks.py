"""Velocities from picks: interpolation by hand, and every error once, with its line."""

import numpy as np
import pytest
from velocity_support import CUBE, LINE, velocities, whole

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.seismic.kirchhoff.velocities.description import describe_picks
from fathometer.seismic.kirchhoff.velocities.picks_file import read_picks
from fathometer.seismic.kirchhoff.velocities.picks_model import PicksModel
from fathometer.seismic.kirchhoff.velocities.places import columns_of, times_of
from fathometer.seismic.model.prepare.request import PreparationRequest

TWO = """\
# x   t    v
x,t,v
0,   0.5, 2000   # a comment
0,   1.5, 2400

400  1.0  3000
400  2.0  3200
"""


def picked(folder, text, grid=LINE, name="p.txt"):
    (folder / name).write_text(text)
    return velocities(folder, grid, velocity=name)


def test_two_places_by_hand(tmp_path):
    found = picked(tmp_path, TWO)
    rms = whole(found).rms[:, 0]
    times = times_of(LINE)
    left, right = np.interp(times, [0.5, 1.5], [2000, 2400]), np.interp(times, [1.0, 2.0], [3000, 3200])
    np.testing.assert_allclose(rms[0], left, rtol=1e-7)
    np.testing.assert_allclose(rms[4], right, rtol=1e-7)
    np.testing.assert_allclose(rms[1], 0.75 * left + 0.25 * right, rtol=1e-7)
    assert rms[2, 50] == 2600  # at 1 s: between 2200 and 3000
    assert found.notes == ()
    assert found.files() == {"velocity": [tmp_path / "p.txt"]}
    record = found.record()["velocity"]
    assert (record["source"], record["locations"], record["picks"]) == ("picks", 2, 4)


def test_beyond_the_outermost_picks_in_2d(tmp_path):
    found = picked(tmp_path, "100 1 2000\n300 1 3000\n")
    assert whole(found).rms[:, 0, 50].tolist() == [2000, 2000, 2500, 3000, 3000]
    assert found.notes == (
        "p.txt: 2 of 5 columns lie outside the picks' hull; the nearest point's velocities hold there",
    )


def test_one_place_holds_everywhere(tmp_path):
    found = picked(tmp_path, "9000 9000 0.5 2000\n9000 9000 1.5 2400\n", CUBE)
    assert (whole(found).rms == np.interp(times_of(CUBE), [0.5, 1.5], [2000, 2400]).astype(np.float32)).all()
    assert "at one place" in found.notes[0]


def plane(x, y):
    return 2000 + 0.5 * x + 0.25 * y


def test_a_plane_is_exact_on_triangles(tmp_path):
    places = [(-50, -50), (450, -50), (-50, 200), (450, 200), (170, 60), (260, 90)]
    found = picked(tmp_path, "".join(f"{x} {y} 1.0 {plane(x, y)}\n" for x, y in places), CUBE)
    x, y = columns_of(CUBE, (0, 0), CUBE.shape[:2])
    np.testing.assert_allclose(whole(found).rms[..., 3], plane(x, y), rtol=1e-6)
    assert found.notes == ()


def test_outside_the_hull_the_nearest_point_of_it_counts(tmp_path):
    found = picked(tmp_path, "100 0 1 2000\n300 0 1 3000\n200 100 1 4000\n", CUBE)
    values = whole(found).rms[..., 25]
    assert values[0, 0] == 2000  # the corner
    assert values[4, 0] == 3000
    assert values[2, 3] == 4000
    assert values[0, 3] == pytest.approx(
        2500
    )  # (0, 150): its foot on the edge from (100, 0) to (200, 100) is (125, 25)
    assert values[2, 0] == pytest.approx(2500)  # on the edge
    assert values[2, 1] == pytest.approx(3250)  # inside
    assert "columns lie outside the picks' hull" in found.notes[0]


def test_places_on_one_line_in_3d(tmp_path):
    found = picked(tmp_path, "0 0 1 2000\n400 0 1 3000\n200 0 1 2400\n", CUBE)
    np.testing.assert_allclose(whole(found).rms[..., 7], np.repeat([[2000], [2200], [2400], [2700], [3000]], 4, axis=1))
    assert found.notes[0].startswith("p.txt: 15 of 20 columns lie outside the line of the picks")


def test_a_column_does_not_depend_on_the_box(tmp_path):
    # Places on the image's own columns: these lie on the borders of triangles.
    random = np.random.default_rng(2)
    places = [(100 * i, 50 * j) for i in range(1, 5) for j in range(1, 4)]
    lines = [f"{x} {y} {t} {v}\n" for x, y in places for t, v in ((0.5, random.uniform(1900, 2000)), (1.7, 2500))]
    reader = picked(tmp_path, "".join(lines), CUBE)
    found = whole(reader).rms
    for lo, hi in (((1, 2), (2, 3)), ((3, 0), (5, 2)), ((0, 3), (5, 4))):
        part = reader.read(lo, hi).rms
        assert part.tobytes() == np.ascontiguousarray(found[lo[0] : hi[0], lo[1] : hi[1]]).tobytes()


def test_columns_far_beyond(tmp_path):
    with pytest.raises(InputError, match=r"column at x = 0 m lies 5000 m beyond the picks, which spread over 1000 m"):
        picked(tmp_path, "5000 1 2000\n6000 1 2000\n")


def test_coordinates_far_from_zero(tmp_path):
    grid = Grid(CUBE.shape, CUBE.spacing, (600_000.0, 6_000_000.0, 0.0), vertical="time")
    corners = [(x, y) for x in (0, 400) for y in (0, 150)]
    text = "".join(f"{600_000 + x} {6_000_000 + y} 1 {plane(x, y)}\n" for x, y in corners)
    x, y = columns_of(CUBE, (0, 0), CUBE.shape[:2])
    np.testing.assert_allclose(whole(picked(tmp_path, text, grid)).rms[..., 3], plane(x, y), rtol=1e-6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 1 2000\n0 2 abc\n", "line 2: found 'abc'; allowed: finite numbers"),
        ("0 1 2000\n0 2 nan\n", "line 2: found 'nan'; allowed: finite numbers"),
        ("0 1 2000\n\n0 2\n", r"line 3: found 2 columns; needed: 3 \(x t v\)"),
        ("0 0 1 2000\n", r"line 1: found 4 columns; needed: 3 \(x t v\)"),
        ("t x v\n1 0 2000\n", "line 1 names the columns t x v; needed: x t v"),
        ("0 1 2000\n0 0.5 1900\n", r"line 2: the time 0.5 s follows 1 s \(line 1\) at the same place"),
        ("0 1 2000\n400 1 2000\n0 1 2000\n", "lines 1 and 3: two picks at the same place and time, 1 s"),
        ("0 -1 2000\n", "line 1: found a time of -1 s; allowed: 0 s or later"),
        ("0 1500 2000\n", "line 1: found a time of 1500 s; allowed: up to 60 s; is it in milliseconds?"),
        ("0 1 0\n", "line 1: found a velocity of 0 m/s; allowed: above 0"),
        ("0 1 2.5\n", r"line 1: found a velocity of 2.5 m/s; allowed: 300 to 9000 m/s; is it in km/s\?"),
        ("0 1 25000\n", r"line 1: found a velocity of 25000 m/s; allowed: 300 to 9000 m/s; is it in ft/s\?"),
        ("# nothing\n", "holds no picks; needed: lines of x y t v"),
        (
            "0 1 3000\n0 1.21 2500\n0 2 2600\n",
            r"lines 1 and 2: at x = 0 m RMS velocities fall from 3000 m/s at 1 s to 2500 m/s at 1.21 s, which no layer "
            r"between can make \(Dix: its velocity squared would be -6.845e\+06 m2/s2\); allowed: at most 2749.9 m/s "
            r"at the first or at least 2727.3 m/s at the second, or velocities smoothed over 1 s",
        ),
    ],
)
def test_wrong_lines(tmp_path, text, words):
    with pytest.raises(InputError, match=rf"p\.txt: {words}"):
        picked(tmp_path, text)


FEET = "0 1640.4199475 500 6561.6797900\n1312.3359580 0 1500 7874.0157480\n"
METRES = "0 500 0.5 2000\n400 0 1.5 2400\n"


@pytest.mark.parametrize(
    "names",
    [
        "x(ft) y(ft) t(ms) v(ft/s)",
        "x (ft) y (ft) time (ms) Vrms (ft/s)",
        "# x, ft  y, ft  t, ms  v, ft/s",
        "# x y t v\nx_ft,y_ft,t_ms,v_ft/s",
        "X[feet] Y[feet] TWT[msec] Velocity[feet/sec]",
    ],
)
def test_units_of_the_columns_are_obeyed(tmp_path, names):
    (tmp_path / "p.txt").write_text(f"{names}\n{FEET}")
    found = read_picks(tmp_path / "p.txt")
    for place, expected in zip(found.locations, ((0, 500, 0.5, 2000), (400, 0, 1.5, 2400)), strict=True):
        said = place.x, place.y, place.times[0], place.velocities[0]
        np.testing.assert_allclose(said, expected, rtol=1e-8)
    assert found.notes() == ()


@pytest.mark.parametrize("names", ["x y t v", "x(m) y(m) t(s) v(m/s)", "# x y t(twt) v(rms)", "picks of line A", "# v"])
def test_names_that_change_nothing(tmp_path, names):
    (tmp_path / "p.txt").write_text(f"{names}\n{METRES}")
    found = read_picks(tmp_path / "p.txt")
    assert [(place.x, place.y, place.times[0]) for place in found.locations] == [(0, 500, 0.5), (400, 0, 1.5)]
    assert [place.velocities[0] for place in found.locations] == [2000, 2400]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("x owt v", "names the column owt; needed: two-way time, twice that"),
        ("# x one-way-time v", "names the column one-way-time; needed: two-way time"),
        ("x t vint", "names the column vint; needed: RMS"),
        ("cdp t v", "names the column cdp, which counts; needed: x and y in m"),
        ("x z v", "names the columns x z v; needed: x t v"),
        ("x t v(furlongs)", r"names the column v\(furlongs\); known units: m/s, km/s, ft/s"),
        ("x(s) t v", r"names the column x\(s\); known units: m, km, ft"),
        ("x t(m) v", r"names the column t\(m\); known units: s, ms"),
        ("place when fast(ft/s)", "needed: x t v"),
        ("# t x v", "names the columns t x v; needed: x t v"),
    ],
)
def test_columns_that_picks_do_not_have(tmp_path, names, words):
    with pytest.raises(InputError, match=f"line 1 {words}" if words.startswith("names") else words):
        picked(tmp_path, f"{names}\n0 0.5 2000\n0 1 2400\n")


def test_velocities_of_rocks_only_where_no_unit_is_said(tmp_path):
    text = "0 1 200\n400 1 12000\n"
    with pytest.raises(InputError, match=r"line 1: found a velocity of 200 m/s; allowed: 300 to 9000 m/s.*v\(ft/s\)"):
        picked(tmp_path, text)
    (tmp_path / "p.txt").write_text(f"x t v(m/s)\n{text}")
    assert [place.velocities[0] for place in read_picks(tmp_path / "p.txt").locations] == [200, 12000]


def test_fast_picks_are_told_in_a_description_and_a_model(tmp_path):
    path = tmp_path / "p.txt"
    path.write_text("0 0.5 5200\n0 1 6600\n400 1 6000\n")
    told = "no velocity below 5200 m/s: picks are in m/s; are these ft/s? Then a line before the first numbers names"
    assert told in dict(describe_picks(path).rows())["note"]
    assert told in describe_picks(path).as_dict()["notes"][0]
    request = PreparationRequest(str(path), tmp_path / "p.npy", spacing=(100.0, 50.0))
    assert any(told in note for note in PicksModel(request).notes)
    path.write_text("x t v(m/s)\n0 0.5 5200\n0 1 6600\n")
    assert "note" not in dict(describe_picks(path).rows())


def test_what_is_proposed_is_enough(tmp_path):
    for pair in ("0 1 2749.9\n0 1.21 2500\n", "0 1 3000\n0 1.21 2727.3\n"):
        (tmp_path / "p.txt").write_text(pair)
        read_picks(tmp_path / "p.txt", 2)


def test_no_text_and_no_file(tmp_path):
    (tmp_path / "p.txt").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InputError, match="is not text in UTF-8"):
        read_picks(tmp_path / "p.txt", 2)
    with pytest.raises(InputError, match="no such file"):
        read_picks(tmp_path / "q.txt", 2)


def test_eta_from_picks_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"\[time_migration\] eta: found p.txt, a text; allowed: a volume or a number"):
        velocities(tmp_path, LINE, velocity=2000.0, eta="p.txt")


def test_a_description(tmp_path):
    (tmp_path / "p.txt").write_text(TWO)
    said = describe_picks(tmp_path / "p.txt")
    rows = dict(said.rows())
    assert rows["kind"] == "velocity picks, 2D"
    assert rows["locations"] == "2, with 2 picks each"
    assert rows["x"] == "0 to 400 m"
    assert rows["times"] == "0.5 to 2 s"
    assert rows["velocities"] == "2000 to 3200 m/s"
    least, most = 2000.0, np.sqrt((2.0 * 3200**2 - 1.0 * 3000**2) / 1.0)
    assert rows["Dix velocities"] == f"{least:.6g} to {most:.6g} m/s in intervals"
    record = said.as_dict()
    assert record["interval_metres_per_second"] == [least, pytest.approx(most)]
    assert (record["dimension"], record["locations"], record["picks"]) == (2, 2, 4)
