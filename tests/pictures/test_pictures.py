"""Pictures: true aspect, depth down, labels in m, bounded size, the same bytes every time."""

import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fathometer.base.display import Display
from fathometer.base.errors import FathometerError, InputError
from fathometer.pictures import (
    comparison_figure,
    comparison_picture,
    gather_figure,
    gather_picture,
    image_figure,
    image_picture,
    volume_figure,
    volume_picture,
)
from fathometer.pictures.colours import property_colours, seismic_colours, symmetric_range
from fathometer.pictures.file_picture import axis_order, picture_of
from fathometer.pictures.gain import agc, below_water, depth_gain, interval_velocities, water_cells
from fathometer.pictures.gather import signed_offsets
from fathometer.pictures.panel_layout import Labels
from fathometer.pictures.plane import downsampled, grid_of, planes_of
from fathometer.pictures.sheet import style
from fathometer.seismic.model.synthetic import demo_model, reflectivity
from fathometer.storage.traces.segy import GatherWriter
from tests.support.cli_support import call

ORIGIN = (100.0, -50.0, 0.0)
CASES = [
    pytest.param((80, 1, 40), (25.0, 25.0, 25.0), 1, id="2D"),
    pytest.param((80, 1, 40), (10.0, 10.0, 5.0), 1, id="2D, uneven cells"),
    pytest.param((900, 1, 30), (25.0, 25.0, 25.0), 1, id="long and thin"),
    pytest.param((20, 1, 200), (25.0, 25.0, 25.0), 1, id="narrow and deep"),
    pytest.param((60, 30, 40), (25.0, 25.0, 25.0), 3, id="3D"),
    pytest.param((60, 30, 40), (10.0, 20.0, 15.0), 3, id="3D, uneven cells"),
    pytest.param((300, 6, 20), (25.0, 25.0, 25.0), 3, id="3D, a strip"),
]
POINTS = np.array([[x, 0.0, 10.0] for x in np.linspace(0.0, 2000.0, 9)])


def figure_of(shape, spacing, at=None):
    model = demo_model(shape, spacing)
    return image_figure(reflectivity(model.vp, spacing[2], 10.0), model.vp, spacing, ORIGIN, POINTS, POINTS, "Test", at)


def panels_of(figure):
    """The axes that show volumes: all but the colour bars."""
    return [axes for axes in figure.axes if axes.get_label() != "colour bar"]


def bars_of(figure):
    return [axes for axes in figure.axes if axes.get_label() == "colour bar"]


def inches(figure, axes):
    width, height = figure.get_size_inches()
    box = axes.get_position()
    return box.width * width, box.height * height


def png_size(path: Path) -> tuple[int, int]:
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", head[16:24])


@pytest.mark.parametrize(("shape", "spacing", "count"), CASES)
def test_aspect_is_true_and_scale_common(shape, spacing, count):
    figure = figure_of(shape, spacing)
    panels = panels_of(figure)
    assert len(panels) == count + (2 if count == 3 else 1)  # and the velocity's sections
    scales = []
    for axes in panels:
        wide, high = inches(figure, axes)
        scales += [np.ptp(axes.get_xlim()) / wide, np.ptp(axes.get_ylim()) / high]
    assert max(scales) / min(scales) < 1.001
    # The axes show the volume from its first to its last cell.
    assert panels[0].get_xlim() == pytest.approx((100.0, 100.0 + (shape[0] - 1) * spacing[0]))
    assert panels[0].get_ylim() == pytest.approx(((shape[2] - 1) * spacing[2], 0.0))


@pytest.mark.parametrize(("shape", "spacing", "count"), CASES)
def test_size_is_sensible_and_everything_is_on_the_sheet(shape, spacing, count):
    figure = figure_of(shape, spacing)
    width, height = figure.get_size_inches()
    assert 3.0 < width < 17.0
    assert 1.5 < height < 14.0
    with style():
        box = figure.get_tightbbox()  # inches, of all that is drawn
    assert box.x0 >= 0.0
    assert box.y0 >= 0.0
    assert box.x1 <= width
    assert box.y1 <= height


def test_long_names_on_narrow_panels_do_not_overlap():
    names = Labels("Title", "value", ("inline", "crossline", "z"), "cells")
    values = np.arange(5.0 * 5 * 50).reshape(5, 5, 50)
    grid = grid_of(values.shape, (1.0,) * 3, (0.0,) * 3)
    figure = volume_figure(lambda plane: plane.of(values), grid, names)
    with style():
        figure.draw_without_rendering()
        section, side, _ = panels_of(figure)
        for first, second in [
            (section.xaxis.label, side.xaxis.label),
            (section._left_title, side._left_title),
        ]:
            assert first.get_window_extent().x1 < second.get_window_extent().x0
    assert all(tick == round(tick) for tick in section.get_xticks())


