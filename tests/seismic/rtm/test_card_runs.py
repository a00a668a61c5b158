"""Surveys that ask for a graphics card, or may take one: on ranks, with receivers between cells, and where there is no
card, or too little of it. On what stands for a card, whose driver and memory are told by the environment."""

import os
import re

import numpy as np
import pytest
from card_support import forget
from card_surveys import processor_of, results
from cli_support import (
    INTERVAL,
    MIGRATE,
    MODEL,
    RECEIVERS,
    SAMPLES,
    SOURCE,
    here,
    inputs,
    nothing_left,
    survey,
)

from fathometer.base.errors import FathometerError
from fathometer.runs import contributions
from fathometer.seismic.waves.card_library import LIBRARY
from fathometer.storage.traces.segy import GatherWriter

GPU, CPU, AUTO = ({"parallel.processor": name} for name in ("gpu", "cpu", "auto"))


@pytest.fixture(autouse=True)
def _another_card():
    yield
    forget()


@pytest.mark.parametrize("free", [False, True])
def test_modelling_with_receivers_between_cells(card, tmp_path, free):
    inputs(tmp_path)
    keys = {
        "acquisition.sources": {"x": [150.0, 201.0, 51.0], "z": 23.0},
        "acquisition.receivers": {"x": [41.0, 347.0, 17.0], "z": 26.5},
        "model.epsilon": 0.1,
    }
    keys |= {"propagation.top": "free-surface"} if free else {}
    wanted, _ = results(tmp_path, "cpu", keys | CPU, MODEL, "model")
    found, record = results(tmp_path, "gpu", keys | GPU, MODEL, "model")
    assert found == wanted
    assert processor_of(record) == "gpu"


@pytest.mark.parametrize(
    ("ranks", "keys"),
    [
        (2, {"parallel.ranks_per_shot": "all"}),
        (3, {"parallel.decomposition": [1, 3]}),
        (0, {"imaging.aperture": 150.0}),
    ],
)
def test_migrations_on_ranks(card, tmp_path, ranks, keys):
    inputs(tmp_path)
    cpu = {name: value for name, value in keys.items() if name.startswith("imaging")} | CPU
    wanted, _ = results(tmp_path, "cpu", cpu)
    found, record = results(tmp_path, "gpu", keys | GPU, ranks=ranks)
    assert found == wanted
    assert processor_of(record) == "gpu"


def test_three_dimensions(card, tmp_path):
    """Modelled and migrated, with a history in the host's memory."""
    vp = np.full((10, 9, 12), 2000.0, np.float32)
    vp[..., 6:] = 2400.0
    np.save(tmp_path / "vp.npy", vp)
    shape = {"model.spacing": [10.0] * 3, "propagation.boundary": {"kind": "pml", "width": 4}}
    shape |= {"wavelet.peak_frequency": 12.0}
    shots = MODEL | shape | {"acquisition.sources": {"x": 42.0, "y": 46.0, "z": 20.0}, "propagation.duration": 0.04}
    shots |= {"acquisition.receivers": {"x": [3.0, 87.0, 21.0], "y": [10.0, 60.0, 50.0], "z": 20.0}}
    wanted, _ = results(tmp_path, "cpu", CPU, shots, "model")
    found, _ = results(tmp_path, "gpu", GPU, shots, "model")
    assert found == wanted
    image = MIGRATE | shape | {"acquisition.gathers": "cpu/shots.segy", "history.store": "memory"}
    wanted, _ = results(tmp_path, "cpu-image", CPU, image)
    found, record = results(tmp_path, "gpu-image", GPU, image)
    assert found == wanted
    assert record["results"]["history"]["store"] == "memory"


def test_shots_beside_each_other(card, tmp_path, monkeypatch):
    """The next shot is read, and the image of the one before written and summed, beside the steps: the same bits, with
    bins of offset too; each phase is accounted as overlapped."""
    monkeypatch.delenv("MPI4PY_RC_THREAD_LEVEL", raising=False)  # of another test's command in this process
    shots(tmp_path, 5)
    keys = {"imaging.gathers": "offset", "imaging.offset_bins": [0.0, 60.0, 400.0]}
    for more in ({}, keys):
        wanted, _ = results(tmp_path, "cpu", more | CPU)
        found, record = results(tmp_path, "gpu", more | GPU, ranks=1)  # an MPI for threads, whatever began it here
        assert found == wanted
        beside = {entry["phase"] for entry in record["ledger"]["overlapped"]}
        assert {"resample traces", "read traces", "write partial image", "sum images"} <= beside


