"""Names and lines of call sites, where the system's tools for object files are installed (c++filt, addr2line)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from typing import Any


def named(sites: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The sites of a profile with names as the source has them, and `line`: file and line, "" where it is not known.

    A name is known of what a program exports, a line where it was compiled with -g.
    """
    names = _told(["c++filt"], [site["symbol"] for site in sites])
    lines: dict[tuple[str, int], str] = {}
    for module in {site["module"] for site in sites if site["module"]}:
        # The byte before: where the call is from, not where it returns to.
        offsets = sorted({site["offset"] for site in sites if site["module"] == module})
        told = _told(["addr2line", "-e", module], [hex(max(0, offset - 1)) for offset in offsets])
        lines |= {(module, offset): line for offset, line in zip(offsets, told, strict=True) if ":" in line}
    return [
        site | {"symbol": name, "line": _short(lines.get((site["module"], site["offset"]), ""))}
        for site, name in zip(sites, names, strict=True)
    ]


def _told(words: Sequence[str], texts: Sequence[str]) -> list[str]:
    """What a tool makes of lines, one of each; the lines themselves where there is none."""
    if not texts or shutil.which(words[0]) is None:
        return list(texts)
    done = subprocess.run(
        words, input="\n".join(texts) + "\n", capture_output=True, text=True, errors="replace", check=False
    )
    told = done.stdout.splitlines()
    return told if done.returncode == 0 and len(told) == len(texts) else list(texts)


def _short(line: str) -> str:
    """The last part of the path, unless the line is not known: ??:0."""
    name = line.split(" ")[0].rpartition("/")[2]
    return "" if name.startswith("?") or name.endswith(":?") else name
