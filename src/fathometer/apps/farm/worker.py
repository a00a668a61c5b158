"""A worker of a node: does one task after the other, and sends each result to the node's writer.

A process of its own, without MPI. It gets batches of tasks from the node's master, tells it of each batch when it is
done, and ends where the master has ended, with its task.
"""

from __future__ import annotations

import os
import socket
import struct
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from fathometer.apps.farm.built_in import length_of, result_of
from fathometer.apps.farm.children import child_control
from fathometer.apps.farm.forms import names_in, spelt
from fathometer.apps.farm.task_process import StoppedError, TaskProcesses
from fathometer.base.names import visible_name
from fathometer.base.removal import remove_file

RESULT = struct.Struct("<QQ")  # before each result on its way to the writer: number of the task, bytes

LOOK_SECONDS = 0.2  # in a long built-in task, between looks whether the master wants its end

Task = tuple[int, int, int]  # number, begin and end in its file
Batch = Sequence[Task]


class Worker:
    """One worker. setup: `groups`, the tasks as `described` makes them; `folder`, in which they run; `scratch`; `node`
    and `worker`, numbers; `writer`, a descriptor."""

    def __init__(self, control: Connection, setup: Mapping[str, Any]) -> None:
        self._control, self._setup = control, setup
        self._groups: Sequence[dict[str, Any]] = setup["groups"]
        self._firsts = [group["first"] for group in self._groups]
        self._writer = socket.socket(fileno=setup["writer"])
        self._writer.set_inheritable(False)
        self._files: dict[str, int] = {}
        self._scratch = ""
        self._processes: TaskProcesses | None = None
        self.waited_for_tasks = self.waited_for_writer = 0.0

    def run(self) -> None:
        """Until there are no more tasks, or the master has ended."""
        try:
            self._control.send("ready")
            while True:
                begin = monotonic()
                batch = self._control.recv()
                if batch is None:
                    return
                self.waited_for_tasks = monotonic() - begin
                self.waited_for_writer = 0.0
                self._control.send(self._do(batch))
        except (EOFError, OSError, StoppedError):
            return

    def _do(self, batch: Batch) -> tuple[Any, ...]:
        """Its tasks, one after the other; what the master is told."""
        done: list[tuple[int, float, float]] = []
        failed: list[tuple[int, str]] = []
        said: list[tuple[int, str]] = []
        begin = monotonic()
        for number, low, high in batch:
            begun = monotonic()
            group = self._groups[bisect_right(self._firsts, number) - 1]
            if group["kind"] == "built-in":
                wrong, line, cpu = self._built_in(group, number)
            else:
                wrong, line, cpu = self._command(group, number, low, high)
            if wrong:
                failed.append((number, wrong))
            else:
                done.append((number, monotonic() - begun, cpu))
                if line:
                    said.append((number, line))
        return done, failed, said, begin, monotonic(), self.waited_for_tasks, self.waited_for_writer

    def _built_in(self, group: Mapping[str, Any], number: int) -> tuple[str, str, float]:
        begun = monotonic()
        seconds, size = length_of(group["seconds"], group["bytes"], group["spread"], group["seed"], number)
        result = result_of(size, group["seed"], number)
        while (left := seconds - (monotonic() - begun)) > 0:
            if left > LOOK_SECONDS and self._control.poll(0 if group["busy"] else LOOK_SECONDS):
                raise StoppedError
            if group["busy"]:
                _compute(min(left, LOOK_SECONDS))
            elif left <= LOOK_SECONDS:
                sleep(left)
        sent = monotonic()
        self._writer.sendall(RESULT.pack(number, len(result)) + result)
        self.waited_for_writer += monotonic() - sent
        return "", "", seconds if group["busy"] else 0.0

    def _command(self, group: Mapping[str, Any], number: int, low: int, high: int) -> tuple[str, str, float]:
        """Why it failed, its last line on standard error, and its seconds of cpus."""
        if self._processes is None:
            environ = dict(os.environ)
            self._processes = TaskProcesses(self._control.fileno(), self._setup["folder"], environ)
        words: Sequence[str] = group["command"]
        names = set(names_in(words))
        values = {
            "task": str(number),
            "node": str(self._setup["node"]),
            "worker": str(self._setup["worker"]),
            "database": group.get("database", ""),
        }
        stdin = self._read(group["file"], low, high) if group.get("file") else None
        if group["kind"] == "lines":
            line = (stdin or b"").decode().rstrip("\r\n")
            values[""] = line
            values |= {str(n): field for n, field in enumerate(line.split("\t"), 1)}
            stdin = None if any(name == "" or name.isdecimal() for name in names) else line.encode() + b"\n"
        if group["kind"] == "grid":
            values |= _point(group["values"], number - group["first"])
        output = None
        if names & {"input", "output", "scratch"}:
            values["scratch"] = scratch = self._own_scratch()
            values["input"], values["output"] = f"{scratch}/input-{number}", f"{scratch}/output-{number}"
            if "input" in names:
                Path(values["input"]).write_bytes(stdin or b"")
                stdin = None
            output = Path(values["output"]) if "output" in names else None
        ended = self._processes.run(spelt(words, values), stdin, output, group["time_limit"])
        try:
            if not ended.wrong:
                self._send_file(number, ended.result)
        finally:
            ended.close()
            if "input" in names:
                remove_file(Path(values["input"]))
        return visible_name(ended.wrong), visible_name(ended.said), ended.cpu_seconds

    def _read(self, path: str, begin: int, end: int) -> bytes:
        handle = self._files.get(path)
        if handle is None:
            handle = self._files[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        parts = []
        while begin < end and (part := os.pread(handle, min(end - begin, 1 << 30), begin)):
            parts.append(part)
            begin += len(part)
        return b"".join(parts)

    def _own_scratch(self) -> str:
        if not self._scratch:
            self._scratch = f"{self._setup['scratch']}/worker-{self._setup['worker']}"
            os.mkdir(self._scratch)
        return self._scratch

    def _send_file(self, number: int, handle: int) -> None:
        """Send what is in a file, from its beginning."""
        size, done = os.fstat(handle).st_size, 0
        begin = monotonic()
        self._writer.sendall(RESULT.pack(number, size))
        while done < size:
            count = os.sendfile(self._writer.fileno(), handle, done, min(size - done, 1 << 30))
            if not count:
                raise OSError("a result became shorter while it was sent")
            done += count
        self.waited_for_writer += monotonic() - begin


def _compute(seconds: float) -> None:
    end = monotonic() + seconds
    while monotonic() < end:
        pass


def _point(values: Mapping[str, Sequence[Any]], number: int) -> dict[str, str]:
    """The values of a point of the grid; the last parameter varies fastest."""
    found: dict[str, str] = {}
    for name in reversed(list(values)):
        number, place = divmod(number, len(values[name]))
        found[name] = str(values[name][place])
    return found


def main() -> None:
    """The process."""
    Worker(*child_control()).run()


if __name__ == "__main__":
    main()
