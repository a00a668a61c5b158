"""`fathometer study forms`: the published tables that one command makes."""

from __future__ import annotations

import argparse

from fathometer.base.text_tables import TextColumn, ruled
from fathometer.cli.command import Command, Options
from fathometer.cli.output import print_text

DESCRIPTION = """\
List the forms: tables as they were published, each made by `fathometer study run --form NAME`, with what it shows, who
published it, and which input it takes."""

EXAMPLES = """\
  fathometer study forms
  fathometer study run --form scaling survey.toml --nodes 1,2,4
  fathometer study run --form storage /scratch --quick"""

WIDE = 120  # characters


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has no options."""


def run(options: Options) -> None:
    """Print the list."""
    from fathometer.lab.forms.form import forms

    rows = []
    for form in forms().values():
        inputs = ", ".join(form.head.inputs)
        inputs += f" (its own: {form.head.default})" if form.head.default not in ("", "none") else ""
        rows.append([form.name, form.head.shows, form.head.source, inputs])
    columns = [
        TextColumn("form", whole=True),
        TextColumn("shows"),
        TextColumn("published as", most=34),
        TextColumn("input", most=24),
    ]
    print_text(ruled("Published forms", columns, rows, WIDE))


COMMAND = Command(
    "study forms",
    "the published tables that one command makes",
    DESCRIPTION,
    EXAMPLES,
    add_arguments,
    run=run,
)