def test_depth_goes_down_and_labels_carry_metres():
    section, side, above, *velocity = panels_of(figure_of((60, 30, 40), (25.0, 25.0, 25.0)))
    for axes in (section, side, *velocity):
        assert axes.yaxis_inverted()
    assert not above.yaxis_inverted()
    assert [axes.get_xlabel() for axes in (section, side)] == ["", ""]  # they stand below the velocity
    assert [axes.get_xlabel() for axes in velocity] == ["x (m)", "y (m)"]
    assert section.get_ylabel() == velocity[0].get_ylabel() == "depth (m)"
    assert above.get_ylabel() == "y (m)"
    for axes in (section, side, above):
        assert axes.get_title(loc="left").endswith(" m")
    # Depth down in the picture itself: the first row drawn is the shallowest.
    assert section.images[0].get_extent()[3] < section.images[0].get_extent()[2]


def test_slices_meet_where_they_are_asked_to():
    section, side, above, *_ = panels_of(figure_of((60, 30, 40), (25.0, 25.0, 25.0), at=(612.0, 200.0, 490.0)))
    cuts = [
        [float(np.ravel(line.get_data())[0]) for line in axes.lines if line.get_linestyle() == "--"]
        for axes in (section,)
    ]
    assert section.get_title(loc="left") == "y = 200 m"
    assert side.get_title(loc="left") == "x = 600 m"
    assert above.get_title(loc="left") == "depth = 500 m"
    assert cuts[0][0] == pytest.approx(600.0)


def test_a_cell_is_drawn_at_its_place():
    """A single cell of another value shows up at its own coordinates in all three panels."""
    vp = np.full((30, 20, 25), 2000.0)
    vp[7, 11, 17] = 4000.0
    at = [100.0 + 7 * 10.0, -50.0 + 11 * 10.0, 17 * 10.0]
    figure = image_figure(vp, vp, (10.0,) * 3, ORIGIN, None, None, "", at)
    planes = [(0, 2), (1, 2), (0, 1), (0, 2), (1, 2)]
    for axes, (across, along) in zip(panels_of(figure), planes, strict=True):
        drawn = axes.images[0]
        rows, columns = drawn.get_array().shape
        row, column = np.unravel_index(np.argmax(drawn.get_array()), (rows, columns))
        left, right, bottom, top = drawn.get_extent()
        assert left + (column + 0.5) * (right - left) / columns == pytest.approx(at[across])
        assert top + (row + 0.5) * (bottom - top) / rows == pytest.approx(at[along])


def test_clip_ignores_the_water():
    vp = np.full((50, 60), 2000.0)
    vp[:, :20] = 1500.0
    vp[10:20, 15:20] = 1700.0
    assert set(water_cells(vp)[:10]) == {20}
    assert set(water_cells(vp)[10:20]) == {15}
    image = np.ones((50, 60))
    image[:, :10] = 1e6
    seen, judged = below_water(image, vp)
    np.testing.assert_array_equal(judged[[0, 12]], [np.arange(60) >= 20, np.arange(60) >= 15])
    assert np.all(seen[judged] == 1.0)
    assert np.all(seen[0, :10] == 0.0)
    np.testing.assert_array_equal(seen[:, 20:], image[:, 20:])
    assert symmetric_range([seen[judged]]) == 1.0
    assert symmetric_range([np.arange(-100.0, 101.0)]) == pytest.approx(99.0, abs=1.0)
    assert symmetric_range([np.zeros(5)]) == 1.0


def test_interval_velocities_are_those_of_the_layers():
    """Water down to 0.4 s and a layer of 1800 m/s: its RMS velocity exceeds that of water by little for long."""
    times = 0.004 * np.arange(251)
    squares = np.where(times <= 0.4, 1500.0**2 * times, 1500.0**2 * 0.4 + 1800.0**2 * (times - 0.4))
    rms = np.sqrt(np.divide(squares, times, out=np.full(251, 1500.0**2), where=times > 0)).astype(np.float32)
    layers = interval_velocities(rms[None], 0.0, 0.004)
    np.testing.assert_allclose(layers[0, :101], 1500.0, rtol=1e-4)
    np.testing.assert_allclose(layers[0, 101:], 1800.0, rtol=1e-4)
    assert water_cells(layers) == [101]
    assert water_cells(rms[None])[0] > 125
    later = interval_velocities(rms[None, 50:], 0.2, 0.004)
    np.testing.assert_allclose(later[0, 1:], layers[0, 51:], rtol=1e-4)
    assert later[0, 0] == rms[50]


