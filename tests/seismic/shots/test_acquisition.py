"""Shots from ranges and from gathers, the traces that are read, and the mute."""

import math
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fathometer.base.errors import InputError
from fathometer.seismic.shots.acquisition import Acquisition, acquisition_of
from fathometer.seismic.shots.inside import Box, check_below, check_inside, snapped, within
from fathometer.seismic.survey import Survey, survey_of
from fathometer.seismic.traces.mute import top_mute
from fathometer.storage.traces.segy import GatherWriter

SAMPLES, INTERVAL = 50, 0.004


def survey(folder: Path, acquisition: dict[str, Any], **sections: Any) -> Survey:
    values: dict[str, Any] = {
        "model": {"vp": "vp.npy"},
        "acquisition": acquisition,
        "wavelet": {"kind": "ricker", "peak_frequency": 15.0},
    }
    return survey_of(values | sections, folder / "survey.toml")


def modelled(sources: dict[str, Any], receivers: dict[str, Any], dimension: int | None = None) -> Acquisition:
    keys = {"sources": sources, "receivers": receivers}
    return acquisition_of(survey(Path(), keys, propagation={"duration": 1.0}), dimension)


def spread(x: float, count: int = 4, y: float = 0.0) -> np.ndarray:
    return np.array([[x + 25.0 * k, y, 10.0] for k in range(count)])


def write(path: Path, shots: list[tuple[int, Any, np.ndarray]], samples: int = SAMPLES, dt: float = INTERVAL) -> None:
    """A SEG-Y whose trace k of the file holds 100 k + sample."""
    path.parent.mkdir(parents=True, exist_ok=True)
    first = 0
    with GatherWriter(path, samples, dt, sum(len(receivers) for _, _, receivers in shots)) as file:
        for ffid, source, receivers in shots:
            rows = first + np.arange(len(receivers))
            file.write(first, ffid, np.asarray(source), receivers, 100.0 * rows[:, None] + np.arange(samples))
            first += len(receivers)


def refused(*words: str) -> Any:
    """A context in which InputError, in one line with these words, is to be raised."""

    class Refused:
        def __enter__(self) -> None:
            pass

        def __exit__(self, kind: Any, error: BaseException, _: Any) -> bool:
            assert kind is InputError, f"raised {kind}: {error}"
            for word in words:
                assert word in str(error), str(error)
            assert "\n" not in str(error)
            return True

    return Refused()


# --- ranges


def test_a_fixed_spread_in_2d() -> None:
    got = modelled({"x": [100, 300, 100], "z": 5}, {"x": [0.0, 50.0, 12.5], "z": 7.5})
    assert [(shot.index, shot.ffid) for shot in got.shots] == [(0, 1), (1, 2), (2, 3)]
    assert [shot.source.tolist() for shot in got.shots] == [[100, 0, 5], [200, 0, 5], [300, 0, 5]]
    want = [[0, 0, 7.5], [12.5, 0, 7.5], [25, 0, 7.5], [37.5, 0, 7.5], [50, 0, 7.5]]
    assert got.shots[2].receivers.tolist() == want
    assert got.shots[0].channel.tolist() == [1, 2, 3, 4, 5]
    assert got.shots[0].receivers is got.shots[2].receivers
    assert (got.start, got.sample_interval, got.samples, got.end, got.recorded) == (
        0.0,
        0.004,
        251,
        1.0,
        False,
    )


def test_the_product_runs_along_x_first() -> None:
    got = modelled(
        {"x": [0, 10, 10], "y": [0, 20, 20], "z": 0},
        {"x": [20, -20, -20], "y": [1, 2, 1], "z": 3, "relative": True},
    )
    assert [shot.source.tolist() for shot in got.shots] == [[0, 0, 0], [10, 0, 0], [0, 20, 0], [10, 20, 0]]
    want = [[30, 21, 3], [10, 21, 3], [-10, 21, 3], [30, 22, 3], [10, 22, 3], [-10, 22, 3]]
    assert got.shots[3].receivers.tolist() == want


