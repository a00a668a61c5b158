"""Pictures: true aspect, depth down, labels in m, bounded size, the same bytes every time."""

import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

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
from fathometer.pictures.colours import symmetric_range
from fathometer.pictures.file_picture import axis_order, picture_of
from fathometer.pictures.gain import below_water, depth_gain, interval_velocities, water_cells
from fathometer.pictures.gather import signed_offsets
from fathometer.pictures.panel_layout import Labels
from fathometer.pictures.plane import downsampled, grid_of, planes_of
from fathometer.seismic.model.synthetic import demo_model, reflectivity

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
    from fathometer.pictures.sheet import style

    with style():
        box = figure.get_tightbbox()  # inches, of all that is drawn
    assert box.x0 >= 0.0
    assert box.y0 >= 0.0
    assert box.x1 <= width
    assert box.y1 <= height


def test_long_names_on_narrow_panels_do_not_overlap():
    from fathometer.pictures.sheet import style

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