@pytest.mark.parametrize(("shape", "count"), [((80, 1, 51), 1), ((60, 30, 51), 3)])
def test_an_image_in_time_has_seconds_down(shape, count):
    vp = np.full(shape, 2000.0)
    image = np.random.default_rng(0).standard_normal(shape)
    spacing, origin = (25.0, 25.0, 0.004), (100.0, -50.0, 0.3)
    figure = image_figure(image, vp, spacing, origin, POINTS, None, "Test", in_time=True)
    panels = panels_of(figure)
    assert len(panels) == count + (2 if count == 3 else 1)
    section = panels[0]
    assert (panels[-1].get_xlabel(), section.get_ylabel()) == ("x (m)" if count == 1 else "y (m)", "two-way time (s)")
    assert section.get_ylim() == pytest.approx((0.5, 0.3))
    wide, high = inches(figure, section)
    assert high / wide == pytest.approx(0.6, abs=0.001)
    assert figure.axes[-1].get_ylabel() == "RMS velocity (m/s)"
    if count == 3:
        assert [axes.get_title(loc="left") for axes in panels[:3]] == ["y = 325 m", "x = 850 m", "time = 0.4 s"]
        (across, up) = inches(figure, panels[2])
        assert across / up == pytest.approx(59 / 29, rel=0.001)  # a map keeps its aspect


def test_the_sea_floor_of_an_image_in_time_does_not_fade():
    """Water of 0.4 s over a layer of 1800 m/s, whose RMS velocity stays that of water for 0.2 s more."""
    times = 0.004 * np.arange(251)
    squares = np.where(times <= 0.4, 1500.0**2 * times, 1500.0**2 * 0.4 + 1800.0**2 * (times - 0.4))
    rms = np.sqrt(np.divide(squares, times, out=np.full(251, 1500.0**2), where=times > 0))
    image = np.zeros((40, 1, 251))
    image[:, :, 85:106] = 1.0
    vp = np.broadcast_to(rms, image.shape)
    figure = image_figure(image, vp, (25.0, 25.0, 0.004), (0.0, 0.0, 0.0), None, None, "", in_time=True)
    drawn = figure.axes[0].images[0].get_array().T
    assert np.all(drawn[:, 85] > 0.55 * drawn[:, 105])  # 0.37 where RMS velocities tell the sea floor


@pytest.mark.parametrize("name", ["v.rsf", "v.nc", "v.segy"])
def test_picture_of_a_volume_in_time_says_seconds(tmp_path, monkeypatch, name):
    from mpi4py import MPI

    from fathometer.grid.grid import Grid
    from fathometer.grid.volume_info import volume_info
    from fathometer.pictures import file_picture
    from fathometer.storage.volumes.volume import write_volume

    grid = Grid((12, 1, 26), (20.0, 1.0, 0.008), (40.0, 0.0, 0.2), vertical="time")
    values = np.arange(12 * 26, dtype=np.float32).reshape(12, 26)
    write_volume(tmp_path / name, volume_info(grid, values.dtype, "m/s"), values, (0, 0), MPI.COMM_SELF)
    drawn = []
    monkeypatch.setattr(file_picture, "save", lambda figure, path: drawn.append(figure))
    picture_of(tmp_path / "a.png", name, tmp_path)
    axes = drawn[0].axes[0]
    assert axes.get_ylabel() == "two-way time (s)"
    assert axes.get_ylim() == pytest.approx((0.4, 0.2))
    assert axes.get_xlabel() == ("trace (cells)" if name == "v.segy" else "x (m)")
    assert any(tick != round(tick) for tick in axes.get_yticks())
    wide, high = inches(drawn[0], axes)
    assert high / wide == pytest.approx(0.6, abs=0.001)


def test_gain_balances_depths_but_does_not_raise_silence():
    """Alternating amplitudes that fall as 1/z^2, and a stretch with 1e-4 of the largest one."""
    depth = np.arange(200.0)
    section = np.where(np.arange(60) % 2, 1.0, -1.0)[:, None] * (20 / np.maximum(depth, 20)) ** 2
    section[:, 150:] = 1e-4
    judged = np.broadcast_to(depth >= 20, section.shape)
    gain = depth_gain([section], [judged])
    shown = np.abs(section * gain).max(axis=0)
    assert shown[30:110].max() / shown[30:110].min() < 4 < (110 / 30) ** 2 / 3
    assert shown[185:].max() < 0.01 * shown[20:110].max()
    np.testing.assert_array_equal(depth_gain([0 * section], [judged]), np.ones(200))
    np.testing.assert_array_equal(depth_gain([section], [judged & False]), np.ones(200))