@pytest.mark.parametrize(
    ("values", "want"),
    [
        ([0.1, 0.7, 0.1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]),
        ([5, 5, 1], [5]),
        (7, [7]),
        ([300, 100, -100], [300, 200, 100]),
        ([0, 1, 1 / 3], [0, 1 / 3, 2 / 3, 1]),
    ],
)
def test_ranges_include_their_last_value(values: Any, want: list[float]) -> None:
    got = modelled({"x": values, "z": 0}, {"x": 0, "z": 0})
    assert [shot.source[0] for shot in got.shots] == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize(("duration", "samples"), [(1.0, 251), (0.9999, 250), (0.0039, 1), (3.0, 751)])
def test_samples_reach_the_duration(duration: float, samples: int) -> None:
    keys = {"sources": {"x": 0, "z": 0}, "receivers": {"x": 0, "z": 0}}
    assert acquisition_of(survey(Path(), keys, propagation={"duration": duration})).samples == samples


def test_a_geometry_of_another_dimension_than_the_model() -> None:
    with refused("sources.y", "missing", "the model is 3D"):
        modelled({"x": 0, "z": 0}, {"x": 0, "z": 0}, 3)
    with refused("sources.y", "allowed only in 3D", "the model is 2D"):
        modelled({"x": 0, "y": 0, "z": 0}, {"x": 0, "y": 0, "z": 0}, 2)


def test_a_geometry_has_no_traces_and_no_endless_ones() -> None:
    got = modelled({"x": 0, "z": 0}, {"x": 0, "z": 0})
    with refused("survey.toml", "gathers", "missing"):
        got.traces(got.shots[0], np.array([0]))
    keys = {"sources": {"x": 0, "z": 0}, "receivers": {"x": 0, "z": 0}}
    with refused("duration", "50001 samples", "32767"):
        acquisition_of(survey(Path(), keys, propagation={"duration": 200.0}))


def test_shots_are_read_only() -> None:
    shot = modelled({"x": 0, "z": 0}, {"x": [0, 10, 10], "z": 0}).shots[0]
    for array in (shot.source, shot.receivers, shot.channel):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


# --- gathers


def test_shots_by_file_then_first_appearance(tmp_path: Path) -> None:
    write(tmp_path / "shots/b.segy", [(7, [300, 0, 5], spread(0))])
    write(tmp_path / "shots/a.segy", [(9, [100, 0, 5], spread(0)), (8, [200, 0, 5], spread(50, 3))])
    write(tmp_path / "shots/c.txt", [(1, [100, 0, 5], spread(0))])
    got = acquisition_of(survey(tmp_path, {"gathers": "shots/*.segy"}))
    assert [(shot.index, shot.ffid) for shot in got.shots] == [(0, 9), (1, 8), (2, 7)]
    assert got.shots[1].source.tolist() == [200, 0, 5]
    assert np.array_equal(got.shots[1].receivers, spread(50, 3))
    assert got.shots[1].channel.tolist() == [1, 2, 3]
    assert (got.samples, got.sample_interval, got.start, got.recorded) == (50, 0.004, 0.0, True)
    rows = got.traces(got.shots[1], np.array([2, 0]))
    assert rows.dtype == np.float32
    assert np.array_equal(rows, [600 + np.arange(50), 400 + np.arange(50)])
    assert got.traces(got.shots[2], np.array([], dtype=int)).shape == (0, 50)


def test_files_are_taken_by_name_whatever_the_folder_lists_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for ffid, name in ((3, "c"), (1, "a"), (2, "b")):
        write(tmp_path / f"{name}.segy", [(ffid, [100, 0, 5], spread(0))])
    listed = ["b.segy", "c.segy", "a.segy"]
    monkeypatch.setattr("fathometer.seismic.shots.gathers.glob.glob", lambda *_, **__: listed)
    got = acquisition_of(survey(tmp_path, {"gathers": "*.segy"}))
    assert [shot.ffid for shot in got.shots] == [1, 2, 3]


