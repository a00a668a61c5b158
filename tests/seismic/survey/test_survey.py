"""The survey file: what it accepts, and what it says of what it does not."""

import copy
import itertools
import json
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT
from pydantic import BaseModel

from fathometer.base.errors import InputError
from fathometer.config.reference import BEGIN_MARKER, END_MARKER, reference, with_reference
from fathometer.seismic.setup.survey_layout import boundary_of
from fathometer.seismic.survey import AcquisitionTable, ModelTable, Survey, load_survey, survey_of

sys.path.insert(0, str(ROOT / "tools"))

from reference import main as write_reference

GUIDE = ROOT / "docs" / "guide" / "survey-file.md"

GEOMETRY: dict[str, Any] = {
    "model": {"vp": "vp.rsf"},
    "acquisition": {"sources": {"x": [0, 100, 10], "z": 5}, "receivers": {"x": [0, 100, 10], "z": 5}},
    "wavelet": {"kind": "ricker", "peak_frequency": 15},
    "propagation": {"duration": 3},
}
GATHERS: dict[str, Any] = {
    "model": {"vp": "vp.rsf"},
    "acquisition": {"gathers": "shots/*.segy"},
    "wavelet": {"kind": "ricker", "peak_frequency": 15},
}

EVERYTHING = """
[model]
vp = "vp.rsf"
epsilon = "epsilon.rsf"
delta = 0.1
spacing = [12.5, 12.5, 10]
origin = [0.0, 0.0, -10.0]
axes = "zyx"
units = "km/s"

[acquisition]
sources = {x = [0.0, 1000.0, 100.0], y = 50, z = 10.0}
receivers = {x = [-500.0, 500.0, 25.0], y = [0, 100, 50], z = 10.0, relative = true}
sample_interval = 0.002

[wavelet]
kind = "ormsby"
corners = [2, 5, 30, 40.0]

[propagation]
order = 16
space_weights = "optimised"
duration = 3
dt = 0.001
time_dispersion = "none"
boundary = {kind = "pml", width = 30}
precision = "float64"
top = "free-surface"

[imaging]
method = "rtm"
condition = "source-normalised"
every = 4
laplacian = false

[history]
store = "memory"

[parallel]
ranks_per_shot = "all"
decomposition = [2, 1, 1]

[output]
directory = "results"
image = "rtm.npy"
"""


