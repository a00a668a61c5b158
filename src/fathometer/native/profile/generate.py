"""Writes the C++ that wraps the functions of functions.toml; CMake calls it (python generate.py --help).

dispatch: entry points that bear the standard's names, for libraries that are preloaded. wrappers: what counts, for one
MPI, whose preprocessed mpi.h says which of the functions it has.
"""

from __future__ import annotations

import argparse
import re
import tomllib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("functions.toml")
STATUS = "MPI_Status *"  # an argument of which an own one takes the place where the program ignores it
HANDLES = {"MPI_Comm": "communicator", "MPI_Win": "communicator", "MPI_File": "file"}
FINDERS = {"MPI_Comm": "find_communicator", "MPI_Win": "find_window", "MPI_File": "find_file"}
# Functions whose wrappers do more than count: functions of recorder.hpp called before, and after success.
BEFORE = {
    "MPI_Comm_free": "forget_communicator(*comm)",
    "MPI_Comm_disconnect": "forget_communicator(*comm)",
    "MPI_Win_free": "forget_window(*win)",
    "MPI_File_close": "call.file = close_file(*fh)",
    "MPI_Request_free": "forget_request(*request)",
    "MPI_Start": "started(call, *request)",
    "MPI_Startall": "for (int k = 0; k < count; ++k) started(call, array_of_requests[k])",
    "MPI_Abort": "aborted(errorcode)",
    "MPI_Finalize": "finalizing()",
}
AFTER = {
    "MPI_Comm_set_name": "rename_communicator(comm)",
    "MPI_Win_set_name": "rename_window(win)",
    "MPI_File_open": "call.file = open_file(*fh, filename)",
    "MPI_Init": "begin(call)",
    "MPI_Init_thread": "begin(call)",
    "MPI_Session_init": "session_begun()",
}


@dataclass(frozen=True)
class Function:
    """A function of the table. entry: what the table says of it; arguments: declarations, each with its name."""

    number: int
    name: str
    entry: dict[str, Any]
    arguments: tuple[tuple[str, str], ...]
    since: int

    @property
    def declaration(self) -> str:
        """The declared arguments, as the standard has them."""
        return ", ".join(text for text, _ in self.arguments)

    @property
    def names(self) -> str:
        """The arguments as they are passed on."""
        return ", ".join(name for _, name in self.arguments)


def functions(table: Path = TABLE) -> list[Function]:
    """All functions in the order of their numbers; large counts behind those that they belong to."""
    found: list[Function] = []
    for name, entry in tomllib.loads(table.read_text(encoding="utf-8")).items():
        found.append(Function(len(found), name, entry, _arguments(entry["arguments"]), entry.get("since", 3)))
        if "large" in entry:
            found.append(Function(len(found), f"{name}_c", entry, _arguments(entry["large"]), 4))
    return found


def checksum(table: list[Function]) -> int:
    """Of the names in their order, by which a reader knows that it has the same table."""
    return zlib.crc32(" ".join(function.name for function in table).encode())


def _arguments(text: str) -> tuple[tuple[str, str], ...]:
    if text == "void":
        return ()
    declared = [part.strip() for part in text.split(",")]
    return tuple((part, re.sub(r"\[.*", "", re.split(r"[ *]", re.sub(r"\[.*", "", part))[-1])) for part in declared)


def dispatch(table: list[Function], since: int) -> Iterator[str]:
    """Entry points of the functions of one version of the standard; of the first also numbers and names of all."""
    if since == 3:
        yield f"#define FATHOMETER_FUNCTIONS {len(table)}"
        yield f"#define FATHOMETER_CHECKSUM {checksum(table)}u"
        yield "static const char *const function_names[] = {"
        yield from (f'    "{function.name}",' for function in table)
        yield "};"
    for function in table:
        if function.since == since and not function.entry.get("probe"):
            words = [f"a{n}" for n in range(len(function.arguments))]
            declared = ", ".join(f"long {word}" for word in words)
            types = ", ".join("long" for _ in words)
            yield f'extern "C" FATHOMETER_EXPORT long {function.name}({declared}) {{'
            yield f"    return reinterpret_cast<long (*)({types})>(target({function.number}))({', '.join(words)});"
            yield "}"
            yield f'extern "C" FATHOMETER_EXPORT long P{function.name}({declared}) ' + (
                f'__attribute__((alias("{function.name}")));'
            )


def wrappers(table: list[Function], header: str) -> Iterator[str]:
    """Wrappers of the functions that the preprocessed `header` declares, and the list of them."""
    there = set(re.findall(r"\b(MPI_\w+)\s*\(", header))
    declared = [function for function in table if function.name in there]
    yield "struct Real {"
    for function in declared:
        yield f"    int (*{function.name})({function.declaration}) = nullptr;"
    yield "};"
    yield "static Real real;"
    yield '#include "amounts.hpp"'
    for function in declared:
        yield from _wrapper(function)
    yield "static const Wrapper wrapper_list[] = {"
    for function in declared:
        name = function.name
        yield (
            f'    {{{function.number}, "P{name}", reinterpret_cast<void **>(&real.{name}), '
            f"reinterpret_cast<void *>(&wrap_{name})}},"
        )
    yield "};"


