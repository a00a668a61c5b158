"""Plans of runs on graphics cards that are only described: rates, memory, the history, refusals. No card is needed."""

import math

import numpy as np
import pytest
from cli_support import MIGRATE, MODEL, inputs, run, survey
from machine_support import MACHINE

from fathometer.base.errors import InputError
from fathometer.parallel.memory_budget import MEMORY_SHARE
from fathometer.plan.machine_file import GraphicsCard, Rate, load_machine, save_machine
from fathometer.seismic.acoustic.plan import plan_acoustic
from fathometer.seismic.plan import NoRoomOnCards, PlanRequest
from fathometer.seismic.plan_table import lines
from fathometer.seismic.setup.processor import CARD_SHARE
from fathometer.seismic.survey import load_survey

CARD = GraphicsCard(
    name="a card",
    per_node=2,
    memory_bytes=1e9,
    triad_bytes_per_second=1e12,
    to_card_bytes_per_second=2e10,
    from_card_bytes_per_second=1e10,
    rates=(
        Rate(physics="isotropic", dimensions=2, order=8, points=1e4, points_per_second=1e10),
        Rate(physics="isotropic", dimensions=2, order=8, points=1e6, points_per_second=1e11),
    ),
    step_seconds=1e-4,
    start_seconds=0.5,
    process_bytes=3e8,
)
MACHINE_WITH_CARDS = MACHINE.model_copy(update={"card": CARD})


@pytest.fixture
def planned(tmp_path):
    """A plan of a survey of 20 times the cells, with these keys, on a machine with such a card."""
    inputs(tmp_path)
    np.save(tmp_path / "vp.npy", np.full((800, 600), 2000.0, np.float32))

    def plan(keys, card=CARD, request=None, **changes):
        same = {"model.spacing": [0.5, 0.5], "propagation.dt": 1e-4, "propagation.cone": "off"}
        path = survey(tmp_path, keys | same)
        machine = MACHINE.model_copy(update={"card": card, "memory_bytes_per_node": 4e9} | changes)
        return plan_acoustic(load_survey(path), machine, request or PlanRequest(nodes=1))

    return plan


def seconds(prediction):
    return {phase.name: phase.seconds for phase in prediction.phases}


def test_a_machine_file_keeps_its_card(tmp_path, capsys):
    """Files with and without the section; a wrong figure of it is one line."""
    path = tmp_path / "machine.json"
    save_machine(path, MACHINE)
    assert load_machine(path).card is None
    save_machine(path, MACHINE_WITH_CARDS)
    assert load_machine(path) == MACHINE_WITH_CARDS
    for wrong, told in (
        ({"memory_bytes": -1.0}, "[card] memory_bytes: found -1.0; allowed: a number above 0"),
        ({"rates": (CARD.rates[0], CARD.rates[0])}, "rates: found two for isotropic, 2D, order 8, 10000 points"),
    ):
        save_machine(path, MACHINE.model_copy(update={"card": CARD.model_copy(update=wrong)}))
        with pytest.raises(InputError) as refused:
            load_machine(path)
        assert told in str(refused.value)
        assert "\n" not in str(refused.value)


def test_the_costs_on_a_card_by_hand(planned):
    """Rates and calls of the card, a rank on one; wavefields there and not on the host; the processors' as before."""
    plan, processors = planned(MODEL), planned(MODEL, None)
    one, points = plan.recommended, math.prod(plan.layout.grid.full_shape)
    assert (one.ranks, one.shot_ranks, one.threads) == (1, (1, 1, 1), MACHINE.cores_per_node)
    rate = 1e10 * 10 ** (math.log(points / 1e4) / math.log(100))
    [propagation] = [phase for phase in one.phases if phase.name == "source propagation"]
    expected = plan.time.steps * points / rate + propagation.calls * CARD.step_seconds
    assert propagation.seconds == pytest.approx(expected)
    assert seconds(one)["set up"] == pytest.approx(CARD.start_seconds)
    assert one.memory_bytes["wavefields"] == one.memory_bytes["absorbing layers"] == 0
    assert one.memory_bytes["process"] == MACHINE.process_bytes + CARD.process_bytes
    assert one.card_bytes["wavefields"] >= 2 * 4 * points
    assert one.card_room == CARD_SHARE * CARD.memory_bytes
    text = "\n".join(lines(plan))
    assert "time steps on 2 graphics cards a node, a card; rates from the machine file" in text
    assert plan.as_dict()["processor"]["name"] == "a card"
    assert plan.as_dict()["asked"]["card_bytes_per_rank"] == sum(one.card_bytes.values())
    assert processors.as_dict()["processor"] == {"kind": "cpu"}
    assert processors.recommended == planned(MODEL | {"parallel.processor": "cpu"}).recommended
    assert "graphics card" not in "\n".join(lines(processors))


def test_ranks_with_a_card_each_and_ranks_that_share_one(planned):
    two, four = (planned(MODEL, request=PlanRequest(ranks, 1, (ranks, 1, 1))).asked for ranks in (2, 4))
    assert four.card_room == two.card_room / 2
    assert seconds(four)["source propagation"] > 0.9 * seconds(two)["source propagation"]  # half the cells, half a card
    slow = {"to_card_bytes_per_second": 1e6, "from_card_bytes_per_second": 1e6}
    plan = planned(MODEL, CARD.model_copy(update=slow), PlanRequest(2, 1, (2, 1, 1)))
    nz = plan.layout.grid.full_shape[2]
    copied = 2 * plan.layout.radius * nz * 4 / 1e6 + plan.layout.radius * nz * 4 / MACHINE.local_bytes_per_second
    beside = seconds(plan.asked)["source propagation"] - seconds(two)["source propagation"]
    assert beside == pytest.approx(0.0)
    points = math.prod(plan.layout.grid.full_shape) / 2
    step = points / (1e10 * 10 ** (math.log(points / 1e4) / math.log(100)))
    assert seconds(plan.asked)["halo exchange"] == pytest.approx(plan.time.steps * (copied - step))
    spread = planned(MODEL, request=PlanRequest(4))
    assert spread.asked.nodes == 2  # a rank a card, where there are nodes enough


