"""The writer of a node: takes the workers' results, compresses them, and writes them into the node's one file.

main thread          takes results from the workers' sockets into the first buffer; none while both buffers are full
compressing threads  make blocks of it, which go into the second buffer, as long as that is not full
writing thread       writes the second buffer when it is full, and flushes it; then its tasks are done

On demand, each result is a block of its own, which is written when it comes, and the next is taken after that.

What was not flushed when a process ends is lost, and computed again: so it also flushes after some seconds.
"""

from __future__ import annotations

import errno
import os
import selectors
import socket
import threading
from array import array
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from pathlib import Path
from time import monotonic, process_time, sleep
from typing import Any

from fathometer.apps.farm.blocks import ENTRY, Index, index_begin
from fathometer.apps.farm.children import child_control
from fathometer.apps.farm.framing import framing_of
from fathometer.apps.farm.worker import RESULT
from fathometer.base.errors import FathometerError
from fathometer.base.host import peak_memory
from fathometer.storage.atomic import flush_folder, write_at
from fathometer.storage.lock import FileLock, LockError

READ = 1 << 18  # bytes that are asked for at a time
REMEMBERED = 8192  # results of a worker whose tasks are told when it has ended; more than a batch
LOCK_SECONDS = 20.0  # for the writer of a run that was killed to end
MOST_RESULTS = 1 << 16  # in a block
BESIDE = 64  # bytes that a result takes in the buffers beside its own

Stored = tuple[bytes, "array[int]"]  # a block, and the entries of its directory


class Incoming:
    """Results on their way from a worker.

    Attributes:
        taken: numbers of the last tasks that came whole. pending: bytes of a large result of which the rest is to come.
    """

    def __init__(self, handle: int) -> None:
        self.socket = socket.socket(fileno=handle)
        self.socket.setblocking(False)
        self._parts = bytearray()
        self._large: bytearray | None = None  # a result of which the rest is still to come
        self._number = self._filled = 0
        self.taken: deque[int] = deque(maxlen=REMEMBERED)

    @property
    def pending(self) -> int:
        return len(self._large) if self._large is not None else 0

    def read(self) -> tuple[list[tuple[int, bytes | bytearray]], bool]:
        """Results that have come whole, and whether the worker has ended."""
        found: list[tuple[int, bytes | bytearray]] = []
        ended = False
        try:
            if self._large is not None:
                count = self.socket.recv_into(memoryview(self._large)[self._filled :])
                self._filled += count
                ended = not count
                if self._filled == len(self._large):
                    found.append((self._number, self._large))
                    self._large = None
            else:
                data = self.socket.recv(READ)
                ended = not data
                self._parts += data
                self._split(found)
        except BlockingIOError:
            pass
        except OSError:
            ended = True
        self.taken.extend(number for number, _ in found)
        return found, ended

    def _split(self, found: list[tuple[int, bytes | bytearray]]) -> None:
        place, parts = 0, self._parts
        while place + RESULT.size <= len(parts):
            number, size = RESULT.unpack_from(parts, place)
            begin = place + RESULT.size
            if begin + size > len(parts):
                if size > READ:
                    self._large = bytearray(size)
                    self._number, self._filled = number, len(parts) - begin
                    self._large[: self._filled] = parts[begin:]
                    place = len(parts)
                break
            found.append((number, bytes(parts[begin : begin + size])))
            place = begin + size
        del parts[:place]


