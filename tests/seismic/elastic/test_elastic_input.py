"""Elastic input at its limits: what is refused before the first time step, and what a resumed run compares."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from elastic_survey_support import earth_of, random_model, survey_with
from mpi4py import MPI

from fathometer.base.errors import InputError
from fathometer.parallel.decomposition import Decomposition, best_ranks, choose_ranks
from fathometer.seismic.elastic.attenuation import Attenuation
from fathometer.seismic.elastic.closure import ROWS
from fathometer.seismic.elastic.earth import count_contacts
from fathometer.seismic.elastic.elastic_layout import elastic_headers, elastic_layout
from fathometer.seismic.elastic.layer_width import SlowWaves
from fathometer.seismic.elastic.layers import LARGEST_SHARE
from fathometer.seismic.elastic.setup import prepare_elastic
from fathometer.seismic.elastic.sources import point_sources_of, source_points
from fathometer.seismic.elastic.survey_checks import onset_notes, reference_notes
from fathometer.seismic.elastic.unevenness import sum_changes, unevenness
from fathometer.seismic.setup.survey_layout import boundary_of
from fathometer.seismic.survey import PropagationTable
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.traces.wavelet import wavelet_of
from fathometer.seismic.waves.boundary import MultiaxialPml, Pml

THIN = {"boundary": {"kind": "pml", "width": 4}}


def layout_of(folder, **changes):
    random_model(folder, (17, 16, 14))
    return elastic_layout(elastic_headers(survey_with(folder, **changes)), SlowWaves())


def test_blocks_below_a_free_surface_hold_its_derivatives(tmp_path):
    layout = layout_of(tmp_path, propagation={"top": "free-surface"})
    nz = layout.grid.full_shape[2]
    assert layout.thinnest[2] == ROWS
    parts = nz // ROWS + 1
    assert nz // parts >= layout.halo((1, 1, parts))
    with pytest.raises(InputError, match=rf"survey.toml: \[parallel\] decomposition: .* \({ROWS} along z\)"):
        layout.ranks(parts, (1, 1, parts))
    assert layout_of(tmp_path).thinnest == (2, 2, 4)  # without a free surface; receivers lie between points


def test_ranks_are_chosen_by_the_fewest_cells_of_each_axis():
    assert best_ranks((32, 1, 20), 9, 4) == (3, 1, 3)
    assert best_ranks((32, 1, 20), 9, (4, 4, 8)) is None
    assert best_ranks((32, 1, 20), 8, (4, 4, 8)) == (8, 1, 1)
    with pytest.raises(InputError, match=r"4 \(8 along z\) cells .* at most 8 ranks can be used"):
        choose_ranks((32, 1, 20), 9, (4, 4, 8))


def test_snapshots_are_checked_before_the_run(tmp_path):
    layout = layout_of(tmp_path, snapshots={"every_steps": 2000})
    layout.time(4e-4)
    with pytest.raises(InputError, match=r"survey.toml: \[snapshots\] every_steps: found 2000; allowed: 1 to \d+, "):
        layout.time(1e-3)
    layout = layout_of(tmp_path, snapshots={"every_nodes": [2, 2]})
    with pytest.raises(InputError, match=r"survey.toml: \[snapshots\] every_nodes: found 2 numbers"):
        layout.wavefield_bytes(Decomposition(layout.grid.full_shape))


def test_no_more_snapshots_are_buffered_than_a_run_has(tmp_path):
    sizes = []
    for buffered in (3, 10**9):
        layout = layout_of(tmp_path, snapshots={"every_steps": 300, "buffered_steps": buffered})
        time, _ = layout.time(1e-3)
        assert time.steps // 300 == 3
        sizes.append(layout.shot_bytes(Decomposition(layout.grid.full_shape), time)["snapshots"])
    assert sizes == [3 * 9 * 8 * 7 * 3 * 4] * 2


@pytest.mark.parametrize("time_dispersion", ["corrected", "none"])
def test_series_of_many_sources_take_the_memory_that_is_counted(tmp_path, time_dispersion):
    rows = [f"0,0,0,{n / 1000},{2 + n / 1000},1" for n in range(400)]
    (tmp_path / "fault.csv").write_text("\n".join(["x,y,z,onset,rise_time,mxx", *rows, *rows]))
    layout = layout_of(
        tmp_path,
        source={"kind": "table", "path": "fault.csv"},
        wavelet={"kind": "brune", "rise_time": 1.0, "maximum_frequency": 10.0, "peak_frequency": None},
        propagation={"time_dispersion": time_dispersion},
    )
    time, _ = layout.time(1e-3)
    said = layout.shot_bytes(Decomposition(layout.grid.full_shape), time)
    position = layout.acquisition.shots[0].source
    keys = (time, layout.free_surface, layout.dtype, layout.corrected)
    _, series = source_points(layout.grid, layout.sources, position, layout.wavelet, *keys)
    tracemalloc.start()
    try:
        series.rows(0, 10, np.arange(400))
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    counted = sum(said.get(name, 0) for name in ("source series", "transforms of traces", "moment rates"))
    assert taken <= 1.1 * counted + 3e6  # what is held while one is computed
    assert counted <= 1.5 * taken


def test_series_are_counted_where_sources_touch_a_block(tmp_path):
    (tmp_path / "fault.csv").write_text("x,y,z,onset,mxx\n0,0,0,0,1\n70,0,0,0,1\n0,0,70,1,1\n120,0,0,2,1\n")
    layout = layout_of(tmp_path, source={"kind": "table", "path": "fault.csv"}, propagation=THIN)
    shape = layout.grid.full_shape
    assert layout.series(Decomposition(shape)) == 3  # pairs of onset and rise time
    assert [layout.series(Decomposition(shape, (3, 1, 1), rank)) for rank in range(3)] == [2, 3, 2]
    along = {"acquisition": {"sources": {"x": [0.0, 20.0, 10.0], "y": 20.0, "z": 20.0}}}
    several = layout_of(tmp_path, source={"kind": "table", "path": "fault.csv"}, propagation=THIN, **along)
    assert several.series(Decomposition(shape, (3, 1, 1), 2)) == 2


@pytest.mark.parametrize("kind", ["brune", "cosine"])
@pytest.mark.parametrize("rise_time", [1e-8, 1e4])
def test_rise_times_that_no_series_can_hold(tmp_path, kind, rise_time):
    keys = {"kind": kind, "rise_time": rise_time, "maximum_frequency": 4.0, "peak_frequency": None}
    survey = survey_with(tmp_path, wavelet=keys)
    found = f"{rise_time:g}"
    with pytest.raises(
        InputError, match=rf"survey.toml: \[wavelet\] rise_time: found {found} s; allowed: 0.00025 to 250 s"
    ):
        wavelet_of(survey)
    (tmp_path / "fault.csv").write_text(f"x,y,z,rise_time,mxx\n0,0,0,1,1\n0,0,0,{rise_time},1\n")
    survey = survey_with(tmp_path, wavelet=keys | {"rise_time": 1.0}, source={"kind": "table", "path": "fault.csv"})
    with pytest.raises(
        InputError, match=rf"fault.csv: column rise_time: found {found} in row 2 .* allowed: 0.00025 to 250"
    ):
        point_sources_of(survey, two_dimensional=False)


def test_the_longest_and_the_shortest_rise_time_can_be_computed(tmp_path):
    keys = {"kind": "brune", "maximum_frequency": 4.0, "peak_frequency": None}
    for rise_time in (0.00025, 250.0):
        wavelet = wavelet_of(survey_with(tmp_path, wavelet=keys | {"rise_time": rise_time}))
        t = np.linspace(-wavelet.lead, wavelet.lead + 30 * rise_time, 20001)
        assert np.trapezoid(wavelet(t), t) == pytest.approx(1, rel=1e-3)


def test_sources_that_begin_after_the_end_are_told_of(tmp_path):
    (tmp_path / "fault.csv").write_text("x,y,z,onset,mxx\n0,0,0,0.5,1\n0,0,0,20,1\n")
    survey = survey_with(tmp_path, source={"kind": "table", "path": "fault.csv"})
    sources = point_sources_of(survey, two_dimensional=False)
    (note,) = onset_notes(survey, sources, TimeAxis(0.001, 0, 1000, 1))
    assert note == "[source] path: 1 of 2 point sources begin after the end at 1 s: not heard"
    assert onset_notes(survey, sources, TimeAxis(0.001, 0, 30000, 1)) == ()


def test_a_reference_frequency_outside_the_band_of_the_fit_is_told_of():
    assert reference_notes(None) == ()
    assert reference_notes(Attenuation(highest=10.0, reference=1.0)) == ()
    for frequency in (0.1, 20.0):
        (note,) = reference_notes(Attenuation(highest=10.0, reference=frequency))
        assert f"reference_frequency: {frequency:g} Hz lies outside 0.2 to 10 Hz" in note


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        (
            {"acquisition": {"components": []}},
            "[acquisition] components: found []; allowed: a list of pressure, vx, vy, vz, sxx, syy, szz, sxy, sxz, "
            "syz, each once",
        ),
        ({"source": {"kind": "table", "path": "no.csv"}}, "[source] path: {folder}/no.csv: no such file"),
        ({"acquisition": {"sources": "no.csv"}}, "[acquisition] sources: {folder}/no.csv: no such file"),
        ({"acquisition": {"receivers": "no.csv"}}, "[acquisition] receivers: {folder}/no.csv: no such file"),
    ],
)
def test_an_error_names_survey_key_and_file(tmp_path, sections, words):
    with pytest.raises(InputError) as caught:
        layout_of(tmp_path, **sections)
    assert str(caught.value) == f"{tmp_path}/survey.toml: " + words.replace("{folder}", str(tmp_path))


@pytest.mark.parametrize(
    ("snapshots", "advice"),
    [
        ({"buffered_steps": 2}, "use fewer [snapshots] buffered_steps, more hosts, a shorter [propagation] duration"),
        ({"buffered_steps": 1}, "use more hosts, a shorter [propagation] duration"),
        (None, "use more hosts, a shorter [propagation] duration"),
    ],
)
def test_a_lack_of_memory_is_told_with_what_elastic_runs_have(tmp_path, snapshots, advice):
    random_model(tmp_path, (17, 16, 14))
    sections = {"parallel": {"memory_budget": 1e-9}} | ({"snapshots": snapshots} if snapshots else {})
    with pytest.raises(InputError, match=r"not enough memory: .*each rank") as caught:
        prepare_elastic(survey_with(tmp_path, **sections), MPI.COMM_SELF)
    assert f"; {advice}" in str(caught.value)
    assert "[imaging]" not in str(caught.value)


WAYS = {
    "2D": ((15, 15), {}, [10.0, 8.0], 10.0, "1000 m/s at 100 Hz on 10 m"),
    "3D": ((15, 15, 15), {"y": 20.0}, [4.0, 5.0, 20.0], 20.0, "1000 m/s at 100 Hz on 20 m"),
}


@pytest.mark.parametrize(("shape", "y", "spacing", "largest", "words"), WAYS.values(), ids=WAYS)
def test_too_few_cells_in_a_wavelength_are_told_with_what_would_do(tmp_path, shape, y, spacing, largest, words):
    """The cells that it names are those with which the same survey is taken; so is the peak frequency."""
    np.save(tmp_path / "vp.npy", np.full(shape, 2000, np.float32))

    def prepared(cells, peak):
        where = {"sources": {"x": 20.0, **y, "z": 20.0}, "receivers": {"x": 30.0, **y, "z": 8.0}}
        model = {"vs": 1000.0, "density": 2000.0, "spacing": cells}
        sections = {"model": model, "acquisition": where | {"sample_interval": 1e-3}}
        sections |= {"wavelet": {"peak_frequency": peak}, "propagation": {"duration": 0.01}}
        prepare_elastic(survey_with(tmp_path, **sections), MPI.COMM_SELF)

    with pytest.raises(InputError) as caught:
        prepared(spacing, 40.0)
    told = f"{1000 / 100 / largest:g} cells per shortest wavelength ({words}); allowed: at least 2.5, that is "
    peak = 1000 / (2.5 * largest) / 2.5
    assert told + f"frequencies up to {2.5 * peak:g} Hz (a peak_frequency of {peak:g} Hz) or cells up to 4 m" in str(
        caught.value
    )
    prepared([4.0] * len(shape), 40.0)
    prepared(spacing, peak)


def test_the_layers_share_follows_the_model_unless_given(tmp_path):
    values = random_model(tmp_path, (17, 16, 14))

    def share(**changes):
        return prepare_elastic(survey_with(tmp_path, **changes), MPI.COMM_SELF).scheme.boundary.multiaxial

    earth, grid, _ = earth_of(survey_with(tmp_path))
    solid = values["vs"] > 0
    contrast = max(np.ptp(np.log(values["vp"])), np.ptp(np.log(values["vs"][solid])))
    padded = np.pad(solid, grid.pad, mode="edge")

    def contacts(solid):
        axes = [axis for axis in range(3) if solid.shape[axis] > 1]
        return sum(np.count_nonzero(np.diff(solid, axis=axis)) for axis in axes) / (len(axes) * solid.size)

    # Of the whole, and of what each layer repeats: the uppermost plane is free.
    sides = [padded.take([at], axis) for axis in range(3) for at in (0, -1) if (axis, at) != (2, 0)]
    assert np.log(earth.contrast) == pytest.approx(contrast, rel=1e-6)
    assert earth.contacts == pytest.approx(max(contacts(part) for part in (padded, *sides)), rel=1e-12)
    assert earth.contacts > contacts(padded)
    found = [earth_of(survey_with(tmp_path), ranks=(2, 2, 1), rank=rank) for rank in range(4)]
    counts = sum(count_contacts(part.vs, grid, block) for part, _, block in found)
    assert counts.tolist() == count_contacts(earth.vs, grid, Decomposition(grid.full_shape)).tolist()
    assert counts[5] == 0
    changes = sum(sum_changes(part.vp, part.vs, grid, block) for part, _, block in found)
    assert changes.tolist() == sum_changes(earth.vp, earth.vs, grid, Decomposition(grid.full_shape)).tolist()
    assert unevenness(changes, grid) == earth.unevenness > 0.1
    assert 0.03 < share() <= LARGEST_SHARE
    uniform = {"vp": 3000.0, "vs": 1500.0}
    assert share(model=uniform) == 0
    assert share(model=uniform | {"vs": 0.0}) == 0
    given = {"boundary": {"kind": "pml", "width": 9, "multiaxial": 0.02}}
    assert share(propagation=given) == share(model=uniform, propagation=given) == 0.02
    assert share(model=uniform, propagation={"boundary": {"kind": "pml"}}) == 0


def test_layers_have_widths_of_their_own():
    def boundary(pml, **keys):
        return boundary_of(PropagationTable(**keys), pml)

    elastic = partial(boundary, MultiaxialPml, physics="elastic")
    assert elastic() == elastic(boundary={"kind": "pml"}) == MultiaxialPml(20)
    assert boundary(Pml) == boundary(Pml, boundary={"kind": "pml"}) == Pml(8)
    assert elastic(boundary={"kind": "pml", "width": 9}).width == 9
    with pytest.raises(ValueError, match=r"boundary.multiaxial: found with physics = acoustic; allowed only with el"):
        PropagationTable(boundary={"kind": "pml", "multiaxial": 0.1})
