"""One bad sample, or a loud trace, among sound ones: what a migration makes of it, and what an index says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import INTERVAL, MIGRATE, RECEIVERS, SAMPLES, call, here, inputs, survey
from index_support import index_of, table_of

from fathometer.storage.index.table import TraceIndex
from fathometer.storage.traces.segy import GatherWriter

SOURCES = {7: 150.0, 8: 250.0}  # by FFID
BAD = 12  # trace of the second shot
TREATMENT = "acquisition.conditioning.loud_traces"
TIME = {"time_migration.end": 0.2, "time_migration.interval": INTERVAL, "time_migration.aperture": 300.0}


def gathers() -> list[np.ndarray]:
    """Traces (receivers, samples) of both shots: arrivals, and weak noise."""
    times, rng = INTERVAL * np.arange(SAMPLES), np.random.default_rng(5)
    made = []
    for source in SOURCES.values():
        late = times - 0.06 - np.abs(RECEIVERS[:, :1] - source) / 4000.0
        made.append((1 - 2 * (70 * late) ** 2) * np.exp(-((70 * late) ** 2)) + 0.01 * rng.standard_normal(late.shape))
    return made


def write(path: Path, traces: list[np.ndarray]) -> Path:
    with GatherWriter(path, SAMPLES, INTERVAL, len(SOURCES) * len(RECEIVERS)) as writer:
        for k, ((ffid, source), values) in enumerate(zip(SOURCES.items(), traces, strict=True)):
            writer.write(k * len(RECEIVERS), ffid, (source, 0.0, 20.0), RECEIVERS, values)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """clean.segy, muted.segy (with one trace of zeros), spiky.segy (with one bad sample in that trace)."""
    where = tmp_path_factory.mktemp("loud")
    inputs(where)
    write(where / "clean.segy", gathers())
    muted, spiky = gathers(), gathers()
    muted[1][BAD] = 0.0
    spiky[1][BAD, 30] = 1e4 * np.abs(spiky[1]).max()
    write(where / "muted.segy", muted)
    write(where / "spiky.segy", spiky)
    index_of(where / "spiky.segy")
    return where


def migrated(folder: Path, name: str, gathers_file: str, *words: Any, command: str = "migrate", **keys: Any) -> Any:
    values = MIGRATE | {"acquisition.gathers": gathers_file, "output.directory": name}
    path = survey(folder, values | {key.replace("__", "."): value for key, value in keys.items()}, f"{name}.toml")
    done = (call if words else here)(command, path, *words)
    assert done.code == 0, done.err
    return done


def image(folder: Path, name: str) -> np.ndarray:
    return np.fromfile(folder / name / "image.rsf@", np.float32).astype(np.float64)


def same(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.sqrt((one @ one) * (other @ other)))


def test_one_bad_sample_does_not_make_the_image(folder: Path) -> None:
    done = migrated(folder, "spiky", "spiky.segy")
    assert "1 of 80 traces have a spike or are far louder than those beside them: muted" in done.err
    assert f"first: shot 2 (FFID 8), channel {BAD + 1}, whose largest sample is 1" in done.err
    for name in ("clean", "muted"):
        assert "spike" not in migrated(folder, name, f"{name}.segy").err
    assert np.array_equal(image(folder, "spiky"), image(folder, "muted"))
    assert same(image(folder, "spiky"), image(folder, "clean")) > 0.99
    record = json.loads((folder / "spiky" / "run.json").read_text())["results"]
    [step] = [step for step in record["conditioning"] if step["step"] == "loud traces"]
    assert (step["treatment"], step["traces"], step["first"][0]["channel"]) == ("mute", 1, BAD + 1)
    assert any("have a spike" in note for note in record["notes"])
    assert here("migrate", folder / "spiky.toml", "--resume").code == 0


def test_the_index_says_so_and_its_image_is_the_same(folder: Path) -> None:
    rows = table_of(TraceIndex(folder / "survey.parquet"))
    assert np.flatnonzero(np.asarray(rows["flags"]) & 512).tolist() == [len(RECEIVERS) + BAD]
    told = here("info", folder / "survey.parquet").out
    assert "a spike, or far louder than those beside them" in told
    migrated(folder, "indexed", "survey.parquet")
    migrated(folder, "spiky-again", "spiky.segy", "--ranks", 2)
    for name in ("indexed", "spiky-again"):
        assert np.array_equal(image(folder, name), image(folder, "spiky"))


def test_clipped(folder: Path) -> None:
    done = migrated(folder, "clipped", "spiky.segy", acquisition__conditioning={"loud_traces": "clip"})
    assert "clipped to what fits" in done.err
    assert same(image(folder, "clipped"), image(folder, "clean")) > 0.98


def test_kept_and_refused(folder: Path) -> None:
    done = migrated(folder, "kept", "spiky.segy", acquisition__conditioning={"loud_traces": "keep"})
    assert "spike" not in done.err
    assert same(image(folder, "kept"), image(folder, "clean")) < 0.5
    keys = MIGRATE | {"acquisition.gathers": "spiky.segy", "output.directory": "refused"}
    path = survey(folder, keys | {"acquisition.conditioning": {"loud_traces": "refuse"}}, "refused.toml")
    done = here("migrate", path)
    assert done.code == 2
    assert "loud_traces: 1 of 80 traces have a spike" in done.err
    assert not list((folder / "refused").glob("image*")) if (folder / "refused").exists() else True


def test_in_a_time_migration(folder: Path) -> None:
    for name in ("spiky", "muted"):
        done = migrated(
            folder,
            f"t-{name}",
            f"{name}.segy",
            command="migrate-time",
            **{key.replace(".", "__"): value for key, value in TIME.items()},
        )
        assert ("have a spike" in done.err) == (name == "spiky")
    images = [np.fromfile(next((folder / f"t-{name}").rglob("image.rsf@")), np.float32) for name in ("spiky", "muted")]
    assert np.array_equal(*images)


def test_a_loud_trace(folder: Path) -> None:
    traces = gathers()
    traces[0][20] *= 200
    write(folder / "loud.segy", traces)
    done = migrated(folder, "loud", "loud.segy")
    assert "first: shot 1 (FFID 7), channel 21" in done.err
    assert same(image(folder, "loud"), image(folder, "clean")) > 0.98


def test_a_loud_shot_is_clipped_to_what_others_have_with_an_index_too(folder: Path) -> None:
    shots = {7: 150.0, 8: 250.0, 9: 350.0}
    clean = gathers()
    (folder / "three").mkdir()
    with GatherWriter(folder / "three" / "a.segy", SAMPLES, INTERVAL, 3 * len(RECEIVERS)) as writer:
        for k, (ffid, source) in enumerate(shots.items()):
            values = clean[k % 2] * (1e4 if k == 1 else 1)
            writer.write(k * len(RECEIVERS), ffid, (source, 0.0, 20.0), RECEIVERS, values)
    index_of(folder / "three" / "a.segy")
    for name, file in (("clip", "three/a.segy"), ("clip-indexed", "three/survey.parquet")):
        done = migrated(folder, name, file, acquisition__conditioning={"loud_traces": "clip"})
        assert f"{len(RECEIVERS)} of {3 * len(RECEIVERS)} traces have a spike" in done.err
    assert np.array_equal(image(folder, "clip"), image(folder, "clip-indexed"))


def test_what_an_index_has_found_holds_for_a_selection(folder: Path) -> None:
    """Of which the few traces that are left could not be judged by themselves."""
    near = np.abs(RECEIVERS[BAD, 0] - SOURCES[8])
    keys = {"acquisition.conditioning": {"offsets": [float(near - 12), float(near + 12)]}}
    migrated(folder, "few", "survey.parquet", **{key.replace(".", "__"): value for key, value in keys.items()})
    steps = json.loads((folder / "few" / "run.json").read_text())["results"]["conditioning"]
    assert [step["traces"] for step in steps if step["step"] == "loud traces"] == [1]


def test_a_spike_in_a_well(tmp_path: Path) -> None:
    """All receivers at one x and y."""
    inputs(tmp_path)
    places = np.stack([np.full(30, 300.0), np.zeros(30), 5.0 + 9.0 * np.arange(30)], axis=1)
    values = np.random.default_rng(1).standard_normal((30, SAMPLES))
    values[11, 20] = 1e5
    with GatherWriter(tmp_path / "well.segy", SAMPLES, INTERVAL, 30) as writer:
        writer.write(0, 7, (200.0, 0.0, 20.0), places, values)
    done = migrated(tmp_path, "well", "well.segy")
    assert "1 of 30 traces have a spike" in done.err
