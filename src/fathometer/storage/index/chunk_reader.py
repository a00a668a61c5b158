"""Reading the chunks of files by several threads, delivered in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from threading import local

import numpy as np

from fathometer.base.errors import InputError
from fathometer.storage.index.chunk import CHUNK_BYTES, Chunk, Span, read_chunk, unread
from fathometer.storage.index.words import Word


def chunks_in_order(all_spans: Iterator[Span], words: Mapping[str, Word], jobs: int) -> Iterator[Chunk]:
    """The chunks of the spans, in order, read by `jobs` threads; at most twice as many are in progress.

    One that cannot be read has a `fault`.
    """
    thread = local()

    def read(span: Span) -> Chunk:
        needed = max(CHUNK_BYTES, span.count * span.layout.trace_bytes)
        if getattr(thread, "buffer", None) is None or thread.buffer.size < needed:
            thread.buffer = np.empty(needed, np.uint8)
        try:
            return read_chunk(span, words, thread.buffer)
        except InputError as error:  # of this file: the others are indexed
            return unread(span, words, str(error))

    waiting: deque[Future[Chunk]] = deque()
    with ThreadPoolExecutor(jobs, "scan") as pool:
        try:
            for span in all_spans:
                waiting.append(pool.submit(read, span))
                if len(waiting) > 2 * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
