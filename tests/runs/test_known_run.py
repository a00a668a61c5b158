"""The record of a run, of one that ended and of one that did not."""

import json
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from mpi4py import MPI

from fathometer.base.ledger import Ledger
from fathometer.parallel.threads import Binding
from fathometer.record.envelope import Figure
from fathometer.record.ranks import largest_peak
from fathometer.runs import finished_run
from fathometer.runs.context import Context
from fathometer.runs.finished_run import KnownRun

BINDING = Binding(0, "here", 0, 1, 1, [0], False, False, "default", [0], [])


@dataclass(frozen=True, eq=False)
class WithFinds(KnownRun):
    """A run whose ranks find something meanwhile."""

    def found(self):
        return {3, 5}

    def known(self, found):
        return self.facts | {"finds": sorted(set.union(*found))}


def run_of(folder, kind=KnownRun):
    return kind("tides", {"steps": 2}, folder, [folder / "in.toml"], {"cells": 6})


def test_a_record_of_one_rank_tells_of_how_many_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(finished_run, "MPI", SimpleNamespace(COMM_WORLD=SimpleNamespace(size=3)))
    context = Context(("test",), True, BINDING, lambda line: None)
    with Ledger():
        record = run_of(tmp_path, WithFinds).partial_record(context, "interrupted")
    assert record["machine"]["ranks"] == 3
    assert len(record["machine"]["binding"]) == 1
    assert record["results"] == {"files": {}, "cells": 6, "finds": [3, 5]}
    assert record["validity"] == {"valid": False, "finished": False, "reasons": ["interrupted"], "times": []}


@pytest.mark.parametrize(("kind", "finds"), [(KnownRun, {}), (WithFinds, {"finds": [3, 5]})])
def test_the_record_and_then_the_page(tmp_path, kind, finds):
    published = []
    context = Context(("test",), True, BINDING, lambda line: None, lambda *page: published.append(page))
    with Ledger():
        outcome = run_of(tmp_path, kind).finish(
            {"fields": tmp_path / "fields.nc"},
            context,
            MPI.COMM_SELF,
            lambda: "told",
            lambda told, account: ([Figure("total", 1.0, "seconds", "lower")], {"said": told}),
            lambda record, folder: [record["results"]["said"], folder],
            lambda told: [f"a doubt: {told}"],
        )
    written = json.loads((tmp_path / "run.json").read_text())
    assert written == outcome.record
    peak = written["results"].pop("peak_memory_bytes")
    assert written["results"].pop("files") == {key: str(path) for key, path in outcome.files.items()}
    assert written["results"] == {"cells": 6, **finds, "said": "told"}
    assert [largest_peak(written["ledger"]["ranks"])] == peak
    assert written["validity"]["reasons"][0] == "a doubt: told"
    assert published == [(tmp_path / "report.html", outcome.record, ["told", tmp_path])]


def test_a_rank_that_knows_no_peak_counts_as_nothing():
    assert largest_peak([{"usage": {"peak_memory_bytes": None}}, {"usage": {"peak_memory_bytes": 7}}]) == 7
