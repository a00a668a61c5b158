"""Elastic sources: moment tensors, tables, time functions, what a step adds."""

import numpy as np
import pytest
from elastic_survey_support import random_model, survey_with

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.seismic.elastic.moment_tensors import double_couple
from fathometer.seismic.elastic.receivers import components_of, time_shift
from fathometer.seismic.elastic.sources import point_sources_of, source_points
from fathometer.seismic.elastic.survey_checks import check_inside_model
from fathometer.seismic.elastic.time_functions import SourceSeries
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.traces.moment_rate import BRUNE_LENGTH, RateWavelet, brune, cosine
from fathometer.seismic.traces.resampling import LowPass
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.traces.wavelet import wavelet_of


def tensor(mxx, myy, mzz, mxy, mxz, myz):
    return np.array([[mxx, mxy, mxz], [mxy, myy, myz], [mxz, myz, mzz]])


def slip_and_normal(strike, dip, rake):
    """Of Aki & Richards (2002), equations 4.83 and 4.84: slip of the hanging wall, normal of the foot wall."""
    s, d, r = np.radians([strike, dip, rake])
    slip = [
        np.cos(r) * np.cos(s) + np.cos(d) * np.sin(r) * np.sin(s),
        np.cos(r) * np.sin(s) - np.cos(d) * np.sin(r) * np.cos(s),
        -np.sin(r) * np.sin(d),
    ]
    normal = [-np.sin(d) * np.sin(s), np.sin(d) * np.cos(s), -np.cos(d)]
    return np.array(slip), np.array(normal)


def test_double_couples_are_slip_on_a_plane():
    rng = np.random.default_rng(5)
    for strike, dip, rake in rng.uniform((0, 0, -180), (360, 90, 180), (50, 3)):
        found = tensor(*double_couple(strike, dip, rake, 3e15))
        slip, normal = slip_and_normal(strike, dip, rake)
        assert np.allclose(found, 3e15 * (np.outer(slip, normal) + np.outer(normal, slip)), atol=1e3)
        assert abs(np.trace(found)) < 10
        assert np.allclose(np.linalg.eigvalsh(found), [-3e15, 0, 3e15], atol=1e3)


def test_known_double_couples():
    assert np.allclose(double_couple(0, 90, 0, 1.0), [0, 0, 0, 1, 0, 0])  # strike slip along x
    assert np.allclose(double_couple(0, 45, 90, 1.0), [0, -1, 1, 0, 0, 0], atol=1e-15)  # thrust: y shortens
    assert np.allclose(double_couple(90, 45, -90, 1.0), [1, 0, -1, 0, 0, 0], atol=1e-15)  # normal: x lengthens
    many = double_couple(np.array([0, 0]), np.array([90, 45]), np.array([0, 90]), np.array([2.0, 3.0]))
    assert np.allclose(many, [[0, 0, 0, 2, 0, 0], [0, -3, 3, 0, 0, 0]], atol=1e-15)


def sources_of(tmp_path, source, flat=False, **sections):
    return point_sources_of(survey_with(tmp_path, source=source, **sections), flat)


def test_single_sources(tmp_path):
    explosion = sources_of(tmp_path, {"kind": "explosion", "moment": 4e20})
    assert explosion.component.tolist() == [[4e20, 4e20, 4e20, 0, 0, 0]]
    force = sources_of(tmp_path, {"kind": "force", "vector": [1.0, 2.0, 3.0]})
    assert force.fields == ("vx", "vy", "vz")
    assert force.component.tolist() == [[1, 2, 3]]
    given = sources_of(tmp_path, {"kind": "moment-tensor", "mxx": 1.0, "myz": -2.0})
    assert given.component.tolist() == [[1, 0, 0, 0, 0, -2]]


