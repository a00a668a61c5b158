"""The command line, watched: what its main thread does with files and modules where no phase of the account is running,
printed a line each after the last line of the command. Words: those of the command."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from fathometer.base import ledger
from fathometer.cli.main import main

GAP = "outside of all phases: "
FILES = ("open", "os.", "shutil.", "tempfile.", "subprocess.", "socket.", "import")
HARMLESS = ("os.putenv", "os.unsetenv")  # of this process's memory


class Watch:
    """An audit hook that notes gaps of the account."""

    def __init__(self) -> None:
        self.gaps: list[str] = []
        self.on = True
        sys.addaudithook(self)

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on or not event.startswith(FILES) or event in HARMLESS:
            return
        account = ledger.current()
        if account is None or account.running != "other" or threading.current_thread() is not threading.main_thread():
            return
        self.on = False  # what follows opens source files
        own = [one for one in traceback.extract_stack() if f"{os.sep}fathometer{os.sep}" in one.filename][-4:]
        lines = " > ".join(f"{Path(one.filename).name}:{one.lineno}" for one in own)
        self.gaps.append(f"{event} {str(arguments[:1])[-60:]}: {lines}")
        self.on = True


if __name__ == "__main__":
    watch = Watch()
    code = main(sys.argv[1:])
    watch.on = False
    if code == 0:
        for gap in watch.gaps:
            print(GAP + gap)
    sys.exit(code)
