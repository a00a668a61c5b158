"""Changes the program in small ways, at random places, and says which changes no test notices.

    python tools/mutate.py --seed 1 --mutants 300 FOLDER      the record of what happened goes into FOLDER
    python tools/mutate.py … --share 2/3 FOLDER               every third of these mutants, for another checkout

First the tests of TESTS run once, and it is noted which of them go through which line of SOURCES. Then each mutant, one
changed operator, number, condition or statement, meets those tests that go through its line, the quickest first: it is
killed where one of them fails or lasts too long. Those that survive are told with their change: either nothing that a
user sees has changed, or a test is missing. Lines that only other processes run are told as not reached.

The files of the checkout are changed and restored; it must have no changes of its own.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "fathometer"
SOURCES = ("lab/statistics", "lab/studies", "lab/recipes/expression.py", "runs", "storage/datasets", "seismic/rtm")
TESTS = ("lab/statistics", "lab/studies", "lab/recipes", "runs", "storage/datasets", "seismic/rtm", "cli")
MOST_TESTS = 25  # that a mutant meets
SLOWEST = 30.0  # s, of a test that mutants meet
PATIENCE, TIMES = 20.0, 10  # a mutant's tests may take so many seconds, and so many times what they took

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {  # how each is written, and what takes its place
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "/",
    ast.Mod: "*",
    ast.BitOr: "&",
    ast.BitAnd: "|",
}


@dataclass(frozen=True)
class Mutant:
    """A change: the text from one offset in a file's bytes to another becomes another one.

    within: a function; else it is met where the module is imported.
    """

    file: str
    line: int
    within: bool
    start: int
    end: int
    before: str
    after: str


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All changes of a file."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    name = str(path.relative_to(ROOT))

    def place(line: int | None, column: int | None) -> int:
        assert line is not None
        assert column is not None
        return starts[line - 1] + column

    def change(node: ast.expr | ast.stmt, after: str) -> Mutant:
        start, end = place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)
        return Mutant(name, node.lineno, node.lineno in inner, start, end, source[start:end].decode(), after)

    def text(node: ast.expr) -> str:
        return source[place(node.lineno, node.col_offset) : place(node.end_lineno, node.end_col_offset)].decode()

    tree = ast.parse(source)
    skipped = _unmutated(tree)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inner = {n for node in functions for n in range(node.body[0].lineno, (node.end_lineno or 0) + 1)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Compare):
            parts = [text(node.left), *(text(one) for one in node.comparators)]
            for number, operator in enumerate(node.ops):
                signs = [COMPARISONS[type(one)][0] for one in node.ops]
                signs[number] = COMPARISONS[type(operator)][1]
                yield change(node, " ".join([parts[0], *(f"{s} {p}" for s, p in zip(signs, parts[1:], strict=True))]))
            if len(node.ops) > 1:
                yield change(node, f"{parts[0]} {COMPARISONS[type(node.ops[0])][0]} {parts[1]}")
        elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            yield change(node, f"{text(node.left)} {OPERATORS[type(node.op)]} {text(node.right)}")
        elif isinstance(node, ast.BoolOp):
            word = "or" if isinstance(node.op, ast.And) else "and"
            yield change(node, f" {word} ".join(text(value) for value in node.values))
            yield change(node, text(node.values[0]))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield change(node, text(node.operand))
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield change(node, str(not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield change(node, repr(node.value + 1))
        elif isinstance(node, ast.IfExp):
            yield change(node, f"{text(node.orelse)} if {text(node.test)} else {text(node.body)}")
        elif isinstance(node, ast.If | ast.While):
            yield change(node.test, f"(not ({text(node.test)}))")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield change(node, "None")
        elif isinstance(node, ast.Return) and node.value is not None:
            yield change(node, "return None")


def _unmutated(tree: ast.Module) -> set[int]:
    """Nodes of annotations, docstrings and decorators, which do nothing when the program runs."""
    found: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.FunctionDef):
            parts = [node.returns, *(arg.annotation for arg in node.args.args + node.args.kwonlyargs)]
            parts += node.decorator_list
        elif isinstance(node, ast.AnnAssign):
            parts = [node.annotation]
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            parts = [node]
        for part in parts:
            found |= {id(one) for one in ast.walk(part)} if part is not None else set()
    return found


class Reached:
    """A pytest plugin: which tests go through which lines of the sources, in this process, and how long they take."""

    def __init__(self) -> None:
        self.tests: dict[str, dict[str, set[int]]] = {}  # by test and file: lines
        self.seconds: dict[str, float] = {}
        self._files = {str(path): str(path.relative_to(ROOT)) for path in sources()}
        self._lines: dict[str, set[int]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        """Trace a test with its fixtures."""
        self._lines, began = {}, time.monotonic()
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.tests[item.nodeid], self.seconds[item.nodeid] = self._lines, time.monotonic() - began

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        name = self._files.get(frame.f_code.co_filename)
        if name is None:
            return None
        lines = self._lines.setdefault(name, set())
        lines.add(frame.f_lineno)

        def within(frame: FrameType, event: str, argument: Any) -> Any:
            lines.add(frame.f_lineno)
            return within

        return within


def sources() -> list[Path]:
    """The files that are changed."""
    found = [path for name in SOURCES for path in sorted((PACKAGE / name).rglob("*.py")) or [PACKAGE / name]]
    return [path for path in found if path.name != "__init__.py"]


def run_tests(tests: list[str], log: Path, seconds: float, plugin: Reached | None = None) -> tuple[int, bool]:
    """Run tests in a process of its own; its exit code, and whether it took too long."""
    child = os.fork()
    if child == 0:
        os.setsid()
        with log.open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        sys.dont_write_bytecode = True  # of a mutant
        plugins = [plugin] if plugin is not None else []
        code = int(pytest.main(["-q", "-p", "no:cacheprovider", *(["-x"] if plugin is None else []), *tests], plugins))
        if plugin is not None:
            reached = {test: {f: sorted(lines) for f, lines in files.items()} for test, files in plugin.tests.items()}
            log.with_suffix(".json").write_text(json.dumps({"tests": reached, "seconds": plugin.seconds}))
        os._exit(code)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), False
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1, True


def tests_of(mutant: Mutant, reached: dict[str, Any]) -> list[str]:
    """The tests that go through a mutant's line, or through its module, the quickest first."""
    seconds, found = reached["seconds"], []
    for test, files in reached["tests"].items():
        lines = files.get(mutant.file, ())
        if mutant.line in lines or (lines and not mutant.within):
            found.append(test)
    return sorted((test for test in found if seconds[test] < SLOWEST), key=seconds.__getitem__)[:MOST_TESTS]


