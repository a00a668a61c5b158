"""Regular expressions, line by line, in a file of any size.

A pattern may take for ever on a line that somebody else's program wrote, and what waits for it cannot end the match.
So `found_in` starts another process for each file: searches in JSON on its standard input, what they found on its
standard output. It gives up at a line on which a pattern computes too long, and is ended when the file takes too long.
It imports the standard library only, and starts in some hundredths of a second.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from fathometer.lab.recipes.taking import Taken, number_of

LONGEST_LINE = 1 << 16  # letters; what is beyond is not searched
TIME_LIMIT = 60.0  # s, for a file
LINE_LIMIT = 5.0  # s of computing, for a pattern in one line
# Without site, which takes most of Python's start: the folder of the package is given as a word.
_PROGRAM = (
    "import sys; sys.path.append(sys.argv[1]); from fathometer.lab.recipes.line_search import main; main(*sys.argv[2:])"
)
_PACKAGES = Path(__file__).parents[3]


@dataclass(frozen=True)
class Search:
    """What is looked for in a file.

    Attributes:
        pattern: its first group is the number, if one is taken. take: see taking.py.
        skip: so many first matches are left out.
        not_after: a pattern after which the next match is left out, whether or not that is one of the first.
        since: only matches from the last line with this pattern on count, that line included.
    """

    pattern: str
    take: str = "last"
    skip: int = 0
    not_after: str | None = None
    since: str | None = None

    @property
    def patterns(self) -> list[str]:
        """All of them."""
        return [word for word in (self.pattern, self.not_after, self.since) if word is not None]


@dataclass(frozen=True)
class Found:
    """What a search has found: the number taken of all matches, how often the pattern matched, what went wrong."""

    value: float | None = None
    count: int = 0
    problem: str = ""


def found_in(path: Path, searches: Sequence[Search], seconds: float = TIME_LIMIT) -> list[Found]:
    """What each search finds in a text file, within so many seconds. A file that cannot be read, and a pattern that
    takes too long, are a problem of all."""
    words = [sys.executable, "-I", "-S", "-c", _PROGRAM, str(_PACKAGES), str(path), str(LINE_LIMIT)]
    request = json.dumps([asdict(search) for search in searches])
    try:
        done = subprocess.run(words, input=request, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        all_patterns = dict.fromkeys(word for search in searches for word in search.patterns)
        patterns = ", ".join(f"'{word}'" for word in all_patterns)
        return [Found(problem=f"its patterns took more than {seconds:g} s: {patterns}")] * len(searches)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return [Found(problem=f"cannot be searched: {reason}")] * len(searches)
    return [Found(**found) for found in json.loads(done.stdout)]


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a text, those that end in a carriage return too, without their ends. Of a line that is too long, the
    words that begin and end within LONGEST_LINE."""
    with path.open(encoding="utf-8", errors="replace") as file:
        while line := file.readline(LONGEST_LINE):
            if not line.endswith("\n") and len(line) == LONGEST_LINE:
                line = line if line[-1].isspace() else "".join(line.rsplit(maxsplit=1)[:-1])
                while (rest := file.readline(LONGEST_LINE)) and not rest.endswith("\n"):
                    pass
            yield line.rstrip("\n")


def search(path: Path, searches: Sequence[Search], watch: Watch) -> list[Found]:
    """As `found_in`, in this process. Raises OSError, and EndlessError where the watch says so."""
    running = [_Running(wanted, watch) for wanted in searches]
    for watch.line, line in enumerate(lines_of(path), 1):
        for each in running:
            each.line(line)
    return [each.found() for each in running]


class EndlessError(Exception):
    """A pattern computes too long on one line."""


class Watch:
    """Looks now and then whether the search has got on since the last look.

    Attributes:
        line, pattern: number of the line, and the pattern, that are at work.
    """

    def __init__(self) -> None:
        self.line, self.pattern = 0, ""
        self._seen: tuple[int, str] | None = None
        self._seconds = 0.0

    def begin(self, seconds: float) -> None:
        """Look every so many seconds of this process's computing, which a busy machine does not make shorter."""
        self._seconds = seconds
        signal.signal(signal.SIGPROF, self._look)
        signal.setitimer(signal.ITIMER_PROF, seconds, seconds)

    def _look(self, *_: object) -> None:
        """Called within a match too: `re` lets signals in."""
        if (self.line, self.pattern) == self._seen:
            raise EndlessError(
                f"the pattern '{self.pattern}' computed more than {self._seconds:g} s on line {self.line}; allowed: "
                "one without repetitions of repetitions"
            )
        self._seen = self.line, self.pattern


class _Running:
    """A search on its way through a file."""

    def __init__(self, wanted: Search, watch: Watch) -> None:
        self._watch = watch
        self._pattern = re.compile(wanted.pattern)
        self._not_after = re.compile(wanted.not_after) if wanted.not_after is not None else None
        self._since = re.compile(wanted.since) if wanted.since is not None else None
        self._take, self._skip = wanted.take, wanted.skip
        self._begin()
        self._on = self._since is None

    def _begin(self) -> None:
        """Nothing is found yet."""
        self._taken = Taken(self._take)
        self._count = 0
        self._leave_out = False
        self._problem = ""
        self._on = True

    def line(self, text: str) -> None:
        """Search the next line."""
        if self._since is not None and self._occurs(self._since, text):
            self._begin()
        if not self._on:
            return
        if self._not_after is not None and self._occurs(self._not_after, text):
            self._leave_out = True
        self._watch.pattern = self._pattern.pattern
        for match in self._pattern.finditer(text):
            self._count += 1
            leave_out, self._leave_out = self._leave_out or self._count <= self._skip, False
            if not leave_out:
                self._add(match)

    def _occurs(self, pattern: re.Pattern[str], text: str) -> bool:
        self._watch.pattern = pattern.pattern
        return pattern.search(text) is not None

    def _add(self, match: re.Match[str]) -> None:
        try:
            self._taken.add(0.0 if self._take == "count" else number_of(match[1] or ""))
        except ValueError as error:
            self._problem = self._problem or str(error)

    def found(self) -> Found:
        """At the end of the file."""
        return Found(self._taken.value, self._count, self._problem or self._taken.problem)


def main(path: str, line_limit: str) -> None:
    """The other process. line_limit: s."""
    searches, watch = [Search(**wanted) for wanted in json.load(sys.stdin)], Watch()
    watch.begin(float(line_limit))
    try:
        results = search(Path(path), searches, watch)
    except EndlessError as error:
        results = [Found(problem=str(error))] * len(searches)
    except OSError as error:
        sys.exit(error.strerror or str(error))
    json.dump([asdict(found) for found in results], sys.stdout)