def _wrapper(function: Function) -> Iterator[str]:
    entry, name = function.entry, function.name
    base = name.removesuffix("_c") if name.endswith("_c") else name
    statuses = [word for text, word in function.arguments if text.startswith(STATUS)]
    received = "received" in (entry.get("in"), entry.get("out")) and statuses
    yield f"static int wrap_{name}({function.declaration}) {{"
    yield "    Thread &thread = this_thread();"
    always = base in ("MPI_Init", "MPI_Init_thread", "MPI_Session_init")
    if BEFORE.get(base, "").startswith("forget_") and base != "MPI_Request_free":
        # Inside another function, such as where an attribute of a communicator is deleted, a handle goes as well.
        yield f"    if (thread.inside && running)\n        {BEFORE[base]};"
    yield f"    if (thread.inside{'' if always else ' || !running'})"
    yield f"        return real.{name}({function.names});"
    yield f"    Call call(thread, {function.number}, __builtin_return_address(0));"
    # Others have no use for it, unless calls are told apart by communicator.
    needed = any(key in entry for key in ("out", "in", "blocking"))
    for text, word in function.arguments:
        kind = text.removesuffix(f" {word}")
        if kind in HANDLES and base != "MPI_File_open":
            condition = "" if needed or kind == "MPI_File" else "if (by_communicator)\n        "
            yield f"    {condition}call.{HANDLES[kind]} = {FINDERS[kind]}({word});"
            break
    amounts = [key for key in ("out", "in") if entry.get(key, "received") != "received"]
    text = " ".join(entry[key] for key in amounts)
    if re.search(r"\bn\b", text):
        yield "    const std::uint64_t n = call.communicator->others;"
    if re.search(r"\bown_side\b", text):
        yield "    const std::uint64_t own_side = call.communicator->own_side;"
    if re.search(r"\bme\b", text):
        yield "    const int me = call.communicator->me;"
    for side in ("out", "in"):
        if f"neighbours_{side}" in text:
            yield f"    const std::uint64_t neighbours_{side} = neighbours(comm, *call.communicator).{side};"
    for key in amounts:
        expression = re.sub(r"\b(at_root|below_root|sends)\(", r"\1(*call.communicator, ", entry[key])
        peers = {"out": ("dest", "target_rank"), "in": ("source", "target_rank")}[key]
        for peer in [name for name in peers if name in function.names]:  # nothing goes to or comes from nobody
            expression = f"{peer} == MPI_PROC_NULL ? 0 : {expression}"
        yield f"    const std::uint64_t bytes_{key} = {expression};"
    passed = function.names
    if received:
        yield "    MPI_Status own;"
        status = statuses[0]
        yield f"    MPI_Status *const filled = {status} == MPI_STATUS_IGNORE ? &own : {status};"
        passed = ", ".join("filled" if word == status else word for _, word in function.arguments)
    if base in BEFORE:
        yield f"    {BEFORE[base]};"
    if entry.get("blocking"):
        yield "    meet(call, comm);"
    yield "    call.start();"
    yield f"    const int code = real.{name}({passed});"
    yield "    call.stop();"
    if base in AFTER:
        yield f"    if (code == MPI_SUCCESS)\n        {AFTER[base]};"
    values = {key: f"bytes_{key}" for key in amounts}
    for key in ("out", "in"):
        if received and entry.get(key) == "received":
            yield f"    const std::uint64_t bytes_{key} = code == MPI_SUCCESS ? received(*filled) : 0;"
            values[key] = f"bytes_{key}"
    if entry.get("persistent"):
        peer = entry.get("to", "MPI_PROC_NULL")
        yield f"    if (code == MPI_SUCCESS)\n        prepare(*request, call, {values.get('out', '0')}, " + (
            f"{values.get('in', '0')}, {peer});"
        )
        yield "    call.count(0, 0);"
    else:
        yield f"    call.count({values.get('out', '0')}, {values.get('in', '0')});"
        if "to" in entry:
            kind = "Put" if entry["kind"] == "one-sided" else "Sent"
            condition = "if (bytes_out > 0) " if entry["kind"] == "one-sided" and "from" in entry else ""
            yield f"    {condition}call.message(Peer::{kind}, {entry['to']}, bytes_out);"
        if "from" in entry:
            yield f"    call.message(Peer::Got, {entry['from']}, bytes_in);"
    if base == "MPI_Finalize":
        yield "    seal_file();"
    yield "    return code;"
    yield "}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("dispatch-3", "dispatch-4", "wrappers"))
    parser.add_argument("output", type=Path)
    parser.add_argument("--header", type=Path, help="mpi.h as the preprocessor leaves it; of wrappers")
    options = parser.parse_args()
    table = functions()
    if options.what == "wrappers":
        lines = wrappers(table, options.header.read_text(encoding="utf-8", errors="replace"))
    else:
        lines = dispatch(table, int(options.what[-1]))
    options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
