"""The commands from the survey file to the files that they leave, as a user meets them."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import segyio
from cli_support import (
    INTERVAL,
    MIGRATE,
    MODEL,
    NX,
    NZ,
    SAMPLES,
    SOURCE,
    SPACING,
    call,
    finish,
    inputs,
    mpirun,
    nothing_left,
    program,
    run,
    start,
    survey,
    under_way,
    velocity,
)
from patience import PATIENCE

from fathometer import __version__
from fathometer.record.schema import SCHEMA
from fathometer.storage.volumes.volume import open_volume

COMMANDS = ("model", "migrate", "info", "demo")

# The same for a small 3D volume; its file has z slowest.
SHAPE_3D, SPACING_3D, ORIGIN_3D = (14, 9, 12), (10.0, 12.0, 9.0), (1000.0, 2000.0, 0.0)
MODEL_3D = {
    "model.vp": "vp3.npy",
    "model.epsilon": 0.1,
    "model.delta": 0.05,
    "model.axes": "zyx",
    "model.spacing": list(SPACING_3D),
    "model.origin": list(ORIGIN_3D),
    "acquisition.sources": {"x": [1031.0, 1091.0, 60.0], "y": 2048.0, "z": 18.5},
    "acquisition.receivers": {"x": [-30.0, 30.0, 20.0], "y": [-24.0, 24.0, 24.0], "z": 9.0, "relative": True},
    "acquisition.sample_interval": INTERVAL,
    "wavelet.kind": "ormsby",
    "wavelet.corners": [2.0, 8.0, 25.0, 35.0],
    "propagation.duration": 0.1,
    "propagation.boundary": {"kind": "pml", "width": 6},
    "imaging.laplacian": False,
}
MIGRATE_3D = {
    **{k: v for k, v in MODEL_3D.items() if not k.startswith(("acquisition", "propagation.duration"))},
    "acquisition.gathers": "out/*.segy",
    "output.directory": "image",
}


def volume(path: Path) -> tuple[np.ndarray, tuple, tuple, tuple]:
    """Values, spacing, origin, labels."""
    with open_volume(path.name, path.parent) as v:
        return v.read([0] * len(v.info.shape), v.info.shape), v.info.spacing, v.info.origin, v.info.labels


@pytest.fixture(scope="module", params=["2D", "3D"])
def round_trip(request, tmp_path_factory):
    """A folder in which `model` and then `migrate` have run, and its dimension."""
    folder = tmp_path_factory.mktemp("round trip")  # with a blank in its name
    inputs(folder)
    np.save(folder / "vp3.npy", np.full(SHAPE_3D[::-1], 2500.0))
    two = request.param == "2D"
    survey(folder, MODEL if two else MODEL_3D, "model.toml")
    migrate = MIGRATE | {"acquisition.gathers": "out/shots.segy", "output.directory": "image"}
    survey(folder, migrate if two else MIGRATE_3D, "migrate.toml")
    for command in ("model", "migrate"):
        # The survey's folder, not the current one, is where its paths start.
        done = call(command, f"{folder.name}/{command}.toml", "--quiet", cwd=folder.parent)
        assert (done.code, done.out, done.err) == (0, "", "")
    return folder, request.param


def test_files(round_trip):
    folder, dimension = round_trip
    assert {p.name for p in (folder / "out").iterdir()} == {"shots.segy", "run.json", "report.html"}
    volumes = ["image", "image-illumination"] + (["image-laplacian"] if dimension == "2D" else [])
    wanted = {f"{name}.rsf{end}" for name in volumes for end in ("", "@")} | {
        "image.png",
        "run.json",
        "report.html",
        "journal",
    }
    assert {p.name for p in (folder / "image").iterdir()} == wanted
    assert (folder / "image" / "image.png").read_bytes().startswith(b"\x89PNG")


def test_image_lies_where_the_model_lies(round_trip):
    folder, dimension = round_trip
    two = dimension == "2D"
    for name in ("image", "image-illumination"):
        values, spacing, origin, labels = volume(folder / "image" / f"{name}.rsf")
        assert values.shape == ((NX, NZ) if two else SHAPE_3D)
        assert spacing == ((SPACING, SPACING) if two else SPACING_3D)
        assert origin == ((0.0, 0.0) if two else ORIGIN_3D)
        assert labels == (("x", "z") if two else ("x", "y", "z"))
        assert np.isfinite(values).all()
        assert np.ptp(values) > 0


def test_shots_have_the_headers_that_others_read(round_trip):
    folder, dimension = round_trip
    two = dimension == "2D"
    sources = [SOURCE] if two else [(1031.0, 2048.0, 18.5), (1091.0, 2048.0, 18.5)]
    count = NX if two else 12
    with segyio.open(folder / "out" / "shots.segy", ignore_geometry=True) as file:
        assert file.tracecount == count * len(sources)
        assert segyio.tools.dt(file) == 1e6 * INTERVAL
        assert len(file.samples) == (SAMPLES if two else 26)
        for trace, head in enumerate(file.header):
            x, y, z = sources[trace // count]
            channel = trace % count
            if two:
                rx, ry, rz = SPACING * channel, 0.0, 20.0
            else:
                rx, ry, rz = x - 30 + 20 * (channel % 4), y - 24 + 24 * (channel // 4), 9.0
            flat, tall = (
                -1 / scalar if scalar < 0 else scalar for scalar in (head[segyio.su.scalco], head[segyio.su.scalel])
            )
            assert (head[segyio.su.fldr], head[segyio.su.tracf]) == (trace // count + 1, channel + 1)
            found = [head[key] * flat for key in (segyio.su.sx, segyio.su.sy, segyio.su.gx, segyio.su.gy)]
            assert found == pytest.approx([x, y, rx, ry])
            assert [head[segyio.su.sdepth] * tall, -head[segyio.su.gelev] * tall] == pytest.approx([z, rz])
            assert head[segyio.su.offset] == round(rx - x if two else np.hypot(rx - x, ry - y))
            assert (head[segyio.su.ns], head[segyio.su.dt]) == (len(file.samples), 1e6 * INTERVAL)
        assert np.isfinite(file.trace.raw[:]).all()
        assert np.abs(file.trace.raw[:]).max() > 0


def test_records_keep_to_their_schema(round_trip):
    folder, dimension = round_trip
    schema = json.loads(SCHEMA.read_text())
    for command, output in (("model", "out"), ("migrate", "image")):
        found = json.loads((folder / output / "run.json").read_text())
        jsonschema.validate(found, schema)
        assert found["command"][:2] == ["fathometer", command]
        assert found["results"]["shots"] == (1 if dimension == "2D" else 2)
        assert found["results"]["grid"]["shape"] == ([NX, 1, NZ] if dimension == "2D" else list(SHAPE_3D))
        for path in found["results"]["files"].values():
            assert (folder.parent / path).is_file()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the inputs, and the results of one rank in out (model) and image (migrate)."""
    folder = tmp_path_factory.mktemp("ranks")
    inputs(folder)
    vti = {"model.epsilon": 0.2, "model.delta": 0.1}
    survey(folder, MODEL | vti, "model.toml")
    survey(folder, MIGRATE | vti | {"output.directory": "image"}, "migrate.toml")
    for command in ("model", "migrate"):
        assert call(command, folder / f"{command}.toml", "--quiet", "--threads", 1).code == 0
    return folder