def changed(values: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A copy with keys like "wavelet.kind" set, or removed where the value is `...`."""
    values = copy.deepcopy(values)
    for path, value in changes.items():
        *parents, key = path.split(".")
        table = values
        for parent in parents:
            table = table.setdefault(parent, {})
        if value is ...:
            del table[key]
        else:
            table[key] = value
    return values


def complaint(values: dict[str, Any]) -> str:
    with pytest.raises(InputError) as caught:
        survey_of(values, Path("folder/survey.toml"))
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith("folder/survey.toml: ")
    return line.removeprefix("folder/survey.toml: ")


# --- what is accepted


def test_every_key(tmp_path: Path) -> None:
    (tmp_path / "survey.toml").write_text(EVERYTHING)
    survey = load_survey(tmp_path / "survey.toml")
    assert survey.model.spacing == (12.5, 12.5, 10.0)
    assert isinstance(survey.model.spacing[2], float)
    assert survey.model.axes == "zyx"
    assert survey.acquisition.sources is not None
    assert survey.acquisition.sources.x == (0.0, 1000.0, 100.0)
    assert survey.acquisition.sources.y == 50.0
    assert survey.wavelet.kind == "ormsby"
    assert survey.wavelet.corners == (2.0, 5.0, 30.0, 40.0)
    assert survey.propagation.boundary != "auto"
    assert (survey.propagation.boundary.kind, survey.propagation.boundary.width) == ("pml", 30)
    assert survey.parallel.decomposition == (2, 1, 1)
    assert survey.dimension == 3
    assert survey.directory == tmp_path
    assert survey.path == tmp_path / "survey.toml"
    assert survey.output_directory == tmp_path / "results"


def test_defaults() -> None:
    survey = survey_of(GATHERS, Path("survey.toml"))
    resolved = survey.resolved()
    model = {"vp": "vp.rsf", "epsilon": 0.0, "delta": 0.0, "spacing": None, "origin": None, "axes": None}
    model |= dict.fromkeys(("vs", "density", "qp", "qs", "reference_frequency"))
    assert resolved["model"] == model | {"units": None, "on_weak_epsilon": "refuse"}
    propagation = {
        "physics": "acoustic",
        "order": 8,
        "space_weights": "taylor",
        "duration": None,
        "dt": "auto",
        "boundary": "auto",
    }
    kinds = {"time_dispersion": "corrected", "cone": "auto", "precision": "float32", "top": "absorbing"}
    assert resolved["propagation"] == propagation | kinds
    imaging = {"method": "rtm", "condition": "cross-correlation", "every": "auto", "laplacian": True}
    assert resolved["imaging"] == imaging | {"aperture": None, "gathers": "none", "offset_bins": None}
    history = {"store": "auto", "encoding": "float32", "tolerance": 1e-3, "memory_budget": "auto"}
    kept = {"disk_budget": "auto", "directory": None, "direct": False, "states": "memory"}
    assert resolved["history"] == history | kept
    assert resolved["parallel"] == {
        "ranks_per_shot": "auto",
        "memory_budget": 0.7,
        "patience": 600.0,
        "processor": "auto",
        "decomposition": "auto",
    }
    assert resolved["output"] == {"directory": "out", "image": "image.rsf", "vertical_datum": None}
    assert "sample_interval" not in resolved["acquisition"]  # gathers have their own
    assert survey_of(GEOMETRY, Path("s.toml")).resolved()["acquisition"]["sample_interval"] == 0.004
    assert survey.dimension is None


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"propagation.boundary": {"kind": "sponge"}, "model.vp": 2000},
        {"wavelet": {"kind": "file", "path": "w.npy", "sample_interval": 0.002, "maximum_frequency": 60}},
        {"model.axes": "zx", "model.spacing": [10, 5], "parallel.decomposition": [2, 3]},
        {"acquisition": {"gathers": "a.segy", "mute": {"velocity": 1500}, "source_depth": 6}},
    ],
)
def test_a_resolved_survey_is_json_and_reads_as_the_same_survey(changes: dict[str, Any]) -> None:
    survey = survey_of(changed(GEOMETRY, changes), Path("a/s.toml"))
    values = json.loads(json.dumps(survey.resolved(), allow_nan=False))
    assert survey_of(values, Path("a/s.toml")) == survey
    assert survey_of(values, Path("a/s.toml")).resolved() == values


def test_a_survey_travels_to_other_ranks_and_does_not_change() -> None:
    survey = survey_of(GEOMETRY, Path("a/s.toml"))
    assert pickle.loads(pickle.dumps(survey)).directory == Path("a")
    with pytest.raises(ValueError, match="frozen"):
        survey.propagation.order = 4


@pytest.mark.parametrize(("kind", "width"), [("sponge", 40), ("pml", 8)], ids=["sponge", "pml"])
def test_boundary_width_has_a_default_for_each_kind(kind: str, width: int) -> None:
    survey = survey_of(changed(GEOMETRY, {"propagation.boundary": {"kind": kind}}), Path())
    assert boundary_of(survey.propagation).width == width


@pytest.mark.parametrize("axes", ["xz", "zx", *("".join(order) for order in itertools.permutations("xyz"))])
def test_every_order_of_axes(axes: str) -> None:
    survey = survey_of(changed(GATHERS, {"model.axes": axes}), Path())
    assert survey.dimension == len(axes)


# --- what is refused: a change, and words of the message in their order

SECTIONS = [
    ({"imaging.a\nb": 1}, "[imaging] a b: unknown key"),
    ({"model": ...}, "[model]: missing; needed: a table {vp"),
    ({"wavelet": 3}, "[wavelet]: found 3; allowed: a table {kind"),
    ({"propagatoin": {}}, "[propagatoin]: unknown section; did you mean [propagation]?"),
    ({"zzz": {}}, "[zzz]: unknown section; known: [model], [acquisition], "),
    ({"order": 8}, "order: unknown outside a section; it belongs to [propagation]"),
    ({"imaging.dt": 0.1}, "[imaging] dt: unknown key; it belongs to [propagation]"),
    ({"propagation.ordr": 8}, "[propagation] ordr: unknown key; did you mean order?"),
    ({"wavelet.peak_freqency": 8}, "[wavelet] peak_freqency: unknown key; did you mean peak_frequency?"),
    (
        {"acquisition.sources.zz": 3, "acquisition.sources.z": ...},
        "[acquisition] sources.zz: unknown key; (and 1 more)",
    ),
    ({"imaging.qqq": 3}, "[imaging] qqq: unknown key; known: method, condition, every, laplacian"),
]
MODEL = [
    ({"model.vp": ...}, "[model] vp: missing; needed: a file or a number from 100 to 20000 (m/s)"),
    ({"model.vp": True}, "[model] vp: found true; allowed: a file or a number from 100 to 20000"),
    ({"model.vp": 0}, "[model] vp: found 0; allowed"),
    ({"model.vp": ""}, '[model] vp: found ""; allowed: a file'),
    ({"model.vp": ["a"]}, "[model] vp: found ['a']; allowed"),
    ({"model.epsilon": -0.5}, "[model] epsilon: found -0.5; allowed: a file or a number above -0.5"),
    (
        {"model.spacing": []},
        "[model] spacing: found []; allowed: a list of 1 or 2 or 3 numbers from 1e-09 to 1e+06 (m)",
    ),
    ({"model.spacing": [10, 0]}, "[model] spacing: found [10, 0]; allowed"),
    ({"model.spacing": 10}, "[model] spacing: found 10; allowed"),
    ({"model.spacing": [10, "10"]}, "[model] spacing: found [10, '10']; allowed"),
    (
        {"model.origin": [1, 2, 3, 4]},
        "[model] origin: found [1, 2, 3, 4]; allowed: a list of 2 or 3 numbers from -1e+09 to 1e+09 (m)",
    ),
    ({"model.axes": "xy"}, '[model] axes: found "xy"; allowed: "xyz" or'),
    ({"model.axes": "zxx"}, '[model] axes: found "zxx"; allowed'),
    ({"model.units": "ft"}, '[model] units: found "ft"; allowed: "m/s" or "km/s" or "ft/s" or "s/km" or "s2/km2"'),
]
ACQUISITION = [
    (
        {"acquisition.sources.x": [0, 1e9, 1e-6]},
        "[acquisition] sources.x: found 1e+15 places; at most 10000000",
    ),
    ({"acquisition.sources.x": [0, 1e18, 1e-300]}, "found 1e-300; allowed: 0, and magnitudes from 1e-60"),
    ({"acquisition.sources.x": 10**400}, "[acquisition] sources.x: found 10000"),
    ({"acquisition": {}}, "[acquisition] sources: missing; allowed: gathers, or both sources and receivers"),
    ({"acquisition.receivers": ...}, "[acquisition] receivers: missing; allowed"),
    ({"acquisition.gathers": "a.segy"}, "[acquisition] sources: found together with gathers; allowed"),
    ({"acquisition.mute": {"velocity": 1500}}, "[acquisition] mute: found without gathers"),
    ({"acquisition.source_depth": 5}, "[acquisition] source_depth: found without gathers"),
    ({"acquisition.receiver_depth": 5}, "[acquisition] receiver_depth: found without gathers"),
    ({"acquisition.sources": 5}, "[acquisition] sources: found 5; allowed: a table {x, z, y} or a file"),
    ({"acquisition.sources.z": ...}, "[acquisition] sources.z: missing; needed: a number from -1e+09 to 1e+09 (m)"),
    (
        {"acquisition.sources.x": "a"},
        '[acquisition] sources.x: found "a"; allowed: a number from -1e+09 to 1e+09 or [first, last, step]',
    ),
    ({"acquisition.sources.x": [0, 1]}, "[acquisition] sources.x: found [0, 1]; allowed: a number or [first"),
    (
        {"acquisition.sources.x": [0, 105, 10]},
        "[acquisition] sources.x: found [0, 105, 10], does not divide last values that fit: 100 or 110",
    ),
    ({"acquisition.receivers.x": [0, -105, -10]}, "[acquisition] receivers.x: found fit: -100 or -110"),
    ({"acquisition.sources.x": [0, 1000.001, 10]}, "[acquisition] sources.x: fit: 1000 or 1010"),
    ({"acquisition.sources.x": [0, 100, -10]}, "[acquisition] sources.x: found leads away allowed: step 10"),
    ({"acquisition.sources.x": [0, 100, 0]}, "[acquisition] sources.x: found the step is 0"),
    (
        {"acquisition.receivers.relative": 1},
        "[acquisition] receivers.relative: found 1; allowed: true or false",
    ),
    ({"acquisition.receivers.y": 0}, "[acquisition] sources.y: missing although receivers.y"),
    ({"acquisition.sources.y": 0}, "[acquisition] receivers.y: missing although sources.y"),
    (
        {"acquisition.sample_interval": 0.0040001},
        "[acquisition] sample_interval: found 0.0040001; whole microseconds",
    ),
    ({"acquisition.sample_interval": 0.04}, "[acquisition] sample_interval: found 0.04; allowed: 0.032767"),
    ({"acquisition.sample_interval": -0.004}, "[acquisition] sample_interval: found -0.004; allowed"),
    (
        {"acquisition": {"gathers": "a", "mute": {"velocity": 0}}},
        "[acquisition] mute.velocity: found 0; (m/s)",
    ),
    (
        {"acquisition": {"gathers": "a", "mute": {"velocity": 1500, "taper": -1}}},
        "[acquisition] mute.taper: found -1; allowed: a number from 0 to 100000 (s)",
    ),
]
WAVELET = [
    ({"wavelet.kind": "riker"}, '[wavelet] kind: found "riker"; allowed: "file" or "ormsby" or "ricker"'),
    ({"wavelet.kind": ...}, '[wavelet] kind: missing; allowed: "file" or "ormsby" or "ricker"'),
    ({"wavelet.peak_frequency": ...}, "[wavelet] peak_frequency: missing; needed: a number from 0.0001 to 1e+07 (Hz)"),
    (
        {"wavelet.peak_frequency": "15"},
        '[wavelet] peak_frequency: found "15"; allowed: a number from 0.0001 to 1e+07 (Hz)',
    ),
    ({"wavelet.peak_frequency": float("inf")}, "[wavelet] peak_frequency: found inf; allowed"),
    ({"wavelet.corners": [1, 2, 3, 4]}, "[wavelet] corners: unknown key; known: kind, peak_frequency"),
    (
        {"wavelet": {"kind": "ormsby", "corners": [1, 3, 2, 4]}},
        "[wavelet] corners: found [1, 3, 2, 4]; increasing",
    ),
    (
        {"wavelet": {"kind": "ormsby", "corners": [1, 2, 2, 4]}},
        "[wavelet] corners: found [1, 2, 2, 4]; increasing",
    ),
    (
        {"wavelet": {"kind": "ormsby", "corners": [-1, 2, 3, 4]}},
        "[wavelet] corners: found [-1, 2, 3, 4]; allowed",
    ),
    ({"wavelet": {"kind": "ormsby", "corners": [2, 3, 4]}}, "[wavelet] corners: found [2, 3, 4]; allowed"),
    ({"wavelet": {"kind": "file", "path": "w"}}, "[wavelet] sample_interval: missing; (s) (and 1 more)"),
]
PROPAGATION = [
    ({"propagation.order": 7}, "[propagation] order: found 7; allowed: an even integer from 2 to 16"),
    ({"propagation.order": 18}, "[propagation] order: found 18; allowed"),
    ({"propagation.order": 0}, "[propagation] order: found 0; allowed"),
    ({"propagation.order": 8.0}, "[propagation] order: found 8.0; allowed: an even integer"),
    ({"propagation.duration": ...}, "[propagation] duration: missing; needed with sources and receivers"),
    ({"propagation.duration": 0}, "[propagation] duration: found 0; allowed: a number from 1e-06 to 100000 (s)"),
    ({"propagation.dt": "0.001"}, '[propagation] dt: found "0.001"; allowed: "auto" or a number from 1e-12 to 100 (s)'),
    ({"propagation.dt": float("nan")}, "[propagation] dt: found nan; allowed"),
    (
        {"propagation.boundary": "sponge"},
        '[propagation] boundary: found "sponge"; "auto" or a table {kind = "sponge"',
    ),
    (
        {"propagation.boundary": {"kind": "x"}},
        '[propagation] boundary.kind: found "x"; allowed: "pml" or "sponge"',
    ),
    (
        {"propagation.boundary": {"width": 4}},
        '[propagation] boundary.kind: missing; allowed: "pml" or "sponge"',
    ),
    (
        {"propagation.boundary": {"kind": "pml", "width": 3}},
        "[propagation] boundary.width: found 3; allowed: an integer from 4 to 200 (cells)",
    ),
    (
        {"propagation.boundary": {"kind": "sponge", "width": 0}},
        "[propagation] boundary.width: found 0; from 1 (cells)",
    ),
    (
        {"propagation.boundary": {"kind": "pml", "widht": 3}},
        "[propagation] boundary.widht: did you mean width?",
    ),
    (
        {"propagation.precision": "float16"},
        '[propagation] precision: found "float16"; "float32" or "float64"',
    ),
    ({"propagation.top": "free"}, '[propagation] top: found "free"; "absorbing" or "free-surface"'),
]
OTHERS = [
    ({"imaging.method": "kirchhoff"}, '[imaging] method: found "kirchhoff"; allowed: "rtm"'),
    (
        {"imaging.condition": "x"},
        '[imaging] condition: found "x"; "cross-correlation" or "source-normalised"',
    ),
    (
        {"imaging.condition": "inverse-scattering"},
        '[imaging] condition: found "inverse-scattering", which was half the Laplacian-filtered image; use "cross-corr',
    ),
    ({"imaging.every": 0}, '[imaging] every: found 0; allowed: "auto" or an integer from 1 (time steps)'),
    ({"imaging.every": 1.5}, "[imaging] every: found 1.5; allowed"),
    ({"imaging.laplacian": "yes"}, '[imaging] laplacian: found "yes"; allowed: true or false'),
    ({"history.store": "tape"}, '[history] store: found "tape"; allowed: "auto"'),
    ({"parallel.ranks_per_shot": 0}, "[parallel] ranks_per_shot: found 0; allowed: "),
    ({"imaging.aperture": -1.0}, "[imaging] aperture: found -1.0; allowed: "),
    (
        {"parallel.decomposition": [2]},
        "[parallel] decomposition: found [2]; a list of 2 or 3 integers from 1 (ranks)",
    ),
    ({"parallel.decomposition": [0, 1]}, "[parallel] decomposition: found [0, 1]; allowed"),
    ({"output.image": "image.png"}, '[output] image: found "image.png"; .rsf, .npy, .segy, or .blocks'),
    ({"output.image": "a/image.npy"}, '[output] image: found "a/image.npy"; without a folder'),
    ({"output.directory": ""}, '[output] directory: found ""; allowed: a folder'),
]
TOGETHER = [
    ({"model.spacing": [1, 2, 3]}, "[acquisition] sources: found for 2D although [model] spacing is for 3D"),
    (
        {"model.spacing": [1, 2], "model.axes": "xyz"},
        "[model] spacing: found for 2D although [model] axes is for 3D",
    ),
    ({"model.origin": [1, 2, 3]}, "[acquisition] sources: found for 2D although [model] origin is for 3D"),
    ({"parallel.decomposition": [1, 1, 1]}, "2D although [parallel] decomposition is for 3D"),
    ({"propagation.order": 7, "imaging.every": 0, "model.vp": -1}, "[model] vp: found -1; (and 2 more)"),
]


@pytest.mark.parametrize(
    ("changes", "words"),
    [*SECTIONS, *MODEL, *ACQUISITION, *WAVELET, *PROPAGATION, *OTHERS, *TOGETHER],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_a_wrong_key_is_one_line_that_names_it(changes: dict[str, Any], words: str) -> None:
    line = complaint(changed(GEOMETRY, changes))
    at = 0
    for word in words.split():
        assert word in line[at:], line
        at = line.index(word, at)
    if "more)" not in words:
        assert "more)" not in line


def test_long_values_are_cut() -> None:
    line = complaint(changed(GEOMETRY, {"propagation.duration": list(range(1000))}))
    assert "…" in line
    assert len(line) < 200


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ["cannot read the survey file", "no such file"]),
        (b"[model\n", ["not valid TOML", "line 1"]),
        (b"[model]\nvp = 1\nvp = 2\n", ["not valid TOML", "line 3"]),
        (b"[model]\nvp = \xff\n", ["not text in UTF-8", "byte 13"]),
        (b"[model]\nvp = " + b"1" * 5000, ["not valid TOML"]),
        (b"a = " + b"[" * 5000, ["not valid TOML"]),
        (b"", ["[acquisition]: missing", "needed: a table {gathers"]),
    ],
)
def test_files_that_are_no_survey(tmp_path: Path, content: bytes | None, words: list[str]) -> None:
    path = tmp_path / "survey.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_survey(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_folder_is_no_survey(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        load_survey(tmp_path)


# --- the reference


def models(model: type[BaseModel] = Survey) -> list[type[BaseModel]]:
    """A model and all those within it."""
    found = [model]
    for field in model.model_fields.values():
        waiting = [field.annotation]
        while waiting:
            one = waiting.pop()
            if isinstance(one, type) and issubclass(one, BaseModel):
                found += models(one)
            else:
                waiting += getattr(one, "__args__", ())
    return found


def test_every_key_has_a_meaning_and_a_unit() -> None:
    assert {ModelTable, AcquisitionTable} < set(models())
    assert len(models()) == 33
    for model in models():
        for name, field in model.model_fields.items():
            assert field.description, (model, name)
            assert isinstance(field.json_schema_extra, dict), (model, name)
            assert "unit" in field.json_schema_extra, (model, name)


def test_every_key_is_in_the_reference() -> None:
    text = reference(Survey)
    for section, field in Survey.model_fields.items():
        assert f"### `[{section}]`" in text
        assert field.description
    for model in models()[1:]:
        for name, field in model.model_fields.items():
            assert f"| `{name}` | {field.description} | " in text
    order = "order of the finite differences in space; elastic: 4"
    assert f"| `order` | {order} |  | an even integer from 2 to 16 | `8` |" in text


def test_the_user_guide_holds_the_reference() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert text.count(BEGIN_MARKER) == text.count(END_MARKER) == 1
    assert f"{BEGIN_MARKER}\n{reference(Survey)}{END_MARKER}" in text, "run: make docs"


def test_the_reference_is_written_between_the_markers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "survey-file.md"
    page.write_text(f"before {BEGIN_MARKER} old {END_MARKER} after")
    assert write_reference([str(page)]) == 0
    assert page.read_text() == f"before {BEGIN_MARKER}\n{reference(Survey)}{END_MARKER} after"
    assert with_reference(page.read_text(), "page", Survey) == page.read_text()
    page.write_text(f"{END_MARKER} {BEGIN_MARKER}")
    assert write_reference([str(page)]) == 2
    assert str(page) in capsys.readouterr().err
    page.unlink()
    assert write_reference([str(page)]) == 2
    assert str(page) in capsys.readouterr().err
    assert write_reference([str(tmp_path / "other.md")]) == 2
    assert "other.md: no input file is described there" in capsys.readouterr().err
