"""`fathometer migrate-time` on traces whose image is known: amplitudes of bins, elevations, words on line sources."""

import numpy as np
import pytest
from cli_support import survey
from kirchhoff_support import peak
from survey_support import load
from time_survey_support import (
    INTERVAL,
    LINE,
    PATCH,
    REFLECTION,
    T0,
    VELOCITY,
    record_noise,
    record_reflector,
    run,
)

from fathometer.base.errors import InputError

BINS = {"imaging.gathers": "offset", "imaging.offset_bins": [0.0, 25.0, 325.0, 475.0, 625.0]}


def images_by_bins(folder):
    """The folder with the reflector's traces, and its images by bins of offset in out/time; the record's results."""
    record_reflector(folder)
    outcome, _ = run(survey(folder, LINE | BINS))
    return folder, outcome.record["results"]


@pytest.fixture(scope="module")
def line(tmp_path_factory):
    return images_by_bins(tmp_path_factory.mktemp("line"))


def reflector_of(folder, name="image"):
    """Times and amplitudes in all columns, (columns,) each."""
    found = [peak(column) for column in load(folder / "out" / "time" / f"{name}.rsf")]
    return 0.4 + INTERVAL * np.array([at for at, _ in found]), np.array([height for _, height in found])


def test_bins_of_any_fold_have_the_reflection_coefficient(line):
    """1, 12, 6 and 6 traces a place: within 5 %, and within half a sample of the time; their sum too."""
    folder, results = line
    names = [f"image-offset-{near}-{far}" for near, far in ((0, 25), (25, 325), (325, 475), (475, 625))]
    for name in (*names, "image"):
        times, amplitudes = reflector_of(folder, name)
        assert np.abs(times - T0).max() < INTERVAL / 2, name
        np.testing.assert_allclose(amplitudes, REFLECTION, rtol=0.05, err_msg=name)
    classes = results["classes_of_offset"]
    areas = [one["median_area_of_a_trace"] for one in classes]
    assert areas == pytest.approx([25.0, 25 / 12, 25 / 6, 25 / 6])
    assert sum(one["part_of_traces"] for one in classes) == pytest.approx(1.0)
    assert [one["offsets_metres"] for one in classes] == [[0, 0], [50, 300], [350, 450], [500, 600]]


def test_one_image_of_all_offsets_is_the_mean_of_all_traces(line, tmp_path):
    record_reflector(tmp_path)
    run(survey(tmp_path, LINE))
    whole, bins = (load(folder / "out" / "time" / "image.rsf") for folder in (tmp_path, line[0]))
    np.testing.assert_allclose(whole, bins, atol=0.01 * np.abs(bins).max())  # its classes of offset are others


def test_sources_and_receivers_below_the_datum_are_shifted_to_it(tmp_path):
    """Both 30 m down: their traces are 40 ms earlier than those of the datum."""
    record_reflector(tmp_path, 30.0, 1500.0)
    keys = LINE | {"time_migration.replacement_velocity": 1500.0}
    run(survey(tmp_path, keys))
    assert np.abs(reflector_of(tmp_path)[0] - T0).max() < INTERVAL / 2


def test_without_a_replacement_velocity_a_note_tells_of_the_datum(tmp_path):
    record_reflector(tmp_path, 30.0, 1500.0)
    said = run(survey(tmp_path, LINE))[1]
    assert any("lie up to 30 m from the datum (0 m) and are not shifted to it" in text for text in said)
    assert np.abs(reflector_of(tmp_path)[0] - (T0 - 0.04)).max() < INTERVAL


def test_line_sources_are_left_out_with_a_note(line, tmp_path):
    record_reflector(tmp_path)
    said = run(survey(tmp_path, LINE | BINS | {"acquisition.conditioning": {"line_source": 2000.0}}))[1]
    assert any("[acquisition] conditioning.line_source: left out" in text for text in said)
    same = [(folder / "out" / "time" / "image.rsf@").read_bytes() for folder in (tmp_path, line[0])]
    assert same[0] == same[1]


