"""Elastic input at its limits: what is refused before the first time step, and what a resumed run compares."""

from pathlib import Path

import numpy as np
import pytest
from elastic_survey_support import random_model, survey_with

from fathometer.base.errors import InputError
from fathometer.parallel.decomposition import Decomposition, best_ranks, choose_ranks
from fathometer.seismic.elastic.attenuation import Attenuation
from fathometer.seismic.elastic.closure import ROWS
from fathometer.seismic.elastic.dependence import words_by_name
from fathometer.seismic.elastic.layout import elastic_layout
from fathometer.seismic.elastic.sources import point_sources_of
from fathometer.seismic.elastic.survey_checks import onset_notes, reference_notes
from fathometer.seismic.traces.time_axis import TimeAxis
from fathometer.seismic.traces.wavelet import wavelet_of
from fathometer.storage.fingerprint import FileState


def layout_of(folder, **changes):
    random_model(folder, (17, 16, 14))
    return elastic_layout(survey_with(folder, **changes))


def test_blocks_below_a_free_surface_hold_its_derivatives(tmp_path):
    layout = layout_of(tmp_path, propagation={"top": "free-surface"}).whole
    nz = layout.grid.full_shape[2]
    assert layout.thinnest[2] == ROWS
    parts = nz // ROWS + 1
    assert nz // parts >= layout.halo
    with pytest.raises(InputError, match=rf"survey.toml: \[parallel\] decomposition: .* \({ROWS} along z\)"):
        layout.ranks(parts, (1, 1, parts))
    assert layout_of(tmp_path).whole.thinnest == (layout.halo,) * 3  # without a free surface


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
        layout.wavefield_bytes(Decomposition(layout.whole.grid.full_shape))


def test_no_more_snapshots_are_buffered_than_a_run_has(tmp_path):
    sizes = []
    for buffered in (3, 10**9):
        layout = layout_of(tmp_path, snapshots={"every_steps": 300, "buffered_steps": buffered})
        time = layout.time(1e-3)
        assert time.steps // 300 == 3
        sizes.append(layout.shot_bytes(Decomposition(layout.whole.grid.full_shape), time)["snapshots"])
    assert sizes == [3 * 9 * 8 * 7 * 3 * 4] * 2


@pytest.mark.parametrize("kind", ["brune", "cosine"])
@pytest.mark.parametrize("rise_time", [1e-12, 1e12])
def test_rise_times_that_no_series_can_hold(tmp_path, kind, rise_time):
    keys = {"kind": kind, "rise_time": rise_time, "maximum_frequency": 4.0, "peak_frequency": None}
    survey = survey_with(tmp_path, wavelet=keys)
    with pytest.raises(
        InputError, match=r"survey.toml: \[wavelet\] rise_time: found 1e.12 s; allowed: 0.00025 to 250 s"
    ):
        wavelet_of(survey)
    (tmp_path / "fault.csv").write_text(f"x,y,z,rise_time,mxx\n0,0,0,1,1\n0,0,0,{rise_time},1\n")
    survey = survey_with(tmp_path, wavelet=keys | {"rise_time": 1.0}, source={"kind": "table", "path": "fault.csv"})
    with pytest.raises(
        InputError, match=r"fault.csv: column rise_time: found 1e.12 in row 2 .* allowed: 0.00025 to 250"
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


def test_files_of_one_name_are_told_apart():
    states = [FileState(str(Path(folder, "m.npy")), 8, 0, 0, 0, 0, hash) for folder, hash in (("a", "1"), ("b", "2"))]
    changed = [FileState(str(Path("a", "m.npy")), 8, 0, 0, 0, 0, "3"), states[1]]
    assert len(words_by_name(states)) == 2
    assert words_by_name(states) != words_by_name(changed)
