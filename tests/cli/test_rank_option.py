"""--rank, which people write for --ranks, never means another option."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import MODEL, call, here, inputs, survey

from fathometer.cli.parser import parser


@pytest.mark.parametrize(
    "words", [["model", "s.toml"], ["ocean", "o.toml"], ["plan", "s.toml"], ["messages"], ["cluster", "run"]]
)
def test_it_is_ranks(words: list[str]) -> None:
    assert parser().parse_args([*words, "--rank", "3"]).ranks == 3


@pytest.mark.parametrize("option", ["--rank", "--ranks"])
def test_a_job_has_ranks_per_node(option: str) -> None:
    done = here("submit", "s.toml", "--time", "1h", option, 4)
    assert done.code == 2
    assert "found 4; allowed: --nodes and --ranks-per-node" in done.err


def test_ranks_are_started(tmp_path: Path) -> None:
    inputs(tmp_path)
    done = call("model", survey(tmp_path, MODEL), "--rank", 2)
    assert done.code == 0, done.err
    assert "2 ranks as 2 x 1 x 1" in done.err
