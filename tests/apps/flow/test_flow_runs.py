"""Runs of an incompressible flow as users start them: the same bits on any ranks and in parts, files, page, plan."""

import json
import subprocess

import numpy as np
import pytest
from cli_support import clean_environment, program, run
from flow_inputs import CHANNEL, box_values
from input_values import text_of

from fathometer.storage.tecplot.reader import TecplotFile


def begin(folder, **keys):
    folder.mkdir()
    (folder / "box.toml").write_text(text_of(box_values(**CHANNEL | keys)))
    return folder


def results(folder):
    return {path.name: path.read_bytes() for path in sorted((folder / "out/fields").iterdir())}


def record(folder):
    return json.loads((folder / "out/run.json").read_text())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = begin(tmp_path_factory.mktemp("flow") / "whole")
    done = subprocess.run(
        [*program(), "flow", folder / "box.toml", "--quiet"],
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment(),
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_what_is_written(whole):
    names = [f"flow-000{n}.plt" for n in range(5)]
    assert list(results(whole)) == names
    file = TecplotFile(whole / "out/fields/flow-0002.plt")
    assert file.variables == ("x", "y", "z", "u", "v", "w", "p", "temperature", "vorticity")
    assert [(zone.time, zone.nodes) for zone in file.zones] == [(0.1, (12, 10, 8))]
    assert np.allclose(file.read(0, "y")[0, :, 0], 0.05 + 0.1 * np.arange(10))
    # What comes in is what leaves, between the centres of cells.
    flux = file.read(0, "u").mean(axis=(0, 1))
    assert np.ptp(flux) < 1e-6
    found = record(whole)
    assert found["results"]["balance"][0]["error"] < 1e-12
    assert found["results"]["field_times_seconds"] == [0.0, 0.05, 0.1, pytest.approx(0.15), 0.2]
    assert {"energy", "dissipation", "divergence", "temperature", "step_seconds"} <= found["results"]["course"][
        -1
    ].keys()


def test_parts_on_other_ranks_have_the_bits_of_one(whole, tmp_path, capsys):
    folder = begin(tmp_path / "parts")
    words = [*program(), "flow", folder / "box.toml", "--quiet"]
    subprocess.run([*words, "--ranks", "2", "--set", "time.most_steps=4"], check=True, env=clean_environment())
    stopped = list(results(folder))
    subprocess.run([*words, "--ranks", "3", "--resume"], check=True, env=clean_environment())
    assert results(folder)["flow-0000.plt"] == results(whole)["flow-0000.plt"]
    extra = len(results(folder)) - len(results(whole))
    assert extra in (0, 1)  # a run that ends in between writes what it has
    assert results(folder)[list(results(folder))[-1]] == results(whole)["flow-0004.plt"]
    assert len(stopped) >= 2
    assert record(folder)["results"]["course"] == record(whole)["results"]["course"]


def test_one_file_holds_what_many_hold(whole, tmp_path, capsys):
    folder = begin(tmp_path / "one")
    keys = ["--set", "output.tecplot.series=file", "--set", "output.tecplot.data=offsets"]
    assert run(capsys, "flow", folder / "box.toml", "--quiet", *keys, "--set", "time.end=0.1").code == 0
    assert len(TecplotFile(folder / "out/fields/flow.plt").zones) == 3
    assert run(capsys, "flow", folder / "box.toml", "--quiet", *keys, "--resume").code == 0
    one = TecplotFile(folder / "out/fields/flow.plt")
    for number in range(5):
        other = TecplotFile(whole / f"out/fields/flow-000{number}.plt")
        assert one.zones[number] == other.zones[0]
        assert all((one.read(number, name) == other.read(0, name)).all() for name in one.variables)


def test_page_and_lines(whole, capsys):
    done = run(capsys, "report", whole / "out")
    assert done.code == 0
    text = (whole / "out/report.html").read_text(encoding="utf-8")
    for words in ("Incompressible flow", "x-: inflow", "Vorticity (1/s)", "elimination along the last axis"):
        assert words in text
    assert (whole / "out/flow.png").stat().st_size > 10_000


def test_a_folder_with_results_is_not_overwritten(whole, capsys):
    before = results(whole)
    done = run(capsys, "flow", whole / "box.toml", "--quiet")
    assert done.code == 2
    assert "--overwrite" in done.err
    assert results(whole) == before


@pytest.mark.parametrize("change", ["profile", "variables"])
def test_a_run_of_other_input_does_not_go_on(change, tmp_path, capsys):
    sides = [{"side": "x-", "kind": "inflow", "profile_file": "profile.npy"}, {"side": "x+", "kind": "outflow"}]
    folder = begin(tmp_path / "changed", side=sides, temperature={"diffusivity": 0.01})
    np.save(folder / "profile.npy", np.ones((8, 10)))
    assert run(capsys, "flow", folder / "box.toml", "--quiet", "--set", "time.end=0.1").code == 0
    before, words = results(folder), []
    if change == "profile":
        np.save(folder / "profile.npy", np.linspace(1, 2, 80).reshape(8, 10))
    else:
        words = ["--set", 'output.variables=["x","y","z","u"]']
    done = run(capsys, "flow", folder / "box.toml", "--quiet", "--resume", *words)
    assert done.code == 2
    assert ("profile_file" if change == "profile" else "output.variables") in done.err
    assert results(folder) == before
