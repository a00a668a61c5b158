"""What a machine file is worth: calls timed on a busy machine, what is kept of their measuring, what a plan says."""

from __future__ import annotations

import itertools
import json
import socket
from datetime import UTC, datetime, timedelta

import pytest
from cli_support import MIGRATE, MODEL, inputs, run, survey
from machine_support import MACHINE

from fathometer.apps.reactive.probes import ReactiveProbes
from fathometer.base.host import cpu_model
from fathometer.base.process_stat import cpu_seconds
from fathometer.lab import measuring
from fathometer.lab.measuring import Measuring, summary
from fathometer.lab.studies.watch import OTHERS
from fathometer.plan.compression import compression_advice
from fathometer.plan.machine_file import Calibration, Measurement, RunEnds, load_machine, save_machine
from fathometer.plan.worth import NEEDED, first_use, worth_of
from fathometer.runs.small_runs import ends_of
from fathometer.seismic.acoustic.plan import plan_acoustic
from fathometer.seismic.plan import PlanRequest
from fathometer.seismic.survey import load_survey


class Marks:
    """In place of a watch: marks that were told beforehand."""

    def __init__(self, *marks):
        self.told, self.begun = list(marks), 0

    def begin(self):
        self.begun += 1

    def marks(self):
        return self.told.pop(0)


@pytest.fixture
def clock(monkeypatch):
    """Calls take the seconds that are told, in turn."""

    def told(*seconds):
        left = itertools.chain(seconds, itertools.repeat(seconds[-1]))
        monkeypatch.setattr(measuring, "timed", lambda task: (task(), next(left))[1])

    return told


def test_the_least_time_is_taken_and_looked_for_again(clock):
    """On a busy machine most calls take longer: the least is taken, and only when it has come twice."""
    timed = Measuring(Marks())
    clock(23.0, 3.0, 19.0, 31.0)
    assert timed.seconds_of(lambda: None) == 3.0
    clock(0.5, 0.2, 0.4, 0.6, 0.21, 0.1)  # three are enough of the time, not of the least
    calls = []
    assert timed.seconds_of(lambda: calls.append(1)) == 0.2
    assert len(calls) == 1 + 5
    assert timed.middle_of_the_least([9.0, 1.0, 2.0, 8.0, 3.0]) == 2.0


def test_of_each_group_of_figures_it_is_known_how_it_was_measured(clock):
    watch = Marks([OTHERS, "cores shared: 4 threads on 2 cpus"], [])
    timed = Measuring(watch)
    clock(1.0, 1.2, 1.0)
    timed.seconds_of(lambda: None)
    timed.least_of([2.0, 3.0, 2.0, 2.0])
    timed.belongs_to(["a", "b"])
    timed.belongs_to([])  # nothing was measured
    timed.least_of([1.0] * 5)
    timed.belongs_to(["c"])
    first, second = timed.measurements
    assert (first.figures, first.repetitions, first.spread, first.disturbed) == (("a", "b"), 3, 0.5, (OTHERS,))
    assert (second.figures, second.repetitions, second.spread, second.disturbed) == (("c",), 5, 0.0, ())
    assert watch.begun == 3
    assert summary([second]) == []
    assert summary([first, second]) == [f"1 of 2 measurements were disturbed ({OTHERS}), the file says which"]
    assert (
        f"2 of 3 measurements were disturbed ({OTHERS}): the file is worth little" in summary([first, first, second])[0]
    )


def test_work_of_other_ranks_is_none_of_others(tmp_path):
    """Their seconds, whatever their program's name is; of those that have ended nothing."""
    for number, fields in ((7, "S 1 " + " ".join(["0"] * 9) + " 150 50 0 0 20 0 1 0 77"), (8, "")):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "stat").write_text(f"{number} (a) b) {fields}")
    assert cpu_seconds([7, 8, 9], tmp_path) == pytest.approx(2.0)


def measured(*marks, days=3, cpu=None):
    """The machine with a calibration: a figure with each of the marks."""
    time = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    rows = tuple(
        Measurement(figures=(f"figure {n}",), repetitions=3, spread=0.1, disturbed=one) for n, one in enumerate(marks)
    )
    known = Calibration(
        host=socket.gethostname(), cpu=cpu_model() or "" if cpu is None else cpu, time=time, measurements=rows
    )
    return MACHINE.model_copy(update={"calibration": known} | dict.fromkeys(NEEDED, 1.0))