def test_interleaved_shots_keep_their_traces_apart(tmp_path: Path) -> None:
    parts = [(ffid, [100.0 * ffid, 0, 5], spread(25.0 * k, 1)) for k in range(3) for ffid in (2, 1)]
    write(tmp_path / "a.segy", parts)
    got = acquisition_of(survey(tmp_path, {"gathers": "a.segy"}))
    assert [shot.ffid for shot in got.shots] == [2, 1]
    assert got.shots[1].receivers[:, 0].tolist() == [0, 25, 50]
    assert got.traces(got.shots[1], np.arange(3))[:, 0].tolist() == [100, 300, 500]


def test_one_shot_in_two_files(tmp_path: Path) -> None:
    write(tmp_path / "a.segy", [(1, [100, 0, 5], spread(0, 3))])
    write(tmp_path / "b.segy", [(2, [200, 0, 5], spread(0, 2)), (1, [100, 0, 5], spread(75, 2))])
    got = acquisition_of(survey(tmp_path, {"gathers": "*.segy"}))
    assert [(shot.ffid, len(shot.receivers)) for shot in got.shots] == [(1, 5), (2, 2)]
    assert got.shots[0].receivers[:, 0].tolist() == [0, 25, 50, 75, 100]
    assert got.traces(got.shots[0], np.array([4, 1, 3]))[:, 0].tolist() == [300, 100, 200]


def test_only_the_traces_asked_for_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fathometer.seismic.shots.gathers as gathers

    read: list[list[int]] = []

    def counted(path: Path, indices: Any, seen: Any) -> np.ndarray:
        read.append(list(indices))
        return np.zeros((len(indices), SAMPLES), dtype=np.float32)

    write(tmp_path / "a.segy", [(1, [100, 0, 5], spread(0)), (2, [200, 0, 5], spread(0))])
    got = acquisition_of(survey(tmp_path, {"gathers": "a.segy"}))
    monkeypatch.setattr(gathers, "read_traces", counted)
    got.traces(got.shots[1], np.array([3, 1]))
    assert read == [[7, 5]]


def test_absolute_paths_and_names_with_brackets(tmp_path: Path) -> None:
    write(tmp_path / "[1]" / "a[2].segy", [(1, [100, 0, 5], spread(0))])
    for pattern in (str(tmp_path / "[1]" / "a[2].segy"), "a[2].segy", "a*.segy", "**/*.segy"):
        assert len(acquisition_of(survey(tmp_path / "[1]", {"gathers": pattern})).shots) == 1


@pytest.mark.parametrize("dimension", [2, 3])
def test_2d_does_not_look_at_y(tmp_path: Path, dimension: int) -> None:
    write(tmp_path / "a.segy", [(1, [100, 4, 5], spread(0, y=9.0)), (2, [200, 5, 5], spread(0, y=9.0))])
    got = acquisition_of(survey(tmp_path, {"gathers": "a.segy"}), dimension)
    y = 0.0 if dimension == 2 else 9.0
    assert got.shots[0].receivers[:, 1].tolist() == [y] * 4
    assert got.shots[1].source[1] == (0.0 if dimension == 2 else 5.0)


def test_a_source_that_moves_along_y_is_one_place_in_2d_only(tmp_path: Path) -> None:
    write(tmp_path / "a.segy", [(1, [100, 4, 5], spread(0)), (1, [100, 5, 5], spread(0))])
    keys = {"gathers": "a.segy"}
    assert len(acquisition_of(survey(tmp_path, keys), 2).shots) == 1
    with refused("a.segy", "FFID 1", "(100, 5, 5)", "(100, 4, 5)", "trace 4"):
        acquisition_of(survey(tmp_path, keys), 3)