def test_pictures_are_written_whole_small_and_always_the_same(tmp_path):
    model = demo_model((60, 30, 40), (25.0, 25.0, 25.0))
    image = reflectivity(model.vp, 25.0, 10.0)
    where = (25.0, 25.0, 25.0), (0.0, 0.0, 0.0)
    draw = {
        "image": lambda path: image_picture(path, image, model.vp, *where, POINTS, None, "Image"),
        "volume": lambda path: volume_picture(path, model.vp, *where, "vp (m/s)", "Model"),
        "signed": lambda path: volume_picture(path, image, *where, "image", "Image"),
        "comparison": lambda path: comparison_picture(path, [("a", image), ("b", -image)], model.vp, *where),
        "gather": lambda path: gather_picture(path, image[:, 0], 0.004, -0.1, None, "Gather"),
    }
    for name, write in draw.items():
        first, second = tmp_path / f"{name}1.png", tmp_path / f"{name}2.png"
        write(first)
        write(second)
        assert first.read_bytes() == second.read_bytes()
        wide, high = png_size(first)
        assert 300 < wide < 2600
        assert 200 < high < 2000
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".png"]


def test_user_settings_neither_matter_nor_change(tmp_path):
    import matplotlib

    values = np.arange(60.0).reshape(10, 1, 6)
    with matplotlib.rc_context({"font.size": 31.0, "figure.dpi": 33.0, "savefig.bbox": "tight"}):
        volume_picture(tmp_path / "a.png", values, (1.0,) * 3, (0.0,) * 3, "v", "t")
        assert matplotlib.rcParams["font.size"] == 31.0
    volume_picture(tmp_path / "b.png", values, (1.0,) * 3, (0.0,) * 3, "v", "t")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_a_folder_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(FathometerError, match=r"none/x\.png") as caught:
        volume_picture(tmp_path / "none/x.png", np.ones((4, 1, 4)), (1.0,) * 3, (0.0,) * 3, "v", "t")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [0.0, 5.0, np.nan])
