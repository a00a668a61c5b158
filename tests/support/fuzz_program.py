"""One batch of fuzzing in a process of its own: a reader may end it, hang or take all memory.

fuzz_program.py FOLDER TARGET FIRST COUNT [TARGET FIRST COUNT …]

Prints "TARGET SEED" before each input and "! what is wrong" behind it. Whoever started it sees by the last line which
input ended it. FOLDER: of the inputs, of which FOLDER/work/TARGET is made anew for each target.
"""

from __future__ import annotations

import ctypes
import io
import json
import os
import resource
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_inputs import BASES, make

from fathometer.base.errors import FathometerError, InputError
from fathometer.storage import probe

CPU_SECONDS, REAL_SECONDS = 10.0, 100.0  # of one input, until it counts as a hang; the machine may be busy
MEMORY_BYTES = 2 << 30  # beyond what the process takes when it begins
M_PERTURB = -6  # of mallopt
LONGEST_LINE = 2000  # letters of a message
EVERY = 20  # of some inputs also what takes longer is done


def _describe(path: str, seed: int) -> None:
    from fathometer.storage.describe import describe

    description = describe(path, Path())
    "\n".join(f"{label} {text}" for label, text in description.rows())
    json.dumps(description.as_dict())


def _survey(path: str, seed: int) -> None:
    from fathometer.seismic.setup.survey_layout import survey_layout
    from fathometer.seismic.survey import load_survey

    survey = load_survey(path)
    survey.resolved()
    layout = survey_layout(survey, survey.acquisition.gathers is not None)
    layout.time(1e-3)
    layout.ranks(1)


def _segy(path: str, seed: int) -> None:
    try:
        _describe(path, seed)
    except InputError:
        if seed % 5 == 0:
            _build(path, True)
        raise
    if seed % 5 == 0:
        _build(path, False)


def _build(path: str, lone: bool) -> None:
    """An index of this file and a sound one is always possible."""
    from index_support import live

    from fathometer.storage.index.build import build_index
    from fathometer.storage.index.words import words_of

    sound = live().write(Path("out/sound.segy"))
    index = build_index([Path(path), sound], Path("out/index.parquet"), words_of(()), 1, False, lambda line: None)
    assert index.summary.usable >= 6


def _npy(path: str, seed: int) -> None:
    try:
        _describe(path, seed)
    finally:
        if path.endswith(".npy"):
            _series(path)


def _rsf(path: str, seed: int) -> None:
    try:
        _describe(path, seed)
    finally:
        _series(path)


def _series(path: str) -> None:
    from fathometer.seismic.traces.wavelet_file import read_series

    read_series(Path(path))


def _index(path: str, seed: int) -> None:
    from fathometer.seismic.shots.indexed import indexed_tables

    try:
        _describe(path, seed)
    finally:
        tables, _ = indexed_tables(Path(path))
        assert all(np.isfinite(place).all() for table in tables for place in (table.source, table.receiver))


def _journal(path: str, seed: int) -> None:
    from fathometer.runs.journal import read_journal

    read_journal(Path(path)).loose  # noqa: B018


def _record(path: str, seed: int) -> None:
    from fathometer.cli.pages import check_heading, page_panels
    from fathometer.report.page import check, run_tables, write_page
    from fathometer.report.records import read_record
    from fathometer.report.tables import comma_separated, markdown

    run = read_record(Path(path))
    check(run)
    check_heading(run)
    for formatted in (markdown, comma_separated):
        formatted(run_tables(run))
    if seed % EVERY == 0:
        write_page(Path("out/report.html"), [run], page_panels(run))


def _tuning(path: str, seed: int) -> None:
    from fathometer.grid import tuning_cache
    from fathometer.grid.tiling import PLAIN, Stepping

    stepping = Stepping((320, 320, 320), 4, 2, 4, 5, 2, 1, 7)
    text = Path(path).read_bytes().replace(b'"KEY"', json.dumps(tuning_cache.key_of(stepping)).encode())
    Path("tuning.json").write_bytes(text)
    said: list[str] = []
    kept = tuning_cache.recall(stepping, said.append, Path())
    tuning_cache.remember(stepping, tuning_cache.Kept(PLAIN, 1, True), said.append, Path())
    assert kept is None or stepping.fits(kept.tiling)


def _strategies(path: str, seed: int) -> None:
    from fathometer.storage.volumes import strategy_cache
    from fathometer.storage.volumes.registry import BY_SUFFIX
    from fathometer.storage.volumes.strategy import Strategy

    strategy_cache.cache_path = lambda: Path(path)
    for suffix in (".rsf", ".h5"):
        for operation in ("read", "write"):
            strategy_cache.resolve_auto(Path(f"a{suffix}"), BY_SUFFIX[suffix], operation, Strategy(), 2)
    "; ".join(str(one) for one in strategy_cache.winners())


def _machine(path: str, seed: int) -> None:
    from fathometer.plan.machine_file import load_machine
    from fathometer.seismic.waves.physics import PHYSICS

    machine = load_machine(Path(path))
    flops = {name: physics.flops_per_point for name, physics in PHYSICS.items()}
    for order in (2, 8, 16):
        assert machine.points_per_second("vti", 3, order, 1e6, flops) > 0


