"""The command line, watched: what its main thread does with files, modules and messages where no phase of the account
is running, printed a line each after the last line of the command. Words: those of the command."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from fathometer.base import ledger
from fathometer.cli.main import main

GAP = "outside of all phases: "
FILES = ("open", "os.", "shutil.", "tempfile.", "subprocess.", "socket.", "fcntl.", "import")
HARMLESS = ("os.putenv", "os.unsetenv")  # of this process's memory


class Watch:
    """Notes gaps of the account."""

    def __init__(self) -> None:
        self.gaps: list[str] = []
        self.on = True
        sys.addaudithook(self.hear)
        span = ledger._span

        def watched_span(name: str | None, category: ledger.Category, bytes: int) -> AbstractContextManager[None]:
            if name is None:  # a category of the phase that is running
                self.look(category, ())
            return span(name, category, bytes)

        ledger._span = watched_span

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit event of Python."""
        if event.startswith(FILES) and event not in HARMLESS:
            self.look(event, arguments)

    def look(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note the event where no phase is running."""
        if not self.on or ledger.current() is None or threading.current_thread() is not threading.main_thread():
            return
        account = ledger.current()
        while isinstance(account, ledger.Ledger):  # one may be opened within a phase of another
            if account.running != "other":
                return
            account = account._token.old_value
        self.on = False  # what follows opens source files
        own = [one for one in traceback.extract_stack() if f"{os.sep}fathometer{os.sep}" in one.filename][-4:]
        lines = " > ".join(f"{Path(one.filename).name}:{one.lineno}" for one in own)
        self.gaps.append(f"{event} {str(arguments[:1])[-60:]}: {lines}")
        self.on = True


if __name__ == "__main__":
    watch = Watch()
    code = main(sys.argv[1:])
    watch.on = False
    for gap in watch.gaps:
        print(GAP + gap)
    sys.exit(code)