def test_a_constant_volume_can_be_drawn(tmp_path, value):
    volume_picture(tmp_path / "a.png", np.full((5, 4, 3), value), (1.0,) * 3, (0.0,) * 3, "v", "t")
    png_size(tmp_path / "a.png")


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="different shapes"):
        image_figure(np.ones((4, 1, 4)), np.ones((4, 1, 5)), (1.0,) * 3, (0.0,) * 3, None, None, "")
    with pytest.raises(ValueError, match="3 axes"):
        grid_of((4, 4), (1.0, 1.0), (0.0, 0.0))
    with pytest.raises(ValueError, match="positive spacing"):
        grid_of((4, 4, 4), (1.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="a gather needs"):
        gather_figure(np.ones(5), 0.004, 0.0, None, "")
    with pytest.raises(ValueError, match="3 traces have 2 positions"):
        gather_figure(np.ones((3, 5)), 0.004, 0.0, np.ones(2), "")
    with pytest.raises(ValueError, match="b: image"):
        comparison_figure([("b", np.ones((3, 1, 3)))], np.ones((4, 1, 4)), (1.0,) * 3, (0.0,) * 3)


def test_large_planes_are_averaged():
    values = np.arange(5000.0)[:, None] * np.ones((1, 7))
    small, factors = downsampled(values)
    assert factors == (3, 1)
    assert small.shape == (1666, 7)
    np.testing.assert_allclose(small[:3, 0], [1.0, 4.0, 7.0])


def test_comparison_panels_share_one_scale():
    image = np.random.default_rng(1).normal(size=(200, 1, 60))
    vp = np.full(image.shape, 2000.0)
    figure = comparison_figure([(str(i), image) for i in range(3)], vp, (20.0, 20.0, 10.0), (0.0,) * 3, "Three")
    panels = panels_of(figure)
    assert [axes.get_title(loc="left") for axes in panels] == ["0", "1", "2", "velocity"]
    for axes in panels:
        wide, high = inches(figure, axes)
        assert (np.ptp(axes.get_xlim()) / wide) / (np.ptp(axes.get_ylim()) / high) == pytest.approx(1.0, abs=1e-3)
    assert panels[-1].get_xlabel() == "x (m)"


@pytest.mark.parametrize(
    ("positions", "label", "limits"),
    [
        (np.arange(10) * 25.0 - 100.0, "offset (m)", (-112.5, 137.5)),
        (
            np.array([0.0, 1, 2, 3, 9, 10, 11, 12, 13, 14]),
            "offset (m), in the order of the channels",
            (0.5, 10.5),
        ),
        (None, "channel", (0.5, 10.5)),
    ],
    ids=["even", "gap", "none"],
)
def test_gather_axes(positions, label, limits):
    axes = gather_figure(np.ones((10, 101)), 0.004, -0.1, positions, "Shot").axes[0]
    assert axes.get_xlabel() == label
    assert axes.get_xlim() == pytest.approx(limits)
    assert axes.get_ylabel() == "time (s)"
    assert axes.get_ylim() == pytest.approx((0.3, -0.1))


def test_gather_map_has_one_scale():
    receivers = np.array([[x, y, 0.0] for x in np.arange(0.0, 900.0, 100.0) for y in (0.0, 50.0)])
    source = np.array([[400.0, 25.0, 5.0]])
    figure = gather_figure(np.ones((18, 50)), 0.004, 0.0, None, "Shot", geometry=(source, receivers))
    _, axes = panels_of(figure)
    wide, high = inches(figure, axes)
    assert wide / np.ptp(axes.get_xlim()) == pytest.approx(high / np.ptp(axes.get_ylim()))
    assert axes.get_xlim()[0] < 0.0
    assert axes.get_xlim()[1] > 800.0


def test_signed_offsets():
    receivers = np.array([[-30.0, 40.0, 0.0], [30.0, 40.0, 7.0], [300.0, 0.0, 0.0]])
    np.testing.assert_allclose(signed_offsets(np.zeros((3, 3)), receivers), [-50.0, 50.0, 300.0])


@pytest.mark.parametrize(
    ("labels", "dimensions", "axes", "order"),
    [
        (None, 3, None, (0, 1, 2)),
        (None, 2, None, (0, 2)),
        (("z", "y", "x"), 3, None, (2, 1, 0)),
        (("Depth", "Distance"), 2, None, (2, 0)),
        (("x", "z"), 2, "zx", (2, 0)),
        (("time", "trace"), 2, None, (2, 0)),
        (("t", "y", "x"), 3, None, (2, 1, 0)),
        (("a", "b"), 2, None, (0, 2)),
        (("x", "x", "z"), 3, None, (0, 1, 2)),
    ],
)
def test_axis_order(labels, dimensions, axes, order):
    assert axis_order(labels, dimensions, axes) == order


@pytest.mark.parametrize("axes", ["xyz", "zyx", "yzx"])
def test_picture_of_a_volume_does_not_depend_on_its_axis_order(tmp_path, axes):
    values = demo_model((30, 20, 25), (50.0, 50.0, 50.0)).vp
    np.save(tmp_path / "v.npy", values)
    picture_of(tmp_path / "first.png", "v.npy", tmp_path)
    np.save(tmp_path / "v.npy", values.transpose(["xyz".index(axis) for axis in axes]))
    picture_of(tmp_path / "second.png", "v.npy", tmp_path, axes=axes)
    assert (tmp_path / "first.png").read_bytes() == (tmp_path / "second.png").read_bytes()


def test_only_three_slices_of_a_volume_are_read(tmp_path, monkeypatch):
    from fathometer.storage.volumes.block import BlockReader

    values = np.random.default_rng(0).random((30, 20, 25), dtype=np.float32)
    np.save(tmp_path / "v.npy", values)
    read, original = [], BlockReader.read

    def counted(self, lo, hi):
        block = original(self, lo, hi)
        read.append(block.size)
        return block

    monkeypatch.setattr(BlockReader, "read", counted)
    picture_of(tmp_path / "v.png", "v.npy", tmp_path)
    assert sorted(read) == sorted([30 * 25, 20 * 25, 30 * 20])


def test_picture_of_gathers_shows_the_first_shot(tmp_path, monkeypatch):
    import segyio

    from fathometer.pictures import file_picture

    spec = segyio.spec()
    spec.format, spec.samples, spec.tracecount = 5, np.arange(50) * 4.0, 12
    with segyio.create(tmp_path / "shots.segy", spec) as file:
        file.bin.update(hdt=4000, hns=50)
        for i in range(12):
            shot, channel = divmod(i, 6)
            file.header[i] = {
                segyio.su.fldr: 7 + shot,
                segyio.su.tracf: channel + 1,
                segyio.su.sx: 1000 + 50 * shot,
                segyio.su.gx: 900 + 40 * channel,
                segyio.su.offset: 40 * channel - 100 - 50 * shot,
                segyio.su.scalco: 1,
                segyio.su.ns: 50,
                segyio.su.dt: 4000,
            }
            file.trace[i] = np.full(50, i, np.float32)
    drawn = {}
    monkeypatch.setattr(file_picture, "gather_picture", lambda *args, **kwargs: drawn.update(args=args, **kwargs))
    picture_of(tmp_path / "a.png", "shots.segy", tmp_path)
    _, traces, interval, start, positions, title = drawn["args"]
    np.testing.assert_array_equal(traces[:, 0], np.arange(6))
    np.testing.assert_allclose(positions, [-100.0, -60.0, -20.0, 20.0, 60.0, 100.0])
    assert (interval, start) == (pytest.approx(0.004), 0.0)
    assert title == "shots.segy: field record 7"


@pytest.mark.parametrize(("rows", "columns", "fast"), [(3, 9, "x"), (3, 9, "y"), (1, 9, "x"), (1, 9, "y"), (5, 1, "x")])
def test_of_receivers_on_lines_the_one_nearest_the_source_is_drawn(tmp_path, monkeypatch, rows, columns, fast):
    """`rows` lines of `columns` receivers along `fast`."""
    from fathometer.pictures import file_picture

    number = np.arange(rows * columns)
    along, across = 25.0 * (number % columns), 200.0 * (number // columns)
    receivers = np.stack([along, across] if fast == "x" else [across, along], axis=1)
    receivers = np.concatenate([receivers, np.full((len(number), 1), 5.0)], axis=1)
    source = [60.0, 230.0, 5.0] if fast == "x" else [230.0, 60.0, 5.0]
    monkeypatch.setattr(file_picture, "gather_picture", lambda *args, **kwargs: drawn.update(args=args, **kwargs))
    drawn, traces = {}, np.repeat(number[:, None], 4, axis=1).astype(np.float32)
    with GatherWriter(tmp_path / "shots.segy", 4, 0.004, len(number)) as writer:
        writer.write(0, 7, source, receivers, traces)
    picture_of(tmp_path / "a.png", "shots.segy", tmp_path)
    _, shown, _, _, positions, title = drawn["args"]
    lines = rows == 3
    np.testing.assert_array_equal(shown[:, 0], np.arange(9, 18) if lines else number)
    if lines:
        np.testing.assert_array_equal(positions, 25.0 * np.arange(9))
        other = "y" if fast == "x" else "x"
        assert drawn["label"] == f"receiver {fast} (m)"
        assert title == f"shots.segy: field record 7, the 9 traces at {other} = 200 m of 27"
        assert len(drawn["geometry"][1]) == 27
    else:
        assert (drawn["label"], title) == ("offset (m)", "shots.segy: field record 7")


def test_picture_of_a_section_and_of_nothing(tmp_path):
    np.savez(tmp_path / "m.npz", vp=np.ones((30, 20)), epsilon=np.zeros((30, 20)))
    picture_of(tmp_path / "a.png", "m.npz:vp", tmp_path)
    png_size(tmp_path / "a.png")
    with pytest.raises(InputError, match=r"absent\.npy"):
        picture_of(tmp_path / "b.png", "absent.npy", tmp_path)
    assert not (tmp_path / "b.png").exists()


def test_planes_of_a_2d_grid():
    (plane,) = planes_of(grid_of((4, 1, 3), (1.0,) * 3, (0.0,) * 3))
    assert plane.of(np.arange(12.0).reshape(4, 1, 3)).shape == (4, 3)


def test_importing_pictures_does_not_import_matplotlib():
    code = "import sys, fathometer.pictures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def notes_of(figure):
    """The small text under the title, on one line."""
    return " ".join(figure.texts[1].get_text().split())


def test_an_image_is_grey_beside_its_velocity_with_a_bar_and_a_gain_for_each():
    figure = figure_of((80, 1, 40), (25.0, 25.0, 25.0))
    image, velocity = (axes.images[0] for axes in panels_of(figure))
    assert (image.get_cmap().name, velocity.get_cmap().name) == ("gray_r", "viridis")
    assert image.get_clim() == (-1.0, 1.0)
    assert [bar.get_ylabel() for bar in bars_of(figure)] == ["amplitude after gain (1: clip)", "vp (m/s)"]
    assert notes_of(figure) == (
        "balanced over depth (gain up to 11) and clipped at the 99th percentile for display, not on file; faded out in "
        "the water; black: positive"
    )


@pytest.mark.parametrize(("shape", "beside"), [((80, 1, 75), True), ((200, 1, 40), False)])
def test_the_velocity_is_where_the_panels_are_larger(shape, beside):
    image, velocity = panels_of(figure_of(shape, (25.0, 25.0, 25.0)))
    assert (velocity.get_position().x0 > image.get_position().x1) == beside
    assert (velocity.get_position().y1 < image.get_position().y0) != beside


@pytest.mark.parametrize(
    ("display", "colours", "words"),
    [
        (Display(), "gray_r", "no gain, clipped at the 99th percentile; black: positive"),
        (
            Display("red-white-blue", clip=90.0),
            "RdBu",
            "no gain, clipped at the 90th percentile; blue: positive, red: negative",
        ),
        (
            Display(gain="balance"),
            "gray_r",
            "balanced over depth (gain up to 11) and clipped at the 99th percentile for display, not on file; black: "
            "positive",
        ),
    ],
    ids=["left to it", "red-white-blue", "balance"],
)
def test_a_volume_of_amplitudes_says_how_it_is_shown(display, colours, words):
    values = np.random.default_rng(0).normal(size=(60, 1, 50)) * np.exp(-np.arange(50) / 20)
    grid = grid_of(values.shape, (10.0,) * 3, (0.0,) * 3)
    labels = Labels("a", "value (Pa)")
    figure = volume_figure(lambda plane: plane.of(values), grid, labels, display=display)
    [drawn] = panels_of(figure)[0].images
    assert drawn.get_cmap().name == colours
    assert notes_of(figure) == words
    high = drawn.get_clim()[1]
    balanced = display.gain == "balance"
    assert high == (1.0 if balanced else np.percentile(np.abs(values), display.clip or 99))
    assert bars_of(figure)[0].get_ylabel() == ("amplitude after gain (1: clip)" if balanced else "amplitude (Pa)")
    # With gain the deep half is as strong as the shallow one.
    shallow, deep = (np.abs(part).mean() for part in np.split(np.asarray(drawn.get_array()), 2))
    assert (deep / shallow > 0.6) == balanced


@pytest.mark.parametrize("display", [Display(gain="balance"), Display(clip=90.0), Display("red-white-blue")])
def test_a_display_of_amplitudes_where_there_are_none_is_refused(tmp_path, display):
    np.save(tmp_path / "v.npy", np.linspace(1500.0, 2500.0, 60).reshape(10, 6))
    with pytest.raises(InputError, match=r"found with v\.npy, whose values are 1500 to 2500 where they are drawn"):
        picture_of(tmp_path / "v.png", "v.npy", tmp_path, display=display)
    assert not (tmp_path / "v.png").exists()


def test_very_large_and_small_amplitudes_have_their_power_of_ten_in_the_label():
    values = 3e-7 * np.sin(np.arange(200.0)).reshape(20, 1, 10)
    grid = grid_of(values.shape, (10.0,) * 3, (0.0,) * 3)
    figure = volume_figure(lambda plane: plane.of(values), grid, Labels("a", "value (m)"))
    [bar] = bars_of(figure)
    assert bar.get_ylabel() == "amplitude (m), in 10⁻⁷"
    figure.draw_without_rendering()
    assert {"\N{MINUS SIGN}2", "0", "2"} <= {tick.get_text() for tick in bar.get_yticklabels()}


def lightness(colours):
    """CIE L* of linear RGB (n, 3), D65."""
    y = np.clip(colours @ [0.2126, 0.7152, 0.0722], 0.0, 1.0)
    return np.where(y > 216 / 24389, 116 * np.cbrt(y) - 16, 24389 / 27 * y)


# Viénot, Brettel & Mollon 1999: linear RGB as people see it who lack one kind of cones.
DICHROMATS = {
    "all cones": np.eye(3),
    "protanope": np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]]),
    "deuteranope": np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]]),
}


