"""What the ways to keep the history add to a migration: time of the whole command, bytes, and what they lose."""

from __future__ import annotations

import json
import tempfile
import tomllib
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.command import fathometer
from benchmarks.table import Table
from fathometer.config.toml_text import toml_file
from fathometer.lab.io.device import Device
from fathometer.seismic.survey import survey_of
from fathometer.seismic.traces.wavelet import wavelet_of
from fathometer.storage.volumes.volume import open_volume

STEPS, EVERY, STEP, INTERVAL, SPACING, SIDES = 600, 5, 0.0016, 0.004, 10.0, 8

# name: keys of [history]; a budget is a share of all plain snapshots.
WAYS: dict[str, dict[str, Any]] = {
    "memory, float32": {"store": "memory"},
    "disk, float32": {"store": "disk"},
    "disk, float32, direct": {"store": "disk", "direct": True},
    "memory, float16": {"store": "memory", "encoding": "float16"},
    "memory, int8": {"store": "memory", "encoding": "int8"},
    "memory, zfp": {"store": "memory", "encoding": "zfp"},
    "checkpoint, 45 %": {"store": "checkpoint", "memory_budget": 0.45},
    "checkpoint, 20 %, int8": {"store": "checkpoint", "memory_budget": 0.2, "encoding": "int8"},
}
PLAIN = next(iter(WAYS))


def history(threads: int, quick: bool) -> Table:
    """Migrate one shot on two ranks in every way, in turns."""
    full = (64, 60, 56) if quick else (240, 240, 200)
    shape = tuple(n - 2 * SIDES for n in full)
    rounds = 1 if quick else 2
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        surveys = prepare(folder, shape)
        fathometer("migrate", surveys[PLAIN], "--quiet", "--overwrite", "--ranks", 2)  # finds the tiling
        for _ in range(rounds):
            for way, survey in surveys.items():
                times[way].append(fathometer("migrate", survey, "--quiet", "--overwrite", "--ranks", 2))
        runs = {way: json.loads((folder / slug(way) / "run.json").read_text()) for way in WAYS}
        images = {way: read(folder / slug(way) / "image.rsf") for way in WAYS}
    plain = sum(rank["logical_bytes"] for rank in runs[PLAIN]["results"]["history"]["ranks"])
    rows = []
    for way, run in runs.items():
        kept = run["results"]["history"]
        ratios = [mine / base for mine, base in zip(times[way], times[PLAIN], strict=True)]
        stored = sum(rank["stored_bytes"] for rank in kept["ranks"])
        held = sum(rank["held_bytes"] for rank in kept["ranks"])
        error = np.linalg.norm(images[way] - images[PLAIN]) / np.linalg.norm(images[PLAIN])
        files = {(f["direction"]): f for f in run["ledger"]["files"] if f["kind"] == "history"}
        rates = [f"{1e-9 * files[d]['bytes_per_second']:.2f}" for d in ("write", "read") if d in files]
        rows.append(
            (
                way,
                f"{median(times[way]):.1f}",
                f"{median(ratios):.2f}",
                f"{held / plain:.3f}",
                f"{stored / plain:.3f}",
                f"{kept['recomputed_imaging_steps'] / (kept['snapshots'] - 1):.2f}",
                " / ".join(rates) or "–",
                f"{error:.1e}",
            )
        )
    padded = run["results"]["grid"]["padded_shape"]
    live = 4 * 4 * np.prod(padded)
    what = (
        f"Whole `fathometer migrate` commands on 2 ranks, VTI, {' x '.join(map(str, padded))} cells with absorbing "
        f"boundaries, {run['results']['steps']} steps, {kept['snapshots']} snapshots of "
        f"{plain / kept['snapshots'] / 1e6:.1f} MB; {rounds} rounds in turns, medians; the ratio is to the first way "
        f"in the same round. Bytes are over those of all plain snapshots ({plain / 1e9:.2f} GB): what is held in "
        "memory for snapshots and states, and what was stored in all. The live fields of a second wavefield, which "
        f"checkpoints need, are not in it: {live / 1e9:.2f} GB, {live / plain:.2f} of the plain history. Rates are "
        "those of the files from open to close, both ranks together, GB/s; the error is the image's, relative L2."
    )
    return Table(
        "Histories",
        what,
        ("store, encoding", "s", "ratio", "held", "stored", "computed again", "write / read", "error"),
        tuple(rows),
    )


LOOPS = ("source propagation", "receiver propagation", "history push", "history pop", "halo exchange")