def test_an_aperture_between_the_places_of_the_image_is_refused(tmp_path):
    """Midpoints lie 12.5 m apart, places 25 m: of an image 5 m from all of them none is within 3 m."""
    record_reflector(tmp_path)
    with pytest.raises(InputError, match=r"aperture: found 3 m; the midpoint nearest to a place of the image is 5 m"):
        run(survey(tmp_path, LINE | {"time_migration.x": [-45.0, 55.0, 25.0], "time_migration.aperture": 3.0}))


def test_an_image_far_from_all_midpoints_names_both(tmp_path):
    record_reflector(tmp_path)
    words = r"no trace lies within the aperture \(midpoints at x = -1500 to 1500 m; the image at x = 9000 to 9050 m\)"
    with pytest.raises(InputError, match=words):
        run(survey(tmp_path, LINE | {"time_migration.x": [9000.0, 9050.0, 25.0]}))


def test_an_image_that_begins_after_the_traces_is_refused(tmp_path):
    record_reflector(tmp_path)
    with pytest.raises(InputError, match=r"start: found 1.2 s; allowed: before the end of the traces, 1.196 s"):
        run(survey(tmp_path, LINE | {"time_migration.start": 1.2, "time_migration.end": 1.5}))


def test_an_image_that_no_trace_adds_to_says_so(tmp_path):
    """Far beyond the steepest dip, without an aperture."""
    record_reflector(tmp_path)
    keys = {"time_migration.x": [9000.0, 9050.0, 25.0], "time_migration.aperture": None, "time_migration.dip": 20.0}
    outcome, _ = run(survey(tmp_path, LINE | keys))
    *_, image, fold = outcome.record["results"]["notes"]
    assert image == outcome.nothing
    assert image.startswith(
        "nothing was imaged, the image is 0 everywhere: no midpoint lies among its places (midpoints at x = -1500 to "
        "1500 m; the image at x = 9000 to 9050 m), and no trace adds anything at any place and time; see"
    )
    assert fold == "the fold is 0 everywhere"
    assert image in outcome.record["validity"]["reasons"]
    assert not load(tmp_path / "out" / "time" / "image.rsf").any()


def test_an_image_beyond_the_model_that_stretches_it_is_refused_before_the_sum(tmp_path):
    """Velocities of its own would do for such an image, in time; what an earlier run has written stays."""
    record_reflector(tmp_path)
    np.save(tmp_path / "vp.npy", np.full((9, 41), VELOCITY, np.float32))
    model = {"model.vp": "vp.npy", "model.spacing": [12.5, 25.0]}
    run(survey(tmp_path, model | LINE | {"time_migration.x": [0.0, 100.0, 25.0], "time_migration.depth": True}))
    results = tmp_path / "out" / "time"
    before = {path.name: path.read_bytes() for path in (*results.glob("*.rsf*"), results / "run.json")}
    assert "image-depth.rsf" in before
    with pytest.raises(InputError, match=r"column at x = -50 m lies outside \[model\]"):
        run(survey(tmp_path, model | LINE | {"time_migration.depth": True}))
    assert {name: (results / name).read_bytes() for name in before} == before


@pytest.mark.parametrize(("end", "told"), [(1.0, True), (0.48, False)])
def test_an_image_that_goes_on_after_the_traces_says_so_and_counts_none_there(tmp_path, end, told):
    record_noise(tmp_path)  # of 0.476 s
    outcome, _ = run(survey(tmp_path, PATCH | {"time_migration.end": end}))
    notes = [note for note in outcome.record["results"]["notes"] if "[time_migration] end" in note]
    assert len(notes) == told
    assert not told or notes[0].startswith("[time_migration] end: the image ends at 1 s and the traces at 0.476 s")
    fold = load(tmp_path / "out" / "time" / "image-fold.rsf")
    assert fold[..., :121].max() > 1
    assert not fold[..., 121:].any()
