"""Plans of time migrations: counts and memory against runs, both ways of sharing, machine files without their rates."""

import json
from functools import partial

import numpy as np
import pytest
from cli_support import MIGRATE, NX, NZ, SPACING, call, inputs, run, survey
from machine_support import MACHINE
from survey_support import OVERWRITE, _run

from fathometer.base.errors import InputError
from fathometer.parallel.threads import ThreadCounts
from fathometer.plan.machine_file import Machine, SumRate, load_machine, save_machine
from fathometer.seismic.kirchhoff.cost.counts import counts_of, sampled_velocities
from fathometer.seismic.kirchhoff.cost.plan import plan_time_migration
from fathometer.seismic.kirchhoff.cost.plan_table import lines
from fathometer.seismic.kirchhoff.driver import run_migrate_time
from fathometer.seismic.kirchhoff.probes import Sizes, SumCase, time_migration_figures
from fathometer.seismic.kirchhoff.time_layout import time_layout
from fathometer.seismic.plan import PlanRequest
from fathometer.seismic.survey import load_survey
from fathometer.storage.traces.segy import GatherWriter

RATES = tuple(
    SumRate(dimensions=d, eta=eta, samples_per_second=1e9 / (1 + eta), nodes_per_second=1e8)
    for d in (2, 3)
    for eta in (False, True)
)
WITH_SUMS = MACHINE.model_copy(
    update={
        "trace_sums": RATES,
        "bank_seconds": 1e-9,
        "filter_seconds": 1e-7,
        "velocity_seconds": 1e-7,
        "term_seconds": 1e-9,
        "time_finish_seconds": 3.0,
    }
)
BLOCKS = {"time_migration.block_traces": 40, "time_migration.dip": 50.0}


def line(folder, keys=None, shots=6, samples=151):
    """A 2D survey with noise for traces: what is counted does not depend on them."""
    inputs(folder)
    rng = np.random.default_rng(3)
    receivers = np.stack([SPACING * np.arange(NX), np.zeros(NX), np.full(NX, 20.0)], axis=1)
    with GatherWriter(folder / "recorded.segy", samples, 0.004, shots * NX) as writer:
        for shot in range(shots):
            source = (SPACING * NX * shot / shots, 0.0, 20.0)
            writer.write(shot * NX, shot + 1, source, receivers, rng.standard_normal((NX, samples)).astype("f4"))
    return survey(folder, MIGRATE | BLOCKS | (keys or {}))


def cube(folder, keys=None):
    """A 3D survey of two shots."""
    rng = np.random.default_rng(3)
    np.save(folder / "vp.npy", np.broadcast_to(np.linspace(1500, 3000, 30, dtype=np.float32), (20, 15, 30)))
    x, y = (axis.reshape(-1) for axis in np.meshgrid(10.0 * np.arange(20), 10.0 * np.arange(15), indexing="ij"))
    receivers = np.stack([x, y, np.zeros(300)], axis=1)
    with GatherWriter(folder / "recorded.segy", 100, 0.004, 600) as writer:
        for shot in range(2):
            traces = rng.standard_normal((300, 100)).astype("f4")
            writer.write(300 * shot, shot + 1, (50.0 + 80.0 * shot, 60.0, 0.0), receivers, traces)
    geometry = {"model.spacing": [10.0] * 3, "time_migration.block_traces": 300}
    return survey(folder, MIGRATE | geometry | (keys or {}))


def planned(path, ranks=None, machine=WITH_SUMS, **more):
    return plan_time_migration(load_survey(path), machine, PlanRequest(ranks, **more))


def migrated(path):
    return _run(run_migrate_time, load_survey(path), OVERWRITE).record["results"]


@pytest.mark.parametrize(
    ("made", "keys"),
    [
        (line, {}),
        (line, {"time_migration.aperture": 80.0}),
        (line, {"time_migration.start": 0.1, "time_migration.dip": 20.0}),
        (line, {"time_migration.dip": 90.0, "time_migration.eta": 0.1, "time_migration.velocity": 2000.0}),
        (cube, {"time_migration.aperture": 60.0, "time_migration.dip": 40.0}),
        (cube, {"imaging.gathers": "offset", "imaging.offset_bins": [0.0, 50.0, 100.0]}),
    ],
)
def test_samples_are_those_that_the_kernel_computes(tmp_path, made, keys):
    """All traces and columns of these small surveys but few are looked at: within 3 %."""
    path = made(tmp_path, keys)
    said = planned(path)
    results = migrated(path)
    assert results["samples_computed"] > 0
    assert said.counts.samples == pytest.approx(results["samples_computed"], rel=0.03)
    assert said.counts.traces == pytest.approx(results["traces_summed"], rel=1e-9)
    assert said.as_dict()["blocks"] == results["blocks"] > 1


