"""Many shots on groups of ranks: the image is bitwise the same however they share the work and whatever happens."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from cli_support import MIGRATE, MODEL, NX, SAMPLES, call, here, inputs, survey
from mpi4py import MPI
from segy_support import spoil
from survey_support import load, migrate

from examples.historical import FOLDER
from fathometer.plan.machine_file import load_machine
from fathometer.runs import sum_file, summation
from fathometer.runs.journal import Journal, read_journal
from fathometer.runs.options import RunOptions
from fathometer.runs.seal import sealed
from fathometer.seismic.acoustic.plan import plan_acoustic
from fathometer.seismic.plan import PlanRequest
from fathometer.seismic.rtm import driver, products, worker
from fathometer.seismic.setup.fingerprint import geometry
from fathometer.seismic.shots.shot import Shot
from fathometer.seismic.survey import load_survey
from fathometer.storage.traces.segy import GatherWriter

MACHINE = load_machine(FOLDER / "cluster.json")
FLUSHED = sealed({"flushed": True}) + "\n"
SHOTS = {"acquisition.sources": {"x": [40.0, 340.0, 60.0], "z": 20.0}}  # 6


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A folder with a model, six recorded shots, and their image as one rank makes it."""
    folder = tmp_path_factory.mktemp("shots")
    inputs(folder)
    assert call("model", survey(folder, MODEL | SHOTS), "--quiet").code == 0
    (folder / "out" / "shots.segy").rename(folder / "recorded.segy")
    assert call("migrate", survey(folder, MIGRATE | {"output.directory": "one"}, "one.toml"), "--quiet").code == 0
    return folder


@pytest.fixture(scope="module")
def unfinished(recorded, tmp_path_factory):
    """Copies of a migration of the recorded shots of which the last one was bad: its journal is still there.

    It has added up contributions after two shots, or not at all.
    """
    made = {}

    def copy(folder, added_up=False):
        if added_up not in made:
            made[added_up] = tmp_path_factory.mktemp("unfinished")
            spoiled(recorded, made[added_up] / "recorded.segy", {5})
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(sum_file, "FOLD_RATIO", 0.5 if added_up else 2.0)
                assert run(recorded, made[added_up]).code == 1
        shutil.copytree(made[added_up], folder, dirs_exist_ok=True)

    return copy


def image(folder, name="image"):
    return load(folder / f"{name}.rsf").tobytes()


def run(recorded, tmp_path, *words, ranks=1, **keys):
    """A migration of the recorded shots into tmp_path/out, in this process where it is on one rank."""
    for name in ("vp.npy", "recorded.segy"):
        if not (tmp_path / name).exists():
            shutil.copy(recorded / name, tmp_path)
    path = survey(tmp_path, MIGRATE | {key.replace("__", "."): value for key, value in keys.items()})
    started, ranked = (call, ("--ranks", ranks)) if ranks > 1 else (here, ())
    return started("migrate", path, "--quiet", *ranked, *words)


@pytest.mark.parametrize(
    ("ranks", "per_shot", "groups"), [(2, "auto", 2), (2, "all", 1), (3, 1, 3), (4, 2, 2), (3, 2, 1)]
)
def test_any_number_of_groups_gives_the_same_image(recorded, tmp_path, ranks, per_shot, groups):
    done = run(recorded, tmp_path, ranks=ranks, parallel__ranks_per_shot=per_shot)
    assert done.code == 0, done.err
    for name in ("image", "image-illumination", "image-laplacian"):
        assert image(tmp_path / "out", name) == image(recorded / "one", name)
    journals = [read_journal(folder / "journal") for folder in (tmp_path / "out", recorded / "one")]
    assert journals[0].inputs == journals[1].inputs
    assert len(set(journals[0].inputs.values())) == 6
    results = json.loads((tmp_path / "out" / "run.json").read_text())["results"]
    assert results["groups"] == groups
    assert results["migrated_shots"] == list(range(6))
    assert sorted(one.name for one in (tmp_path / "out" / "journal").iterdir() if one.suffix != ".jsonl") == [
        "finished",
        "lock",
        "survey.json",
    ]