@pytest.mark.parametrize("eyes", DICHROMATS)
def test_colours_are_told_apart_with_any_colour_vision(eyes):
    def seen(colours):
        srgb = colours(np.linspace(0.0, 1.0, 101))[:, :3]
        linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
        return np.clip(linear @ DICHROMATS[eyes].T, 0.0, 1.0)

    steps = np.diff(lightness(seen(property_colours())))
    assert np.all(steps > 0.0)  # lighter all the way, in about equal steps
    assert steps.max() < 4 * steps.min()
    assert np.all(np.diff(lightness(seen(seismic_colours("grey")))) < 0.0)
    both = seen(seismic_colours("red-white-blue"))
    assert np.all(np.diff(lightness(both))[:48] > 0.0)
    assert np.all(np.diff(lightness(both))[52:] < 0.0)
    # Peaks are bluer than grey, troughs less: blue against the rest is what all of these see.
    blueness = both[:, 2] - both[:, :2].mean(axis=1)
    assert np.all(blueness[55:] > 0.0)
    assert np.all(blueness[:45] < 0.0)


def test_few_traces_are_wiggles_with_filled_peaks():
    times = 0.004 * np.arange(251)
    traces = np.tile(np.sin(2 * np.pi * 5 * times), (20, 1))
    figure = gather_figure(traces, 0.004, 0.0, np.arange(20) * 25.0, "Shot")
    [axes] = figure.axes  # no colour bar
    assert not axes.images
    assert len([line for line in axes.lines if len(line.get_xdata()) == 251]) == len(axes.collections) == 20
    for n, filled in enumerate(axes.collections):
        places = np.concatenate([path.vertices[:, 0] for path in filled.get_paths()])
        assert places.min() == pytest.approx(25.0 * n)  # peaks to the right of the trace's place
        assert places.max() == pytest.approx(25.0 * (n + 1), rel=0.02)
    assert notes_of(figure) == (
        "no gain; distance of two traces: the 98th percentile of all magnitudes; filled: positive"
    )
    many = gather_figure(np.tile(traces, (4, 1)), 0.004, 0.0, None, "Shot")
    assert many.axes[0].images
    assert [bar.get_ylabel() for bar in bars_of(many)] == ["amplitude"]
    assert notes_of(many) == "no gain, clipped at the 98th percentile; black: positive"