def test_depths_replaced(tmp_path: Path) -> None:
    write(tmp_path / "a.segy", [(1, [100, 0, 5], spread(0)), (1, [100, 0, 6], spread(0))])
    keys = {"gathers": "a.segy", "source_depth": 12.5, "receiver_depth": 25}
    shot = acquisition_of(survey(tmp_path, keys)).shots[0]
    assert shot.source[2] == 12.5
    assert shot.receivers[:, 2].tolist() == [25] * 8
    with refused("FFID 1", "(100, 0, 6)"):
        acquisition_of(survey(tmp_path, {"gathers": "a.segy"}))


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("shots/*.segy", ["survey.toml", "[acquisition] gathers", '"shots/*.segy"']),
        ("gone.segy", ["gathers", '"gone.segy"']),
    ],
)
def test_no_gathers(tmp_path: Path, pattern: str, words: list[str]) -> None:
    with refused(*words, str(tmp_path)):
        acquisition_of(survey(tmp_path, {"gathers": pattern}))


def set_delay(path: Path, milliseconds: int, traces: int) -> None:
    data = bytearray(path.read_bytes())
    for trace in range(traces):
        struct.pack_into(">h", data, 3600 + trace * (240 + 4 * SAMPLES) + 108, milliseconds)
    path.write_bytes(data)


def test_the_delay_is_the_start(tmp_path: Path) -> None:
    write(tmp_path / "a.segy", [(1, [100, 0, 5], spread(0))])
    set_delay(tmp_path / "a.segy", 40, 4)
    got = acquisition_of(survey(tmp_path, {"gathers": "a.segy"}))
    assert (got.start, got.end) == pytest.approx((0.040, 0.040 + 49 * 0.004))
    assert got.notes == ()


@pytest.mark.parametrize(("duration", "samples"), [(0.1, 26), (0.196, 50), (0.2, 50)])
def test_a_duration_shortens_gathers(tmp_path: Path, duration: float, samples: int) -> None:
    write(tmp_path / "a.segy", [(1, [100, 0, 5], spread(0))])
    got = acquisition_of(survey(tmp_path, {"gathers": "a.segy"}, propagation={"duration": duration}))
    assert got.samples == samples
    assert got.traces(got.shots[0], np.array([1])).tolist() == [[100.0 + k for k in range(samples)]]
    assert any("50 samples" in note for note in got.notes) == (samples < 50)


def test_a_duration_beyond_the_gathers(tmp_path: Path) -> None:
    write(tmp_path / "a.segy", [(1, [100, 0, 5], spread(0))])
    with refused("[propagation] duration", "found 3 s", "0.196 s"):
        acquisition_of(survey(tmp_path, {"gathers": "a.segy"}, propagation={"duration": 3.0}))


def test_nan_in_a_trace_is_refused_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.segy"
    write(path, [(1, [100, 0, 5], spread(0))])
    data = bytearray(path.read_bytes())
    struct.pack_into(">f", data, 3600 + 2 * (240 + 4 * SAMPLES) + 240 + 4 * 7, math.nan)
    path.write_bytes(data)
    got = acquisition_of(survey(tmp_path, {"gathers": "a.segy"}))
    got.traces(got.shots[0], np.array([0, 1, 3]))
    with refused("a.segy", "trace 2", "sample 7", "nan"):
        got.traces(got.shots[0], np.arange(4))


def test_field_data(shared_data: Path) -> None:
    got = acquisition_of(survey(shared_data / "viking_graben", {"gathers": "viking_small.segy"}), 2)
    assert [shot.ffid for shot in got.shots] == [3, 4, 5, 6]
    assert [shot.source[0] for shot in got.shots] == [3237, 3262, 3287, 3312]
    assert (got.samples, got.sample_interval) == (600, 0.004)
    assert any("1500" in note for note in got.notes)
    every = np.concatenate([got.traces(shot, np.arange(len(shot.receivers))) for shot in got.shots])
    assert every.shape == (480, 600)
    assert (every.min(), every.max()) == pytest.approx((-1270.1445, 1290.6289), abs=1e-3)
    offsets = np.concatenate([shot.receivers[:, 0] - shot.source[0] for shot in got.shots])
    assert (offsets.min(), offsets.max()) == (-3237, -262)


# --- mute