@pytest.mark.parametrize("bad", [0, 2, 4])
def test_a_shot_that_cannot_be_read_beside_another(card, tmp_path, bad):
    """It is set aside, as where it is read in its turn."""
    shots(tmp_path, 5, bad)
    told = []
    for name, kind in (("cpu", CPU), ("gpu", GPU)):
        path = survey(tmp_path, MIGRATE | kind | {"output.directory": name}, f"{name}.toml")
        done = here("migrate", path, "--quiet")
        assert done.code == 1
        told.append(done.err.replace(name, ""))
        assert (tmp_path / name / "image.rsf@").read_bytes()
    assert told[0] == told[1]
    assert (tmp_path / "cpu" / "image.rsf@").read_bytes() == (tmp_path / "gpu" / "image.rsf@").read_bytes()


def test_an_image_that_cannot_be_written_beside_the_next_shot(card, tmp_path, monkeypatch):
    """One error, of the file; what had been finished is gone on with."""
    shots(tmp_path, 5)
    wanted, _ = results(tmp_path, "cpu", CPU)
    path = survey(tmp_path, MIGRATE | GPU | {"output.directory": "gpu"}, "gpu.toml")
    write, written = contributions.write_volume, []

    def full(path, *words):
        written.append(path)
        if len(written) == 4:
            raise FathometerError(f"{path}: No space left on device")
        return write(path, *words)

    monkeypatch.setattr(contributions, "write_volume", full)
    done = here("migrate", path, "--quiet")
    assert done.code == 1
    [line] = [line for line in done.err.splitlines() if "No space left" in line]
    assert "000" in line
    monkeypatch.setattr(contributions, "write_volume", write)
    done = here("migrate", path, "--resume")
    assert done.code == 0, done.err
    assert "resumed: 1 of 5 shots are done" in done.out + done.err
    assert (tmp_path / "gpu" / "image.rsf@").read_bytes() == wanted["image.rsf@"]


def shots(folder, count, bad=None):
    """A model and gathers of some shots; of one the samples are no numbers."""
    inputs(folder)
    rng = np.random.default_rng(3)
    with GatherWriter(folder / "recorded.segy", SAMPLES, INTERVAL, count * len(RECEIVERS)) as writer:
        for shot in range(count):
            traces = rng.standard_normal((len(RECEIVERS), SAMPLES)) * np.hanning(SAMPLES)
            writer.write(shot * len(RECEIVERS), shot + 1, np.add(SOURCE, (20.0 * shot, 0, 0)), RECEIVERS, traces)
    if bad is not None:
        with (folder / "recorded.segy").open("r+b") as file:
            file.seek(3600 + bad * len(RECEIVERS) * (240 + 4 * SAMPLES) + 240)
            file.write(np.array(np.nan, ">f4").tobytes())


def refused(folder, keys, base=MIGRATE, command="migrate"):
    """The one line of a survey that is refused before its first step."""
    inputs(folder)
    path = survey(folder, base | keys)
    before = sorted(folder.iterdir())
    done = here(command, path, "--quiet")
    assert done.code == 2, done.err
    [line] = done.err.strip().splitlines()
    assert nothing_left(folder, before, done.err)
    return line


@pytest.mark.parametrize("command", ["migrate", "model"])
def test_without_the_extension(monkeypatch, tmp_path, command):
    monkeypatch.delenv(LIBRARY, raising=False)
    monkeypatch.setattr("fathometer.seismic.waves.card_library.built_library", lambda name: None)
    forget()
    line = refused(tmp_path, GPU, MIGRATE if command == "migrate" else MODEL, command)
    assert "survey.toml: [parallel]" in line
    assert 'processor "gpu": the program was built without its kernels for graphics cards; ' in line
    assert "make cuda" in line