def test_the_model_of_costs_by_hand(tmp_path):
    path = line(tmp_path, {"time_migration.velocity": 2000.0})
    said = planned(path, 2)
    counts, layout, one = said.counts, said.layout, said.asked
    phases = {phase.name: phase for phase in one.phases}
    banks = counts.traces * counts.bank_rows * counts.bank_length * 1e-9
    filtered = counts.traces * layout.series.samples * 1e-7
    files = counts.traces * (240 + 4 * layout.series.samples) / 1e8
    summed = (counts.samples / 1e9 + counts.nodes / 1e8) * 2 / 2  # a rank has two of four cores, and half the blocks
    assert (one.way, one.ranks_per_block, one.threads) == ("blocks", 1, 2)
    beside = (filtered + files) / 2
    assert phases["migrate"].seconds == pytest.approx(summed + banks / 4 + beside / 2, rel=1e-6)
    assert (phases["start-up"].seconds, phases["finish"].seconds) == (1.0, 3.0)
    assert phases["read velocities"].seconds < 1e-3  # of a number: nothing is made of a model
    cells = np.prod(layout.grid.shape)
    assert phases["write image"].bytes == 3 * 4 * cells  # image, fold, velocity
    assert phases["write partial image"].bytes == 2 * 4 * cells * len(layout.blocks)
    assert one.seconds == pytest.approx(sum(phase.seconds for phase in one.phases))


def test_both_ways_and_why(tmp_path):
    path = line(tmp_path)
    said = planned(path, 2)
    tiles, blocks = said.ways
    assert (tiles.way, blocks.way) == ("tiles", "blocks")
    assert "exchange traces" in {phase.name for phase in tiles.phases}
    assert "exchange traces" not in {phase.name for phase in blocks.phases}
    text = "\n".join(lines(said))
    assert "a run takes: blocks (6 blocks, each of which fits into the memory of a rank)" in text
    assert "tiles  (all ranks at the same traces)" in text
    forced = planned(line(tmp_path, {"time_migration.work": "tiles"}), 2)
    assert (forced.asked.way, forced.asked.why) == ("tiles", 'as work = "tiles" says')


def test_a_rank_of_many_has_the_columns_that_most_traces_reach(tmp_path):
    """At the ends of a line fewer traces lie within the aperture: the middle ranks have more to do than the mean."""
    said = planned(line(tmp_path, {"time_migration.aperture": 40.0, "time_migration.block_traces": 1000}))
    block = said.counts.blocks[0]
    assert block.imbalance(1) == 1.0
    assert 1.0 < block.imbalance(4) < 2.0
    middle = len(block.x) // 2
    assert block.samples[middle, 0] > 1.2 * block.samples[0, 0]


@pytest.mark.parametrize("eta", [False, True])
def test_memory_is_what_the_run_takes(tmp_path, eta):
    """Peak of a process of its own, arrays several times the process, within a wide margin."""
    keys = {
        "model.spacing": [0.25, 10.0],
        "time_migration.velocity": None if eta else 2000.0,
        "time_migration.interval": 0.0005,
        "time_migration.aperture": 2.0,
        "time_migration.block_traces": 100_000,
    }
    path = line(tmp_path, keys, samples=301)
    np.save(tmp_path / "vp.npy", np.full((NX * 40, NZ), 2000.0, np.float32))
    machine = WITH_SUMS.model_copy(update={"process_bytes": 9e7, "memory_bytes_per_node": 1e11})
    said = planned(path, 1, machine).asked
    done = call("migrate-time", path, "--quiet", "--threads", 2)
    assert done.code == 0, done.err
    [peak] = json.loads((tmp_path / "out" / "time" / "run.json").read_text())["results"]["peak_memory_bytes"]
    assert peak > 1.5 * 9e7
    assert said.rank_bytes == pytest.approx(peak, rel=0.2)


def test_a_machine_file_without_rates_of_sums(tmp_path, capsys):
    """An old file still loads and plans migrations; a plan of a time migration says what is missing."""
    old = {key: value for key, value in MACHINE.model_dump(mode="json").items() if not _of_time(key)}
    (tmp_path / "old.json").write_text(json.dumps(old))
    assert load_machine(tmp_path / "old.json") == MACHINE
    path = line(tmp_path)
    assert run(capsys, "plan", path, "--on", tmp_path / "old.json").code == 0
    done = run(capsys, "plan", path, "--on", tmp_path / "old.json", "--migrate-time")
    assert done.code == 2
    assert "trace_sums: missing; needed for a time migration; `fathometer calibrate`" in done.err
    twice = old | {"trace_sums": [RATES[0].model_dump()] * 2}
    (tmp_path / "old.json").write_text(json.dumps(twice))
    with pytest.raises(InputError, match="trace_sums: found two for 2D without eta"):
        load_machine(tmp_path / "old.json")