def saturated(threads: int, quick: bool) -> Table:
    """A history on a disk that does not keep up with the time steps: a snapshot each step, past the system's cache."""
    full = (64, 60, 56) if quick else (240, 240, 200)
    rounds, steps = (1, 100) if quick else (3, 200)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keys = {"store": "disk", "direct": True}
        prepare(folder, tuple(n - 2 * SIDES for n in full), steps)
        survey = folder / "saturated.toml"
        base = tomllib.loads((folder / f"{slug(PLAIN)}.toml").read_text())
        survey.write_text(
            toml_file(base | {"history": keys, "imaging": {"every": 1}, "output": {"directory": "saturated"}})
        )
        words = ("migrate", survey, "--quiet", "--overwrite", "--ranks", 2)
        fathometer(*words)  # finds the tiling
        noise = np.random.default_rng(1).standard_normal(1 << 23)
        for number in range(rounds):
            device = Device(folder, (1 << 26) if quick else (1 << 32), noise)
            raw = [device.write(True), device.read(True)]
            device.path.unlink()
            fathometer(*words)
            record = json.loads((folder / "saturated" / "run.json").read_text())
            moved = sum(rank["stored_bytes"] for rank in record["results"]["history"]["ranks"])
            seconds = sum(p["seconds"]["mean"] for p in record["ledger"]["phases"] if p["phase"] in LOOPS)
            mine, gives = 2 * moved / seconds, 2 * device.size / sum(one or np.nan for one in raw)
            kept = f"{1e-9 * moved:.2f}"
            rows.append(
                (str(number + 1), kept, f"{seconds:.1f}", f"{1e-9 * mine:.2f}", f"{1e-9 * gives:.2f}", mine / gives)
            )
    middle = median(row[-1] for row in rows)
    what = (
        f"A snapshot every step, {steps} steps of {' x '.join(map(str, full))} cells, on disk with `direct`, 2 ranks: "
        "more than the disk takes. What is moved in the seconds of both loops, over what the device gives to one "
        "process that writes and reads 4 GiB past the cache, four pieces at a time, just before. "
        f"Median {middle:.2f} (wanted: 0.9)."
    )
    shown = tuple((*row[:-1], f"{row[-1]:.2f}") for row in rows)
    return Table("A disk that does not keep up", what, ("round", "GB", "s", "GB/s", "device, GB/s", "ratio"), shown)


def slug(way: str) -> str:
    """A way as the name of a folder."""
    return "-".join(way.replace(",", "").replace("%", "").split())


def read(path: Path) -> np.ndarray:
    """All of a volume."""
    with open_volume(path.name, path.parent) as volume:
        return volume.read([0] * len(volume.info.shape), volume.info.shape)


def prepare(folder: Path, shape: tuple[int, ...], steps: int = STEPS) -> dict[str, Path]:
    """The model, one recorded shot, and a survey for each way."""
    x, y, z = (np.linspace(0, 1, n, dtype=np.float32) for n in shape)
    vp = 1700 + 500 * z + 120 * np.sin(14 * z + 2 * x[:, None, None] + np.cos(5 * y)[:, None])
    np.save(folder / "vp.npy", vp.astype(np.float32))
    common: dict[str, Any] = {
        "model": {"vp": "vp.npy", "epsilon": 0.1, "delta": 0.04, "spacing": [SPACING] * 3},
        "acquisition": {"gathers": "shots/shots.segy"},
        "wavelet": {"kind": "ricker", "peak_frequency": 15.0},
        "propagation": {"dt": STEP, "boundary": {"kind": "pml", "width": SIDES}},
        "imaging": {"every": EVERY},
    }
    lead = wavelet_of(survey_of(common, folder / "survey.toml")).lead
    places: dict[str, Any] = {
        axis: [0.0, SPACING * (8 * ((n - 1) // 8)), 8 * SPACING] for axis, n in zip("xy", shape, strict=False)
    }
    source = {axis: SPACING * (n // 2) for axis, n in zip("xy", shape, strict=False)}
    depth = {"z": 2 * SPACING}
    geometry = common | {
        "acquisition": {"sources": source | depth, "receivers": places | depth, "sample_interval": INTERVAL},
        "propagation": common["propagation"] | {"duration": INTERVAL * int((steps * STEP - lead) / INTERVAL)},
        "output": {"directory": "shots"},
    }
    (folder / "shots.toml").write_text(toml_file(geometry))
    fathometer("model", folder / "shots.toml", "--quiet", "--ranks", 2)
    plain = 4 * int(np.prod(shape)) * (STEPS // EVERY + 1)
    surveys = {}
    for way, keys in WAYS.items():
        kept = dict(keys)
        if "memory_budget" in kept:
            kept["memory_budget"] *= float(plain)
        surveys[way] = folder / f"{slug(way)}.toml"
        surveys[way].write_text(toml_file(common | {"history": kept, "output": {"directory": slug(way)}}))
    return surveys
