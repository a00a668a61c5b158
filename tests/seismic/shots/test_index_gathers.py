"""Gathers by an index: the same shots and traces as by the files themselves, and what is left out is told."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import MIGRATE, inputs, run, survey
from index_support import index_of, live, rewritten
from machine_support import MACHINE
from survey_support import load
from test_acquisition import refused, write
from test_acquisition import survey as survey_of

from fathometer.plan.machine_file import save_machine
from fathometer.seismic.shots import gathers
from fathometer.seismic.shots.acquisition import Acquisition, acquisition_of
from fathometer.storage.index.build import build_index
from fathometer.storage.index.words import words_of
from fathometer.storage.traces.segy import read_traces, scan


def acquired(folder: Path, name: str, dimension: int | None = None, **keys: Any) -> Acquisition:
    return acquisition_of(survey_of(folder, {"gathers": name} | keys), dimension)


def same(one: Acquisition, other: Acquisition) -> None:
    """The same shots, and the same traces bit by bit."""
    assert (one.samples, one.sample_interval, one.start) == (other.samples, other.sample_interval, other.start)
    assert [(shot.index, shot.ffid) for shot in one.shots] == [(shot.index, shot.ffid) for shot in other.shots]
    for mine, theirs in zip(one.shots, other.shots, strict=True):
        np.testing.assert_array_equal(mine.source, theirs.source)
        np.testing.assert_array_equal(mine.receivers, theirs.receivers)
        np.testing.assert_array_equal(mine.channel, theirs.channel)
        every = np.arange(len(mine.receivers))
        assert one.traces(mine, every).tobytes() == other.traces(theirs, every).tobytes()
        assert one.traces(mine, every[::-2]).tobytes() == other.traces(theirs, every[::-2]).tobytes()


def interleaved(folder: Path) -> list[Path]:
    """Shots in several files, in an order of their own, one of them in two files."""
    random = np.random.default_rng(3)
    paths = []
    for name in "cab":
        shots = []
        for ffid in random.permutation(np.arange(1, 6)) * 10 + (0 if name == "a" else ord(name)):
            receivers = random.integers(0, 4000, (4, 3)) * 0.25
            receivers[:, 1] = 20.0
            shots.append((int(ffid), [float(ffid), 20.0, 5.0], receivers))
        if name != "b":
            shots.append((7, [0.5, 20.0, 1.5], random.integers(0, 4000, (3, 3)) * 0.1))
        write(folder / f"{name}.segy", shots)
        paths.append(folder / f"{name}.segy")
    return sorted(paths)


@pytest.mark.parametrize("dimension", [2, 3])
def test_an_index_gives_what_its_files_give(tmp_path: Path, dimension: int) -> None:
    index_of(*interleaved(tmp_path))
    same(acquired(tmp_path, "survey.parquet", dimension), acquired(tmp_path, "*.segy", dimension))


def test_field_data_by_index(shared_data: Path, tmp_path: Path) -> None:
    field = shared_data / "viking_graben" / "viking_small.segy"
    build_index([field], tmp_path / "i.parquet", words_of([]), 2, False, print)
    keys = {"mute": {"velocity": 1500.0}}
    got = acquired(tmp_path, "i.parquet", 2, **keys)
    same(got, acquired(tmp_path, str(field), 2, **keys))
    for words in ("the file's size fits 600", "decimal degrees", "480 traces: another sample count than the file"):
        assert any(words in note for note in got.notes)


STACK = ("shot=TRACE_SEQUENCE_FILE", "receiver_x=SourceX", "receiver_y=SourceY")
VARIANTS = {
    **{f"multiformats/Format{code}{order}.sgy": (STACK, 414) for code in (1, 5, 7, 9) for order in ("msb", "lsb")},
    "f3.sgy": (STACK, 414),
    "f3-lsb.sgy": (STACK, 414),
    "shot-gather.sgy": (("receiver_x=offset",), 4),
    "small-ps.sgy": (("receiver_x=offset", "shot=CROSSLINE_3D", "channel=INLINE_3D"), 3),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_give_their_traces_once_their_words_are_known(shared_data: Path, tmp_path: Path, name: str) -> None:
    path = (shared_data / "segy_variants" / name).resolve()
    words, shots = VARIANTS[name]
    output = tmp_path / "i.parquet"
    keys: dict[str, Any] = {"origin": [620197.2, 6074232.9], "azimuth": 88.4} if words is STACK else {}
    build_index([path], output, words_of(()), 2, False, str)
    with refused(str(path), "source") if words is STACK else refused("none of its", "no coordinates in the whole file"):
        acquired(tmp_path, "i.parquet", 3)
    build_index([path], output, words_of(words), 2, False, str)
    got = acquired(tmp_path, "i.parquet", 3, **keys)
    assert len(got.shots) == shots
    places = np.concatenate([shot.receivers for shot in got.shots])
    if words is STACK:  # 23 inlines of 18 crosslines, 25 m apart
        np.testing.assert_allclose(np.unique(np.round(places[:, 0] / 25)), np.arange(18))
        np.testing.assert_allclose(np.unique(np.round(places[:, 1] / 25)), np.arange(23))
        np.testing.assert_allclose(places[:, :2], 25 * np.round(places[:, :2] / 25), atol=0.2)
    table = scan(path)
    traces = np.concatenate([got.traces(shot, np.arange(len(shot.receivers))) for shot in got.shots])
    expected = read_traces(path, range(len(table.ffid)))
    assert sorted(map(bytes, traces)) == sorted(map(bytes, expected))


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_are_planned_and_migrated(shared_data: Path, tmp_path: Path, capsys: Any, name: str) -> None:
    """The whole way by the commands, a few shots of each, in a homogeneous model around them."""
    words, _ = VARIANTS[name]
    options = [option for word in words for option in ("--word", word)]
    built = run(capsys, "survey", "build", shared_data / "segy_variants" / name, "-o", tmp_path / "i.parquet", *options)
    assert built.code == 0, built.err
    np.save(tmp_path / "vp.npy", np.full((21, 25, 16), 3000.0, np.float32))
    keys = {
        "model.vp": "vp.npy",
        "model.spacing": [25.0, 25.0, 25.0],
        "model.origin": [-25.0, -25.0, 0.0],
        "acquisition.gathers": "i.parquet",
        "acquisition.conditioning": {"shots": {"every": 150}},
        "wavelet.kind": "ricker",
        "wavelet.peak_frequency": 12.0,
        "imaging.aperture": 50.0,
        "output.directory": "out",
    }
    if words is STACK:
        keys |= {"acquisition.origin": [620197.2, 6074232.9], "acquisition.azimuth": 88.4}
    path = survey(tmp_path, keys)
    save_machine(tmp_path / "machine.json", MACHINE)
    planned = run(capsys, "plan", path, "--on", tmp_path / "machine.json")
    assert planned.code == 0, planned.err
    done = run(capsys, "migrate", path, "--quiet")
    assert done.code == 0, done.err
    image = load(tmp_path / "out" / "image.rsf")
    assert np.isfinite(image).all()
    assert np.abs(image).max() > 0


@pytest.mark.parametrize("order", "><")
def test_su_by_itself_and_by_index(tmp_path: Path, order: str) -> None:
    data = live(order=order, su=True)
    index_of(data.write(tmp_path / "a.su"))
    same(acquired(tmp_path, "survey.parquet"), acquired(tmp_path, "a.su"))
    live().write(tmp_path / "a.segy")
    same(acquired(tmp_path, "a.segy"), acquired(tmp_path, "a.su"))


def test_no_header_is_read_and_only_the_traces_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = interleaved(tmp_path)
    index_of(*paths)
    for name in ("scan", "layout_of"):
        monkeypatch.setattr(f"fathometer.storage.traces.segy.{name}", None)
    monkeypatch.setattr(gathers, "scan", None)
    read: list[tuple[Path, list[int]]] = []
    true = gathers.read_traces

    def counted(layout: Any, traces: Any, seen: Any) -> np.ndarray:
        read.append((layout.path, list(traces)))
        return true(layout, traces, seen)

    monkeypatch.setattr(gathers, "read_traces", counted)
    got = acquired(tmp_path, "survey.parquet")
    (shot,) = (one for one in got.shots if one.ffid == 7)
    got.traces(shot, np.array([5, 0]))
    assert read == [(paths[0], [20]), (paths[2], [22])]


def test_bad_traces_are_left_out_and_told(tmp_path: Path) -> None:
    data = live(shots=3)
    data.trace[0][29] = 2
    data.values[4] = 0
    data.values[5, 1] = np.nan
    data.trace[7] = dict(data.trace[6])
    index_of(data.write(tmp_path / "a.segy"))
    got = acquired(tmp_path, "survey.parquet")
    assert [shot.channel.tolist() for shot in got.shots] == [[2, 3], [1], [1, 3]]
    assert got.traces(got.shots[2], np.array([1])).tolist() == data.values[[8]].tolist()
    told = "\n".join(got.notes)
    for words in ("marked as dead", "samples are zero", "NaN", "the same shot, channel and places"):
        assert f"survey.parquet: 1 of 9 traces: {words}" in told.replace("all samples", "samples")


def test_all_samplings_are_taken(tmp_path: Path) -> None:
    """Other lengths and delays, in the index and in the files it names alike."""
    few, many = live(), live(samples=6, shots=4)
    for fields in few.trace:
        fields[9] += 10
    many.trace[1][109] = 40
    index_of(few.write(tmp_path / "a.segy"), many.write(tmp_path / "b.segy"))
    got, direct = acquired(tmp_path, "survey.parquet"), acquired(tmp_path, "*.segy")
    assert (got.samples, got.sample_interval, got.start) == (16, 0.004, 0.0)
    assert sum(len(shot.receivers) for shot in got.shots) == 18
    told = " ".join(got.notes)
    assert "1 of 18 traces begin later than the first, from 0 to 0.04 s" in told
    assert "traces have 4 to 6 samples" in told
    for shot, other in zip(got.shots, direct.shots, strict=True):
        chosen = np.arange(len(shot.receivers))
        assert np.array_equal(got.traces(shot, chosen), direct.traces(other, chosen))


def test_a_changed_file_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    path = live().write(tmp_path / "a.segy")
    index_of(path)
    path.write_bytes(path.read_bytes() + bytes(256))
    with refused("a.segy", "has changed since it was indexed", "5392 bytes, and had 5136", "survey build"):
        acquired(tmp_path, "survey.parquet")


def test_an_index_of_nothing_usable(tmp_path: Path) -> None:
    data = live()
    data.values[:] = 0
    index_of(data.write(tmp_path / "a.segy"))
    with refused("survey.parquet", "none of its 6 traces can be used", "6 of 6 traces: all samples are zero"):
        acquired(tmp_path, "survey.parquet")


def test_an_index_stands_alone(tmp_path: Path) -> None:
    index_of(live().write(tmp_path / "a.segy"))
    with refused("found 2 files with the index", "one index, or files of traces"):
        acquired(tmp_path, "*.*")


def test_a_shot_whose_source_moves_is_left_out_as_in_files(tmp_path: Path) -> None:
    data = live()
    data.trace[5][73] = 777
    index_of(data.write(tmp_path / "a.segy"))
    for name in ("survey.parquet", "a.segy"):
        got = acquired(tmp_path, name)
        assert [shot.ffid for shot in got.shots] == [1]
        (note,) = (one for one in got.notes if "their source moves" in one)
        assert "1 of 2 shots are left out" in note
        assert "FFID 2: found its source at (777, 7, 0) m in trace 5" in note


def test_migrate_gives_the_same_image_by_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inputs(tmp_path)
    assert run(capsys, "survey", "build", tmp_path / "recorded.segy", "-o", tmp_path / "i.parquet").code == 0
    images = []
    for name in ("recorded.segy", "i.parquet"):
        path = survey(tmp_path, MIGRATE | {"acquisition.gathers": name, "output.directory": name[:1]}, f"{name}.toml")
        done = run(capsys, "migrate", path, "--quiet")
        assert done.code == 0, done.err
        images.append(load(tmp_path / name[:1] / "image.rsf"))
    assert images[0].any()
    np.testing.assert_array_equal(*images)


def test_plan_takes_an_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inputs(tmp_path)
    index_of(tmp_path / "recorded.segy")
    save_machine(tmp_path / "machine.json", MACHINE)
    plans = []
    for name in ("recorded.segy", "survey.parquet"):
        path = survey(tmp_path, MIGRATE | {"acquisition.gathers": name})
        done = run(capsys, "plan", path, "--on", tmp_path / "machine.json", "--ranks", 1, "--json", "-")
        assert done.code == 0, done.err
        plans.append(json.loads(done.out))
    assert plans[0] == plans[1]


@pytest.mark.parametrize("interval", [0, 2000])
def test_a_sample_interval_in_place_of_the_headers(tmp_path: Path, interval: int) -> None:
    """By the files and by an index of them; the record has it, and the notes say both."""
    path = live(interval=interval, every={117: interval}).write(tmp_path / "a.segy")
    index_of(path)
    for name, says in (("a.segy", "the headers say"), ("survey.parquet", "indexed:")):
        got = acquired(tmp_path, name, sample_interval=0.001)
        assert (got.sample_interval, got.samples, len(got.shots)) == (0.001, 4, 2)
        (note,) = [note for note in got.notes if "sample interval is taken" in note]
        assert "taken as 1000 µs, as was asked for" in note
        assert says in note
    resolved = survey_of(tmp_path, {"gathers": "a.segy", "sample_interval": 0.001}).resolved()["acquisition"]
    assert resolved["sample_interval"] == 0.001
    assert "sample_interval" not in survey_of(tmp_path, {"gathers": "a.segy"}).resolved()["acquisition"]


@pytest.mark.parametrize("value", [np.nan, 1e300])
def test_an_index_with_a_place_that_is_none(tmp_path: Path, capsys: Any, value: float) -> None:
    inputs(tmp_path)
    index = index_of(tmp_path / "recorded.segy").path
    rewritten(index, receiver_x=value)
    save_machine(tmp_path / "machine.json", MACHINE)
    path = survey(tmp_path, MIGRATE | {"acquisition.gathers": "survey.parquet"})
    for words in (
        ("migrate", path, "--quiet"),
        ("plan", path, "--on", tmp_path / "machine.json"),
        ("info", index),
        ("info", index, "--picture", tmp_path / "a.png"),
    ):
        done = run(capsys, *words)
        assert done.code == 2, words
        assert len(done.err.splitlines()) == 1
        assert f"survey.parquet: row 3 of row group 0: found receiver_x = {value:g}; allowed" in done.err
    assert not (tmp_path / "a.png").exists()