def test_sums_in_between_change_nothing(recorded, tmp_path, monkeypatch):
    """Contributions are added up whenever they fill the disk, here after each shot, and the sum is filtered slab by
    slab."""
    monkeypatch.setattr(sum_file, "FOLD_RATIO", 0.01)
    for name in ("vp.npy", "recorded.segy"):
        shutil.copy(recorded / name, tmp_path)
    monkeypatch.setattr(products, "SLAB_CELLS", 70)
    migrate(tmp_path, nested(MIGRATE))
    for name in ("image", "image-laplacian"):
        assert image(tmp_path / "out", name) == image(recorded / "one", name)


@pytest.mark.parametrize(
    ("full", "keys", "folds"),
    [
        (2.0, {}, 0),
        (0.95, {}, 1),  # of four contributions of 4 bytes a cell
        (0.1, {}, 6),
        (0.1, {"imaging.gathers": "offset", "imaging.offset_bins": [0.0, 100.0, 200.0, 1000.0]}, 6),
        (0.1, {"imaging.condition": "source-normalised"}, 6),
        (0.45, {}, 3),
    ],
)
def test_the_disk_holds_what_plans_tell(recorded, tmp_path, monkeypatch, full, keys, folds):
    """At most, with results, contributions, and the old and new sum of each group."""
    monkeypatch.setattr(sum_file, "FOLD_RATIO", full)
    monkeypatch.setattr(sum_file, "PAGE_BYTES", 64)  # in proportion to the small image
    held, placed, drawn = [], summation._place, products.draw

    def look():
        kinds = (".npy", ".sum", ".part", ".rsf@", ".rsf")
        files = [one for one in (tmp_path / "out").rglob("*") if one.is_file()]
        held.append(sum(one.stat().st_size for one in files if one.name.endswith(kinds)))

    monkeypatch.setattr(summation, "_place", lambda *words: (look(), placed(*words)))
    monkeypatch.setattr(products, "draw", lambda *words: (look(), drawn(*words)))
    for name in ("vp.npy", "recorded.segy"):
        shutil.copy(recorded / name, tmp_path)
    path = survey(tmp_path, MIGRATE | keys | {"history.store": "memory"})
    said = plan_acoustic(load_survey(path), MACHINE, PlanRequest(1)).asked.disk_bytes
    migrate(tmp_path, nested(MIGRATE | keys))
    assert len(held) == folds + 1
    assert max(held) == pytest.approx(said, rel=0.1)


def nested(keys):
    """A survey {"section.key": value} as {section: {key: value}}, with results in out."""
    found = {"output": {"directory": "out"}}
    for key, value in keys.items():
        section, _, name = key.partition(".")
        found.setdefault(section, {})[name] = value
    return found


def test_what_earlier_runs_left_is_added_up_too(recorded, tmp_path, monkeypatch):
    """A queue that ends each run after some shots must not fill the disk with the contributions of all runs."""
    shutil.copy(recorded / "vp.npy", tmp_path)
    spoiled(recorded, tmp_path / "recorded.segy", {5})  # so that the journal stays
    assert list(migrate(tmp_path, nested(MIGRATE)).failed) == [5]
    journal = tmp_path / "out" / "journal"
    wanted = image(tmp_path / "out")
    (journal / "000003-image.npy").unlink()  # as if that shot had not been finished
    assert len(list(journal.glob("*.npy"))) == 9
    monkeypatch.setattr(sum_file, "FOLD_RATIO", 0.01)
    migrate(tmp_path, nested(MIGRATE), RunOptions(resume=True))
    assert not list(journal.glob("*.npy"))
    assert [one.tasks for one in read_journal(journal).sums] == [(0, 1, 2, 3, 4)]
    assert image(tmp_path / "out") == wanted


