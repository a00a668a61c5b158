"""The record and the page of a run whose time steps a graphics card takes; what `calibrate` measures of one."""

import json

import pytest
from cli_support import MIGRATE, call, inputs, survey
from report_support import YARDSTICK, a_record

from fathometer.base import formatting
from fathometer.base.ledger import timed
from fathometer.plan.machine_file import GraphicsCard
from fathometer.report.figures import roofline
from fathometer.report.verdict import verdict
from fathometer.seismic.acoustic import card_probes


def test_a_run_on_a_card_says_so(tmp_path, card):
    """Its roof is the card's; its steps are work beside the main thread, with no part in the wall time."""
    inputs(tmp_path)
    keys = {"parallel.processor": "gpu", "model.epsilon": 0.1, "history.store": "memory"}
    done = call("migrate", survey(tmp_path, MIGRATE | keys), "--quiet")
    assert done.code == 0, done.err
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    results, roof = record["results"], record["results"]["yardstick"]
    name = results["processor"]["name"]
    assert roof["device"] == f"the graphics card ({name})"
    assert roof["triad_bytes_per_second"] > 1e8
    assert roof["bytes_per_point"] == 36
    assert "multiply_add_flops_per_second" not in roof
    beside = {entry["phase"]: entry for entry in record["ledger"]["overlapped"]}
    assert beside["steps on the card"]["seconds"]["max"] > 0
    assert beside["card transfers"]["total_bytes"] >= results["history"]["ranks"][0]["stored_bytes"]
    page = (tmp_path / "out" / "report.html").read_text()
    for told in (
        f"The kernel against the graphics card ({name})",
        f"a graphics card, {name} with",
        f"Triad of the graphics card ({name}), measured at the end of the run",
        "steps on the card",
        "of a graphics card by its own clock",
    ):
        assert told in page, told


def test_a_roof_without_a_peak_of_arithmetic():
    """The slope alone, of the card's memory; the same limit of streaming."""
    roof = {key: value for key, value in YARDSTICK.items() if key != "multiply_add_flops_per_second"}
    of_card, usual = (
        roofline(a_record(results={"files": {}, "notes": [], "yardstick": one}))
        for one in (
            roof | {"device": "the graphics card (a card)"},
            YARDSTICK | {"multiply_add_flops_per_second": 1e15},
        )
    )
    assert of_card["title"] == "The kernel against the graphics card (a card)"
    assert usual["title"] == "The kernel against the machine"
    assert of_card["data"][1]["y"] == pytest.approx(usual["data"][1]["y"])
    assert len(of_card["data"][0]["x"]) == len(of_card["data"][0]["y"]) == 2
    assert "multiply-adds" not in str(of_card["legend"])


@pytest.mark.parametrize(("steps", "told"), [(8.99, ", fully hidden"), (5.0, "")])
def test_copies_beside_the_steps_of_a_card(steps, told):
    """Hidden where the kernel took no longer than the card's work."""
    record = a_record(ranks=1)
    spread = {"min": 0.0, "mean": 0.0, "max": 0.0, "max_rank": 0, "imbalance": 1.0}
    kernel = sum(
        entry["seconds"]["max"]
        for entry in record["ledger"]["phases"]
        if entry["phase"].endswith(("propagation", "exchange"))
    )
    for name, seconds, bytes in (("steps on the card", kernel * steps / 9, 0), ("card transfers", 2.0, 4 * 10**9)):
        record["ledger"]["overlapped"].append(
            {"phase": name, "category": "compute", "seconds": spread | {"max": seconds}, "total_bytes": bytes}
        )
    sentence = verdict(record).replace(formatting.THIN, " ")
    assert f"“card transfers” moved 2.00 GB/s beside the time steps{told};" in sentence


def test_what_is_measured_of_a_card(card, monkeypatch):
    """Small sizes here: what is measured, not how well. Grids that memory or patience do not allow are left out."""
    monkeypatch.setattr(card_probes, "SIZES", {3: ((6, 6, 6), (4000, 4000, 4000)), 2: ((10, 1, 10), (20, 1, 20))})
    monkeypatch.setattr(card_probes, "ORDERS", (4, 8))
    for name, value in {"TRIAD_NUMBERS": 1 << 16, "COPY_BYTES": 1 << 16, "CALLS": 1, "STEPS": 2}.items():
        monkeypatch.setattr(card_probes, name, value)
    said = []
    [found] = card_probes.card_figures(lambda task, least=3: timed(task), said.append)
    measured = GraphicsCard.model_validate(found["card"])
    assert measured.per_node >= 1
    kinds = {(rate.physics, rate.dimensions, rate.order) for rate in measured.rates}
    assert kinds == {(name, flat, order) for name in ("vti", "isotropic") for flat in (2, 3) for order in (4, 8)}
    assert len(measured.rates) == 2 * 2 * (1 + 2)
    assert min(measured.triad_bytes_per_second, measured.to_card_bytes_per_second) > 0
    assert min(measured.step_seconds, measured.start_seconds) > 0
    assert said[0].startswith("graphics card: ")


def test_without_kernels_for_cards_nothing_is_measured(monkeypatch):
    monkeypatch.setattr(card_probes, "kernels_built", lambda: False)
    said = []
    assert list(card_probes.card_figures(timed, said.append)) == said == []


def test_a_card_that_cannot_be_used_is_one_line(monkeypatch):
    monkeypatch.setenv("FATHOMETER_CARD_LIBRARY", "/dev/null")
    from card_support import forget

    forget()
    said = []
    assert list(card_probes.card_figures(timed, said.append)) == []
    [line] = said
    assert line.startswith("no graphics card is measured: ")
    assert "\n" not in line
    forget()