@pytest.mark.parametrize(
    ("machine", "told"),
    [
        (MACHINE, "does not say when and how its figures were measured"),
        (MACHINE, "without process_bytes, runs, fresh_bytes_per_second, local_latency_seconds"),
        (measured((), ()), "measured 3 days ago, undisturbed as far as was seen"),
        (measured((), (OTHERS,)), f"1 of 2 figures while it was disturbed ({OTHERS}): these may be too slow"),
        (measured((OTHERS,)), f"1 of 1 figures while it was disturbed ({OTHERS}): this plan is worth little"),
        (measured((), cpu="another"), "on another machine ("),
        (measured((), days=200), "measured 200 days ago, undisturbed as far as was seen; `fathometer calibrate`"),
        (measured((), days=0), "measured today, undisturbed"),
    ],
)
def test_a_plan_says_what_its_machine_file_is_worth(machine, told):
    assert told in "\n".join(worth_of(machine).lines())


def test_worth_in_the_plan_and_its_record(tmp_path, capsys):
    """A file as earlier versions wrote it still plans, and says that it knows nothing of its measuring."""
    inputs(tmp_path)
    path, machine = survey(tmp_path, MODEL), tmp_path / "machine.json"
    new = ("runs", "fresh_bytes_per_second", "unused_bytes_per_second", "calibration")
    old = {key: value for key, value in MACHINE.model_dump(mode="json").items() if key not in new}
    machine.write_text(json.dumps(old))
    assert load_machine(machine) == MACHINE
    done = run(capsys, "plan", path, "--on", machine)
    assert "machine file: does not say" in done.out
    save_machine(machine, measured((), (OTHERS,)).model_copy(update={"runs": (), "local_bytes_per_second": 1e10}))
    assert "1 of 2 figures while it was disturbed" in run(capsys, "plan", path, "--on", machine).out
    said = json.loads(run(capsys, "plan", path, "--on", machine, "--json", "-").out)["machine_file"]
    assert said["figures_disturbed"] == {"figure 1": [OTHERS]}
    assert said["measured_here"]
    assert said["age_days"] == pytest.approx(3, abs=0.1)


def ends(command, ranks, **changes):
    keys = {"start_seconds": 0.5, "setup_seconds": 0.25, "finish_seconds": 0.75, "process_bytes": 7e7}
    return RunEnds(command=command, ranks=ranks, **keys | {"finish_bytes": 7e7} | changes)


ENDS = MACHINE.model_copy(
    update={
        "runs": (
            ends("model", 1),
            ends("model", 2, start_seconds=1.5),
            ends("migrate", 1, finish_seconds=2.5, process_bytes=1.3e8, finish_bytes=1.3e8),
            ends("migrate", 2, process_bytes=8e7, finish_bytes=1.3e8),
        )
    }
)


def test_ends_are_those_of_the_command_and_of_as_many_ranks():
    assert ENDS.ends("model", 4).start_seconds == 1.5
    assert ENDS.ends("migrate").finish_seconds == 2.5
    assert ENDS.more_to_start(1) == 0
    assert ENDS.more_to_start(2) == 1.0
    other = ENDS.ends("ocean")
    assert (other.start_seconds, other.finish_seconds, other.process_bytes) == (1.0, 2.0, 1e8)
    assert MACHINE.more_to_start(2) == 0


def test_memory_and_seconds_of_a_small_run(tmp_path):
    """A modelling takes its process and arrays; a small migration most when it draws."""
    inputs(tmp_path)
    model = plan_acoustic(load_survey(survey(tmp_path, MODEL)), ENDS, PlanRequest(1)).asked
    assert model.memory_bytes["process"] == 7e7
    seconds = {phase.name: phase.seconds for phase in model.phases}
    assert (seconds["start-up"], seconds["set up"], seconds["finish"]) == (0.5, 0.25, 0.75)
    migrate = plan_acoustic(load_survey(survey(tmp_path, MIGRATE)), ENDS, PlanRequest(2, 1)).asked
    assert migrate.rank_bytes == 1.3e8
    assert set(migrate.memory_bytes) == {"process", "drawing"}