def results(folder: Path) -> dict[str, bytes]:
    names = ("out/shots.segy", "image/image.rsf@", "image/image-laplacian.rsf@", "image/image-illumination.rsf@")
    return {name: (folder / name).read_bytes() for name in names}


def test_ranks_change_no_byte(folder):
    wanted = results(folder)
    done = call("model", folder / "model.toml", "--ranks", 2, "--threads", 1, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    ranks = json.loads((folder / "out" / "run.json").read_text())["machine"]["binding"]
    assert [(rank["rank"], rank["threads"]) for rank in ranks] == [(0, 1), (1, 1)]
    done = finish(start(*mpirun(2), *program(), "migrate", folder / "migrate.toml", "--overwrite"))
    assert done.code == 0, done.err
    assert "2 ranks as 2 x 1 x 1" in done.err
    assert results(folder) == wanted


def test_json_of_ranks_is_the_record_and_nothing_else(folder):
    done = call("model", folder / "model.toml", "--ranks", 2, "--json")
    assert done.code == 0
    assert json.loads(done.out) == json.loads((folder / "out" / "run.json").read_text())
    assert "model: 1 of 1 shots done" in done.err


# Options that bear on different things are tried together.
OPTIONS = [
    {"imaging.condition": "source-normalised", "imaging.every": 3, "output.image": "depth.npy"},
    {"propagation.top": "free-surface", "propagation.precision": "float64", "propagation.duration": 0.1},
    {
        "propagation.boundary": {"kind": "sponge", "width": 12},
        "acquisition.mute": {"velocity": 1500.0, "taper": 0.02},
        "acquisition.source_depth": 30.0,
    },
    {"model.vp": 2200.0, "model.epsilon": "epsilon.npy", "imaging.laplacian": False},
    {"model.vp": "m.npy", "model.units": "s2/km2", "propagation.order": 16},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options))