def spoiled(recorded, path, shots) -> None:
    """The recorded traces, one of each of these shots with a NaN, as no writer would write it."""
    shutil.copy(recorded / "recorded.segy", path)
    for shot in shots:
        spoil(path, NX * shot + 3, SAMPLES)


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_bad_shot_is_set_aside_and_the_others_go_on(recorded, tmp_path, ranks):
    shutil.copy(recorded / "recorded.segy", tmp_path / "good.segy")
    spoiled(recorded, tmp_path / "recorded.segy", {1, 4})
    done = run(recorded, tmp_path, ranks=ranks)
    assert done.code == 1
    assert "2 shots are not in the image" in done.err
    assert "shot 2 (FFID 2)" in done.err
    assert "trace" in done.err
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert [one["shot"] for one in record["results"]["failed_shots"]] == [1, 4]
    assert not record["validity"]["valid"]
    # Without a word they stay aside; nothing is computed again.
    again = run(recorded, tmp_path, "--resume", ranks=ranks)
    assert again.code == 1
    assert json.loads((tmp_path / "out" / "run.json").read_text())["results"]["migrated_shots"] == []
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Not everything in this run is to be trusted.</b> 2 of 6 shots are not in the image" in page
    assert "4 by earlier runs; 2 set aside: shot 2: " in page
    assert "of the plain bytes" not in page  # none was kept
    # Other traces are another survey, but for shots that failed they may have been mended.
    shutil.copy(tmp_path / "good.segy", tmp_path / "recorded.segy")
    other = run(recorded, tmp_path, "--resume", ranks=ranks)
    assert other.code == 2
    assert "recorded.segy: those of shot 2 (FFID 2), shot 5 (FFID 5) are no longer" in other.err
    assert run(recorded, tmp_path, "--retry-failed", ranks=ranks).code == 0
    assert image(tmp_path / "out") == image(recorded / "one")
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["results"]["migrated_shots"] == [1, 4]
    assert len(record["results"]["replaced_traces"]) == 1


def test_all_shots_bad_is_the_first_ones_error_and_leaves_nothing(recorded, tmp_path):
    spoiled(recorded, tmp_path / "recorded.segy", set(range(6)))
    done = run(recorded, tmp_path)
    assert done.code == 2
    assert "trace 3 " in done.err
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["run-unfinished.json"]


def test_a_folder_with_results_is_not_written_into_unasked(recorded, tmp_path):
    assert run(recorded, tmp_path).code == 0
    before = (tmp_path / "out" / "run.json").read_bytes()
    done = run(recorded, tmp_path)
    assert done.code == 2
    assert "--overwrite" in done.err
    done = run(recorded, tmp_path, "--resume")  # nothing to do
    assert done.code == 0, done.err
    assert (tmp_path / "out" / "run.json").read_bytes() == before
    done = run(recorded, tmp_path, "--resume", imaging__every=4)
    assert done.code == 2
    assert "survey.imaging.every: auto then, 4 now" in done.err
    (tmp_path / "out" / "image-laplacian.rsf").unlink()
    done = run(recorded, tmp_path, "--resume")
    assert done.code == 2
    assert "image-laplacian.rsf: is missing" in done.err
    assert run(recorded, tmp_path, "--resume", "--overwrite").code == 2
    assert run(recorded, tmp_path, "--overwrite", imaging__every=4).code == 0


def test_a_folder_that_is_no_journal_is_left_alone(recorded, tmp_path):
    """Whatever the command line says, and whatever is in it."""
    foreign = tmp_path / "out" / "journal"
    foreign.mkdir(parents=True)
    for name in ("figure.npy", "finished", "notes.txt"):
        (foreign / name).write_text("mine")
    for words in ([], ["--overwrite"], ["--resume"]):
        done = run(recorded, tmp_path, *words)
        assert done.code == 2
        assert "journal: holds figure.npy, but no survey.json" in done.err
        assert sorted(one.name for one in foreign.iterdir()) == ["figure.npy", "finished", "notes.txt"]


def test_what_is_put_into_a_journal_stays_there(recorded, tmp_path):
    assert run(recorded, tmp_path).code == 0
    (tmp_path / "out" / "journal" / "notes.txt").write_text("mine")
    assert run(recorded, tmp_path, "--overwrite").code == 0
    assert (tmp_path / "out" / "journal" / "notes.txt").read_text() == "mine"


def test_the_series_of_a_wavelet_belongs_to_the_survey(recorded, tmp_path):
    time = 0.004 * np.arange(60) - 0.12
    series = {"kind": "file", "path": "w.npy", "sample_interval": 0.004, "zero": 0.12, "maximum_frequency": 40.0}
    keys = {f"wavelet__{key}": value for key, value in series.items()} | {"wavelet__peak_frequency": None}
    np.save(tmp_path / "w.npy", np.exp(-((60 * time) ** 2)).astype(np.float32))
    done = run(recorded, tmp_path, **keys)
    assert done.code == 0, done.err
    np.save(tmp_path / "w.npy", np.exp(-((50 * time) ** 2)).astype(np.float32))
    done = run(recorded, tmp_path, "--resume", **keys)
    assert done.code == 2
    assert "wavelet.w.npy: 368 bytes" in done.err


