"""`fathometer plan` of an ocean: counts are those of the run, seconds what they take at a machine's rates."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from cli_support import call, here
from machine_support import MACHINE

from fathometer.apps.ocean.barotropic.block_layout import cut
from fathometer.apps.ocean.barotropic.halo import BlockHalo
from fathometer.apps.ocean.case import grid_of
from fathometer.apps.ocean.cases import earth_text, gyre_text
from fathometer.apps.ocean.cost import plan, predict
from fathometer.apps.ocean.iterations import Iterations, estimated
from fathometer.apps.ocean.measure import ocean_times
from fathometer.apps.ocean.ocean_file import load_ocean
from fathometer.apps.ocean.probes import rates_of
from fathometer.apps.ocean.share import share_of
from fathometer.base.errors import InputError
from fathometer.plan.machine_file import GradientRate, OceanRates, save_machine

KIND = {"solver": "chronopoulos-gear", "preconditioner": "block", "sums": "mpi"}
RATES = OceanRates(
    gradients=tuple(
        GradientRate(**KIND | {"preconditioner": name}, columns=n, seconds=s)
        for n, s in ((1e2, 1e-5), (1e4, 1e-4), (1e6, 1e-2))
        for name in ("block", "diagonal")
    ),
    cell_seconds=1e-7,
    column_seconds=1e-6,
    solve_seconds=1e-7,
    setup_seconds=1e-6,
    look_seconds=1e-6,
    field_seconds=1e-6,
    restart_seconds=1e-7,
    file_seconds=0.01,
    start_seconds=1.5,
    finish_seconds=2.0,
    process_bytes=2e8,
    finish_bytes=2.5e8,
)
PLAIN = MACHINE.model_copy(update={"ocean": RATES, "cores_per_node": 2, "write_bytes_per_second": 1e9})
NOTHING = {"ranks": None, "nodes": None, "iterations": None, "like": None}


def made(folder, text=None, *settings):
    path = folder / "ocean.toml"
    path.write_text(text or gyre_text((48, 32, 8), 40, "out"))
    return load_ocean(path, settings)


def seconds_of(file, ranks, nodes=1, machine=PLAIN):
    grid, _ = grid_of(file)
    found = predict(file, grid, machine, machine.ocean, Iterations(50, ""), ranks, nodes)
    return found, {phase.name: phase.seconds for phase in found.phases}


def test_seconds_by_hand(tmp_path):
    file = made(tmp_path, None, "bathymetry={kind='flat'}", "output.course_steps=15")
    columns, cells = 48 * 32, 48 * 32 * 8
    stored = (48 + 6) * (32 + 6)
    # One rank has two threads.
    found, seconds = seconds_of(file, 1)
    assert seconds["baroclinic"] == pytest.approx(40 * (cells * 1e-7 + columns * 1e-6) / 2)
    of_one = 10 ** np.interp(math.log10(columns / 2), [2, 4], [-5, -4])
    assert seconds["barotropic"] == pytest.approx(40 * (50 * of_one + stored * 1e-7))
    assert seconds["diagnostics"] == pytest.approx(3 * stored * 8e-6)
    assert seconds["barotropic halo"] == seconds["barotropic reduction"] == seconds["baroclinic halo"] == 0
    assert seconds["start-up"] == 1.5
    assert found.seconds == pytest.approx(math.fsum(seconds.values()))
    assert found.kernel_seconds == pytest.approx(seconds["baroclinic"] + seconds["barotropic"])
    _, both = seconds_of(file, 2)
    assert both["baroclinic"] == pytest.approx(seconds["baroclinic"])
    one = PLAIN.exchange_seconds("local", 32 * 8)
    assert both["barotropic halo"] == pytest.approx(40 * 50 * one)
    assert both["barotropic reduction"] == pytest.approx(40 * 50 * PLAIN.exchange_seconds("local", 24))
    quick = PLAIN.model_copy(update={"ocean": RATES.model_copy(update={"halo_seconds": 1e-5, "sum_seconds": 2e-6})})
    _, soon = seconds_of(file, 2, machine=quick)
    assert soon["barotropic halo"] == pytest.approx(40 * 50 * (1e-5 + 32 * 8 / PLAIN.local_bytes_per_second))
    assert soon["barotropic reduction"] == pytest.approx(40 * 50 * 2e-6)
    _, crowded = seconds_of(file, 4)  # two ranks a core
    assert crowded["baroclinic"] == pytest.approx(seconds["baroclinic"])
    _, far = seconds_of(file, 2, 2)
    assert far["barotropic halo"] > both["barotropic halo"]


def test_a_column_of_rates():
    def of(columns):
        return RATES.gradient_seconds(*KIND.values(), columns)

    assert of(1e4) == pytest.approx(1e-4)
    assert of(1e5) == pytest.approx(1e-3)
    assert of(1) == pytest.approx(1e-5)
    assert of(1e7) == pytest.approx(0.1)
    assert RATES.gradient_seconds("pcg", "block", "mpi", 1e4) is None


@pytest.mark.parametrize("periodic", [False, True])
def test_share_is_that_of_the_layout(tmp_path, periodic):
    """Rings and neighbours are those of the halos that a run exchanges; cells those of its blocks."""
    file = made(tmp_path, earth_text((80, 96, 12)) if periodic else None, "decomposition.block=[16,16]")
    grid, _ = grid_of(file)
    shape = grid.shape[:2]
    layouts = [cut(shape, 3, rank, grid.levels, periodic=periodic, blocks=(16, 16)) for rank in range(3)]
    share = share_of(layouts[0], grid)
    layout = layouts[share.rank]
    assert share.columns == sum(block.wet_columns for block in layout.own)
    assert share.blocks == len(layout.own)
    assert share.stored == max(np.prod(one.shaped()) for one in layouts)
    wet = sum(int(grid.levels[b.lo[0] : b.hi[0], b.lo[1] : b.hi[1]].sum()) for b in layout.own)
    assert wet <= share.cells <= 8 * wet
    for width in (1, 3):
        requests = Requests()
        BlockHalo(layout, requests, [(np.zeros(layout.shaped()), width)])
        assert share.rings[width] == sum(requests.received)
        assert share.neighbours == len(requests.received)


class Requests:
    """In place of a communicator: numbers that each message would bring."""

    def __init__(self):
        self.received = []

    def Recv_init(self, buffer, peer, tag):
        self.received.append(buffer.size)

    def Send_init(self, buffer, peer, tag):
        pass


def test_iterations(tmp_path):
    file = made(tmp_path)
    record = plan(file, PLAIN, NOTHING).record
    assert "estimated" in record["iterations"]
    assert record["iterations_per_step"] == pytest.approx(77, rel=0.5)  # as it took
    assert plan(file, PLAIN, NOTHING | {"iterations": (33.0,)}).record["iterations_per_step"] == 33
    fixed = made(tmp_path, None, "barotropic.iterations=25")
    assert plan(fixed, PLAIN, NOTHING).record["iterations_per_step"] == 25
    with pytest.raises(InputError, match="--iterations: found two numbers"):
        plan(file, PLAIN, NOTHING | {"iterations": (3.0, 5.0)})
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"results": {"performance": {"iterations_per_step": 12.5}}}))
    assert plan(file, PLAIN, NOTHING | {"like": path}).record["iterations_per_step"] == 12.5
    for text in ("", "[]", '{"results": {"performance": {"iterations_per_step": 0}}}', '{"results": {"course": []}}'):
        path.write_text(text)
        with pytest.raises(InputError, match=r"--like .*run\.json: found no record of an ocean"):
            plan(file, PLAIN, NOTHING | {"like": path})


def test_estimate_follows_step_and_preconditioner(tmp_path):
    def of(*settings):
        file = made(tmp_path, None, "barotropic.check_every=1", *settings)
        return estimated(file, grid_of(file)[0])

    assert of("time.step=3600") == pytest.approx(of() / 2, rel=0.05)
    assert of("barotropic.preconditioner=diagonal") > 1.5 * of()
    assert of("barotropic.tile=16") < of() < of("barotropic.tile=4")
    assert of("barotropic.tolerance=1e-6") < 0.6 * of()
    assert of("barotropic.most_iterations=20") == 20


def test_words_on_the_command_line(tmp_path):
    made(tmp_path)
    path, machine = tmp_path / "ocean.toml", tmp_path / "machine.json"
    save_machine(machine, PLAIN)
    done = here("plan", path, "--on", machine, "--ranks", 2, "--iterations", "30", "--json", "-")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["asked"]["ranks"], found["steps"], found["iterations_per_step"]) == (2, 40, 30)
    done = here("plan", path, "--on", machine)
    assert done.code == 0
    assert "estimated from the step" in done.out
    done = here("plan", path, "--on", machine, "--iterations", "0")
    assert done.code == 2
    assert "--iterations: found 0" in done.err
    save_machine(machine, MACHINE)
    done = here("plan", path, "--on", machine)
    assert done.code == 2
    assert "ocean: missing; needed for an ocean" in done.err


def test_counts_bytes_and_memory_are_those_of_a_run(tmp_path):
    """A run's ledger has as many calls and bytes as its plan; its peak is as the plan says."""
    file = made(tmp_path, gyre_text((128, 96, 20), 3, "out"), "time.step=2400")
    assert call("ocean", file.path, "--threads", 1, "--ranks", 2, "--set", "time.step=2400").code == 0
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    grid, _ = grid_of(file)
    number = record["results"]["performance"]["iterations_per_step"]
    found = predict(file, grid, PLAIN, RATES, Iterations(number, ""), 2, 1)
    phases = {phase.name: phase for phase in found.phases}
    ledger = {}
    for entry in record["ledger"]["phases"]:
        ledger.setdefault((entry["phase"], entry["category"]), entry)
    halo = ledger["barotropic halo", "communication"]
    assert phases["barotropic halo"].bytes == pytest.approx(halo["total_bytes"], rel=0.1)  # begins with one more
    halo = ledger["baroclinic halo", "communication"]
    assert phases["baroclinic halo"].bytes == pytest.approx(halo["total_bytes"], rel=0.4)  # two at the beginning
    written = next(one for one in record["ledger"]["files"] if one["kind"] == "fields")
    assert phases["write fields"].bytes == pytest.approx(written["bytes"], rel=0.05)
    kept = next(one for one in record["ledger"]["files"] if one["kind"] == "restart")
    assert phases["write restart"].bytes == pytest.approx(kept["bytes"], rel=0.02)
    arrays = {name: n for name, n in found.memory_bytes.items() if name not in ("process", "fields and picture")}
    # Rank 1 draws nothing: it has its arrays, its modules, and what it needs when it writes fields.
    own = record["results"]["peak_memory_bytes"][1]
    assert own == pytest.approx(sum(arrays.values()) + 105e6, rel=0.15)