def test_two_dimensions_radiate_what_lies_in_their_plane(tmp_path):
    explosion = sources_of(tmp_path, {"kind": "explosion"}, flat=True)
    assert (explosion.fields, explosion.component.tolist()) == (("sxx", "szz", "sxz"), [[1, 1, 0]])
    assert explosion.notes == ()
    couple = sources_of(tmp_path, {"kind": "double-couple", "strike": 90.0, "dip": 45.0, "rake": 90.0}, flat=True)
    assert couple.notes == ()
    couple = sources_of(tmp_path, {"kind": "double-couple", "strike": 30.0, "dip": 45.0, "rake": 90.0}, flat=True)
    assert "[source]: myy, mxy" in couple.notes[0]
    force = sources_of(tmp_path, {"kind": "force", "vector": [1.0, 2.0, 0.0]}, flat=True)
    assert "fy radiates nothing" in force.notes[0]
    with pytest.raises(InputError, match="found nothing but mxy, which radiates nothing"):
        sources_of(tmp_path, {"kind": "double-couple", "strike": 0.0, "dip": 90.0, "rake": 0.0}, flat=True)


TIME = TimeAxis(2e-3, 10, 100, 1)
GRID = Grid((30, 30, 30), (10.0, 5.0, 8.0), pad=((5, 5), (5, 5), (5, 5)))


def test_what_a_step_adds(tmp_path):
    """A force over the volume of a cell at the time of a step; a moment with -dt, half a step later."""
    survey = survey_with(tmp_path, source={"kind": "force", "vector": [0.0, 0.0, 7.0]})
    wavelet, node = wavelet_of(survey), np.array([150.0, 100.0, 120.0])
    at = (node, wavelet, TIME, False, np.dtype(np.float64), False)
    points, series = source_points(GRID, point_sources_of(survey, False), *at)
    assert [some.field for some in points] == ["vz"]
    assert points[0].amplitude[0] == pytest.approx(7 / 400)
    assert np.allclose(series.rows(3, 5)[:, 0], wavelet((np.arange(3, 8) - 10) * 2e-3))
    moment = sources_of(tmp_path, {"kind": "moment-tensor", "mxy": 5.0, "mzz": -1.0})
    points, series = source_points(GRID, moment, *at)
    assert [some.field for some in points] == ["szz", "sxy"]
    assert [some.amplitude[0] for some in points] == pytest.approx([2e-3 / 400, -5 * 2e-3 / 400])
    assert np.allclose(series.rows(3, 5)[:, 0], wavelet((np.arange(3, 8) - 9.5) * 2e-3))
    assert points[0].points.first.tolist() == [[20, 25, 20]]
    assert points[0].points.on_grid


def table(tmp_path, text, flat=False, wavelet=None):
    (tmp_path / "fault.csv").write_text(text)
    wavelet = wavelet or {"kind": "brune", "rise_time": 0.2, "maximum_frequency": 10.0, "peak_frequency": None}
    return sources_of(tmp_path, {"kind": "table", "path": "fault.csv"}, flat, wavelet=wavelet)


def test_a_table_of_point_sources(tmp_path):
    text = "x,y,z,onset,rise_time,strike,dip,rake,moment\n0,0,0,0,0.1,0,90,0,1e15\n10,5,8,0.5,0.1,0,45,90,2e15\n"
    sources = table(tmp_path, text + "20,5,8,0.5,0.1,0,45,90,0\n20,5,8,0.5,0.3,0,45,90,1e15\n")
    assert sources.offset.tolist() == [[0, 0, 0], [10, 5, 8], [20, 5, 8], [20, 5, 8]]
    assert np.allclose(sources.component[:2], 1e15 * np.array([[0, 0, 0, 1, 0, 0], [0, -2, 2, 0, 0, 0]]), atol=1)
    wavelet = wavelet_of(
        survey_with(
            tmp_path, wavelet={"kind": "brune", "rise_time": 0.2, "maximum_frequency": 10.0, "peak_frequency": None}
        )
    )
    points, series = source_points(
        GRID, sources, np.array([100.0, 100.0, 80.0]), wavelet, TIME, False, np.dtype(np.float64), False
    )
    assert series.columns == 3  # pairs of onset and rise time
    by_field = {some.field: some for some in points}
    assert set(by_field) == {"syy", "szz", "sxy"}
    assert by_field["sxy"].column.tolist() == [0]
    assert by_field["szz"].column.tolist() == [1, 2]
    assert by_field["szz"].points.first.tolist() == [[16, 26, 16], [17, 26, 16]]
    t = np.arange(700, 705) * 2e-3 - 10 * 2e-3 + 1e-3 - 0.5  # so late that the low-pass has nothing to take away
    assert np.allclose(series.rows(700, 5)[:, 2], t / 0.3**2 * np.exp(-t / 0.3), rtol=1e-4)
    assert np.array_equal(series.rows(300, 5, np.array([2, 0])), series.rows(300, 5)[:, [2, 0]])
    assert sources.lead(wavelet) == wavelet.lead