@pytest.mark.parametrize("keys", [MODEL, MIGRATE])
def test_memory_written_for_the_first_time_takes_time(tmp_path, keys):
    """Also of the history, which a run allocates when it sets up."""
    inputs(tmp_path)
    loaded = load_survey(survey(tmp_path, keys))
    without = plan_acoustic(loaded, MACHINE, PlanRequest(2, 1)).asked
    fresh = plan_acoustic(loaded, MACHINE.model_copy(update={"fresh_bytes_per_second": 1e6}), PlanRequest(2, 1)).asked
    arrays = without.rank_bytes - without.memory_bytes["process"] - without.memory_bytes.get("page", 0)
    assert fresh.seconds - without.seconds == pytest.approx(2 * arrays / 1e6, rel=1e-6)
    assert ("wavefield history" in without.memory_bytes) == (keys is MIGRATE)


def test_memory_that_was_never_used_is_named_where_it_matters():
    asked = {"memory_bytes_per_rank": 1.4e9, "ranks_per_node": 4, "total_seconds": 30.0}
    rates = {"fresh_bytes_per_second": 4e9, "unused_bytes_per_second": 1e9}
    slow = MACHINE.model_copy(update=rates)
    assert first_use(slow, asked) == [
        "set up: up to 4.2 s more where no process has used the memory since the machine began"
    ]
    assert first_use(slow, asked | {"total_seconds": 100.0}) == []
    assert first_use(MACHINE, asked) == []


def record(start, draw, *peaks):
    spent = {"start-up": {"compute": start}, "set up": {"io": 0.1}, "draw": {"compute": draw}, "steps": {"idle": 9.0}}
    return {
        "ledger": {
            "phases": [{"phase": name} for name in spent],
            "ranks": [{"phases": spent}] * len(peaks),
        },
        "results": {"peak_memory_bytes": peaks},
    }


def test_ends_of_small_runs_are_the_least_of_each():
    """A start-up of 23 s for 3 among others does not come into the file."""
    rows = [record(23.0, 0.5, 1.4e8, 8.2e7), record(3.0, 0.7, 1.5e8, 8.1e7)]
    found = ends_of("migrate", rows, ("steps",), 1e6, 1e6)
    assert (found.ranks, found.start_seconds, found.finish_seconds) == (2, 3.0, 0.5)
    assert (found.process_bytes, found.finish_bytes) == (8e7, 1.39e8)
    assert ends_of("migrate", rows, ("steps",), 1e6, 0.0).finish_bytes == 1.4e8
    assert ends_of("model", rows, ("steps",), 1e6, None).process_bytes == 1.39e8


def test_probes_without_their_library_have_no_figures(monkeypatch, tmp_path):
    monkeypatch.setattr("fathometer.apps.reactive.probes.find_spec", lambda name: None)
    assert list(ReactiveProbes().machine_figures(tmp_path, None, None, None, None)) == []


def test_compression_is_recommended_only_where_it_pays_on_that_disk():
    """A tenth of the coefficients has 0.12 of the bytes: transforming all must be faster than writing the rest."""
    plan = {
        "nodes": 2,
        "total_seconds": 100.0,
        "phases": [
            {"phase": "write image", "seconds": 20.0, "bytes": 4e9, "calls": 1},
            {"phase": "time steps", "seconds": 80.0, "bytes": 0, "calls": 1},
        ],
    }
    disk = {"write_bytes_per_second": 1e8, "storage_bytes_per_second": 2e8}
    for node, pays in ((1.4e8, True), (8e7, False), (1.2e9, True)):
        machine = MACHINE.model_copy(update={**disk, "wavelet_bytes_per_second": node})
        [line] = compression_advice(machine, plan)
        assert line.startswith("storage: write = 'auto:filter=wavelet,shares=10' (.h5) would take ") == pays
        assert pays or line.endswith("would not pay: the disk takes 200 MB/s, the nodes transform 160 MB/s")
    assert "would take 4.07 s in place of 20 s" in compression_advice(machine, plan)[0]
    # Not where writing is no part of the run worth mentioning, nor where nothing is known of a core.
    assert compression_advice(machine, plan | {"total_seconds": 1000.0}) == []
    assert compression_advice(machine.model_copy(update={"wavelet_bytes_per_second": None}), plan) == []
    assert compression_advice(machine, None) == []
    assert compression_advice(machine, {"nodes": 1}) == []