def test_places_belong_to_the_survey():
    """An index may place the traces of the same files anew."""
    shot = Shot(0, 1, np.zeros(3), np.zeros((4, 3)), np.arange(4))
    there = replace(shot, receivers=np.full((4, 3), 10.0))
    first, second = (geometry(SimpleNamespace(shots=(one,), recording=None)) for one in (shot, there))
    assert first != second
    assert first == geometry(SimpleNamespace(shots=(replace(shot, ffid=2),), recording=None))


def test_resume_with_nothing_there_starts(recorded, tmp_path):
    assert run(recorded, tmp_path, "--resume").code == 0
    assert image(tmp_path / "out") == image(recorded / "one")


def test_damage_is_found_and_mended(recorded, unfinished, tmp_path):
    """A changed byte of a contribution: told by its file, and the shot migrated again."""
    unfinished(tmp_path)
    wanted = image(tmp_path / "out")
    path = tmp_path / "out" / "journal" / "000002-image.npy"
    raw = bytearray(path.read_bytes())
    raw[-7] ^= 4
    path.write_bytes(raw)
    journal = tmp_path / "out" / "journal"
    (lines,) = journal.glob("*.jsonl")
    lines.write_text(lines.read_text() + FLUSHED)  # as if all had been on the device
    done = run(recorded, tmp_path, "--resume")
    assert done.code == 1
    assert "000002-image.npy: its values have changed" in done.err
    done = run(recorded, tmp_path, "--resume")
    assert "1 shots are not in the image" in done.err
    assert json.loads((tmp_path / "out" / "run.json").read_text())["results"]["migrated_shots"] == [2]
    assert image(tmp_path / "out") == wanted
    # The same before it was known to be on the device: found when the run begins.
    text = lines.read_text().replace(FLUSHED, "")
    lines.write_text(text)
    path = journal / "000003-illumination.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"\x7f")
    done = run(recorded, tmp_path, "--resume")
    assert json.loads((tmp_path / "out" / "run.json").read_text())["results"]["migrated_shots"] == [3]
    assert image(tmp_path / "out") == wanted
    # A line that was cut short, and a contribution without its line.
    text = lines.read_text().splitlines(keepends=True)
    (first,) = (n for n, line in enumerate(text) if '"shot": 0,' in line)
    lines.write_text("".join([*text[:first], *text[first + 1 :]]) + text[first][:40])
    done = run(recorded, tmp_path, "--resume")
    assert json.loads((tmp_path / "out" / "run.json").read_text())["results"]["migrated_shots"] == [0]
    assert image(tmp_path / "out") == wanted


def cut(data):
    return data[:900]


def nothing(data):
    return b""


def other_magic(data):
    return b"\x00" + data[1:]


@pytest.mark.parametrize(("damage", "ranks"), [(cut, 1), (nothing, 1), (other_magic, 1), (cut, 2)])
@pytest.mark.parametrize("kind", ["image.npy", "illumination.npy", "sum"])
def test_files_that_are_damaged_are_computed_again(recorded, unfinished, tmp_path, monkeypatch, kind, damage, ranks):
    """By the next run, without a word of the user's."""
    unfinished(tmp_path, added_up=kind == "sum")
    monkeypatch.setattr(sum_file, "FOLD_RATIO", 0.5 if kind == "sum" else 2.0)
    wanted = image(tmp_path / "out")
    journal = tmp_path / "out" / "journal"
    (lines,) = journal.glob("*.jsonl")
    lines.write_text(lines.read_text() + FLUSHED)  # all had been on the device
    path = min(journal.glob(f"*{kind}"))
    path.write_bytes(damage(path.read_bytes()))
    done = run(recorded, tmp_path, "--resume", ranks=ranks)
    assert done.code == 1
    assert "1 shots are not in the image" in done.err
    migrated = json.loads((tmp_path / "out" / "run.json").read_text())["results"]["migrated_shots"]
    assert len(migrated) == (4 if kind == "sum" else 1)
    assert image(tmp_path / "out") == wanted


