"""`fathometer model` of elastic waves: results, bits over ranks, --resume, and what it must not go on with."""

import json
import os
import signal
import time

import numpy as np
import pytest
from cli_support import call, finish, here, program, start
from elastic_surveys import IN_2D, elastic_survey, samples

from fathometer.runs.journal import FOLDER, read_journal
from fathometer.storage.traces.segy import read_traces
from fathometer.storage.volumes.volume import open_volume

SHORT = 6e-5  # s, of time steps: a shot of the line takes a second or two


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A run that nobody interrupts."""
    folder = tmp_path_factory.mktemp("elastic")
    path = elastic_survey(folder)
    assert here("model", path, "--quiet").code == 0
    return folder


def test_results(done):
    out = done / "out"
    names = {path.name for path in out.iterdir()}
    shots = [f"shot-{n}" for n in (1, 2)]
    maps = {f"peak-velocity-{shot}-{name}.rsf" for shot in shots for name in ("horizontal", "vertical")}
    maps |= {f"peak-velocity-{shot}.png" for shot in shots}
    fields = {f"snapshots-{shot}-{name}.rsf" for shot in shots for name in ("vx", "vy", "vz")}
    assert names >= {"shots-vx.segy", "shots-vz.segy", "shots-sxx.segy", "run.json", "report.html"} | maps | fields
    assert FOLDER not in names
    record = json.loads((out / "run.json").read_text())
    assert record["results"]["physics"] == "elastic"
    assert record["results"]["boundary"]["kind"] == "pml"
    assert record["results"]["components"] == ["vx", "vz", "sxx"]
    assert all((out.parent / path).exists() for path in record["results"]["files"].values())
    page = (out / "report.html").read_text()
    assert "Elastic waves" in page
    assert "Peak ground velocity" in page
    assert 'class="missing">The figures need JavaScript' in page
    assert page.count('class="missing"') == 1


def test_the_map_holds_what_a_receiver_in_the_surface_has_seen(tmp_path):
    """Receivers on nodes of a line: the largest velocity of their traces, but for what lies between samples."""
    keys = {"acquisition__components": ["vx", "vz"], "acquisition__sources": {"x": 140.0, "z": 130.0}}
    # A wavelet that ends at its highest frequency: traces, which are low-passed there, have all of it.
    keys |= {"wavelet__kind": "ormsby", "wavelet__corners": [0.0, 1.0, 2.0, 5.0], "wavelet__peak_frequency": None}
    path = elastic_survey(tmp_path, **IN_2D | keys, propagation__duration=2.5)
    assert here("model", path, "--quiet").code == 0
    for name, component in (("horizontal", "vx"), ("vertical", "vz")):
        with open_volume(f"peak-velocity-{name}.rsf", tmp_path / "out") as volume:
            peaks = volume.read((0, 0), volume.info.shape)
        traces = read_traces(tmp_path / "out" / f"shots-{component}.segy", range(9))
        for trace, x in zip(traces[1::2], range(100, 450, 100), strict=True):
            assert np.abs(trace).max() == pytest.approx(peaks[x // 20, 0], rel=0.03)


@pytest.mark.parametrize("words", [("--ranks", 3), ("--ranks", 2, "--set", "parallel.decomposition=[1,1,2]")])
def test_bits_do_not_depend_on_the_ranks(done, tmp_path, words):
    path = elastic_survey(tmp_path)
    assert call("model", path, "--quiet", "--threads", 1, *words).code == 0
    assert samples(tmp_path / "out") == samples(done / "out")


def test_bits_do_not_depend_on_tiles(done, tmp_path):
    path = elastic_survey(tmp_path, tuning__time_depth=6, tuning__block=8, tuning__tile=7, tuning__team=1)
    assert here("model", path, "--quiet").code == 0
    assert samples(tmp_path / "out") == samples(done / "out")


def killed_after_a_shot(folder, number):
    """Start a run and end it when a shot is finished and the next goes on; its survey."""
    path = elastic_survey(folder, **IN_2D, propagation__dt=SHORT)
    process = start(*program(), "model", path, "--quiet", "--threads", 1)
    while process.poll() is None and not read_journal(folder / "out" / FOLDER).done:
        time.sleep(0.01)
    process.send_signal(number)
    done = finish(process)
    if number != signal.SIGKILL:
        assert done.code == 75
        assert done.err == "fathometer: interrupted; --resume goes on with the shots that are not done\n"
    assert 0 < len(read_journal(folder / "out" / FOLDER).done) < 3
    return path


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_run_goes_on_to_the_same_bits(tmp_path, number):
    path = killed_after_a_shot(tmp_path, number)
    refused = here("model", path, "--quiet")
    assert refused.code == 2
    assert "holds an unfinished modelling (" in refused.err
    assert " shots done); --resume goes on with it, --overwrite begins anew" in refused.err
    resumed = here("model", path, "--resume")
    assert resumed.code == 0
    assert "of 3 shots are done" in resumed.err
    after = samples(tmp_path / "out")
    assert not (tmp_path / "out" / FOLDER).exists()
    assert here("model", path, "--quiet", "--overwrite").code == 0
    assert samples(tmp_path / "out") == after


DAMAGE = {
    "snapshots gone": lambda out, kept: (out / "snapshots-shot-1-vx.rsf@").unlink(),
    "snapshots cut short": lambda out, kept: os.truncate(out / "snapshots-shot-1-vz.rsf@", 100),
    "traces cut short": lambda out, kept: kept.write_bytes(kept.read_bytes()[:-50]),
    "traces with a changed byte": lambda out, kept: kept.write_bytes(kept.read_bytes().replace(b"\x00", b"\x01", 400)),
    "other traces": lambda out, kept: np.save(kept, np.zeros((2, 9, 3), np.float32)),
    "no peaks": lambda out, kept: kept.with_name("000000-peaks.npy").unlink(),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_finished_shot_that_is_damaged_is_computed_again(tmp_path, damage, done_line):
    path = killed_after_a_shot(tmp_path, signal.SIGKILL)
    out = tmp_path / "out"
    damage(out, out / FOLDER / "000000-traces.npy")
    resumed = here("model", path, "--resume")
    assert resumed.code == 0
    assert resumed.err.count("note: results of finished shots are damaged or missing; computed again: 1\n") == 1
    assert samples(out) == done_line


@pytest.fixture(scope="module")
def done_line(tmp_path_factory):
    """What a run that nobody interrupts or damages gives."""
    folder = tmp_path_factory.mktemp("line")
    path = elastic_survey(folder, **IN_2D, propagation__dt=SHORT)
    assert here("model", path, "--quiet").code == 0
    return samples(folder / "out")


def test_a_changed_model_is_not_gone_on_with(tmp_path):
    path = killed_after_a_shot(tmp_path, signal.SIGKILL)
    vp = np.load(tmp_path / "line.npy")
    vp[3, 3] += 1
    np.save(tmp_path / "line.npy", vp)
    done = here("model", path, "--quiet", "--resume")
    assert done.code == 2
    assert "holds the journal of another modelling: model." in done.err
    other = here("model", path, "--quiet", "--resume", "--set", f"propagation.dt={SHORT / 2}")
    assert "holds the journal of another modelling: survey.propagation.dt" in other.err


def test_shots_that_an_earlier_version_has_kept_are_named(tmp_path):
    path = elastic_survey(tmp_path, **IN_2D)
    old = tmp_path / "out" / "finished-tasks"
    old.mkdir(parents=True)
    (old / "input.json").write_text('{"finished tasks": 3}\n')
    for option in ((), ("--resume",), ("--overwrite",)):
        done = here("model", path, "--quiet", *option)
        assert done.code == 2
        assert f"{old}: holds finished shots of an earlier version of this program" in done.err
    assert [each.name for each in old.iterdir()] == ["input.json"]


def test_snapshots_may_be_coefficients_or_have_levels(tmp_path):
    """Of one rank and of two; what is read is what plain files hold."""
    plain = tmp_path / "plain"
    plain.mkdir()
    assert here("model", elastic_survey(plain), "--quiet").code == 0
    for ranks, (strategy, name) in enumerate(
        (("auto:filter=wavelet", "values"), ("auto:levels=1", "levels/1")), start=1
    ):
        folder = tmp_path / f"{ranks}"
        folder.mkdir()
        path = elastic_survey(folder, snapshots__format="h5", snapshots__buffered_steps=2)
        done = call("model", path, "--quiet", "--ranks", ranks, "--set", f"storage.write={strategy}")
        assert done.code == 0, done.err
        with (
            open_volume("snapshots-shot-1-vx.rsf", plain / "out", steps=True) as expected,
            open_volume(f"snapshots-shot-1-vx.h5:{name}", folder / "out", steps=True) as found,
        ):
            values, whole = found.read((0,) * 4, found.info.shape), expected.read((0,) * 4, expected.info.shape)
            if ranks == 1:
                assert found.info.shape == expected.info.shape
                assert np.abs(values - whole).max() <= 1e-5 * np.abs(whole).max()
            else:
                assert found.info.shape == (whole.shape[0], *(-(-n // 2) for n in whole.shape[1:]))
                assert np.allclose(values[:, 0, 0, 0], whole[:, :2, :2, :2].mean(axis=(1, 2, 3)), rtol=1e-5)


def test_how_snapshots_are_stored_is_checked_before_the_first_shot(tmp_path):
    path = elastic_survey(tmp_path)
    assert here("model", path, "--quiet").code == 0
    record = (tmp_path / "out" / "run.json").read_bytes()
    done = here("model", path, "--quiet", "--set", "storage.write=posix-per-rank")
    assert done.code == 2
    assert "snapshots-shot-1-vx.rsf: RSF is not written by posix-per-rank (allowed: " in done.err
    assert (tmp_path / "out" / "run.json").read_bytes() == record  # the run before is left as it was


def test_shear_sources_lie_in_solids(tmp_path):
    """What a double couple leaves in a fluid would push for ever: an explosion there is allowed."""
    keys = IN_2D | {"acquisition__sources": {"x": 140.0, "z": 130.0}, "model__vs": 0.0}
    done = here("model", elastic_survey(tmp_path, **keys), "--quiet")
    assert done.code == 2
    assert "[source]: a moment of shot 1 at (140, 0, 130) m lies in a fluid (vs = 0) and is no explosion" in done.err
    keys |= {f"source__{name}": None for name in ("strike", "dip", "rake")} | {"source__kind": "explosion"}
    assert here("model", elastic_survey(tmp_path, **keys), "--quiet").code == 0


def test_results_of_an_earlier_run_that_are_not_made_any_more_go(tmp_path):
    path = elastic_survey(tmp_path, **IN_2D)
    assert here("model", path, "--quiet").code == 0
    out = tmp_path / "out"
    (out / "snapshots-mine.rsf").write_text("not of a run")
    one = ("--set", "acquisition.sources.x=140.0", "--set", 'acquisition.components=["vz"]')
    assert here("model", path, "--quiet", *one).code == 0
    names = {path.name for path in out.iterdir()}
    assert names >= {"shots-vz.segy", "snapshots-vx.rsf", "peak-velocity.png", "snapshots-mine.rsf"}
    assert not [name for name in names if "shot-" in name or "vx.segy" in name]
