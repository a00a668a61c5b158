"""A command that an application runs on an input file: load, run, trace, and the lines at the end."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from fathometer.base import ledger
from fathometer.base.errors import FathometerError, InputError
from fathometer.base.ledger import phase
from fathometer.base.options import options_of
from fathometer.cli import argument_groups, registry
from fathometer.cli.command import Command, Options, RankCall
from fathometer.cli.output import labelled, print_json
from fathometer.cli.pages import publish

if TYPE_CHECKING:
    from fathometer.runs.application import Application, Conclusion
    from fathometer.runs.context import Outcome
    from fathometer.runs.options import RunOptions

OptionsOf = Callable[[argparse.Namespace], "RunOptions"]


def application_command(
    name: str,
    summary: str,
    description: str,
    examples: str,
    add_arguments: Callable[[argparse.ArgumentParser], None],
    run_options: OptionsOf | None = None,
) -> Command:
    """A command of an application's `commands`: its input file is the argument `survey`, keys of which --set sets.

    run_options: what is to become of an earlier run in the same folder, from the command's options.
    """
    return Command(
        name,
        summary,
        description,
        examples,
        partial(_add_arguments, add_arguments),
        run_on_ranks=partial(_run_input, name, run_options),
        prepare=partial(_load, name, run_options),
    )


def _add_arguments(add_own: Callable[[argparse.ArgumentParser], None], parser: argparse.ArgumentParser) -> None:
    add_own(parser)
    argument_groups.add_set(parser)


def _load(name: str, run_options: OptionsOf | None, options: Options) -> Any:
    """The input, and the modules that its run needs. Options that contradict each other are told before."""
    if run_options is not None:
        run_options(options)
    application = registry.of_command(name)
    registry.require_kind(options.survey, application)
    return application.load(options.survey, options.set, name)


def _run_input(name: str, run_options: OptionsOf | None, call: RankCall) -> None:
    run_application(registry.of_command(name), name, call, call.prepared, run_options)


def run_application(
    application: Application, command: str, call: RankCall, input: Any, run_options: OptionsOf | None = None
) -> None:
    """Collective. Run an application's command, write the trace, and tell files and cost. input: or a Demo.

    Raises FathometerError, besides what the run raises, where work is missing in the results.
    """
    from fathometer.parallel.collectives import collective_errors
    from fathometer.record import trace
    from fathometer.runs.application import protect
    from fathometer.runs.context import Context
    from fathometer.runs.options import RunOptions

    options = run_options(call.options) if run_options is not None else RunOptions()
    speaks = call.comm.rank == 0 and not call.options.quiet
    context = Context(call.words, call.options.quiet, call.binding, call.say, publish, options, speaks)
    if call.trace is not None and call.prepared is not None:  # there is no input of a demo
        with phase("set up"):
            protect(application.files(call.prepared), [call.trace])
    outcome = application.run(command, input, call.comm, context)
    if call.trace is not None:
        account = ledger.current()
        assert account is not None, "main has opened it"
        with phase("finish"):
            trace.write_trace(call.trace, account, call.trace_zero, call.comm)
    with phase("finish"), collective_errors(call.comm):
        conclusion = application.conclusion(outcome)
        if call.comm.rank == 0:
            _tell(conclusion, outcome, call)
    if conclusion.missing:
        raise FathometerError(conclusion.missing)


def _tell(conclusion: Conclusion, outcome: Outcome, call: RankCall) -> None:
    """Print files and cost for people, and with --json the record; nothing where other runs write the results."""
    from fathometer.record.profiled import leave_record

    if not outcome.record:
        return
    leave_record(outcome.record)
    for kind, path in outcome.files.items():
        call.say(labelled(kind, path))
    for line in conclusion.lines:
        call.say(line)
    if call.options.json:
        print_json(outcome.record)


def run_options(options: Options) -> RunOptions:
    """What is to become of an earlier run in the same folder; what asks for more of it than --resume resumes it too.

    Raises InputError for options that contradict each other.
    """
    from fathometer.runs.options import RunOptions

    asked = options_of(RunOptions, options)
    resuming = {
        "--resume": asked.resume,
        "--retry-failed": asked.retry_failed,
        "--share": bool(asked.share),
        "--resume-from": asked.resume_from is not None,
    }
    for name, given in resuming.items():
        if given and asked.overwrite:
            raise InputError(f"--overwrite: found together with {name}; allowed: one of them")
    if asked.share is None:
        return replace(asked, resume=any(resuming.values()))
    share = " ".join(asked.share.split())
    if not share:
        raise InputError("--share: found an empty name; allowed: a name that all the runs say")
    return replace(asked, resume=True, share=share)