def test_gain_control_brings_late_arrivals_to_the_strength_of_early_ones():
    traces = np.sin(np.arange(1000.0))[None] * np.exp(-np.arange(1000) / 100) * np.ones((3, 1))
    gained = agc(traces, 0.004)
    early, late = (np.sqrt(np.mean(gained[:, part] ** 2)) for part in (slice(100, 200), slice(300, 400)))
    assert late / early == pytest.approx(1.0, abs=0.2)
    assert not agc(np.zeros((2, 10)), 0.004).any()
    assert "AGC over 0.5 s" in notes_of(gather_figure(traces, 0.004, 0.0, None, "a", display=Display(gain="agc")))


def test_the_faces_of_a_cube_are_its_slices():
    """Each face is a parallelogram whose corners are those of the slice: a corner's value lies where it belongs."""
    values = np.arange(6.0 * 5 * 4).reshape(6, 5, 4)
    grid = grid_of(values.shape, (10.0, 20.0, 5.0), ORIGIN)
    figure = volume_figure(lambda plane: plane.of(values), grid, Labels("a"), display=Display(cube=True))
    cube = panels_of(figure)[0]
    front, side, top = cube.images
    np.testing.assert_array_equal(front.get_array(), values[:, 2].T)
    np.testing.assert_array_equal(side.get_array(), values[3].T)
    np.testing.assert_array_equal(top.get_array(), values[:, :, 2].T)

    def corner(image, across, along):
        return (image.get_transform() - cube.transData).transform((across, along))

    # Where faces meet: x-z right, y-z left; x-z above, x-y in front; y-z above, x-y right.
    for edge in (0.0, 1.0):
        np.testing.assert_allclose(corner(front, 1, edge), corner(side, 0, edge))
        np.testing.assert_allclose(corner(front, edge, 0), corner(top, edge, 0))
        np.testing.assert_allclose(corner(side, edge, 0), corner(top, 1, edge))
    right, down = corner(front, 1, 0) - corner(front, 0, 0), corner(front, 0, 1) - corner(front, 0, 0)
    assert right[1] == pytest.approx(0.0)
    assert down[0] == pytest.approx(0.0)
    assert right[0] / -down[1] == pytest.approx(60.0 / 20.0)
    assert corner(side, 1, 0)[1] > corner(side, 0, 0)[1]  # y goes back, and up on the sheet
    assert "y = \N{MINUS SIGN}10 m, x = 130 m, depth = 10 m" in notes_of(figure)
    with style():
        box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) > -1e-6