def test_options_of_migration(options, tmp_path, folder, capsys):
    inputs(tmp_path)
    np.save(tmp_path / "epsilon.npy", np.linspace(0, 0.2, NX * NZ).reshape(NX, NZ))
    np.save(tmp_path / "m.npy", (1000 / velocity()) ** 2)
    done = run(capsys, "migrate", survey(tmp_path, MIGRATE | options), "--json", "--quiet")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)["results"]
    name = options.get("output.image", "image.rsf")
    values, spacing, *_ = volume(tmp_path / "out" / name)
    assert values.shape == (NX, NZ)
    assert spacing == ((SPACING, SPACING) if name.endswith(".rsf") else None)
    assert values.dtype == np.dtype(options.get("propagation.precision", "float32"))
    assert np.isfinite(values).all()
    assert np.abs(values).max() > 0
    image, *_ = volume(folder / "image" / "image.rsf")  # VTI, with everything else as it is by default
    assert not np.array_equal(values, image)
    assert found["imaging_step"] == options.get("imaging.every", found["imaging_step"])
    assert found["samples"] == (26 if "propagation.duration" in options else SAMPLES)
    above = 0 if "propagation.top" in options else options.get("propagation.boundary", {"width": 10})["width"]
    assert found["grid"]["padding_cells"][2][0] == above
    assert ("laplacian" in found["files"]) is options.get("imaging.laplacian", True)


def test_an_imaging_step_does_not_change_what_is_modelled(folder, tmp_path, capsys):
    inputs(tmp_path)
    keys = MODEL | {"model.epsilon": 0.2, "model.delta": 0.1, "imaging.every": 100000}
    assert run(capsys, "model", survey(tmp_path, keys), "--quiet").code == 0
    assert (tmp_path / "out" / "shots.segy").read_bytes() == (folder / "out" / "shots.segy").read_bytes()


