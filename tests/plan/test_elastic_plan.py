"""`fathometer plan` of an elastic survey: counts are those of the run, seconds what they take at a machine's rates."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from cli_support import call, here
from elastic_seabeds import cut_cells
from elastic_surveys import IN_2D, elastic_survey
from machine_support import MACHINE
from mpi4py import MPI

from fathometer.base.errors import InputError
from fathometer.grid.grid import Grid
from fathometer.parallel.threads import ThreadCounts
from fathometer.plan.elastic_rates import ElasticRates
from fathometer.plan.machine_file import Rate, load_machine, save_machine
from fathometer.seismic.elastic import probes
from fathometer.seismic.elastic.plan import plan_elastic
from fathometer.seismic.elastic.setup import prepare_elastic
from fathometer.seismic.plan import PlanRequest
from fathometer.seismic.survey import load_survey

RATES = tuple(
    Rate(physics=physics, dimensions=dimensions, order=4, points=points, points_per_second=rate)
    for physics, dimensions, points, rate in (
        ("elastic", 3, 1e5, 2e7),
        ("elastic", 2, 1e3, 4e7),
        ("viscoelastic", 3, 1e5, 1e7),
    )
)
BESIDE = ElasticRates(
    start_seconds=1.5,
    setup_seconds=0.5,
    model_cell_seconds=1e-6,
    medium_cell_seconds=2e-6,
    relaxation_cell_seconds=4e-6,
    layer_work_3d=0.5,
    layer_work_2d=0.25,
    map_seconds=0.7,
    finish_seconds=3.0,
    finish_bytes=1.5e8,
)
WITH_RATES = MACHINE.model_copy(update={"rates": RATES, "elastic": BESIDE, "local_latency_seconds": 1e-4})
LOSSY = {"model__qp": 60.0, "model__qs": 30.0}


def planned(path, ranks=1, machine=WITH_RATES, **request):
    """The prediction for so many ranks, and seconds by phase."""
    one = plan_elastic(load_survey(path), machine, PlanRequest(ranks, **request)).asked
    return one, {phase.name: phase.seconds for phase in one.phases}


@pytest.mark.parametrize("changes", [IN_2D, LOSSY])
def test_counts_are_those_of_the_run(tmp_path, changes):
    sources = {
        axis: place for axis, place in (("x", 140.0), ("y", 230.0), ("z", 130.0)) if axis != "y" or changes is LOSSY
    }
    few = {"acquisition__sources": sources, "propagation__duration": 0.1, "tuning__search": "never"}
    along_x = {"parallel__decomposition": [2, 1, 1] if changes is LOSSY else [2, 1]}  # where a step is an exchange
    path = elastic_survey(tmp_path, **changes | few | along_x)
    assert call("model", path, "--quiet", "--ranks", 2, "--threads", 1).code == 0
    [folder] = {record.parent for record in tmp_path.glob("*/run.json")}
    record = json.loads((folder / "run.json").read_text())
    machine = tmp_path / "machine.json"
    save_machine(machine, WITH_RATES)
    said = json.loads(here("plan", path, "--on", machine, "--ranks", 2, "--json", "-").out)
    results, told = record["results"], record["ledger"]
    for key in ("steps", "shots", "traces", "time_step_seconds", "points_per_shortest_wavelength"):
        assert said[key] == pytest.approx(results[key], rel=1e-6), key
    assert said["padded_shape"] == results["grid"]["padded_shape"]
    assert said["asked"]["ranks"] == results["grid"]["decomposition"]
    phases = {phase["phase"]: phase for phase in said["asked"]["phases"]}
    entries = {(p["phase"], p["category"]): p for p in told["phases"]}
    stepping = "source propagation"
    assert phases[stepping]["calls"] == entries[stepping, "compute"]["calls"]["max"]
    exchanged = entries["halo exchange", "communication"]["total_bytes"]
    assert phases["halo exchange"]["bytes"] == exchanged
    files = {(f["kind"], f["direction"]): f for f in told["files"]}
    assert phases["read model"]["bytes"] == files["model", "read"]["own_bytes"]
    snapshots = sum(path.stat().st_size for path in folder.glob("snapshots*.rsf@"))
    assert phases["write snapshots"]["bytes"] == snapshots > 0
    traces = sum(path.stat().st_size - 3600 for path in folder.glob("*.segy"))
    assert phases["write traces"]["bytes"] == traces > 0
    of_arrays = said["asked"]["memory_bytes_per_rank"] - said["asked"]["memory_bytes"]["process"]
    assert of_arrays - said["asked"]["memory_bytes"]["drawing"] <= results["predicted_memory_bytes"]


def test_the_model_of_costs_by_hand(tmp_path):
    path = elastic_survey(tmp_path)
    whole = plan_elastic(load_survey(path), WITH_RATES, PlanRequest(2, decomposition=(2, 1, 1)))
    nx, ny, nz = whole.layout.grid.full_shape
    steps, shots = whole.time.steps, len(whole.layout.acquisition.shots)
    half = -(-nx // 2)
    points, width, free = half * ny * nz, whole.layout.boundary.width, whole.layout.free_surface
    assert width <= half
    # Along z whole cache lines; before the far end a layer has the half point before its first node, too.
    row, top = -(-nz // 16) * 16, 0 if free else -(-width // 16) * 16
    lines = top + row - max((nz - 1 - width) // 16 * 16, top)
    work = max(
        n * ny * row + 0.5 * (end * ny * row + n * (2 * width + 1) * row + n * ny * lines)
        for n, end in ((half, width), (nx - half, width + 1))
    )
    phases = {phase.name: phase for phase in whole.asked.phases}
    assert whole.asked.threads == 2
    assert phases["source propagation"].seconds == pytest.approx(shots * steps * work / (2e7 / 2), rel=1e-3)
    face = whole.layout.radius * ny * nz * 4
    assert phases["halo exchange"].seconds == pytest.approx(shots * steps * (2e-4 + 6 * face / 1e10), rel=1e-6)
    assert phases["halo exchange"].calls == 2 * shots * steps
    assert phases["set up"].seconds == pytest.approx(0.5 + 2e-6 * points, rel=1e-3)
    assert phases["write peak velocities"].seconds == pytest.approx((shots - 1) * 0.7, rel=1e-2)
    assert (phases["start-up"].seconds, phases["finish"].seconds) == (1.5, 3.0)


def test_series_of_many_sources_cost_time(tmp_path):
    rows = "".join(f"0,0,0,{n / 10000},1e10\n" for n in range(300))
    (tmp_path / "fault.csv").write_text("x,y,z,onset,mxx\n" + rows)
    table = {f"source__{key}": None for key in ("strike", "dip", "rake", "moment")}
    table |= {"source__kind": "table", "source__path": "fault.csv"}
    machine = WITH_RATES.model_copy(update={"trace_step_seconds": 1e-7})
    whole = plan_elastic(load_survey(elastic_survey(tmp_path, **table)), machine, PlanRequest(1))
    _, plain = planned(elastic_survey(tmp_path, propagation__time_dispersion="none", **table), machine=machine)
    seconds = {phase.name: phase.seconds for phase in whole.asked.phases}
    samples = len(whole.layout.acquisition.shots) * 300 * 2 * whole.time.steps
    assert seconds["set up"] - plain["set up"] == pytest.approx(2 * samples * 1e-7, rel=1e-6)


def test_short_rows_cost_more_than_long_ones(tmp_path):
    """Rows are whole cache lines; rates are those of cubes, whose rows have a cost of their own too."""
    keys = {"layer_work_3d": 0.0, "layer_work_2d": 0.0}
    machines = [
        WITH_RATES.model_copy(update={"elastic": BESIDE.model_copy(update=keys | {"row_work_3d": work})})
        for work in (0.0, 100.0)
    ]
    path = elastic_survey(tmp_path)
    shape = prepare_elastic(load_survey(path), MPI.COMM_SELF).grid.full_shape
    without, with_rows = (planned(path, machine=machine)[1]["source propagation"] for machine in machines)
    row, edge = -(-shape[2] // 16) * 16, math.cbrt(1e5)  # of the one cube that was measured
    assert math.prod(shape) != pytest.approx(1e5, rel=0.1)
    assert with_rows / without == pytest.approx((1 + 100 / row) / (1 + 100 / edge), rel=1e-3)
    flat = elastic_survey(tmp_path, **IN_2D)
    assert planned(flat, machine=machines[0])[1] == planned(flat, machine=machines[1])[1]


def test_a_plan_looks_at_sources_once(tmp_path, monkeypatch):
    """However many shots there are, and however many blocks are compared."""
    calls = []
    cells = Grid.to_cells
    monkeypatch.setattr(Grid, "to_cells", lambda grid, positions: calls.append(1) or cells(grid, positions))
    asked = []
    for shots in (2, 50):
        sources = {"x": [140.0, 240.0, 100.0 / (shots - 1)], "y": 230.0, "z": 130.0}
        plan_elastic(load_survey(elastic_survey(tmp_path, acquisition__sources=sources)), WITH_RATES, PlanRequest())
        asked.append(len(calls))
        calls.clear()
    assert asked[1] <= asked[0] + 2


def test_attenuation_costs_its_own_rate_and_memory(tmp_path):
    bare = WITH_RATES.model_copy(update={"elastic": BESIDE.model_copy(update={"layer_work_3d": 0.0})})
    plain, seconds = planned(elastic_survey(tmp_path), machine=bare)
    lossy, more = planned(elastic_survey(tmp_path, **LOSSY), machine=bare)
    assert more["source propagation"] == pytest.approx(2 * seconds["source propagation"], rel=0.05)  # steps differ
    assert more["set up"] > 2 * seconds["set up"] - 0.5
    assert lossy.memory_bytes["attenuation"] > 0.4 * plain.memory_bytes["wavefields"]


def test_time_step_and_velocities_are_those_of_the_model(tmp_path):
    survey = load_survey(elastic_survey(tmp_path, **LOSSY))
    setup = prepare_elastic(survey, MPI.COMM_SELF)
    said = plan_elastic(survey, WITH_RATES, PlanRequest())
    assert said.time.dt == pytest.approx(setup.time.dt, rel=1e-9)
    assert (said.known.slowest, said.known.fastest) == pytest.approx((setup.run.slowest, setup.run.fastest))
    assumed = plan_elastic(survey, WITH_RATES, PlanRequest(velocities=(1000.0, 2550.0)))
    assert (assumed.known.slowest, assumed.known.fastest) == (1000.0, 2550.0)
    assert assumed.time.dt == pytest.approx(setup.time.dt, rel=0.01)


def test_memory_is_that_of_the_arrays(tmp_path):
    survey = load_survey(elastic_survey(tmp_path, **LOSSY))
    setup = prepare_elastic(survey, MPI.COMM_SELF)
    wave = setup.propagator()
    parts = setup.layout.wavefield_bytes(setup.run.block)
    medium = [*setup.medium.buoyancy.values(), setup.medium.p_modulus, setup.medium.lame, *setup.medium.shear.values()]
    read = 5 * 4 * math.prod(setup.grid.full_shape)
    held = wave.changing_bytes + sum(array.nbytes for array in medium) + 2 * medium[0].nbytes  # defects
    said = sum(parts.values()) - read - parts.get("snapshots", 0)
    wave.close()
    assert held <= said <= 1.15 * held


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (("migrate",), "migrate"),
        (("migrate-time",), "migrate-time"),
        (("submit", "--time", "1h"), "submit"),
        (("plan", "--migrate"), "plan --migrate"),
        (("plan", "--migrate-time"), "migrate-time"),
    ],
)
def test_elastic_surveys_are_not_migrated(tmp_path, words, command):
    path, machine = elastic_survey(tmp_path), tmp_path / "machine.json"
    save_machine(machine, WITH_RATES)
    done = here(words[0], path, *words[1:], *(("--on", machine) if words[0] == "plan" else ()))
    assert done.code == 2
    assert f'[propagation] physics: found "elastic"; allowed for `{command}`: "acoustic"' in done.err
    assert len(done.err.splitlines()) == 1


def test_a_machine_without_elastic_rates_says_so(tmp_path):
    with pytest.raises(InputError, match=r"rates: found none of elastic, viscoelastic; `fathometer calibrate`"):
        plan_elastic(load_survey(elastic_survey(tmp_path)), MACHINE, PlanRequest())


@pytest.mark.parametrize("keys", [("vp", 20.0), ("vs", 2500.0), ("density", 2.2)])
def test_values_that_a_run_refuses(tmp_path, keys):
    name, value = keys
    survey = load_survey(elastic_survey(tmp_path, **{} if name == "vp" else {f"model__{name}": value}))
    if name == "vp":
        np.save(tmp_path / "vp.npy", np.full((26, 26, 26), value, np.float32))
    with pytest.raises(InputError, match=rf"\[model\] {name}: found"):
        plan_elastic(survey, WITH_RATES, PlanRequest())


def test_rates_are_measured_and_read_again(tmp_path, monkeypatch):
    """Of all kinds, on tiny grids: a machine file holds them."""
    monkeypatch.setattr(probes, "SIZES", {3: ((24, 24, 24),), 2: ((40, 1, 40),)})
    threads = ThreadCounts(1, 1, 1, ())
    monkeypatch.setattr(probes, "STEPS", 4)
    rates = list(probes.step_rates(threads, lambda task, least=3: (task(), 1e-3)[1], lambda line: None))
    assert {(r.physics, r.dimensions) for r in rates} == {(p, d) for p in ("elastic", "viscoelastic") for d in (2, 3)}
    assert all(r.points_per_second == 4 * r.points / 1e-3 for r in rates)
    path = tmp_path / "machine.json"
    save_machine(path, WITH_RATES.model_copy(update={"rates": tuple(rates)}))
    assert load_machine(path).elastic == BESIDE
    monkeypatch.setattr(probes, "LAYERED", {3: (48, 48, 48), 2: (64, 1, 64)})
    taken = iter([1.0, 2.5])
    inside = 48**2 * (41 + 41 + 48)  # along z whole cache lines of 16 cells
    assert probes.layer_work(3, threads, 4, lambda task, least=3: next(taken)) == pytest.approx(1.5 * 48**3 / inside)
    monkeypatch.setattr(probes, "ROWS", ((16, 16, 48), (16, 16, 96)))
    taken = iter([2.0, 2.5])  # rows (work + cells): work = 144 cells
    assert probes.row_work(threads, 4, lambda task, least=3: next(taken)) == pytest.approx(144)
    taken = iter([2.0, 2.0])  # noise
    assert probes.row_work(threads, 4, lambda task, least=3: next(taken)) == 0
    cells, checks, medium = probes._set_up_seconds(tmp_path, probes.SMALL, {})
    assert cells >= math.prod(probes.SMALL)
    assert min(checks, medium) > 0  # the phases are those of a run
    model = {probes.SMALL: (1000, 0.5, 0.25), probes.LARGE: (3000, 0.75, 1.25)}
    monkeypatch.setattr(probes, "_set_up_seconds", lambda folder, shape, lossy: model[shape])
    assert probes._cell_seconds(tmp_path, {}) == pytest.approx((0.25 / 2000, 1.0 / 2000))


@pytest.mark.parametrize(
    ("depth", "words"),
    [
        (30.5, None),
        (30.3, None),
        (30.7, None),
        (30.05, "lies close to a node, 601 m deep"),
        (30.95, "lies close to a node, 619 m deep"),
        ([30.5, 33.5], "slopes, from 610 to 670 m"),
        (-1.0, None),
    ],
)
def test_a_sea_floor_that_costs_more_is_noted(tmp_path, depth, words):
    shape = (24, 1, 60)
    one = np.ones(shape)
    depths = np.broadcast_to(np.resize(depth, 24)[:, None], shape[:2])
    model = cut_cells(depths, (1500 * one, 1000 * one), (3000 * one, 1700 * one, 2200 * one))
    for name, values in zip(("vp", "vs", "density"), model, strict=True):
        np.save(tmp_path / f"sea-{name}.npy", values[:, 0].astype(np.float32))
    path = elastic_survey(tmp_path, **IN_2D | {f"model__{name}": f"sea-{name}.npy" for name in ("vp", "vs", "density")})
    notes = plan_elastic(load_survey(path), WITH_RATES, PlanRequest(1)).notes
    assert [note for note in notes if "sea floor" in note] == [note for note in notes if words and words in note]
    assert any("sea floor" in note for note in notes) == bool(words)