def test_a_section_for_a_paper_has_its_fonts_embedded(tmp_path):
    """PDF: TrueType fonts in the file and no other; SVG: outlines, which need none. The same bytes every time."""
    values = np.arange(60.0).reshape(10, 1, 6)
    for name in ("a.pdf", "b.pdf", "a.svg", "b.svg"):
        volume_picture(tmp_path / name, values, (1.0,) * 3, (0.0,) * 3, "v", "t $x$")
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    pdf = (tmp_path / "a.pdf").read_bytes()
    descriptors = re.findall(rb"/Type /FontDescriptor(.*?)endobj", pdf, re.DOTALL)
    assert descriptors
    assert all(b"/FontFile2" in descriptor for descriptor in descriptors)
    assert b"/Type3" not in pdf
    svg = (tmp_path / "a.svg").read_text()
    assert "<text" not in svg
    assert "font-family" not in svg
    assert "<svg" in svg


def test_only_pictures_of_these_formats(tmp_path):
    np.save(tmp_path / "v.npy", np.ones((30, 20)))
    got = call("info", tmp_path / "v.npy", "--picture", tmp_path / "v.jpg")
    assert got.code == 2
    assert "v.jpg: allowed: the name of a .png, .pdf or .svg file" in got.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--gain", "agc", "--picture", "a.png"), "--gain agc: found with the volume v.npy; allowed: of gathers"),
        (("--cube", "--picture", "a.png"), "--cube: found with v.npy of two dimensions"),
        (("--clip", "0", "--picture", "a.png"), "found 0; allowed: a number above 0, at most 100"),
        (("--colours", "grey"), "--colours: found without --picture; allowed: with it"),
    ],
    ids=["agc", "cube", "clip", "no picture"],
)
def test_what_a_picture_cannot_show_is_one_error(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    np.save("v.npy", np.ones((30, 20)))
    got = call("info", "v.npy", *words)
    assert got.code == 2
    assert message in got.err
    assert not Path("a.png").exists()
