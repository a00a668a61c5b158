"""Runs of an incompressible flow as users start them: the same bits on any ranks and in parts, files, page, plan."""

import json
import re
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


def test_a_head_that_was_being_written_is_written_again(whole, tmp_path, capsys):
    """As a kill in the middle of it leaves it."""
    folder = begin(tmp_path / "torn")
    keys = ["--set", "output.tecplot.series=file", "--set", "time.most_steps=4"]
    assert run(capsys, "flow", folder / "box.toml", "--quiet", *keys[:2]).code == 0
    path = folder / "out/fields/flow.plt"
    right = path.read_bytes()
    assert run(capsys, "flow", folder / "box.toml", "--quiet", "--overwrite", *keys).code == 0
    with path.open("r+b") as file:
        file.seek(200)
        file.write(bytes(300))
    assert run(capsys, "flow", folder / "box.toml", "--quiet", *keys[:2], "--resume").code == 0
    found = TecplotFile(path)
    assert [zone.time for zone in found.zones][-1] == pytest.approx(0.2)
    assert path.stat().st_size >= len(right)
    whole_one = TecplotFile(whole / "out/fields/flow-0004.plt")
    assert (found.read(len(found.zones) - 1, "u") == whole_one.read(0, "u")).all()


def test_a_file_without_place_for_all_times_is_refused_at_once(tmp_path, capsys):
    folder = begin(tmp_path / "small")
    keys = ["--set", "output.tecplot.series=file", "--set"]
    assert run(capsys, "flow", folder / "box.toml", "--quiet", *keys, "time.most_steps=2").code == 0
    before = results(folder)
    done = run(capsys, "flow", folder / "box.toml", "--quiet", *keys, "output.every=0.001", "--resume")
    assert done.code == 2
    assert "a Tecplot file has no place for" in done.err
    assert results(folder) == before


def test_steps_from_rest_are_as_short_as_what_drives_the_flow_asks_for(tmp_path, capsys):
    """A slow fluid between a warm and a cold wall, and below a lid: the same flow with much shorter steps."""
    sides = [{"side": side, "kind": "wall"} for side in ("x-", "x+", "y-", "y+")]
    warm = [sides[0] | {"temperature": 1.0}, sides[1] | {"temperature": -1.0}, *sides[2:]]
    heat = {"diffusivity": 1e-5, "expansion": 0.01, "gravity": [0.0, -10.0]}
    for name, changes in {
        "warm": {"side": warm, "temperature": heat, "fluid__viscosity": 1e-5, "time__end": 20.0},
        "lid": {"side": [*sides[:3], sides[3] | {"velocity": [1.0, 0.0]}], "fluid__viscosity": 1e-4, "time__end": 2.0},
    }.items():
        energies = []
        for step in (None, 0.01):
            folder = tmp_path / f"{name}-{step}"
            folder.mkdir()
            values = box_values(grid__cells=[16, 16], initial={"kind": "rest"}, **changes, time__step=step)
            (folder / "box.toml").write_text(text_of(values | {"output": {"directory": "out"}}))
            assert run(capsys, "flow", folder / "box.toml", "--quiet").code == 0
            energies.append(record(folder)["results"]["course"][-1]["energy"])
        assert energies[0] == pytest.approx(energies[1], rel=0.01), name


def test_a_flow_that_comes_apart_ends_with_one_line_and_no_state_of_it(tmp_path, capsys):
    """Vortices that come in through an outflow."""
    sides = [{"side": "x-", "kind": "inflow", "velocity": [0.3, 0.0, 0.0]}, {"side": "x+", "kind": "outflow"}]
    changes = {"grid__cells": [16, 16, 16], "grid__size": [1.0, 1.0, 1.0], "fluid__viscosity": 0.002, "side": sides}
    values = box_values(**changes, initial={"kind": "beltrami", "speed": 0.5}, time__end=10.0)
    (tmp_path / "box.toml").write_text(text_of(values | {"output": {"directory": "out", "restart_steps": 10}}))
    done = run(capsys, "flow", tmp_path / "box.toml", "--quiet")
    assert done.code == 1
    assert re.search(r"step (\d+): the velocity has grown \d+ times: the flow has come apart", done.err)
    steps = int(re.search(r"step (\d+)", done.err)[1])
    state = json.loads((tmp_path / "out/restart/restart.json").read_text())
    assert steps - 10 <= state["steps"] < steps


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