def test_rates_are_those_that_were_measured(tmp_path):
    """Rates reproduce the times of the two oceans that they were made of."""
    rows = [
        {"cells": 1200.0 * n, "columns": 100.0, "stored": 130.0, "levels": 12 * n, "baroclinic": 1e-3 + 2e-3 * n}
        | dict.fromkeys(("setup", "look", "fields", "restart"), 0.1)
        for n in (1, 3)
    ]
    gradients = [KIND | {"columns": 2e4, "seconds": s, "rest": 1e-3, "stored": 2.5e4} for s in (1e-4, 3e-4)]
    times = [{"process_bytes": 9e7, "page_seconds": 1e-9, "oceans": rows, "gradients": [one]} for one in gradients]
    spent = {"barotropic halo": {"communication": 2e-3}, "draw": {"compute": 1.0, "io": 0.5}}
    entry = {"phase": "barotropic halo", "category": "communication"}
    record = {
        "ledger": {
            "phases": [
                entry | {"seconds": {"min": 1e-3, "max": 2e-3}, "calls": {"max": 100}},
                {"phase": "draw", "category": "compute"},
            ],
            "ranks": [{"phases": spent}] * 2,
        },
        "results": {
            "grid": {"shape": [48, 32, 8]},
            "blocks": {"owners": [[[0, 0], [24, 32], 0], [[24, 0], [48, 32], 1]]},
            "peak_memory_bytes": [1.6e8, 1.1e8],
            "field_files": ["a"],
        },
    }
    rates = rates_of(times, [record], [record])
    assert rates.halo_seconds == pytest.approx(1e-5)
    assert (rates.finish_seconds, rates.sum_seconds) == (1.5, 0)
    for row in rows:
        took = rates.cell_seconds * row["cells"] + rates.column_seconds * row["columns"]
        assert took == pytest.approx(row["baroclinic"])
    assert rates.gradients[0].seconds == pytest.approx(2e-4)
    assert rates.solve_seconds == pytest.approx(1e-3 / 2.5e4)
    assert 1e8 < rates.finish_bytes < 1.6e8


def test_oceans_are_measured(tmp_path):
    found = ocean_times(tmp_path, (16, 16, 4))
    assert (found["cells"], found["columns"], found["stored"], found["levels"]) == (16 * 16 * 4, 256, 22 * 22, 4)
    assert all(found[name] > 0 for name in ("baroclinic", "setup", "look", "fields", "restart"))
