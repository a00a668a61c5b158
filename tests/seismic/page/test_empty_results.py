"""Results in which there is nothing, of every seismic command: said at the end, on the page and in the record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import INTERVAL, MIGRATE, MODEL, NX, SAMPLES, call, inputs, run, survey, write_gathers
from elastic_surveys import elastic_survey
from time_survey_support import PATCH, PATCH_SHOTS, PATCH_TRACES, SEED_SAMPLES, record_noise

from fathometer.runs.value_range import ValueRange, range_of, same_everywhere


def left(folder: Path) -> tuple[dict[str, Any], str]:
    """Record and page of a run."""
    return json.loads((folder / "run.json").read_text()), (folder / "report.html").read_text()


def test_ranges_of_values() -> None:
    zeros, ones = range_of(np.zeros((2, 3))), range_of(np.ones(4, np.float32))
    both = ValueRange()
    both.join(zeros)
    assert (zeros.zero, ones.zero, ones.uniform, both.uniform) == (True, False, True, True)
    both.join(ones)
    assert not both.uniform
    assert not ValueRange().uniform  # of no values
    assert not range_of(np.array([0.0, np.nan])).uniform
    assert same_everywhere({"the image": zeros, "all": both, "salinity": range_of(np.full(3, 35.0))}) == [
        "the image is 0 everywhere",
        "salinity is 35 everywhere",
    ]


@pytest.mark.parametrize("ranks", [1, 2])
def test_an_image_of_zeros_ends_with_code_1_and_says_so(tmp_path, capsys, ranks) -> None:
    """Traces of zeros; the files are written, and a run that goes on says the same."""
    inputs(tmp_path)
    write_gathers(tmp_path / "recorded.segy", np.zeros((NX, SAMPLES)))
    words = ["migrate", survey(tmp_path, MIGRATE), *(["--ranks", ranks] if ranks > 1 else [])]
    for more in ([], ["--resume"]):
        done = run(capsys, *words, *more) if ranks == 1 else call(*words, *more)
        assert done.code == 1, done.err
        assert "fathometer: error: nothing was imaged, the image is 0 everywhere: no wave of a source met" in done.err
        assert "note: nothing was imaged" in done.err
        assert (tmp_path / "out" / "image.rsf").exists()
    record, page = left(tmp_path / "out")
    assert record["results"]["nothing_imaged"] in record["validity"]["reasons"]
    assert set(record["results"]["same_everywhere"]) <= set(record["results"]["notes"])
    assert not record["validity"]["valid"]
    assert "nothing was imaged" in page


def test_an_image_says_nothing_of_this_kind(tmp_path, capsys) -> None:
    inputs(tmp_path)
    done = run(capsys, "migrate", survey(tmp_path, MIGRATE))
    record, _ = left(tmp_path / "out")
    assert done.code == 0
    assert "everywhere" not in done.err
    assert not {"same_everywhere", "nothing_imaged"} & record["results"].keys()


def test_an_image_in_time_of_traces_of_zeros(tmp_path, capsys) -> None:
    """The fold is not 0 then, and the line says that the traces are."""
    from fathometer.storage.traces.segy import GatherWriter

    path = record_noise(tmp_path)
    with GatherWriter(path, SEED_SAMPLES, 0.004, PATCH_SHOTS * PATCH_TRACES) as writer:
        for shot in range(PATCH_SHOTS):
            places = np.column_stack([np.linspace(0, 300, PATCH_TRACES), np.zeros((PATCH_TRACES, 2))])
            traces = np.zeros((PATCH_TRACES, SEED_SAMPLES), np.float32)
            writer.write(shot * PATCH_TRACES, shot + 1, (10.0 * shot, 100.0, 0.0), places, traces)
    done = run(capsys, "migrate-time", survey(tmp_path, PATCH))
    assert done.code == 1
    assert "error: nothing was imaged, the image is 0 everywhere: all traces that add to it are 0" in done.err
    record, page = left(tmp_path / "out" / "time")
    assert "nothing was imaged" in page
    assert "the fold is" not in str(record["results"]["notes"])


def test_traces_of_zeros_of_a_modelling(tmp_path, capsys) -> None:
    """Receivers that no step of a short run can have reached, four cells each."""
    np.save(tmp_path / "vp.npy", np.full((1000, 30), 2000.0, np.float32))
    keys = MODEL | {"acquisition.receivers": {"x": [9900.0, 9980.0, 10.0], "z": 20.0}, "propagation.duration": 0.02}
    done = run(capsys, "model", survey(tmp_path, keys))
    assert done.code == 0
    assert "note: nothing was recorded, all traces are 0" in done.err
    record, page = left(tmp_path / "out")
    assert record["validity"]["reasons"][0].startswith("nothing was recorded")
    assert "nothing was recorded" in page


def test_traces_of_zeros_of_elastic_waves(tmp_path, capsys) -> None:
    """A shear stress of a fluid; the map of peak velocities has something."""
    source = {"source__kind": "explosion"} | dict.fromkeys(("source__strike", "source__dip", "source__rake"))
    done = run(capsys, "model", elastic_survey(tmp_path, model__vs=0.0, acquisition__components=["sxz"], **source))
    assert done.code == 0
    assert "note: nothing was recorded, all traces are 0" in done.err
    record, _ = left(tmp_path / "out")
    assert record["validity"]["reasons"][0].startswith("nothing was recorded")


@pytest.mark.parametrize(
    ("snapshots", "notes"),
    [
        ({"fields": ["szz", "vz"], "region": "surface"}, ["szz of the snapshots is 0 everywhere"]),
        ({"every_nodes": 40, "fields": ["vz"]}, ["[snapshots] every_nodes: a single node is kept along x (40 of 26) "]),
        ({}, []),
    ],
)
def test_snapshots_of_zeros_or_of_single_nodes(tmp_path, capsys, snapshots, notes) -> None:
    keys = {f"snapshots__{name}": value for name, value in snapshots.items()}
    done = run(capsys, "model", elastic_survey(tmp_path, propagation__duration=0.08, **keys))
    assert done.code == 0
    record, _ = left(tmp_path / "out")
    told = [note for note in record["results"]["notes"] if "[snapshots]" in note or "the snapshots" in note]
    assert len(told) == len(notes)
    assert all(note.startswith(words.rstrip()) for note, words in zip(told, notes, strict=True))


def test_a_mute_of_all_samples_is_refused_before_a_time_step(tmp_path, capsys) -> None:
    """Traces from 100 m on, 0.2 s long."""
    inputs(tmp_path)
    mute = {"acquisition.mute": {"velocity": 300.0}, "acquisition.conditioning": {"offsets": [100.0, 200.0]}}
    done = run(capsys, "migrate", survey(tmp_path, MIGRATE | mute))
    assert done.code == 2
    assert "[acquisition] mute.velocity: found 300; at the least offset, 100 m, the mute ends at 0.333333 s" in done.err
    assert not (tmp_path / "out" / "image.rsf").exists()
    half = mute | {"acquisition.mute": {"velocity": 600.0}}  # of the nearest trace alone the end is left
    assert run(capsys, "migrate", survey(tmp_path, MIGRATE | half)).code == 0


@pytest.mark.parametrize(
    ("commands", "keys", "words"),
    [
        (
            ("migrate", "migrate-time"),
            {"acquisition.mute": {"velocity": 2000.0, "taper": 0.3}},
            "[acquisition] mute.taper: found 0.3 s, longer than the traces, 0.2 s, which would nowhere be whole; "
            "allowed: up to 0.2 s",
        ),
        (
            ("migrate", "migrate-time"),
            {"acquisition.conditioning": {"band_pass": [0.005, 0.01, 0.045, 0.06]}},  # kHz
            "conditioning.band_pass: found 0.005 to 0.06 Hz; the traces, 0.204 s long, have frequencies every 4.902 Hz",
        ),
        (
            ("migrate", "migrate-time"),
            {"acquisition.conditioning": {"band_pass": [10.0, 11.0, 12.0, 13.0]}},
            "found 10 to 13 Hz; the traces",
        ),
        (
            ("migrate",),
            {"acquisition.conditioning": {"band_pass": [40.0, 50.0, 60.0, 70.0]}},
            "conditioning.band_pass: found 40 to 70 Hz, and the wavelet has 1.65 to 37.5 Hz: nothing is left",
        ),
        (
            ("migrate",),
            {
                "wavelet": {"kind": "ormsby", "corners": [40.0, 45.0, 50.0, 55.0]},
                "acquisition.conditioning": {"band_pass": [5.0, 10.0, 20.0, 30.0]},
            },
            "found 5 to 30 Hz, and the wavelet has 40 to 55 Hz",
        ),
    ],
)
def test_filters_that_leave_nothing_are_refused(tmp_path, capsys, commands, keys, words) -> None:
    inputs(tmp_path)
    base = {key: value for key, value in MIGRATE.items() if not ("wavelet" in keys and key.startswith("wavelet"))}
    flat = {f"wavelet.{name}": value for name, value in keys.get("wavelet", {}).items()}
    rest = {key: value for key, value in keys.items() if key != "wavelet"}
    for command in commands:
        in_time = {"time_migration.velocity": 2000.0} if command == "migrate-time" else {}
        done = run(capsys, command, survey(tmp_path, base | flat | rest | in_time))
        assert done.code == 2
        assert words in done.err


@pytest.mark.parametrize("command", ["migrate", "migrate-time"])
def test_next_to_nothing_left_of_the_traces_is_said(tmp_path, capsys, command) -> None:
    """Of 110 Hz beside a band of up to 40 Hz; the balance after it would hide it."""
    inputs(tmp_path)
    t = INTERVAL * np.arange(SAMPLES) - 0.1
    tone = np.cos(2 * np.pi * 110.0 * t) * np.exp(-((t / 0.025) ** 2))
    write_gathers(tmp_path / "recorded.segy", np.tile(tone, (NX, 1)))
    keys = MIGRATE | {"time_migration.velocity": 2000.0} if command == "migrate-time" else dict(MIGRATE)
    conditioning = {"band_pass": [0.0, 10.0, 20.0, 40.0], "balance": {"kind": "rms"}}
    path = survey(tmp_path, keys | {"acquisition.conditioning": conditioning})
    done = run(capsys, command, path)
    assert done.code == 0
    assert "note: [acquisition] conditioning and mute leave next to nothing of the traces: their RMS is 0.2" in done.err
    assert "see band-pass" in done.err
    record, _ = left(tmp_path / "out" / ("time" if command == "migrate-time" else ""))
    assert any("leave next to nothing" in note for note in record["results"]["notes"])


@pytest.mark.parametrize(("weak", "told"), [(3, True), (1, False)])
def test_many_dead_traces_are_counted(tmp_path, capsys, weak, told) -> None:
    inputs(tmp_path)
    traces = np.random.default_rng(5).standard_normal((NX, SAMPLES))
    traces[:weak] *= 1e-3
    write_gathers(tmp_path / "recorded.segy", traces)
    done = run(capsys, "migrate", survey(tmp_path, MIGRATE | {"acquisition.conditioning": {"dead_below": 0.01}}))
    assert done.code == 0
    assert ("conditioning.dead_below: 3 of 40 traces are dead" in done.err) == told
    assert "next to nothing" not in done.err


def test_an_image_in_depth_of_zeros_is_said(tmp_path, capsys) -> None:
    """Of traces of zeros: the stretched image is named beside the other."""
    inputs(tmp_path)
    write_gathers(tmp_path / "recorded.segy", np.zeros((NX, SAMPLES)))
    keys = MIGRATE | {"time_migration.velocity": 2000.0, "time_migration.depth": True}
    assert run(capsys, "migrate-time", survey(tmp_path, keys)).code == 1
    record, _ = left(tmp_path / "out" / "time")
    assert "the image in depth is 0 everywhere" in record["results"]["notes"]