def _of_time(key):
    return key in ("trace_sums", *(f"{of}_seconds" for of in ("bank", "filter", "velocity", "term", "time_finish")))


def test_the_rate_of_the_kind_else_of_the_nearest():
    only_3d: Machine = WITH_SUMS.model_copy(update={"trace_sums": RATES[2:]})
    assert WITH_SUMS.sum_rate(2, True) == RATES[1]
    assert only_3d.sum_rate(2, True) == RATES[3]
    assert only_3d.sum_rate(2, False) == RATES[2]


def test_requests_that_cannot_be_met(tmp_path, capsys):
    save_machine(tmp_path / "machine.json", WITH_SUMS)
    path = line(tmp_path)
    plan = partial(run, capsys, "plan", path, "--on", tmp_path / "machine.json", "--migrate-time")
    for words, message in (
        (("--history", "disk"), "--history: found; allowed only without --migrate-time"),
        (("--ranks", 4, "--nodes", 9), "--nodes 9: the machine has 4"),
        (("--within", "1s"), "--within 1 s: the fastest layout on up to 4 nodes of a machine takes"),
        (("--ranks", 3, "--nodes", 2), "--ranks 3: allowed: a multiple of the 2 nodes"),
    ):
        done = plan(*words)
        assert (done.code, message in done.err) == (2, True), done.err
    assert run(capsys, "plan", path, "--migrate", "--migrate-time").code == 2
    small = WITH_SUMS.model_copy(update={"memory_bytes_per_node": 1e7})
    with pytest.raises(InputError, match=r"no layout fits the memory: .* [MG]B are needed"):
        planned(path, machine=small)


def test_velocities_that_are_not_there_yet(tmp_path):
    path = line(tmp_path, {"time_migration.velocity": "later.npy"})
    with pytest.raises(InputError):
        planned(path)
    path = line(tmp_path)
    layout = time_layout(load_survey(path), headers_only=True)
    given = sampled_velocities(layout, (1500.0, 3000.0))
    assert (given.lowest, given.highest) == (1500.0, 3000.0)
    assert given.slowness2[0, 0, 0] == 1 / 1500.0**2
    assert counts_of(layout, given).samples > 0


def test_json_and_words_of_the_command(tmp_path, capsys):
    save_machine(tmp_path / "machine.json", WITH_SUMS)
    done = run(capsys, "plan", line(tmp_path), "--on", tmp_path / "machine.json", "--migrate-time", "--json", "-")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert (said["command"], said["application"]) == ("migrate-time", "plan")
    assert {"total_seconds", "kernel_seconds", "memory_bytes_per_rank", "disk_bytes"} <= said["asked"].keys()
    names = [phase["phase"] for phase in said["asked"]["phases"]]
    assert names[:3] == ["start-up", "set up", "read velocities"]
    assert names[-3:] == ["sum images", "write image", "finish"]


def half_a_second(task, least=3):
    """Stands for a clock; the task is done."""
    task()
    return 0.5


def test_probes_count_what_they_time(tmp_path):
    """Seconds that are told: a rate is samples over their difference; nothing is left in the folder but the model."""
    sizes = Sizes(3, 48, 4, 100, (4, 4, 10))
    case = SumCase(3, True, sizes)
    assert case.sum() == case.pairs * 48
    assert case.sum(case._without_dips) == case.sum(case._without_columns) == 0
    told = iter((3.0, 2.0, 1.0))
    rate, bank = case.rates(lambda task, least=3: next(told))
    assert rate.samples_per_second == case.pairs * 48
    assert rate.nodes_per_second == case.nodes == case.pairs * 4
    assert bank == 1.0 / (4 * case.bank)


def test_figures_of_calibrate_are_keys_of_the_machine_file(tmp_path):
    sizes = Sizes(3, 48, 4, 100, (4, 4, 10))
    said: list[str] = []
    found = time_migration_figures(tmp_path, ThreadCounts(1, 1, 1), half_a_second, said.append, sizes)
    assert said == ["sums over traces"]
    assert set(found) <= set(Machine.model_fields)
    assert len(found["trace_sums"]) == 4
