"""Options declared as fields of a dataclass: what the parser takes, what the dataclass and its record then hold."""

import argparse
from dataclasses import dataclass

import pytest

from fathometer.base.options import add_options, option, options_of, recorded, values_of
from fathometer.cli.parser import parser
from fathometer.lab.io.options import StorageOptions
from fathometer.lab.messages.options import MessageOptions
from fathometer.lab.profile.options import ProfileOptions
from fathometer.lab.stencil_options import StencilOptions
from fathometer.launch.slurm import Job
from fathometer.plan.options import PlanOptions
from fathometer.runs.options import RunOptions
from fathometer.seismic.model.prepare.request import PreparationRequest
from fathometer.seismic.signature.request import WaveletRequest


@dataclass(frozen=True)
class Dive:
    """Options of each kind."""

    place: str = option("where", "place")
    depth: float = option("how deep", type=float, metavar="M", recorded="depth_metres")
    bottles: tuple[str, ...] = option("what is taken", "-b", "--bottle", action="append", default=())
    wet_suit: bool = option("whether it is worn", default=False)
    secret: int = option("not in records", type=int, default=3, recorded=None)
    found: str = ""


def parsed(*words, **keys):
    made = argparse.ArgumentParser(exit_on_error=False)
    add_options(made, Dive, **keys)
    return made.parse_args(words)


def test_what_is_given_and_what_is_left_out():
    left_out = options_of(Dive, parsed("reef", "--depth", "20"), found="sand")
    assert left_out == Dive("reef", 20.0, found="sand")
    given = options_of(Dive, parsed("reef", "--depth", "20", "-b", "air", "--bottle", "oxygen", "--wet-suit"))
    assert given == Dive("reef", 20.0, ("air", "oxygen"), True)
    assert recorded(given) == {
        "place": "reef", "depth_metres": 20.0, "bottles": ("air", "oxygen"), "wet_suit": True
    }  # fmt: skip
    with pytest.raises(SystemExit):
        parsed("reef")


def test_a_command_may_have_some_of_them_and_other_words():
    few = parsed("--wet-suit", names=("secret", "wet_suit"), secret={"default": 7})
    assert vars(few) == {"secret": 7, "wet_suit": True}
    assert values_of(Dive, few) == {"secret": 7, "wet_suit": True}
    assert values_of(Dive, parsed("reef", given_only=True, names=("place", "secret"))) == {
        "place": "reef",
        "secret": None,
    }


COMMANDS = (
    (MessageOptions, ["messages"], {}),
    (StorageOptions, ["io", "folder"], {}),
    (ProfileOptions, ["profile", "--", "program"], {"command": ("program",)}),
    (PlanOptions, ["plan", "input.toml"], {}),
    (PreparationRequest, ["prepare", "vp.rsf", "-o", "out.rsf"], {}),
    (WaveletRequest, ["survey", "wavelet", "survey.toml"], {}),
    (RunOptions, ["migrate", "survey.toml"], {}),
    (RunOptions, ["ocean", "--demo"], {}),
)


@pytest.mark.parametrize(("kind", "words", "others"), COMMANDS)
def test_a_command_without_options_has_the_defaults_of_their_declaration(kind, words, others):
    options = parser().parse_args(words)
    made = options_of(kind, options, **others)
    needed = {name: getattr(made, name) for name in ("folder", "model", "output") if hasattr(made, name)}
    assert made == kind(**others | needed)


def test_the_options_of_benchmarks_and_jobs_are_parsed():
    words = ["stencil", "--grid", "64,32", "--time-depth", "auto", "--order", "4", "--scaling"]
    made = options_of(StencilOptions, parser().parse_args(words))
    assert made == StencilOptions((64, 1, 32), order=4, physics=made.physics, scaling=True)
    words = ["submit", "a.toml", "--time", "1h", "--nodes", "3", "--array", "2", "--partition", "long"]
    assert values_of(Job, parser().parse_args(words)) == {
        "seconds": 3600.0,
        "nodes": 3,
        "ranks_per_node": 1,
        "threads": None,
        "partition": "long",
        "account": None,
        "array_size": 2,
    }
    words = ["messages", "--algorithm", "allreduce=ring", "--algorithm", "bcast=binomial", "--length", "8,16"]
    record = options_of(MessageOptions, parser().parse_args(words)).as_dict()
    assert record["algorithms"] == ["allreduce=ring", "bcast=binomial"]
    assert record["lengths_bytes"] == (8, 16)
    assert "thread_level" not in record