def _profile(path: str, seed: int) -> None:
    from fathometer.cli.pages import page_panels
    from fathometer.lab.profile import profile
    from fathometer.lab.profile.options import ProfileOptions
    from fathometer.lab.profile.profile import make_profile
    from fathometer.lab.profile.terminal import text_of_profile
    from fathometer.report.records import Run

    profile.machine_of_runs, profile.named = dict, list  # that ask other programs
    record, _ = make_profile(ProfileOptions((), Path(path)), ["fathometer"])
    text_of_profile(record)
    page_panels(Run(Path(path), record))


def _study(path: str, seed: int) -> None:
    from fathometer.lab.studies.comparison import Comparison, compare, compare_builds
    from fathometer.lab.studies.export import comma_separated, table
    from fathometer.lab.studies.report import markdown, terminal
    from fathometer.lab.studies.report.compared import sentences, view
    from fathometer.lab.studies.report.page import write_page
    from fathometer.lab.studies.store import read_results

    results = read_results(Path(path))
    terminal.text_of_study(results, 1.7e9)
    markdown.markdown(results, Path(path))
    comma_separated(results)
    table(results)
    compared: list[Comparison] = [compare([read_results(Path("base.study"))], results)]
    if results.definition.get("gate", {}).get("baseline"):
        compared.append(compare_builds(results))
    for comparison in compared:
        markdown.compared_text(*view(comparison, ("a", "b")), sentences(comparison))
    if seed % EVERY == 0:
        write_page(Path("out/study.html"), results, Path(path))


READ: dict[str, Callable[[str, int], None]] = {
    "survey": _survey,
    "segy": _segy,
    "su": _segy,
    "rsf": _rsf,
    "npy": _npy,
    "netcdf": _describe,
    "hdf5": _describe,
    "zarr": _describe,
    "blocks": _describe,
    "index": _index,
    "journal": _journal,
    "record": _record,
    "tuning": _tuning,
    "strategies": _strategies,
    "machine": _machine,
    "profile": _profile,
    "study": _study,
    "builds": _study,
}


class Guard:
    """An audit hook that notes what is written, made or removed outside the folder of the inputs."""

    WRITES = frozenset(
        ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.link", "os.symlink")
    )

    def __init__(self) -> None:
        self.folder: str | None = None
        self.outside: list[str] = []
        sys.addaudithook(self)

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.folder is None:
            return
        changes = event in self.WRITES
        if event == "open":
            path, _, flags = arguments
            changes = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))
        if event in ("os.system", "subprocess.Popen") and arguments[0] != "uname":  # Python's platform asks it
            self.outside.append(f"{event} {arguments[:2]}")
        if changes and isinstance(arguments[0], str | bytes | os.PathLike):
            path = os.path.abspath(os.fsdecode(arguments[0]))
            if not path.startswith((self.folder, "/proc/", "/dev/null")):
                self.outside.append(f"{event} {path}")


def what_is_wrong(target: str, path: str, seed: int) -> str:
    """The fault of a reader with an input; empty where it has none."""
    said = io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(said):
            READ[target](path, seed)
    except FathometerError as error:
        text = str(error)
        if "not enough memory" in text:
            return f"takes more than 2 GB: {text}"
        if len(text) > LONGEST_LINE or not text or "\n" in text:
            return f"a message of {len(text)} letters, {text.count(chr(10)) + 1} lines: {text[:300]!r}"
        if "\0" in text or "\x1b" in text:
            return f"control characters in a message: {text[:300]!r}"
    except BaseException as error:
        lines = traceback.extract_tb(error.__traceback__)
        own = [line for line in lines if "fathometer" in line.filename]
        where = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"
        return f"{type(error).__name__} at {where}: {str(error)[:200]!r}"
    return ""


def forked(program: str, path: str) -> tuple[int, str]:
    """In place of probe.child: a copy of this process, which has the libraries already, where that one starts anew."""
    pid = os.fork()
    if pid == 0:
        code = 0
        try:
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS / 2)
            ctypes.CDLL(None).mallopt(M_PERTURB, int(probe.PERTURB))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            sys.argv = ["-c", path]
            exec(program, {})
        except BaseException:
            code = 1
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return -signal.SIGXCPU if code == -signal.SIGPROF else code, ""


def main() -> None:
    probe.child = forked
    folder = Path(sys.argv[1]).resolve()
    guard = Guard()
    words = sys.argv[2:]
    for target, first, count in zip(words[::3], words[1::3], words[2::3], strict=True):
        work = folder / "work" / target
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        BASES[target](work)
        (work / "out").mkdir()
        os.chdir(work)
        _warm_up(target)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        for seed in range(int(first), int(first) + int(count)):
            print(target, seed, flush=True)
            guard.folder = None
            path = make(target, seed, work)
            guard.folder = str(folder)
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)  # their signals end the process, wherever it is
            signal.setitimer(signal.ITIMER_REAL, REAL_SECONDS)
            wrong = what_is_wrong(target, path, seed)
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            guard.folder = None
            if guard.outside:
                wrong, guard.outside = f"touches {guard.outside[:3]}", []
            if wrong:
                print("!", " ".join(wrong.split()), flush=True)
    os._exit(0)


def _warm_up(target: str) -> None:
    """Import what the reader imports, so that it counts to no input."""
    for path in sorted(Path().glob("base*")):
        what_is_wrong(target, path.name, 0)


if __name__ == "__main__":
    main()
