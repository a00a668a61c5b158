"""The account of real runs against observers of their own: the clock on the wall, the system's accounting of CPU
seconds and bytes, and the known sizes of all messages."""

import json
import math
import os
import resource
import signal
import sys
import time

import jsonschema
import numpy as np
import pytest
from cli_support import MIGRATE, MODEL, call, finish, here, inputs, mpirun, program, run, start, survey, under_way
from patience import PATIENCE
from report_support import a_record

from fathometer.record.envelope import write_record
from fathometer.record.schema import SCHEMA

UNACCOUNTED = 0.01  # of a rank's wall time, at most
TICK = 0.02  # s: the system tells the start of a process in hundredths of a second

LARGER = {"nx": 600, "nz": 400}  # cells


def larger_inputs(folder, shape=(LARGER["nx"], LARGER["nz"])):
    """A run of some seconds whose image outweighs its other files."""
    inputs(folder)
    vp = np.full(shape, 2000.0, np.float32)
    vp[:, shape[1] // 2 :] = 2500.0
    np.save(folder / "vp.npy", vp)


def validated(path):
    record = json.loads(path.read_text())
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(record)
    return record


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("command", ["model", "migrate"])
def test_categories_add_up_to_each_ranks_wall_time(tmp_path, command, ranks):
    """Nearly: in the best of three runs, as the system may keep a process from running between two phases too."""
    larger_inputs(tmp_path)
    path = survey(tmp_path, MODEL if command == "model" else MIGRATE)
    shares = []
    for n in range(3):
        again = ["--overwrite"] * (command == "migrate" and n > 0)
        began = time.monotonic()
        done = call(command, path, "--quiet", "--ranks", ranks, *again)
        observed = time.monotonic() - began
        assert done.code == 0, done.err
        told = validated(tmp_path / "out" / "run.json")["ledger"]["ranks"]
        assert [rank["rank"] for rank in told] == list(range(ranks))
        for rank in told:
            total = sum(rank["categories"].values())
            assert total <= rank["wall_seconds"] * (1 + 1e-9)
            by_phase = sum(seconds for spent in rank["phases"].values() for seconds in spent.values())
            assert by_phase == pytest.approx(total, rel=1e-9)
            assert rank["unaccounted_seconds"] == pytest.approx(rank["wall_seconds"] - total, abs=1e-9)
            assert rank["wall_seconds"] < observed + TICK
            assert rank["phases"]["start-up"]["compute"] > 0.05  # the interpreter and its modules
        # Before the ranks' processes is mpirun's start, after the record is what ends them.
        assert max(rank["wall_seconds"] for rank in told) > 0.25 * observed
        shares.append(max(rank["unaccounted_seconds"] / rank["wall_seconds"] for rank in told))
        if shares[-1] <= UNACCOUNTED:
            break
    assert min(shares) <= UNACCOUNTED


def test_the_account_begins_with_the_process(tmp_path):
    """With one rank no launcher comes first: from the start of the process to the writing of the record."""
    larger_inputs(tmp_path)
    path = survey(tmp_path, MIGRATE)
    began = time.time()
    done = finish(start(*program(), "migrate", path, "--quiet"))
    assert done.code == 0, done.err
    observed = (tmp_path / "out" / "run.json").stat().st_mtime - began
    [rank] = validated(tmp_path / "out" / "run.json")["ledger"]["ranks"]
    # lscpu, git and a flush come in between.
    assert 0.6 * observed < rank["wall_seconds"] < observed + TICK


def test_cpu_seconds_are_the_systems(tmp_path):
    """One rank and thread have the cpu, or wait for it, while they compute or move bytes: the system never counts more
    than is accounted, and nearly as much in the best of some runs, each longer than the one before. It counts less
    where another host's guest, a disk or the start of MPI's daemon kept the process from running, of which it knows
    nothing."""
    larger_inputs(tmp_path)
    best = 0.0
    for n in range(5):
        path = survey(tmp_path, MODEL | {"propagation.duration": 20.0 * 2**n})
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = finish(start(*program(), "model", path, "--quiet", "--threads", "1"))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.code == 0, done.err
        [rank] = validated(tmp_path / "out" / "run.json")["ledger"]["ranks"]
        observed = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        own = rank["usage"]["cpu_user_seconds"] + rank["usage"]["cpu_system_seconds"]
        accounted = rank["categories"]["compute"] + rank["categories"]["io"]
        assert own <= observed + TICK
        assert own <= 1.05 * accounted
        best = max(best, (own + (rank["usage"]["run_queue_seconds"] or 0.0)) / accounted)
        if best > 0.85:
            break
    assert best > 0.85


def test_bytes_written_are_the_systems(tmp_path):
    larger_inputs(tmp_path)
    done = finish(start(*program(), "migrate", survey(tmp_path, MIGRATE), "--quiet"))
    assert done.code == 0, done.err
    told = validated(tmp_path / "out" / "run.json")["ledger"]
    files = {file["kind"]: file["bytes"] for file in told["files"] if file["direction"] == "write"}
    image = 4 * math.prod(LARGER.values())
    headers = sum(p.stat().st_size for p in (tmp_path / "out").glob("*.rsf"))
    assert files["image"] == 3 * image + headers
    assert files["picture"] == (tmp_path / "out" / "image.png").stat().st_size
    [rank] = told["ranks"]
    assert sum(files.values()) == pytest.approx(rank["usage"]["written_bytes"], rel=0.01)


def test_bytes_read_are_the_systems(tmp_path):
    """What the device gives to a run that finds the model in no cache, less what it gives to one that does.

    Both in this process, which has its modules in memory: a new one reads again what of them the system has dropped
    from its cache. In the best of three, as it may drop more meanwhile.
    """
    shape = (3000, 1000)
    larger_inputs(tmp_path, shape)
    path = survey(tmp_path, MODEL | {"propagation.duration": 0.02, "model.epsilon": 0.0})

    def device_bytes(cached):
        with (tmp_path / "vp.npy").open("rb") as file:
            os.fsync(file.fileno())
            if cached:
                file.read()
            else:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        done = here("model", path, "--quiet")
        assert done.code == 0, done.err
        told = validated(tmp_path / "out" / "run.json")["ledger"]
        [model] = [file for file in told["files"] if file["kind"] == "model"]
        assert (model["direction"], model["bytes"], model["overlap_bytes"]) == ("read", 4 * math.prod(shape), 0)
        return told["ranks"][0]["usage"]["storage_read_bytes"]

    device_bytes(True)
    found = []
    for _ in range(3):
        warm, cold = device_bytes(True), device_bytes(False)
        if cold is None or cold == warm:
            pytest.skip("this file system tells nothing of its device")
        found.append(cold - warm)
        if found[-1] == pytest.approx(4 * math.prod(shape), rel=0.02):
            return
    assert found[-1] == pytest.approx(4 * math.prod(shape), rel=0.02), found


@pytest.mark.parametrize("cut", [(2, 1), (1, 2), (2, 2)])
def test_bytes_of_messages_are_those_of_the_halos(migrated, cut):
    """Both ways over each cut, R planes of the one field whose derivative is taken across it, every step."""
    record = validated(migrated(cut) / "out" / "run.json")
    told, results = record["ledger"], record["results"]
    nx, _, nz = results["grid"]["padded_shape"]
    cells = (cut[0] - 1) * nz + (cut[1] - 1) * nx
    radius, itemsize, both_ways, loops = 4, 4, 2, 2
    wanted = both_ways * radius * cells * itemsize * results["steps"] * loops * results["shots"]
    [halo] = [p for p in told["phases"] if (p["phase"], p["category"]) == ("halo exchange", "communication")]
    assert halo["total_bytes"] == wanted


def test_a_search_for_the_tiling_is_no_part_of_the_kernel(tmp_path):
    """Its steps and exchanges are tuning; those of the run are counted as without it."""
    inputs(tmp_path)
    (tmp_path / "searches.py").write_text(
        "import sys, time\n"
        "from fathometer.grid import tuning\n"
        "real = tuning.search\n"
        "def search(*words):\n"
        "    time.sleep(0.2)\n"
        "    return real(*words)\n"
        "tuning.search = search\n"
        "from fathometer.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    path = survey(tmp_path, MIGRATE | {"tuning.search": "always"})
    done = finish(start(*mpirun(2), sys.executable, tmp_path / "searches.py", "migrate", path, "--quiet"))
    assert done.code == 0, done.err
    record = validated(tmp_path / "out" / "run.json")
    results, told = record["results"], record["ledger"]
    assert results["tuning"]["source"] == "search"
    points = sum(p["total_points"] for p in told["phases"])
    assert points == 2 * math.prod(results["grid"]["padded_shape"]) * results["steps"] * results["shots"]
    tuning = [p for p in told["phases"] if p["phase"] == "tuning" and p["category"] == "compute"]
    assert tuning[0]["seconds"]["max"] > 0.2
    assert tuning[0]["total_flops"] == 0


def test_trials_of_tilings_are_told_and_change_no_bit(migrated, tmp_path):
    """As many as possible, in both wavefields of a migration with checkpoints: image, steps and messages stay."""
    plain = migrated((2, 1))
    inputs(tmp_path)
    (tmp_path / "tries.py").write_text(
        "import sys\n"
        "from fathometer.grid import trials, tuning\n"
        "from fathometer.grid.tiling import Tiling\n"
        "from fathometer.seismic.waves import checked_steps\n"
        "checked_steps.MOST_STEPS = 1  # advances are imaging steps\n"
        "tuning.LEAST_UPDATES, trials.BUDGET, trials.TURN_SECONDS, trials.VOID = 0, 1e9, (0.0, 0.0), 1e9\n"
        "tuning.seeds = lambda stepping, here: [Tiling(depth, 1, 20, 1) for depth in range(2, stepping.steps + 1)]\n"
        "from fathometer.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    keys = {"parallel.decomposition": [2, 1], "model.epsilon": 0.1}
    keys |= {"history.store": "checkpoint", "history.memory_budget": 1e5, "history.states": "disk"}
    path = survey(tmp_path, MIGRATE | keys)
    done = finish(start(*mpirun(2), sys.executable, tmp_path / "tries.py", "migrate", path))
    assert done.code == 0, done.err
    record, other = (validated(folder / "out" / "run.json") for folder in (tmp_path, plain))
    tuning = record["results"]["tuning"]
    assert tuning["trials"] > 3
    assert (tuning["source"] == "trials") == (tuning["changes"] > 0)
    [lost] = [figure for figure in record["figures"] if figure["name"] == "lost by trials of tilings"]
    assert lost["value"] == tuning["seconds_lost"]
    assert "trials took" in done.err
    for name in ("image.rsf@", "image-illumination.rsf@"):
        assert (tmp_path / "out" / name).read_bytes() == (plain / "out" / name).read_bytes()
    again = record["results"]["history"]["ranks"][0]["recomputed_imaging_steps"]
    points = [sum(p["total_points"] for p in r["ledger"]["phases"]) for r in (record, other)]
    results = record["results"]
    more = math.prod(results["grid"]["padded_shape"]) * again * results["imaging_step"]
    assert points[0] == points[1] + more


def test_updates_are_those_of_all_steps(migrated):
    record = validated(migrated((2, 1)) / "out" / "run.json")
    results = record["results"]
    points = sum(p["total_points"] for p in record["ledger"]["phases"])
    assert points == 2 * math.prod(results["grid"]["padded_shape"]) * results["steps"] * results["shots"]


def test_overlap_bytes_are_what_two_ranks_read(migrated):
    """The Laplacian of each half of the image takes one more column, which the other rank reads too."""
    record = validated(migrated((2, 1)) / "out" / "run.json")
    nx, _, nz = record["results"]["grid"]["shape"]
    files = {(f["kind"], f["direction"]): f for f in record["ledger"]["files"]}
    image, model = files["image", "read"], files["model", "read"]
    assert (image["own_bytes"], image["overlap_bytes"]) == (4 * nx * nz, 4 * 2 * nz)
    assert (model["own_bytes"], model["overlap_bytes"]) == (4 * nx * nz, 0)


def test_a_late_rank_is_waited_for_and_told(tmp_path):
    """Rank 1 sleeps before each of its exchanges: the others' idle time is about that, and attributed to it."""
    inputs(tmp_path)
    (tmp_path / "late.py").write_text(
        "import sys, time\n"
        "from fathometer.parallel import halo\n"
        "real = halo.HaloExchange.start\n"
        "def late(self):\n"
        "    from mpi4py import MPI\n"
        "    if MPI.COMM_WORLD.rank == 1:\n"
        "        time.sleep(0.002)\n"
        "    real(self)\n"
        "halo.HaloExchange.start = late\n"
        "from fathometer.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )

    path = survey(tmp_path, MIGRATE)
    done = finish(start(*mpirun(2), sys.executable, tmp_path / "late.py", "migrate", path, "--quiet"))
    assert done.code == 0, done.err
    record = validated(tmp_path / "out" / "run.json")
    first, second = record["ledger"]["ranks"]
    slept = 0.002 * 2 * record["results"]["steps"]
    assert first["waited_seconds"]["1"] > 0.7 * slept
    assert first["phases"]["halo exchange"]["idle"] > 0.7 * slept
    assert second["waited_seconds"].get("0", 0.0) < first["waited_seconds"]["1"]


def test_a_trace_holds_the_spans_of_all_ranks(migrated):
    folder = migrated((2, 1))
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    record = validated(folder / "out" / "run.json")
    for rank in (0, 1):
        own = [e for e in spans if e["pid"] == rank]
        # Spans of a thread nest: a later one begins within an earlier one only if it also ends there.
        for thread in {e["tid"] for e in own}:
            stack = []
            for e in sorted((e for e in own if e["tid"] == thread), key=lambda e: (e["ts"], -e["dur"])):
                while stack and e["ts"] >= stack[-1] - 0.002:
                    stack.pop()
                assert not stack or e["ts"] + e["dur"] <= stack[-1] + 0.002
                stack.append(e["ts"] + e["dur"])
        steps = sum(e["dur"] for e in own if e["name"] == "receiver propagation") / 1e6
        inside = sum(e["dur"] for e in own if e["name"] == "halo exchange" and e["cat"] == "communication") / 1e6
        phases = record["ledger"]["ranks"][rank]["phases"]
        assert 0 < steps <= phases["receiver propagation"]["compute"] + sum(phases["halo exchange"].values()) + 1e-3
        assert inside == pytest.approx(sum(phases["halo exchange"].values()), rel=0.01)
    assert {e["args"]["name"] for e in events if e["name"] == "process_name"} == {
        f"rank {rank} ({record['machine']['host']})" for rank in (0, 1)
    }


def test_a_trace_that_cannot_be_written_is_found_before_the_work(tmp_path, capsys):
    inputs(tmp_path)
    done = run(capsys, "model", survey(tmp_path, MODEL), "--trace", tmp_path / "nowhere" / "trace.json")
    assert done.code == 2
    assert "nowhere is no folder that can be written to" in done.err
    assert not (tmp_path / "out").exists()


def unfinished(folder):
    """The record of a run that died: whole, of the schema, and marked."""
    assert not (folder / "run.json").exists()
    record = validated(folder / "run-unfinished.json")
    assert (record["validity"]["valid"], record["validity"]["finished"]) == (False, False)
    assert record["results"]["steps"] > 0
    return record


def test_a_run_that_fails_leaves_the_record_of_what_it_knew(tmp_path, capsys):
    inputs(tmp_path)
    (tmp_path / "out" / "shots.segy").mkdir(parents=True)  # in the way of the results
    done = run(capsys, "model", survey(tmp_path, MODEL), "--quiet", "--overwrite")
    assert done.code == 1
    record = unfinished(tmp_path / "out")
    [reason] = record["validity"]["reasons"]
    assert reason.startswith("unfinished: ")
    assert "shots.segy: cannot be written" in reason
    assert record["ledger"]["ranks"][0]["phases"]["source propagation"]["compute"] > 0


@pytest.mark.parametrize(
    ("number", "reason"),
    [(signal.SIGINT, "unfinished: interrupted"), (signal.SIGKILL, "unfinished: the run goes on, or it was killed")],
)
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_run_that_is_ended_leaves_the_record_of_what_it_knew(tmp_path, ranks, number, reason):
    _, process = under_way(tmp_path, ranks)
    os.killpg(process.pid, number)
    finish(process)
    if ranks > 1:  # mpirun, in a group of its own, tells them to end also when who has started it was killed
        reason = "unfinished: interrupted"
    deadline = time.monotonic() + PATIENCE
    while (record := unfinished(tmp_path / "out"))["validity"]["reasons"] != [reason]:
        assert time.monotonic() < deadline, record["validity"]
        time.sleep(0.1)


def test_a_run_that_is_ended_in_the_middle_of_a_call_says_so_in_its_record(tmp_path):
    """Rank 0 waits in MPI for a message that never comes, as from a rank that has left: no handler of signals runs."""
    inputs(tmp_path)
    (tmp_path / "stuck.py").write_text(
        "import sys, functools\n"
        "from fathometer.cli import main\n"
        "from fathometer.seismic.modelling import driver\n"
        "def wait(*_, **__):\n"
        "    from mpi4py import MPI\n"
        "    print('waiting', flush=True)\n"
        "    MPI.COMM_WORLD.recv(source=0, tag=77)\n"
        "driver.AcousticModelling.model = wait\n"
        "main.watchdog = functools.partial(main.watchdog, seconds=0.5)\n"
        "sys.exit(main.main(sys.argv[1:]))\n"
    )
    process = start(sys.executable, tmp_path / "stuck.py", "model", survey(tmp_path, MODEL), "--quiet")
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGTERM)
    assert finish(process).code == 75
    assert unfinished(tmp_path / "out")["validity"]["reasons"] == ["unfinished: interrupted"]


def test_a_finished_run_takes_the_mark_away(tmp_path, capsys):
    inputs(tmp_path)
    (tmp_path / "out").mkdir()
    foreign = tmp_path / "out" / "run-unfinished.json"
    foreign.write_text("{}")
    path = survey(tmp_path, MODEL)
    assert run(capsys, "model", path, "--quiet").code == 2
    assert foreign.read_text() == "{}"
    write_record(foreign, a_record(finished=False))
    assert run(capsys, "model", path, "--quiet").code == 0
    assert not (tmp_path / "out" / "run-unfinished.json").exists()
    assert validated(tmp_path / "out" / "run.json")["validity"]["finished"]


def test_a_survey_that_is_refused_leaves_no_record(tmp_path, capsys):
    inputs(tmp_path)
    assert run(capsys, "model", survey(tmp_path, MODEL | {"propagation.dt": 1.0}), "--quiet").code == 2
    assert not (tmp_path / "out").exists()


def test_the_machine_and_what_was_asked_for_are_told(tmp_path, capsys, monkeypatch):
    inputs(tmp_path)
    monkeypatch.setenv("OMPI_MCA_btl_base_verbose", "0")
    monkeypatch.setenv("SLURM_JWT", "secret")
    assert run(capsys, "model", survey(tmp_path, MODEL), "--quiet").code == 0
    here = validated(tmp_path / "out" / "run.json")["machine"]
    assert here["environment"]["OMPI_MCA_btl_base_verbose"] == "0"
    assert not any("secret" in value for value in here["environment"].values())
    kinds = {entry["path"]: entry["type"] for entry in here["file_systems"]}
    assert set(kinds) == {str(tmp_path / "out"), str(tmp_path / "vp.npy")}
    assert any(interface["name"] == "lo" for interface in here["networks"])
    if here["processor"]:
        cores, threads = here["processor"]["cores"], here["processor"]["threads_per_core"]
        assert cores * threads >= here["processor"]["sockets"] >= 1
        assert "CPU(s)" in here["processor"]["lscpu"]
