"""Plans: counts against published ones and against the ledger of real runs, requests that can and cannot be met."""

import json
import math
import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from cli_support import MIGRATE, MODEL, NX, NZ, call, finish, inputs, mpirun, run, start, survey
from hypothesis import given
from hypothesis import strategies as st
from machine_support import MACHINE
from mpi4py import MPI
from paths import ROOT

from examples.historical import FOLDER, SMALL, published, table
from fathometer.base.errors import InputError
from fathometer.lab import calibrate
from fathometer.lab.measuring import Measuring
from fathometer.lab.studies.watch import Watch
from fathometer.plan.machine_file import load_machine, save_machine
from fathometer.seismic.acoustic import plan as plans
from fathometer.seismic.acoustic.plan import plan_acoustic
from fathometer.seismic.acoustic.predict import predict
from fathometer.seismic.plan import PlanRequest
from fathometer.seismic.setup import survey_layout
from fathometer.seismic.shots.window import window_of
from fathometer.seismic.survey import load_survey
from fathometer.seismic.waves.physics import ISOTROPIC, PHYSICS


@pytest.fixture
def machine_file(tmp_path):
    path = tmp_path / "machine.json"
    save_machine(path, MACHINE)
    return path


@pytest.mark.parametrize(("nodes", "model", "traces"), [(16, 2.04e9, 442e6), (8, 0.95e9, 206e6)])
def test_published_overlap_reads(nodes, model, traces):
    """(nodes - 1) x 8 x ny x nz x 4 B x 3 files, and (nodes - 1) x 8 x ny x 4 B x 800 samples."""
    request = PlanRequest(nodes, nodes, (nodes, 1, 1), velocities=(1500.0, 4500.0), migrate=True, history="files")
    one = plan_acoustic(load_survey(FOLDER / "small.toml"), load_machine(FOLDER / "cluster.json"), request)
    assert one.time.steps == 800
    assert one.layout.acquisition.samples == 800
    assert one.asked.model_halo_bytes == (nodes - 1) * 8 * 1151 * 1231 * 4 * 3 == pytest.approx(model, rel=0.005)
    assert one.asked.trace_halo_bytes == (nodes - 1) * 8 * 1151 * 4 * 800 == pytest.approx(traces, rel=0.005)
    kernel, total = published()[SMALL, nodes]
    assert one.asked.kernel_seconds == pytest.approx(kernel, rel=0.2)
    assert one.asked.seconds == pytest.approx(total, rel=0.2)
    shown = f"| {nodes} | {kernel:.0f} s | {one.asked.kernel_seconds:.0f} s | {one.asked.kernel_seconds / kernel:.2f} |"
    assert f"| 1243x1151x1231 {shown}" in (ROOT / "docs" / "guide" / "planning.md").read_text()


@pytest.mark.parametrize("cut", [(2, 1), (2, 2)])
def test_counts_are_those_of_the_run(migrated, capsys, machine_file, cut):
    """Without reading the volumes: grid, time step, steps, bytes of halos and files are what the run then has."""
    folder, ranks = migrated(cut), cut[0] * cut[1]
    record = json.loads((folder / "out" / "run.json").read_text())
    done = run(capsys, "plan", folder / "survey.toml", "--on", machine_file, "--ranks", ranks, "--json", "-")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    results, told = record["results"], record["ledger"]
    for key in ("steps", "imaging_step", "shots", "traces", "time_step_seconds", "points_per_shortest_wavelength"):
        assert said[key] == pytest.approx(results[key], rel=1e-6), key
    assert said["padded_shape"] == results["grid"]["padded_shape"]
    assert said["asked"]["ranks"] == results["grid"]["decomposition"]
    phases = {phase["phase"]: phase for phase in said["asked"]["phases"]}
    entries = {(p["phase"], p["category"]): p for p in told["phases"]}
    assert phases["halo exchange"]["bytes"] == entries["halo exchange", "communication"]["total_bytes"]
    assert phases["halo exchange"]["calls"] == 2 * results["steps"] * results["shots"]
    for name in ("history push", "history pop"):
        assert phases[name]["bytes"] == entries[name, "compute"]["total_bytes"]
        assert phases[name]["calls"] == entries[name, "compute"]["calls"]["max"]
    files = {(f["kind"], f["direction"]): f for f in told["files"]}
    assert phases["read model"]["bytes"] == files["model", "read"]["own_bytes"] == 4 * NX * NZ
    assert phases["read traces"]["bytes"] == files["traces", "read"]["own_bytes"]
    written = files["image", "write"]["bytes"] - sum(p.stat().st_size for p in (folder / "out").glob("*.rsf"))
    assert phases["write image"]["bytes"] == written


