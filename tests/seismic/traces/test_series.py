"""Receiver series from a scratch file: the same rows as from memory, however many are asked for at a time."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from mpi4py import MPI

from fathometer.seismic.traces import series as module
from fathometer.seismic.traces.series import STRATEGIES, SeriesRequest


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_rows_of_any_number_of_steps(strategy, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "GROUP_BYTES", 1000)  # 50 steps of 5 receivers: several groups
    steps, own = 230, np.array([0, 2, 3, 5, 6])
    wanted = np.random.default_rng(1).standard_normal((steps, 7)).astype(np.float32)
    request = SeriesRequest(
        read=lambda receivers, share: np.ascontiguousarray(wanted[:, receivers]),
        own=own,
        own_share=1.0,
        count=7,
        steps=steps,
        most=40,
        dtype=np.dtype(np.float32),
        folder=lambda: tmp_path,
        worker=partial(ThreadPoolExecutor, 1),
        comm=MPI.COMM_SELF,
    )
    counts = [40, 5, 40, 40, 3, 40, 40, 22]
    series = STRATEGIES[strategy].open(request)
    found = [np.copy(series.rows(count)) for count in counts]
    series.close()
    assert [len(rows) for rows in found] == counts
    assert np.concatenate(found).tobytes() == wanted[:, own].tobytes()
