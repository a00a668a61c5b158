"""The pieces of files, read and looked at by several threads, in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from threading import local

import numpy as np

from fathometer.storage.index.chunk import SIZE, Chunk, Span, read_chunk
from fathometer.storage.index.words import Word


def in_order(work: Iterator[Span], words: Mapping[str, Word], jobs: int) -> Iterator[Chunk]:
    """The chunks of all spans, in their order, read by so many threads; twice as many are under way."""
    thread = local()

    def read(span: Span) -> Chunk:
        needed = max(SIZE, span.count * span.layout.trace_bytes)
        if getattr(thread, "room", None) is None or thread.room.size < needed:
            thread.room = np.empty(needed, np.uint8)
        return read_chunk(span, words, thread.room)

    waiting: deque[Future[Chunk]] = deque()
    with ThreadPoolExecutor(jobs, "scan") as pool:
        try:
            for span in work:
                waiting.append(pool.submit(read, span))
                if len(waiting) > 2 * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for one in waiting:
                one.cancel()
