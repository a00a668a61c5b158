"""A second application, as small as one can be: the mean height of tides from a TOML file with the section [tides].

Tests register it (TIDES in `APPLICATIONS`) to see that the command line and the page need nothing else of an
application than what runs/application.py lists.
"""

from __future__ import annotations

import tomllib
from types import SimpleNamespace

from pydantic import BaseModel

from fathometer.base.errors import InputError
from fathometer.config.settings import with_settings
from fathometer.record.envelope import PAGE, RECORD, Figure, record, write_record
from fathometer.record.machine import machine
from fathometer.record.ranks import account, own_account
from fathometer.runs.application import Application, CostEstimate, Heading
from fathometer.runs.context import Outcome

TIDES = "tides:APPLICATION"


class Tides(BaseModel):
    """The section [tides]."""

    heights: list[float]


class Input(BaseModel):
    """An input file."""

    tides: Tides


class TidesApplication:
    """The mean of heights."""

    name = "tides"
    commands = ("mean-tide",)
    sections = frozenset({"tides"})
    plan_options = frozenset({"ranks"})
    equations = ()

    def import_modules(self, command):
        """Nothing more."""

    def input_model(self):
        """The pydantic class."""
        return Input

    def load(self, path, settings=()):
        """An input file and where it lies."""
        values = with_settings(tomllib.loads(path.read_text()), settings)
        return SimpleNamespace(path=path, heights=Input(**values).tides.heights)

    def resume_hint(self, command, path, settings=()):
        """Of all input files."""
        return "wait for the next tide"

    def protect_inputs(self, input, outputs):
        """Raises InputError where the input file itself would be replaced."""
        if input.path in outputs:
            raise InputError(f"{input.path}: would be replaced")

    def input_files(self, input):
        """The input alone."""
        return [input.path]

    def run(self, command, input, comm, context):
        """Collective. Write the record and its page beside the input."""
        mean = sum(input.heights) / len(input.heights)
        files = {"record": input.path.with_name(RECORD), "report": input.path.with_name(PAGE)}
        envelope = record(
            application=self.name,
            command=context.command,
            input={"tides": {"heights": input.heights}},
            machine=machine([input.path]) | {"ranks": comm.size, "binding": [context.binding.as_dict()]},
            account=account([own_account(context.binding)]),
            figures=[Figure("mean height", mean, "metres", "none")],
            results={"files": files, "mean_metres": mean},
        )
        write_record(files["record"], envelope)
        context.publish(files["report"], envelope, self.panels(envelope, files["record"]))
        return Outcome(files, envelope)

    def demo(self, folder, quick, comm, context):
        """There is none."""
        raise InputError("tides: no demo")

    def summary(self, outcome):
        """The mean."""
        return [f"mean height {outcome.record['results']['mean_metres']:g} m"]

    def failure(self, outcome):
        """The dead do not count tides."""
        return "the sea is gone" if outcome.record["results"]["mean_metres"] == 0.0 else ""

    def plan(self, input, machine, options):
        """A second for each height."""
        seconds = len(input.heights) / (options["ranks"] or 1)
        return CostEstimate({"schema_version": 1, "seconds": seconds}, [f"{seconds:g} s on {machine.name}"])

    def batch_job(self, input, program, name, nodes, **options):
        """There is none."""
        raise InputError(f"{input.path}: tides wait for no batch job")

    def heading(self, record):
        """What a page says at its top."""
        return Heading("Tides", "harbour", [("Heights", str(len(record["input"]["tides"]["heights"])))], kernel=False)

    def panels(self, record, path):
        """The heights as a table."""
        heights = record["input"]["tides"]["heights"]
        rows = [[n, height] for n, height in enumerate(heights)]
        columns = [("tide", "tide", "count"), ("height", "height", "metres")]
        return [{"kind": "table", "title": "High and low water", "columns": columns, "rows": rows}]

    def probes(self):
        """Nothing that a benchmark could measure."""
        return


APPLICATION: Application = TidesApplication()