def test_the_history_lies_where_it_fits(planned):
    """On the card, then in the host's memory, whose copies go beside the steps, then on disk or computed again."""
    keys = MIGRATE | {"imaging.every": 10}
    there = planned(keys).recommended
    assert there.history.store == "card"
    assert there.card_bytes["wavefield history"] == there.history.card_bytes > 0
    assert there.history.memory_bytes == seconds(there)["history push"] == 0
    bytes = there.history.card_bytes
    beside = sum(there.card_bytes.values()) - bytes
    small = CARD.model_copy(update={"memory_bytes": (beside + bytes / 2) / CARD_SHARE})
    host = planned(keys, small, PlanRequest(1, 1)).asked
    assert (host.history.store, host.memory_bytes["wavefield history"]) == ("memory", host.history.memory_bytes)
    slow = small.model_copy(update={"from_card_bytes_per_second": 1e6, "to_card_bytes_per_second": 2e6})
    waiting = planned(keys, slow, PlanRequest(1, 1)).asked
    assert seconds(waiting)["history push"] > bytes / 1e6 - seconds(host)["source propagation"]
    assert seconds(waiting)["history push"] > seconds(waiting)["history pop"] > 0
    less = (host.rank_bytes - host.history.memory_bytes / 2) / 0.7
    least = planned(keys, small, PlanRequest(1, 1), memory_bytes_per_node=less).asked
    assert least.history.store in ("disk", "checkpoint")
    wanted = planned(keys | {"history.store": "checkpoint"}, small, PlanRequest(1, 1)).asked
    assert wanted.history.store == "checkpoint"


def test_what_does_not_fit_a_card(planned):
    """Refused where the survey asks for one, else planned on the processors."""
    tiny = CARD.model_copy(update={"memory_bytes": 1e6})
    with pytest.raises(NoRoomOnCards, match=r"fits the graphics cards: it takes at least .*processor = \"cpu\"$"):
        planned(MODEL | {"parallel.processor": "gpu"}, tiny)
    plan = planned(MODEL, tiny)
    assert plan.machine.card is None
    assert plan.recommended == planned(MODEL, None).recommended
    assert any(note.startswith("the processors take the time steps: no layout on 1 node") for note in plan.notes)
    taken = sum(planned(MODEL).recommended.card_bytes.values())
    less = CARD.model_copy(update={"memory_bytes": 0.8 * taken / CARD_SHARE})
    asked = planned(MODEL, less, PlanRequest(1, 1))
    assert any("of a graphics card a rank, more than its" in note for note in asked.notes)
    assert (asked.recommended.ranks, asked.recommended.fits_card) == (2, True)


def test_a_card_that_the_machine_does_not_have(tmp_path, capsys):
    inputs(tmp_path)
    save_machine(tmp_path / "machine.json", MACHINE)
    path = survey(tmp_path, MODEL | {"parallel.processor": "gpu"})
    done = run(capsys, "plan", path, "--on", tmp_path / "machine.json")
    assert done.code == 2
    assert 'survey.toml: [parallel] processor: found "gpu", but a machine has no graphics card; needed: ' in done.err
    assert done.err.count("\n") == 1


def test_it_says_where_the_rates_were_measured(tmp_path, capsys):
    inputs(tmp_path)
    measured = {"figures": ("card",), "repetitions": 3, "spread": 0.1, "disturbed": ()}
    calibration = {"host": "there", "cpu": "a cpu", "time": "2030-01-01T00:00:00+00:00", "measurements": (measured,)}
    values = MACHINE_WITH_CARDS.model_dump(mode="json", exclude_unset=True) | {"calibration": calibration}
    machine = type(MACHINE).model_validate(values)
    save_machine(tmp_path / "machine.json", machine)
    done = run(capsys, "plan", survey(tmp_path, MODEL), "--on", tmp_path / "machine.json")
    assert done.code == 0, done.err
    assert "time steps on 2 graphics cards a node, a card; rates measured on one of there" in done.out


def test_sums_of_images_count_in_memory_where_one_rank_keeps_them(planned):
    """64-bit numbers, two a cell and volume, if half of the memory is free all the same."""
    one = planned(MIGRATE, request=PlanRequest(1, 1)).asked
    held = one.memory_bytes["sums of images"]
    assert held % (16 * 800 * 600) == 0
    assert held > 0
    assert "sums of images" not in planned(MIGRATE, request=PlanRequest(2, 1)).asked.memory_bytes
    assert "sums of images" not in planned(MIGRATE, None, request=PlanRequest(1, 1)).asked.memory_bytes
    several = one.memory_bytes["process"] + held  # and the parts of a shot, which are few here
    for room, kept in ((2.2, True), (1.98, False)):
        node = room * several / MEMORY_SHARE
        asked = planned(MIGRATE, request=PlanRequest(1, 1), memory_bytes_per_node=node).asked
        assert ("sums of images" in asked.memory_bytes) == kept
