"""The picture: pixels where values are, which fields, ranges of colours, all numbers of axes."""

import numpy as np
import pytest
from hand_run import ORIGIN, SPACING, state, written

from fathometer.apps.reactive.fields import CellState, Field
from fathometer.apps.reactive.sections import read_section, section_of
from fathometer.apps.reactive.shown import PICTURE, Shown, chosen, draw, flow_figure, label_of, show
from fathometer.base.errors import InputError
from fathometer.base.formatting import time_text, times_text


def field(kind, name, unit="mol/kg"):
    return Field(kind, name, 0, unit)


def shown(kind, name, *parts):
    one, arrays = field(kind, name, "1" if kind == "pH" else "mol/kg"), tuple(np.asarray(a, np.float32) for a in parts)
    return Shown(one, arrays, (1, 1))


def pixels(figure):
    """Rows from the bottom, columns, RGBA."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[::-1].astype(int)


def grid_of(shape):
    return {"shape": shape, "spacing_metres": SPACING, "origin_metres": ORIGIN}


@pytest.mark.parametrize(
    ("shape", "across", "up"), [((6, 5, 4), 0, 2), ((6, 1, 4), 0, 2), ((1, 5, 4), 1, 2), ((6, 5, 1), 0, 1)]
)
def test_the_pixels_that_differ_are_those_of_the_cell(shape, across, up):
    """The second axis of the section goes up, and cells have the size of the grid's."""
    n, m = shape[across], shape[up]
    values = np.linspace(4.0, 8.0, n * m).reshape(n, m)
    other = values.copy()
    other[1, m - 2] = 6.05
    first, second = (
        flow_figure([shown("pH", "pH", one), shown("totals", "total A", values)], grid_of(shape), [60.0], "flow")
        for one in (values, other)
    )
    changed = (pixels(first) != pixels(second)).any(axis=2)
    rows, columns = np.nonzero(changed)
    axes = next(axes for axes in first.axes if axes.get_title(loc="left") == "pH")
    low = [ORIGIN[a] + k * SPACING[a] for a, k in ((across, 1), (up, m - 2))]
    high = [at + SPACING[a] for at, a in zip(low, (across, up), strict=True)]
    (left, bottom), (right, top) = axes.transData.transform([low, high])
    assert [columns.min(), columns.max() + 1] == pytest.approx([left, right], abs=1.5)
    assert [rows.min(), rows.max() + 1] == pytest.approx([bottom, top], abs=1.5)
    assert changed.sum() > 0.95 * (right - left - 2) * (top - bottom - 2)
    names = [axes.get_xlabel(), axes.get_ylabel()]
    assert names == [f"{'xyz'[across]} (m)", f"{'xyz'[up]} (m)"]


def test_no_value_is_grey_and_constant_fields_are_said():
    values = np.full((4, 3), 7.0)
    holes = values.copy()
    holes[0] = np.nan
    parts = [
        shown("pH", "pH", values),
        shown("strength", "ionic strength", holes),
        shown("totals", "total A", holes * np.nan),
    ]
    figure = flow_figure(parts, grid_of((4, 1, 3)), [1.0], "flow")
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "pH: 7 everywhere",
        "ionic strength (mol/kg): 7 where it has values",
        "A, total (mol/kg): no values",
    ]
    assert "grey: no value" in [text.get_text().split("; ")[-1] for text in figure.texts]
    image = pixels(figure)
    grey = (image[..., :3] == (0xC9, 0xCE, 0xD3)).all(axis=2)
    for axes, share in zip(figure.axes, (0.0, 0.25, 1.0), strict=True):
        (left, bottom), (right, top) = axes.transAxes.transform([(0, 0), (1, 1)]).round().astype(int)
        assert grey[bottom + 2 : top - 2, left + 2 : right - 2].mean() == pytest.approx(share, abs=0.02)


def test_few_fields_are_compared_with_the_beginning():
    parts = [np.full((4, 3), value) + np.arange(4)[:, None] for value in (1.0, 2.0, 9.0)]
    figure = flow_figure([shown("pH", "pH", *parts)], grid_of((4, 1, 3)), [0.0, 600.0, 7200.0], "flow")
    titles = [axes.get_title(loc="left") for axes in figure.axes if axes.get_title(loc="left")]
    assert titles == ["pH, 0 h", "pH, 0.1667 h", "pH, 2 h"]
    assert {axes.images[0].get_clim() for axes in figure.axes if axes.images} == {(1.0, 12.0)}


def test_concentrations_over_decades_have_logarithmic_colours():
    values = 10.0 ** np.linspace(-9, -3, 12).reshape(4, 3)
    for kind, name, low, log in (
        ("totals", "total A", values, True),
        ("totals", "total A", values - 1e-6, False),
        ("totals", "total A", values * 0 + np.linspace(1, 99, 12).reshape(4, 3), False),
        ("minerals", "volume A", values, False),
    ):
        assert shown(kind, name, low).scale.log is log, name
    tiny = shown("totals", "total A", [[1e-30, 1.0]]).scale
    assert (tiny.low, tiny.high, tiny.log) == (1e-12, 1.0, True)
    figure = flow_figure([shown("totals", "total A", values)], grid_of((4, 1, 3)), [1.0], "flow")
    assert type(figure.axes[0].images[0].norm).__name__ == "LogNorm"
    pixels(figure)
    ticks = [label.get_text() for label in figure.axes[1].get_yticklabels()]
    assert ticks[0] == "10⁻⁹"
    assert ticks[-1] == "10⁻³"


