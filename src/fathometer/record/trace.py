"""The spans of all ranks in the Trace Event format, which Perfetto and chrome://tracing open.

Reference: "Trace Event Format", the Chromium project. A rank is a process, its main line thread 0; microseconds. Ranks
of one host share its clock. The time axis of each host starts when its first rank left a barrier of all ranks: between
hosts, spans are aligned to within the duration of that barrier, and no clocks are subtracted.
"""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from mpi4py import MPI

from fathometer.base.ledger import Ledger, now
from fathometer.parallel.collectives import allreduce, barrier, collective_errors
from fathometer.storage import atomic


def zero(comm: MPI.Intracomm) -> float:
    """Collective. The origin of this rank's time axis, s on its host's clock."""
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    barrier(comm)
    start: float = host.bcast(now())
    host.Free()
    return start


def write_trace(path: Path, account: Ledger, start: float, comm: MPI.Intracomm) -> None:
    """Collective. Write the spans of all ranks into one file, on rank 0.

    account: this rank's ledger, tracing. start: from `zero`. Raises FathometerError where the file cannot be written.
    """
    spans = account.spans()
    before = max(0.0, start - min((begin for _, _, begin, _, _ in spans), default=start))
    # Viewers drop spans before 0: all axes start as long before the barrier as the earliest span of any rank.
    before = allreduce(comm, before, "MAX")
    ranks = comm.gather((socket.gethostname(), start - before, spans, account.dropped_spans))
    with collective_errors(comm):
        if ranks is not None:
            events = [event for rank, spans_of_rank in enumerate(ranks) for event in _events(rank, *spans_of_rank)]
            dropped = sum(spans_of_rank[3] for spans_of_rank in ranks)
            trace = {"traceEvents": events, "displayTimeUnit": "ms", "otherData": {"dropped_spans": dropped}}
            atomic.write(path, json.dumps(trace, separators=(",", ":")).encode())


def _events(rank: int, host: str, start: float, spans: list[Any], dropped: int) -> list[dict[str, Any]]:
    name = f"rank {rank} ({host})" + (f", {dropped} later spans not kept" if dropped else "")
    lines = {0: "main"} | {line: f"beside {line}" for *_, line in spans if line}
    return [
        {"ph": "M", "name": "process_name", "pid": rank, "args": {"name": name}},
        {"ph": "M", "name": "process_sort_index", "pid": rank, "args": {"sort_index": rank}},
        *({"ph": "M", "name": "thread_name", "pid": rank, "tid": n, "args": {"name": t}} for n, t in lines.items()),
        *(
            {
                "ph": "X",
                "name": phase,
                "cat": category,
                "pid": rank,
                "tid": line,
                "ts": round(1e6 * (begin - start), 3),
                "dur": round(1e6 * (end - begin), 3),
            }
            for phase, category, begin, end, line in spans
        ),
    ]