class Store:
    """The two buffers and the file behind them; all methods but `finish` by any thread.

    setup: `output`, its keys; `path`, of the file; `farm`, number of the farm. Raises OSError where the file cannot be
    opened, FathometerError where it cannot be locked.
    """

    def __init__(self, setup: Mapping[str, Any]) -> None:
        output = setup["output"]
        self._on_demand = output["buffers"] == "on demand"
        self._plain_most = 0 if self._on_demand else output["buffer"]
        self._stored_most = 0 if self._on_demand else output["buffer"]
        self._block = 1 if self._on_demand else min(output["block"], output["buffer"])
        self._framing = framing_of(output, setup["farm"])
        self.path = Path(setup["path"])
        self._lock = self._locked()
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        self._index, self.done, self._end = Index(), array("Q"), 0
        self._open()
        self._changed = threading.Condition()
        self._plain: deque[tuple[int, bytes | bytearray]] = deque()
        self._plain_bytes = 0  # of results that are in no block yet
        self._waiting_bytes = 0  # the same, without those that are being compressed
        self._taken = 0  # results that a compressing thread has taken
        self._compressing: list[int] = []  # of what is being compressed, how many had been taken before
        self._target = 0  # so many results are to be flushed soon; 0: nobody has asked
        self._stored: list[Stored] = []
        self._stored_bytes = 0  # of blocks that are not written yet
        self._unflushed = array("Q")  # tasks that are written
        self._flushed_to = self._end
        self._oldest: float | None = None  # when the first result came that is not flushed
        self._closing = False
        self.flushed: deque[array[int]] = deque()  # tasks to tell of
        self.wrong = ""
        self.counts = dict.fromkeys(
            ("results", "plain_bytes", "blocks", "stored_bytes", "writes", "flushes", "timed_flushes"), 0
        )
        self.counts["largest_write_bytes"] = self.counts["directory_bytes"] = 0
        self.seconds = dict.fromkeys(("compress", "write", "flush", "full"), 0.0)
        self._threads = [
            threading.Thread(target=self._guarded, args=[self._compress]) for _ in range(output["threads"])
        ]
        self._threads.append(threading.Thread(target=self._guarded, args=[self._write]))
        self.wake: Callable[[], None] = lambda: None  # called by threads when something has changed
        for thread in self._threads:
            thread.daemon = True
            thread.start()

    def _locked(self) -> FileLock:
        """The file's lock: the writer of a run that was killed may still be at its last write."""
        lock = FileLock(self.path)
        end = monotonic() + LOCK_SECONDS
        while not lock.acquire():
            if monotonic() > end:
                raise LockError(self.path, "another writer has it")
            sleep(0.05)
        return lock

    def _open(self) -> None:
        """Find what is there, and leave out what is behind its last whole block."""
        rows, self._end = self._framing.found(self._file)
        begin = index_begin(self._file)
        size = os.fstat(self._file).st_size if begin is None else begin
        self.torn_bytes = size - self._end
        if self.torn_bytes:
            self._framing.require_torn(self._file, self._end)
        for offset, entries in rows:
            self._index.add(offset, entries)
            self.done.extend(entries[::ENTRY])
        os.ftruncate(self._file, self._end)
        os.fsync(self._file)
        flush_folder(self.path.parent)

    def accepts(self, pending: int) -> bool:
        """Whether a result has a place. pending: bytes of results that are on their way."""
        held = self._plain_bytes + pending
        return held == 0 or held < self._plain_most

    def add(self, number: int, result: bytes | bytearray) -> None:
        """A result that has come."""
        with self._changed:
            self._plain.append((number, result))
            self._plain_bytes += len(result) + BESIDE
            self._waiting_bytes += len(result) + BESIDE
            self.counts["results"] += 1
            self.counts["plain_bytes"] += len(result)
            if self._oldest is None:
                self._oldest = monotonic()
            if self._waiting_bytes >= self._block or len(self._plain) >= MOST_RESULTS:
                self._changed.notify_all()

    def flush(self, timed: bool = False) -> None:
        """Have all that has come until now written and flushed soon."""
        with self._changed:
            if (not self._target or not timed) and (self._plain_bytes or self._stored or self._unflushed):
                self.counts["timed_flushes"] += timed
                self._target = self.counts["results"]
                self._changed.notify_all()

    def due(self, after: float) -> float:
        """Seconds until something that came has been there for `after` seconds; infinite where all is flushed."""
        oldest = self._oldest
        return float("inf") if oldest is None or self._target else max(0.0, oldest + after - monotonic())

    def finish(self) -> None:
        """Write and flush all, and the index. Raises OSError."""
        with self._changed:
            self._closing = True
            self._target = self.counts["results"]
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        if self.wrong:
            raise OSError(errno.EIO, self.wrong)
        for part in self._framing.end(self._index):
            self._put(part)
        os.fsync(self._file)
        os.close(self._file)
        self._lock.close()

    def _guarded(self, work: Any) -> None:
        try:
            work()
        except Exception as error:  # nobody else would hear of it
            words = (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__
            with self._changed:
                self.wrong = self.wrong or words
                self._changed.notify_all()
            with suppress(OSError):  # the part of a block that was written is of no use
                os.ftruncate(self._file, self._end)
            self.wake()

    def _compress(self) -> None:
        while True:
            with self._changed:
                while not self._ready():
                    if self.wrong or (self._closing and not self._plain):
                        return
                    self._changed.wait()
                tasks, results, size, before = self._take()
            begin = monotonic()
            block, entries = self._framing.block(tasks, results)
            spent = monotonic() - begin
            with self._changed:
                self._compressing.remove(before)
                self._plain_bytes -= size
                self._stored.append((block, entries))
                self._stored_bytes += _room(block, entries)
                self.seconds["compress"] += spent
                self.counts["blocks"] += 1
                self._changed.notify_all()
            self.wake()

    def _ready(self) -> bool:
        """Whether there is a block's worth of results, or a flush is wanted, and a place for the block."""
        if not self._plain or self.wrong:
            return False
        if self._stored_bytes and self._stored_bytes >= self._stored_most:
            return False
        return self._taken < self._target or self._waiting_bytes >= self._block or len(self._plain) >= MOST_RESULTS

    def _take(self) -> tuple[list[int], list[bytes | bytearray], int, int]:
        tasks: list[int] = []
        results: list[bytes | bytearray] = []
        size = 0
        while self._plain and size < self._block and len(tasks) < MOST_RESULTS:
            number, result = self._plain.popleft()
            tasks.append(number)
            results.append(result)
            size += len(result) + BESIDE
        self._waiting_bytes -= size
        before = self._taken
        self._taken += len(tasks)
        self._compressing.append(before)
        return tasks, results, size, before

    def _write(self) -> None:
        while True:
            with self._changed:
                while not (self._full() or self._drained()):
                    if self.wrong:
                        return
                    self._changed.wait()
                last, target, closing = self._drained(), self._target, self._closing
                taken = self._stored[:]
                size = sum(_room(*one) for one in taken)
                oldest = monotonic()
            if taken:
                self._write_blocks(taken)
            flushes = last or not self._on_demand
            if flushes and self._unflushed:
                begin = monotonic()
                os.fdatasync(self._file)
                self.seconds["flush"] += monotonic() - begin
                self.counts["flushes"] += 1
                self._flushed_to = self._end
            with self._changed:
                del self._stored[: len(taken)]
                self._stored_bytes -= size
                if flushes and self._unflushed:
                    self.flushed.append(self._unflushed)
                    self._unflushed = array("Q")
                if flushes:
                    self._oldest = oldest if self._plain_bytes or self._stored else None
                if last:
                    if self._target == target:  # else more was asked for meanwhile
                        self._target = 0
                    if closing:
                        self.wake()
                        return
                self._changed.notify_all()
            self.wake()

    def _full(self) -> bool:
        return bool(self._stored) and self._stored_bytes >= self._stored_most

    def _drained(self) -> bool:
        """Whether a flush is wanted, and all that it is to cover is in blocks."""
        if not self._target and not self._closing:
            return False
        return self._taken >= self._target and all(before >= self._target for before in self._compressing)

    def _write_blocks(self, taken: list[Stored]) -> None:
        """One write of some blocks."""
        parts, end = [], self._end
        for block, entries in taken:
            part = self._framing.placed(block, entries, self._flushed_to)
            self._index.add(end, entries)
            parts.append(part)
            end += len(part)
            self.counts["stored_bytes"] += len(block)
            self.counts["directory_bytes"] += len(part) - len(block)
            self._unflushed.extend(entries[::ENTRY])
        data = b"".join(parts)
        begin = monotonic()
        self._put(data)
        self.seconds["write"] += monotonic() - begin
        self.counts["writes"] += 1
        self.counts["largest_write_bytes"] = max(self.counts["largest_write_bytes"], len(data))

    def _put(self, data: bytes) -> None:
        write_at(self._file, memoryview(data), self._end)
        self._end += len(data)


def _room(block: bytes, entries: array[int]) -> int:
    """Bytes of a block and its directory."""
    return len(block) + len(entries) * entries.itemsize


class Writer:
    """The process: the workers' sockets, and what the master wants. setup: `output` and `path`, as of Store."""

    def __init__(self, control: Connection, setup: Mapping[str, Any]) -> None:
        self._control, self._flush_after = control, setup["output"]["flush"]
        self._workers: dict[int, Incoming] = {}
        self._selector = selectors.DefaultSelector()
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wake, False)
        self._store = Store(setup)
        self._store.wake = self._wake_up
        self._full_since: float | None = None

    def _wake_up(self) -> None:
        with suppress(BlockingIOError):
            os.write(self._wake, b"\0")

    def run(self) -> None:
        """Until the master has no more workers, or has ended."""
        store = self._store
        self._control.send(("open", store.done.tobytes(), store.torn_bytes))
        store.done = array("Q")
        self._selector.register(self._control, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        while True:
            self._attend(self._accepts())
            seconds = store.due(self._flush_after)
            for key, _ in self._selector.select(None if seconds == float("inf") else seconds):
                if key.fileobj == self._woken:
                    with suppress(BlockingIOError):
                        os.read(self._woken, 4096)
                elif key.fileobj is self._control:
                    if not self._obey():
                        return
                elif key.data.pending or self._accepts():
                    self._take(key.data)
            if store.due(self._flush_after) <= 0:
                store.flush(timed=True)
            self._tell()
            if store.wrong:
                self._control.send(("wrong", f"{store.path}: cannot be written: {store.wrong}"))
                return

    def _accepts(self) -> bool:
        return self._store.accepts(sum(worker.pending for worker in self._workers.values()))

    def _attend(self, accepts: bool) -> None:
        """Look at the workers' sockets; while both buffers are full at none but those of large results under way."""
        if accepts and self._full_since is not None:
            self._store.seconds["full"] += monotonic() - self._full_since
            self._full_since = None
        elif not accepts and self._full_since is None:
            self._full_since = monotonic()
        heard = self._selector.get_map()
        for worker in self._workers.values():
            wanted = accepts or bool(worker.pending)
            if wanted and worker.socket not in heard:
                self._selector.register(worker.socket, selectors.EVENT_READ, worker)
            elif not wanted and worker.socket in heard:
                self._selector.unregister(worker.socket)

    def _take(self, worker: Incoming) -> None:
        results, ended = worker.read()
        for number, result in results:
            self._store.add(number, result)
        if ended:
            self._selector.unregister(worker.socket)
            worker.socket.close()
            number = next(number for number, one in self._workers.items() if one is worker)
            del self._workers[number]
            self._control.send(("closed", number, list(worker.taken)))

    def _obey(self) -> bool:
        """Do what the master wants; whether there is more to do."""
        message = self._control.recv()
        if message[0] == "worker":
            worker = Incoming(recv_handle(self._control))
            self._workers[message[1]] = worker
        elif message[0] == "flush":
            self._store.flush()
        else:
            return self._finish()
        return True

    def _finish(self) -> bool:
        try:
            self._store.finish()
        except OSError as error:
            self._control.send(("wrong", f"{self._store.path}: cannot be written: {error.strerror}"))
            return False
        self._tell()
        self._control.send(
            ("finished", self._store.counts, self._store.seconds | {"cpu": process_time()}, peak_memory())
        )
        return False

    def _tell(self) -> None:
        while self._store.flushed:
            self._control.send(("flushed", self._store.flushed.popleft().tobytes()))


def main() -> None:
    """The process."""
    control, setup = child_control()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the master has ended
        try:
            writer = Writer(control, setup)
        except OSError as error:
            control.send(("wrong", f"{setup['path']}: cannot be opened: {error.strerror}"))
            return
        except FathometerError as error:  # which names the file
            control.send(("wrong", str(error)))
            return
        writer.run()
    os._exit(0)  # whatever the threads are at: nobody waits for it any more


if __name__ == "__main__":
    main()