def test_a_file_that_is_damaged_while_it_is_needed_is_told(recorded, tmp_path, monkeypatch):
    """After the run has begun: removed, so that the next one computes it again."""
    true = driver.summed_image

    def damaged(whole, journal, held):
        path = journal.contribution(3, "image")
        path.write_bytes(path.read_bytes()[:900])
        return true(whole, journal, held)

    monkeypatch.setattr(driver, "summed_image", damaged)
    done = run(recorded, tmp_path)
    assert done.code == 1
    assert "000003-image.npy: its values have changed since they were written; --resume computes them" in done.err
    monkeypatch.undo()
    assert run(recorded, tmp_path, "--resume").code == 0
    assert image(tmp_path / "out") == image(recorded / "one")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"history__directory": "nowhere", "history__store": "disk"}, "[history] directory"),
        ({"history__store": "disk", "history__disk_budget": 10.0}, "[history]"),
        ({"tuning__time_depth": 500}, "[tuning] time_depth"),
    ],
)
@pytest.mark.parametrize("ranks", [1, 2])
def test_what_is_refused_overwrites_nothing(recorded, unfinished, tmp_path, keys, words, ranks):
    unfinished(tmp_path)
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    done = run(recorded, tmp_path, "--overwrite", ranks=ranks, **keys)
    assert done.code == 2
    assert words in done.err
    after = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    lock = tmp_path / "out" / "journal" / "lock"
    assert after | {lock: b""} == before | {lock: b""}


def test_results_without_a_journal_are_not_replaced_unasked(recorded, tmp_path):
    assert run(recorded, tmp_path).code == 0
    shutil.rmtree(tmp_path / "out" / "journal")
    done = run(recorded, tmp_path)
    assert done.code == 2
    assert "holds a migration's results, without its journal; --overwrite makes them anew" in done.err
    # As what an --overwrite leaves that was interrupted before its first shot.
    assert run(recorded, tmp_path, "--resume").code == 0


def test_what_was_modelled_stays_where_it_is_migrated(recorded, tmp_path):
    """Both have one folder by default: the shots are no result of a migration."""
    shutil.copy(recorded / "vp.npy", tmp_path)
    assert here("model", survey(tmp_path, MODEL | SHOTS, "model.toml"), "--quiet").code == 0
    shots = (tmp_path / "out" / "shots.segy").read_bytes()
    for words in ((), ("--overwrite",)):
        assert run(recorded, tmp_path, *words, acquisition__gathers="out/shots.segy").code == 0
        assert (tmp_path / "out" / "shots.segy").read_bytes() == shots
    assert image(tmp_path / "out") == image(recorded / "one")


def test_what_a_survey_reads_stays_where_results_are(recorded, tmp_path):
    """An earlier result that is now a model."""
    assert run(recorded, tmp_path).code == 0
    values = load(recorded / "vp.npy")
    (tmp_path / "out" / "image-illumination.rsf@").write_bytes(values.tobytes())
    keys = {"model__vp": "out/image-illumination.rsf", "output__image": "other.rsf"}
    assert run(recorded, tmp_path, "--overwrite", **keys).code == 0
    assert load(tmp_path / "out" / "image-illumination.rsf").tobytes() == values.tobytes()
    assert not (tmp_path / "out" / "image.rsf").exists()


def test_nothing_of_an_earlier_run_stays_beside_the_new_results(recorded, tmp_path):
    bins = {"imaging__gathers": "offset", "imaging__offset_bins": [0.0, 100.0, 200.0, 1000.0]}
    assert run(recorded, tmp_path, **bins).code == 0
    (tmp_path / "out" / "image-mine.rsf").write_text("somebody's own")
    assert run(recorded, tmp_path, "--overwrite", output__image="image.npy", imaging__laplacian=False).code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        *("image-illumination.npy", "image-mine.rsf", "image.npy", "image.png", "journal", "report.html", "run.json"),
    ]


def test_finished_results_of_which_a_part_is_missing(recorded, tmp_path):
    assert run(recorded, tmp_path).code == 0
    (tmp_path / "out" / "image.rsf@").unlink()
    done = run(recorded, tmp_path, "--resume")
    assert done.code == 2
    assert "image.rsf@: is missing, but the migration is finished; --overwrite makes it anew" in done.err