def test_fields_that_vary_come_first():
    still, moving = np.full((2, 2), 3.0), np.arange(4.0).reshape(2, 2)
    fields = [
        shown("totals", "total H+", moving),
        shown("totals", "total A", moving),
        shown("totals", "total B", still),
        shown("molalities", "molality A", moving),
        shown("pH", "pH", still),
        shown("minerals", "volume M", moving),
        *(shown("saturation", f"saturation M{n}", moving) for n in range(3)),
    ]
    assert [one.field.name for one in chosen(fields)] == [
        "volume M",
        "total A",
        "total H+",
        "saturation M0",
        "saturation M1",
        "molality A",
    ]
    assert [one.field.name for one in chosen(fields[:3] + fields[4:6])] == [
        "volume M",
        "total A",
        "total H+",
        "pH",
        "total B",
    ]


@pytest.mark.parametrize("cells", [(9, 7, 5), (9, 1, 1), (1, 1, 1)])
def test_pictures_of_all_grids(tmp_path, cells):
    """The same run gives the same bytes, another one others."""
    few = {"output__fields": ["pH", "minerals"]}
    case, fields = written(tmp_path, cells, **few)
    path = draw(case.file, fields.fields, fields.written)
    assert path == tmp_path / "out" / PICTURE
    first = path.read_bytes()
    assert first.startswith(b"\x89PNG")
    if cells == (1, 1, 1):
        path.unlink()
        assert draw(case.file, fields.fields, fields.written).read_bytes() == first
    else:
        other, later = written(tmp_path / "other", cells, times=(0.0, 1800.0), **few)
        assert draw(other.file, later.fields, later.written).read_bytes() != first


def test_lines_lie_at_the_cells_and_are_the_values(tmp_path):
    """Along z, five cells of which become one."""
    cells = (1, 1, 23)
    case, fields = written(tmp_path, cells)
    ph = next(one for one in fields.fields if one.name == "pH")
    read = show(tmp_path / "out", ph, cells, [0, 2], 5)
    lines = read.lines(grid_of(cells), [0.0, 3600.0])
    exact = -state(case, cells, 3600.0).ln_activity[0, 0, :, 1] / np.log(10)
    assert lines.across == "z (m)"
    name, places, values = lines.lines[1]
    assert name == "1 h"
    assert places == pytest.approx(ORIGIN[2] + SPACING[2] * (np.arange(4) * 5 + 2.5))
    assert values == pytest.approx(exact[:20].reshape(4, 5).mean(axis=1), rel=1e-6)


def test_one_cell_is_shown_over_time(tmp_path):
    case, fields = written(tmp_path, (1, 1, 1), times=(0.0, 3600.0, 7200.0))
    ph = next(one for one in fields.fields if one.name == "pH")
    lines = show(tmp_path / "out", ph, (1, 1, 1), [0, 1, 2], 5).lines(grid_of((1, 1, 1)), fields.written)
    exact = [-state(case, (1, 1, 1), time).ln_activity[0, 0, 0, 1] / np.log(10) for time in fields.written]
    assert lines.across == "time (h)"
    assert lines.lines[0][1] == pytest.approx([0.0, 1.0, 2.0])
    assert lines.lines[0][2] == pytest.approx(exact, rel=1e-6)


def test_a_volume_of_other_cells_is_refused(tmp_path):
    _, fields = written(tmp_path, (6, 5, 4))
    path = tmp_path / "out" / fields.fields[0].file(0)
    with pytest.raises(InputError, match=r"holds 6 × 5 × 4 cells; needed: 6 × 4 × 5, those of the run"):
        read_section(path, (6, 4, 5), section_of((6, 4, 5)))


def test_section_is_that_of_the_middle(tmp_path):
    """Each value tells its cell: no axis is swapped, and the plane is y = ny // 2."""
    cells = (6, 5, 4)
    index = np.arange(120.0).reshape(cells)
    case, fields = written(tmp_path, cells, times=(0.0,), change={"pH": index}.items())
    assert isinstance(state(case, cells, 0.0), CellState)
    ph = next(one for one in fields.fields if one.name == "pH")
    assert np.array_equal(read_section(tmp_path / "out" / ph.file(0), cells, section_of(cells)), index[:, 2, :])


def test_times_and_labels():
    year = 365.25 * 86400
    assert [time_text(t) for t in (0.0, 900.0, 5400.0, 86400.0, 3 * 86400.0, 10 * year)] == [
        "0 s",
        "900 s",
        "1.5 h",
        "24 h",
        "3 d",
        "10 a",
    ]
    assert times_text([3600.0, 30 * 86400.0]) == ["0.04167 d", "30 d"]
    assert label_of(field("molalities", "molality CO2(aq)")) == "CO2(aq) (mol/kg)"
    assert label_of(field("saturation", "saturation Calcite", "1")) == "Calcite, log₁₀ Ω"