def test_the_model_of_costs_by_hand(tmp_path):
    inputs(tmp_path)
    survey(tmp_path, MODEL)
    one = plan_acoustic(load_survey(tmp_path / "survey.toml"), MACHINE, PlanRequest(2, 2)).asked
    layout = plan_acoustic(load_survey(tmp_path / "survey.toml"), MACHINE, PlanRequest(2, 2)).layout
    nx, _, nz = layout.grid.full_shape
    phases = {phase.name: phase for phase in one.phases}
    points = -(-nx // 2) * nz
    rate = math.exp(math.log(8e8) + (math.log(2e8) - math.log(8e8)) * math.log(points / 1e4) / math.log(100))
    rate = rate if points > 1e4 else 8e8
    steps = plan_acoustic(load_survey(tmp_path / "survey.toml"), MACHINE, PlanRequest(2, 2)).time.steps
    assert phases["source propagation"].seconds == pytest.approx(steps * points / rate)
    travelling = 1e-5 + layout.radius * nz * 4 / 1e9
    assert phases["halo exchange"].seconds == pytest.approx(steps * max(0, travelling - points / rate))
    assert phases["read model"].seconds == pytest.approx(4 * NX * NZ / 2e8)  # what the storage gives, not two nodes
    assert (phases["start-up"].seconds, phases["finish"].seconds) == (1.0, 2.0)
    assert one.seconds == pytest.approx(sum(phase.seconds for phase in one.phases))


@given(st.integers(1, 8), st.floats(1e3, 1e8))
def test_rates_between_those_that_are_known(half, points):
    """Within the table between its ends; another order costs in proportion to its flops."""
    flops = {name: physics.flops_per_point for name, physics in PHYSICS.items()}
    at_8 = MACHINE.points_per_second("isotropic", 2, 8, points, flops)
    assert 2e8 * (1 - 1e-9) <= at_8 <= 8e8 * (1 + 1e-9)
    other = MACHINE.points_per_second("isotropic", 2, 2 * half, points, flops)
    assert other == pytest.approx(at_8 * ISOTROPIC.flops_per_point(8, True) / ISOTROPIC.flops_per_point(2 * half, True))


def test_memory_is_what_the_run_takes(tmp_path, machine_file):
    """Within 5 %: the arrays of a run that are several times the process, and the process before it holds any."""
    inputs(tmp_path)
    words = ("--quiet", "--threads", 2)
    begun = "import mpi4py.MPI, fathometer.seismic.rtm.driver as _; from fathometer.base import host; "
    done = subprocess.run([sys.executable, "-c", f"{begun}print(host.peak_memory())"], capture_output=True, check=True)
    process = int(done.stdout)
    np.save(tmp_path / "vp.npy", np.full((NX * 20, NZ * 20), 2000.0, np.float32))
    keys = MIGRATE | {"model.spacing": [2.0, 2.0], "model.epsilon": 0.1, "imaging.every": 2, "history.store": "memory"}
    path = survey(tmp_path, keys)
    said = plan_acoustic(
        load_survey(path), MACHINE.model_copy(update={"process_bytes": float(process)}), PlanRequest(1)
    ).asked
    assert call("migrate", path, *words).code == 0
    [peak] = json.loads((tmp_path / "out" / "run.json").read_text())["results"]["peak_memory_bytes"]
    assert peak > 3 * process
    assert said.rank_bytes == pytest.approx(peak, rel=0.05)


def test_memory_of_the_rank_that_takes_most(tmp_path, machine_file):
    """Of ranks in a row the inner ones hold more of the model, and of its history, than the outer ones."""
    inputs(tmp_path)
    np.save(tmp_path / "vp.npy", np.full((NX * 20, NZ * 20), 2000.0, np.float32))
    keys = MIGRATE | {"model.spacing": [2.0, 2.0], "imaging.every": 2, "parallel.decomposition": [4, 1]}
    keys |= {"history.store": "memory"}
    keys |= {"propagation.boundary": {"kind": "sponge", "width": 60}}
    path = survey(tmp_path, keys)
    assert call("migrate", path, "--quiet", "--ranks", 4, "--overwrite").code == 0
    peaks = json.loads((tmp_path / "out" / "run.json").read_text())["results"]["peak_memory_bytes"]
    said = plan_acoustic(load_survey(path), MACHINE.model_copy(update={"process_bytes": 9e7}), PlanRequest(4)).asked
    assert max(peaks) > 1.1 * peaks[-1]
    assert said.rank_bytes == pytest.approx(max(peaks), rel=0.1)


def test_memory_of_the_whole_image_where_shots_need_little(tmp_path):
    """Each rank adds up its part of image and illumination, however small the windows of the shots are."""
    inputs(tmp_path)
    np.save(tmp_path / "vp.npy", np.full((NX * 300, NZ * 20), 2000.0, np.float32))
    keys = MIGRATE | {"model.spacing": [10.0, 2.0], "imaging.aperture": 10.0, "history.store": "disk"}
    machine = MACHINE.model_copy(update={"memory_bytes_per_node": 1e10})
    said = plan_acoustic(load_survey(survey(tmp_path, keys)), machine, PlanRequest(2)).asked
    assert said.memory_bytes["sums of shots"] == 2 * 4 * NX * 300 * NZ * 20 / 2
    assert said.rank_bytes == sum(said.memory_bytes.values())


def test_bins_that_hold_no_trace_are_refused_before_the_run(tmp_path):
    inputs(tmp_path)
    keys = {"imaging.gathers": "offset", "imaging.offset_bins": [5000.0, 6000.0]}
    with pytest.raises(InputError, match=r"\[imaging\] offset_bins: found no trace in any of them"):
        plan_acoustic(load_survey(survey(tmp_path, MIGRATE | keys)), MACHINE, PlanRequest())


def test_windows_are_looked_for_once(tmp_path, monkeypatch):
    """Not for each layout: a survey has thousands of shots, and each window looks at all its receivers."""
    asked = []

    def counted(*words):
        asked.append(words)
        return window_of(*words)

    monkeypatch.setattr(survey_layout, "window_of", counted)
    inputs(tmp_path)
    plan_acoustic(load_survey(survey(tmp_path, MIGRATE | {"imaging.aperture": 10.0})), MACHINE, PlanRequest())
    assert len(asked) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bytes_of_the_model_are_those_of_its_files(tmp_path, dtype):
    inputs(tmp_path)
    np.save(tmp_path / "vp.npy", np.full((NX, NZ), 2000.0, dtype))
    one = plan_acoustic(load_survey(survey(tmp_path, MODEL)), MACHINE, PlanRequest()).asked
    phases = {phase.name: phase for phase in one.phases}
    assert phases["read model"].bytes == NX * NZ * np.dtype(dtype).itemsize


def test_a_large_cluster_is_no_reason_to_think_long(tmp_path, monkeypatch):
    """Of a hundred thousand numbers of nodes a few are looked at."""
    predicted = []

    def counted(*words):
        predicted.append(words)
        return predict(*words)

    monkeypatch.setattr(plans, "predict", counted)
    inputs(tmp_path)
    loaded = load_survey(survey(tmp_path, MODEL))
    plan_acoustic(loaded, small(1e9, nodes=100_000, cores_per_node=128), PlanRequest())
    assert 0 < len(predicted) < 1000, len(predicted)
    with pytest.raises(InputError, match=r"no layout on 9973 nodes .* thinner than the 4 cells"):
        plan_acoustic(loaded, small(1e9, nodes=9973), PlanRequest(nodes=9973))


def test_a_plan_replaces_no_input(tmp_path, capsys, machine_file):
    inputs(tmp_path)
    path = survey(tmp_path, MODEL)
    done = run(capsys, "plan", path, "--on", machine_file, "--json", path)
    assert done.code == 2
    assert "survey.toml would replace the survey" in done.err
    done = run(capsys, "model", path, "--trace", tmp_path / "vp.npy")
    assert done.code == 2
    assert "vp.npy would replace [model] vp" in done.err


def test_a_header_is_enough(tmp_path, capsys, machine_file):
    inputs(tmp_path)
    (tmp_path / "vp.rsf").write_text(f"n1={NZ} d1=10 n2={NX} d2=10 o1=0 o2=0\n")
    path = survey(tmp_path, MODEL | {"model.vp": "vp.rsf", "model.spacing": None})
    refused = run(capsys, "plan", path, "--on", machine_file)
    assert refused.code == 2
    assert "vp.rsf: the values are missing, only the header is there; a plan needs some rows of them, or" in refused.err
    done = run(capsys, "plan", path, "--on", machine_file, "--velocities", "2000,2500")
    assert done.code == 0, done.err
    assert "assumed from 2000 to 2500 m/s" in done.out
    with_values = run(capsys, "plan", survey(tmp_path, MODEL, "values.toml"), "--on", machine_file, "--json", "-")
    said = run(capsys, "plan", path, "--on", machine_file, "--velocities", "2000,2500", "--json", "-")
    assert json.loads(said.out)["steps"] == json.loads(with_values.out)["steps"]
    assert run(capsys, "model", path, "--quiet").code == 2  # a run needs the values


def test_no_more_than_some_rows_are_read(tmp_path, machine_file, capsys, monkeypatch):
    """Of a volume whose rows lie far apart only those of the sample are looked at."""
    inputs(tmp_path)
    np.save(tmp_path / "vp.npy", np.full((90, 80, 20), 2000.0, np.float32))
    monkeypatch.setattr("fathometer.seismic.model.earth.MOST_ROWS", 100)
    keys = {
        "model.spacing": [10.0] * 3,
        "acquisition.sources": {"x": 100.0, "y": 100.0, "z": 20.0},
        "acquisition.receivers": {"x": 100.0, "y": 100.0, "z": 20.0},
    }
    done = run(capsys, "plan", survey(tmp_path, MODEL | keys), "--on", machine_file)
    assert done.code == 0, done.err
    assert "from 100 of 7200 rows of the model" in done.out


def test_the_fewest_nodes_for_a_wanted_time(tmp_path):
    inputs(tmp_path)
    np.save(tmp_path / "vp.npy", np.full((NX * 10, NZ * 10), 2000.0, np.float32))
    loaded = load_survey(survey(tmp_path, MODEL | {"propagation.duration": 20.0}))
    alone = plan_acoustic(loaded, MACHINE, PlanRequest(nodes=1)).recommended
    fastest = plan_acoustic(loaded, MACHINE, PlanRequest()).recommended
    assert fastest.seconds < alone.seconds
    wanted = (alone.seconds + fastest.seconds) / 2
    chosen = plan_acoustic(loaded, MACHINE, PlanRequest(within=wanted)).recommended
    assert chosen.seconds <= wanted
    assert 1 < chosen.nodes <= MACHINE.nodes
    assert all(
        plan_acoustic(loaded, MACHINE, PlanRequest(nodes=n)).recommended.seconds > wanted
        for n in range(1, chosen.nodes)
    )


def small(memory, **changes):
    """The machine with so many bytes a node."""
    return MACHINE.model_copy(update={"memory_bytes_per_node": memory} | changes)


def test_what_does_not_fit_says_what_would_be_needed(tmp_path):
    inputs(tmp_path)
    loaded = load_survey(survey(tmp_path, MIGRATE))
    with pytest.raises(InputError, match=r"no layout fits the memory: .* [MG]B are needed, 4 nodes .* needed: about"):
        plan_acoustic(loaded, small(1e8), PlanRequest())
    with pytest.raises(InputError, match=r"--within 1 s: the fastest layout on up to 4 nodes .* needed: more nodes"):
        plan_acoustic(loaded, MACHINE, PlanRequest(within=1.0))


def test_a_longer_imaging_step_where_memory_is_short(tmp_path):
    inputs(tmp_path)
    np.save(tmp_path / "vp.npy", np.full((NX * 10, NZ * 10), 2000.0, np.float32))
    keys = MIGRATE | {"model.spacing": [1.0, 1.0], "propagation.dt": 0.0002}
    loaded = load_survey(survey(tmp_path, keys))
    plenty = plan_acoustic(loaded, MACHINE, PlanRequest(nodes=1)).recommended
    need = (plenty.rank_bytes - plenty.memory_bytes["wavefield history"] * 0.1) / 0.7
    tight = plan_acoustic(loaded, small(need), PlanRequest(nodes=1))
    assert tight.recommended.every > plenty.every
    assert any("set [imaging] every" in note for note in tight.notes)


def test_a_recommended_layout_other_than_the_survey_s(tmp_path):
    """It says that the survey must then ask for no decomposition of its own."""
    inputs(tmp_path)
    free = plan_acoustic(load_survey(survey(tmp_path, MIGRATE)), MACHINE, PlanRequest(nodes=1)).recommended
    same = [free.shot_ranks[0], free.shot_ranks[2]]
    for wanted, expected in ((same, False), ([same[0] + 1, same[1]], True)):
        path = survey(tmp_path, MIGRATE | {"parallel.decomposition": wanted})
        notes = plan_acoustic(load_survey(path), MACHINE, PlanRequest(nodes=1)).notes
        assert any("[parallel] decomposition" in note for note in notes) is expected, wanted


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--on", "nowhere.json"), "nowhere.json: cannot be read: no such file"),
        (("--on", "survey.toml"), "survey.toml: not JSON"),
        (("--on", "empty.json"), "empty.json: not a machine file"),
        (("--on", "newer.json"), "newer.json: found version 2; allowed: 1"),
        (("--on", "wrong.json"), "wrong.json: triad_bytes_per_second: found -1.0; allowed: a number above 0"),
        (("--on", "machine.json", "--ranks", "3", "--nodes", "2"), "--ranks 3: allowed: a multiple of the 2 nodes"),
        (("--on", "machine.json", "--nodes", "9"), "--nodes 9: the machine has 4"),
        (("--on", "machine.json", "--within", "soon"), "found soon; allowed: a time such as 90s, 30m, 8h or 2d"),
        (("--on", "machine.json", "--velocities", "3000,2000"), "found 3000,2000; allowed: LOWEST,HIGHEST"),
        (("--on", "machine.json", "--velocities", "2,3"), "found 2 to 3 m/s; allowed: 300 to 9000"),
        (("--on", "machine.json", "--ranks", "2", "--decomposition", "3,1"), "is for 3 ranks, but 2 are running"),
    ],
)
def test_wrong_words_are_one_error(tmp_path, capsys, machine_file, monkeypatch, words, told):
    inputs(tmp_path)
    survey(tmp_path, MODEL)
    values = json.loads(machine_file.read_text())
    (tmp_path / "empty.json").write_text("{}")
    (tmp_path / "newer.json").write_text(json.dumps(values | {"schema_version": 2}))
    (tmp_path / "wrong.json").write_text(json.dumps(values | {"triad_bytes_per_second": -1.0}))
    monkeypatch.chdir(tmp_path)
    done = run(capsys, "plan", "survey.toml", *words)
    assert done.code == 2
    assert done.err.startswith("fathometer: error: ")
    assert told in done.err
    assert done.err.count("\n") == 1