@pytest.mark.parametrize("kind", ["brune", "cosine"])
def test_moment_rates_are_as_they_were_up_to_their_highest_frequency(tmp_path, kind):
    """Their spectra are those of the formulas up to it, and nothing from twice that on."""
    rise, highest = 0.2, 4.0
    keys = {"kind": kind, "rise_time": rise, "maximum_frequency": highest, "peak_frequency": None}
    wavelet = wavelet_of(survey_with(tmp_path, wavelet=keys))
    step = 1e-3
    t = np.arange(-4000, 16000) * step
    frequencies = np.array([0.0, 0.3, 1.0, 2.0, 3.0, highest, 2.02 * highest, 3 * highest])
    w = 2 * np.pi * frequencies
    found = step * np.exp(-1j * np.outer(w, t)) @ wavelet(t)
    if kind == "brune":
        true = 1 / (1 + 1j * w * rise) ** 2
    else:
        bell = np.exp(-0.5j * w * rise) * np.sinc(frequencies * rise)
        true = bell / (1 - (frequencies * rise) ** 2 + 1e-12)
    assert np.abs(found - true)[:6].max() <= 1e-3
    assert np.abs(found[6:]).max() <= 1e-4
    assert not wavelet(t[t < -wavelet.lead - 0.01]).any()
    assert wavelet.fmax == highest


def test_each_rise_time_of_a_table_is_computed_once():
    """However many chunks of steps ask for it; and each column is what a wavelet of that rise time alone gives."""
    computed = []

    def counted(frequency, rise_time):
        computed.append(rise_time)
        return brune(frequency, rise_time)

    wavelet = RateWavelet(counted, BRUNE_LENGTH, 0.2, 10.0)
    rng = np.random.default_rng(3)
    rises, onset = rng.permutation(np.repeat(np.geomspace(0.01, 3, 7), 2)), np.round(rng.uniform(0, 1, 14), 2)
    series, column = SourceSeries.of(wavelet, onset, rises, TIME, 0.5, np.dtype(np.float64), False)
    found = np.concatenate([series.rows(start, 40, column) for start in range(0, 1200, 40)])
    assert sorted(computed) == sorted(set(rises))
    t = TIME.first + (np.arange(1200) + 0.5) * TIME.dt
    for n, rise_time in enumerate(rises):
        alone = RateWavelet(brune, BRUNE_LENGTH, rise_time, 10.0)
        assert np.array_equal(found[:, n], alone(t - onset[n]))
    assert series.rows(0, 40, np.zeros(0, np.int64)).shape == (40, 0)


@pytest.mark.parametrize(("spectrum", "length"), [(brune, BRUNE_LENGTH), (cosine, 1.0)])
@pytest.mark.parametrize("rise_time", [0.001, 0.05, 0.2, 1.3])
def test_moment_rates_are_the_formulas_low_passed(spectrum, length, rise_time):
    """The low-pass as an integral over the formula in time, by a rule that knows its kinks."""
    wavelet = RateWavelet(spectrum, length, rise_time, 5.0)
    kernel, late = LowPass(5.0, 10.0), length * rise_time
    s = (np.arange(400_000) + 0.5) / 400_000 * late
    rate = s / rise_time**2 * np.exp(-s / rise_time)
    if spectrum is cosine:
        rate = (1 - np.cos(2 * np.pi * s / rise_time)) / rise_time
    t = np.append(np.linspace(-wavelet.lead, wavelet.lead + min(late, 5 * rise_time), 23), [-1e3, 1e3])
    true = np.array([np.mean(rate * kernel(one - s)) * late for one in t])
    assert np.abs(wavelet(t) - true).max() <= 2e-5 * np.abs(true).max()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,z,moment,strike,dip,rake\n0,0,1,0,0,0\n", "column y: missing; needed: x, y, z (m)"),
        ("x,y,z\n0,0,0\n", "no column has a moment"),
        ("x,y,z,mxx,dip\n0,0,0,1,2\n", "found the columns dip and mxx; allowed: strike, dip, rake, moment, or mxx"),
        ("x,y,z,strike,dip,moment\n0,0,0,1,2,3\n", "column rake: missing"),
        ("x,y,z,strike,dip,rake,moment\n0,0,0,1,2,3,4\n0,0,0,1,95,3,4\n", "column dip: found 95 in row 2 (from 1)"),
        ("x,y,z,strike,dip,rake,moment\n0,0,0,1,2,3,-4\n", "column moment: found -4"),
        ("x,y,z,mxx\n0,0,0,0\n", "found a moment of 0 in all rows"),
        ("", "fault.csv: is empty: 0 bytes"),
        ("x,y,z,mxx\n", "holds no rows; needed: at least one"),
        ("x,y,z,mxx,rise_time\n0,0,0,1,0\n", "column rise_time: found 0 in row 1"),
        ("x,y,z,mxx\n0,0,0,nan\n", "column mxx: found nan in row 1"),
    ],
)
def test_tables_that_are_refused(tmp_path, text, words):
    with pytest.raises(InputError) as caught:
        table(tmp_path, text)
    assert words in str(caught.value)
    assert "fault.csv" in str(caught.value)