def test_the_mute_is_zero_then_a_cosine_then_one() -> None:
    ones = np.ones((2, 101), dtype=np.float32)
    got = top_mute(ones, np.array([300.0, -600.0]), 0.0, 0.01, 1500.0, 0.1)
    for row, arrival in zip(got, (20, 40), strict=True):
        assert not np.any(row[: arrival + 1])
        assert np.all(row[arrival + 10 :] == 1.0)
        ramp = 0.5 * (1.0 - np.cos(np.pi * np.arange(1, 10) / 10))
        assert row[arrival + 1 : arrival + 10] == pytest.approx(ramp, abs=1e-6)


def test_a_mute_without_taper_cuts() -> None:
    got = top_mute(np.ones((1, 11), dtype=np.float32), np.array([75.0]), -0.02, 0.01, 1500.0, 0.0)
    assert got.tolist() == [[0.0] * 7 + [1.0] * 4]


def test_gathers_are_muted_by_offset(tmp_path: Path) -> None:
    write(tmp_path / "a.segy", [(1, [0, 0, 0], np.array([[30.0, 40.0, 500.0], [0.0, 0.0, 0.0]]))])
    keys = {"gathers": "a.segy", "mute": {"velocity": 500.0, "taper": 0.0}}
    got = acquisition_of(survey(tmp_path, keys), 3)
    rows = got.traces(got.shots[0], np.array([1, 0]))
    assert np.array_equal(rows[0], 100 + np.arange(50))
    assert np.array_equal(rows[1], np.where(np.arange(50) * 0.004 >= 0.1, np.arange(50), 0))


# --- the box


def box(*values: float) -> Box:
    """Of cells of 10 m."""
    return Box(np.array(values[:3]), np.array(values[3:]), np.full(3, 10.0))


def test_places_on_the_sides_are_inside() -> None:
    got = modelled({"x": [0, 100, 100], "z": 0}, {"x": [0.0, 0.3, 0.1], "z": 50})
    check_inside(got, box(0, 0, 0, 100, 0, 50))


def test_places_up_to_half_a_cell_outside_are_moved_to_the_side_with_a_note() -> None:
    got = modelled({"x": [-2.5e-3, 99.9975, 100], "z": 0}, {"x": [0.0, 104.0, 26.0], "z": 50})
    sides = box(0, 0, 0, 100, 0, 50)
    with refused("outside the model"):
        check_inside(got, sides)
    placed = within(got, sides, drop=False)
    assert [shot.source[0] for shot in placed.shots] == [0.0, 99.9975]
    assert placed.shots[0].receivers[:, 0].tolist() == [0.0, 26.0, 52.0, 78.0, 100.0]
    assert placed.shots[0].receivers is placed.shots[1].receivers
    [note] = placed.notes
    assert "1 sources and 2 receivers lie up to 4 m outside the model, half a cell at most" in note


@pytest.mark.parametrize("x", [[0.0, 100.0, 50.0], [-9e-4, 99.9991, 50.0], [0.0, 110.0, 55.0]])
def test_other_places_are_not_moved(x: list[float]) -> None:
    """Inside, less than a millimetre outside, and a whole cell."""
    got = modelled({"x": 50.0, "z": 0}, {"x": x, "z": 50})
    assert snapped(got, box(0, 0, 0, 100, 0, 50)) is got


FIXED = {"x": [50, 90, 20], "z": 7.5}
MOVING = {"x": [0, 40, 20], "z": 7.5, "relative": True}