def test_bins_that_hold_no_trace_are_told(recorded, tmp_path):
    bins = {"imaging__gathers": "offset"}
    done = run(recorded, tmp_path, **bins, imaging__offset_bins=[0.0, 0.3, 0.9])
    assert done.code == 0, done.err  # the trace above the source
    done = run(recorded, tmp_path, "--overwrite", **bins, imaging__offset_bins=[5000.0, 6000.0])
    assert done.code == 2
    assert "[imaging] offset_bins: found no trace in any of them; allowed: bins in m" in done.err
    done = run(recorded, tmp_path, "--overwrite", **bins, imaging__offset_bins=[0.0, 200.0, 201.0, 202.0])
    assert done.code == 0, done.err
    notes = json.loads((tmp_path / "out" / "run.json").read_text())["results"]["notes"]
    assert "[imaging] offset_bins: no trace lies in offset-201-202" in notes
    assert any("of 240 traces lie in none of [imaging] offset_bins, and are in no image" in note for note in notes)


def test_traces_that_are_there_twice_are_told(recorded, tmp_path):
    for name in ("a", "b"):
        shutil.copy(recorded / "recorded.segy", tmp_path / f"{name}.segy")
    done = run(recorded, tmp_path, acquisition__gathers="[ab].segy")
    assert done.code == 0, done.err
    notes = json.loads((tmp_path / "out" / "run.json").read_text())["results"]["notes"]
    assert any(note.startswith("240 traces have shot, channel and receiver of another one") for note in notes)


@pytest.mark.parametrize("words", [("--resume",), ("--retry-failed",), ("--share", "x")])
def test_words_that_contradict_each_other(recorded, tmp_path, words):
    done = run(recorded, tmp_path, "--overwrite", *words)
    assert done.code == 2
    assert f"--overwrite: found together with {words[0]}" in done.err


@pytest.mark.parametrize("ranks", [1, 3])
def test_windows(recorded, tmp_path, ranks):
    """A large aperture is the whole model; a small one images around the shots, on any ranks the same."""
    done = run(recorded, tmp_path, ranks=ranks, imaging__aperture=1000.0)
    assert done.code == 0, done.err
    whole = load(recorded / "one" / "image.rsf")
    np.testing.assert_allclose(load(tmp_path / "out" / "image.rsf"), whole, atol=1e-5 * np.abs(whole).max())


def test_ranks_that_cannot_share_the_smallest_window_are_told_at_once(tmp_path):
    """The largest they can: after days the shot on the smallest would have ended the run."""
    np.save(tmp_path / "vp.npy", np.full((120, 12), 2000.0, np.float32))
    spreads = ((600.0, 10.0 * np.arange(10, 110)), (300.0, np.array([300.0])))
    with GatherWriter(tmp_path / "recorded.segy", SAMPLES, 0.004, 101) as writer:
        for n, (x, receivers) in enumerate(spreads):
            places = np.stack([receivers, 0 * receivers, 0 * receivers + 20], axis=1)
            writer.write(100 * n, n, (x, 0.0, 20.0), places, np.ones((len(receivers), SAMPLES), np.float32))
    keys = {"propagation.order": 16, "imaging.aperture": 0.0, "parallel.ranks_per_shot": "all"}
    keys["propagation.boundary"] = {"kind": "sponge", "width": 4}
    done = call("migrate", survey(tmp_path, MIGRATE | keys), "--quiet", "--ranks", 5)
    assert done.code == 2
    assert "5 ranks are too many for a grid of" in done.err
    assert not (tmp_path / "out").exists()


BINS = {"imaging__gathers": "offset", "imaging__offset_bins": [0.0, 80.0, 160.0, 1000.0]}
NAMES = ("offset-0-80", "offset-80-160", "offset-160-1000")