def test_quiet_says_nothing_and_otherwise_all_is_told(folder, capsys):
    done = run(capsys, "model", folder / "model.toml", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    done = run(capsys, "model", folder / "model.toml", "--threads", 2)
    assert (done.code, done.out) == (0, "")
    step = "% of the limit, time dispersion corrected)"
    space = "cells per shortest wavelength (order 8, taylor weights)"
    for words in ("VTI model, 60 x 50 cells", step, space, "1 rank as 1 x 1 x 1", "shots.segy", "run.json"):
        assert words in done.err
    binding = json.loads((folder / "out" / "run.json").read_text())["machine"]["binding"]
    assert binding[0]["threads"] == 2


def test_a_command_leaves_the_process_as_it_was(folder, capsys):
    handlers = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    mask = os.sched_getaffinity(0)
    assert run(capsys, "model", folder / "model.toml", "--quiet").code == 0
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == handlers
    assert os.sched_getaffinity(0) == mask


def test_info(folder, tmp_path, capsys):
    done = run(capsys, "info", folder / "vp.npy", folder / "recorded.segy")
    assert (done.code, done.err) == (0, "")
    for words in (
        "40 × 30",
        "2000 to 2500",
        "kind               gathers",
        "51 every 0.004 s",
        "source x           200 m",
    ):
        assert words in done.out
    done = run(capsys, "info", folder / "image" / "image.rsf", "--json")
    [found] = json.loads(done.out)
    assert (found["shape"], found["spacing_metres"], found["axes"]) == ([NX, NZ], [10.0, 10.0], ["x", "z"])


def test_info_of_picks(tmp_path, capsys):
    (tmp_path / "picks.txt").write_text("0 0.5 2000\n0 1.5 2400\n100 1 2222\n")
    done = run(capsys, "info", tmp_path / "picks.txt")
    assert (done.code, done.err) == (0, "")
    for words in ("velocity picks, 2D", "2, with 1 to 2 picks each", "2000 to 2400 m/s", "2000 to 2576.82 m/s"):
        assert words in done.out
    done = run(capsys, "info", tmp_path / "picks.txt", "--json")
    assert json.loads(done.out)[0]["picks"] == 3


@pytest.mark.parametrize("name", ["vp.npy", "recorded.segy", "image/image.rsf"])
def test_info_draws(name, folder, tmp_path, capsys):
    done = run(capsys, "info", folder / name, "--picture", tmp_path / "a picture.png")
    assert (done.code, done.err) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["a picture.png"]
    assert (tmp_path / "a picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["nope.npy"], 2, "nope.npy: no such file"),
        (["vp.npy", "nope.rsf"], 2, "nope.rsf: no such file"),
        ([""], 2, "unknown kind of file"),
        (["survey.toml"], 2, "survey.toml: unknown kind of file; allowed: volumes (models, images) .rsf"),
        (["."], 2, "unknown kind of file"),
        (["vp.npy", "recorded.segy", "--picture", "a.png"], 2, "--picture a.png: draws one FILE, found 2"),
        (["vp.npy", "--picture", "vp.npy"], 2, "--picture vp.npy: allowed: the name of a .png, .pdf or .svg file"),
        (["vp.npy", "--picture", "none/a.png"], 1, "none/a.png: cannot be written: No such file or directory"),
        (["picks.txt", "--picture", "a.png"], 2, "--picture: found with picks.txt, a text of picks"),
        (["picks.txt"], 2, "picks.txt: no such file"),
        ([], 2, "the following arguments are required: FILE"),
    ],
)
def test_info_of_what_is_wrong(words, code, says, tmp_path, monkeypatch, capsys):
    inputs(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = run(capsys, "info", *words)
    assert done.code == code
    [line] = done.err.splitlines()
    assert line.startswith("fathometer: error: ")
    assert says in line
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_reader_that_has_seen_enough_is_no_error(folder):
    process = start(*program(), "info", folder / "vp.npy")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    done = finish(process)
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command, capsys):
    done = run(capsys, command, "--help")
    assert (done.code, done.err) == (0, "")
    assert f"examples:\n  fathometer {command}" in done.out


@pytest.mark.parametrize(("command", "file"), [("ocean", "ocean"), ("reactive", "flow"), ("migrate", "survey")])
def test_help_names_keys_of_its_own_input(command, file, capsys):
    text = " ".join(run(capsys, command, "--help").out.split())
    assert f"set a key of the {file} file" in text
    assert ("history.store" in text) == (file == "survey")


def test_help_and_version(capsys):
    done = run(capsys, "--help")
    assert done.code == 0
    assert all(f"\n  {command} " in done.out for command in COMMANDS)
    headings = [line for line in done.out.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert headings == ["applications:", "files and surveys:", "laboratory:", "options:", "examples:"]
    assert "exit codes: 0 done, 1 failed, 2 wrong input, 3 a figure of a study's [gate] got worse, 75" in done.out
    assert run(capsys, "--version").out == f"fathometer {__version__}\n"
    assert run(capsys).code == 2


def processes(words: str) -> list[str]:
    """Running processes on whose command line these words stand."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (
                (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if entry.name.isdecimal()
                else ""
            )
        except OSError:
            continue
        if words in line:
            found.append(line)
    return found


@pytest.mark.parametrize(
    ("ranks", "number", "code"),
    [(1, signal.SIGINT, 75), (1, signal.SIGTERM, 75), (1, signal.SIGHUP, 75), (2, signal.SIGINT, None)],
)
def test_an_interrupt_ends_all_ranks_and_leaves_finished_shots(ranks, number, code, tmp_path):
    path, process = under_way(tmp_path, ranks)
    before = sorted(p for p in tmp_path.iterdir() if p.name != "out")
    os.killpg(process.pid, number)  # as a terminal does: to mpirun as well
    done = finish(process)
    assert done.code == code if code is not None else done.code != 0
    hint = "fathometer: interrupted; --resume goes on with the shots that are not done"
    assert [line for line in done.err.splitlines() if "interrupted" in line] == [hint]
    assert "Traceback" not in done.err
    assert nothing_left(tmp_path, before, "interrupted", "journal")
    deadline = time.monotonic() + PATIENCE
    while processes(str(path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes(str(path)) == []
