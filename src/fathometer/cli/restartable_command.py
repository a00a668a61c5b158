"""Commands of applications whose runs go on from restart files, and that have a built-in case (--demo)."""

from __future__ import annotations

import argparse
import os.path
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fathometer.base.errors import InputError
from fathometer.base.names import visible_name
from fathometer.base.options import add_options
from fathometer.base.references import referred
from fathometer.cli import argument_groups, registry
from fathometer.cli.application_run import run_application, run_options
from fathometer.cli.command import Command, Options, RankCall
from fathometer.runs.application import Demo
from fathometer.runs.options import RunOptions
from fathometer.runs.restart_hint import DEMO, END_SECONDS


@dataclass(frozen=True)
class RestartableCommand:
    """A command that runs an input file, or the demo.

    Attributes:
        name: of command and application. kind: of its input file, such as "ocean": OCEAN.toml, the ocean file.
        key: how one of the file's keys is set, as an example. article: before that kind.
        cases: names of input files that --write-case writes. texts: "module:name" of what makes their texts, by name.
        resuming: options of RunOptions that go on with an earlier run, and what they say; "": as there.
    """

    name: str
    kind: str
    key: str
    article: str = "a"
    cases: tuple[str, ...] = ()
    texts: str = ""
    resuming: tuple[tuple[str, str], ...] = (
        ("resume", "go on from the newest restart file, if there is one"),
        ("resume_from", ""),
    )

    @property
    def file(self) -> str:
        """The input file, in usage lines."""
        return f"{self.kind.upper()}.toml"

    @property
    def demo_folder(self) -> str:
        """Where the demo's files go."""
        return f"{self.name}-demo"

    def add_input(self, parser: argparse.ArgumentParser) -> None:
        """The input file, or the demo."""
        argument_groups.add_survey(parser, self.file, f"the {self.kind} file", optional=True)
        parser.add_argument(
            "--demo", action="store_true", help=f"the built-in case, in place of {self.article} {self.kind} file"
        )
        parser.add_argument("--quick", action="store_true", help="a smaller one, with --demo")
        parser.add_argument(
            "--output", type=Path, default=None, metavar="DIR", help=f"folder of the demo's files ({self.demo_folder})"
        )

        if self.cases:
            *others, last = self.cases
            names = f"{', '.join(others)} or {last}" if others else last
            parser.add_argument(
                "--write-case", choices=self.cases, default=None, metavar="NAME", help=f"write {self.file}: {names}"
            )

    def add_run(self, parser: argparse.ArgumentParser) -> None:
        """What becomes of an earlier run, and arguments of all runs."""
        said: dict[str, Any] = {name: {"help": text} for name, text in self.resuming if text}
        replaced = "an earlier run's results" + (f", or {self.file}" if self.cases else "")
        said["overwrite"] = {"help": f"replace {replaced}"}
        add_options(parser, RunOptions, (*dict(self.resuming), "overwrite"), **said)
        argument_groups.add_run(parser)
        argument_groups.add_set(parser, f"the {self.kind} file", self.key)

    def check(self, options: Options) -> None:
        """Raises InputError for options that contradict each other."""
        run_options(options)
        if options.demo == (options.survey is not None):
            found = "both" if options.demo else "neither"
            raise InputError(f"{self.file}, --demo: found {found}; needed: one of them")
        if options.demo:
            self.refuse_run_options(options, "--demo")
        for name, value in (("--quick", options.quick), ("--output", options.output)):
            if value and not options.demo:
                raise InputError(f"{name}: found without --demo; allowed: with it")

    def refuse_run_options(self, options: Options, beside: str) -> None:
        """Raises InputError for options of an input file that is run; beside: which other option was found."""
        values = {"set": options.set or None} | {name: getattr(options, name) for name, _ in self.resuming}
        for name, value in values.items():
            if value is not None and value is not False:  # a state may be the one after 0 steps
                option = f"--{name.replace('_', '-')}"
                raise InputError(
                    f"{option}: found together with {beside}; allowed: with {self.article} {self.kind} file that is run"
                )

    def prepare(self, options: Options) -> Any:
        """The input, and the modules that its run needs; None where a case is written. Raises InputError for options
        that contradict each other."""
        self.check(options)
        if not _case(options):
            return self.load(options)
        if options.demo:
            raise InputError("--write-case: found together with --demo; allowed: one of them")
        self.refuse_run_options(options, "--write-case")
        if options.trace is not None or options.profile is not None:
            found = "--trace" if options.trace is not None else "--profile"
            raise InputError(
                f"{found}: found together with --write-case; allowed: with {self.article} {self.kind} file that is run"
            )
        if os.path.lexists(options.survey) and not options.overwrite:
            raise InputError(f"{options.survey}: exists; allowed: another name, or --overwrite to replace it")
        return None

    def _write_case(self, call: RankCall) -> None:
        """Collective. Write the input file of a case. Raises FathometerError where that fails."""
        from fathometer.parallel.collectives import collective_errors
        from fathometer.storage import atomic

        path: Path = call.options.survey
        with collective_errors(call.comm):
            if call.comm.rank == 0:
                atomic.write(path, referred(self.texts)[call.options.write_case]().encode())
        call.say(f"{path}: written; run it: fathometer {self.name} {path}")

    def load(self, options: Options) -> Any:
        """The input, None of the demo; the modules that its run needs are imported."""
        application = registry.application(self.name)
        registry.require_kind(options.survey, application)
        return application.load(options.survey, options.set, self.name)

    def resume_hint(self, options: Options) -> str:
        """What to tell people when it was interrupted: see Application. Of the demo, which cannot be resumed, that its
        input file can be run."""
        if _case(options):
            return ""
        if not options.demo:
            return registry.resume_hint(self.name, options.survey, options.set)
        file = self._demo(options) / DEMO
        return f"fathometer {self.name} {visible_name(str(file))} {registry.resume_hint(self.name, file)}"

    def _demo(self, options: Options) -> Path:
        """The folder of the demo."""
        return options.output or Path(self.demo_folder)

    def command(self, help: str, description: str, examples: str) -> Command:
        """Itself as a command that has nothing of its own."""

        def add_arguments(parser: argparse.ArgumentParser) -> None:
            self.add_input(parser)
            self.add_run(parser)

        return Command(
            self.name,
            help,
            description,
            examples,
            add_arguments,
            run_on_ranks=self.run_on_ranks,
            prepare=self.prepare,
            resume_hint=self.resume_hint,
            end_seconds=END_SECONDS,
        )

    def run_on_ranks(self, call: RankCall) -> None:
        """Collective. Run the input, or the demo; or write a case."""
        if _case(call.options):
            self._write_case(call)
            return
        demo = Demo(self._demo(call.options), call.options.quick) if call.options.demo else None
        run_application(registry.application(self.name), self.name, call, demo or call.prepared, _run_options)


def _case(options: Options) -> str | None:
    """The case that is to be written."""
    case: str | None = getattr(options, "write_case", None)
    return case


def _run_options(options: Options) -> RunOptions:
    """As `run_options`; a demo replaces the one before."""
    asked = run_options(options)
    return replace(asked, overwrite=asked.overwrite or options.demo)