def test_a_machine_that_was_not_measured(tmp_path, capsys, monkeypatch):
    inputs(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = run(capsys, "plan", survey(tmp_path, MODEL))
    assert done.code == 2
    assert "run `fathometer calibrate`" in done.err


def test_latency_and_bandwidth_of_two_exchanges(monkeypatch):
    """A line through both; none below zero where a busy machine gave the small one more than its part."""
    for small, large, latency in ((3e-5, 1.2e-4, 2e-5), (3e-5, 3e-4, 0.0)):
        sizes = {calibrate.FACES[0]: (small, 1000), calibrate.FACES[1]: (large, 10_000)}
        monkeypatch.setattr(calibrate, "_exchange", lambda pair, face, measuring, sizes=sizes: sizes[face])
        found = calibrate._pair(MPI.COMM_SELF, 0, "local", Measuring(Watch()))
        assert found["local_latency_seconds"] == pytest.approx(latency)
        assert found["local_bytes_per_second"] == pytest.approx(9000 / (large - small))
    assert calibrate._pair(MPI.COMM_SELF, None, "network", Measuring(Watch())) == {}


def test_calibrate_and_plan_go_together(tmp_path, monkeypatch):
    """Small sizes here: what is measured, not how well."""
    inputs(tmp_path)
    (tmp_path / "small.py").write_text(
        "import sys\n"
        "from fathometer.lab import calibrate\n"
        "from fathometer.seismic.acoustic import probes\n"
        "probes.SIZES = {3: ((12, 12, 12), (16, 16, 16)), 2: ((20, 1, 20), (40, 1, 40))}\n"
        "from fathometer.lab import measuring\n"
        "calibrate.TRIAD_ELEMENTS, calibrate.FILE_BYTES, calibrate.FRESH_BYTES = 1 << 16, 1 << 21, 1 << 20\n"
        "once = lambda self, task, least=3: self.least_of([measuring.timed(task)])\n"
        "measuring.Measuring.seconds_of = once\n"
        "from fathometer.seismic.kirchhoff import probes as of_time\n"
        "of_time.SIZES = of_time.Sizes(4, 64, 8, 1000, (6, 6, 20))\n"
        "from fathometer.apps.reactive import probes as of_flows\n"
        "of_flows.CELLS, of_flows.STEPS = 6, 2\n"
        "probes.TRACES, probes.TRACE_STEPS, probes.POINTS = (4, 12), 200, 50\n"
        "from fathometer.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    monkeypatch.chdir(tmp_path)
    words = [*mpirun(2), sys.executable, "small.py", "calibrate", "-o", "here.json", "--name", "here"]
    done = finish(start(*words))
    assert done.code == 0, done.err
    here = load_machine(tmp_path / "here.json")
    acoustic, elastic = ("vti", "isotropic"), ("elastic", "viscoelastic")
    assert (here.name, len(here.rates)) == ("here", 4 * 2 * 4 + 4 * 2)
    assert {(r.physics, r.dimensions) for r in here.rates} == {(p, d) for p in acoustic + elastic for d in (2, 3)}
    assert [(r.dimensions, r.eta) for r in here.trace_sums] == [(3, False), (3, True), (2, False), (2, True)]
    if here.implicit is not None:
        assert min(here.implicit.jacobian_seconds, here.implicit.iteration_seconds, here.implicit.finish_seconds) > 0
    assert min(here.bank_seconds, here.filter_seconds, here.velocity_seconds, here.term_seconds) > 0
    kinds = [(ends.command, ends.ranks) for ends in here.runs]
    assert kinds == [
        (name, ranks) for name in ("model", "migrate", "migrate-time") for ranks in (1, 2)[: os.cpu_count()]
    ]
    for ends in here.runs:
        assert min(ends.start_seconds, ends.setup_seconds, ends.finish_seconds) > 0
        assert ends.finish_bytes >= ends.process_bytes > 3e7
    assert min(here.fresh_bytes_per_second, here.unused_bytes_per_second) > 0
    of = [name for one in here.calibration.measurements for name in one.figures]
    assert len(of) == len(set(of))
    told = {name.split(":")[0] for name in of} | {"schema_version", "name", "cores_per_node", "memory_bytes_per_node"}
    assert {*here.model_fields_set} - told == {"notes", "calibration"}
    assert (here.implicit is not None) == (find_spec("petsc4py") is not None)
    assert here.local_bytes_per_second > 0
    assert here.process_bytes > 3e7
    assert not list(tmp_path.glob(".calibrate-*"))
    said = call("plan", survey(tmp_path, MODEL), "--on", "here.json")
    assert said.code == 0, said.err
    assert "on here" in said.out
    assert "machine file: measured today" in said.out
    assert "without" not in said.out.split("machine file: ", 1)[1]


@pytest.mark.verify
def test_the_guide_shows_what_the_example_prints():
    guide = (ROOT / "docs" / "guide" / "planning.md").read_text(encoding="utf-8")
    assert table() in guide