def outcome_of(mutant: Mutant, reached: dict[str, Any], folder: Path) -> str:
    """What becomes of a mutant."""
    tests = tests_of(mutant, reached)
    if not tests:
        return "not reached"
    path = ROOT / mutant.file
    source = path.read_bytes()
    limit = PATIENCE + TIMES * sum(reached["seconds"][test] for test in tests)
    try:
        path.write_bytes(source[: mutant.start] + mutant.after.encode() + source[mutant.end :])
        code, late = run_tests(tests, folder / "mutant.log", limit)
    finally:
        path.write_bytes(source)
    return "survived" if code == 0 and not late else "killed"


def main() -> int:
    """Draw mutants and run them; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="of the record; tests that were noted there are taken")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--share", default="1/1", metavar="K/N", help="mutants K, K + N, ... of these")
    options = parser.parse_args()
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--", "src", "tests"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    if changed.stdout:
        print(f"{ROOT}: found changes that are not committed; needed: a clean checkout", file=sys.stderr)
        return 2
    options.folder.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)
    noted = options.folder / "reached.json"
    if not noted.exists():
        run_tests([f"tests/{name}" for name in TESTS], noted.with_suffix(".log"), 7200, Reached())
    reached = json.loads(noted.read_text())
    every = [mutant for path in sources() for mutant in mutants_of(path)]
    share, shares = map(int, options.share.split("/"))
    drawn = random.Random(options.seed).sample(every, options.mutants)[share - 1 :: shares]
    counts: dict[str, int] = {}
    with (options.folder / f"mutants-{options.seed}.jsonl").open("w") as record:
        for mutant in drawn:
            outcome = outcome_of(mutant, reached, options.folder)
            counts[outcome] = counts.get(outcome, 0) + 1
            print(json.dumps({"outcome": outcome} | asdict(mutant)), file=record, flush=True)
            if outcome != "killed":
                print(f"{outcome}: {mutant.file}:{mutant.line}: {mutant.before!r} -> {mutant.after!r}", flush=True)
    print(f"{len(every)} mutants, {len(drawn)} drawn with the seed {options.seed}: {counts}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
