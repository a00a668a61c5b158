"""Bad input: one line that names the thing, its place and what is allowed; the right exit code; nothing left behind."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import (
    INTERVAL,
    MIGRATE,
    MODEL,
    NX,
    NZ,
    RECEIVERS,
    SAMPLES,
    inputs,
    nothing_left,
    patch_traces,
    run,
    survey,
    velocity,
)
from numpy.lib import format as npy_format

from fathometer.storage.traces.segy import GatherWriter

Prepare = Callable[[Path], Any]
ZEROS = np.zeros((NX, NZ), np.float32)


@dataclass(frozen=True)
class Case:
    """What is wrong in a survey, and what the line must say, in this order ("…" stands for any words)."""

    name: str
    says: str
    keys: dict[str, Any] = field(default_factory=dict)
    prepare: Prepare = lambda folder: None
    words: tuple[str, ...] = ()
    code: int = 2
    command: str = "model"


def migration(
    name: str, says: str, keys: dict[str, Any] | None = None, prepare: Prepare = lambda f: None, code: int = 2
):
    return Case(name, says, MIGRATE | (keys or {}), prepare, (), code, "migrate")


def save(name: str, values: np.ndarray) -> Prepare:
    return lambda folder: np.save(folder / name, values)


def both(first: Prepare, second: Prepare) -> Prepare:
    return lambda folder: (first(folder), second(folder))


def written(name: str, data: bytes) -> Prepare:
    return lambda folder: (folder / name).write_bytes(data)


def changed(values: np.ndarray, *changes: tuple[int, int, float]) -> np.ndarray:
    values = values.copy()
    for x, z, value in changes:
        values[x, z] = value
    return values


def bad_sample(value: float, trace: int, sample: int) -> Prepare:
    values = np.zeros((NX, SAMPLES))
    values[trace, sample] = value
    return lambda folder: patch_traces(folder / "recorded.segy", values)


def patched(changes: dict[int, int], cut: int = 0) -> Prepare:
    """Gathers with other 16-bit numbers at some bytes of the file, or without the last ones."""

    def prepare(folder: Path) -> None:
        data = bytearray((folder / "recorded.segy").read_bytes())
        for place, number in changes.items():
            data[place : place + 2] = number.to_bytes(2, "big")
        (folder / "recorded.segy").write_bytes(data[: len(data) - cut])

    return prepare


def nowhere(folder: Path) -> None:
    """Gathers without coordinates."""
    with GatherWriter(folder / "recorded.segy", SAMPLES, INTERVAL, NX) as writer:
        writer.write(0, 1, (0, 0, 0), 0 * RECEIVERS, np.ones((NX, SAMPLES)))


def sparse(shape: tuple[int, ...]) -> Prepare:
    """A model far larger than any memory, of zeros that take no space on disk."""

    def prepare(folder: Path) -> None:
        with (folder / "vp.npy").open("wb") as file:
            npy_format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
            file.truncate(file.tell() + 4 * int(np.prod(shape)))

    return prepare


def rsf(**keys: Any) -> Prepare:
    """vp.rsf, with some keys of its header changed."""

    def prepare(folder: Path) -> None:
        velocity().tofile(folder / "vp.bin")
        header: dict[str, Any] = {"in": "vp.bin", "n1": NZ, "n2": NX, "d1": 10, "d2": 10, "o1": 0, "o2": 0}
        (folder / "vp.rsf").write_text("\n".join(f'{key}="{value}"' for key, value in (header | keys).items()))

    return prepare


RSF = {"model.vp": "vp.rsf", "model.spacing": None}
THREE_D = {
    "model.spacing": [10.0, 10.0, 10.0],
    "acquisition.sources": {"x": 200.0, "y": 0.0, "z": 20.0},
    "acquisition.receivers": {"x": 200.0, "y": 0.0, "z": 20.0},
}
LOUD = {
    "wavelet.kind": "file",
    "wavelet.peak_frequency": None,
    "wavelet.path": "loud.npy",
    "wavelet.sample_interval": 0.004,
    "wavelet.maximum_frequency": 37.0,
}

FILES = [
    Case("no model", "[model] vp: … nope.rsf: no such file", {"model.vp": "nope.rsf"}),
    Case("a folder", "[model] vp: … d.npy: is not a file", {"model.vp": "d.npy"}, lambda f: (f / "d.npy").mkdir()),
    Case("a pipe", "[model] vp: … p.npy: is not a file", {"model.vp": "p.npy"}, lambda f: os.mkfifo(f / "p.npy")),
    Case(
        "a loop of links", "[model] vp: … l.npy: ", {"model.vp": "l.npy"}, lambda f: (f / "l.npy").symlink_to("l.npy")
    ),
    Case("unknown format", "[model] vp: … vp.xyz: unknown kind of file … .rsf … .segy", {"model.vp": "vp.xyz"}),
    Case("empty .npy", "[model] vp: … e.npy: is empty", {"model.vp": "e.npy"}, written("e.npy", b"")),
    Case("empty .npz", "[model] vp: … e.npz: is empty", {"model.vp": "e.npz"}, written("e.npz", b"")),
    Case("empty .rsf", "[model] vp: … e.rsf: is empty", {"model.vp": "e.rsf"}, written("e.rsf", b"")),
    Case("empty .segy", "[model] vp: … e.segy: is empty", {"model.vp": "e.segy"}, written("e.segy", b"")),
    Case("empty .h5", "[model] vp: … e.h5: is empty", {"model.vp": "e.h5"}, written("e.h5", b"")),
    Case(
        "pickled objects",
        "[model] vp: … p.npy: holds pickled Python objects, which are never loaded",
        {"model.vp": "p.npy"},
        lambda folder: np.save(folder / "p.npy", np.array([{}], object), allow_pickle=True),
    ),
    Case(
        "a pickle",
        "[model] vp: … p.npy: is not an NPY … pickles are never loaded",
        {"model.vp": "p.npy"},
        written("p.npy", pickle.dumps({"vp": 1})),
    ),
    Case("numbers only", "[model]: … all numbers … at least one file", {"model.vp": 2000.0}),
]

AXES = [
    Case(
        "another shape",
        "[model] epsilon: … epsilon.npy has 30 x 40 cells, vp … 40 x 30; allowed: the same shape",
        {"model.epsilon": "epsilon.npy"},
        save("epsilon.npy", ZEROS.T),
    ),
    Case("one axis", "[model] vp: … l.npy: … shape (40,) … 2 or 3", {"model.vp": "l.npy"}, save("l.npy", ZEROS[:, 0])),
    Case(
        "axes of another dimension than the geometry",
        "[acquisition] sources: found for 2D although [model] axes is for 3D",
        {"model.axes": "xyz", "model.spacing": None},
    ),
    Case(
        "axes of another dimension than the file",
        '[model] axes: found "xyz", 3 axes; … vp.npy has 2: 40 x 30 cells',
        THREE_D | {"model.axes": "xyz"},
    ),
    Case(
        "axes against the file's spacing",
        "[model] spacing: … vp.rsf says 12.5 m along x, the survey says 10 m; is [model] axes right?",
        RSF | {"model.spacing": [10.0, 12.5]},
        rsf(d1=10, d2=12.5),
    ),
    Case(
        "axes against the file's labels",
        '[model] axes: found "xz", but … vp.rsf labels its axes "zx"',
        RSF | {"model.axes": "xz"},
        rsf(label1="x", label2="Depth"),
    ),
    Case("no spacing", "[model] spacing: missing; … vp.npy carries none (m, for x, z)", {"model.spacing": None}),
    migration(
        "too many spacings",
        "[model] spacing: found 3 values; needed: 2, for x, z, since the model is 2D",
        {"model.spacing": [10.0, 10.0, 10.0]},
    ),
    Case(
        "absurd spacing",
        "[model] spacing: found [1e+18, 10.0]; allowed: … from 1e-09 to 1e+06 (m)",
        {"model.spacing": [1e18, 10.0]},
    ),
    Case(
        "absurd origin",
        "[model] origin: found [1e+18, 0.0]; allowed: … from -1e+09 to 1e+09 (m)",
        {"model.origin": [1e18, 0.0]},
    ),
    Case("one cell along y", "vp.npy has 40 x 1 x 30 cells, one along y", THREE_D, save("vp.npy", ZEROS[:, None])),
    Case("one cell along x", "vp.npy has 1 x 30 cells, one along x", prepare=save("vp.npy", ZEROS[:1])),
]

VALUES = [
    Case(
        "km/s read as m/s",
        '[model] vp … 1200 of 1200 cells … 300 to 9000 m/s (from 2 to 2.5 … units = "m/s" right? … "km/s"',
        prepare=save("vp.npy", velocity() / 1000),
    ),
    Case(
        "m/s that the file calls km/s",
        '[model] vp … vp.rsf): … (from 2e+06 … the file says km/s: is that right? … as "m/s" they are',
        RSF,
        rsf(label1="z", label2="x", unit="km/s"),
    ),
    Case("m/s read as km/s", '[model] vp … (from 2e+06 … units = "km/s" right?', {"model.units": "km/s"}),
    Case(
        "m/s read as slowness squared",
        '[model] vp … 1200 of 1200 cells … units = "s2/km2" right?',
        {"model.units": "s2/km2"},
    ),
    Case(
        "a negative slowness squared",
        "[model] vp … NaN or infinity (or a slowness squared … in 1 of 1200 cells, first at x = 20 m, z = 50 m",
        {"model.units": "s2/km2"},
        save("vp.npy", changed(0 * ZEROS + 0.25, (2, 5, -1.0))),
    ),
    Case(
        "NaN and infinity",
        "[model] vp … NaN or infinity in 2 of 1200 cells, first at x = 30 m, z = 40 m; allowed: finite numbers",
        prepare=save("vp.npy", changed(velocity(), (3, 4, np.nan), (5, 6, np.inf))),
    ),
    Case(
        "beyond float32",
        "[model] vp … NaN or infinity in 1200",
        prepare=save("vp.npy", velocity().astype(float) * 1e200),
    ),
    Case(
        "NaN in delta",
        "[model] delta … NaN or infinity in 1 of 1200 cells, first at x = 0 m, z = 290 m",
        {"model.delta": "delta.npy"},
        save("delta.npy", changed(ZEROS, (0, NZ - 1, np.nan))),
    ),
    Case(
        "epsilon < delta",
        "[model] epsilon … epsilon < delta in 2 of 1200 cells, worst by 0.2 at x = 110 m, z = 120 m",
        {"model.epsilon": "epsilon.npy", "model.delta": "delta.npy"},
        both(save("epsilon.npy", ZEROS), save("delta.npy", changed(ZEROS, (10, 10, 0.1), (11, 12, 0.2)))),
    ),
    Case("percent", "[model] epsilon: found 20.0; allowed: … -0.5 to 2, a fraction", {"model.epsilon": 20.0}),
]

SAMPLING = [
    Case(
        "dt above the limit", '[propagation] dt: found 0.01 s; allowed: up to 0.00 … "auto"', {"propagation.dt": 0.01}
    ),
    Case("a tiny dt", "[propagation]: … time steps of 1e-12 s … allowed: at most 1e+09", {"propagation.dt": 1e-12}),
    Case("the smallest dt", "[propagation] dt: found 1e-60; allowed: … from 1e-12 to 100", {"propagation.dt": 1e-60}),
    Case("a dt that is no quantity", "found 5e-324; allowed: 0, and magnitudes from 1e-60", {"propagation.dt": 5e-324}),
    Case("a tiny frequency", "peak_frequency: found 1e-60; allowed: … from 0.0001", {"wavelet.peak_frequency": 1e-60}),
    Case(
        "too few cells a wavelength",
        "[wavelet]: 1.5 cells per shortest wavelength … at least 2.5, … (a peak_frequency of 32 Hz) or cells up to 5.8",
        {"wavelet.peak_frequency": 55.0},
    ),
    Case(
        "a frequency above the traces' Nyquist",
        "[wavelet]: … found 37.5 Hz; allowed: below 25 Hz … sample interval 0.02 s",
        {"acquisition.sample_interval": 0.02},
    ),
    Case(
        "a wavelet beyond float32",
        "[wavelet]: found amplitudes up to 1 … e+300; allowed: up to 3.4e+38, … float32",
        LOUD,
        save("loud.npy", np.full(20, 1e300)),
    ),
    Case("no wavelet", "[wavelet] path: … loud.npy: no such file", LOUD),
    migration("a huge imaging step", "[imaging] every: found 1000000; allowed: up to 1", {"imaging.every": 1000000}),
]

GEOMETRY = [
    Case(
        "a source outside",
        "[acquisition]: 1 of 1 sources and 0 of 40 receivers … the source of shot 1 … (2000, 0, 20) … (390, 0, 290)",
        {"acquisition.sources": {"x": 2000.0, "z": 20.0}},
    ),
    Case(
        "receivers outside",
        "0 of 2 sources and 10 of 12 receivers … first: the receiver of shot 1 … channel 2, at (400, 0, 20) m; allowed",
        {
            "acquisition.sources": {"x": [200.0, 210.0, 10.0], "z": 20.0},
            "acquisition.receivers": {"x": [390.0, 440.0, 10.0], "z": 20.0},
        },
    ),
    migration(
        "gathers outside",
        "[acquisition]: 1 of 1 sources and 40 of 40 receivers … shot 1 (FFID 7)",
        {"model.origin": [1000.0, 0.0]},
    ),
    Case(
        "a source in the free surface",
        "[acquisition]: 1 of 1 sources and 0 of 40 receivers lie in the free surface … more than 0 m",
        {"propagation.top": "free-surface", "acquisition.sources": {"x": 200.0, "z": 0.0}},
    ),
]

GATHERS = [
    migration("no gathers", '[acquisition] gathers: … "n/*.segy"', {"acquisition.gathers": "n/*.segy"}),
    Case("a geometry given to migrate", "[acquisition] gathers: missing; … `fathometer model`", command="migrate"),
    migration(
        "truncated",
        "recorded.segy: is truncated or contradictory … 39.80 traces of 51 samples",
        prepare=patched({}, cut=90),
    ),
    migration(
        "contradictory sample counts",
        "recorded.segy: is truncated or contradictory … of 50 samples (binary header) … of 52 samples (trace header)",
        prepare=patched({3220: 50, 3600 + 114: 52}),
    ),
    migration(
        "NaN in a trace",
        "recorded.segy: trace 7 (of 40, from 0) holds nan at sample 11 … finite",
        prepare=bad_sample(np.nan, 7, 11),
    ),
    migration(
        "infinity in a trace",
        "recorded.segy: trace 39 (of 40, from 0) holds -inf at sample 50",
        prepare=bad_sample(-np.inf, 39, 50),
    ),
    migration("no coordinates", "recorded.segy: … no coordinates … needed", prepare=nowhere),
    migration(
        "longer than recorded",
        "[propagation] duration: found 10 s; allowed: from 0 to 0.2 s, as recorded",
        {"propagation.duration": 10.0},
    ),
]

RESOURCES = [
    Case(
        "not enough memory",
        "not enough memory: … B needed … B available … wavefields … a smaller model",
        THREE_D,
        sparse((20000, 10000, 10000)),
    ),
    Case(
        "layers that do not fit",
        "not enough memory: … absorbing layers",
        {"propagation.boundary": {"kind": "sponge", "width": 10**6}},
    ),
    Case("decomposition", "[parallel] decomposition: … for 8 ranks, but 1 is", {"parallel.decomposition": [8, 1]}),
    migration("3D decomposition", "[parallel] decomposition: … 2D", {"parallel.decomposition": [1, 1, 1]}),
    Case("no rank", "--ranks 0: … at least 1", words=("--ranks", "0")),
    Case("negative ranks", "--ranks -3: … at least 1", words=("--ranks", "-3")),
    Case("ranks in words", "argument --ranks: found two; allowed: … --help", words=("--ranks", "two")),
    Case("a million ranks", "--ranks 1000000: at most … cpus", words=("--ranks", "1000000")),
    Case("no thread", "--threads 0: … at least 1", words=("--threads", "0")),
    Case("half a thread", "argument --threads: found 1.5; allowed: a whole number", words=("--threads", "1.5")),
    Case("a million threads", "--threads 1000000: at most … cpus", words=("--threads", "1000000")),
    Case("unknown option", "unrecognized arguments: --rnaks 2; did you mean --ranks?", words=("--rnaks", "2")),
]

SURVEY = [
    Case("unknown key", "[propagation] durration: … did you mean duration?", {"propagation.durration": 1.0}),
    Case("unknown section", "[propagatoin]: … did you mean [propagation]?", {"propagatoin.order": 8}),
    Case("not TOML", "survey.toml: not valid TOML … line 1", prepare=written("survey.toml", b"[model\n")),
    Case("not text", "survey.toml: not text in UTF-8", prepare=written("survey.toml", b"\xff\xfe[model]")),
    Case("empty", "survey.toml: [acquisition]: missing", prepare=written("survey.toml", b"")),
    Case("absent", "survey.toml: … no such file", prepare=lambda folder: (folder / "survey.toml").unlink()),
    Case("NUL in a name", "[model] vp: found … control characters", {"model.vp": "a\0b.npy"}),
    Case("a line end in a name", "[model] vp: found … control characters", {"model.vp": "a\nb.npy"}),
]

OUTPUT = [
    Case("a file for a folder", "out: cannot make the output directory: … file exists", prepare=written("out", b"")),
    Case(
        "a link that leads nowhere",
        "out: cannot make the output directory: … a link that leads nowhere",
        prepare=lambda folder: (folder / "out").symlink_to("gone"),
    ),
    Case("a file on the way", "vp.npy/a: cannot … vp.npy: file exists", {"output.directory": "vp.npy/a"}),
    Case("a folder that takes no files", "/proc: … cannot be written to", {"output.directory": "/proc"}),
    Case("NUL in the folder", "[output] directory: found … control characters", {"output.directory": "a\0b"}),
    migration(
        "output over input",
        "[output]: … vp.rsf would replace [model] vp",
        RSF | {"output.directory": ".", "output.image": "vp.rsf"},
        rsf(),
    ),
]

GROWTH = [
    Case(
        "NaN during modelling",
        "the wavefield is no longer finite: seen at step … first at x = … , z = … amplitudes",
        LOUD,
        save("loud.npy", np.full(20, 3e38)),
        code=1,
    ),
    migration(
        "NaN during migration",
        "the wavefield is no longer finite: seen at step … first at x = ",
        prepare=lambda folder: patch_traces(folder / "recorded.segy", np.full((NX, SAMPLES), 3e38)),
        code=1,
    ),
]

CASES = [*FILES, *AXES, *VALUES, *SAMPLING, *GEOMETRY, *GATHERS, *RESOURCES, *SURVEY, *OUTPUT, *GROWTH]


def in_order(says: str, line: str) -> bool:
    place = 0
    for words in says.split("…"):
        place = line.find(words.strip(), place)
        if place < 0:
            return False
        place += len(words.strip())
    return True


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_line_and_nothing_left(case, tmp_path, capsys):
    inputs(tmp_path)
    survey(tmp_path, case.keys if "acquisition.gathers" in case.keys else MODEL | case.keys)
    case.prepare(tmp_path)
    before = sorted(tmp_path.iterdir())
    done = run(capsys, case.command, tmp_path / "survey.toml", "--quiet", *case.words)
    assert done.code == case.code, done.err
    assert done.out == ""
    [line] = done.err.splitlines()
    assert line.startswith("fathometer: error: ")
    assert in_order(case.says, line), line
    assert nothing_left(tmp_path, before, line)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("broken.sgy", "broken.sgy: is truncated or contradictory: … 3.27 traces of 4 samples"),
        ("text.sgy", "text.sgy: holds no traces (3600 bytes"),
    ],
)
def test_gathers_that_others_wrote(shared_data, name, says, tmp_path, capsys):
    inputs(tmp_path)
    gathers = str(shared_data / "segy_variants" / name)
    done = run(capsys, "migrate", survey(tmp_path, MIGRATE | {"acquisition.gathers": gathers}), "--quiet")
    assert done.code == 2
    [line] = done.err.splitlines()
    assert in_order(says, line), line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("peak", "cells", "highest"), [(25.0, "3.2", "62.5"), (20.1, "3.98", "50.25")])
def test_few_cells_a_wavelength_are_a_warning(tmp_path, capsys, peak, cells, highest):
    inputs(tmp_path)
    done = run(capsys, "model", survey(tmp_path, MODEL | {"wavelet.peak_frequency": peak}))
    assert done.code == 0
    assert (
        f"note: {cells} cells per shortest wavelength (2000 m/s at {highest} Hz on 10 m): waves will be dispersed; 4"
        in done.err
    )


def test_an_aliased_imaging_step_is_a_warning(tmp_path, capsys):
    inputs(tmp_path)
    done = run(capsys, "migrate", survey(tmp_path, MIGRATE | {"imaging.every": 20}))
    assert done.code == 0
    assert "note: an image every 20 steps" in done.err


def test_results_of_an_earlier_run_survive_a_failure_but_not_their_record_a_success(tmp_path, capsys):
    inputs(tmp_path)
    out = tmp_path / "out"
    assert run(capsys, "model", survey(tmp_path, MODEL), "--quiet").code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert run(capsys, "model", survey(tmp_path, MODEL | {"propagation.dt": 1.0}), "--quiet").code == 2
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    (out / "shots.segy").unlink()
    (out / "shots.segy").mkdir()
    done = run(capsys, "model", survey(tmp_path, MODEL), "--quiet")
    assert (done.code, len(done.err.splitlines())) == (1, 1)
    assert sorted(path.name for path in out.iterdir()) == ["journal", "run-unfinished.json", "shots.segy"]


def test_the_demo_needs_a_folder(tmp_path, capsys):
    (tmp_path / "here").write_text("")
    done = run(capsys, "demo", "--quick", "--quiet", "--output", tmp_path / "here" / "demo")
    assert done.code == 2
    [line] = done.err.splitlines()
    assert in_order("fathometer: error: … here/demo: cannot make the output directory: … here: file exists", line), line


def test_an_odd_name_is_no_bad_input(tmp_path, capsys):
    name = "-caf\udce9 $^$ $x_$ 'a;b'"  # bytes that are not UTF-8, what would be mathematics in a title
    folder = tmp_path / name
    folder.mkdir()
    inputs(folder)
    path = survey(folder, MIGRATE, f"{name}.toml")
    done = run(capsys, "migrate", path, "--json", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == json.loads((folder / "out" / "run.json").read_text())
    (folder / "vp.npy").rename(folder / f"{name}.npy")
    done = run(capsys, "info", folder / f"{name}.npy", "--picture", folder / f"{name}.png")
    assert (done.code, done.err) == (0, "")
    assert (folder / f"{name}.png").is_file()