def test_rise_times_need_a_wavelet_that_has_one(tmp_path):
    text = "x,y,z,mxx,rise_time\n0,0,0,1,0.1\n"
    with pytest.raises(InputError, match='found with the wavelet "ricker", which has none; allowed: with brune or cos'):
        table(tmp_path, text, wavelet={"kind": "ricker"})
    bell = {"kind": "cosine", "rise_time": 0.2, "peak_frequency": None}
    with pytest.raises(InputError, match=r"found 0.1 s; allowed: from \[wavelet\] rise_time, 0.2 s, on"):
        table(tmp_path, text, wavelet=bell)
    assert table(tmp_path, text, wavelet=bell | {"maximum_frequency": 30.0}).rise_time.tolist() == [0.1]


def test_point_sources_outside_the_model(tmp_path):
    random_model(tmp_path)
    sources = table(tmp_path, "x,y,z,mxx\n0,0,0,1\n0,0,-30,1\n")
    shot = Shot(0, 1, np.array([20.0, 20.0, 20.0]), np.zeros((1, 3)), np.array([1]))
    grid = Grid((9, 8, 7), (10.0, 12.0, 8.0))
    with pytest.raises(InputError, match=r"1 of 2 point sources lie outside .*; first: row 2 .* \(20, 20, -10\)"):
        check_inside_model(survey_with(tmp_path), sources, [shot], grid)


def test_components(tmp_path):
    assert components_of(survey_with(tmp_path), False) == ("vx", "vy", "vz")
    assert components_of(survey_with(tmp_path), True) == ("vx", "vz")
    given = survey_with(tmp_path, acquisition={"components": ["pressure", "syz"]})
    assert components_of(given, False) == ("pressure", "syz")
    with pytest.raises(InputError, match='found "syz" in 2D'):
        components_of(given, True)
    first = {name: TIME.first + time_shift(name) * TIME.dt for name in ("vx", "pressure", "sxy")}
    assert first["vx"] == pytest.approx(-0.019)
    assert first["pressure"] == first["sxy"] == pytest.approx(-0.02)


@pytest.mark.parametrize("rises", [None, np.array([0.03, 0.1, 0.5])])
def test_sources_that_are_active_at_the_end(rises):
    """Their transformed series do not depend on when the run ends."""
    wavelet = RateWavelet(brune, BRUNE_LENGTH, 0.2, 15.0)
    onset = np.array([0.1, 0.6, 0.75])

    def rows(steps):
        time = TimeAxis(2e-3, 40, steps, 1)
        series, column = SourceSeries.of(wavelet, onset, rises, time, 0.5, np.dtype(np.float64), True)
        assert column.tolist() == [0, 1, 2]
        parts = [series.rows(start, 50, np.arange(3)) for start in range(0, 400, 50)]
        return np.concatenate(parts)

    short, long = rows(400), rows(4000)
    plain, _ = SourceSeries.of(wavelet, onset, rises, TimeAxis(2e-3, 40, 400, 1), 0.5, np.dtype(np.float64), False)
    moved = np.abs(long - plain.rows(0, 400)).max(axis=0)
    assert (np.abs(short - long).max(axis=0) <= 0.02 * moved).all()
    assert (moved > 0).all()
