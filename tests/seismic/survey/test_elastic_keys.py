"""Keys of elastic surveys: what they need, and what only they have."""

import pytest
from elastic_survey_support import survey_with

from fathometer.base.errors import InputError
from fathometer.seismic.survey import survey_of

ACOUSTIC = {
    "model": {"vs": None, "density": None},
    "propagation": {"physics": "acoustic"},
    "source": None,
}


def test_defaults_of_elastic_runs(tmp_path):
    survey = survey_with(tmp_path)
    assert (survey.propagation.order, survey.propagation.time_dispersion) == (4, "corrected")
    assert survey.acquisition.components is None
    assert survey_of(survey.resolved(), survey.path) == survey


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"propagation": {"order": 8}}, "[propagation] order: found 8; allowed with physics = elastic: 4, or left out"),
        ({"propagation": {"space_weights": "optimised"}}, "[propagation] space_weights: found"),
        ({"propagation": {"boundary": {"kind": "sponge"}}}, '[propagation] boundary.kind: found "sponge"'),
        ({"model": {"vs": None}}, "[model] vs: missing; needed with [propagation] physics = elastic"),
        ({"model": {"density": None}}, "[model] density: missing"),
        ({"model": {"epsilon": 0.1}}, "[model] epsilon: found with physics = elastic, which is isotropic"),
        ({"model": {"delta": "delta.npy"}}, "[model] delta: found with physics = elastic"),
        ({"model": {"qp": 50.0}}, "[model] qs: missing although qp is given; allowed: both or neither"),
        ({"model": {"qs": 50.0}}, "[model] qp: missing although qs is given"),
        ({"model": {"reference_frequency": 1.0}}, "[model] reference_frequency: found without qp and qs"),
        ({"model": {"on_weak_epsilon": "raise-epsilon"}}, "[model] on_weak_epsilon: found with physics = elastic"),
        ({"model": {"vs": -1.0}}, "[model] vs: found -1.0; allowed: a file or a number from 1 to 20000, or 0 (m/s)"),
        ({"model": {"density": 0.0}}, "[model] density: found 0.0; allowed: a file or a number from 0.1"),
        (
            {"parallel": {"processor": "gpu"}},
            '[parallel] processor: found "gpu" with physics = elastic; allowed: "auto"',
        ),
        ({"source": None}, "[source]: missing; needed with [propagation] physics = elastic"),
        ({"source": {"kind": "force"}}, "[source] vector: missing; needed: a list of 3 numbers from -1e+25"),
        ({"source": {"kind": "force", "vector": [0.0, 0.0, 0.0]}}, "[source] vector: found [0, 0, 0]"),
        ({"source": {"kind": "moment-tensor"}}, "[source] mxx: found less than 1e-12 in all components"),
        (
            {"source": {"kind": "slip"}},
            '[source] kind: found "slip"; allowed: "double-couple" or "explosion"',
        ),
        ({"source": {"kind": "explosion", "moment": 1e26}}, "found 1e+26; allowed: magnitudes up to 1e+25"),
        (
            {"source": {"kind": "double-couple", "strike": 0.0, "dip": 91.0, "rake": 0.0}},
            "[source] dip: found 91.0; allowed: a number from 0 to 90 (degrees)",
        ),
        ({"acquisition": {"components": ["vx", "vx"]}}, '[acquisition] components: found "vx" twice'),
        ({"acquisition": {"components": []}}, "[acquisition] components: found []"),
        ({"acquisition": {"components": ["vu"]}}, "[acquisition] components"),
        ({"wavelet": {"kind": "brune", "peak_frequency": None, "rise_time": 0.1}}, "maximum_frequency: missing"),
    ],
)
def test_elastic_surveys_that_are_refused(tmp_path, changes, words):
    with pytest.raises(InputError) as caught:
        survey_with(tmp_path, **changes)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": {"vs": 1000.0, "density": None}}, "[model] vs: found with physics = acoustic; allowed only with"),
        ({"model": {"vs": None, "density": 1000.0}}, "[model] density: found with physics = acoustic"),
        ({"model": {"vs": None, "density": None, "qp": 50.0}}, "[model] qp: found with physics = acoustic"),
        ({"source": {"kind": "explosion"}}, "[source]: found with physics = acoustic"),
        ({"acquisition": {"components": ["pressure", "vz"]}}, 'components: found "vz" with physics = acoustic'),
    ],
)
def test_keys_that_acoustic_surveys_do_not_have(tmp_path, changes, words):
    with pytest.raises(InputError) as caught:
        survey_with(tmp_path, **(ACOUSTIC | changes))
    assert words in str(caught.value)


def test_acoustic_surveys_may_name_what_they_record(tmp_path):
    survey = survey_with(tmp_path, **(ACOUSTIC | {"acquisition": {"components": ["pressure"]}}))
    assert survey.acquisition.components == ("pressure",)
    assert survey.propagation.order == 8