def test_an_extension_that_is_none(monkeypatch, tmp_path):
    monkeypatch.setenv(LIBRARY, os.devnull)
    forget()
    assert 'processor "gpu": the kernels for graphics cards cannot be loaded (' in refused(tmp_path, GPU)
    _, record = results(tmp_path, "auto", AUTO)
    assert processor_of(record) == "cpu"


def test_without_a_driver(emulated, monkeypatch, tmp_path):
    monkeypatch.setenv("EMULATED_CARD_NONE", "1")
    forget()
    assert 'processor "gpu": found no driver of NVIDIA; needed: one, or the processor "cpu"' in refused(tmp_path, GPU)
    _, record = results(tmp_path, "auto", AUTO)
    assert processor_of(record) == "cpu"


def test_a_card_that_is_too_old(emulated, monkeypatch, tmp_path):
    monkeypatch.setenv("EMULATED_CARD_CAPABILITY", "7")
    forget()
    assert "found emulated card of compute capability 7.0; needed: 8.0" in refused(tmp_path, GPU)
    _, record = results(tmp_path, "auto", AUTO)
    assert processor_of(record) == "cpu"


def test_too_little_memory(emulated, monkeypatch, tmp_path):
    monkeypatch.setenv("EMULATED_CARD_BYTES", "100000")
    forget()
    line = refused(tmp_path, GPU)
    assert (
        'survey.toml: [parallel] processor: found "gpu"; too little memory on the graphics card (emulated card):'
        in line
    )
    assert re.search(r"[\d.]+ [kM]B needed by a rank, of 95 kB \(wavefields [\d.]+ [kM]B, ", line)
    assert line.endswith('or processor = "cpu"')
    path = survey(tmp_path, MIGRATE | AUTO)
    done = here("migrate", path)
    assert done.code == 0, done.err
    assert "the processors take the time steps: too little memory on the graphics card" in done.err


def test_a_history_that_the_card_has_no_room_for(emulated, monkeypatch, tmp_path):
    """It goes into the host's memory; where the survey wants it on the card, one line says what is needed."""
    inputs(tmp_path)
    wanted, record = results(tmp_path, "all", GPU)
    assert record["results"]["history"]["store"] == "card"
    monkeypatch.setenv("EMULATED_CARD_BYTES", "250000")
    forget()
    found, record = results(tmp_path, "little", GPU)
    assert record["results"]["history"]["store"] == "memory"
    assert found == wanted
    folder = tmp_path / "refused"
    folder.mkdir()
    line = refused(folder, GPU | {"history.store": "card"})
    assert re.search(r"\[history\]: card with float32 needs [\d.]+ [kM]B of the card's memory a rank, of ", line)


def test_a_card_that_has_just_enough_memory(emulated, monkeypatch, tmp_path):
    """A run that is not refused has all the memory that it asks for, with a few receivers too."""
    np.save(tmp_path / "vp.npy", np.full((120, 100), 2000.0, np.float32))
    with GatherWriter(tmp_path / "recorded.segy", SAMPLES, INTERVAL, 2) as writer:
        writer.write(0, 7, SOURCE, RECEIVERS[10:12], np.ones((2, SAMPLES)) * np.hanning(SAMPLES))
    path = survey(
        tmp_path, MIGRATE | GPU | {"history.store": "disk", "propagation.boundary": {"kind": "pml", "width": 4}}
    )
    for bytes in range(549_000, 600_000, 3000):
        monkeypatch.setenv("EMULATED_CARD_BYTES", str(bytes))
        forget()
        done = here("migrate", path, "--quiet")
        if done.code == 0:
            break
        assert "too little memory on the graphics card" in done.err
    assert 549_000 < bytes < 590_000


def test_a_history_on_a_card_that_is_not_there(tmp_path):
    line = refused(tmp_path, CPU | {"history.store": "card"})
    assert '[history] store: found "card" without a graphics card; allowed: auto, memory, disk, checkpoint' in line


def test_the_option_stands_for_the_key(card, tmp_path):
    inputs(tmp_path)
    path = survey(tmp_path, MIGRATE)
    done = here("migrate", path, "--processor", "gpu")
    assert done.code == 0, done.err
    assert "time steps on a graphics card: " in done.err
    done = here("migrate", path, "--processor", "cpu", "--overwrite")
    assert "graphics card" not in done.err