@pytest.mark.parametrize(
    ("receivers", "limits", "words"),
    [
        (
            FIXED,
            (0, 0, 0, 100, 0, 50),
            ["1 of 3", "0 of 9", "source of shot 3 (FFID 3) at (200, 0, 5)", "(100, 0, 50)"],
        ),
        (FIXED, (0, 0, 0, 300, 0, 6), ["0 of 3", "9 of 9", "shot 1 (FFID 1), channel 1, at (50, 0, 7.5)"]),
        (FIXED, (60, 0, 0, 300, 0, 50), ["1 of 3", "3 of 9", "source of shot 1 (FFID 1)", "from (60, 0, 0)"]),
        (MOVING, (0, 0, 0, 210, 0, 50), ["0 of 3", "2 of 9", "shot 3 (FFID 3), channel 2, at (220, 0, 7.5)"]),
        (MOVING, (0, 0, 0, 100, 0, 50), ["1 of 3", "5 of 9", "shot 2 (FFID 2), channel 2, at (120, 0, 7.5)"]),
    ],
)
def test_places_outside_the_model(receivers: dict[str, Any], limits: tuple[float, ...], words: list[str]) -> None:
    got = modelled({"x": [0, 200, 100], "z": 5}, receivers)
    with refused("survey.toml", "outside the model", words[0] + " sources", words[1] + " receivers", *words[2:]):
        check_inside(got, box(*limits))


def test_what_lies_outside_is_left_out_with_a_note() -> None:
    """A spread that moves with its source leaves the model; the last source does too."""
    got = modelled({"x": [0, 200, 100], "z": 5}, MOVING)
    placed = within(got, box(0, 0, 0, 110, 0, 50), drop=True)
    assert [(shot.index, shot.ffid, shot.channel.tolist()) for shot in placed.shots] == [(0, 1, [1, 2, 3]), (1, 2, [1])]
    assert [shot.receivers[:, 0].tolist() for shot in placed.shots] == [[0, 20, 40], [100]]
    [note] = placed.notes
    assert "outside: 1 of 3 shots and 5 of 9 traces are left out" in note
    [record] = placed.conditioning.selected
    assert record == {"step": "outside", "sources_outside": 1, "shots_left_out": 1, "traces_left_out": 5}


def test_nothing_is_left_out_where_all_is_inside_and_an_error_where_nothing_is() -> None:
    got = modelled({"x": [0, 200, 100], "z": 5}, FIXED)
    assert within(got, box(0, 0, 0, 200, 0, 50), drop=True) is got
    with refused("3 of 3 sources and 9 of 9 receivers lie outside", 'outside = "drop"', "--extend"):
        within(got, box(300, 0, 0, 400, 0, 50), drop=True)


def test_shots_share_the_receivers_that_are_left() -> None:
    cut = within(modelled({"x": [60, 70, 10], "z": 5}, FIXED), box(0, 0, 0, 75, 0, 50), drop=True)
    assert cut.shots[0].receivers is cut.shots[1].receivers
    assert cut.shots[0].receivers[:, 0].tolist() == [50, 70]


def test_recorded_traces_keep_their_receivers(tmp_path: Path) -> None:
    write(tmp_path / "g.segy", [(ffid, (x, 0.0, 5.0), spread(x)) for ffid, x in ((7, 200.0), (8, 0.0), (9, 50.0))])
    got = acquisition_of(survey(tmp_path, {"gathers": "g.segy"}), 2)
    placed = within(got, box(30, 0, 0, 110, 0, 50), drop=True)
    [shot] = placed.shots
    assert (shot.index, shot.ffid, shot.receivers[:, 0].tolist()) == (0, 9, [50, 75, 100])
    assert placed.traces(shot, np.arange(3))[:, 0].tolist() == [800, 900, 1000]  # of the file's traces 8 to 10


@pytest.mark.parametrize("what", ["source", "receivers"])
def test_a_place_that_is_no_number_lies_outside(tmp_path: Path, what: str) -> None:
    acquisition = modelled({"x": 100.0, "z": 20.0}, {"x": [0.0, 200.0, 50.0], "z": 20.0})
    (shot,) = acquisition.shots
    places = np.array(getattr(shot, what))
    places[..., 2] = np.nan
    wrong = replace(acquisition, shots=(replace(shot, **{what: places}),))
    with refused("nan", "outside the model"):
        check_inside(wrong, box(0, 0, 0, 200, 0, 100))
    with refused("nan", "free surface"):
        check_below(wrong, 0.0)