@pytest.mark.parametrize(("ranks", "history"), [(1, "memory"), (2, "disk"), (3, "checkpoint")])
def test_images_of_offsets_add_up_to_that_of_all(recorded, tmp_path, ranks, history):
    """However the history is read more than once; and each bin is the image of its traces alone."""
    keys = {"history__store": history}
    if history == "checkpoint":
        keys["history__memory_budget"] = 2e5
    done = run(recorded, tmp_path, ranks=ranks, **BINS, **keys)
    assert done.code == 0, done.err
    whole = load(recorded / "one" / "image.rsf")
    parts = [load(tmp_path / "out" / f"image-{name}.rsf") for name in NAMES]
    np.testing.assert_allclose(load(tmp_path / "out" / "image.rsf"), whole, atol=1e-5 * np.abs(whole).max())
    assert (np.add.reduce(parts) == load(tmp_path / "out" / "image.rsf")).all()
    assert image(tmp_path / "out", "image-illumination") == image(recorded / "one", "image-illumination")
    assert all(np.abs(part).max() > 0.01 * np.abs(whole).max() for part in parts)
    one = recorded / "bins.npy"
    if one.exists():
        assert (np.load(one) == np.stack(parts)).all()  # the same bit by bit on any ranks, from any store
    else:
        np.save(one, np.stack(parts))


def test_bins_that_cannot_be(recorded, tmp_path):
    for keys, says in (
        ({"imaging__gathers": "offset"}, "offset_bins: missing; needed with gathers"),
        ({"imaging__offset_bins": [0.0, 10.0]}, "offset_bins: found; allowed only with gathers"),
        ({**BINS, "imaging__offset_bins": [0.0, 10.0, 10.0]}, "ascending"),
    ):
        done = run(recorded, tmp_path, **keys)
        assert done.code == 2
        assert says in done.err


@pytest.mark.parametrize("traces", ["whole", "slices"])
def test_shots_of_a_file_that_is_cut_short_are_set_aside(recorded, tmp_path, monkeypatch, traces):
    finish_task = Journal.finish_task

    def cut(self, group, contribution):
        finish_task(self, group, contribution)
        if len(self.done) == 2:  # the run has read two shots by now: the file ends within the fifth
            os.truncate(tmp_path / "recorded.segy", 3600 + (4 * NX + 3) * (240 + 4 * SAMPLES))

    monkeypatch.setattr(Journal, "finish_task", cut)
    done = run(recorded, tmp_path, storage__traces=traces)
    assert done.code == 1
    assert "2 shots are not in the image" in done.err
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["results"]["migrated_shots"] == [0, 1, 2, 3]
    assert [one["shot"] for one in record["results"]["failed_shots"]] == [4, 5]
    for one in record["results"]["failed_shots"]:
        assert "recorded.segy: became shorter since its headers were read" in one["reason"]
    monkeypatch.undo()
    shutil.copy(recorded / "recorded.segy", tmp_path)
    assert run(recorded, tmp_path, "--retry-failed").code == 0
    assert image(tmp_path / "out") == image(recorded / "one")


def test_histories_of_several_grids_are_told_together():
    first = worker._combined({}, {"snapshots": 3, "largest": 0.5, "stored_bytes": 10})
    assert first == {"snapshots": 3, "largest": 0.5, "stored_bytes": 10}
    assert worker._combined(first, {"snapshots": 2, "largest": 0.25, "stored_bytes": 5}) == {
        "snapshots": 5,
        "largest": 0.5,
        "stored_bytes": 15,
    }


@pytest.mark.parametrize("laplacian", [False, True])
def test_the_picture_says_what_it_shows(monkeypatch, laplacian):
    drawn = []
    for name in ("write", "write_laplacian"):
        monkeypatch.setattr(products, name, lambda *words: None)
    monkeypatch.setattr(products, "method", lambda *words: "")
    monkeypatch.setattr(products, "draw", lambda setup, image, title, path: drawn.append((image, title)))
    files = {products.ALL: Path("image.rsf"), "picture": Path("image.png")}
    files |= {"laplacian": Path("image-laplacian.rsf")} if laplacian else {}
    setup = SimpleNamespace(comm=MPI.COMM_SELF, survey=SimpleNamespace(path=Path("line.toml")))
    products.write_products(setup, files, {products.ALL: np.zeros((2, 1, 2), np.float32)})
    filtered = ", Laplacian-filtered" if laplacian else ""
    shown = "image-laplacian.rsf" if laplacian else "image.rsf"
    assert drawn == [(Path(shown), f"line: reverse time migration{filtered}")]
